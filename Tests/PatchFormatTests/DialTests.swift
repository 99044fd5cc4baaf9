import PatchFormat
import PatchTesting
import Testing

@Suite("A dial")
struct DialTests {
    @Test func `reads every field of the vector and writes the same bytes`() throws {
        let bytes = try Vectors.bytes("dial/dial.json")
        let dial = try Dial(bytes)
        #expect(dial.json.fileBytes == bytes)
        #expect(dial.rows.map(\.rollout) == [500, 10_000] && dial.rows.map(\.paused) == [false, true])
        #expect(dial.rows.map(\.reason) == [nil, "checkout errors since 09:40"])
        let empty = try Vectors.bytes("dial/empty.json")
        #expect(try Dial(empty).json.fileBytes == empty)
    }

    @Test func `keeps a head-count, and an older reader's dial has none`() throws {
        let json = try Vectors.json("dial/dial.json")
        #expect(try Dial(json.fileBytes).rows.map(\.headcount) == [nil, nil])
        for count in [0, 1 << 31] {
            let counted = try Dial(json.setting("rows.1.headcount", to: .integer(count)).fileBytes)
            #expect(counted.rows.map(\.headcount) == [nil, count])
            #expect(try Dial(counted.json.fileBytes) == counted)
        }
    }

    @Test func `has a row for one content alone`() throws {
        let dial = try Dial(try Vectors.bytes("dial/dial.json"))
        let row = try #require(dial.rows.first)
        #expect(dial.row(row.patchID, row.sha256) == row)
        #expect(dial.row(row.patchID, digest(of: 1)) == nil)
        #expect(dial.row(named("web"), row.sha256) == nil)
    }

    @Test func `is refused when it names one content twice`() throws {
        let json = try Vectors.json("dial/dial.json")
        let row = try #require(json.setting("rows.1", to: nil)["rows"])
        guard case .array(let rows) = row, let first = rows.first else {
            Issue.record("no rows: \(row)")
            return
        }
        let twice = json.setting("rows", to: .array([first, first]))
        #expect(throws: FormatError("dial", field: "rows", rule: "must not name a version twice")) {
            try Dial(twice.fileBytes)
        }
    }

    @Test(
        arguments: [
            ("format", .some(.text("patchline-list-v1")), "must be patchline-dial-v1"),
            ("app", .some(.text("")), AppID.rule),
            ("channel", .some(.text("dial")), ChannelName.rule), ("rows", nil, "must be an array"),
            ("rows.0", .some(.null), "must be an object"),
            ("rows", .some(.array(Array(repeating: .null, count: 10_001))), "must hold at most 10000 elements"),
            ("rows.0.patchId", .some(.text("/")), PatchID.rule),
            ("rows.0.sha256", .some(.text("")), "must be 64 lowercase hex digits"),
            ("rows.0.rollout", .some(.integer(10_001)), "must be an integer from 0 to 10000"),
            ("rows.0.rollout", nil, "must be an integer from 0 to 10000"),
            ("rows.0.paused", .some(.integer(0)), "must be true or false"),
            ("rows.0.reason", .some(.null), "must be a string"),
            ("rows.0.headcount", .some(.integer(-1)), "must be an integer from 0 to 2147483648"),
            ("rows.0.headcount", .some(.integer((1 << 31) + 1)), "must be an integer from 0 to 2147483648"),
            ("rows.0.headcount", .some(.null), "must be an integer from 0 to 2147483648"),
        ] as [(String, JSON?, String)]
    )
    func `is refused by field and rule`(_ field: String, value: JSON?, rule: String) throws {
        let json = try Vectors.json("dial/dial.json").setting(field, to: value)
        #expect(throws: FormatError("dial", field: field.replacing("rows.0", with: "rows[0]"), rule: rule)) {
            try Dial(json.fileBytes)
        }
    }

    @Test func `pauses nothing where it does not say so`() throws {
        #expect(
            try Dial(try Vectors.json("dial/dial.json").setting("rows.1.paused", to: nil).fileBytes).rows[1].paused
                == false
        )
    }

    @Test func `over its limit is refused before it is parsed`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: Limits.dial + 1)
        #expect(throws: FormatError("dial", rule: "is over 1000000 bytes")) { try Dial(bytes) }
    }
}
