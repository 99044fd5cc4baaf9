import PatchFormat
import Testing

@Suite("The rules of an entry")
struct PatchRulesTests {
    static func rules(_ members: [(String, JSON?)]) throws(FormatError) -> PatchRules {
        try PatchRules(try Fields(.fields(members), of: "list", at: "rules"))
    }

    @Test func `are open to everyone when none stands`() throws {
        #expect(try Self.rules([]) == .everyone)
        #expect(PatchRules.everyone.rollout == 10_000)
        #expect(PatchRules.everyone.dial == .optional)
    }

    @Test func `read back as they were written`() throws {
        let rules = PatchRules(
            rollout: 2_500,
            appVersion: AppVersionRange(">=2.1 <3"),
            dial: .required,
            condition: "region==eu",
            users: [digest(of: 1), digest(of: 2)],
            mandatory: true,
            runAtNextLaunch: true
        )
        #expect(try PatchRules(try Fields(rules.json, of: "list")) == rules)
        #expect(try PatchRules(try Fields(PatchRules.everyone.json, of: "list")) == .everyone)
        #expect(PatchRules.everyone.json == .fields([("rollout", .integer(10_000))]))
    }

    @Test func `keep an empty list of users apart from none: it is for nobody`() throws {
        #expect(try Self.rules([("users", .array([]))]).users == [])
        #expect(PatchRules(users: []).json["users"] == .array([]))
    }

    @Test(
        arguments: [
            ("rollout", JSON.integer(-1), "must be an integer from 0 to 10000"),
            ("rollout", .integer(10_001), "must be an integer from 0 to 10000"),
            ("rollout", .text("100"), "must be an integer from 0 to 10000"),
            ("rollout", .null, "must be an integer from 0 to 10000"),
            ("appVersion", .text("2.1"), AppVersionRange.rule), ("appVersion", .text(""), AppVersionRange.rule),
            ("appVersion", .integer(2), "must be a string"), ("appVersion", .null, "must be a string"),
            ("dial", .text("never"), "must be optional or required"), ("dial", .bool(true), "must be a string"),
            ("condition", .bool(true), "must be a string"),
            ("users", .text("a"), "must be an array"), ("users", .array([.integer(1)]), "must hold strings only"),
            ("users", .array([.text("user-1")]), "must hold 64 lowercase hex digits each"),
            ("mandatory", .integer(1), "must be true or false"), ("mandatory", .null, "must be true or false"),
            ("runAtNextLaunch", .text("true"), "must be true or false"),
        ] as [(String, JSON, String)]
    )
    func `name the rule that is broken`(_ key: String, value: JSON, rule: String) {
        #expect(throws: FormatError("list", field: "rules.\(key)", rule: rule)) { try Self.rules([(key, value)]) }
    }

    @Test(arguments: [0, 1, 9_999, 10_000])
    func `take any share of ten thousand`(_ share: Int) throws {
        #expect(try Self.rules([("rollout", .integer(share))]).rollout == share)
    }

    @Test func `name the ones that this reader does not know, so that a device does not guess`() throws {
        #expect(
            try Self.rules([("quota", .integer(1)), ("mandatory", .bool(true)), ("Rollout", .integer(5))]).unknown == [
                "Rollout", "quota",
            ]
        )
    }
}
