import PatchFormat
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchRelease

@Suite("Web app manifests that a bundle's pages link to")
struct LinkedManifestTests {
    private static func links(_ text: String, pieces: Int = 65_536) -> PageLinks {
        var search = ContentSearch([.code, .links])
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            search.take(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return search.finish().links
    }

    @Test(arguments: [
        (#"<link rel="manifest" href="app.json">"#, ["app.json"]), ("<link rel=manifest href=app.json>", ["app.json"]),
        ("<LINK HREF='a.json?v=1&amp;w' REL='manifest'/>", ["a.json?v=1&w"]),
        (#"<link href="a" rel="icon manifest">"#, ["a"]), ("<link\nrel = \"manifest\"\n href = 'a'\n>", ["a"]),
        (#"<link rel="manifest" crossorigin href="a">"#, ["a"]),
        (#"<link rel="manifest" crossorigin="use-credentials" href="a">"#, []),
        (#"<link rel="icon" href="manifest">"#, []), (#"<a rel="manifest" href="a">"#, []),
        (#"<!-- <link rel="manifest" href="a"> -->"#, []), (#"<!-- x --><link rel="manifest" href="a">"#, ["a"]),
        (#"<link rel="manifest">"#, []), (#"<link rel="manifest" href="a"#, []),
        (#"<linkrel="manifest" href="a">"#, []),
        (String(repeating: #"<link rel="manifest" href="a">"#, count: 9), ["a", "a", "a", "a"]),
        ("manifest", []), ("<link rel=\"manifest\"", []), (" manifest ", []),
    ])
    func `are found in its tags`(text: String, expected: [String]) {
        #expect(Self.links(text).manifests == expected)
        #expect(Self.links("\(text) <p>", pieces: 7).manifests == (text.hasSuffix(">") ? expected : []))
    }

    @Test func `are found with the page's base`() {
        let page = #"<base target="_top"><base href="/app/"><base href="/b/"><link rel="manifest" href="a">"#
        #expect(Self.links(page) == PageLinks(manifests: ["a"], base: "/app/"))
    }

    @Test(
        arguments: [
            ("app.json", nil, "/sub/app.json"), ("/app.json", nil, "/app.json"), ("../app.json", nil, "/app.json"),
            ("../../../app.json", nil, "/app.json"), ("./a/../app.json?v=1#x", nil, "/sub/app.json"),
            (" app.json ", nil, "/sub/app.json"), ("caf\u{E9}.json", nil, "/sub/caf\u{E9}.json"),
            ("a%20b.json", nil, "/sub/a b.json"), ("app.json", "/", "/app.json"),
            ("app.json", "/app/x", "/app/app.json"),
            ("app.json", "../", "/app.json"), ("app.json", "", "/sub/app.json"),
            ("app.json", "https://elsewhere.example/", nil), ("https://elsewhere.example/a.json", nil, nil),
            ("//elsewhere.example/a.json", nil, nil), ("data:application/json,{}", nil, nil), ("", nil, nil),
            ("/", nil, nil), ("{{ base }}/a.json", nil, nil), ("%PUBLIC_URL%/a.json", nil, nil), ("a\u{0}b", nil, nil),
            ("/__patchline/a.json", nil, nil), (String(repeating: "a", count: 2_000), nil, nil),
        ] as [(String, String?, String?)]
    )
    func `have the URLs that browsers give them`(href: String, base: String?, expected: String?) throws {
        #expect(LinkedManifests.path(of: href, base: base, in: try AssetPath("sub/index.html")) == expected)
    }

    private func release(_ bench: Workbench) async throws -> (headers: [HeaderRule], warnings: [String]) {
        let (made, verified) = try await bench.release("v1", to: "out")
        return (
            try #require(verified.manifests[label("web", "1.0.0")]).manifest.headers,
            made.warnings.map { "\($0)".replacing("\(bench.folder)/v1/", with: "") }
        )
    }

    private func page(_ href: String) -> String {
        "<!doctype html><html><head><link rel=\"manifest\" href=\"\(href)\"><script>patchline.confirm()</script></head></html>"
    }

    @Test func `are signed with their type if their name does not show it`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write(page("app.json?v=2"), to: "v1/web/index.html")
        try bench.write("\u{FEFF} {\"name\": \"Shop\"}", to: "v1/web/app.json")
        let (headers, warnings) = try await release(bench)
        let type = HeaderRule.Field(name: "Content-Type", value: "application/manifest+json")
        #expect(headers == [HeaderRule(pattern: try #require(FilePattern("app.json")), fields: [type])])
        #expect(
            warnings == [
                "release.yaml:6: patches[2].headers: 1 linked web app manifest is signed as application/manifest+json, which "
                    + "devices serve without their cookie: app.json (index.html); write `headers: {app.json: {Content-Type: "
                    + "application/manifest+json}}` to confirm"
            ]
        )
    }

    @Test func `keep the type that the description gives them`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: "headers: {app.json: {Content-Type: application/manifest+json}}")
        try bench.write(page("app.json"), to: "v1/web/index.html")
        try bench.write("{}", to: "v1/web/app.json")
        let (headers, warnings) = try await release(bench)
        #expect(headers.count == 1 && warnings == [])
    }

    @Test(arguments: [
        "site.webmanifest", "icons/Manifest.json", "manifest.json?v=1", "https://elsewhere.example/a.json",
    ])
    func `need nothing if their name shows it, or if they are elsewhere`(href: String) async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write(page(href), to: "v1/web/index.html")
        for name in ["site.webmanifest", "icons/Manifest.json", "manifest.json"] {
            try bench.write("{}", to: "v1/web/\(name)")
        }
        let (headers, warnings) = try await release(bench)
        #expect(headers == [] && warnings == [])
    }

    @Test(arguments: ["/api/app.json", "app/main.js", "index.html", "manifest.php"])
    func `are named if no file of the bundle is one`(href: String) async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write(page(href), to: "v1/web/index.html")
        try bench.write("<?php echo 1;", to: "v1/web/manifest.php")
        let (headers, warnings) = try await release(bench)
        let path = href.hasPrefix("/") ? href : "/\(href)"
        #expect(headers == [])
        #expect(
            warnings == [
                "release.yaml:9: patches[2].folder: 1 linked web app manifest is not in web, or not a JSON object: \(path) "
                    + "(index.html); browsers request it without cookies, so devices refuse it: add the file, or "
                    + "crossorigin=\"use-credentials\" to the link"
            ]
        )
    }

    @Test func `are patterns of no other file, and few`() throws {
        let page = try AssetPath("index.html")
        let links = [(page, PageLinks(manifests: ["app.json", "b*.json"]))]
        let linked = LinkedManifests(of: links) { _ in true }
        #expect(linked.rules(besides: []).map(\.pattern.text) == ["app.json"])
        #expect(LinkedManifests(of: links) { _ in nil }.rules(besides: []) == [])
        let many = [(page, PageLinks(manifests: (0..<20).map { "\($0).json" }))]
        #expect(LinkedManifests(of: many) { _ in true }.files.count == 8)
    }
}
