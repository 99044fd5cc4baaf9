import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing

/// One response as it came over the wire.
struct RawResponse: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    subscript(name: String) -> String? { headers.first(name: name) }
}

/// A client that sends the bytes it is told to and reads exactly one response at a time.
struct RawClient {
    struct ConnectionEnded: Error {
        /// Received after the last whole response.
        let leftOver: Int
    }

    private let channel: any Channel
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer = ByteBuffer()

    /// Connects to 127.0.0.1, and disconnects when `body` returns.
    ///
    /// - Parameters:
    ///   - tls: what the client trusts; nil for no TLS.
    ///   - address: the client's own; nil for the usual one.
    static func connected<Result: Sendable>(
        to port: Int,
        tls: NIOSSLContext? = nil,
        from address: String? = nil,
        _ body: (inout RawClient) async throws -> Result
    ) async throws -> Result {
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
        if let address { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: address, port: 0)) }
        let connection =
            try await bootstrap
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound in
            var client = RawClient(channel: connection.channel, inbound: inbound.makeAsyncIterator())
            return try await body(&client)
        }
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    func send(bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// Bytes on their way, for a server that holds them back.
    func sending(_ bytes: ByteBuffer) -> Sending {
        let sent = NIOLockedValueBox(false)
        let channel = channel
        return Sending(
            task: Task {
                try await channel.writeAndFlush(bytes)
                sent.withLockedValue { $0 = true }
            },
            sent: sent
        )
    }

    struct Sending: Sendable {
        fileprivate let task: Task<Void, any Error>
        fileprivate let sent: NIOLockedValueBox<Bool>

        var value: Void { get async throws { try await task.value } }

        /// Whether the bytes are gone after a moment's time: that of requests on other connections.
        func isDone(afterRequestsTo server: TestServer) async -> Bool {
            for _ in 0..<50 where !sent.withLockedValue(\.self) { _ = try? await server.get("/") }
            return sent.withLockedValue(\.self)
        }
    }

    /// The connection's end is a reset.
    func resetAtEnd() async throws {
        let socket = try #require(channel as? any SocketOptionProvider)
        try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    }

    func closeOutput() async throws {
        try await channel.close(mode: .output)
    }

    /// The next response; `toHead` for one without a body in spite of its Content-Length.
    mutating func response(toHead: Bool = false) async throws -> RawResponse {
        let (status, headers) = try await head()
        let hasBody = !toHead && status != 304 && status != 204 && status >= 200
        let length = hasBody ? try #require(headers.first(name: "Content-Length").flatMap(Int.init)) : 0
        while buffer.readableBytes < length { try await fill() }
        return RawResponse(status: status, headers: headers, body: buffer.readBytes(length: length) ?? [])
    }

    mutating func head() async throws -> (status: Int, headers: HTTPHeaders) {
        var end: Int?
        while end == nil {
            end = Self.endOfHead(buffer)
            if end == nil { try await fill() }
        }
        let text = buffer.readString(length: end ?? 0) ?? ""
        let lines = text.split(separator: "\r\n")
        let statusLine = lines[0].split(separator: " ")
        #expect(statusLine[0] == "HTTP/1.1")
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ": ", maxSplits: 1)
            headers.add(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        return (try #require(Int(statusLine[1])), headers)
    }

    /// This many bytes.
    mutating func text(_ count: Int) async throws -> String {
        while buffer.readableBytes < count { try await fill() }
        return buffer.readString(length: count) ?? ""
    }

    /// Bytes until the server's end of the connection.
    mutating func rest() async -> [UInt8] {
        while (try? await fill()) != nil {}
        return buffer.readBytes(length: buffer.readableBytes) ?? []
    }

    private mutating func fill() async throws {
        if buffer.readableBytes == 0 { buffer.clear() }
        guard var more = try? await inbound.next(isolation: #isolation) else {
            throw ConnectionEnded(leftOver: buffer.readableBytes)
        }
        buffer.writeBuffer(&more)
    }

    private static func endOfHead(_ buffer: ByteBuffer) -> Int? {
        let view = buffer.readableBytesView
        return view.indices.first { view[$0...].starts(with: "\r\n\r\n".utf8) }.map { $0 - view.startIndex + 4 }
    }
}
