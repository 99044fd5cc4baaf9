import Linux
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage
import Testing

import PageTesting
@testable import AssetServer

@Suite("Sites and apps")
struct AssetRoutingTests {
    private static let site = [
        "index.html", "about.html", "404.html", "assets/s.css", "keys/index.html", "both.html", "both/index.html",
        "de/404.html", "de/index.html", "docs.v2/index.htm", "api",
    ]

    private func server(
        _ paths: [String],
        routing: BundleRouting?,
        routes: [String]? = nil,
        headers: [HeaderRule] = [],
        codings: [String: AssetCoding] = [:],
        cacheable: Bool = false,
        index page: String = "index.html",
        access: Access? = nil
    ) throws -> AssetServer {
        let assets = try paths.map { path in
            Asset(
                path: try AssetPath(path),
                url: URLLayout.asset(try AssetPath(path)),
                type: AssetType(path: try AssetPath(path)),
                cacheable: cacheable,
                sourceMap: nil,
                coding: codings[path],
                fingerprint: Fingerprint(of: Array(path.utf8))
            )
        }
        let manifest = AssetManifest(
            app: name("app"),
            patchID: name("web"),
            version: name("1"),
            commit: nil,
            created: nil,
            compatibility: [:],
            index: try AssetPath(page),
            routes: routes?.compactMap { RoutePattern($0) },
            routing: routing,
            headers: headers,
            assets: assets.sorted { $0.path < $1.path }
        )
        // As a device reads it.
        let read = try AssetManifest(manifest.json.fileBytes)
        #expect(read == manifest)
        let index = try #require(BundleIndex(read, manifest: SHA256Digest(of: manifest.json.fileBytes)))
        let server: AssetServer
        if let access {
            server = AssetServer(.init(access: access))
            server.listening(on: AssetServer.port)
        } else {
            server = AssetServer.open()
        }
        let table = AssetTable(index, files: SampleFiles(folder: SampleBundle.folder))
        server.serve(ServedSelection(table: table, launch: nil))
        return server
    }

    /// `200 index.html`, `404`, `301 /keys/`.
    private func summary(_ answer: FileAnswer) -> String {
        switch answer {
        case .file(let file): "\(file.status.code) \(file.path.string.dropFirst(SampleBundle.folder.string.count + 1))"
        // A document that a browser shows has a stamp.
        case .bytes(let page): "\(page.status.code) \(String(decoding: page.bytes, as: UTF8.self).withoutStamp)"
        case .refused(let status, _, let headers):
            "\(status.code)" + (headers.first(name: "Location").map { " \($0)" } ?? "")
        default: "\(answer)"
        }
    }

    @Test(
        arguments: [
            ("/", "200 index.html"), ("/index.html", "200 index.html"), ("/keys/", "200 keys/index.html"),
            ("/keys", "301 /keys/"), ("/keys?a=1&b=%2F", "301 /keys/?a=1&b=%2F"),
            ("/keys/index.html", "200 keys/index.html"),
            ("//keys//", "200 keys/index.html"), ("//keys", "301 /keys/"), ("/./keys", "301 /keys/"),
            ("/about", "200 about.html"), ("/about/", "301 /about"), ("/about.html", "200 about.html"),
            ("/about.html/", "404 404.html"), ("/assets/s.css/", "404"), ("/both", "200 both.html"),
            ("/both/", "200 both/index.html"), ("/docs.v2", "301 /docs.v2/"), ("/docs.v2/", "200 docs.v2/index.htm"),
            ("/Keys/", "404 404.html"), ("/nope", "404 404.html"), ("/nope/", "404 404.html"),
            ("/de/nope", "404 de/404.html"),
            ("/de/x/y", "404 de/404.html"), ("/assets/", "404 404.html"), ("/assets", "404 404.html"),
            ("/assets/nope.js", "404"), ("/nope.json", "404"), ("/favicon.ico", "404"), ("/nope.html", "404 404.html"),
            ("/api", "200 api"), ("/api/", "404 404.html"), ("/404.html", "200 404.html"), ("/404", "200 404.html"),
            ("/index", "200 index.html"),
        ] as [(String, String)]
    )
    func `answer for a site as a static host does`(target: String, expected: String) async throws {
        #expect(summary(try await server(Self.site, routing: .site).get(target)) == expected)
    }

    @Test(arguments: [
        ("/", "200 app/index.html"), ("/app/", "200 app/index.html"), ("/app", "301 /app/"),
        ("/app/index.html", "200 app/index.html"), ("/app/main.js", "200 app/main.js"), ("/main.js", "404"),
        ("/cart", "200 app/index.html"), ("/app/cart", "200 app/index.html"), ("/index.html", "200 app/index.html"),
    ])
    func `answer for an app whose index is in a subfolder`(target: String, expected: String) async throws {
        let server = try server(["app/index.html", "app/main.js"], routing: .app, index: "app/index.html")
        #expect(summary(try await server.get(target)) == expected)
    }

    @Test func `encode a redirect, so that it leads to this host`() async throws {
        let server = try server(["index.html", "a b/\u{e9}/index.html"], routing: .site)
        #expect(summary(try await server.get("/a%20b/%C3%A9")) == "301 /a%20b/%C3%A9/")
        #expect(try await server.get("/a%20b/%C3%A9").headers["Cache-Control"] == ["no-cache"])
    }

    @Test(
        arguments: [
            ("/cart", ["Sec-Fetch-Dest": "document"], "200 index.html"), ("/user/john.doe", [:], "200 index.html"),
            ("/files/main.js", ["Sec-Fetch-Dest": "document"], "200 index.html"),
            ("/docs/", [:], "200 docs/index.html"),
            ("/docs", [:], "301 /docs/"), ("/about", [:], "200 index.html"),
            ("/nope.js", ["Sec-Fetch-Dest": "script"], "404"), ("/nope", ["Sec-Fetch-Dest": "style"], "404"),
            ("/nope", ["Sec-Fetch-Dest": "image", "Accept": "image/*"], "404"),
            ("/nope", ["Sec-Fetch-Dest": "font"], "404"),
            ("/nope", ["Sec-Fetch-Dest": "worker"], "404"), ("/nope.json", ["Sec-Fetch-Dest": "empty"], "404"),
            ("/api/x", ["Sec-Fetch-Dest": "empty", "Accept": "application/json"], "404"),
            ("/x", ["Sec-Fetch-Dest": "empty", "Accept": "text/html"], "200 index.html"),
            ("/x.js", ["Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "navigate"], "200 index.html"),
            ("/x", ["Sec-Fetch-Dest": "iframe"], "200 index.html"), ("/x.pdf", ["Sec-Fetch-Dest": "embed"], "404"),
            ("/nope.js", [:], "404"), ("/nope.PNG", [:], "404"), ("/nope.woff2", [:], "404"),
            ("/nope.json", [:], "404"),
            ("/nope", ["Accept": "image/avif,image/webp,*/*;q=0.8"], "404"),
            ("/nope", ["Accept": "*/*"], "200 index.html"),
            ("/nope", ["Accept": "TEXT/HTML;level=1"], "200 index.html"), ("/nope", ["Accept": "text/htmlx"], "404"),
            ("/nope", ["Accept": "text/html;q=0, image/png"], "404"), ("/nope", ["Accept": "*/*; q=0.000"], "404"),
            ("/nope", ["Accept": "text/html;q=0.1"], "200 index.html"), ("/nope", ["Accept": ""], "200 index.html"),
            ("/nope.js", ["Accept": "text/html,*/*"], "404"),
            ("/readme.md", ["Accept": "text/html,*/*"], "200 index.html"),
            ("/favicon.ico", ["Sec-Fetch-Dest": "document"], "404"), ("/main.js", [:], "200 main.js"),
            ("/main.js/", ["Sec-Fetch-Dest": "script"], "404"),
        ] as [(String, [String: String], String)]
    )
    func `answer for an app with the index where a page is asked for`(
        target: String,
        fields: [String: String],
        expected: String
    ) async throws {
        for routing in [BundleRouting.app, nil] {
            let server = try server(["index.html", "main.js", "docs/index.html", "about.html"], routing: routing)
            let request = try request(target, fields.map { ($0.key, $0.value) })
            #expect(summary(await server.answer(request)) == expected, "\(String(describing: routing))")
        }
    }

    @Test(
        arguments: [
            ("/package/@types%2Fnode", [:], "200 index.html"), ("/item/%FC", ["Accept": "text/html"], "200 index.html"),
            ("/a%5Cb", ["Sec-Fetch-Dest": "document"], "200 index.html"),
            ("/a%2Fb.js", ["Sec-Fetch-Dest": "script"], nil), ("/a%2Fb.png", [:], nil),
            ("/__patchline/uploads/a%2Fb", [:], nil), ("/local-filesystem/a%2Fb", [:], nil),
        ] as [(String, [String: String], String?)]
    )
    func `answer for a page whose path cannot name a file, and for nothing else there`(
        target: String,
        fields: [String: String],
        expected: String?
    ) async throws {
        let server = try server(["index.html"], routing: .app)
        let headers = HTTPHeaders(fields.map { ($0.key, $0.value) } + [AssetServer.host])
        let request = try FileRequest(getting: target, headers: headers, keepsEncoded: true)
        #expect(server.passesAsSent(request) == (expected != nil))
        if let expected { #expect(summary(await server.answer(request)) == expected) }
    }

    @Test(
        arguments: [
            ("/cart", "200 index.html"), ("/release.js", "200 index.html"), ("/item/1.2.3", "200 index.html"),
            ("/item/logo.png", "404"), ("/docs", "200 index.html"), ("/docs/", "200 index.html"),
            ("/other", "404 404.html"),
            ("/keys/", "200 keys/index.html"), ("/keys", "301 /keys/"),
        ]
    )
    func `keep the meaning of listed routes`(target: String, expected: String) async throws {
        let server = try server(
            ["index.html", "404.html", "docs/index.html", "keys/index.html"],
            routing: nil,
            routes: ["/cart", "/release.js", "/item/*", "/docs/**"]
        )
        #expect(summary(try await server.get(target)) == expected)
    }

    @Test func `answer with 200_html for an app that has one`() async throws {
        let server = try server(["index.html", "200.html"], routing: .app)
        #expect(summary(try await server.get("/x")) == "200 200.html")
        #expect(summary(try await server.get("/")) == "200 index.html")
    }

    // MARK: Compressed files

    @Test(
        arguments: [
            ("gzip, br", "application/wasm", "gzip"), ("br", "application/gzip", nil), (nil, "application/gzip", nil),
            ("*", "application/wasm", "gzip"), ("gzip;q=0", "application/gzip", nil),
        ] as [(String?, String, String?)]
    )
    func `send a file without a plain one with its coding and the type of its content`(
        accepted: String?,
        type: String,
        coding: String?
    ) async throws {
        let server = try server(["index.html", "Build/a.wasm.gz"], routing: .app, codings: ["Build/a.wasm.gz": .gzip])
        let answer = await server.answer(
            try request("/Build/a.wasm.gz", accepted.map { [("Accept-Encoding", $0)] } ?? [])
        )
        let file = try #require(answer.file)
        #expect(file.contentType == type)
        #expect(file.headers.first(name: "Content-Encoding") == coding)
        #expect(file.headers["Vary"].contains("Accept-Encoding"))
        #expect(file.entityTag?.hasSuffix("-gzip") == (coding != nil))
    }

    @Test func `name the content of Unity's files`() async throws {
        let server = try server(
            ["index.html", "a.framework.js.unityweb", "a.data.br"],
            routing: .app,
            codings: ["a.framework.js.unityweb": .gzip, "a.data.br": .brotli]
        )
        let all = ("Accept-Encoding", "gzip, br")
        #expect(try await server.get("/a.framework.js.unityweb", all).file?.contentType == "text/javascript")
        #expect(try await server.get("/a.data.br", all).file?.contentType == "application/octet-stream")
        #expect(try await server.get("/a.data.br", all).headers["Content-Encoding"] == ["br"])
    }

    // MARK: Headers

    private func rule(_ pattern: String, _ name: String, _ value: String) throws -> HeaderRule {
        HeaderRule(pattern: try #require(FilePattern(pattern)), fields: [try AllowedHeader.checked(name, value)])
    }

    @Test func `send a release's headers with the files that it names, the last one that matches`() async throws {
        let server = try server(
            ["index.html", "sw/w.js", "a.bin"],
            routing: .app,
            headers: [
                rule("**", "Cross-Origin-Opener-Policy", "unsafe-none"),
                rule("*.html", "Cross-Origin-Opener-Policy", "same-origin"),
                rule("sw/*", "Service-Worker-Allowed", "/"),
                rule("a.bin", "Content-Type", "model/x"), rule("*.html", "Content-Security-Policy", "img-src *"),
            ]
        )
        let page = try await server.get("/cart")
        #expect(page.headers["Cross-Origin-Opener-Policy"] == ["same-origin"])
        #expect(page.headers["Content-Security-Policy"] == ["img-src *; frame-ancestors 'self'"])
        let worker = try await server.get("/sw/w.js").headers
        #expect(worker["Service-Worker-Allowed"] == ["/"] && worker["Cross-Origin-Opener-Policy"] == ["unsafe-none"])
        #expect(try await server.get("/a.bin").file?.contentType == "model/x")
        #expect(try await server.get("/a.bin").headers["Service-Worker-Allowed"].isEmpty)
    }

    @Test func `let the device's own headers win`() async throws {
        var access = Access(token: nil, under: .shared)
        access.setHeader("cross-origin-opener-policy", to: nil)
        let server = try server(
            ["index.html"],
            routing: .app,
            headers: [rule("**", "Cross-Origin-Opener-Policy", "same-origin"), rule("**", "Link", "</a>")],
            access: access
        )
        let headers = try await server.get("/").headers
        #expect(headers["Cross-Origin-Opener-Policy"].isEmpty && headers["Link"] == ["</a>"])
    }

    @Test(
        arguments: [
            ("/main.js", "max-age=60", "no-cache"), ("/main.3f9a1c07.js", "max-age=60", "max-age=60"),
            ("/main.js", "no-store", "no-store"), ("/", "max-age=60", "no-cache"), ("/", "no-store", "no-store"),
            ("/main.3f9a1c07.js", nil, "max-age=31536000, public"),
            ("/main.3f9a1c07.js?v=1", nil, "max-age=31536000, public"),
            ("/main.js?v=3f9a1c07", nil, "no-cache"), ("/page.3f9a1c07.html", nil, "no-cache"),
        ] as [(String, String?, String)]
    )
    func `let a browser keep what names its content alone`(target: String, rule: String?, expected: String) async throws
    {
        let server = try server(
            ["index.html", "main.js", "main.3f9a1c07.js", "page.3f9a1c07.html"],
            routing: .app,
            headers: try rule.map { [try self.rule("**", "Cache-Control", $0)] } ?? [],
            cacheable: true
        )
        #expect(try await server.get(target).file?.cacheControl == expected)
    }
}
