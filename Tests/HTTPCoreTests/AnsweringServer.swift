import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// What a server says on a connection, piece by piece, whatever it was asked.
struct Script: Sendable {
    enum End: Sendable, CaseIterable {
        case closes
        /// Over TLS without saying so, as a middle that cuts the connection; else as `closes`.
        case breaks
        case resets
        case stays
    }

    var pieces: [[UInt8]]
    var end: End
    /// Whether a GET that follows on the same connection is answered too.
    var isForMore = false

    /// Before it takes anything of a request's body: as soon as the head is here.
    init(_ pieces: [[UInt8]], _ end: End = .stays) {
        (self.pieces, self.end) = (pieces, end)
    }

    init(_ text: String, _ end: End = .stays) {
        self.init([Array(text.utf8)], end)
    }
}

/// A server of raw bytes on all of this machine's loopback addresses, so that each exchange has an origin of its own.
enum AnsweringServer {
    static func running<Result: Sendable>(
        tls: NIOSSLContext? = nil,
        whenClosed: @escaping @Sendable () -> Void = {},
        _ script: @escaping @Sendable (_ head: String) -> Script,
        _ body: (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(ScriptedAnswer(script, whenClosed))
                }
            }
            .bind(host: "0.0.0.0", port: 0).get()
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(channel.localAddress?.port ?? 0)) } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }

    /// As many as are asked for at once.
    static let hosts = 48

    static func host(_ number: UInt64) -> String { "127.1.1.\(1 + number % UInt64(hosts))" }
}

private final class ScriptedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: @Sendable (String) -> Script
    private let whenClosed: @Sendable () -> Void
    private var received: [UInt8] = []
    private var answered: Script?

    init(_ script: @escaping @Sendable (String) -> Script, _ whenClosed: @escaping @Sendable () -> Void) {
        (self.script, self.whenClosed) = (script, whenClosed)
    }

    func channelInactive(context: ChannelHandlerContext) {
        whenClosed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).readableBytesView
        if let answered {
            // The rest of a body goes by.
            received = Array((received + bytes).suffix(1_000))
            guard answered.isForMore, received.firstRange(of: Array("GET / ".utf8)) != nil else { return }
            received = []
            return say(answered, from: 0, context)
        }
        received += bytes
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        let script = script(String(decoding: received[..<end.lowerBound], as: UTF8.self))
        answered = script
        say(script, from: 0, context)
    }

    private func say(_ script: Script, from index: Int, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        guard index < script.pieces.count else {
            switch script.end {
            case .stays: break
            case .closes: context.close(promise: nil)
            case .breaks: belowTLS(context).close(promise: nil)
            case .resets:
                let options = context.channel as? any SocketOptionProvider
                options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in
                    let (answer, context) = bound.value
                    answer.belowTLS(context).close(promise: nil)
                }
            }
            return
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: script.pieces[index]))).whenComplete { _ in
            // A turn later: the client has a chance to take it alone.
            bound.eventLoop.execute { bound.value.0.say(script, from: index + 1, bound.value.1) }
        }
    }

    /// From where a close is no word of TLS.
    private func belowTLS(_ context: ChannelHandlerContext) -> ChannelHandlerContext {
        (try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)) ?? context
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
