import Dispatch
import Foundation
import HTTPFiles
import NIOCore
import Testing

import PageTesting
@testable import AssetServer

@Suite("A stream of events")
struct PageEventsTests {
    private let events = PageEvents(start: "s")

    /// What a page hears in one piece.
    private func next(_ iterator: inout PageEvents.Pieces.AsyncIterator) async -> String? {
        await iterator.next(isolation: #isolation).map { String(buffer: $0) }
    }

    @Test func `begins with what holds, then tells what happens, each with a number`() async throws {
        events.notify(.switched(version: "1"))
        events.notify(.ready(version: "2"))
        var page = try #require(events.subscribe(after: nil, releases: { [] })).makeAsyncIterator()
        #expect(
            await next(&page) == """
                retry: 1000

                id: s-2
                event: state
                data: {"current":"1","pending":"2","releases":[],"sync":{"phase":"idle"}}


                """
        )
        events.notify(.switched(version: "2"))
        #expect(await next(&page) == "id: s-3\nevent: switched\ndata: {\"version\":\"2\"}\n\n")
        events.beat()
        #expect(await next(&page) == ": \n\n")
    }

    @Test func `begins with the tag of the parameters too, where there are any`() async throws {
        events.notify(.parameters(tag: "a"))
        var page = try #require(events.subscribe(after: nil, releases: { [] })).makeAsyncIterator()
        let first = try #require(await next(&page))
        #expect(
            first.contains(
                #"data: {"current":null,"parameters":"a","pending":null,"releases":[],"sync":{"phase":"idle"}}"#
            )
        )
        events.notify(.parameters(tag: nil))
        #expect(await next(&page) == "id: s-2\nevent: parameters\ndata: {\"tag\":null}\n\n")
    }

    @Test(arguments: [("s-1", ["progress", "failed"]), ("s-3", []), ("x-1", []), ("s-x", []), ("", []), ("s-99", [])])
    func `gives a page that comes back what it missed, unless the server was started since`(
        id: String,
        missed: [String]
    ) async throws {
        for event in [PageEvent.checking, .progress(10), .failed("no network")] { events.notify(event) }
        var page = try #require(events.subscribe(after: id, releases: { [] })).makeAsyncIterator()
        let first = try #require(await next(&page))
        let names = first.split(separator: "\n").filter { $0.hasPrefix("event: ") }.map { String($0.dropFirst(7)) }
        #expect(names == ["state"] + missed)
    }

    /// Another may be signed in by then.
    @Test func `tells nobody who comes back of a page that somebody saw`() async throws {
        events.notify(.checking)
        var present = try #require(events.subscribe(after: nil, releases: { [] })).makeAsyncIterator()
        _ = await next(&present)
        events.notify(.page(target: "/live", visit: "v", code: 200))
        #expect(await next(&present)?.contains("event: page\n") == true)
        events.notify(.failed("no network"))
        var back = try #require(events.subscribe(after: "s-1", releases: { [] })).makeAsyncIterator()
        let first = try #require(await next(&back))
        #expect(first.contains("event: failed\n") && !first.contains("/live"))
    }

    @Test func `never tells of progress that goes back, or of the same twice`() async throws {
        let reported: [(PageEvent, Bool)] = [
            (.progress(5), false), (.checking, true), (.checking, false), (.progress(10), true), (.progress(10), false),
            (.progress(7), false), (.progress(99), true), (.progress(100), true), (.checked(isNew: true), true),
            (.progress(50), false), (.ready(version: "2"), true), (.ready(version: "2"), false), (.checking, true),
            (.progress(1), true), (.failed("a"), true), (.failed("a"), true), (.switched(version: "2"), true),
            (.switched(version: "2"), false), (.reload, true), (.reload, true), (.parameters(tag: nil), false),
            (.parameters(tag: "a"), true), (.parameters(tag: "a"), false), (.parameters(tag: "b"), true),
        ]
        var state = PageState()
        for (event, isNew) in reported { #expect(state.take(event) == isNew, "\(event)") }
        #expect(state.current == "2" && state.pending == nil)
    }

    @Test func `ends for a page that does not read, and for no other`() async throws {
        let slow = try #require(events.subscribe(after: nil, releases: { [] }))
        var quick = try #require(events.subscribe(after: nil, releases: { [] })).makeAsyncIterator()
        _ = await next(&quick)
        for _ in 0..<PageEvents.behindLimit + 1 {
            events.notify(.reload)
            _ = await next(&quick)
        }
        #expect(events.streams == 1)
        var pieces = 0
        for await _ in slow { pieces += 1 }
        #expect(pieces == PageEvents.behindLimit + 1)
    }

    @Test func `is one of a bounded number, and makes room when its page goes`() async throws {
        var open: [Task<Void, Never>] = []
        for _ in 0..<PageEvents.streamsLimit {
            let stream = try #require(events.subscribe(after: nil, releases: { [] }))
            open.append(Task { for await _ in stream {} })
        }
        #expect(events.subscribe(after: nil, releases: { [] }) == nil)
        open[0].cancel()
        await open[0].value
        #expect(events.streams == PageEvents.streamsLimit - 1)
        events.close()
        for task in open { await task.value }
    }

    /// A decision may be made twice for one request, and an answer may have no reader.
    @Test func `takes its place with the answer, and gives it back with that`() async throws {
        let server = AssetServer.open()
        var answers: [FileAnswer] = []
        for _ in 0..<PageEvents.streamsLimit {
            _ = server.decide(try request("/__patchline/events"))
            answers.append(try await server.get("/__patchline/events"))
        }
        #expect(answers.allSatisfy { $0.summary != "503" })
        #expect(try await server.get("/__patchline/events").summary == "503")
        answers.removeLast()
        #expect(try await server.get("/__patchline/events").summary != "503")
    }

    @Test func `ends when the server stops, and begins again when it is started`() async throws {
        var page = try #require(events.subscribe(after: nil, releases: { [] })).makeAsyncIterator()
        _ = await next(&page)
        events.close()
        #expect(await next(&page) == nil)
        #expect(events.subscribe(after: nil, releases: { [] }) == nil)
        events.open()
        #expect(events.subscribe(after: nil, releases: { [] }) != nil)
    }

    @Test func `keeps a bounded number of events of each kind, and drops none for another kind`() {
        events.notify(.ready(version: "2"))
        for number in 0..<1_000 { events.notify(.failed("\(number)")) }
        #expect(events.recent.count == 1 + RecentPageEvents.limit)
        #expect(events.recent.first == .ready(version: "2") && events.recent.last == .failed("999"))
    }

    @Test func `keeps one progress of a sync, so that a large download pushes nothing out`() {
        events.notify(.failed("no network"))
        for _ in 1...2 {
            events.notify(.checking)
            for percent in 1...100 { events.notify(.progress(percent)) }
            events.notify(.ready(version: "2"))
            events.notify(.checked(isNew: true))
        }
        #expect(
            events.recent == [
                .failed("no network"), .checking, .progress(100), .ready(version: "2"), .checked(isNew: true),
                .checking,
                .progress(100), .checked(isNew: true),
            ]
        )
    }

    /// Whoever cancels a reader holds its task's lock, for which waits whoever tells it something: neither may need the other's.
    @Test func `end while somebody is telling something`() async throws {
        let pieces = try #require(events.subscribe(after: nil, releases: { [] }))
        let reading = Task.detached { for await _ in pieces {} }
        let ended = DispatchSemaphore(value: 0)
        let outcome = events.withStreams { _ in
            Thread.detachNewThread {
                reading.cancel()
                ended.signal()
            }
            return ended.wait(timeout: .now() + 300)
        }
        await reading.value
        #expect(outcome == .success)
        #expect(events.streams == 0)
    }
}
