import Glibc
import HTTPCore
import NIOCore
import NIOPosix
import NIOSSL
import PatchFormat

/// Reads the certificates that a server shows, to find out why they were refused.
///
/// The handshake is aborted as soon as they arrive, and nothing is sent to the server.
enum PeerChain {
    /// The time for which one certificate is valid.
    struct Validity: Equatable, Sendable {
        let begin: UTCTime
        let end: UTCTime
    }

    /// The clock that the TLS library uses.
    static var now: UTCTime { UTCTime(seconds: Glibc.time(nil)) }

    /// Returns the server's chain, its own certificate first.
    ///
    /// Empty if it shows none.
    static func shown(by server: ServerURL, within time: Duration) async -> [Validity] {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let chain = loop.makePromise(of: [Validity].self)
        let timer = loop.scheduleTask(in: TimeAmount(time)) { chain.succeed([]) }
        let connection = ClientBootstrap(group: loop).connectTimeout(TimeAmount(time))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(try handler(for: server.host, chain))
                }
            }
            .connect(host: server.host, port: server.port)
        connection.whenComplete { result in
            switch result {
            case .success(let channel): channel.closeFuture.whenComplete { _ in chain.succeed([]) }
            case .failure: chain.succeed([])
            }
        }
        let found = (try? await chain.futureResult.get()) ?? []
        timer.cancel()
        try? await connection.get().close()
        return found
    }

    private static func handler(for host: String, _ chain: EventLoopPromise<[Validity]>) throws -> NIOSSLClientHandler {
        let context = try NIOSSLContext(configuration: TLSRules.client())
        let isName = (try? SocketAddress(ipAddress: host, port: 0)) == nil
        return try NIOSSLClientHandler(context: context, serverHostname: isName ? host : nil) { certificates, verdict in
            chain.succeed(
                certificates.map {
                    Validity(
                        begin: UTCTime(seconds: Int($0.notValidBefore)),
                        end: UTCTime(seconds: Int($0.notValidAfter))
                    )
                }
            )
            verdict.succeed(NIOSSLVerificationResult.failed)
        }
    }
}
