import PatchFormat
import PatchTesting
import Testing

@Suite("The URL layout")
struct URLLayoutTests {
    @Test func `puts every document of the vectors where they say`() throws {
        let rows = try Vectors.rows("url-layout.json")
        #expect(rows.count == 16)
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
        case "express": return URLLayout.express(try row.name("channel"))
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

    @Test(arguments: [
        ("a", "H.a", "a"), ("a/b/c.json", "a/b/H.c.json", "a/b/c.json"), ("a b", "H.a%20b", "a%20b"),
        ("é", "H.%C3%A9", "%C3%A9"), ("e\u{301}", "H.e%CC%81", "e%CC%81"), ("a/\u{301}b", "a/H.%CC%81b", "a/%CC%81b"),
        // Encoded already, or allowed in a path: as it stands.
        ("100%25", "H.100%25", "100%25"), ("a%2Fb", "H.a%2Fb", "a%2Fb"),
        ("a!$&'()*+,;=:@~-._", "H.a!$&'()*+,;=:@~-._", "a!$&'()*+,;=:@~-._"),
        // What would end a path, or no URL may hold.
        ("a?b#c", "H.a%3Fb%23c", "a%3Fb%23c"),
        ("\"<>[\\]^`{|}", "H.%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D", "%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D"),
        ("\0\n\u{7F}", "H.%00%0A%7F", "%00%0A%7F"), ("/a", "/H.a", "/a"), ("a/", "a/H.", "a/"), ("", "H.", ""),
    ])
    func `writes the target path of any TUF repository as it stands, but for what no URL may hold`(
        path: String,
        prefixed: String,
        bare: String
    ) {
        #expect(URLLayout.target(named: path, prefix: "H") == "targets/\(prefixed)")
        #expect(URLLayout.target(named: path, prefix: nil) == "targets/\(bare)")
    }

    @Test func `has a number in every name but the timestamp's, where snapshots are consistent`() {
        #expect(URLLayout.timestamp == "metadata/timestamp.json")
        #expect(URLLayout.metadata("a/b", version: 12) == "metadata/12.a%2Fb.json")
        #expect(URLLayout.metadata("a/b", version: nil) == "metadata/a%2Fb.json")
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
            .parameters(production),
        ]
        #expect(
            made.map(\.text) == [
                "production/patchlist.json", "production/web/1.0/manifest.json", "production/web/1.0/manifest.sigs",
                "dial/production.json", "dial/production.parameters.json",
            ]
        )
        #expect(made.allSatisfy { TargetPath($0.text) == $0 })
    }

    @Test(arguments: [("a", "H.a"), ("a/b", "a/H.b"), ("a/b/c.json", "a/b/H.c.json")])
    func `has the hash before its last segment`(_ text: String, prefixed: String) {
        #expect(TargetPath(text)?.prefixingName(with: "H") == prefixed)
    }
}
