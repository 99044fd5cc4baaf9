import PatchCrypto
import PatchFormat
import PatchServer
import PatchTesting
import ServerRecords
import ServerTesting
import Testing

@testable import ReleaseService

@Suite("A release that is read back")
struct ReleaseDetailTests {
    private let fixture: TestingOperations
    private let app = ReleaseFactory.app
    private let channel = ReleaseFactory.production

    init() throws {
        fixture = try TestingOperations()
    }

    @Test func `has its versions, their sizes, its notes, and what it added to the one before`() async throws {
        var notes = ReleaseNotes()
        (notes.label, notes.notes) = ("first", "one\ntwo")
        _ = try await OfferRelease(try fixture.release(), notes: notes, by: fixture.actor, fixture.operations).run()
        let first = try await History(fixture.operations).release(1, of: channel, in: app)
        #expect(first.entry.notes == notes && first.before == nil)
        #expect(first.difference.added == first.entry.patches.map(\.label) && first.difference.removed.isEmpty)
        #expect(Set(first.sizes.keys) == Set(first.entry.patches.map(\.label)))
        #expect(first.json["previous"] == nil && first.json["difference"]?["added"] != nil)
        #expect(first.json["notes"] == .text("one\ntwo"))

        let next = try fixture.server.factory.release(ReleaseFactory.Contents(web: nil), on: fixture.server.repository)
        _ = try await OfferRelease(next, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        let second = try await History(fixture.operations).release(2, of: channel, in: app)
        #expect(second.before == first.entry)
        #expect(second.difference == HistoryDifference(from: first.entry, to: second.entry))
        #expect(second.difference.removed.map(\.patchID.text) == ["web"])
        #expect(second.json["previous"] == .integer(1))
        let audit = try #require(try await fixture.records.lastAuditEntry()).json
        #expect(audit["after"]?["removed"] == .array(second.difference.removed.map { .text($0.description) }))
        #expect(audit["after"]?["added"] == nil)
    }

    @Test func `has twenty versions of a kind in the audit log, and counts each other one once`() {
        let labels = (1...25).map { Label(patchID: named("fix"), version: named("\($0)")) }
        func entry(_ version: Int, listing listed: [Label], withdrawing withdrawn: [Label] = []) -> HistoryEntry {
            HistoryEntry(
                app: app,
                channel: channel,
                roleVersion: version,
                identity: SHA256Digest(of: []),
                published: TestingServer.start,
                actor: fixture.actor,
                notes: ReleaseNotes(),
                patches: listed.map { label in
                    HistoryEntry.Patch(label: label, kind: .script, sha256: SHA256Digest(of: []), rollout: 10_000)
                },
                proposal: nil,
                withdrawn: withdrawn
            )
        }
        let difference = HistoryDifference(
            from: entry(1, listing: labels),
            to: entry(2, listing: [], withdrawing: labels)
        )
        let shown = JSON.array(labels.prefix(20).map { .text($0.description) })
        let audited = JSON.fields(difference.audited)
        #expect(audited["removed"] == shown && audited["withdrawn"] == shown)
        #expect(audited["added"] == nil && audited["more"] == .integer(5))
    }

    @Test func `is one that was published`() async throws {
        await #expect(throws: OperationError.noRelease(channel, version: 1)) {
            try await History(fixture.operations).release(1, of: channel, in: app)
        }
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        await #expect(throws: OperationError.noRelease(channel, version: 2)) {
            try await History(fixture.operations).release(2, of: channel, in: app)
        }
    }
}
