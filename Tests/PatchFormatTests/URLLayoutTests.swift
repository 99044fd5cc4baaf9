import PatchFormat
import Testing

@Suite("The URL layout")
struct URLLayoutTests {
    @Test func `puts every document of the vectors where they say`() throws {
        let rows = try Vectors.rows("url-layout.json")
        #expect(rows.count == 15)
        for row in rows {
            let path = try row.string("path")
            #expect(try Self.place(of: row) == path)
        }
    }

    private static func place(of row: Fields) throws -> String {
        switch try row.string("what") {
        case "metadata" where !row.has("version"): return URLLayout.timestamp
        case "metadata":
            return URLLayout.metadata(try row.string("role"), version: try row.integer("version", in: 1...1_000))
        case "object": return URLLayout.object(try row.digest("sha256"))
        case "target":
            let target = try #require(TargetPath(try row.string("target")))
            return URLLayout.target(target, sha256: try row.digest("sha256"))
        default:
            return URLLayout.entry(
                kind: try row.string("kind") == "script" ? .script : .bundle,
                channel: try row.name("channel"),
                patchID: try row.name("patchId"),
                version: try row.name("version"),
                sha256: try row.digest("sha256")
            )
        }
    }

    @Test(arguments: [
        ("AZaz09_.~-", "AZaz09_.~-"), ("a b", "a%20b"), ("/", "%2F"), ("%", "%25"), ("é", "%C3%A9"),
        ("+@:", "%2B%40%3A"), ("", ""),
        ("../a", "..%2Fa"), ("\0", "%00"),
    ])
    func `percent-encodes a role's name down to unreserved characters`(_ text: String, encoded: String) {
        #expect(URLLayout.percentEncoded(text) == encoded)
    }
}

@Suite("A target path")
struct TargetPathTests {
    @Test(arguments: [
        "a", "production/patchlist.json", "production/web/1.0.0+b~2/manifest.sigs", "...", "..a/b", "a".times(1_024),
    ])
    func `is segments of plain characters`(_ text: String) {
        #expect(TargetPath(text)?.text == text)
    }

    @Test(arguments: [
        "", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a b", "a%2e", "a?b", "a#b", "a\\b", "é",
        "a\0", "a:b", "a@b", "a".times(1_025),
    ])
    func `is refused when it would have to be encoded, or climbs`(_ text: String) {
        #expect(TargetPath(text) == nil)
    }

    @Test func `is made from names, and reads back`() {
        let (production, web, one) = (
            named("production") as ChannelName, named("web") as PatchID, named("1.0") as VersionLabel
        )
        let made: [TargetPath] = [
            .patchList(production), .manifest(channel: production, patchID: web, version: one),
            .signatureColumn(channel: production, patchID: web, version: one), .dial(production),
        ]
        #expect(
            made.map(\.text) == [
                "production/patchlist.json", "production/web/1.0/manifest.json", "production/web/1.0/manifest.sigs",
                "dial/production.json",
            ]
        )
        #expect(made.allSatisfy { TargetPath($0.text) == $0 })
    }

    @Test(arguments: [("a", "H.a"), ("a/b", "a/H.b"), ("a/b/c.json", "a/b/H.c.json")])
    func `has the hash before its last segment`(_ text: String, prefixed: String) {
        #expect(TargetPath(text)?.prefixingName(with: "H") == prefixed)
    }
}
