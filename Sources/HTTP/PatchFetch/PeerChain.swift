import Glibc
import HTTPPeers
import NIOCore
import NIOPosix
import NIOSSL
import PatchFormat

/// The certificates that a server shows, looked at to say why they were refused.
///
/// The handshake is broken off as soon as they are here: nothing is ever sent to that server.
enum PeerChain {
    /// When one certificate holds.
    struct Validity: Equatable, Sendable {
        let begin: UTCTime
        let end: UTCTime
    }

    /// The clock that the TLS library judges by.
    static var now: UTCTime { UTCTime(seconds: Glibc.time(nil)) }

    /// The server's own first; empty when it shows none.
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
