import APIProxy
import AsyncHTTPClient
import HTTPCore
import HTTPFiles
import HTTPTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import PatchFetch
import PatchTesting
import Subprocess
import SystemPackage
import Testing

@Suite("The API proxy", .timeLimit(.minutes(10)))
struct ProxyingTests {
    @Test(arguments: [HTTPMethod.GET, .HEAD, .POST, .PUT, .PATCH, .DELETE, .OPTIONS])
    func `passes on every method with its path, query and body`(method: HTTPMethod) async throws {
        try await serving(UpstreamSource.echo) { upstream in
            try await ProxyFixture.running("/api/.*=http://127.0.0.1:\(upstream)/v2") { fixture in
                let body: HTTPClientRequest.Body? =
                    [.GET, .HEAD].contains(method) ? nil : .bytes(ByteBuffer(string: "hello"))
                let got = try await fixture.ask(method, "/api/a%3Bb;c/?q=%20&r=1", body: body)
                #expect(got.status == 200)
                #expect(got.headers["X-Name"] == ["echo"])
                let expected = "\(method) /v2/a%3Bb;c/?q=%20&r=1 \(body == nil ? 0 : 5)"
                #expect(got.text == (method == .HEAD ? "" : expected))
            }
        }
    }

    @Test func `proxies nothing that no rule names`() async throws {
        let asked = NIOLockedValueBox(0)
        let source = UpstreamSource { _ in
            asked.withLockedValue { $0 += 1 }
            return .text("")
        }
        try await serving(source) { upstream in
            try await ProxyFixture.running("/api/.*=http://127.0.0.1:\(upstream)") { fixture in
                for path in ["/", "/api", "/apix/y", "/x/api/y", "/api/../x"] {
                    let got = try await fixture.get(path)
                    #expect(got.status == 404)
                }
                #expect(asked.withLockedValue(\.self) == 0)
            }
        }
    }

    @Test(arguments: [
        HTTPResponseStatus.notFound, .unprocessableEntity, .internalServerError, .serviceUnavailable, .noContent,
        .notModified, .found,
    ])
    func `passes an upstream's status back as it is, with fields and body`(status: HTTPResponseStatus) async throws {
        let source = UpstreamSource { _ in
            .stream(
                ServedStream(status: status, headers: ["X-Reason": "mine", "Content-Encoding": "own"], length: 4) {
                    try await $0(ByteBuffer(string: "body"))
                }
            )
        }
        try await serving(source) { upstream in
            try await ProxyFixture.running("/.*=http://127.0.0.1:\(upstream)") { fixture in
                let response = try await fixture.open(.GET, "/x")
                #expect(response.status == status && response.headers["X-Reason"] == ["mine"])
                let hasBody = ![204, 304].contains(status.code)
                #expect(String(buffer: try await response.body.collect(upTo: 10)) == (hasBody ? "body" : ""))
            }
        }
    }

    @Test func `writes 499 down for a client that goes away before its answer, and reports no upstream`() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (never, keep) = AsyncStream.makeStream(of: Void.self)
        let source = UpstreamSource { _ in
            ask.yield()
            for await _ in never {}
            return .text("")
        }
        let (entries, enter) = AsyncStream.makeStream(of: AccessLogEntry.self)
        try await serving(source) { upstream in
            let rule = "/.*=http://127.0.0.1:\(upstream)"
            try await ProxyFixture.running(rule, accessLog: { enter.yield($0) }) { fixture in
                let client = Task { try await fixture.get("/x") }
                _ = await asked.first { _ in true }
                client.cancel()
                let entry = try #require(await entries.first { _ in true })
                #expect(entry.target == "/x" && entry.status == 499)
                #expect(fixture.reports.withLockedValue(\.self) == [])
                keep.finish()
            }
        }
    }

    @Test func `answers 502 for an upstream that is not there, and asks the next`() async throws {
        try await serving(UpstreamSource.echo) { upstream in
            let (gone, here) = ("http://127.0.0.1:1", "http://127.0.0.1:\(upstream)")
            try await ProxyFixture.running("/gone/.*=\(gone)", "/two/.*=\(gone),\(here)") { fixture in
                let got = try await fixture.get("/gone/x")
                #expect(got.status == 502 && got.headers["X-Patchline-Proxy"] == ["unreachable"])
                #expect(got.text == "127.0.0.1:1 cannot be reached.\n")
                let post = try await fixture.ask(.POST, "/two/x", body: .bytes(ByteBuffer(string: "hello")))
                #expect(post.text == "POST /two/x 5")
                #expect(fixture.reports.withLockedValue { $0 } == ["GET /gone/x: http://127.0.0.1:1: no connection"])
            }
        }
    }

    @Test func `answers 504 for an upstream that does not answer`() async throws {
        try await withSilentUpstream { upstream, fixture in
            let got = try await fixture.get("/x")
            #expect(got.status == 504 && got.headers["X-Patchline-Proxy"] == ["timeout"])
            #expect(got.text == "127.0.0.1:\(upstream) did not answer in time.\n")
        }
    }

    @Test func `gives up an upstream that does not take the body`() async throws {
        try await withSilentUpstream { upstream, fixture in
            // More than the sockets between the two hold.
            let body = HTTPClientRequest.Body.bytes(ByteBuffer(repeating: 0x78, count: 24 << 20))
            // This client does not read an answer while it sends.
            _ = try? await fixture.ask(.POST, "/x", body: body)
            #expect(
                fixture.reports.withLockedValue(\.self) == [
                    "POST /x: http://127.0.0.1:\(upstream): no bytes moved for too long"
                ]
            )
        }
    }

    /// The answer's head frees nobody from taking the body.
    @Test func `ends an answer that came early when its upstream takes no more of the body`() async throws {
        let isPassedOn = try await holdsWithGrowingTime(from: .milliseconds(100)) { time in
            let (never, end) = AsyncStream.makeStream(of: ByteBuffer.self)
            defer { end.finish() }
            let source = UpstreamSource { _ in .stream(ServedStream(headers: ["X-Early": "yes"], pieces: never)) }
            return try await serving(source) { upstream in
                try await ProxyFixture.running(
                    "/.*=http://127.0.0.1:\(upstream)",
                    configure: { $0.timeout = time }
                ) { fixture in
                    try await withRawClient(of: fixture.port) { inbound, outbound in
                        let size = 24 << 20
                        let head = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n"
                        // More than the sockets between the two hold; it ends when the proxy ends the connection.
                        async let sent: Void? = try? outbound.write(
                            contentsOf: [ByteBuffer(string: head), ByteBuffer(repeating: 0x78, count: size)]
                        )
                        var text = ByteBuffer()
                        for try await piece in inbound { text.writeImmutableBuffer(piece) }
                        await sent
                        return String(buffer: text).contains("X-Early: yes")
                    }
                }
            }
        }
        #expect(isPassedOn)
    }

    @Test func `does not blame an upstream for a body that its client broke`() async throws {
        try await serving(UpstreamSource.echo) { upstream in
            try await ProxyFixture.running("/.*=http://127.0.0.1:\(upstream)") { fixture in
                try await withRawClient(of: fixture.port) { inbound, outbound in
                    let head = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    try await outbound.write(ByteBuffer(string: "\(head)3\r\nabc\r\nno chunk\r\n"))
                    var text = ByteBuffer()
                    for try await piece in inbound { text.writeImmutableBuffer(piece) }
                    #expect(String(buffer: text).hasPrefix("HTTP/1.1 400 "), "\(String(buffer: text))")
                }
                #expect(fixture.reports.withLockedValue(\.self) == [])
            }
        }
    }

    @Test func `carries a WebSocket to an upstream over TLS whose certificate holds`() async throws {
        let certificate = try await Certificate(names: "IP:127.0.0.1", key: Certificate.ec)
        let source = UpstreamSource { request in
            #expect(request.upgrade == "websocket")
            return .tunnel(
                ServedTunnel(headers: ["Upgrade": "websocket", "X-Name": "secure"]) { client in
                    while let piece = try? await client.next() { try? await client.write(piece) }
                }
            )
        }
        try await serving(source, tls: try certificate.identity) { upstream in
            let trust = try TLSTrust(authorities: certificate.pem)
            try await ProxyFixture.running("/ws=https://127.0.0.1:\(upstream)", trust: trust) { fixture in
                try await withRawClient(of: fixture.port) { inbound, outbound in
                    let fields = "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket"
                    try await outbound.write(ByteBuffer(string: "GET /ws HTTP/1.1\r\n\(fields)\r\n\r\n"))
                    var (text, hasSwitched) = (ByteBuffer(), false)
                    for try await piece in inbound {
                        text.writeImmutableBuffer(piece)
                        if !hasSwitched, String(buffer: text).contains("\r\n\r\n") {
                            hasSwitched = true
                            try await outbound.write(ByteBuffer(string: "a frame"))
                        }
                        if String(buffer: text).hasSuffix("a frame") { break }
                    }
                    #expect(String(buffer: text).hasPrefix("HTTP/1.1 101 "), "\(String(buffer: text))")
                    #expect(String(buffer: text).contains("X-Name: secure"))
                }
            }
        }
    }

    /// A connection that says what it is told to, byte for byte.
    private func withRawClient<Result: Sendable>(
        of port: Int,
        _ body: (NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws ->
            Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { try await body($0, $1) }
    }

    /// A proxy with little patience before an upstream that takes connections and never answers.
    private func withSilentUpstream(
        _ body: @escaping @Sendable (_ upstream: Int, ProxyFixture) async throws -> Void
    ) async throws {
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        let source = UpstreamSource { _ in
            for await _ in never {}
            return .text("late")
        }
        try await serving(source) { upstream in
            try await ProxyFixture.running(
                "/.*=http://127.0.0.1:\(upstream)",
                configure: { $0.timeout = .milliseconds(100) }
            ) { fixture in try await body(upstream, fixture) }
            end.finish()
        }
    }

    @Test func `answers 502 for an upstream that is none, and never repeats what may have changed something`()
        async throws
    {
        let connections = NIOLockedValueBox(0)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                connections.withLockedValue { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Hangup())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        try await ProxyFixture.running("/.*=http://127.0.0.1:\(port)") { fixture in
            let post = try await fixture.ask(.POST, "/x", body: .bytes(ByteBuffer(string: "hello")))
            #expect(post.status == 502 && post.headers["X-Patchline-Proxy"] == ["closed"])
            #expect(connections.withLockedValue(\.self) == 1)
            #expect(try await fixture.get("/x").status == 502)
            #expect(connections.withLockedValue(\.self) == 3)
        }
        try await listener.close()
    }

    @Test func `breaks an answer that its upstream broke`() async throws {
        let source = UpstreamSource { _ in
            .stream(ServedStream(headers: [:], length: 100) { try await $0(ByteBuffer(string: "half")) })
        }
        try await serving(source) { upstream in
            try await ProxyFixture.running("/.*=http://127.0.0.1:\(upstream)") { fixture in
                let response = try await fixture.open(.GET, "/x")
                #expect(response.headers["Content-Length"] == ["100"])
                await #expect(throws: (any Error).self) { try await response.body.collect(upTo: 1000) }
            }
        }
    }

    @Test func `lets server-sent events through one by one, and tells the upstream when the page is gone`() async throws
    {
        #expect(try await holdsWithGrowingTime(from: .milliseconds(200), letsEventsThrough))
    }

    /// False if the first answer did not begin within the time.
    private func letsEventsThrough(within time: Duration) async throws -> Bool {
        let (events, give) = AsyncStream.makeStream(of: String.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (never, release) = AsyncStream.makeStream(of: Void.self)
        defer {
            give.finish()
            release.finish()
        }
        let source = UpstreamSource { request in
            if request.path.text == "/never" {
                for await _ in never {}
                return .text("late")
            }
            return .stream(
                ServedStream(headers: ["Content-Type": "text/event-stream"], isEndless: true) { write in
                    defer { end.yield() }
                    for await event in events { try await write(ByteBuffer(string: event)) }
                }
            )
        }
        return try await serving(source) { upstream in
            try await ProxyFixture.running(
                "/.*=http://127.0.0.1:\(upstream)",
                configure: { $0.timeout = time }
            ) { fixture in
                do {
                    let response = try await fixture.open(.GET, "/x", ["Accept": "text/event-stream"])
                    guard response.status == .ok else { return false }
                    var pieces = response.body.makeAsyncIterator()
                    for number in 1...3 {
                        give.yield("data: \(number)\n\n")
                        let piece = try #require(try await pieces.next())
                        #expect(String(buffer: piece) == "data: \(number)\n\n")
                    }
                    // By now it has stood still for longer than any other answer may.
                    #expect(try await fixture.get("/never").status == 504)
                    give.yield("data: 4\n\n")
                    let last = try await pieces.next().map { String(buffer: $0) }
                    #expect(last == "data: 4\n\n")
                }
                _ = await ends.first { _ in true }
                return true
            }
        }
    }

    @Test func `asks upstreams over TLS only when their certificate holds`() async throws {
        let certificate = try await Certificate(names: "IP:127.0.0.1", key: Certificate.ec)
        try await serving(UpstreamSource.echo, tls: try certificate.identity) { upstream in
            let rule = "/.*=https://127.0.0.1:\(upstream)"
            try await ProxyFixture.running(rule, trust: TLSTrust(authorities: certificate.pem)) { fixture in
                let got = try await fixture.get("/x")
                #expect(got.text == "GET /x 0")
            }
            try await ProxyFixture.running(rule) { fixture in
                let got = try await fixture.get("/x")
                #expect(got.status == 502 && got.headers["X-Patchline-Proxy"] == ["tls"])
                let socket = try await fixture.get("/x", ["Connection": "Upgrade", "Upgrade": "websocket"])
                #expect(socket.status == 502 && socket.headers["X-Patchline-Proxy"] == ["tls"])
            }
        }
    }

    @Test func `gives up an upstream that refuses a WebSocket and never ends its answer`() async throws {
        let (never, end) = AsyncStream.makeStream(of: ByteBuffer.self)
        let source = UpstreamSource { _ in
            .stream(ServedStream(status: .forbidden, headers: [:], length: 10, pieces: never))
        }
        try await serving(source) { upstream in
            try await ProxyFixture.running(
                "/ws=http://127.0.0.1:\(upstream)",
                configure: { $0.timeout = .milliseconds(100) }
            ) { fixture in
                let got = try await fixture.get("/ws", ["Connection": "Upgrade", "Upgrade": "websocket"])
                #expect(got.status == 504 && got.headers["X-Patchline-Proxy"] == ["timeout"])
            }
            end.finish()
        }
    }

    @Test func `passes on an answer to a WebSocket's handshake that is not 101`() async throws {
        let source = UpstreamSource { request in
            #expect(request.upgrade == "websocket")
            return .refused(.forbidden, message: "no socket here", headers: [:])
        }
        try await serving(source) { upstream in
            try await ProxyFixture.running("/ws=http://127.0.0.1:\(upstream)") { fixture in
                let got = try await fixture.get("/ws", ["Connection": "Upgrade", "Upgrade": "websocket"])
                #expect(got.status == 403 && got.text == "no socket here\n")
            }
            try await ProxyFixture.running("/ws=http://127.0.0.1:1") { fixture in
                let got = try await fixture.get("/ws", ["Connection": "Upgrade", "Upgrade": "websocket"])
                #expect(got.status == 502)
            }
        }
    }
}

/// Ends every connection that says anything.
private final class Hangup: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.close(promise: nil)
    }
}
