import PatchFormat
import PatchTesting
import Testing

@Suite("A proposed change")
struct ProposedChangeTests {
    private func read(_ text: String) throws -> ProposedChange {
        let json = try JSON.document(Array(text.utf8), named: "change", limit: 10_000)
        return try ProposedChange(Fields(json, of: "change"))
    }

    @Test(arguments: [
        #"{"action":"promote","from":"beta"}"#,
        #"{"action":"promote","from":"beta","rollouts":{"fix":0,"web":1000}}"#,
        #"{"action":"rollback","to":7}"#,
        #"{"action":"withdraw","patchId":"web"}"#,
        #"{"action":"withdraw","patchId":"web","version":"2.0.0"}"#,
        #"{"action":"rules","condition":null,"mandatory":true,"patchId":"web","rollout":2500,"version":"2.0.0"}"#,
    ])
    func `reads and writes the same`(_ text: String) throws {
        let written = JSON.fields(try read(text).members)
        #expect(String(decoding: written.fileBytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        (#"{"action":"sell"}"#, "action", "must be promote, rollback, withdraw or rules"),
        (#"{"action":"promote","from":"Root"}"#, "from", ChannelName.rule),
        (
            #"{"action":"promote","from":"beta","rollouts":{"web":10001}}"#, "rollouts.web",
            "must be an integer from 0 to 10000"
        ),
        (#"{"action":"rollback","to":0}"#, "to", "must be an integer from 1 to 9007199254740990"),
        (#"{"action":"withdraw","patchId":".."}"#, "patchId", PatchID.rule),
        (
            #"{"action":"rules","patchId":"web","version":"1"}"#, "rules",
            "must hold one of rollout, appVersion, dial, condition, mandatory, runAtNextLaunch, users"
        ),
    ])
    func `is refused by field and rule`(_ text: String, field: String, rule: String) {
        #expect(throws: FormatError("change", field: field, rule: rule)) { try read(text) }
    }

    @Test func `of rules that no device could read is refused`() {
        for rules in [#""rollout":10001"#, #""condition":"==""#, #""appVersion":"two""#, #""dial":"maybe""#] {
            #expect(throws: FormatError.self, "\(rules)") {
                try read(#"{"action":"rules","patchId":"web","version":"1",\#(rules)}"#)
            }
        }
    }

    @Test func `of rules sets what stands, takes away what is null, and leaves the rest`() throws {
        let before = PatchRules(rollout: 100, condition: "a==b", mandatory: true)
        let text = #"{"action":"rules","patchId":"web","version":"1","rollout":200,"condition":null}"#
        guard case .rules(_, _, let edit) = try read(text) else { preconditionFailure("it says rules") }
        #expect(try edit.applied(to: before) == PatchRules(rollout: 200, mandatory: true))
    }
}
