import PatchFormat
import PatchTesting
import Testing

/// Each of these took minutes or gigabytes within the limits of before: it is refused by a rule, or read in one pass.
@Suite("A document made to cost")
struct CostlyDocumentTests {
    private static let hash = String(repeating: "0", count: 64)

    private static func manifest(_ paths: [String], _ members: (String, JSON?)...) throws -> AssetManifest {
        let rows = paths.map { path in
            JSON.fields([
                ("path", .text(path)), ("url", .text("/\(path)")), ("type", .text("asset")), ("cacheable", .bool(true)),
                ("size", .integer(1)), ("md5", .text(String(repeating: "0", count: 32))),
                ("sha1", .text(String(repeating: "0", count: 40))), ("sha256", .text(hash)),
            ])
        }
        let json = JSON.fields(
            [
                ("format", .text(AssetManifest.format)), ("app", .text("com.example.shop")), ("patchId", .text("web")),
                ("version", .text("1")), ("created", .text("2026-01-01T00:00:00Z")), ("index", .text("index.html")),
                ("assets", .array(rows)),
            ] + members
        )
        return try AssetManifest(json.fileBytes)
    }

    private static func folders(_ depth: Int) -> String {
        String(repeating: "a/", count: depth) + "x"
    }

    @Test func `lies no deeper than 32 folders`() throws {
        #expect(try Self.manifest([Self.folders(32), "index.html"]).assets.count == 2)
        let rule = "is in more than 32 folders"
        for depth in [33, 510] {
            #expect(throws: FormatError("manifest", field: "assets[0].path", rule: rule)) {
                try Self.manifest([Self.folders(depth), "index.html"])
            }
        }
    }

    @Test(.timeLimit(.minutes(20))) func `makes no device make more than 100,000 folders`() throws {
        // 3,130 rows of 32 folders, none of them shared.
        func paths(_ rows: Int) -> [String] {
            (0..<rows).map { row in (0..<32).map { "\(10_000 + row)\($0)/" }.joined() + "x" } + ["index.html"]
        }
        let rule = "makes more than 100000 folders"
        #expect(throws: FormatError("manifest", field: "assets[3125].path", rule: rule)) {
            try Self.manifest(paths(3_130))
        }
    }

    @Test func `says something of 64 platforms at most`() throws {
        func platforms(_ count: Int) -> JSON { .fields((0..<count).map { ("p\($0)", .text("1")) }) }
        #expect(try Self.manifest(["index.html"], ("compatibility", platforms(64))).compatibility.count == 64)
        for count in [65, 40_000] {
            #expect(throws: FormatError("manifest", field: "compatibility", rule: "must hold at most 64 members")) {
                try Self.manifest(["index.html"], ("compatibility", platforms(count)))
            }
        }
    }

    @Test func `whose entry requires more than 100 others loses that entry`() throws {
        func problem(_ count: Int) throws -> String? {
            let required = JSON.fields((0..<count).map { ("p\($0)", .array([.text(Self.hash)])) })
            let list = try PatchListTests.sample().setting("patches.0.requires", to: required)
            return try PatchListTests.parse(list).problems.first?.error
        }
        #expect(try problem(100) == nil)
        for count in [101, 40_000] {
            #expect(try problem(count) == "patch list: patches[0].requires must hold at most 100 members")
        }
    }

    @Test func `whose entry has more than 64 rules loses that entry`() throws {
        func problem(_ count: Int) throws -> String? {
            let rules = JSON.fields((0..<count).map { ("new\($0)", .integer(1)) })
            return try PatchListTests.parse(try PatchListTests.sample().setting("patches.0.rules", to: rules))
                .problems.first?.error
        }
        #expect(try problem(64) == nil)
        #expect(try problem(65) == "patch list: patches[0].rules must hold at most 64 members")
    }

    @Test(.timeLimit(.minutes(20))) func `holds no more than a million values, however short they are`() {
        let value = "0,"
        let bytes = Array("[".utf8) + Array(repeating: Array(value.utf8), count: 1_000_001).joined() + Array("1]".utf8)
        let error = #expect(throws: FormatError.self) { try JSON.document(bytes, named: "x", limit: Limits.patchList) }
        #expect(error?.rule.hasPrefix("holds more than 1,000,000 values") == true)
    }

    @Test func `has no string that takes more than a role does`() throws {
        let longest = JSON.text(String(repeating: "x", count: 5_000_000))
        #expect(try JSON(parsing: longest.fileBytes) == longest)
        let bytes = Array("\"\(String(repeating: "x", count: 5_000_001))\"".utf8)
        #expect(throws: JSONError(.tooLongString, at: 0)) { try JSON(parsing: bytes) }
    }

    @Test(.timeLimit(.minutes(20))) func `with many thousand members is looked up in, not through`() throws {
        let names = (0..<30_000).map { "member\($0)" }
        let object = try JSON(parsing: JSON.fields(names.map { ($0, .text($0)) }).fileBytes)
        // Looked through, these are five hundred million comparisons.
        #expect(names.allSatisfy { object[$0] == .text($0) })
        var changed = try #require(object.object)
        changed["member7"] = nil
        changed["member8"] = .null
        changed["other"] = .bool(true)
        #expect(changed["member7"] == nil && changed["member8"] == .null && changed["other"] == .bool(true))
        #expect(changed["member29999"] == .text("member29999") && changed.members.count == 30_000)
    }

    @Test(.timeLimit(.minutes(20))) func `that dials four thousand versions is asked for each at once`() throws {
        let app = try #require(AppID("com.example.shop"))
        let channel = try #require(ChannelName("production"))
        let rows = (0..<4_000).map { number in
            Dial.Row(
                patchID: named("p\(number)"),
                sha256: digest(of: UInt8(number % 256)),
                rollout: number,
                paused: false,
                reason: nil
            )
        }
        let dial = Dial(app: app, channel: channel, rows: rows)
        #expect(rows.allSatisfy { dial.row($0.patchID, $0.sha256) == $0 })
    }

    @Test(.timeLimit(.minutes(20))) func `of conditions that are nothing but marks is taken apart in one pass`() {
        let text = String(repeating: "||", count: 2_048)
        for _ in 0..<20 { #expect(throws: Condition.Problem.malformed("")) { try Condition(text) } }
    }
}
