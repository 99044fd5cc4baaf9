import HTTPAPI
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import Testing

@Suite("The hub of events", .timeLimit(.minutes(1)))
struct EventHubTests {
    private static let kept = 100
    private static let most = 8

    private let hub = EventHub(start: "s", kept: kept, mostListeners: most)

    private func add(_ count: Int = 1, of topic: String = "shop") {
        for _ in 0..<count { hub.add { _ in [EventHub.Event(topic: topic, name: "event", line: Array("{}".utf8))] } }
    }

    private func numbers(after position: Int) -> String {
        switch hub.news(after: position) {
        case .events(let entries): entries.map { "\($0.number)" }.joined(separator: " ")
        case .missed(let count): "missed \(count)"
        }
    }

    /// The pieces of a stream.
    ///
    /// - Parameter meanwhile: called after each piece.
    private func written(
        of topic: String? = nil,
        beat: Duration = .seconds(3_600),
        _ meanwhile: @escaping @Sendable (String) throws(ClientDisconnected) -> Void
    ) async throws -> [String] {
        let written = NIOLockedValueBox<[String]>([])
        try? await EventStream(hub, of: topic, after: nil, beat: beat).send { piece throws(ClientDisconnected) in
            let text = String(buffer: piece)
            written.withLockedValue { $0.append(text) }
            try meanwhile(text)
        }
        return written.withLockedValue(\.self)
    }

    @Test func `continues after the last event of a listener, or reports how many are no longer kept`() {
        add(3)
        #expect(hub.position(after: nil) == 3)
        #expect(numbers(after: hub.position(after: "s-1")) == "2 3")
        #expect(numbers(after: hub.position(after: "s-3")).isEmpty)
        #expect(numbers(after: hub.position(after: "s-99")).isEmpty, "a number that never was")
        #expect(numbers(after: hub.position(after: "other-2")) == "1 2 3", "after an event of another process")
        add(Self.kept)
        #expect(numbers(after: hub.position(after: "s-2")) == "missed 1")
        #expect(hub.position(after: "s-3") == 3)
        if case .events(let entries) = hub.news(after: 3) { #expect(entries.count == Self.kept) }
    }

    @Test func `numbers the events of one call in a row, and wakes no listener for none`() async {
        var first: [Int] = []
        let event = EventHub.Event(topic: "shop", name: "event", line: [])
        hub.add { number in
            first.append(number)
            return [event, event]
        }
        let wakes = hub.wakes()
        hub.add { number in
            first.append(number)
            return []
        }
        hub.close()
        var heard = wakes.makeAsyncIterator()
        #expect(await heard.next() == nil)
        #expect(first == [1, 3] && numbers(after: 0) == "1 2")
    }

    @Test func `ends the stream of a listener that falls behind, with the number of events that it missed`()
        async throws
    {
        let texts = try await written { [self] text in
            // While a piece is sent, more happens than is kept.
            if text.hasPrefix("retry") { add() }
            if text.hasPrefix("id: s-1\n") { add(Self.kept + 1) }
        }
        #expect(
            texts == [
                "retry: 1000\n\n", "id: s-1\nevent: event\ndata: {}\n\n", "event: missed\ndata: {\"missed\":1}\n\n",
            ]
        )
    }

    @Test func `sends comments while nothing happens, and one topic to a listener of one topic`() async throws {
        let texts = try await written(of: "shop", beat: .milliseconds(1)) { [self] text throws(ClientDisconnected) in
            if text.hasPrefix("retry") { add(of: "other") }
            if text == ":\n\n" { throw ClientDisconnected() }
        }
        #expect(texts == ["retry: 1000\n\n", ":\n\n"])
        #expect(hub.listeners == 0)
    }

    /// R10.
    @Test func `has a limit of listeners, and ends the oldest of the user that has most`() async throws {
        let own = hub.wakes()
        // Another user opens as many as possible.
        let others = (0..<Self.most).map { _ in hub.wakes(for: 1_000) }
        #expect(hub.listeners == Self.most && hub.listenersSoFar == Self.most + 1)
        add()
        var heard = own.makeAsyncIterator()
        #expect(await heard.next() == .news, "it is not ended")
        var first = others[0].makeAsyncIterator()
        #expect(await first.next() == .end)
        #expect(await first.next() == nil)
        var second = others[1].makeAsyncIterator()
        #expect(await second.next() == .news)
        #expect(EventHub.leaving([1: nil, 2: 7, 3: nil], for: 7) == 1, "both have two then: the oldest")
        #expect(EventHub.leaving([1: nil, 2: 7, 3: nil], for: 8) == 1)
        #expect(EventHub.leaving([1: nil, 2: 7, 3: 7], for: nil) == 1)
        #expect(EventHub.leaving([1: nil, 2: 7, 3: 7], for: 7) == 2)
        #expect(EventHub.leaving([:], for: nil) == nil)
        withExtendedLifetime(others) {}
    }

    @Test func `sends a listener that makes room its last events, and then that it missed none`() async throws {
        let others = NIOLockedValueBox<[AsyncStream<EventHub.Wake>]>([])
        let texts = try await written { [self] text in
            guard text.hasPrefix("retry") else { return }
            others.withLockedValue { others in others = (0..<Self.most).map { _ in hub.wakes() } }
            add()
        }
        #expect(texts.count == 3 && texts[1].hasPrefix("id: s-1\n"), "\(texts)")
        #expect(texts.last == "event: missed\ndata: {\"missed\":0}\n\n")
    }
}
