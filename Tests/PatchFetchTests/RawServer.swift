import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import PatchFormat

@testable import PatchFetch

/// A server on a real socket that answers with whatever bytes a test says, to see what the fetcher makes of them.
///
/// Nothing goes on for ever, so that a client that would let it go on fails its test: after ``longest`` each connection ends.
final class RawServer: Sendable {
    static let app: AppID = {
        guard let app = AppID("com.example.storefront") else { preconditionFailure("this is a name") }
        return app
    }()

    /// What follows a request.
    enum Answer: Sendable {
        /// These bytes; the connection stays open.
        case bytes(String)
        /// A head, and bytes that are no text.
        case body(String, [UInt8])
        /// These bytes, and the end of the connection.
        case last(String)
        /// These bytes, and then the same piece over and over, ``mostPieces`` times, and the end of the connection.
        case endless(String, then: String)
        /// Nothing at all.
        case silence
    }

    /// Far more than any client here should take.
    static let mostPieces = 2_000
    static let longest = TimeAmount.seconds(20)

    private struct State {
        var heads: [String] = []
        var open = 0
        var most = 0
        var connections = 0
    }

    private let state = NIOLockedValueBox(State())
    private let answer: @Sendable (_ head: String) -> Answer
    private let channel: NIOLockedValueBox<(any Channel)?> = NIOLockedValueBox(nil)

    private init(_ answer: @escaping @Sendable (String) -> Answer) {
        self.answer = answer
    }

    static func running<Result: Sendable>(
        tls: NIOSSLContext? = nil,
        _ answer: @escaping @Sendable (_ head: String) -> Answer,
        _ body: (RawServer) async throws -> Result
    ) async throws -> Result {
        let server = RawServer(answer)
        // Of its own: one that pours for ever leaves its thread no air.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(RawAnswers(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLockedValue { $0 = channel }
        do {
            let result = try await body(server)
            try await group.shutdownGracefully()
            return result
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    var port: Int { channel.withLockedValue { $0?.localAddress?.port } ?? 0 }

    func url(_ scheme: String = "http", host: String = "127.0.0.1") throws -> ServerURL {
        guard let url = ServerURL("\(scheme)://\(host):\(port)") else { throw FetchError.cancelled }
        return url
    }

    /// The head of every request so far.
    var heads: [String] { state.withLockedValue(\.heads) }
    /// Connections that were open at once, at most; and all there were.
    var mostConnections: Int { state.withLockedValue(\.most) }
    var connections: Int { state.withLockedValue(\.connections) }

    fileprivate func opened() {
        state.withLockedValue { state in
            state.open += 1
            state.connections += 1
            state.most = max(state.most, state.open)
        }
    }

    fileprivate func closed() { state.withLockedValue { $0.open -= 1 } }

    fileprivate func answer(_ head: String) -> Answer {
        state.withLockedValue { $0.heads.append(head) }
        return answer(head)
    }
}

private final class RawAnswers: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: RawServer
    private var received = ""
    private var forever: ByteBuffer?
    private var piecesLeft = RawServer.mostPieces
    private var end: Scheduled<Void>?

    init(_ server: RawServer) {
        self.server = server
    }

    func channelActive(context: ChannelHandlerContext) {
        server.opened()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        end = context.eventLoop.scheduleTask(in: RawServer.longest) { bound.value.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        server.closed()
        forever = nil
        end?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        // A handshake where plain HTTP is spoken: any server says what it thinks of that.
        if received.isEmpty, buffer.readableBytesView.first == 22 {
            return write(.answer("400 Bad Request"), context, thenClose: true)
        }
        received += String(buffer: buffer)
        while let end = received.firstRange(of: "\r\n\r\n") {
            let head = String(received[..<end.lowerBound])
            received = String(received[end.upperBound...])
            // The first words of HTTP/2, which is not spoken here.
            if head.hasPrefix("PRI ") { return context.close(promise: nil) }
            switch server.answer(head) {
            case .bytes(let text): write(text, context, thenClose: false)
            case .body(let text, let bytes):
                write(text, context, thenClose: false)
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .last(let text): write(text, context, thenClose: true)
            case .endless(let text, let piece):
                write(text, context, thenClose: false)
                forever = ByteBuffer(string: piece)
                pour(context)
            case .silence: break
            }
        }
    }

    private func write(_ text: String, _ context: ChannelHandlerContext, thenClose: Bool) {
        let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let done = context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)))
        if thenClose { done.whenComplete { _ in loopBound.value.close(promise: nil) } }
    }

    /// One piece after the other, as fast as they are taken.
    private func pour(_ context: ChannelHandlerContext) {
        guard let forever, context.channel.isActive else { return }
        guard piecesLeft > 0 else { return context.close(promise: nil) }
        piecesLeft -= 1
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        context.writeAndFlush(wrapOutboundOut(forever)).whenSuccess {
            loop.execute { bound.value.0.pour(bound.value.1) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension RawServer.Answer {
    /// An HTTP/1.1 answer with these bytes, and their length.
    static func answer(_ fields: [String], _ body: [UInt8]) -> RawServer.Answer {
        let head = ["HTTP/1.1 200 OK", "Content-Length: \(body.count)"] + fields
        return .body(head.joined(separator: "\r\n") + "\r\n\r\n", body)
    }
}

extension String {
    /// An HTTP/1.1 answer with its length.
    static func answer(_ status: String, _ fields: [String] = [], _ body: String = "") -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n" + body
    }
}
