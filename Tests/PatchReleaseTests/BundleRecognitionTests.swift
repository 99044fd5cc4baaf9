import PatchFormat
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchRelease

@Suite("How a bundle is served")
struct BundleRecognitionTests {
    private static let page = "<!doctype html><html><head></head><body></body></html>"

    private func bench(_ files: [String: String], extra: String = "", version: String = "1") throws -> Workbench {
        let bench = try Workbench()
        try write(files, extra: extra, version: version, to: "v1", bench)
        return bench
    }

    private func write(_ files: [String: String], extra: String, version: String, to name: String, _ bench: Workbench)
        throws
    {
        try bench.write(
            """
            app: com.example.storefront
            channel: production
            patches:
              - id: web
                kind: bundle
                version: "\(version)"
                folder: web
                \(extra)
            """,
            to: "\(name)/release.yaml"
        )
        for (path, text) in files { try bench.write(text, to: "\(name)/web/\(path)") }
    }

    private func manifest(_ bench: Workbench, _ version: String = "1", from name: String = "v1", on base: String? = nil)
        async throws -> (AssetManifest, MadeRelease)
    {
        let (made, verified) = try await bench.release(name, to: "out\(version)", on: base)
        return (try #require(verified.manifests[label("web", version)]?.manifest), made)
    }

    @Test(
        arguments: [
            (["index.html": page], .app, "index.html is its only page"),
            (["index.html": page, "docs/index.html": page], .site, "docs/index.html is a page of its own"),
            (["index.html": page, "about.html": page], .site, "about.html is a page of its own"),
            (["index.html": page, "404.html": "<p>none</p>"], .site, "404.html is its page for unknown paths"),
            // GitHub Pages' way to have a single-page app.
            (["index.html": page, "404.html": page], .app, "index.html is its only page"),
            (["index.html": page, "views/cart.html": "<p>{{cart}}</p>"], .app, "index.html is its only page"),
            (
                ["index.html": page, "offline.html": page, "silent-renew.html": page], .app,
                "index.html is its only page"
            ),
            (["index.html": page, "about.html": page, "200.html": page], .app, "200.html is its page for all paths"),
        ] as [([String: String], BundleRouting, String)]
    )
    func `is recognised by its pages, and said`(files: [String: String], routing: BundleRouting, reason: String)
        async throws
    {
        let (manifest, made) = try await manifest(try bench(files))
        #expect(manifest.routing == routing)
        let recognition = try #require(made.recognitions[named("web")])
        #expect(recognition.routing == routing && recognition.reason == reason)
    }

    @Test(
        arguments: [
            (
                ["index.html": page, "docs/index.html": page],
                "is a site (docs/index.html is a page of its own): an unknown page is answered with 404; "
                    + "if it is a single-page app, set `routing: app` in release.yaml"
            ),
            (
                ["index.html": page],
                "is an app (index.html is its only page): an unknown page is answered with index.html; "
                    + "if each page has its own file, set `routing: site` in release.yaml"
            ),
        ] as [([String: String], String)]
    )
    func `is said with the setting that decides otherwise`(files: [String: String], words: String) async throws {
        let (_, made) = try await manifest(try bench(files))
        #expect(made.recognitions[named("web")]?.words == words)
    }

    @Test func `is doubted where a file is kept by browsers and its content changed without its name`() async throws {
        let cacheable = "cacheable: [\"*.js\"]\n    confirmed-by: program"
        let bench = try bench(
            ["index.html": Self.page, "main.3f9a1c07.js": "1", "cart.js": "1", "same.js": "1"],
            extra: cacheable
        )
        _ = try await manifest(bench)
        let changed = ["index.html": "\(Self.page)\n", "main.3f9a1c07.js": "2", "cart.js": "2", "same.js": "1"]
        try write(changed, extra: cacheable, version: "2", to: "v2", bench)
        let (_, made) = try await manifest(bench, "2", from: "v2", on: "out1")
        #expect(
            made.warnings.map { "\($0)".replacing("\(bench.folder)/v2/", with: "") } == [
                "release.yaml:8: patches[0].cacheable keeps main.3f9a1c07.js for a year, and other bytes have the same name in web 1"
                    + "; build with new names, or leave them out here",
                "release.yaml:8: patches[0].cacheable is ignored for cart.js: the content changed since web 1 and the name did not"
                    + "; put a hash into the name so that it is kept for a year",
            ]
        )
    }

    @Test func `is decided by the description`() async throws {
        let (site, made) = try await manifest(try bench(["index.html": Self.page], extra: "routing: site"))
        #expect(site.routing == .site && made.recognitions.isEmpty)
        let files = ["index.html": Self.page, "a/index.html": Self.page]
        let (app, other) = try await manifest(try bench(files, extra: "routes: [/cart]"))
        #expect(app.routing == .app && app.routes?.count == 1 && other.recognitions.isEmpty)
    }

    @Test func `has the coding of files without a plain one, by their name and their bytes`() async throws {
        let bench = try bench(
            [
                "index.html": Self.page, "plain.js": "x", "a.br": "x", "b.data.br": "x",
                "v.data.unityweb": "k UnityWeb Compressed Content (brotli)", "w.data.unityweb": "plain",
            ],
            extra: "headers: {\"t/*.gz\": {Content-Encoding: gzip}, \"**/b.data.br\": {Content-Encoding: identity}}"
        )
        for path in [
            "x.js.gz", "plain.js.gz", "t.json.gz", "src.tar.gz", "u.framework.js.unityweb", "t/t.json.gz", "l.svgz",
        ] {
            let file = bench.folder.appending("v1/web/\(path)")
            try bench.files.makeDirectory(file.removingLastComponent())
            // An empty gzip stream, and that of `plain.js`.
            try bench.files.write(
                [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
                    + (path == "plain.js.gz"
                        ? [0xAB, 0, 0, 0x83, 0x16, 0xDC, 0x8C, 1, 0, 0, 0] : [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
                to: file
            )
        }
        let (manifest, _) = try await manifest(bench)
        let codings = manifest.assets.compactMap { asset in asset.coding.map { "\(asset.path) \($0.rawValue)" } }
        #expect(
            codings == [
                "a.br br", "l.svgz gzip", "t/t.json.gz gzip", "u.framework.js.unityweb gzip",
                "v.data.unityweb br", "x.js.gz gzip",
            ]
        )
    }

    @Test func `names a source map only for a file that does not name it itself`() async throws {
        let files = [
            "index.html": Self.page, "a.js": "a()\n", "a.js.map": "{}", "b.js": "b()\n//# sourceMappingURL=b.js.map\n",
            "b.js.map": "{}", "c.css": "p{}/*# sourceMappingURL=c.css.map */", "c.css.map": "{}",
        ]
        let (manifest, _) = try await manifest(try bench(files))
        #expect(manifest.assets.filter { $0.sourceMap != nil }.map(\.path.text) == ["a.js"])
    }

    @Test func `is the same manifest again under the same label`() async throws {
        let files = ["index.html": Self.page, "a/index.html": Self.page]
        let bench = try bench(files)
        let (first, _) = try await manifest(bench)
        let (made, verified) = try await bench.release("v1", to: "again", on: "out1")
        #expect(verified.manifests[label("web", "1")]?.manifest == first)
        #expect(made.recognitions.isEmpty)
    }

    @Test func `has the headers of the description, in its order`() async throws {
        let extra = "headers: {\"**\": {referrer-policy: same-origin}, \"*.html\": {Cache-Control: no-store}}"
        let (manifest, _) = try await manifest(try bench(["index.html": Self.page], extra: extra))
        #expect(manifest.headers.map(\.pattern.text) == ["**", "*.html"])
        #expect(manifest.headers[0].fields == [.init(name: "Referrer-Policy", value: "same-origin")])
    }

    @Test(
        arguments: [
            ("routing: spa", "routing must be site or app"),
            (
                "headers: {\"a**\": {Link: x}}",
                "headers.a** must be a path in the bundle, such as *.html, assets/* or **/*.js; ** must be all between two slashes"
            ),
            (
                "headers: {\"**\": {Set-Cookie: a}}",
                "headers.**.Set-Cookie would set the same cookie on every device; set it in a script of the app"
            ),
            (
                "headers: {\"**\": {Content-Encoding: deflate}}",
                "headers.**.Content-Encoding must be br, zstd or gzip, or identity for a file to be sent as it is"
            ),
            ("headers: [a]", "headers must be a mapping, such as {\"**\": {Cross-Origin-Opener-Policy: same-origin}}"),
            ("headers: {\"**\": x}", "headers.** must be a mapping, such as {Referrer-Policy: same-origin}"),
            ("headers: {\"**\": {Link: x, link: y}}", "headers.**.link is given twice"),
        ]
    )
    func `is refused with the field and a way out`(extra: String, words: String) async throws {
        let bench = try bench(["index.html": Self.page], extra: extra)
        let check = try await ReleaseCheck(
            folder: bench.folder.appending("v1"),
            trust: nil,
            base: nil,
            files: bench.files
        ) { _, _ in { _ in } }
        let reported = check.mistakes.map { "\($0)".replacing("\(bench.folder)/v1/", with: "") }
        #expect(reported == ["release.yaml:8: patches[0].\(words)"])
    }
}
