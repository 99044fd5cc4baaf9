import APIProxy
import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@testable import PageSessions

@Suite("What is there before a page needs it", .timeLimit(.minutes(10)))
struct PageReadinessTests {
    private static func untagged(_ pages: LivePages = LivePages()) -> LivePages {
        var pages = pages
        pages.takesUntagged = true
        return pages
    }

    /// V11.
    @Test func `the last three pages are in memory, and all are on disk`() async throws {
        try await PageFixture.running { device in
            for number in 1...4 {
                device.server.show(Pages.cart(number), at: "/\(number)")
                try await device.visit("/\(number)")
            }
            #expect(device.kept().count == 4)
            for name in device.names() { try device.files.remove(PageFixture.folder.appending(name)) }
            for (number, code) in [(2, 304), (3, 304), (4, 304), (1, 1_000)] {
                let pageResult = try await device.visit("/\(number)").pageResult
                #expect(pageResult["code"]?.number == code, "\(number)")
            }
        }
    }

    /// V11.
    @Test func `pages on disk are brought down to a quarter of their room`() async throws {
        try await PageFixture.running(configure: { $0.pagesOnDisk = 6 * 2 * DiskCache.block }) { device in
            for number in 1...8 {
                device.clock.advance(by: .seconds(1))
                device.server.show(Pages.cart(number) + String(repeating: "x", count: 500), at: "/\(number)")
                try await device.visit("/\(number)")
            }
            // The seventh was one too many.
            let numbers = device.kept().compactMap { $0.split(separator: "<b>").last?.prefix(1) }.sorted()
            #expect(numbers == ["7", "8"])
        }
    }

    @Test func `what a crash left is gone at the start, and a page is there after a restart`() async throws {
        let (server, files) = (PageServer(), FaultyFiles())
        try files.makeDirectory(PageFixture.folder)
        let id = Fingerprint(of: []).md5
        for name in [".\(id).json.new", "\(id).\(SHA1Digest(of: [])).html"] {
            try files.write([1], to: PageFixture.folder.appending(name))
        }
        try await PageFixture.running(server, files: files) { device in
            await device.live.written()
            #expect(device.names() == [])
            try await device.visit()
        }
        // Durable, and whole, as soon as the server has ended.
        let left = files.crashed(.lose)
        let names = try left.list(PageFixture.folder).filter { $0 != "links" }
        #expect(names.count == 2 && names[0].hasSuffix(".html") && names[1].hasSuffix(".json"))
    }

    @Test func `a page is shown, told and in memory where the disk is full, and what was kept before stays`()
        async throws
    {
        try await PageFixture.running { device in
            try await device.visit()
            device.files.limitFreeSpace(to: 10)
            device.server.show(Pages.cart(2))
            let (_, pageResult) = try await device.visit()
            #expect(pageResult["code"]?.number == 200 && device.kept() == [Pages.cart(1)] && device.names().count == 2)
            let reports = device.reports.withLockedValue(\.self)
            #expect(reports.count == 1 && reports[0].hasPrefix("a page could not be kept: "))
            let next = try await device.visit()
            #expect(next.got.text == Pages.cart(2) && next.pageResult["code"]?.number == 304)
        }
    }

    /// V13.
    @Test func `a page of a server that knows nothing of the protocol has the same four outcomes`() async throws {
        try await PageFixture.running(pages: Self.untagged()) { device in
            func show(_ text: String) {
                device.server.answer { request in
                    let tag = "\"\(text.utf8.count)-\(text.hashValue)\""
                    let isSame = request.headers["If-None-Match"] == [tag]
                    let fields: HTTPHeaders = ["Content-Type": "text/html", "ETag": tag]
                    return .page(isSame ? "" : text, fields, isSame ? .notModified : .ok)
                }
            }
            let next = [
                (Pages.cart(1), 1_000, []), (Pages.cart(1), 304, []), (Pages.cart(2), 200, ["{cart}"]),
                (Pages.cart(2, template: "new"), 2_000, []), ("<p>no block</p>", 2_000, []),
                ("<p>no block</p>", 304, []),
            ]
            for (text, code, blocks) in next {
                show(text)
                let (_, pageResult) = try await device.visit()
                #expect(pageResult["code"]?.number == code && pageResult["result"]?.names == blocks, "\(text)")
            }
            #expect(device.kept() == ["<p>no block</p>"])
        }
    }

    /// V13.
    @Test(
        arguments: [
            ["Content-Type": "application/json"], ["Content-Type": "text/html", "Cache-Control": "private, no-store"],
            [:],
        ] as [HTTPHeaders]
    )
    func `no other answer of such a server is kept`(fields: HTTPHeaders) async throws {
        try await PageFixture.running(pages: Self.untagged()) { device in
            device.server.answer { _ in .page(Pages.cart(1), fields) }
            let got = try await device.get()
            #expect(got.text == Pages.cart(1) && got.visit == nil && device.names() == [])
        }
    }

    /// V14.
    @Test func `what a page links to is kept for as long as its server says, of its own server alone`() async throws {
        try await PageFixture.running { device in
            device.server.change { [upstream = device.upstream] rule in
                rule.links = [
                    "/app.js", "http://127.0.0.1:\(upstream)/style.css", "http://other.example/x.js",
                    "//other.example/y.js",
                    "relative.js", "/../up.js", "ftp://127.0.0.1/z.js",
                ]
            }
            let fetched = NIOLockedValueBox<[String]>([])
            let (links, isThere) = AsyncStream.makeStream(of: String.self)
            device.server.answer { [server = device.server] request in
                let path = request.path.text
                guard path != "/live" else { return server.inProtocol(request) }
                fetched.withLockedValue { $0.append(path) }
                isThere.yield(path)
                return .page("of \(path)", ["Content-Type": "text/javascript", "Cache-Control": "max-age=60"])
            }
            try await device.visit()
            var names: Set<String> = []
            for await name in links {
                names.insert(name)
                if names.count == 3 { break }
            }
            #expect(names == ["/app.js", "/style.css", "/up.js"])
            let folder = PageFixture.folder.appending("links")
            await eventually {
                ((try? device.files.list(folder)) ?? []).filter { $0.hasSuffix(".json") }.count == 3
            }
            let got = try await device.get("/app.js", ["Sec-Fetch-Dest": "script"])
            #expect(got.headers["Cache-Control"] == ["max-age=60"])
            #expect(got.text == "of /app.js" && got.headers["Content-Type"] == ["text/javascript"])
            #expect(fetched.withLockedValue(\.count) == 3)
            device.clock.advance(by: .seconds(60))
            _ = try await device.get("/app.js", ["Sec-Fetch-Dest": "script"])
            #expect(fetched.withLockedValue(\.count) == 4)
        }
    }

    @Test func `what a page links to is its account's, and goes with it`() async throws {
        var pages = LivePages()
        pages.account = "sid"
        try await PageFixture.running(pages: pages) { device in
            device.server.change { $0.links = ["/app.js"] }
            device.server.answer { [server = device.server] request in
                switch request.path.text {
                case "/live": server.inProtocol(request)
                case "/logout": .page("", ["Set-Cookie": "sid=; Max-Age=0"])
                default:
                    .page(
                        "of \(request.headers.first(name: "Cookie") ?? "nobody")",
                        ["Cache-Control": "max-age=60"]
                    )
                }
            }
            let folder = PageFixture.folder.appending("links")
            for (number, account) in ["sid=ann", "sid=bob"].enumerated() {
                try await device.visit(cookie: account)
                await eventually {
                    ((try? device.files.list(folder)) ?? []).filter { $0.hasSuffix(".json") }.count == number + 1
                }
            }
            func asked(_ cookie: String, _ more: HTTPHeaders = [:]) async throws -> Bool {
                let before = device.server.requests.count
                var fields: HTTPHeaders = ["Sec-Fetch-Dest": "script"]
                fields.add(contentsOf: more)
                let got = try await device.get("/app.js", cookie: cookie, fields)
                #expect(got.text == "of \(cookie)")
                return device.server.requests.count > before
            }
            #expect(try await !asked("sid=ann"))
            #expect(try await asked("sid=ann", ["Cache-Control": "no-cache"]))
            #expect(try await asked("sid=ann", ["Authorization": "Basic eDp5"]))
            _ = try await device.get("/logout", cookie: "sid=ann", ["Sec-Fetch-Dest": "empty"])
            await device.live.written()
            #expect(try await asked("sid=ann"))
            #expect(try await !asked("sid=bob"))
        }
    }

    /// V14.
    @Test func `at most three linked resources are fetched at a time`() async throws {
        let (free, go) = AsyncStream.makeStream(of: Never.self)
        let most = NIOLockedValueBox((now: 0, most: 0, all: 0))
        let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
        try await PageFixture.running { device in
            device.server.change { $0.links = (1...9).map { "/\($0).js" } }
            device.server.answer { [server = device.server] request in
                guard request.path.text != "/live" else { return server.inProtocol(request) }
                most.withLockedValue {
                    $0.now += 1
                    $0.all += 1
                    $0.most = max($0.most, $0.now)
                }
                isAsked.yield()
                for await _ in free {}
                most.withLockedValue { $0.now -= 1 }
                return .page("x", ["Content-Type": "text/javascript"])
            }
            try await device.visit()
            var requests = asked.makeAsyncIterator()
            for _ in 1...3 { _ = await requests.next(isolation: #isolation) }
            go.finish()
            for _ in 4...9 { _ = await requests.next(isolation: #isolation) }
            #expect(most.withLockedValue(\.most) <= 3 && most.withLockedValue(\.all) == 9)
        }
    }

    private static func preloading(_ targets: String...) -> LivePages {
        var pages = LivePages()
        pages.preload = targets
        pages.account = "sid"
        return pages
    }

    /// V14.
    @Test func `pages that a rule names are asked for once an account opens one, with its cookies, and open at once`()
        async throws
    {
        try await PageFixture.running(pages: Self.preloading("/home", "/live")) { device in
            device.server.show(Pages.cart(7), at: "/home")
            try await device.visit(cookie: "sid=ann")
            await eventually { device.server.requests.count == 2 }
            let home = try #require(device.server.requests.first { $0.path.text == "/home" })
            #expect(home.headers["Cookie"] == ["sid=ann"])
            let opened = try await device.visit("/home", cookie: "sid=ann")
            // It is shown at once, and asked for as any page that is kept.
            #expect(opened.got.text == Pages.cart(7) && opened.pageResult["code"]?.number == 304)
            #expect(device.server.requests.count == 3)
            #expect(device.server.last?.headers["If-None-Match"] == [SplitPage(Array(Pages.cart(7).utf8)).pageTag.hex])
            // No account has another's.
            let other = try await device.visit("/home", cookie: "sid=bob")
            #expect(other.pageResult["code"]?.number == 1_000)
        }
    }

    /// V14.
    @Test func `a page that nobody opens within three minutes leaves the memory`() async throws {
        try await PageFixture.running(pages: Self.preloading("/home")) { device in
            device.server.show(Pages.cart(7), at: "/home")
            try await device.visit(cookie: "sid=ann")
            await device.sleeps.began(PageLimits.outcomeTime, times: 2)
            await device.sleeps.began(PageLimits.preloadTime)
            #expect(device.live.preloaded == 1)
            device.sleeps.end(PageLimits.preloadTime)
            await eventually { device.live.preloaded == 0 }
            let home = try await device.visit("/home", cookie: "sid=ann")
            #expect(home.got.text == Pages.cart(7) && home.pageResult["code"]?.number == 304)
            #expect(device.server.requests.count == 3)
        }
    }
}
