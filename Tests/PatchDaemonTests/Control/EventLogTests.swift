import AssetServer
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import PatchFormat
import PatchSync
import Patchline
import Testing

@testable import PatchDaemon

@Suite("The log of events", .timeLimit(.minutes(1)))
struct EventLogTests {
    private let log = EventLog(start: "s", now: { UTCTime(seconds: 0) })
    private let event = DeviceEvent.nothingInstalled

    private func numbers(after position: Int) -> String {
        switch log.news(after: position) {
        case .events(let entries): entries.map { "\($0.number)" }.joined(separator: " ")
        case .missed(let count): "missed \(count)"
        }
    }

    @Test func `goes on behind the event that a listener had last, and says how many are gone`() {
        for _ in 1...3 { log.take(event, from: "shop") }
        #expect(log.position(after: nil) == 3)
        #expect(numbers(after: log.position(after: "s-1")) == "2 3")
        #expect(numbers(after: log.position(after: "s-3")).isEmpty)
        #expect(numbers(after: log.position(after: "s-99")).isEmpty, "of a number that never was")
        #expect(numbers(after: log.position(after: "other-2")) == "1 2 3", "of another process all is new")
        for _ in 1...EventLog.kept { log.take(event, from: "shop") }
        #expect(numbers(after: log.position(after: "s-2")) == "missed 1")
        #expect(log.position(after: "s-3") == 3)
        if case .events(let entries) = log.news(after: 3) { #expect(entries.count == EventLog.kept) }
    }

    @Test func `drops a listener that falls behind with a word of how much it missed, and holds nothing for it`()
        async throws
    {
        let written = NIOLockedValueBox<[String]>([])
        let stream = EventStream(log, of: nil, after: nil, beat: .seconds(3_600))
        try await stream.send { [log, event] piece throws(ClientGone) in
            let text = String(buffer: piece)
            written.withLockedValue { $0.append(text) }
            // While this piece travels, far more happens than is kept.
            if text.hasPrefix("retry") { log.take(event, from: "shop") }
            if text.hasPrefix("id: s-1\n") { for _ in 0...EventLog.kept { log.take(event, from: "shop") } }
        }
        let texts = written.withLockedValue(\.self)
        #expect(
            texts == [
                "retry: 1000\n\n",
                "id: s-1\nevent: nothingInstalled\ndata: "
                    + #"{"at":"1970-01-01T00:00:00Z","event":"nothingInstalled","id":"s-1","store":"shop","type":0,"#
                    + "\"typeName\":\"Unknown\"}\n\n",
                "event: missed\ndata: {\"missed\":1}\n\n",
            ]
        )
    }

    @Test func `names the version of a script that failed in a page once`() throws {
        let text = #"{"patchId":"fix","version":"2","fault":"threw","message":"x","line":1,"column":1}"#
        let report = try JSON.document(Array(text.utf8), named: "report", limit: 1_000)
        let failure = try ScriptFailure(reported: Fields(report, of: "report"))
        log.take(.scriptFailed(failure), from: "shop")
        guard case .events(let entries) = log.news(after: 0) else {
            Issue.record("nothing was told")
            return
        }
        #expect(
            entries.map { String(decoding: $0.line, as: UTF8.self) } == [
                #"{"at":"1970-01-01T00:00:00Z","column":1,"event":"scriptFailed","fault":"threw","id":"s-1","line":1,"#
                    + #""message":"x","patchId":"fix","store":"shop","type":8,"typeName":"JSException","version":"2"}"#
            ]
        )
    }

    @Test func `beats only while somebody listens, and tells a listener of one store of no other`() async throws {
        let written = NIOLockedValueBox<[String]>([])
        let stream = EventStream(log, of: "shop", after: nil, beat: .milliseconds(1))
        let tell: ServedStream.Write = { [log, event] piece throws(ClientGone) in
            let text = String(buffer: piece)
            written.withLockedValue { $0.append(text) }
            if text.hasPrefix("retry") { log.take(event, from: "other") }
            if text == ":\n\n" { throw ClientGone() }
        }
        await #expect(throws: ClientGone.self) { try await stream.send(tell) }
        #expect(written.withLockedValue(\.self) == ["retry: 1000\n\n", ":\n\n"])
        #expect(log.listeners == 0)
    }

    /// R10.
    @Test func `has room for so many listeners, and ends the oldest of the user that has most`() async throws {
        let most = EventLog.mostListeners
        let own = log.wakes()
        // Of another user, who opens as many as there can be.
        let others = (0..<most).map { _ in log.wakes(for: 1_000) }
        #expect(log.listeners == most)
        log.take(event, from: "shop")
        var heard = own.makeAsyncIterator()
        #expect(await heard.next() == .news, "it is not pushed out")
        var first = others[0].makeAsyncIterator()
        #expect(await first.next() == .end)
        #expect(await first.next() == nil)
        var second = others[1].makeAsyncIterator()
        #expect(await second.next() == .news)
        #expect(EventLog.leaving([1: nil, 2: 7, 3: nil], for: 7) == 1, "both have two then: the oldest")
        #expect(EventLog.leaving([1: nil, 2: 7, 3: nil], for: 8) == 1)
        #expect(EventLog.leaving([1: nil, 2: 7, 3: 7], for: nil) == 1)
        #expect(EventLog.leaving([1: nil, 2: 7, 3: 7], for: 7) == 2)
        #expect(EventLog.leaving([:], for: nil) == nil)
        withExtendedLifetime(others) {}
    }

    @Test func `tells a listener that makes room what it had not heard, and then that nothing is missing`()
        async throws
    {
        let written = NIOLockedValueBox<[String]>([])
        let stream = EventStream(log, of: nil, after: nil, beat: .seconds(3_600))
        let kept = NIOLockedValueBox<[AsyncStream<EventLog.Wake>]>([])
        try await stream.send { [log, event] piece throws(ClientGone) in
            let text = String(buffer: piece)
            written.withLockedValue { $0.append(text) }
            guard text.hasPrefix("retry") else { return }
            kept.withLockedValue { kept in kept = (0..<EventLog.mostListeners).map { _ in log.wakes() } }
            log.take(event, from: "shop")
        }
        let texts = written.withLockedValue(\.self)
        #expect(texts.count == 3 && texts[1].hasPrefix("id: s-1\n"), "\(texts)")
        #expect(texts.last == "event: missed\ndata: {\"missed\":0}\n\n")
    }
}
