import PatchFormat
import PatchTesting
import Testing

@Suite("The strict JSON parser")
struct JSONParserTests {
    static let refused = Vectors.names(in: "json-refused", ending: ".json")

    @Test func `has the documents of json-refused to refuse`() {
        #expect(Self.refused.count == 71)
    }

    @Test(arguments: refused)
    func `refuses a hostile document for the rule it breaks, where it breaks it`(_ name: String) throws {
        let bytes = try Vectors.bytes("json-refused/\(name).json")
        let expected = try Vectors.text("json-refused/\(name).expect")
        let error = try #require(throws: FormatError.self) {
            try JSON.document(bytes, named: "expect:", limit: 1_000_000)
        }
        #expect(error.description == expected)
    }

    @Test(arguments: [
        ("null", JSON.null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)),
        ("9007199254740991", .integer(9_007_199_254_740_991)), ("-9007199254740991", .integer(-9_007_199_254_740_991)),
        (" \t\r\n1 \t\r\n", .integer(1)), ("[]", .array([])), ("[ ]", .array([])), ("{ }", .object(JSONObject())),
        ("\"\"", .text("")), (#""\"\\\/\b\f\n\r\t""#, .text("\"\\/\u{8}\u{C}\n\r\t")), (#""\u0000""#, .text("\0")),
        (#""\u00E9\u00e9""#, .text("éé")), (#""\ud83d\ude00""#, .text("😀")), (#""\uFFFF""#, .text("\u{FFFF}")),
        (#""\uD7FF\uE000""#, .text("\u{D7FF}\u{E000}")), ("\"\u{7F}\u{2028}\"", .text("\u{7F}\u{2028}")),
        (#"{"a":[1,{"b":null}]}"#, .fields([("a", .array([.integer(1), .fields([("b", .null)])]))])),
    ])
    func `reads what RFC 8259 calls JSON within its limits`(_ text: String, expected: JSON) throws {
        #expect(try JSON(parsing: Array(text.utf8)) == expected)
    }

    @Test func `reads 64 levels and refuses the 65th`() throws {
        #expect(throws: Never.self) { try JSON(parsing: Array(("[".times(64) + "]".times(64)).utf8)) }
        #expect(throws: Never.self) { try JSON(parsing: Array((#"{"a":"#.times(64) + "1" + "}".times(64)).utf8)) }
        #expect(throws: JSONError(.depth, at: 64)) { try JSON(parsing: Array(("[".times(65) + "]".times(65)).utf8)) }
    }

    @Test func `counts depth by nesting, not by how many objects there are`() throws {
        let siblings = "[" + ([String](repeating: "[{}]", count: 200).joined(separator: ",")) + "]"
        #expect(throws: Never.self) { try JSON(parsing: Array(siblings.utf8)) }
    }

    @Test func `keeps keys apart that differ in Unicode normal form alone`() throws {
        let json = try JSON(parsing: Array("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}".utf8))
        #expect(json.object?.members.count == 2)
        #expect(json["caf\u{E9}"] == .integer(1))
        #expect(json["cafe\u{301}"] == .integer(2))
    }

    @Test func `keeps members in the order in which they stand`() throws {
        let json = try JSON(parsing: Array(#"{"b":1,"a":2,"c":3}"#.utf8))
        #expect(json.object?.members.map(\.key.text) == ["b", "a", "c"])
    }

    @Test func `tells a boolean from a number`() throws {
        #expect(try JSON(parsing: Array("[1]".utf8)) != .array([.bool(true)]))
    }
}

@Suite("An exact string")
struct ExactStringTests {
    @Test func `is equal to another by bytes, not by canonical equivalence`() {
        let (composed, decomposed): (ExactString, ExactString) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(!composed.text.hasSameBytes(as: decomposed.text))
    }

    @Test func `sorts by UTF-8 bytes, where UTF-16 would sort otherwise`() {
        #expect(ExactString("\u{FFFD}") < ExactString("\u{10000}"))
        #expect(ExactString("Z") < ExactString("a"))
        #expect(ExactString("a") < ExactString("aa"))
    }
}

@Suite("A JSON object")
struct JSONObjectTests {
    @Test func `sets, replaces and removes one member and leaves the others where they are`() {
        var object = JSONObject([("a", .integer(1)), ("b", .integer(2)), ("c", .integer(3))])
        object["b"] = .integer(20)
        object["d"] = .integer(4)
        object["a"] = nil
        object["nothing"] = nil
        #expect(object.members.map(\.key.text) == ["b", "c", "d"])
        #expect(object["b"] == .integer(20))
    }

    /// Each looked for among all others would take minutes.
    @Test func `grows by single members without a look at all others`() {
        var object = JSONObject()
        for number in 0..<50_000 { object[String(number)] = .integer(number) }
        for number in stride(from: 0, to: 50_000, by: 5_000) { #expect(object[String(number)] == .integer(number)) }
        #expect(object.members.count == 50_000 && object["50000"] == nil)
    }

    @Test func `leaves members without a value out`() {
        #expect(JSON.fields([("a", nil), ("b", .null)]) == .object(JSONObject([("b", .null)])))
    }
}
