import PatchFormat
import PatchServer
import PatchStore
import ReleaseFolder
@testable import ReleaseService
import ServerRecords
import ServerTesting
import SystemPackage
import Testing

@Suite("What makes small forms and packs")
struct OptimizerTests {
    private let app = ReleaseFactory.app

    /// A server on which two versions were published fast.
    private func published() async throws -> (TestingOperations, ReleaseOperations) {
        let fixture = try TestingOperations()
        var operations = fixture.operations
        operations.forms = .fast
        for number in 1...2 {
            let release = try fixture.server.factory.release(
                PackedServer.contents(number),
                on: fixture.server.repository
            )
            let outcome = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, operations).run()
            guard case .published(let done) = outcome, done.awaitsForms else {
                Issue.record("\(outcome)")
                break
            }
        }
        return (fixture, operations)
    }

    @Test func `does so once, and what it did is in its result`() async throws {
        let (fixture, operations) = try await published()
        #expect(try fixture.server.packs().isEmpty)
        guard case .done(let outcome) = try await Optimizer(operations).optimize(app) else {
            Issue.record("another did")
            return
        }
        #expect(try fixture.server.packs() == fixture.server.packNames(to: 2, from: [1]))
        #expect(outcome.written.files > 4 && outcome.leftOut == [])
        #expect(fixture.server.repository.tree.pendingOptimizations == [])
        #expect(try fixture.server.check().faults == [])
        let again = try await Optimizer(operations).optimize(app)
        #expect(again == .done(Optimization.Outcome()))
        #expect(
            try await fixture.actions().filter { $0 != "release.publish" } == [],
            "nothing that is published changes"
        )
    }

    @Test func `waits for another process that does`() async throws {
        let (fixture, operations) = try await published()
        let lock = try StoreLock(operations.folder.optimizing)
        let waiting = Task { try await Optimizer(operations).optimize(app) }
        // What the other process does.
        let elsewhere = try fixture.again().operations
        while try await Optimizer(elsewhere).pending(of: app).isEmpty { await Task.yield() }
        _ = try await Optimizer(elsewhere).work(on: app)
        #expect(try await waiting.value == .doneElsewhere)
        lock.release()
        #expect(try fixture.server.packs() == fixture.server.packNames(to: 2, from: [1]))
    }

    @Test func `begins no step while the process publishes`() async throws {
        let (fixture, operations) = try await published()
        operations.publishing.begin()
        let work = Task { try await Optimizer(operations).optimize(app) }
        while try !fixture.server.files.list(fixture.box.path.appending("srv")).contains("optimizing") {
            await Task.yield()
        }
        #expect(try fixture.server.packs().isEmpty)
        operations.publishing.end()
        guard case .done = try await work.value else {
            Issue.record("another did")
            return
        }
        #expect(try fixture.server.packs() == fixture.server.packNames(to: 2, from: [1]))
    }

    @Test func `in the background does so after each publish`() async throws {
        let (fixture, operations) = try await published()
        let (results, reported) = AsyncStream.makeStream(of: Bool.self)
        let background = BackgroundOptimizer(operations) { _, result in
            reported.yield((try? result.get()) != nil)
        }
        let running = Task { try await background.run() }
        var next = results.makeAsyncIterator()
        #expect(await next.next() == true)
        #expect(try fixture.server.packs() == fixture.server.packNames(to: 2, from: [1]))
        running.cancel()
        try? await running.value
    }

    @Test func `in the background looks rarely, and sooner for work that is due`() {
        let (now, app) = (ContinuousClock.now, app)
        var schedule = BackgroundOptimizer.Schedule()
        #expect(schedule.pause(at: now) == .seconds(5))
        schedule.sweeps[app] = now.advanced(by: .seconds(3))
        #expect(schedule.pause(at: now) == .seconds(3))
        schedule.failures[app] = (.busy, now.advanced(by: .milliseconds(10)))
        #expect(schedule.pause(at: now) == .seconds(1))
        schedule = BackgroundOptimizer.Schedule()
        schedule.sweeps[app] = now.advanced(by: .seconds(60))
        #expect(schedule.pause(at: now) == .seconds(5))
    }

    @Test func `is woken by a change of its process, also by one that came before it waited`() async throws {
        let publishing = PublishingCount()
        publishing.begin()
        publishing.end()
        await publishing.ended.wait(atMost: .seconds(86_400))
        let waiting = Task { await publishing.ended.wait(atMost: .seconds(86_400)) }
        publishing.begin()
        publishing.end()
        await waiting.value
        let cancelled = Task { await publishing.ended.wait(atMost: .seconds(86_400)) }
        cancelled.cancel()
        await cancelled.value
        // Nobody nudges: the time ends it.
        await Nudge().wait(atMost: .milliseconds(1))
    }

    @Test func `has an interrupted publish's record follow what devices see`() async throws {
        let (fixture, operations) = try await published()
        // It died before its timestamp.
        let files = fixture.server.files
        let record = #"{"format":"patchline-optimize-v1","pending":[{"channel":"production","roleVersion":3}]}"#
        try files.replace("optimize.json", in: fixture.server.repository.tree.records, with: Array(record.utf8))
        #expect(fixture.server.repository.tree.pendingOptimizations.map(\.roleVersion) == [3])
        _ = try await Optimizer(operations).optimize(app)
        #expect(fixture.server.repository.tree.pendingOptimizations == [])
        #expect(try fixture.server.packs() == fixture.server.packNames(to: 2, from: [1]))
    }
}
