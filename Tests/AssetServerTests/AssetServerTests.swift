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

func name<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}

/// A bundle without files: what is served is decided before any of them is opened.
enum SampleBundle {
    static let hash = "6db9763f3e0f4e4cbf78111f73823043ab08e3e7"
    static let folder = FilePath("/bundles/1")

    static func asset(_ path: String, url: String? = nil, cacheable: Bool = false, sourceMap: String? = nil) throws
        -> Asset
    {
        Asset(
            path: try AssetPath(path),
            url: url ?? "/\(path)",
            type: AssetType(path: try AssetPath(path)),
            cacheable: cacheable,
            sourceMap: try sourceMap.map { try AssetPath($0) },
            fingerprint: Fingerprint(of: Array(path.utf8))
        )
    }

    static func assets() throws -> [Asset] {
        try [
            asset("index.html"), asset("app/main.js", cacheable: true, sourceMap: "app/main.js.map"),
            asset("app/main.js.map", url: "/maps/main%20file.map"), asset("style.css"),
            asset("app/hashed.js", url: "/app/\(hash).js", cacheable: true),
            asset("app/\(hash).css", url: "/app/plain.css", cacheable: true),
            asset("caf\u{e9}/a b.txt", url: "/caf%C3%A9/a%20b.txt"),
            asset("application/hidden.js", url: "/app/visible.js"),
        ]
    }

    static func table(routes: [String]? = nil, damaged: [String] = []) throws -> AssetTable {
        let manifest = AssetManifest(
            app: name("app"),
            patchID: name("web"),
            version: name("1"),
            commit: nil,
            created: UTCTime(seconds: 0),
            compatibility: [:],
            index: try AssetPath("index.html"),
            routes: routes?.compactMap { RoutePattern($0) },
            assets: try assets().sorted { $0.path < $1.path }
        )
        let index = try #require(BundleIndex(manifest, manifest: SHA256Digest(of: manifest.json.fileBytes)))
        return AssetTable(index, files: SampleFiles(folder: folder, damaged: damaged))
    }
}

/// Files that all lie there, but for the damaged ones.
struct SampleFiles: AssetFiles {
    let folder: FilePath
    var damaged: [String] = []

    func recorded(_ row: BundleIndex.Row) -> AssetFile? {
        damaged.contains(row.path) ? nil : file(row)
    }

    func examined(_ row: BundleIndex.Row) -> AssetFile? { recorded(row) }
    func contents(_ row: BundleIndex.Row) -> [UInt8]? { damaged.contains(row.path) ? nil : Array(row.path.utf8) }

    private func file(_ row: BundleIndex.Row) -> AssetFile {
        let identity = FileIdentity(device: 1, inode: UInt64(row.number), size: row.size, modified: 0, changed: 0)
        return AssetFile(path: folder.appending(row.path), root: folder, identity: identity)
    }
}

/// An app behind the pages that says what it is told to.
struct SampleHost: PageHost {
    var running: String?
    var switching = Switching.refused("No pending version to switch to")
    var start = CheckStart.started

    func confirm(_ token: String) -> ReadyOutcome {
        switch token {
        case running: .confirmed
        case "before": .alreadyConfirmed
        case "broken": .failed
        default: .otherLaunch
        }
    }

    func pageShown(_ launch: String) {}

    func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) -> ScriptFailureOutcome {
        failure.launch == running ? .rolledBack : .unknown
    }

    func switchToPending() -> Switching { switching }
    func checkForUpdates() -> CheckStart { start }

    func status() -> PageStatus {
        var status = PageStatus(app: "app", channel: "production")
        (status.current, status.pending, status.starts) = ("2", "3", "atReload")
        return status
    }

    func parameters() -> PageParameters {
        guard let limit = ParameterName("cart.limit"), let banner = ParameterName("banner") else {
            preconditionFailure("these are names")
        }
        return PageParameters(channel: "production", values: [limit: .integer(20), banner: .text("Sale")])
    }

    func debugReport() -> JSON { .fields([("app", .text("app"))]) }
}

@Suite("The asset server")
struct AssetServerTests {
    private func server(
        _ table: AssetTable?,
        launch: String? = nil,
        www: FilePath? = nil,
        localFiles: FilePath? = nil
    ) -> AssetServer {
        let server = AssetServer.open(www: www, localFiles: localFiles)
        server.serve(ServedSelection(table: table, launch: launch))
        return server
    }

    // MARK: What a path leads to (M18)

    @Test(arguments: [
        ("/", "index.html"), ("/index.html", "index.html"), ("/app/main.js", "app/main.js"),
        ("/app/main.js?v=1", "app/main.js"),
        ("/maps/main%20file.map", "app/main.js.map"), ("/app/main.js.map", "404"),
        ("/caf%C3%A9/a%20b.txt", "caf\u{e9}/a b.txt"), ("/cafe%CC%81/a%20b.txt", "404"),
        ("/any/where", "index.html"), ("/favicon.ico", "404"), ("/app/favicon.ico", "404"),
        ("/application/hidden.js", "404"), ("/app/visible.js", "application/hidden.js"),
        ("/app/../style.css", "style.css"), ("/app/%2e%2e/style.css", "style.css"), ("/../../etc/passwd", "index.html"),
        ("//style.css", "style.css"), ("/STYLE.css", "404"), ("/local-filesystem/etc/passwd", "index.html"),
    ])
    func `answers with the manifest's file, else with the index`(target: String, file: String) async throws {
        #expect(try await server(try SampleBundle.table()).get(target).summary == file)
    }

    @Test(arguments: [
        ("/", "index.html"), ("/cart", "index.html"), ("/item/3", "index.html"), ("/docs/a/b/c", "index.html"),
        ("/docs", "index.html"),
        ("/style.css", "style.css"), ("/item", "404"), ("/item/3/4", "404"), ("/elsewhere", "404"),
        ("/favicon.ico", "404"),
        ("/app/missing.js", "404"),
    ])
    func `answers with the index under the listed routes only, where some are listed`(target: String, file: String)
        async throws
    {
        let table = try SampleBundle.table(routes: ["/cart", "/item/*", "/docs/**"])
        #expect(try await server(table).get(target).summary == file)
    }

    @Test func `asks the app's own folder after the manifest and before the routes`() async throws {
        let root = FilePath("/tmp/assetserver-tests-\(UInt64.random(in: 0...UInt64.max))")
        defer { try? DiskFiles().removeTree(root) }
        let files = DiskFiles()
        for (path, text) in [
            ("www/style.css", "www"), ("www/extra.txt", "www"), ("www/application/secret.txt", "www"),
            ("www/.hidden", "www"),
            ("local/photo one.jpg", "local"), ("outside.txt", "outside"),
        ] {
            let file = root.appending(FilePath(path).components)
            try files.makeDirectory(file.removingLastComponent())
            try files.write(Array(text.utf8), to: file)
        }
        let (www, local) = (root.appending("www"), root.appending("local"))
        let server = server(try SampleBundle.table(), www: www, localFiles: local)
        for (target, found) in [
            ("/style.css", "style.css"), ("/extra.txt", "\(www)/extra.txt"), ("/application/secret.txt", "404"),
            ("/.hidden", "index.html"), ("/../outside.txt", "404"),
            ("/local-filesystem/photo%20one.jpg", "\(local)/photo one.jpg"),
            ("/local-filesystem/nothing", "index.html"),
            ("/local-filesystem/../outside.txt", "404"), ("/local-filesystem/", "index.html"),
        ] {
            #expect(try await server.get(target).summary == found, "\(target)")
        }
    }

    // MARK: Headers (M19)

    @Test func `tags a file with its SHA-256 and names its size, so that nothing else is ever sent`() async throws {
        let asset = try SampleBundle.asset("app/main.js")
        let file = try #require(try await server(try SampleBundle.table()).get("/app/main.js").file)
        #expect(file.entityTag == asset.fingerprint.sha256.hex)
        #expect(file.size == asset.fingerprint.size)
        #expect(file.root == SampleBundle.folder)
        #expect(file.contentType == "text/javascript")
    }

    @Test(arguments: [
        ("/app/main.js", "no-cache"), ("/app/main.js?v=2", "no-cache"), ("/app/main.js?", "no-cache"),
        ("/style.css?v=2", "no-cache"), ("/app/\(SampleBundle.hash).js", "max-age=31536000, public"),
        ("/app/plain.css", "no-cache"), ("/", "no-cache"), ("/?v=2", "no-cache"), ("/cart?v=2", "no-cache"),
    ])
    func `lets a cacheable file be kept for a year under a URL that names its content`(
        target: String,
        cacheControl: String
    ) async throws {
        #expect(try await server(try SampleBundle.table()).get(target).file?.cacheControl == cacheControl)
    }

    @Test func `names a source map by the URL under which it is served`() async throws {
        let headers = try #require(try await server(try SampleBundle.table()).get("/app/main.js").file).headers
        #expect(headers["SourceMap"] == ["/maps/main%20file.map"])
        #expect(headers["X-SourceMap"] == ["/maps/main%20file.map"])
        #expect(try await server(try SampleBundle.table()).get("/style.css").headers["SourceMap"].isEmpty)
    }

    // MARK: What is not served

    @Test(arguments: [("/style.css", "503"), ("/app/main.js", "app/main.js"), ("/", "index.html")])
    func `serves no damaged file, and everything beside it`(target: String, file: String) async throws {
        #expect(try await server(try SampleBundle.table(damaged: ["style.css"])).get(target).summary == file)
    }

    @Test func `says which file is damaged and when to ask again`() async throws {
        let answer = try await server(try SampleBundle.table(damaged: ["index.html"])).get("/cart")
        guard case .refused(.serviceUnavailable, let message, let headers) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(message == "index.html is damaged on this device; the next sync heals it.")
        #expect(headers["Retry-After"] == ["5"])
    }

    @Test(arguments: ["/", "/app/main.js", "/favicon.ico"])
    func `has nothing to serve before the first install`(target: String) async throws {
        guard case .refused(.serviceUnavailable, "Nothing is installed yet.", _) = try await server(nil).get(target)
        else {
            Issue.record("something is served")
            return
        }
    }

    @Test(arguments: [HTTPMethod.POST, .PUT, .DELETE, .PATCH, .OPTIONS])
    func `takes nothing but GET and HEAD for files`(method: HTTPMethod) async throws {
        guard
            case .refused(.methodNotAllowed, _, let headers) = try await server(try SampleBundle.table()).get(
                "/",
                method: method
            )
        else {
            Issue.record("\(method) was answered")
            return
        }
        #expect(headers["Allow"] == ["GET, HEAD"])
        #expect(try await server(try SampleBundle.table()).get("/", method: .HEAD).summary == "index.html")
    }

    @Test func `changes what it serves in one step`() async throws {
        let server = server(try SampleBundle.table())
        server.serve(ServedSelection(table: try SampleBundle.table(damaged: ["style.css"]), launch: nil))
        #expect(try await server.get("/style.css").summary == "503")
        server.serve(.nothing)
        #expect(try await server.get("/style.css").summary == "503")
    }

    // MARK: The page's word

    private func page(_ running: String?) throws -> AssetServer {
        let server = AssetServer.open()
        server.connect(SampleHost(running: running))
        server.serve(ServedSelection(table: try SampleBundle.table(), launch: running, version: "1"))
        return server
    }

    @Test func `gives every page the same script, which a browser asks for again each time`() async throws {
        let script = try #require(try await page("abc").get("/__patchline/launch.js").bytes)
        #expect(String(decoding: script.bytes, as: UTF8.self) == PageScript.text)
        #expect(script.contentType == "text/javascript" && script.cacheControl == "no-cache")
        #expect(script.entityTag == SHA256Digest(of: script.bytes).hex)
    }

    @Test(
        arguments: [
            ("/__patchline/confirm?launch=abc", 200, "{\"result\":\"confirmed\"}"),
            ("/__patchline/confirm?x=1&launch=abc", 400, "{\"error\":\"confirm takes no parameter 'x'\"}"),
            ("/__patchline/confirm?launch=before", 200, "{\"result\":\"alreadyConfirmed\"}"),
            ("/__patchline/confirm?launch=late", 409, "{\"error\":\"this page belongs to another launch\"}"),
            ("/__patchline/confirm?launch=", 409, "{\"error\":\"this page belongs to another launch\"}"),
            ("/__patchline/confirm?launch=broken", 500, "{\"error\":\"the device could not write its state\"}"),
            ("/__patchline/confirm?page=x", 400, "{\"error\":\"request: page must be 32 lowercase hex digits\"}"),
            ("/__patchline/check?now=1", 400, "{\"error\":\"check takes no parameter 'now'\"}"),
        ] as [(String, UInt, String)]
    )
    func `takes the readiness of the launch that it names, as pages of the engine before do, and of no other`(
        target: String,
        status: UInt,
        body: String
    ) async throws {
        let answer = try #require(try await page("abc").get(target, method: .POST).bytes)
        #expect(answer.status.code == status)
        #expect(String(decoding: answer.bytes, as: UTF8.self) == body)
        #expect(answer.cacheControl == "no-store")
    }

    /// M11: by the page itself; other origins cannot send the header.
    @Test(
        arguments: [
            (true, .switched, 200, "{\"result\":\"switched\"}"),
            (
                true, .refused("No pending version to switch to"), 409,
                "{\"error\":\"No pending version to switch to\"}"
            ),
            (false, .switched, 400, "{\"error\":\"switch needs the header X-Patchline-Switch\"}"),
        ] as [(Bool, Switching, UInt, String)]
    )
    func `switches to what waits when its own page asks for it`(
        hasHeader: Bool,
        outcome: Switching,
        status: UInt,
        body: String
    ) async throws {
        let server = AssetServer.open()
        server.connect(SampleHost(switching: outcome))
        let fields = hasHeader ? [("X-Patchline-Switch", "1")] : []
        let asked = try request("/__patchline/switch", fields, method: .POST)
        let answer = try #require(await server.answer(asked).bytes)
        #expect(answer.status.code == status)
        #expect(String(decoding: answer.bytes, as: UTF8.self).contains(body))
    }

    @Test(arguments: ["/__patchline", "/__patchline/", "/__patchline/other", "/__patchline/confirm/x"])
    func `has nothing else under its own paths`(target: String) async throws {
        #expect(try await page("abc").get(target).summary == "404")
        #expect(try await page("abc").get(target, method: .POST).summary == "404")
    }

    @Test(arguments: [
        ("confirm?launch=abc", HTTPMethod.GET, "POST"), ("switch", .GET, "POST"), ("check", .GET, "POST"),
        ("status", .POST, "GET, HEAD"), ("launch.js", .PUT, "GET, HEAD"), ("report", .DELETE, "GET, HEAD"),
        ("events", .HEAD, "GET"), ("events", .POST, "GET"),
    ])
    func `takes each call by its own method, so that a link changes nothing`(
        call: String,
        method: HTTPMethod,
        allow: String
    ) async throws {
        let answer = try await page("abc").get("/__patchline/\(call)", method: method)
        guard case .refused(.methodNotAllowed, _, let headers) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(headers["Allow"] == [allow])
    }
}
