import PatchFormat
import Testing

@testable import ServerRecords

@Suite("A token")
struct TokenTests {
    private let folder: RecordsFolder
    private let records: ServerRecords

    init() throws {
        folder = try RecordsFolder()
        records = try folder.records()
    }

    private func token(_ grants: String...) async throws -> (token: APIToken, text: TokenText) {
        try await records.makeToken(
            name: "ci",
            grants: grants.compactMap { AccessGrant($0) },
            for: .days(30),
            by: .local(user: "ada")
        )
    }

    @Test func `lets in whoever has its text, until it ends`() async throws {
        let made = try await token("com.example.shop=publisher")
        let text = try #require(TokenText(made.text.text))
        #expect(try await records.admission(of: text) == .admitted(made.token))
        folder.pass(.days(30))
        #expect(try await records.admission(of: text) == .expired)
    }

    @Test func `that had ended when something was written down is not revived by a clock set back`() async throws {
        let made = try await token("com.example.shop=publisher")
        folder.pass(.days(31))
        try await records.commit([], noting: .init("thing.do", by: .server))
        folder.pass(.days(-30))
        #expect(try await records.admission(of: made.text) == .expired)
        // Also not by what is done while the clock is behind.
        try await records.commit([], noting: .init("thing.do", by: .local(user: "ada")))
        #expect(try await records.admission(of: made.text) == .expired)
        let later = try await token("com.example.shop=publisher")
        #expect(try await records.admission(of: later.text) == .admitted(later.token))
        #expect(later.token.expires == later.token.created.adding(.days(30)))
    }

    @Test func `outlives a clock that was years ahead, once somebody says that it is right`() async throws {
        let made = try await token("com.example.shop=publisher")
        folder.pass(.days(3_650))
        #expect(try await records.admission(of: made.text) == .expired)
        try await records.commit([], noting: .init("thing.do", by: .server))
        let ahead = folder.now
        folder.pass(.days(-3_650))
        #expect(try await records.admission(of: made.text) == .expired)
        #expect(try await records.acceptClock(by: .local(user: "ada")) == ahead)
        #expect(try await records.admission(of: made.text) == .admitted(made.token))
        #expect(try await records.acceptClock(by: .local(user: "ada")) == folder.now)
        let log = try await records.auditEntries(after: 0)
        #expect(log.map { $0.json["action"] }.suffix(2) == [.text("thing.do"), .text("clock.accept")])
        #expect(try await records.auditChain().faults.isEmpty)
    }

    @Test func `lets nobody in once it is revoked, and is revoked once`() async throws {
        let made = try await token("*=viewer")
        let other = try folder.records()
        #expect(try await other.revokeToken(made.token.id, by: .server)?.status(at: folder.now) == .revoked)
        #expect(try await records.admission(of: made.text) == .revoked)
        _ = try await records.revokeToken(made.token.id, by: .server)
        let actions = try await records.auditEntries(after: 0).map { $0.json["action"] }
        #expect(actions == [.text("token.create"), .text("token.revoke")])
        #expect(try await records.revokeToken("0000000000000000", by: .server) == nil)
    }

    @Test func `with another secret is unknown`() async throws {
        let made = try await token("*=viewer")
        let text = made.text.text
        let other = try #require(TokenText(text.dropLast() + (text.hasSuffix("0") ? "1" : "0")))
        #expect(try await records.admission(of: other) == .unknown)
        let another = try await token("*=viewer")
        let crossed = "plt_\(made.token.id)_" + another.text.text.suffix(64)
        #expect(try await records.admission(of: try #require(TokenText(crossed))) == .unknown)
    }

    @Test func `leaves its secret nowhere`() async throws {
        let made = try await token("*=admin")
        let secret = String(made.text.text.suffix(64))
        for collection in ["token", "audit"] {
            for record in try await records.store.records(RecordRange(collection, limit: 10)) {
                #expect(!record.value.text.contains(secret))
            }
        }
    }

    @Test(arguments: [
        "", "plt_", "plt_0123456789abcdef", "plt_0123456789abcdef_00",
        "plt_0123456789ABCDEF_" + String(repeating: "0", count: 64),
        "plt_0123456789abcdef_" + String(repeating: "0", count: 63) + "g",
        "plt_0123456789abcdef_" + String(repeating: "0", count: 64) + "_", "Bearer",
    ])
    func `has one form`(_ text: String) {
        #expect(TokenText(text) == nil)
    }

    @Test(arguments: [
        ("com.example.shop=viewer", "com.example.shop", AccessRole?.some(.viewer)),
        ("com.example.shop=viewer", "com.example.other", nil),
        ("*=operator", "com.example.shop", .operate),
        ("*=admin com.example.shop=viewer", "com.example.shop", .admin),
        ("com.example.shop=publisher *=viewer", "com.example.shop", .publisher),
    ])
    func `has on each app the highest role that it was given`(_ grants: String, _ app: String, _ role: AccessRole?) {
        let grants = grants.split(separator: " ").compactMap { AccessGrant(String($0)) }
        #expect(AppID(app).flatMap { grants.role(on: $0) } == role)
    }

    @Test(arguments: [
        ("com.example.shop=admin", "com.example.shop=admin", true),
        ("com.example.shop=admin", "com.example.other=viewer", false),
        ("com.example.shop=admin", "*=viewer", false),
        ("*=operator", "*=viewer", false),
        ("*=admin", "*=admin com.example.shop=viewer", true),
    ])
    func `is handed out by an admin of all that it opens`(_ own: String, _ wanted: String, _ may: Bool) {
        func grants(_ text: String) -> [AccessGrant] {
            text.split(separator: " ").compactMap { AccessGrant(String($0)) }
        }
        #expect(grants(own).cover(grants(wanted)) == may)
    }

    @Test func `may be given nothing but a role on an app`() {
        for text in ["", "=", "shop", "shop=", "shop=root", "a b=viewer", "shop=viewer=admin", "**=viewer"] {
            #expect(AccessGrant(text) == nil, "\(text)")
        }
    }
}
