import NIOHTTP1
import PageDiff
import PatchCompression
import PatchFormat
import PatchCrypto
import Testing

@testable import PageServing

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite("A page's answer on its way")
struct PageExchangeTests {
    private static func page(_ number: Int) -> [UInt8] {
        bytes("<title>Live</title><!--sonicdiff-n--><b>\(number)</b><!--sonicdiff-n-end-->")
            + (0..<100).flatMap { bytes("<p>Paragraph \($0 &* 2_654_435_761 % 100_003)</p>") }
    }

    private let first = SplitPage(page(1))
    private let second = SplitPage(page(2))
    private let html: HTTPHeaders = [
        "Content-Type": "text/html; charset=utf-8", "ETag": "\"own\"", "Set-Cookie": "a=1",
    ]
    private let browser: HTTPHeaders = ["Sec-Fetch-Dest": "document", "Accept-Encoding": "gzip, br, zstd"]

    private func exchange(_ fields: HTTPHeaders) throws -> PageExchange { try exchange(PageService(), fields) }

    private func exchange(_ service: PageService, _ fields: HTTPHeaders) throws -> PageExchange {
        try #require(service.exchange(.GET, path: ["live"], spelledPath: "/live", fields: fields))
    }

    private func asks(_ page: SplitPage?, _ more: HTTPHeaders = [:]) -> HTTPHeaders {
        let question = PageQuestion(pageTag: page?.pageTag, templateTag: page?.templateTag)
        return HTTPHeaders(question.fields.map { ($0.name, $0.value) } + more.map { ($0.name, $0.value) })
    }

    // MARK: Clients of the protocol

    @Test func `a first request gets the page with its tags, and nothing that speaks of other bytes`() throws {
        var given = html
        given.add(name: "Content-Length", value: "1")
        given.add(name: "Last-Modified", value: "Thu, 01 Jan 2026 00:00:00 GMT")
        let answer = try exchange(asks(nil)).answer(given, body: first.page)
        #expect(answer.status == 200)
        #expect(answer.body == first.page)
        #expect(
            answer.fields.map { "\($0.name): \($0.value)" }.sorted() == [
                "Cache-Control: private, no-cache", "Cache-Offline: true", "Content-Type: text/html; charset=utf-8",
                "ETag: \(first.pageTag.hex)", "Set-Cookie: a=1",
                "Vary: accept-diff, template-tag, Accept-Encoding, Available-Dictionary", "template-change: true",
                "template-tag: \(first.templateTag.hex)",
            ]
        )
    }

    @Test func `who has the page gets 304, who has its template the data as JSON, who has another the page`() throws {
        let same = try exchange(asks(first)).answer(html, body: first.page)
        #expect(same.status == 304 && same.body.isEmpty)
        #expect(same.fields.first(name: "Cache-Offline") == "store")
        #expect(!same.fields.contains(name: "Content-Type"))
        let data = try exchange(asks(first)).answer(html, body: second.page)
        #expect(data.status == 200)
        #expect(try DataUpdate(data.body).data.page(of: first.template) == second.page)
        #expect(data.fields.first(name: "Content-Type") == "application/json; charset=utf-8")
        #expect(data.fields.first(name: "template-change") == "false")
        let other = SplitPage(bytes("<p><!--sonicdiff-n-->1<!--sonicdiff-n-end-->"))
        let template = try exchange(asks(first)).answer(html, body: other.page)
        #expect(template.body == other.page)
        #expect(template.fields.first(name: "template-change") == "true")
    }

    @Test func `a page that is to be stored nowhere is not for clients to keep`() throws {
        var given = html
        given.add(name: "Cache-Control", value: "private, no-store")
        for page in [first, second] {
            let answer = try exchange(asks(first)).answer(given, body: page.page)
            #expect(answer.fields["Cache-Offline"] == ["false"])
        }
    }

    @Test(
        arguments: [
            ("public, max-age=60", "private, max-age=60"), ("s-maxage=60", "private, no-cache"),
            ("no-store", "private, no-store"), ("Private=\"a, b\", max-age=1", "private, no-cache"),
        ]
    )
    func `what one client gets is for no cache that others share`(given: String, sent: String) throws {
        var fields = html
        fields.add(name: "Cache-Control", value: given)
        for page in [nil, first, second] {
            let answer = try exchange(asks(page)).answer(fields, body: second.page)
            #expect(answer.fields["Cache-Control"] == [sent])
        }
    }

    @Test(
        arguments: [
            "CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "vercel-cdn-cache-control", "Surrogate-Control",
            "X-Accel-Expires", "Edge-Control", "X-LiteSpeed-Cache-Control",
        ]
    )
    func `what one client gets has no field that a CDN obeys before Cache-Control`(name: String) throws {
        var fields = html
        fields.add(name: "Cache-Control", value: "public, max-age=60")
        fields.add(name: name, value: "max-age=600")
        // The page, 304 and the data.
        for page in [nil, first, second] {
            let answer = try exchange(asks(page)).answer(fields, body: second.page)
            #expect(!answer.fields.contains(name: name), "status \(answer.status)")
        }
        let service = PageService()
        fields.remove(name: "Set-Cookie")
        try exchange(service, browser).remember(first.page, of: fields)
        let compressed = try exchange(service, has(first.page)).answer(fields, body: second.page)
        #expect(compressed.fields["Content-Encoding"] == ["dcz"] && !compressed.fields.contains(name: name))
        // Everybody's page is for every cache.
        let other = try exchange([:]).plan(status: 200, fields: fields)
        guard case .passes(let passed) = other else {
            Issue.record("not passed")
            return
        }
        #expect(passed[name] == ["max-age=600"])
    }

    @Test func `a page without a marker passes as it is, unless its route takes it`() throws {
        let plain = bytes("<p>plain</p>")
        let passed = try exchange(asks(nil)).answer(html, body: plain)
        #expect(passed.body == plain)
        #expect(passed.fields.first(name: "ETag") == "\"own\"")
        #expect(!passed.fields.contains(name: "template-tag"))
        var rule = PageRule()
        rule.takesUnmarked = true
        let service = PageService(PageRoutes([PageRoute(try #require(RoutePattern("/**")), rule: rule)]))
        let taken = try exchange(service, asks(nil)).answer(html, body: plain)
        #expect(taken.fields.first(name: "ETag") == SHA1Digest(of: plain).hex)
        #expect(try exchange(service, asks(SplitPage(plain))).answer(html, body: plain).status == 304)
    }

    @Test func `its server is asked for the page itself, in a coding that is read here`() throws {
        let fields = try exchange(
            asks(
                first,
                ["Accept-Encoding": "gzip, br, dcz", "If-Modified-Since": "x", "Range": "bytes=0-", "Cookie": "a=1"]
            )
        ).asked(
            asks(
                first,
                ["Accept-Encoding": "gzip, br, dcz", "If-Modified-Since": "x", "Range": "bytes=0-", "Cookie": "a=1"]
            )
        )
        #expect(
            fields.map { "\($0.name): \($0.value)" }.sorted() == [
                "Accept-Encoding: gzip", "Cookie: a=1", "sonic-sdk-version: Patchline/1",
            ]
        )
        #expect(try exchange(asks(nil)).asked(asks(nil)).first(name: "Accept-Encoding") == "identity")
    }

    @Test func `a page that its server compressed is read, and the answer compressed as the client takes it`() throws {
        var given = html
        given.add(name: "Content-Encoding", value: "gzip")
        let coded = try CompressionFormat.gzip.compressed(second.page)
        let plain = try exchange(asks(first)).answer(given, body: coded)
        #expect(!plain.fields.contains(name: "Content-Encoding"))
        #expect(try DataUpdate(plain.body).data.page(of: first.template) == second.page)
        let gzip = try exchange(asks(nil, ["Accept-Encoding": "gzip"])).answer(given, body: coded)
        #expect(gzip.fields["Content-Encoding"] == ["gzip"])
        #expect(try CompressionFormat.gzip.decompressed(gzip.body, limit: 1_000_000) == second.page)
        let broken = try exchange(asks(first)).answer(given, body: bytes("no gzip"))
        #expect(broken.body == bytes("no gzip"))
        #expect(broken.fields["Content-Encoding"] == ["gzip"])
    }

    // MARK: What passes

    @Test(
        arguments: [
            (200, ["Content-Type": "application/json"]), (404, ["Content-Type": "text/html"]),
            (206, ["Content-Type": "text/html"]), (304, ["Content-Type": "text/html"]), (200, [:]),
            (200, ["Content-Type": "text/html", "template-tag": "x"]),
        ] as [(Int, HTTPHeaders)]
    )
    func `what is no page, or one of a server that speaks the protocol, passes untouched`(
        status: Int,
        fields: HTTPHeaders
    ) throws {
        #expect(try exchange(asks(nil)).plan(status: status, fields: fields) == .passes(fields))
    }

    @Test(
        arguments: [
            ["Content-Encoding": "br"], ["Content-Encoding": "gzip, gzip"],
            ["Cache-Control": "max-age=1, No-Transform"],
            ["Content-Length": "5000001"],
        ] as [HTTPHeaders]
    )
    func `a page that cannot be read here passes, and says on what it depends`(more: HTTPHeaders) throws {
        let fields = HTTPHeaders([("Content-Type", "text/html")] + more.map { ($0.name, $0.value) })
        var passed = fields
        passed.add(name: "Vary", value: "accept-diff, template-tag, Accept-Encoding, Available-Dictionary")
        #expect(try exchange(asks(nil)).plan(status: 200, fields: fields) == .passes(passed))
    }

    @Test func `who does not speak the protocol gets the page while it comes`() throws {
        let exchange = try exchange(["Accept-Encoding": "gzip"])
        let fields: HTTPHeaders = ["Content-Type": "text/html", "Vary": "Cookie"]
        #expect(exchange.asked(["If-None-Match": "x"]) == ["If-None-Match": "x"])
        #expect(
            exchange.plan(status: 200, fields: fields)
                == .passes(["Content-Type": "text/html", "Vary": "Cookie", "Vary": "accept-diff, template-tag"])
        )
        #expect(
            exchange.plan(status: 200, fields: ["Content-Type": "text/html", "Vary": "*"])
                == .passes(["Content-Type": "text/html", "Vary": "*"])
        )
    }

    @Test func `a route that lets pages pass, another method and another path are nobody's`() throws {
        let passes = PageService(PageRoutes([PageRoute(try #require(RoutePattern("/live")), rule: nil)]))
        #expect(passes.exchange(.GET, path: ["live"], spelledPath: "/live", fields: asks(nil)) == nil)
        #expect(passes.exchange(.GET, path: ["x"], spelledPath: "/x", fields: asks(nil)) == nil)
        #expect(PageService().exchange(.POST, path: ["live"], spelledPath: "/live", fields: asks(nil)) == nil)
    }

    // MARK: Browsers

    private func has(_ page: [UInt8], _ more: HTTPHeaders = [:]) -> HTTPHeaders {
        HTTPHeaders(
            [
                ("Sec-Fetch-Dest", "document"), ("Accept-Encoding", "gzip, dcb, dcz"),
                ("Available-Dictionary", ":\(Base64.text(SHA256Digest(of: page).bytes)):"),
            ] + more.map { ($0.name, $0.value) }
        )
    }

    private let open: HTTPHeaders = ["Content-Type": "text/html", "ETag": "\"own\""]

    @Test func `a browser's first page passes, is offered as a dictionary and kept; the next is compressed against it`()
        throws
    {
        let service = PageService()
        let plan = try exchange(service, browser).plan(status: 200, fields: open)
        #expect(
            plan
                == .copies(
                    limit: 5_000_000,
                    [
                        "Content-Type": "text/html", "ETag": "\"own\"",
                        "Vary": "accept-diff, template-tag, Accept-Encoding, Available-Dictionary",
                        "Use-As-Dictionary": "match=\"/live\", match-dest=(\"document\")",
                    ]
                )
        )
        try exchange(service, browser).remember(first.page, of: open)
        let next = try exchange(service, has(first.page))
        #expect(
            next.plan(status: 200, fields: open)
                == .collects(
                    limit: 5_000_000,
                    else: [
                        "Content-Type": "text/html", "ETag": "\"own\"",
                        "Vary": "accept-diff, template-tag, Accept-Encoding, Available-Dictionary",
                    ]
                )
        )
        let answer = next.answer(open, body: second.page)
        #expect(answer.fields["Content-Encoding"] == ["dcz"])
        #expect(answer.fields["ETag"] == ["W/\"own\""])
        #expect(answer.fields["Cache-Control"] == ["private"])
        var shared = open
        shared.replaceOrAdd(name: "Cache-Control", value: "public, max-age=60, s-maxage=900")
        let fields = try exchange(service, has(first.page)).answer(shared, body: second.page).fields
        #expect(fields["Cache-Control"] == ["private, max-age=60"], "who looks at no Vary would give it to everybody")
        #expect(answer.body.count < 120)
        let digest = SHA256Digest(of: first.page)
        #expect(
            try DictionaryCompressed.content(of: answer.body, dictionary: first.page, named: digest, limit: 1_000_000)
                == second.page
        )
        // That one is kept now, too.
        #expect(try exchange(service, has(second.page)).client == .has(SHA256Digest(of: second.page), second.page))
    }

    @Test func `a page that went from memory, or never was there, is no dictionary`() throws {
        let exchange = try exchange(has(first.page))
        #expect(exchange.client == .mayKeep)
        #expect(exchange.asked(has(first.page)).first(name: "Available-Dictionary") == nil)
    }

    @Test(
        arguments: [
            ["Cookie": "session=1"], ["Authorization": "Basic eDp5"],
        ] as [HTTPHeaders]
    )
    func `a page for somebody is none, unless its route says so`(who: HTTPHeaders) throws {
        let closed = PageService()
        closed.memory.keep(first.page, as: SHA256Digest(of: first.page))
        #expect(try exchange(closed, has(first.page, who)).client == .other)
        let all = PageService(PageRoutes([PageRoute(try #require(RoutePattern("/**")), dictionaries: .all)]))
        all.memory.keep(first.page, as: SHA256Digest(of: first.page))
        #expect(
            try exchange(all, has(first.page, who)).answer(open, body: second.page).fields["Content-Encoding"] == [
                "dcz"
            ]
        )
        let none = PageService(PageRoutes([PageRoute(try #require(RoutePattern("/**")), dictionaries: .none)]))
        #expect(try exchange(none, has(first.page)).client == .other)
    }

    @Test func `nor one that sets a cookie or is not to be stored`() throws {
        let service = PageService()
        service.memory.keep(first.page, as: SHA256Digest(of: first.page))
        for more in [["Set-Cookie": "a=1"], ["Cache-Control": "no-store"]] as [HTTPHeaders] {
            let fields = HTTPHeaders([("Content-Type", "text/html")] + more.map { ($0.name, $0.value) })
            let answer = try exchange(service, has(first.page)).answer(fields, body: second.page)
            #expect(answer.body == second.page)
            #expect(!answer.fields.contains(name: "Use-As-Dictionary"))
            #expect(service.memory.bytes == first.page.count + PageMemory.overhead)
            guard case .passes = try exchange(service, browser).plan(status: 200, fields: fields) else {
                Issue.record("it is kept: \(more)")
                continue
            }
        }
    }

    @Test func `nor is one data for a client of the protocol, where its answer sets a cookie`() throws {
        let service = PageService()
        service.memory.keep(first.page, as: SHA256Digest(of: first.page))
        let asked = asks(
            first,
            [
                "Accept-Encoding": "gzip, dcz",
                "Available-Dictionary": ":\(Base64.text(SHA256Digest(of: first.page).bytes)):",
            ]
        )
        #expect(try exchange(service, asked).answer(open, body: second.page).fields["Content-Encoding"] == ["dcz"])
        let answer = try exchange(service, asked).answer(html, body: second.page)
        #expect(answer.fields["Content-Encoding"] != ["dcz"])
    }

    @Test func `a route may say how long a page is a dictionary`() throws {
        let service = PageService(
            PageRoutes([PageRoute(try #require(RoutePattern("/**")), dictionarySeconds: 86_400)])
        )
        guard case .copies(_, let fields) = try exchange(service, browser).plan(status: 200, fields: open) else {
            Issue.record("it is not kept")
            return
        }
        #expect(fields["Cache-Control"] == ["private, max-age=0, stale-while-revalidate=86400"])
    }

    @Test func `a client of the protocol with the page gets data that is compressed against it`() throws {
        let service = PageService()
        let fields = asks(
            first,
            [
                "Accept-Encoding": "gzip, dcz",
                "Available-Dictionary": ":\(Base64.text(SHA256Digest(of: first.page).bytes)):",
            ]
        )
        _ = try exchange(service, asks(nil, ["Accept-Encoding": "dcz"])).answer(open, body: first.page)
        let answer = try exchange(service, fields).answer(open, body: second.page)
        #expect(answer.fields["Content-Encoding"] == ["dcz"])
        let update = try DictionaryCompressed.content(
            of: answer.body,
            dictionary: first.page,
            named: SHA256Digest(of: first.page),
            limit: 1_000_000
        )
        #expect(try DataUpdate(update).data.page(of: first.template) == second.page)
    }

    @Test(arguments: [
        ("/a", #""/a""#), ("/a*(b)", #""/a\\*\\(b\\)""#), ("/a:b", #""/a\\:b""#), ("/%22", #""/%22""#),
        ("/\"", #""/\"""#),
    ])
    func `the pattern of a dictionary is the path itself`(path: String, pattern: String) {
        #expect(DictionaryOffer.value(for: path) == "match=\(pattern)")
        let pages = DictionaryOffer.value(for: path, destination: "document")
        #expect(pages == "match=\(pattern), match-dest=(\"document\")")
    }

    @Test(arguments: ["", "gzip", "dcz;q=0", "dcz; q=0.0", "xdcz"])
    func `who does not take dcz has no dictionary`(coding: String) {
        let fields: HTTPHeaders = ["Accept-Encoding": coding, "Available-Dictionary": ":AAAA:"]
        #expect(!PageCodings(fields).takesDictionaries)
    }

    @Test(arguments: ["", ":", "::", ":AAAA:", "AAAA", ":!:", ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4:"])
    func `a dictionary that is named wrongly is none`(text: String) {
        #expect(PageCodings(["Accept-Encoding": "dcz", "Available-Dictionary": text]).dictionary == nil)
        let good = ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:"
        #expect(PageCodings(["Accept-Encoding": "dcz;q=0.5", "Available-Dictionary": good]).dictionary != nil)
    }
}

@Suite("Pages in memory")
struct PageMemoryTests {
    private static let size = 1_000 + PageMemory.overhead

    private static func page(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 1_000) }

    private static func name(_ number: UInt8) -> SHA256Digest { SHA256Digest(of: [number]) }

    @Test func `what was not used for long goes when there is no room`() {
        let memory = PageMemory(limit: 8 * Self.size)
        for number: UInt8 in 0..<40 {
            memory.keep(Self.page(number), as: Self.name(number))
            #expect(memory.page(Self.name(0)) == Self.page(0))
            #expect(memory.bytes <= 8 * Self.size)
        }
        let here = (0..<40).filter { memory.page(Self.name($0)) != nil }
        #expect(here.contains(0) && here.contains(39) && !here.contains(20))
    }

    @Test func `one that is kept twice takes room once, and one of more than half of the room none`() {
        let memory = PageMemory(limit: 4 * Self.size)
        for _ in 0..<3 { memory.keep(Self.page(1), as: Self.name(1)) }
        #expect(memory.bytes == Self.size)
        memory.keep([UInt8](repeating: 2, count: 2 * Self.size), as: Self.name(2))
        #expect(memory.page(Self.name(2)) == nil && memory.bytes == Self.size)
    }
}

@Suite("A file of page routes")
struct PageRoutesTests {
    @Test func `says for paths how their pages are sent; the first that names a path counts`() throws {
        let routes = try PageRoutes(
            bytes(
                #"""
                {"format":"patchline-pages-v1","routes":[
                  {"path":"/account/**","passes":true},
                  {"path":"/news/*","cacheOffline":"store","links":["/a.css","https://x/b.js"],"etagName":"sonic-etag",
                   "unmarked":true,"dictionaries":"all","dictionarySeconds":60},
                  {"path":"/x","cacheOffline":false},{"path":"/x/y/*"},{"path":"/x/**"},{"path":"/*"},
                  {"path":"/**","dictionaries":"none"}]}
                """#
            ),
            named: "pages.json"
        )
        #expect(routes.route(for: ["account", "x"]) == nil)
        let news = try #require(routes.route(for: ["news", "1"]))
        #expect(news.rule?.cacheOffline == .keepForLater)
        #expect(news.rule?.links == ["/a.css", "https://x/b.js"])
        #expect(news.rule?.etagName == "sonic-etag")
        #expect(news.rule?.takesUnmarked == true)
        #expect(news.dictionaries == .all)
        #expect(news.dictionarySeconds == 60)
        #expect(routes.route(for: ["x"])?.rule?.cacheOffline == .keepNothing)
        #expect(routes.route(for: [])?.dictionaries == PageRoute.Dictionaries.none)
    }

    @Test(arguments: [
        (#"{"format":"x","routes":[]}"#, "pages.json: format must be patchline-pages-v1"),
        (#"{"format":"patchline-pages-v1"}"#, "pages.json: routes must be an array"),
        (
            #"{"format":"patchline-pages-v1","routes":[],"route":1}"#,
            "pages.json: route is not a known member"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"x"}]}"#,
            "pages.json: routes[0].path must start with '/' and hold segments, '*' for one, '**' at the end for any rest"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/a/*"},{"path":"/**"},{"path":"/a/b/**"}]}"#,
            "pages.json: routes[2].path is never used: the earlier /** matches all its paths"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/a/*"},{"path":"/a/b"}]}"#,
            "pages.json: routes[1].path is never used: the earlier /a/* matches all its paths"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/a/**"},{"path":"/a/*/"},{"path":"/b"}]}"#,
            "pages.json: routes[1].path is never used: the earlier /a/** matches all its paths"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/","cacheOffline":"yes"}]}"#,
            "pages.json: routes[0].cacheOffline must be true, store, false or http"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/","links":["a;b"]}]}"#,
            "pages.json: routes[0].links must hold URLs without blanks, semicolons and control characters"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/","etagName":"a b"}]}"#,
            "pages.json: routes[0].etagName must be a header field's name"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/","dictionaries":"some"}]}"#,
            "pages.json: routes[0].dictionaries must be none, open or all"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/","dictionarySeconds":0}]}"#,
            "pages.json: routes[0].dictionarySeconds must be an integer from 1 to 31536000"
        ),
        (
            #"{"format":"patchline-pages-v1","routes":[{"path":"/","passes":true,"unmarked":true}]}"#,
            "pages.json: routes[0].passes excludes all other settings: the pages pass unchanged"
        ),
    ])
    func `that breaks a rule is refused with it`(text: String, message: String) {
        #expect { try PageRoutes(bytes(text), named: "pages.json") } throws: { "\($0)" == message }
    }
}
