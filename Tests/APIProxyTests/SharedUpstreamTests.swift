import HTTPCore
import HTTPFiles
import HTTPTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import APIProxy

/// Ways to keep a request under way.
enum SlowRequest: CaseIterable, Sendable {
    case noHead, endlessBody, events, hiddenEvents, upload

    var path: String {
        switch self {
        case .noHead: "/poll"
        case .endlessBody: "/film"
        case .events, .hiddenEvents: "/events"
        case .upload: "/upload"
        }
    }

    /// How many of one client's requests a proxy with 16 slots passes on.
    var passed: Int {
        switch self {
        // A quarter of all slots is the reserve.
        case .noHead, .endlessBody, .upload: 12
        // Half of all slots, less a quarter of that.
        case .events, .hiddenEvents: 6
        }
    }

    var refusal: String {
        switch self {
        case .noHead, .endlessBody, .upload: "Too many requests to HOST are under way.\n"
        case .events, .hiddenEvents: "Too many event streams of HOST are open.\n"
        }
    }
}

@Suite("An upstream that many clients share", .timeLimit(.minutes(10)))
struct SharedUpstreamTests {
    /// Holds all requests but those for `/fast` until ``end``.
    private struct HoldingUpstream {
        let source: UpstreamSource
        let end: @Sendable () -> Void

        init() {
            let hasEnded = NIOLockedValueBox(false)
            let waiting = NIOLockedValueBox<[AsyncStream<ByteBuffer>.Continuation]>([])
            end = {
                hasEnded.withLockedValue { $0 = true }
                for one in waiting.withLockedValue(\.self) { one.finish() }
            }
            source = UpstreamSource { request in
                if request.path.text == "/fast" { return .text("fast") }
                let (pieces, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
                feed.yield(ByteBuffer(string: "data: 1\n\n"))
                waiting.withLockedValue { $0.append(feed) }
                if hasEnded.withLockedValue(\.self) { feed.finish() }
                switch request.path.text {
                case "/events":
                    return .stream(ServedStream(headers: ["Content-Type": "text/event-stream"], pieces: pieces))
                case "/film": return .stream(ServedStream(headers: ["Content-Type": "video/mp4"], pieces: pieces))
                default:
                    for await _ in pieces {}
                    return .text("at last")
                }
            }
        }
    }

    private func head(_ kind: SlowRequest) -> String {
        var lines = [
            "\(kind == .upload ? "POST" : "GET") \(kind.path) HTTP/1.1", "Host: a", "X-Forwarded-For: 192.0.2.1",
        ]
        if kind == .events { lines.append("Accept: text/event-stream") }
        // One byte of ten comes.
        if kind == .upload { lines.append("Content-Length: 10") }
        return lines.map { $0 + "\r\n" }.joined() + "\r\n" + (kind == .upload ? "x" : "")
    }

    /// Sends a request, and keeps the connection open until it is cancelled.
    ///
    /// - Parameter answered: receives a whole refusal, or the first bytes of an answer.
    private func hold(
        _ kind: SlowRequest,
        at port: Int,
        _ answered: AsyncStream<String>.Continuation
    ) async throws {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: head(kind)))
            var (text, isAnswered) = ("", false)
            for try await piece in inbound {
                text += String(buffer: piece)
                guard !isAnswered, !text.hasPrefix("HTTP/1.1 503") || text.hasSuffix(".\n") else { continue }
                isAnswered = true
                answered.yield(text)
            }
        }
    }

    /// Sends 20 slow requests, and hands the refusals to `body` while all others are still under way.
    private func holding(
        _ kind: SlowRequest,
        at port: Int,
        _ body: ([String]) async throws -> Void
    ) async throws {
        let (answers, answered) = AsyncStream.makeStream(of: String.self)
        var tasks: [Task<Void, any Error>] = []
        var refused: [String] = []
        var answer = answers.makeAsyncIterator()
        for _ in 0..<20 {
            tasks.append(Task { try await hold(kind, at: port, answered) })
            // Only the head of the answer shows that it is a stream: until then a request counts as an ordinary one.
            if kind == .hiddenEvents { try refused.append(#require(await answer.next())) }
        }
        refused.removeAll { !$0.hasPrefix("HTTP/1.1 503") }
        while refused.count < 20 - kind.passed, let next = await answer.next() {
            if next.hasPrefix("HTTP/1.1 503") { refused.append(next) }
        }
        let result: Swift.Result<Void, any Error>
        do { result = .success(try await body(refused)) } catch { result = .failure(error) }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        try result.get()
    }

    @Test(arguments: SlowRequest.allCases)
    func `refuses at once what is above a client's share, and answers other clients`(kind: SlowRequest) async throws {
        let upstream = HoldingUpstream()
        try await serving(upstream.source) { port in
            let proxies = try #require(TrustedProxies("127.0.0.1"))
            try await ProxyFixture.running(
                "/.*=http://127.0.0.1:\(port)",
                configure: {
                    $0.placement = .inFrontOfSite(scheme: "http", proxies)
                    $0.requests = 16
                }
            ) { fixture in
                try await holding(kind, at: fixture.port) { refused in
                    for answer in refused {
                        let fields = ["Retry-After: 5", "Cache-Control: no-store", "X-Patchline-Proxy: busy"]
                        for field in fields { #expect(answer.contains("\r\n\(field)\r\n"), "\(answer)") }
                        let text = "\r\n\r\n" + kind.refusal.replacing("HOST", with: "127.0.0.1:\(port)")
                        #expect(answer.hasSuffix(text), "\(answer)")
                    }
                    let other = try await fixture.get("/fast", ["X-Forwarded-For": "198.51.100.7"])
                    #expect(other.status == 200 && other.text == "fast")
                    let line = "http://127.0.0.1:\(port): 1 request refused with 503: too many requests at a time"
                    #expect(fixture.reports.withLockedValue(\.self) == [line])
                }
                upstream.end()
                // All slots are free again, once the proxy has noticed.
                var again = try await fixture.get("/fast", ["X-Forwarded-For": "192.0.2.1"])
                while again.status == 503 { again = try await fixture.get("/fast", ["X-Forwarded-For": "192.0.2.1"]) }
                #expect(again.text == "fast")
            }
        }
    }

    @Test func `of a device answers its other paths while one is slow`() async throws {
        let upstream = HoldingUpstream()
        try await serving(upstream.source) { port in
            try await ProxyFixture.running(
                "/.*=http://127.0.0.1:\(port)",
                configure: { $0.requests = 16 }
            ) { fixture in
                try await holding(.noHead, at: fixture.port) { refused in
                    #expect(refused.count == 8)
                    let fast = try await fixture.get("/fast")
                    #expect(fast.text == "fast")
                }
                upstream.end()
            }
        }
    }

    @Test func `tells of refusals once a minute, with their number`() {
        var (tally, now) = (RefusalTally(), ContinuousClock.now)
        #expect(tally.add(at: now) == 1)
        for _ in 0..<5 { #expect(tally.add(at: now) == nil) }
        now += .seconds(60)
        #expect(tally.add(at: now) == 6)
        #expect(tally.add(at: now) == nil)
    }
}
