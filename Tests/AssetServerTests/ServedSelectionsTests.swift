import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchCrypto
import SystemPackage
import Testing

import PageTesting
@testable import AssetServer

/// Releases of one bundle: files by path, each with the text of its content.
enum Releases {
    static func selection(_ version: String, _ contents: [String: String], damaged: [String] = []) throws
        -> ServedSelection
    {
        let table = AssetTable(
            try index(version, contents),
            files: SampleFiles(folder: FilePath("/\(version)"), damaged: damaged)
        )
        return ServedSelection(table: table, launch: "launch\(version)", version: version)
    }

    static func index(_ version: String, _ contents: [String: String], _ headers: [HeaderRule] = []) throws
        -> BundleIndex
    {
        let assets = try contents.map { path, content in
            Asset(
                path: try AssetPath(path),
                url: "/\(path)",
                type: AssetType(path: try AssetPath(path)),
                cacheable: true,
                sourceMap: nil,
                fingerprint: Fingerprint(of: Array(content.utf8))
            )
        }
        let manifest = AssetManifest(
            app: name("app"),
            patchID: name("web"),
            version: name(version),
            commit: nil,
            created: UTCTime(seconds: 0),
            compatibility: [:],
            index: try AssetPath("index.html"),
            routes: nil,
            headers: headers,
            assets: assets.sorted { $0.path < $1.path }
        )
        return try #require(BundleIndex(manifest, manifest: SHA256Digest(of: manifest.json.fileBytes)))
    }

    /// `lib.js` is the same in both; `old.js` and `new.js` are of one alone.
    static func one() throws -> ServedSelection {
        try selection(
            "1",
            ["index.html": "1", "main.js": "1", "style.css": "1", "lib.js": "lib", "old.js": "1", "sw.js": "1"]
        )
    }

    static func two() throws -> ServedSelection {
        try selection(
            "2",
            ["index.html": "2", "main.js": "2", "style.css": "2", "lib.js": "lib", "new.js": "2", "sw.js": "2"]
        )
    }
}

/// The selections of a server and a clock, told what browsers ask.
private struct Browsing {
    var served = ServedSelections()
    var now = Duration.zero

    init(_ selection: ServedSelection) {
        served.serve(selection, at: now)
    }

    mutating func serve(_ selection: ServedSelection) { served.serve(selection, at: now) }

    /// The version that answers; a response that is not kept open ends at once.
    mutating func ask(
        _ target: String,
        from page: String? = nil,
        _ dest: String = "empty",
        mode: String? = nil,
        keepingOpen: Bool = false
    ) throws -> String? {
        let modes = mode.map { [("Sec-Fetch-Mode", $0)] } ?? []
        let fields =
            [("Sec-Fetch-Dest", dest)] + modes + (page.map { [("Referer", "http://127.0.0.1:12552\($0)")] } ?? [])
        let choice = served.choose(PageRequest(try request(target, fields)), at: now)
        let isOwed = choice.note.map { served.note($0, at: now) } ?? false
        #expect(isOwed == choice.isPrevious)
        if isOwed, !keepingOpen { served.responseEnded(of: choice.selection.table?.bundle, at: now) }
        return choice.selection.version.map { choice.isForeign ? "\($0), foreign" : $0 }
    }

    mutating func open(_ target: String) throws -> String? { try ask(target, "document") }
}

@Suite("One release per page")
struct ServedSelectionsTests {
    @Test func `gives a page that is open the release that it came from, after a switch in the middle of its load`()
        throws
    {
        var tab = Browsing(try Releases.one())
        #expect(try tab.open("/") == "1")
        #expect(try tab.ask("/style.css", from: "/", "style") == "1")
        tab.serve(try Releases.two())
        #expect(try tab.ask("/main.js", from: "/", "script") == "1")
        #expect(try tab.ask("/data.json", from: "/main.js") == "1")
        #expect(try tab.ask("/bg.png", from: "/style.css", "image") == "1")
    }

    /// As Chromium sends it: no destination any more, and the mode of the navigation.
    @Test func `knows what a service worker passes on: pages by their mode, scripts by their names`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        #expect(try tab.ask("/", from: "/", "empty", mode: "navigate") == "2")
        #expect(try tab.ask("/main.js", from: "/", "empty", mode: "cors") == "2")
        #expect(try tab.ask("/data.json", from: "/main.js", "empty", mode: "cors") == "2")
    }

    @Test func `gives every new page the current release, and a page that is loaded again too`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        #expect(try tab.open("/") == "2")
        #expect(try tab.ask("/main.js", from: "/", "script") == "2")
        #expect(try tab.ask("/data.json", from: "/main.js") == "2")
    }

    @Test func `keeps two tabs apart`() throws {
        var tabs = Browsing(try Releases.one())
        _ = try tabs.open("/cart")
        tabs.serve(try Releases.two())
        _ = try tabs.open("/shop?x=1")
        for _ in 1...2 {
            #expect(try tabs.ask("/main.js", from: "/cart", "image") == "1")
            #expect(try tabs.ask("/main.js", from: "/shop?x=1", "image") == "2")
        }
    }

    /// A Referer that no page was asked for under: the page set it by itself.
    @Test func `knows a client-side route for one of the old page as long as no new page is open`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        #expect(try tab.ask("/main.js", from: "/item/3") == "1")
        _ = try tab.open("/")
        #expect(try tab.ask("/main.js", from: "/item/4") == "2")
    }

    @Test func `gives a style sheet that was loaded before the switch what belongs to it, while new pages are open`()
        throws
    {
        var tabs = Browsing(try Releases.one())
        _ = try tabs.open("/cart")
        tabs.serve(try Releases.two())
        _ = try tabs.open("/shop")
        #expect(try tabs.ask("/bg.png", from: "/style.css", "image") == "1")
        _ = try tabs.ask("/style.css", from: "/shop", "style")
        #expect(try tabs.ask("/bg.png", from: "/style.css", "image") == "2")
        // Its bytes are those of both, so that nobody knows who loaded it.
        #expect(try tabs.ask("/bg.png", from: "/lib.js", "image") == "2")
    }

    @Test func `finds what stands in the previous release alone there, but for a page of the current one`() throws {
        var tab = Browsing(try Releases.one())
        tab.serve(try Releases.two())
        _ = try tab.open("/")
        #expect(try tab.ask("/old.js") == "1")
        #expect(try tab.ask("/new.js") == "2")
        #expect(try tab.ask("/main.js") == "2")
        #expect(try tab.ask("/old.js", from: "/") == "2")
        #expect(try tab.open("/old.js") == "2")
    }

    @Test func `gives a frame the release of the page around it, and remembers it for what the frame asks`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        #expect(try tab.ask("/frame.html", from: "/", "iframe") == "1")
        _ = try tab.open("/shop")
        #expect(try tab.ask("/main.js", from: "/frame.html", "script") == "1")
    }

    @Test func `gives a service worker the current release, and the page behind it its own`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        _ = try tab.ask("/sw.js", from: "/", "serviceworker")
        tab.serve(try Releases.two())
        #expect(try tab.ask("/main.js", from: "/sw.js") == "1", "the old worker fills its cache")
        #expect(try tab.ask("/sw.js", from: "/", "serviceworker") == "2, foreign", "the worker is looked for anew")
        #expect(try tab.ask("/main.js", from: "/sw.js") == "2", "the new worker fills its cache")
        #expect(try tab.ask("/main.js", from: "/", "script") == "1", "a worker passes a page's request on")
    }

    // MARK: How long

    @Test func `keeps the previous release for a minute after its last response has ended`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        tab.now = .seconds(59)
        #expect(try tab.ask("/main.js", from: "/", keepingOpen: true) == "1")
        tab.now = .seconds(600)
        #expect(try tab.ask("/main.js", from: "/", keepingOpen: true) == "1")
        tab.served.responseEnded(of: try Releases.one().table?.bundle, at: tab.now)
        tab.now = .seconds(1_000)
        #expect(try tab.ask("/style.css", from: "/", keepingOpen: true) == "1", "one response is still on its way")
        for _ in 1...2 { tab.served.responseEnded(of: try Releases.one().table?.bundle, at: tab.now) }
        tab.now += .milliseconds(59_999)
        #expect(tab.served.hasPrevious)
        #expect(try tab.ask("/new.js") == "2")
        tab.now += .milliseconds(1)
        #expect(try tab.ask("/main.js", from: "/") == "2, foreign")
        #expect(!tab.served.hasPrevious)
    }

    /// What an old page gets of another release must not stand for its own in a cache.
    @Test func `marks what a page gets of another release`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        tab.serve(try Releases.selection("3", ["index.html": "3", "main.js": "3"]))
        #expect(try tab.ask("/main.js", from: "/") == "3, foreign")
        #expect(try tab.ask("/main.js") == "3")
        #expect(try tab.open("/") == "3")
        #expect(try tab.ask("/main.js", from: "/") == "3")
    }

    @Test func `does not take a confirmation or a healed file for a switch`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.one())
        #expect(!tab.served.hasPrevious)
        tab.serve(try Releases.two())
        tab.serve(try Releases.two())
        #expect(try tab.ask("/main.js", from: "/") == "1")
    }

    @Test func `gives the pages of a version that was rolled back their own for a minute, and the others theirs`()
        throws
    {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/cart")
        tab.serve(try Releases.two())
        _ = try tab.open("/")
        tab.serve(try Releases.one())
        #expect(try tab.ask("/main.js", from: "/") == "2")
        #expect(try tab.ask("/main.js", from: "/cart") == "1")
        #expect(try tab.open("/") == "1")
    }

    @Test func `serves nothing of a selection that may run no more`() throws {
        var tab = Browsing(try Releases.one())
        _ = try tab.open("/")
        tab.serve(try Releases.two())
        tab.serve(.nothing)
        #expect(try tab.ask("/main.js", from: "/") == nil)
        tab.serve(try Releases.two())
        #expect(try tab.ask("/old.js", from: "/") == "2, foreign")
    }

    // MARK: Who asks

    @Test(
        arguments: [
            ("http://127.0.0.1:12552/cart?x=1#top", "/cart?x=1"), ("http://127.0.0.1:12552/", "/"),
            ("http://127.0.0.1:12552/caf%C3%A9/", "/caf\u{e9}"), ("http://127.0.0.1:12552/?cdvToken=a&b", "/?b"),
            ("http://127.0.0.1:12553/cart", nil), ("https://127.0.0.1:12552/cart", nil), ("http://evil.example/", nil),
            ("/cart", nil), ("http://127.0.0.1:12552/%2", nil), ("http://127.0.0.1:12552.evil/", nil),
            ("http://127.0.0.1:12552/item/a%2Fb", "/item/a%2Fb"),
        ] as [(String, String?)]
    )
    func `reads the page that asks off the Referer of its own origin alone`(referer: String, page: String?) throws {
        let referrer = PageRequest(try request("/a", [("Referer", referer)])).referrer
        #expect(referrer.map { $0.path + ($0.query.map { "?\($0)" } ?? "") } == page)
    }

    @Test func `remembers a bounded number of pages, the last ones`() throws {
        let bundle = try #require(try Releases.one().table?.bundle)
        var pages = RecentPages()
        for number in 0..<5_000 { pages[.init(path: "/\(number)", query: nil)] = bundle }
        #expect(pages[.init(path: "/4999", query: nil)] == bundle)
        #expect(pages[.init(path: "/4700", query: nil)] == bundle)
        #expect(pages[.init(path: "/4000", query: nil)] == nil)
        pages[.init(path: String(repeating: "a", count: 3_000), query: nil)] = bundle
        #expect(pages[.init(path: String(repeating: "a", count: 3_000), query: nil)] == nil)
    }

    // MARK: Through the server

    @Test func `ends the previous release's last minute with the response that holds it`() async throws {
        let clock = TestClock()
        let server = AssetServer(.init(access: Access(token: nil, under: .shared)), now: { clock.now })
        server.listening(on: AssetServer.port)
        server.serve(try Releases.one())
        _ = try await server.get("/", ("Sec-Fetch-Dest", "document"))
        server.serve(try Releases.two())
        let page = ("Referer", "http://127.0.0.1:12552/")
        var open: FileAnswer? = try await server.get("/main.js", page)
        #expect(open?.summary == "/1/main.js")
        clock.advance(by: .seconds(3_600))
        #expect(try await server.get("/style.css", page).summary == "/1/style.css")
        #expect(open?.file?.lease != nil)
        open = nil
        clock.advance(by: .seconds(61))
        #expect(try await server.get("/style.css", page).summary == "/2/style.css")
    }

    @Test func `gives an old page and a new one the same script, for the stamp says which they are (X8)`() async throws
    {
        let server = AssetServer.open()
        server.serve(try Releases.one())
        _ = try await server.get("/", ("Sec-Fetch-Dest", "document"))
        server.serve(try Releases.two())
        let page = ("Referer", "http://127.0.0.1:12552/")
        let old = try #require(try await server.get("/__patchline/launch.js", page).bytes)
        let new = try #require(try await server.get("/__patchline/launch.js").bytes)
        #expect(old.bytes == new.bytes && old.entityTag == new.entityTag && !old.bytes.isEmpty)
    }

    @Test func `lets no cache keep what a page got of another release`() async throws {
        let server = AssetServer.open()
        let script = "main-3f9a1c07.js"
        server.serve(try Releases.selection("1", ["index.html": "1", script: "same"]))
        _ = try await server.get("/", ("Sec-Fetch-Dest", "document"))
        let page = ("Referer", "http://127.0.0.1:12552/")
        #expect(try await server.get("/\(script)", page).file?.cacheControl == "max-age=31536000, public")
        server.serve(try Releases.selection("2", ["index.html": "2", script: "same"]))
        #expect(try await server.get("/\(script)", page).file?.cacheControl == "max-age=31536000, public")
        server.serve(try Releases.selection("3", ["index.html": "3", script: "other"]))
        #expect(try await server.get("/\(script)", page).file?.cacheControl == "no-cache")
    }
}
