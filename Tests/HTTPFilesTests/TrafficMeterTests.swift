import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing

/// Everything that a server told its meter, in order.
private final class Tally: TrafficMeter {
    private let count = NIOLockedValueBox(0)
    private let events: AsyncStream<String>
    private let report: AsyncStream<String>.Continuation

    init() {
        (events, report) = AsyncStream.makeStream(of: String.self)
    }

    var open: Int { count.withLockedValue(\.self) }

    func connectionOpened() { count.withLockedValue { $0 += 1 } }
    func connectionLost(_ loss: LossOfConnection) { report.yield("\(loss)") }

    func connectionClosed() {
        count.withLockedValue { $0 -= 1 }
        report.yield("closed")
    }

    func answered(_ target: String, status: Int, bodyBytes: Int, in duration: Duration) {
        report.yield("\(target) \(status) \(bodyBytes)" + (duration > .zero ? "" : " in no time"))
    }

    func next() async -> String? { await events.first { _ in true } }
}

/// Ten bytes at `/ready` at once, and elsewhere after a while.
private struct ReadySource: FileSource {
    func decide(_ request: FileRequest) -> FileDecision {
        guard request.path.text != "/ready" else { return .now(PreparedReply(.bytes(.digits))) }
        return .later(.whole) { _ in .bytes(.digits) }
    }
}

@Suite("A server that is measured", .timeLimit(.minutes(10)))
struct TrafficMeterTests {
    @Test func `tells of every answer, made at once or not, and of what cannot be read`() async throws {
        let tally = Tally()
        try await TestServer.running(ReadySource(), meter: tally) { server in
            try await server.connected { client in
                for (target, method, bytes) in [("/ready?x", "GET", 10), ("/later", "GET", 10), ("/ready", "HEAD", 0)] {
                    try await client.send(request(method, target))
                    _ = try await client.response(toHead: method == "HEAD")
                    #expect(await tally.next() == "\(target) 200 \(bytes)")
                }
                #expect(tally.open == 1)
                try await client.send("NO\r\n\r\n")
                _ = try await client.response()
                #expect(await tally.next()?.hasPrefix("- 400 ") == true)
            }
            #expect(await tally.next() == "closed")
            #expect(tally.open == 0)
        }
    }

    @Test func `tells of those whom it refuses, and of those who made room`() async throws {
        let tally = Tally()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (asked, didAsk) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { _ in
            didAsk.yield()
            _ = await gate.first { true }
            return .bytes(.digits)
        }
        try await TestServer.running(source, meter: tally, configure: { $0.maxConnections = 1 }) { server in
            try await server.connected { first in
                try await first.send(request("GET", "/slow"))
                _ = await asked.first { true }
                #expect(try await server.connected { try await $0.response().status } == 503)
                #expect(await tally.next() == "refused")
                #expect(tally.open == 1)
                open.yield()
                #expect(try await first.response().status == 200)
                #expect(await tally.next() == "/slow 200 10")
                open.yield()
                #expect(try await server.get("/").status == 200)
                #expect(await tally.next() == "room")
            }
        }
    }
}
