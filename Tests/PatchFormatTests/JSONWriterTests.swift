import PatchTesting
import Testing

@testable import PatchFormat

@Suite("Canonical JSON")
struct CanonicalJSONTests {
    static let names = Vectors.names(in: "canonical-json", ending: ".json")

    @Test func `has the vectors of canonical-json to write`() {
        #expect(Self.names.count == 12)
    }

    @Test(arguments: names)
    func `is what securesystemslib makes of the same document`(_ name: String) throws {
        let json = try Vectors.json("canonical-json/\(name).json")
        #expect(json.canonicalBytes == (try Vectors.bytes("canonical-json/\(name).canonical")))
    }

    @Test(arguments: names.filter { !["control-characters", "pem"].contains($0) })
    func `of a document without control characters reads back as the same document`(_ name: String) throws {
        let canonical = try Vectors.bytes("canonical-json/\(name).canonical")
        #expect(try JSON(parsing: canonical).canonicalBytes == canonical)
    }

    @Test func `leaves the newlines of a PEM key raw, so it is no JSON`() throws {
        let pem = try Vectors.bytes("canonical-json/pem.canonical")
        let error = try #require(throws: JSONError.self) { try JSON(parsing: pem) }
        #expect(error.rule == .syntax)
    }

    @Test func `does not depend on the order of members`() {
        let one = JSON.fields([("a", .integer(1)), ("b", .integer(2))])
        let other = JSON.fields([("b", .integer(2)), ("a", .integer(1))])
        #expect(one.canonicalBytes == other.canonicalBytes)
    }
}

@Suite("A key that a writer names twice")
struct DoubledKeyTests {
    private let members = [("b", 1), ("a", 2), ("b", 3), ("caf\u{E9}", 4), ("cafe\u{301}", 5)].map {
        JSONObject.Member(key: ExactString($0.0), value: .integer($0.1))
    }

    @Test func `keeps its first value, so that the document is valid`() {
        let firsts = JSONObject.firsts(of: members)
        #expect(firsts.map(\.value) == [.integer(1), .integer(2), .integer(4), .integer(5)])
    }

    @Test func `ends a test process, where the build is for debugging`() async {
        #if DEBUG
        await #expect(processExitsWith: .failure) {
            _ = JSON.fields([("a", .integer(1)), ("a", .integer(2))])
        }
        #else
        #expect(JSON.fields([("a", .integer(1)), ("a", .integer(2))]) == .fields([("a", .integer(1))]))
        #endif
    }
}

@Suite("The file form of JSON")
struct FileFormTests {
    @Test(arguments: CanonicalJSONTests.names)
    func `reads back as the same document and writes the same bytes again`(_ name: String) throws {
        let json = try Vectors.json("canonical-json/\(name).json")
        let again = try JSON(parsing: json.fileBytes)
        #expect(again.canonicalBytes == json.canonicalBytes)
        #expect(again.fileBytes == json.fileBytes)
    }

    @Test(arguments: CanonicalJSONTests.names.filter { !["control-characters", "pem"].contains($0) })
    func `is canonical JSON where there are no control characters`(_ name: String) throws {
        let json = try Vectors.json("canonical-json/\(name).json")
        #expect(json.fileBytes == (try Vectors.bytes("canonical-json/\(name).canonical")))
    }

    @Test func `escapes control characters and nothing else`() {
        let text = JSON.text("\"\\/\u{0}\u{8}\t\n\r\u{1F} \u{7F}é\u{2028}").fileBytes
        #expect(
            String(decoding: text, as: UTF8.self) == #""\"\\/\u0000\u0008\u0009\n\u000d\u001f "# + "\u{7F}é\u{2028}\""
        )
    }

    @Test(arguments: [
        "tuf/1.root.json", "tuf/1.targets.json", "tuf/2.production.json", "tuf/12.dial.json", "tuf/7.snapshot.json",
        "tuf/timestamp.json", "release/role.json", "release/base-role.json", "store/config.json", "store/device.json",
        "store/state-empty.json", "store/state-settled.json", "store/state-pending.json", "store/state-trying.json",
        "store/state-blocked.json",
    ])
    func `is how every document is written`(_ name: String) throws {
        let bytes = try Vectors.bytes(name)
        #expect(try JSON(parsing: bytes).fileBytes == bytes)
    }
}

@Suite("Pretty JSON")
struct PrettyJSONTests {
    @Test func `keeps the order of members, escapes keys and writes empty values on one line`() throws {
        let json = JSON.fields([
            ("z\"", .array([.integer(1), .array([])])), ("a", .fields([("k", .text("v\n"))])),
            ("none", .object(JSONObject())),
        ])
        #expect(
            json.pretty() == """
                {
                  "z\\"": [
                    1,
                    []
                  ],
                  "a": {
                    "k": "v\\n"
                  },
                  "none": {}
                }
                """
        )
        #expect(try JSON(parsing: Array(json.pretty().utf8)).canonicalBytes == json.canonicalBytes)
    }
}
