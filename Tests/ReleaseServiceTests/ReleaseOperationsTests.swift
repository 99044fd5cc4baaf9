import NIOConcurrencyHelpers
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords
import ServerTesting
import Testing

/// Rows E1 and J16.
@Suite("A release that is handed in")
struct ReleaseOperationsTests {
    @Test func `is published, with its history and its line in the audit log`() async throws {
        let fixture = try TestingOperations()
        var notes = ReleaseNotes()
        (notes.label, notes.commit) = ("spring sale", "abcdef1")
        let release = try fixture.release()
        guard
            case .published = try await OfferRelease(release, notes: notes, by: fixture.actor, fixture.operations).run()
        else {
            Issue.record("was not published")
            return
        }
        let entry = try #require(try await fixture.history().first)
        #expect(entry.identity == release.role.identity && entry.roleVersion == 1)
        #expect(entry.notes == notes && entry.actor == fixture.actor && entry.published == TestingServer.start)
        #expect(entry.patches.map(\.label.description) == ["fix-cart-total 1", "web 1.0.0"])
        let audit = try #require(try await fixture.records.lastAuditEntry())
        #expect(audit.json["action"] == .text("release.publish") && audit.json["before"] == .null)
        #expect(audit.json["after"]?["identity"] == .text(release.role.identity.hex))
        #expect(try await fixture.intents() == 0)
    }

    @Test func `stands above those before it, and a page at a time`() async throws {
        let fixture = try TestingOperations()
        for number in 1...3 {
            _ = try await OfferRelease(
                try fixture.release("// \(number)", version: "\(number)"),
                notes: ReleaseNotes(),
                by: fixture.actor,
                fixture.operations
            ).run()
        }
        #expect(try await fixture.history().map(\.roleVersion) == [3, 2, 1])
        let page = try await History(fixture.operations).page(
            of: ReleaseFactory.production,
            in: ReleaseFactory.app,
            below: 3,
            limit: 1
        ).entries
        #expect(page.map(\.roleVersion) == [2])
        let before = try await fixture.records.lastAuditEntry()?.json["before"]?["roleVersion"]
        #expect(before == .integer(2))
        #expect(
            try await History(fixture.operations).page(
                of: ReleaseFactory.beta,
                in: ReleaseFactory.app,
                below: nil,
                limit: 9
            )
            .entries.isEmpty
        )
    }

    @Test func `and refused leaves neither history nor intent`() async throws {
        let fixture = try TestingOperations()
        let release = try fixture.release()
        _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        let late = try fixture.server.factory.release(base: nil, signedBy: [.production]) { $0 = $0 }
        let other = try fixture.server.factory.release(
            .init(scripts: ["other": ("1", "x")], web: nil),
            base: nil,
            signedBy: [.production]
        )
        // The same content is no conflict, another is.
        guard
            case .alreadyPublished = try await OfferRelease(
                late,
                notes: ReleaseNotes(),
                by: fixture.actor,
                fixture.operations
            ).run()
        else {
            Issue.record("was not known")
            return
        }
        let conflict = PublishConflict.outdated(channel: ReleaseFactory.production, base: 0, current: 1)
        await #expect(throws: OperationError.server(.conflict(conflict))) {
            try await OfferRelease(other, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        #expect(try await fixture.history().count == 1)
        #expect(try await fixture.intents() == 0)
        #expect(try await fixture.actions() == ["release.publish"])
    }

    @Test func `below its threshold is a draft, until another holder's copy comes in`() async throws {
        let fixture = try TestingOperations(threshold: 2)
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        #expect(try await fixture.actions() == ["release.draft"])
        #expect(try await fixture.history().isEmpty)
        _ = try await OfferRelease(
            try fixture.release(signedBy: [.second]),
            notes: ReleaseNotes(),
            by: fixture.actor,
            fixture.operations
        ).run()
        #expect(try await fixture.actions() == ["release.draft", "release.publish"])
        #expect(try await fixture.history().map(\.roleVersion) == [1])
    }

    @Test func `and given up is gone, which the audit log says`() async throws {
        let fixture = try TestingOperations(threshold: 2)
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let (channel, app) = (ReleaseFactory.production, ReleaseFactory.app)
        #expect(try await RemoveDraft(of: channel, version: 1, in: app, by: fixture.actor, fixture.operations).run())
        #expect(try fixture.server.repository.tree.drafts(of: channel).isEmpty)
        #expect(
            try await RemoveDraft(of: channel, version: 1, in: app, by: fixture.actor, fixture.operations).run()
                == false
        )
        #expect(try await fixture.actions() == ["release.draft", "draft.remove"])
    }

    @Test func `by two at once is one release, and one conflict`() async throws {
        let fixture = try TestingOperations()
        let (one, two) = (try fixture.release("one"), try fixture.release("two"))
        let other = try fixture.again()
        async let first = Result {
            try await OfferRelease(one, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        async let second = Result {
            try await OfferRelease(two, notes: ReleaseNotes(), by: fixture.actor, other.operations).run()
        }
        let results = await [first, second]
        #expect(results.count { (try? $0.get()) != nil } == 1, "\(results)")
        let entries = try await fixture.history()
        #expect(entries.count == 1)
        #expect(
            try PublishedState(of: fixture.server.repository).channels[ReleaseFactory.production]?.identity
                == entries.first?.identity
        )
        #expect(try await fixture.intents() == 0)
        let chain = try await fixture.records.auditChain()
        #expect(chain.faults == [] && chain.count == 1)
    }

    @Test(arguments: 1...3)
    func `has its history even where the process dies between tree and records`(_ commit: Int) async throws {
        let fixture = try TestingOperations()
        let release = try fixture.release()
        let dying = try fixture.again(failingAtCommit: commit)
        let outcome = await Result {
            try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, dying.operations).run()
        }
        // The intent, then everything that follows in one commit: there is no third.
        #expect(((try? outcome.get()) != nil) == (commit > 2))
        let isPublished = try PublishedState(of: fixture.server.repository).version(of: ReleaseFactory.production) == 1
        #expect(isPublished == (commit > 1))

        let next = try fixture.again()
        let recovered = try await SettleIntents(next.operations).run().published
        #expect(recovered.map(\.identity) == (commit == 2 ? [release.role.identity] : []))
        #expect(try await next.history().map(\.identity) == (isPublished ? [release.role.identity] : []))
        #expect(try await next.actions() == (isPublished ? ["release.publish"] : []))
        #expect(try await next.intents() == 0)
        #expect(try await SettleIntents(next.operations).run().published.isEmpty)
    }

    @Test(arguments: [1, 2])
    func `is nobody else's business while its process lives, and has its history should that die then`(_ place: Int)
        async throws
    {
        let fixture = try TestingOperations()
        let release = try fixture.release()
        let refused = NIOLockedValueBox<[OperationError]>([])
        // The other starts before the tree is touched, or when it was and nothing is written down yet.
        let dying = try fixture.again(before: place, failingAtCommit: 2) {
            do { _ = try await SettleIntents(fixture.again(patience: .zero).operations).run() } catch {
                refused.withLockedValue { $0.append(error as? OperationError ?? .stopping) }
            }
        }
        await #expect(throws: OperationError.records(StoppingRecords.death)) {
            try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, dying.operations).run()
        }
        let held = refused.withLockedValue { $0 }
        guard case .server(.locked(.held)) = held.first, held.count == 1 else {
            Issue.record("was not held: \(held)")
            return
        }
        #expect(try await fixture.intents() == 1)
        #expect(
            try await SettleIntents(fixture.again().operations).run().published.map(\.identity) == [
                release.role.identity
            ]
        )
        #expect(try await fixture.history().map(\.identity) == [release.role.identity])
        #expect(try await fixture.actions() == ["release.publish"])
        #expect(try await fixture.intents() == 0)
    }

    @Test func `after another that died is published all the same, and both have a history`() async throws {
        let fixture = try TestingOperations()
        let dying = try fixture.again(failingAtCommit: 2)
        await #expect(throws: OperationError.records(StoppingRecords.death)) {
            try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, dying.operations)
                .run()
        }
        let next = try fixture.again()
        _ = try await OfferRelease(
            try next.release("two", version: "2"),
            notes: ReleaseNotes(),
            by: fixture.actor,
            next.operations
        ).run()
        #expect(try await next.history().map(\.roleVersion) == [2, 1])
        let recovered = try await fixture.records.auditEntries(after: 0).map { $0.json["after"]?["recovered"] }
        #expect(recovered == [.bool(true), nil])
    }

    @Test func `and superseded before anybody looked has its history too`() async throws {
        let fixture = try TestingOperations()
        let first = try fixture.release()
        let dying = try fixture.again(failingAtCommit: 2)
        await #expect(throws: OperationError.records(StoppingRecords.death)) {
            try await OfferRelease(first, notes: ReleaseNotes(), by: fixture.actor, dying.operations).run()
        }
        try fixture.server.publish(try fixture.release("two", version: "2"))
        let recovery = try await SettleIntents(fixture.again().operations).run()
        #expect(recovery.published.map(\.identity) == [first.role.identity] && recovery.left.isEmpty)
    }

    @Test func `has its history whatever else was left that cannot be read`() async throws {
        let fixture = try TestingOperations()
        let dying = try fixture.again(failingAtCommit: 2)
        await #expect(throws: OperationError.records(StoppingRecords.death)) {
            try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, dying.operations)
                .run()
        }
        let bad = [RecordKey("intent", "aaa/production"), RecordKey("intent", "zzz/production")]
        try await fixture.records.store.commit(bad.map { .insert($0, .fields([])) })
        let recovery = try await SettleIntents(fixture.again().operations).run()
        #expect(recovery.left.map(\.key) == bad)
        #expect(try await fixture.history().map(\.roleVersion) == [1])
        #expect(try await fixture.intents() == 2)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
