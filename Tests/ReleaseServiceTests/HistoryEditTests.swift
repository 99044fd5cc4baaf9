import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords
import ServerTesting
import Testing

@Suite("What people say of a release")
struct HistoryEditTests {
    private let fixture: TestingOperations
    private let app = ReleaseFactory.app
    private let channel = ReleaseFactory.production

    init() throws {
        fixture = try TestingOperations()
    }

    private func publish() async throws {
        var notes = ReleaseNotes()
        (notes.label, notes.notes, notes.author, notes.commit) = ("old", "one\ntwo", "Ada", "abcdef1")
        _ = try await OfferRelease(try fixture.release(), notes: notes, by: fixture.actor, fixture.operations).run()
    }

    private func edit(_ members: [(String, JSON?)], of version: Int = 1) async throws -> HistoryEntry {
        let edit = try NotesEdit(Fields(.fields(members), of: "body"))
        return try await History(fixture.operations).edit(
            edit,
            of: version,
            in: channel,
            of: app,
            by: .local(user: "ada")
        )
    }

    @Test func `is edited, and the audit log has it as it was and as it is`() async throws {
        try await publish()
        let published = try #require(try await fixture.history().first)
        let entry = try await edit([("label", .text("spring sale")), ("notes", .null)])
        #expect(entry.notes.label == "spring sale" && entry.notes.notes == nil)
        #expect(entry.notes.author == "Ada" && entry.notes.commit == "abcdef1" && entry.actor == fixture.actor)
        #expect(entry.identity == published.identity && entry.patches == published.patches)
        #expect(try await fixture.history() == [entry])
        let audit = try #require(try await fixture.records.lastAuditEntry()).json
        #expect(audit["action"] == .text("history.edit") && audit["actor"]?["name"] == .text("ada"))
        #expect(audit["before"]?["label"] == .text("old") && audit["before"]?["notes"] == .text("one\ntwo"))
        #expect(audit["after"]?["label"] == .text("spring sale") && audit["after"]?["notes"] == nil)
        #expect(audit["after"]?["identity"] == .text(entry.identity.hex) && audit["channel"] == .text("production"))
    }

    @Test func `stays where nothing is said of it, and an edit that changes nothing is none`() async throws {
        try await publish()
        #expect(try await edit([("label", .text("new"))]).notes.notes == "one\ntwo")
        _ = try await edit([("label", .text("new")), ("notes", .text("one\ntwo"))])
        #expect(try await fixture.actions() == ["release.publish", "history.edit"])
    }

    @Test(arguments: ["author", "commit", "published", "patches"])
    func `is a label and notes alone`(_ member: String) async throws {
        try await publish()
        let refusal = FormatError("body", field: member, rule: "cannot be edited: only label and notes can")
        await #expect(throws: refusal) { try await edit([("label", .text("x")), (member, .text("y"))]) }
        #expect(try await fixture.history().first?.notes.label == "old")
    }

    @Test func `is of a release that was published, and keeps to the rules`() async throws {
        try await publish()
        await #expect(throws: OperationError.noRelease(channel, version: 2)) {
            try await edit([("label", .text("x"))], of: 2)
        }
        await #expect(throws: FormatError("body", field: "label", rule: "or notes is needed")) {
            try await edit([])
        }
        for label in ["", "a\nb", "a\u{2028}b", String(repeating: "x", count: 65)] {
            await #expect(
                throws: FormatError("body", field: "label", rule: "must be 1 to 64 bytes of text on one line")
            ) {
                try await edit([("label", .text(label))])
            }
        }
    }

    @Test func `comes on a page of so many bytes, and one release at least`() async throws {
        for number in 1...3 {
            let release = try fixture.release("// \(number)", version: "\(number)")
            _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        let first = try await History(fixture.operations).page(of: channel, in: app, below: nil, limit: 10, bytes: 1)
        #expect(first.entries.map(\.roleVersion) == [3] && first.next == 3)
        let rest = try await History(fixture.operations).page(of: channel, in: app, below: 3, limit: 10)
        #expect(rest.entries.map(\.roleVersion) == [2, 1] && rest.next == nil)
    }
}
