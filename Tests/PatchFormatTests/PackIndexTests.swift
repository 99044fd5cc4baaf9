import PatchFormat
import PatchTesting
import Testing

@Suite("The index of packs")
struct PackIndexTests {
    private static let manifest: SHA256Digest = digest(of: 9)

    private static let index = PackIndex(
        whole: 1_310_720,
        from: [
            PackIndex.Row(
                PackIndex.Pack(base: digest(of: 1), size: 893, signatures: 256),
                manifest: 30_000,
                column: PackIndex.Column(sha256: digest(of: 7), size: 25_646),
                from: [PackIndex.Pack(base: digest(of: 2), size: 80_000), PackIndex.Pack(base: digest(of: 3), size: 0)]
            ),
            PackIndex.Row(PackIndex.Pack(base: digest(of: 2), size: 81_000), manifest: 0),
        ]
    )

    @Test func `is written in one spelling, and read as what was written`() throws {
        let hex = { (byte: UInt8) in (digest(of: byte) as SHA256Digest).hex }
        let text = """
            {"format":"patchline-packs-v1","from":[{"base":"\(hex(1))",\
            "column":{"sha256":"\(hex(7))","size":25646},"from":[{"base":"\(hex(2))","size":80000},\
            {"base":"\(hex(3))","size":0}],"manifest":30000,"signatures":256,"size":893},\
            {"base":"\(hex(2))","manifest":0,"size":81000}],"whole":{"size":1310720}}
            """
        #expect(Self.index.rowCount == 4)
        #expect(String(decoding: Self.index.json.fileBytes, as: UTF8.self) == text)
        #expect(try PackIndex(Self.index.json.fileBytes, of: Self.manifest) == Self.index)
    }

    @Test func `may say nothing of the whole bundle, and have no rows`() throws {
        let empty = PackIndex(whole: nil, from: [])
        #expect(empty.json.fileBytes == Array(#"{"format":"patchline-packs-v1","from":[]}"#.utf8))
        #expect(try PackIndex(empty.json.fileBytes, of: Self.manifest) == empty)
    }

    @Test(arguments: ["later", "whole.later", "from.0.later", "from.0.column.later", "from.0.from.0.later"])
    func `may have members that are unknown yet`(place: String) throws {
        let json = Self.index.json.setting(place, to: .array([.null]))
        #expect(try PackIndex(json.fileBytes, of: Self.manifest) == Self.index)
    }

    private static let digits = "must be 64 lowercase hex digits"
    private static let once = "must name each base once, and not the manifest itself"
    private static let onceWithin = "must name each base once, and neither the manifest nor the base of the outer pack"
    private static let same = [UInt8](1...9).map { JSON.text((digest(of: $0) as SHA256Digest).hex) }

    @Test(
        arguments: [
            ("format", .text("patchline-packs-v2"), "format", "must be patchline-packs-v1"),
            ("whole", .null, "whole", "must be an object"),
            ("whole.size", nil, "whole.size", "must be an integer from 0 to 9007199254740991"),
            ("from", nil, "from", "must be an array"), ("from.0", .null, "from[0]", "must be an object"),
            ("from.0.base", .text("AB"), "from[0].base", digits),
            ("from.1.size", .integer(-1), "from[1].size", "must be an integer from 0 to 4000000000"),
            ("from.1.size", .text("1"), "from[1].size", "must be an integer from 0 to 4000000000"),
            ("from.1.size", .integer(4_000_000_001), "from[1].size", "must be an integer from 0 to 4000000000"),
            ("from.0.signatures", .null, "from[0].signatures", "must be an integer from 0 to 64000000"),
            ("from.0.signatures", .integer(64_000_001), "from[0].signatures", "must be an integer from 0 to 64000000"),
            ("from.0.manifest", nil, "from[0].manifest", "must be an integer from 0 to 64000000"),
            ("from.0.manifest", .integer(64_000_001), "from[0].manifest", "must be an integer from 0 to 64000000"),
            ("from.0.column", .null, "from[0].column", "must be an object"),
            ("from.0.column.sha256", nil, "from[0].column.sha256", "must be a string"),
            ("from.0.column.size", nil, "from[0].column.size", "must be an integer from 0 to 64000000"),
            ("from.0.from", .null, "from[0].from", "must be an array"),
            ("from.0.from.1.size", nil, "from[0].from[1].size", "must be an integer from 0 to 4000000000"),
            ("from.1.base", same[0], "from", once), ("from.1.base", same[8], "from", once),
            ("from.0.from.1.base", same[1], "from[0].from", onceWithin),
            ("from.0.from.1.base", same[0], "from[0].from", onceWithin),
            ("from.0.from.1.base", same[8], "from[0].from", onceWithin),
        ] as [(String, JSON?, String, String)]
    )
    func `is refused by field and rule`(_ place: String, value: JSON?, field: String, rule: String) {
        let bytes = Self.index.json.setting(place, to: value).fileBytes
        #expect(throws: FormatError("pack index", field: field, rule: rule)) {
            try PackIndex(bytes, of: Self.manifest)
        }
    }

    @Test func `has at most 64 rows on both levels together`() throws {
        func index(_ inner: UInt8) -> PackIndex {
            let from = (0..<inner).map { PackIndex.Pack(base: digest(of: 100 + $0), size: 1) }
            return PackIndex(
                whole: nil,
                from: (0..<32).map {
                    PackIndex.Row(
                        PackIndex.Pack(base: digest(of: 20 + $0), size: 1),
                        manifest: 1,
                        from: $0 == 5 ? from : []
                    )
                }
            )
        }
        #expect(try PackIndex(index(32).json.fileBytes, of: Self.manifest) == index(32))
        let rule = "must hold at most 64 rows on both levels together"
        #expect(throws: FormatError("pack index", field: "from", rule: rule)) {
            try PackIndex(index(33).json.fileBytes, of: Self.manifest)
        }
        let row = try #require(Self.index.json.setting("from.1.size", to: .integer(1))["from"])
        guard case .array(let rows) = row else { return }
        let many = Self.index.json.setting("from", to: .array(Array(repeating: rows[1], count: 65)))
        #expect(throws: FormatError("pack index", field: "from", rule: "must hold at most 64 elements")) {
            try PackIndex(many.fileBytes, of: Self.manifest)
        }
    }

    @Test func `over its limit is refused before it is parsed`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: Limits.packIndex + 1)
        #expect(throws: FormatError("pack index", rule: "is over 65536 bytes")) {
            try PackIndex(bytes, of: Self.manifest)
        }
    }

    @Test func `stands beside the packs that it names`() {
        #expect(URLLayout.packIndex(of: Self.manifest) == "packs/\(Self.manifest.hex)/index.json")
    }
}
