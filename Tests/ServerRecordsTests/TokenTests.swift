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

    private func token(
        _ grants: String...,
        as name: String = "ci"
    ) async throws -> (token: APIToken, text: TokenText) {
        try await records.makeToken(
            name: name,
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
        let another = try await token("*=viewer", as: "another")
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

    @Test func `has a name that no other valid token has`() async throws {
        let made = try await token("*=viewer", as: "Jörg")
        await #expect(throws: RecordError.nameTaken("Jörg", id: made.token.id)) {
            try await token("*=viewer", as: "Jörg")
        }
        // Written with a combining diaeresis.
        await #expect(throws: RecordError.nameTaken("Jo\u{308}rg", id: made.token.id)) {
            try await token("*=viewer", as: "Jo\u{308}rg")
        }
        _ = try await records.revokeToken(made.token.id, by: .server)
        // Tokens of one second have no order.
        folder.pass(.seconds(1))
        let second = try await token("*=viewer", as: "Jörg")
        folder.pass(.days(31))
        let third = try await token("*=viewer", as: "Jörg")
        #expect(try await records.tokens().map(\.id) == [made.token.id, second.token.id, third.token.id])
    }

    @Test func `is made once where many make one of the same name at once`() async throws {
        let folder = folder
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                let other = try folder.records()
                group.addTask {
                    do throws(RecordError) {
                        _ = try await other.makeToken(name: "ci", grants: [], for: .days(1), by: .server)
                        return true
                    } catch .nameTaken { return false }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(try await records.tokens().count == 1)
    }

    @Test func `of an earlier version may share its name, and counts as before`() async throws {
        var old: [APIToken] = []
        for _ in 0..<2 {
            let made = TokenText.make(
                name: "ci",
                grants: [],
                by: "ada",
                at: folder.now,
                expires: folder.now.adding(.days(9))
            )
            try await records.store.commit([.insert(made.token.key, made.token.value)])
            old.append(made.token)
            #expect(try await records.admission(of: made.text) == .admitted(made.token))
        }
        let ids = try await records.tokens().map(\.id)
        #expect(ids == old.map(\.id).sorted())
        await #expect(throws: RecordError.nameTaken("ci", id: ids[0])) { try await token("*=viewer") }
    }

    @Test func `of one channel is read again, and by no earlier version`() async throws {
        let made = try await token("com.example.shop/production=publisher")
        #expect(try await records.token(made.token.id) == made.token)
        #expect(made.token.value["format"] == .text("patchline-token-v2"))
        let whole = try await token("com.example.shop=publisher", as: "whole")
        #expect(whole.token.value["format"] == .text("patchline-token-v1"))
    }

    @Test(arguments: [
        ("0000000000000002", TokenNaming.Found.one(id: "0000000000000002")), ("Jörg", .one(id: "0000000000000003")),
        ("twice", .several(ids: ["0000000000000004", "0000000000000005"])), ("gone", .one(id: "0000000000000007")),
        ("jörg", .none), ("", .none),
    ])
    func `is named by its id, or by its name`(_ text: String, _ found: TokenNaming.Found) {
        let tokens = [
            TokenNaming(id: "0000000000000001", name: "0000000000000002", isValid: true),
            TokenNaming(id: "0000000000000002", name: "Jörg", isValid: false),
            TokenNaming(id: "0000000000000003", name: "Jörg", isValid: true),
            TokenNaming(id: "0000000000000004", name: "twice", isValid: true),
            TokenNaming(id: "0000000000000005", name: "twice", isValid: true),
            TokenNaming(id: "0000000000000006", name: "gone", isValid: false),
            TokenNaming(id: "0000000000000007", name: "gone", isValid: false),
        ]
        #expect(TokenNaming.find(text, among: tokens) == found)
    }

    @Test(arguments: [
        (0, nil, "", false), (1, nil, "1 day", false), (40, nil, "40 days", true), (40, 12, "12 days", false),
    ])
    func `shows how long it was not used`(_ age: Int, _ used: Int?, _ words: String, _ isIdle: Bool) {
        let now = UTCTime(seconds: 1_795_000_000)
        let use = TokenUse(
            created: now.adding(.days(-age)),
            lastUsed: used.map { now.adding(.days(-$0)) },
            at: now
        )
        #expect(use.words == words)
        #expect(use.isIdle(for: .days(30)) == isIdle)
    }

    @Test func `without named rights may publish in one channel of the one app`() throws {
        let (shop, other) = (try #require(AppID("com.example.shop")), try #require(AppID("com.example.other")))
        let beta = try #require(ChannelName("beta"))
        func grant(_ app: AppID?, _ channel: ChannelName?, _ apps: [AppID]) throws -> String {
            try UsualGrant.grant(app: app, channel: channel, among: apps).description
        }
        #expect(try grant(nil, nil, [shop]) == "com.example.shop/production=publisher")
        #expect(try grant(nil, beta, [shop]) == "com.example.shop/beta=publisher")
        #expect(try grant(other, nil, [shop, other]) == "com.example.other/production=publisher")
        #expect(throws: UsualGrant.Fault.noApp) { try grant(nil, nil, []) }
        let hint = "this server has no app yet: name the app with --app, or the rights with --grant"
        #expect(UsualGrant.Fault.noApp.sentence == hint)
        #expect(throws: UsualGrant.Fault.severalApps([shop, other])) { try grant(nil, nil, [shop, other]) }
    }

    @Test(arguments: [
        (
            "com.example.shop/production=publisher", "production", AccessRole?.some(.publisher),
            [String]?.some(["production"])
        ),
        ("com.example.shop/production=publisher", "beta", nil, ["production"]),
        (
            "com.example.shop/beta=operator com.example.shop/production=viewer", "beta", .operate,
            ["beta", "production"]
        ),
        ("com.example.shop/beta=operator com.example.shop=viewer", "production", .viewer, nil),
        ("com.example.other/beta=admin", "beta", nil, []), ("*=publisher", "beta", .publisher, nil),
    ])
    func `of a channel counts in that channel alone`(
        _ grants: String,
        _ channel: String,
        _ role: AccessRole?,
        _ channels: [String]?
    ) throws {
        let (app, channel) = (try #require(AppID("com.example.shop")), try #require(ChannelName(channel)))
        let grants = grants.split(separator: " ").compactMap { AccessGrant(String($0)) }
        #expect(grants.role(on: app, in: channel) == role)
        #expect(grants.onlyChannels(of: app)?.map(\.text) == channels)
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
        ("com.example.shop=admin", "com.example.shop/beta=publisher", true),
        ("com.example.shop/beta=admin", "com.example.shop/beta=publisher", true),
        ("com.example.shop/beta=admin", "com.example.shop/production=viewer", false),
        ("com.example.shop/beta=admin", "com.example.shop=viewer", false),
        ("*=admin", "*=admin com.example.shop=viewer", true),
    ])
    func `is handed out by an admin of all that it opens`(_ own: String, _ wanted: String, _ may: Bool) {
        func grants(_ text: String) -> [AccessGrant] {
            text.split(separator: " ").compactMap { AccessGrant(String($0)) }
        }
        #expect(grants(own).cover(grants(wanted)) == may)
    }

    @Test func `may be given nothing but a role on an app`() {
        for text in [
            "", "=", "shop", "shop=", "shop=root", "a b=viewer", "shop=viewer=admin", "**=viewer",
            "*/beta=viewer", "shop/=viewer", "shop/Beta=viewer", "shop/beta/x=viewer", "shop/root=viewer",
        ] {
            #expect(AccessGrant(text) == nil, "\(text)")
        }
    }
}
