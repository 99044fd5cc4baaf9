import PatchFormat
import PatchTesting
import Testing

@Suite("An asset manifest")
struct AssetManifestTests {
    static func sample() throws -> JSON { try Vectors.json("manifest/manifest.json") }

    static func parse(_ json: JSON) throws -> AssetManifest { try AssetManifest(json.fileBytes) }

    /// A manifest whose rows have these paths, in this order, each under a URL of its own.
    static func manifest(_ paths: [String], index: String = "index.html") throws -> AssetManifest {
        let assets = paths.enumerated().map { number, text in
            Asset(
                path: path(text),
                url: "/\(number)",
                type: .asset,
                cacheable: true,
                sourceMap: nil,
                fingerprint: .sample(1)
            )
        }
        return try parse(
            AssetManifest(
                app: named("a"),
                patchID: named("web"),
                version: named("1"),
                commit: nil,
                created: time("2026-11-20T08:00:00Z"),
                compatibility: [:],
                index: path(index),
                routes: nil,
                assets: assets
            ).json
        )
    }

    @Test func `reads every field of the vector and writes the same bytes`() throws {
        let bytes = try Vectors.bytes("manifest/manifest.json")
        let manifest = try AssetManifest(bytes)
        #expect(manifest.json.fileBytes == bytes)
        #expect(manifest.patchID.text == "web" && manifest.version.text == "1.0.0" && manifest.commit == "3f1c2a9")
        #expect(manifest.created == time("2026-11-20T07:59:00Z") && manifest.compatibility == ["ios": "2b0c"])
        #expect(manifest.index.text == "index.html" && manifest.routes?.map(\.text) == ["/cart", "/item/*"])
        #expect(
            manifest.assets.map(\.path.text) == [
                "app/main.js", "app/main.js.map", "images/café 1.svg", "index.html", "styles/empty.css",
            ]
        )
        #expect(manifest.assets.map(\.type) == [.js, .map, .asset, .html, .css])
        #expect(
            manifest.assets[0].sourceMap?.text == "app/main.js.map"
                && manifest.assets[2].url == "/images/caf%C3%A9%201.svg"
        )
        #expect(manifest.assets[4].fingerprint.size == 0)
    }

    @Test func `may leave out commit, created, compatibility and routes`() throws {
        let manifest = try Self.parse(
            try Self.sample().setting("commit", to: nil).setting("compatibility", to: nil).setting("routes", to: nil)
                .setting("created", to: nil)
        )
        #expect(manifest.json["created"] == nil)
        #expect(
            manifest.commit == nil && manifest.created == nil && manifest.compatibility == [:] && manifest.routes == nil
        )
        #expect(try Self.parse(try Self.sample().setting("routes", to: .array([]))).routes == [])
    }

    @Test(
        arguments: [
            ("format", .some(.text("patchline-manifest-v2")), "must be patchline-manifest-v1"),
            ("format", nil, "must be a string"),
            ("app", .some(.text("")), AppID.rule), ("patchId", .some(.text("..")), PatchID.rule),
            ("version", .some(.text("")), VersionLabel.rule),
            ("created", .some(.text("now")), "must be YYYY-MM-DDTHH:MM:SSZ"),
            ("commit", .some(.integer(1)), "must be a string"),
            ("compatibility", .some(.text("x")), "must be an object"),
            ("compatibility.ios", .some(.integer(1)), "must be a string"),
            ("index", .some(.text("../index.html")), "has a '.' or '..' segment"),
            ("index", .some(.text("home.html")), "is not an asset"),
            ("index", nil, "must be a string"), ("routes", .some(.text("/")), "must be an array"),
            ("routes", .some(.array([.text("cart")])), RoutePattern.rule),
            ("routes", .some(.array(Array(repeating: .text("/"), count: 1_001))), "must hold at most 1000 elements"),
            ("assets", nil, "must be an array"), ("assets", .some(.array([])), ""),
            ("assets.0.path", .some(.text("/app/main.js")), "is absolute"),
            ("assets.0.path", .some(.text("../main.js")), "has a '.' or '..' segment"),
            ("assets.0.path", .some(.text("app\\main.js")), "has a backslash"),
            ("assets.0.path", .some(.text("app/\u{0}")), "has a control character"),
            ("assets.0.path", .some(.text("app//main.js")), "has an empty segment"),
            ("assets.0.path", .some(.text("cafe\u{301}")), "is not in Unicode normal form C"),
            ("assets.0.path", .some(.text("a".times(256))), "has a segment over 255 bytes"),
            ("assets.0.path", .some(.text("")), "is empty"),
            ("assets.0.type", .some(.text("exe")), "must be js, css, html, json, map or asset"),
            ("assets.0.type", nil, "must be a string"),
            ("assets.0.cacheable", .some(.integer(1)), "must be true or false"),
            ("assets.0.cacheable", nil, "must be true or false"),
            ("assets.0.sourceMap", .some(.text("/app/main.js.map")), "is absolute"),
            ("assets.0.sourceMap", .some(.text("main.js.map")), "is not an asset"),
            ("assets.0.size", .some(.integer(-1)), "must be an integer from 0 to 4000000000"),
            ("assets.0.md5", nil, "must be a string"),
            ("assets.0.sha1", .some(.text("0")), "must be 40 lowercase hex digits"),
            ("assets.0.sha256", .some(.text("0".times(63))), "must be 64 lowercase hex digits"),
        ] as [(String, JSON?, String)]
    )
    func `is refused as a whole, by field and rule`(_ field: String, value: JSON?, rule: String) throws {
        let json = try Self.sample().setting(field, to: value)
        let (name, rule) =
            rule.isEmpty ? ("index", "is not an asset") : (field.replacing("assets.0.", with: "assets[0]."), rule)
        #expect(throws: FormatError("manifest", field: name, rule: rule)) { try Self.parse(json) }
    }

    static let urlRule =
        "must be the percent-encoded path of a file: '/', then segments that decode to names, the first not __patchline"

    @Test(arguments: [
        "", "app/main.js", "//evil.example/x", "https://evil.example/x", "/a b", "/a?b", "/a#b", "/a\\b", "/é",
        "/a\u{0}", "/a\n", "/../x", "/a/../x",
        "/a/..", "/./x", "/%2e%2e/x", "/.%2E/x", "/a//b", "/a/", "/a%2Fb", "/a%2fb", "/a%5Cb", "/a%00", "/a%0A",
        "/a%7F", "/%", "/%4", "/%zz", "/%ff", "/%C0%AF",
        "/%c2%80", "/__patchline/confirm", "/__patchline", "/%5F_patchline/confirm", "/%5f%5fpatchline",
    ])
    func `refuses an asset's url that is no plain path`(_ url: String) throws {
        let json = try Self.sample().setting("assets.0.url", to: .text(url))
        #expect(throws: FormatError("manifest", field: "assets[0].url", rule: Self.urlRule)) { try Self.parse(json) }
    }

    @Test(arguments: [
        "/", "/main.js", "/@scope/a+b.js", "/%40scope/a.js", "/a:b", "/__patchline2/x", "/a/__patchline/x",
        "/caf%c3%a9", "/\("a".times(4_095))",
    ])
    func `takes an asset's url that is one`(_ url: String) throws {
        #expect(try Self.parse(try Self.sample().setting("assets.0.url", to: .text(url))).assets[0].url == url)
    }

    @Test func `refuses a url over 4,096 bytes`() throws {
        let json = try Self.sample().setting("assets.0.url", to: .text("/" + "a".times(4_096)))
        #expect(throws: FormatError("manifest", field: "assets[0].url", rule: Self.urlRule)) { try Self.parse(json) }
    }

    @Test(arguments: ["/app/main.js.map", "/app/main.js.ma%70", "/%61pp/main.js.map"])
    func `refuses two assets under one url, however it is spelled`(_ url: String) throws {
        let json = try Self.sample().setting("assets.0.url", to: .text(url))
        #expect(throws: FormatError("manifest", field: "assets[1].url", rule: "is listed twice")) {
            try Self.parse(json)
        }
    }

    @Test(
        arguments: [
            (["b", "a", "index.html"], "assets[1].path", "must follow the previous row in the order of UTF-8 bytes"),
            (["a", "index.html", "B"], "assets[2].path", "must follow the previous row in the order of UTF-8 bytes"),
            (
                ["index.html", "\u{10000}", "\u{FFFD}"], "assets[2].path",
                "must follow the previous row in the order of UTF-8 bytes"
            ),
            (["a", "a", "index.html"], "assets[1].path", "is listed twice"),
            (["INDEX.html", "index.html"], "assets[1].path", "index.html equals INDEX.html after case folding"),
            (["index.html", "strasse", "straße"], "assets[2].path", "straße equals strasse after case folding"),
            (
                ["index.html", "straße", "stra\u{1E9E}e"], "assets[2].path",
                "stra\u{1E9E}e equals straße after case folding"
            ),
            (["a", "a/b", "index.html"], "assets[0].path", "is both a file and a folder"),
            (["a", "a/b/c", "index.html"], "assets[0].path", "is both a file and a folder"),
            (["a", "a-", "a/b", "index.html"], "assets[0].path", "is both a file and a folder"),
            (["a", "a/\u{301}b", "index.html"], "assets[0].path", "is both a file and a folder"),
            (["A", "a/b", "index.html"], "assets[0].path", "is both a file and a folder"),
            (["X/a", "index.html", "x"], "assets[2].path", "is both a file and a folder"),
        ] as [([String], String, String)]
    )
    func `refuses rows that break a rule together`(_ paths: [String], field: String, rule: String) {
        #expect(throws: FormatError("manifest", field: field, rule: rule)) { try Self.manifest(paths) }
    }

    @Test(
        arguments: [
            ["index.html"], ["a", "a-", "a.b/c", "index.html"], ["A/x", "a/y", "index.html"],
            ["a/b", "ab", "index.html"], ["\u{FFFD}", "\u{10000}", "index.html"],
        ].map { $0.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    )
    func `takes rows that break none`(_ paths: [String]) {
        #expect(throws: Never.self) { try Self.manifest(paths) }
    }

    @Test func `refuses platforms that one Unicode form makes equal`() throws {
        let json = try Self.sample().setting("compatibility.caf\u{E9}", to: .text("1")).setting(
            "compatibility.cafe\u{301}",
            to: .text("2")
        )
        let error = try #require(throws: FormatError.self) { try Self.parse(json) }
        #expect(error.rule == "is listed twice")
    }

    @Test func `over its limit is refused before it is parsed`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: Limits.manifest + 1)
        #expect(throws: FormatError("manifest", rule: "is over 64000000 bytes")) { try AssetManifest(bytes) }
    }

    @Test(arguments: [
        ("a.js", AssetType.js), ("a.mjs", .js), ("x/a.css", .css), ("a.html", .html), ("a.htm", .html),
        ("a.json", .json), ("a.js.map", .map),
        ("a.svg", .asset), ("js", .asset), ("a.js/b", .asset), (".js", .js), ("a.", .asset), ("a.JS", .asset),
        ("x\u{301}.js", .js),
        ("a/\u{301}.css", .css),
    ])
    func `tells an asset's type by the ending of its path`(_ text: String, type: AssetType) {
        #expect(AssetType(path: path(text)) == type)
    }
}

@Suite("A route")
struct RoutePatternTests {
    @Test(
        arguments: [
            ("/", [[]], [["a"]]),
            ("/cart", [["cart"]], [[], ["Cart"], ["cart", "1"], ["cart2"]]),
            ("/item/*", [["item", "1"], ["item", "*"]], [["item"], ["item", "1", "2"], ["items", "1"]]),
            ("/*/edit", [["a", "edit"]], [["edit"], ["a", "b", "edit"]]),
            ("/docs/**", [["docs"], ["docs", "a"], ["docs", "a", "b"]], [[], ["doc"], ["a", "docs"]]),
            ("/**", [[], ["a"], ["a", "b"]], []),
            ("/it*", [["it*"]], [["item"]]),
            ("/caf\u{E9}", [["caf\u{E9}"]], [["cafe\u{301}"]]),
            ("/a/\u{301}b", [["a", "\u{301}b"]], [["a/\u{301}b"]]),
        ] as [(String, [[String]], [[String]])]
    )
    func `matches segment by segment`(_ text: String, matching: [[String]], others: [[String]]) throws {
        let route = try #require(RoutePattern(text))
        #expect(matching.filter { !route.matches($0) } == [])
        #expect(others.filter { route.matches($0) } == [])
    }

    @Test(arguments: [
        "", "cart", "*", "/a/**/b", "/**/a", "/../x", "/a/..", "/.", "/a\u{0}", "/a\nb", "/\("a".times(1_024))",
    ])
    func `is refused when it is no pattern of a path`(_ text: String) {
        #expect(RoutePattern(text) == nil)
    }
}
