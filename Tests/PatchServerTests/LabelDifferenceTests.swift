import PatchFormat
import Testing

@testable import PatchServer

@Suite("What a refused label differs in")
struct LabelDifferenceTests {
    private static func manifest(_ members: [(String, JSON)], _ assets: [String: String]) -> JSON {
        let rows = assets.map { JSON.fields([("path", .text($0.key)), ("sha256", .text($0.value))]) }
        return .object(JSONObject(members + [("assets", .array(rows))]))
    }

    @Test(arguments: [
        ([("created", JSON.text("2026"))], ["a": "1"], "only the time it was described differs"),
        ([("commit", JSON.text("c2"))], ["a": "1"], "commit differs"),
        ([("commit", JSON.text("c1"))], ["a": "2"], "a changed"),
        ([("commit", JSON.text("c1"))], ["b": "1"], "b added, a removed"),
        (
            [("commit", JSON.text("c2")), ("created", JSON.text("2026"))], ["a": "1", "b": "", "c": "", "d": ""],
            "3 files added, b, c among them, commit and the time it was described differ"
        ),
    ])
    func `is told by files and members`(_ members: [(String, JSON)], _ assets: [String: String], _ words: String) {
        let isTimed = members.count == 1 && members[0].0 == "created"
        let old = Self.manifest(isTimed ? [("created", .text("2025"))] : [("commit", .text("c1"))], ["a": "1"])
        #expect(LabelDifference(from: old, to: Self.manifest(members, assets)).words == words)
    }

    @Test func `is the size of a script, where it is another`() {
        #expect(LabelDifference(fromBytes: 10, to: 12).words == "12 bytes, not 10")
        #expect(LabelDifference(fromBytes: 10, to: 10).words == "other bytes, 10 as before")
        #expect(LabelDifference(fromBytes: nil, to: 10).words == "it was published with other bytes")
    }
}
