import Gateways
import PatchFormat
import Testing

/// A manifest of a Meteor server, as text; its members can be replaced.
struct MeteorText {
    static let hash = "6db9763f3e0f4e4cbf78111f73823043ab08e3e7"
    static let otherHash = "4f9e2b1d6c3a5078e1d4b2a69c8f7035d1e2a4b6"

    var members: [String: String] = [
        "format": #""web-program-pre1""#, "version": #""version2""#,
        "cordovaCompatibilityVersions": #"{"android":"4017747c","ios":"0abe549f"}"#,
    ]
    var rows: [String] = [Self.row()]

    static func row(_ members: [String: String?] = [:]) -> String {
        var row: [String: String] = [
            "path": #""app/mobileapp.js""#, "where": #""client""#, "type": #""js""#, "cacheable": "true",
            "url": #""/app/mobileapp.js?\#(hash)""#, "size": "2275", "hash": #""\#(hash)""#,
        ]
        for (key, value) in members { row[key] = value }
        return "{\(row.map { #""\#($0)":\#($1)"# }.sorted().joined(separator: ","))}"
    }

    var bytes: [UInt8] {
        var members = members
        if members["manifest"] == nil { members["manifest"] = "[\(rows.joined(separator: ","))]" }
        return Array("{\(members.map { #""\#($0)":\#($1)"# }.sorted().joined(separator: ","))}".utf8)
    }
}

@Suite("A Meteor server's asset manifest")
struct MeteorManifestTests {
    private func read(_ text: MeteorText) throws(MeteorError) -> MeteorManifest {
        try MeteorManifest(text.bytes, for: .android)
    }

    private func error(_ change: (inout MeteorText) -> Void) -> MeteorError? {
        var text = MeteorText()
        change(&text)
        do throws(MeteorError) {
            _ = try read(text)
            return nil
        } catch { return error }
    }

    @Test(arguments: [#""web-program-pre1""#, nil])
    func `is read with its format and without one, for the platform that asks`(_ format: String?) throws {
        var text = MeteorText()
        text.members["format"] = format
        #expect(try read(text).version == "version2")
        #expect(try read(text).compatibility == "4017747c")
        #expect(try MeteorManifest(text.bytes, for: .ios).compatibility == "0abe549f")
        let hash = try #require(SHA1Digest(hex: MeteorText.hash))
        #expect(
            try read(text).assets == [
                MeteorAsset(
                    path: AssetPath("app/mobileapp.js"),
                    url: "/app/mobileapp.js",
                    type: "js",
                    isCacheable: true,
                    hash: hash,
                    size: 2_275
                )
            ]
        )
    }

    @Test func `names a source map as an asset without a hash that may be kept`() throws {
        var text = MeteorText()
        text.rows = [MeteorText.row(["sourceMap": #""app/a.js.map""#, "sourceMapUrl": #""/app/6db9.map?x""#])]
        let assets = try read(text).assets
        #expect(assets.map(\.url) == ["/app/mobileapp.js", "/app/6db9.map"])
        #expect(assets[0].sourceMap == "/app/6db9.map")
        #expect(assets[1].path.text == "app/a.js.map" && assets[1].hash == nil && assets[1].isCacheable)
    }

    @Test func `may name one source map for two files`() throws {
        var text = MeteorText()
        let map = ["sourceMap": #""a.map""#, "sourceMapUrl": #""/a.map""#]
        text.rows = [
            MeteorText.row(map), MeteorText.row(["path": #""b.js""#, "url": #""/b.js""#].merging(map) { $1 }),
        ]
        #expect(try read(text).assets.map(\.path.text) == ["app/mobileapp.js", "a.map", "b.js"])
        text.rows.append(
            MeteorText.row([
                "path": #""c.js""#, "url": #""/c.js""#, "sourceMap": #""a.map""#, "sourceMapUrl": #""/c.map""#,
            ])
        )
        #expect(throws: MeteorError.twice(path: try AssetPath("a.map"))) { try read(text) }
    }

    @Test(arguments: [
        ["where": #""server""#], ["where": nil], ["url": nil], ["path": nil], ["type": nil], ["hash": nil],
        ["cacheable": nil], ["url": "1"], ["path": "{}"], ["hash": "null"], ["cacheable": #""true""#],
    ])
    func `passes over a row that Meteor's client passes over`(_ members: [String: String?]) throws {
        var text = MeteorText()
        text.rows = [MeteorText.row(members), "7", MeteorText.row(["path": #""b.js""#, "url": #""/b.js""#])]
        #expect(try read(text).assets.map(\.path.text) == ["b.js"])
    }

    @Test(arguments: [nil, "{}", "7"])
    func `without rows is empty`(_ rows: String?) throws {
        var text = MeteorText()
        text.rows = []
        text.members["manifest"] = rows
        #expect(try read(text).assets.isEmpty)
    }

    @Test(arguments: ["", "<html>", "[]", #"{"version":"1","version":"2"}"#, #"{"version":"1"}x"#])
    func `that is no JSON object is refused`(_ text: String) {
        #expect(throws: MeteorError.manifestSyntax) { try MeteorManifest(Array(text.utf8), for: .ios) }
    }

    @Test func `is refused for the rule that it breaks, in the words of Meteor's client`() {
        #expect(
            error { $0.members["format"] = #""web-program-pre2""# }.map(String.init(describing:))
                == "The asset manifest format is incompatible: web-program-pre2"
        )
        for version in [nil, "2", "\"\"", #""a\nb""#, #""\#(String(repeating: "v", count: 256))""#] {
            #expect(error { $0.members["version"] = version } == .noVersion)
        }
        for versions in [nil, "{}", #"{"ios":"0abe549f"}"#, #"{"android":7}"#, #""4017747c""#] {
            #expect(error { $0.members["cordovaCompatibilityVersions"] = versions } == .noCompatibility)
        }
        #expect("\(MeteorError.manifestSyntax)" == "Error parsing asset manifest")
        #expect("\(MeteorError.noVersion)" == "Asset manifest does not have a version")
        #expect("\(MeteorError.noCompatibility)" == "Asset manifest does not have a cordovaCompatibilityVersion")
    }

    @Test(arguments: [
        ("../../etc/passwd", AssetPath.Problem.dotSegment), ("/etc/passwd", .absolute), ("a//b", .emptySegment),
        (#"a\\b"#, .backslash), ("", .empty),
    ])
    func `whose path leaves its folder is refused, and so is its source map's`(
        _ path: String,
        _ problem: AssetPath.Problem
    ) {
        let plain = path.replacing(#"\\"#, with: #"\"#)
        #expect(error { $0.rows = [MeteorText.row(["path": #""\#(path)""#])] } == .path(plain, problem))
        let map = MeteorText.row(["sourceMap": #""\#(path)""#, "sourceMapUrl": #""/m.map""#])
        #expect(error { $0.rows = [map] } == .path(plain, problem))
    }

    @Test(arguments: [
        "", "/", "?a", "app.js", "//evil.example/a.js", "/../a.js", "/%2e%2e/a.js", "/a b", #"/a\\b"#, "/é",
    ])
    func `whose URL could ask for something else is refused`(_ url: String) {
        let rule = FormatError("asset manifest", field: "manifest[1].url", rule: AssetURL.rule)
        let row = MeteorText.row(["url": #""\#(url)""#, "path": #""b""#])
        #expect(error { $0.rows.append(row) } == .entry(rule))
    }

    @Test(arguments: ["6DB9763F3E0F4E4CBF78111F73823043AB08E3E7", "6db9", ""])
    func `whose hash is none is refused`(_ hash: String) {
        let rule = FormatError("asset manifest", field: "manifest[0].hash", rule: "must be 40 lowercase hex digits")
        #expect(error { $0.rows = [MeteorText.row(["hash": #""\#(hash)""#])] } == .entry(rule))
    }

    @Test func `with two entries of one path or one URL is refused`() throws {
        let upper = try AssetPath("app/MobileApp.js")
        #expect(
            error { $0.rows.append(MeteorText.row(["path": #""\#(upper)""#, "url": #""/b.js""#])) }
                == .twice(path: upper)
        )
        #expect(
            error { $0.rows.append(MeteorText.row(["path": #""b.js""#, "url": #""/app/mobileap%70.js""#])) }
                == .twiceURL("/app/mobileap%70.js")
        )
        #expect(
            error { $0.rows = [MeteorText.row(["path": #""index.html""#])] } == .reserved(MeteorAsset.index)
        )
        for (path, message) in [
            ("index.html", "The asset manifest names index.html, the page, which must not be listed"),
            ("program.json", "The asset manifest names program.json, the device's own copy of the manifest"),
        ] {
            let found = error { $0.rows = [MeteorText.row(["path": "\"\(path)\""])] }
            #expect(found.map { "\($0)" } == message)
        }
        #expect(
            "\(MeteorError.twice(path: upper))" == "The asset manifest has two entries of one path: app/MobileApp.js"
        )
        #expect("\(MeteorError.twiceURL("/b.js"))" == "The asset manifest has two entries of one URL: /b.js")
        #expect(
            "\(MeteorError.path("..", .dotSegment))"
                == "The asset manifest has a path that has a '.' or '..' segment: .."
        )
    }

    @Test func `over its limit is refused before it is read`() {
        let bytes = [UInt8](repeating: UInt8(ascii: " "), count: Limits.meteorManifest + 1)
        #expect(throws: MeteorError.manifestSyntax) { try MeteorManifest(bytes, for: .ios) }
    }
}
