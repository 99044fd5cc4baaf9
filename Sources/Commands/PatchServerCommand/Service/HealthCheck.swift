import HTTPCore
import NIOCore
import NIOPosix
import NIOSSL
import PatchFormat
import PatchServer

/// Checks whether `patchsrv serve` listens on a port.
enum HealthCheck {
    private static let deadline = TimeAmount.seconds(3)
    /// The responses of patchsrv to `GET /healthz`, on the operators' and the devices' port.
    private static let answers = [("HTTP/1.1 200", "\r\n\r\nok"), ("HTTP/1.1 404", "\r\n\r\nNot found.\n")]
    /// The maximum size of a response in bytes.
    private static let limit = 4_096

    /// - Parameter isTLS: Whether HTTPS is expected. A patchsrv that uses the other protocol is reported as such.
    static func owner(of port: Int, at host: String, isTLS: Bool) async -> Diagnosis.Line.Port {
        if await isOurs(host: host, port: port, isTLS: isTLS) { return .ours }
        return await isOurs(host: host, port: port, isTLS: !isTLS) ? .oursOverOtherScheme(isTLS: !isTLS) : .taken
    }

    /// - Parameter isTLS: Whether to use HTTPS. The certificate is not verified, because nothing secret is sent.
    private static func isOurs(host: String, port: Int, isTLS: Bool) async -> Bool {
        do {
            let answer = try await ask(host: host == "0.0.0.0" ? "127.0.0.1" : host, port: port, isTLS: isTLS)
            return answers.contains { answer.hasPrefix($0.0) && answer.hasSuffix($0.1) }
        } catch { return false }
    }

    private static func ask(host: String, port: Int, isTLS: Bool) async throws -> String {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(deadline)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if isTLS { try channel.pipeline.syncOperations.addHandler(tlsHandler()) }
                    try channel.pipeline.syncOperations.addHandler(IdleEnd(after: deadline))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            let request = "GET /healthz HTTP/1.1\r\nHost: \(host):\(port)\r\nConnection: close\r\n\r\n"
            try await outbound.write(ByteBuffer(string: request))
            var answer = ""
            for try await part in inbound {
                answer += String(buffer: part)
                if answer.utf8.count > limit { break }
            }
            return answer
        }
    }

    private static func tlsHandler() throws -> NIOSSLClientHandler {
        var configuration = TLSRules.client()
        configuration.certificateVerification = .none
        return try NIOSSLClientHandler(context: NIOSSLContext(configuration: configuration), serverHostname: nil)
    }
}

/// Closes a connection after a time, regardless of its activity.
private final class IdleEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let after: TimeAmount
    private var end: Scheduled<Void>?

    init(after: TimeAmount) {
        self.after = after
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: after) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}
