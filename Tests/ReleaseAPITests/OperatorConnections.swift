import HTTPFiles
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOPosix

@testable import ReleaseAPI

/// Connections of the operators' listener by themselves, on sockets that hold little, with the server's ends at hand.
struct OperatorConnections: Sendable {
    let port: Int
    let admission: ConnectionAdmission
    /// The server's end of each connection, in order.
    let opened: AsyncStream<any Channel>
    /// Whenever nobody behind a connection has more to say.
    let finished: AsyncStream<Void>

    static func with(
        _ configure: (inout FileServerConfiguration) throws -> Void = { _ in },
        _ body: (OperatorConnections) async throws -> Void
    ) async throws {
        let folder = try RunningOperators.Folder()
        var configuration = FileServerConfiguration()
        try configure(&configuration)
        let admission = ConnectionAdmission(configuration)
        let routes = try RunningOperators.routes(folder, try folder.operations())
        let operators = OperatorChannel(admission: admission, routes: routes)
        let (opened, opens) = AsyncStream.makeStream(of: (any Channel).self)
        let (finished, finishes) = AsyncStream.makeStream(of: Void.self)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.socketOption(.so_sndbuf), value: 4 * 1024)
            .bind(host: "127.0.0.1", port: 0) { channel in
                operators.setup(channel: channel, logger: OperatorRoutes.silent).flatMapThrowing { value in
                    let pipeline = channel.pipeline.syncOperations
                    let connection = try pipeline.handler(type: OperatorConnection.self)
                    try pipeline.addHandler(FinishNotice(finishes), position: .after(connection))
                    opens.yield(channel)
                    return value
                }
            }
        let serving = Task {
            try await listener.executeThenClose { inbound in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await value in inbound {
                        group.addTask { await operators.handle(value: value, logger: OperatorRoutes.silent) }
                    }
                }
            }
        }
        let operatorConnections = OperatorConnections(
            port: listener.channel.localAddress?.port ?? 0,
            admission: admission,
            opened: opened,
            finished: finished
        )
        let result: Result<Void, any Error>
        do { result = .success(try await body(operatorConnections)) } catch { result = .failure(error) }
        admission.stop()
        admission.closeAll()
        try await listener.channel.close()
        try await serving.value
        try result.get()
    }

    func connected<Result: Sendable>(
        reading: Bool = true,
        _ body: (inout RunningOperators.Client) async throws -> Result
    ) async throws -> Result {
        try await RunningOperators.Client.connected(to: port, reading: reading, body)
    }

    /// Takes a place for an answer that does not end; where none is left, one of those who are told so.
    ///
    /// - Returns: false when there is not even such a one.
    @discardableResult
    func occupy() async throws -> Bool {
        let head = try CheckedHead(.GET, "/", minorVersion: 1, HTTPHeaders([("Host", "a")]), maxTargetBytes: 100)
        return try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0)
            .flatMapThrowing { channel in
                do {
                    _ = try admission.admit(channel).begins(head)
                    return true
                } catch {
                    channel.close(promise: nil)
                    return false
                }
            }.get()
    }
}

/// Tells when Hummingbird ends its side.
private final class FinishNotice: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart

    private let finishes: AsyncStream<Void>.Continuation

    init(_ finishes: AsyncStream<Void>.Continuation) { self.finishes = finishes }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.close(mode: mode, promise: promise)
        finishes.yield()
    }
}

extension TLSIdentity {
    /// Nobody trusts it: for tests that end before its handshake.
    static func untrusted() throws -> TLSIdentity {
        let certificate = """
            -----BEGIN CERTIFICATE-----
            MIIBfzCCASWgAwIBAgIUIvPcYCHwX0JSL7ciqKAK+rZTvBIwCgYIKoZIzj0EAwIw
            FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMzE2MDIyMFoYDzIxMjYxMDMw
            MTYwMjIwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
            PQMBBwNCAASHKQhnT2tlLoxyzcgt+4FkT7/hDQt92u8ndalnWlNPM3QSz7rA2yzG
            nLvBcnqLhJmCLMiUSZnmdm++V+C8MfFEo1MwUTAdBgNVHQ4EFgQUFVZXJi0E4/mM
            FYdmr4j+NnbF96kwHwYDVR0jBBgwFoAUFVZXJi0E4/mMFYdmr4j+NnbF96kwDwYD
            VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAzhUqBzxO8TJSFsFLZqim
            BHd/ial10KahZyHxVfbHKe0CIBJrhXEWJM16MVfisI/uwWPaDNDGtnHcdAAS2n4X
            sKjY
            -----END CERTIFICATE-----
            """
        let key = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8PEbkf1IDqbcseGu
            7ZPxxmkasnh3lB6R/dHkk0Xwv1ahRANCAASHKQhnT2tlLoxyzcgt+4FkT7/hDQt9
            2u8ndalnWlNPM3QSz7rA2yzGnLvBcnqLhJmCLMiUSZnmdm++V+C8MfFE
            -----END PRIVATE KEY-----
            """
        return try TLSIdentity(certificates: Array(certificate.utf8), key: Array(key.utf8))
    }
}
