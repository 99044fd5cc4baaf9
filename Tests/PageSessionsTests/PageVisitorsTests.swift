import APIProxy
import AssetServer
import AsyncHTTPClient
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchTesting
import Testing

@testable import PageSessions

@Suite("The visitors of a live page", .timeLimit(.minutes(10)))
struct PageVisitorsTests {
    private static var ofAccounts: LivePages {
        var pages = LivePages()
        pages.account = "sid"
        return pages
    }

    /// Answers each account with its own page.
    private static func answerByAccount(_ device: PageFixture) {
        device.server.answer { request in
            let account = request.headers.first(name: "Cookie") ?? "nobody"
            let text = Pages.cart(1).replacing("<b>1", with: "<b>\(account)")
            let page = SplitPage(Array(text.utf8))
            return .page(
                text,
                [
                    "Content-Type": "text/html", "ETag": page.pageTag.hex, "template-tag": page.templateTag.hex,
                    "template-change": "true", "Cache-Offline": "true",
                ]
            )
        }
    }

    /// V12.
    @Test func `see the pages of their own account alone`() async throws {
        try await PageFixture.running(pages: Self.ofAccounts) { device in
            Self.answerByAccount(device)
            for account in ["sid=ann", "sid=bob"] {
                let (got, pageResult) = try await device.visit(cookie: account)
                #expect(got.text.contains("<b>\(account)") && pageResult["code"]?.number == 1_000)
            }
            for account in ["sid=ann", "sid=bob"] {
                let (got, pageResult) = try await device.visit(cookie: "other=1; \(account)")
                #expect(got.text.contains("<b>\(account)") && pageResult["code"]?.number == 2_000)
            }
        }
    }

    /// V12.
    @Test func `learn nothing of a visit that another account made`() async throws {
        try await PageFixture.running(pages: Self.ofAccounts) { device in
            Self.answerByAccount(device)
            let (got, _) = try await device.visit(cookie: "sid=ann")
            for cookie in [nil, "sid=bob"] {
                let pageResult = try await device.pageResult(visit: got.visit, cookie: cookie)
                #expect(pageResult.status == 404)
                let error = "no visit of this page is known, or it was over 30 seconds ago"
                #expect(pageResult.text == "{\"error\":\"\(error)\"}")
            }
        }
    }

    /// V12.
    @Test func `lose what is kept when the answer makes them another account, and load the page again`() async throws {
        try await PageFixture.running(pages: Self.ofAccounts) { device in
            try await device.visit(cookie: "sid=ann")
            device.server.show(Pages.cart(2))
            device.server.add(["Set-Cookie": "sid=bob"])
            let got = try await device.get(cookie: "sid=ann")
            #expect(got.text == Pages.cart(1))
            let pageResult = try await device.pageResult(visit: got.visit, cookie: "sid=ann")
            #expect(pageResult.headers["Set-Cookie"] == ["sid=bob"])
            #expect(pageResult.text.hasPrefix("{\"code\":2000,") && pageResult.text.contains("\"isReload\":true"))
            device.server.add([:])
            let next = try await device.get(cookie: "sid=bob")
            #expect(next.text == Pages.cart(2))
            #expect(device.kept() == [Pages.cart(2)])
        }
    }

    @Test(arguments: ["/live", "/logout"])
    func `leave nothing when an answer ends their account, whatever it answers`(target: String) async throws {
        try await PageFixture.running(pages: Self.ofAccounts) { device in
            Self.answerByAccount(device)
            for account in ["sid=ann", "sid=bob"] {
                try await device.visit(cookie: account)
                try await device.visit("/home", cookie: account)
            }
            #expect(device.kept().count == 4)
            device.server.answer { _ in
                .page("", ["Set-Cookie": "sid=; Max-Age=0"], .unauthorized)
            }
            let got = try await device.get(target, cookie: "sid=ann")
            if target == "/live" { _ = try await device.pageResult(visit: got.visit, cookie: "sid=ann") }
            await eventually { device.kept().count == 2 }
            #expect(device.kept().allSatisfy { $0.contains("<b>sid=bob") })
            // Neither in memory.
            let back = try await device.get("/home", cookie: "sid=ann")
            #expect(back.status == 401)
        }
    }

    @Test func `keep no page that is to be stored nowhere, whatever the protocol says of it`() async throws {
        try await PageFixture.running { device in
            device.server.add(["Cache-Control": "private, no-store"])
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1) && pageResult["code"]?.number == 1_000)
            #expect(device.names() == [])
        }
    }

    /// V12.
    @Test(arguments: [
        ("/live?a=1", "/live?a=2", true), ("/live?sonic_a=1", "/live?sonic_a=2", false),
        ("/live?id=1", "/live?id=2", false),
        ("/live?sonic_remain_params=x&x=1", "/live?sonic_remain_params=x&x=2", false),
        ("/live", "/live/", false),
    ])
    func `share a page whose other parameters differ`(first: String, second: String, isOne: Bool) async throws {
        var pages = LivePages()
        pages.parameters = ["id"]
        try await PageFixture.running(pages: pages) { device in
            device.server.show(Pages.cart(1), at: "/live/")
            try await device.visit(first)
            let (_, pageResult) = try await device.visit(second)
            #expect(pageResult["code"]?.number == (isOne ? 304 : 1_000))
        }
    }

    @Test func `of one page in two tabs share one request, and both learn what came of it`() async throws {
        let (asked, isAsked) = AsyncStream.makeStream(of: Never.self)
        let (answered, answer) = AsyncStream.makeStream(of: Never.self)
        try await PageFixture.running { device in
            try await device.visit()
            device.server.show(Pages.cart(2))
            device.server.answer { [server = device.server] request in
                isAsked.finish()
                for await _ in answered {}
                return server.inProtocol(request)
            }
            let first = try await device.get()
            for await _ in asked {}
            let second = try await device.get()
            #expect(first.text == Pages.cart(1) && second.text == Pages.cart(1))
            #expect(first.visit == second.visit)
            answer.finish()
            for got in [first, second] {
                let pageResult = try await device.pageResult(visit: got.visit)
                #expect(
                    pageResult.text.hasPrefix("{\"code\":200,") && pageResult.text.contains("\"result\":{\"{cart}\":")
                )
            }
            #expect(device.server.requests.count == 2)
            let visit = try #require(first.visit)
            #expect(device.events.recent == [.page(target: "/live", visit: visit, code: 200)])
        }
    }

    @Test func `learn what came of their own visit, also when there was another one since`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.show(Pages.cart(2))
            let (first, _) = try await device.visit()
            let (second, _) = try await device.visit()
            #expect(second.text == Pages.cart(2))
            let pageResult = try await device.pageResult(visit: first.visit)
            #expect(pageResult.text.contains("<b>2</b>"))
            let last = try await device.pageResult()
            #expect(last.text.hasPrefix("{\"code\":304,"))
        }
    }

    @Test func `learn nothing any more thirty seconds after`() async throws {
        try await PageFixture.running { device in
            let (got, _) = try await device.visit()
            await device.sleeps.began(PageLimits.outcomeTime)
            device.sleeps.end(PageLimits.outcomeTime)
            // Until the wait has ended; the test's own time limit ends this one.
            while try await device.pageResult(visit: got.visit).status != 404 { await Task.yield() }
        }
    }

    @Test(arguments: ["", "path=live", "path=", "path=%FF", "path=/a%2Fb%00", "visit=1"])
    func `are told what a call for a visit needs`(query: String) async throws {
        try await PageFixture.running { device in
            let got = try await device.get("/__patchline/page?\(query)", ["Sec-Fetch-Dest": "empty"])
            #expect(got.status == 400)
            #expect(got.text == "{\"error\":\"page needs ?path=/PATH, percent-encoded\"}")
        }
    }

    @Test func `who come while the first one's page does get no session that its answer began`() async throws {
        let (held, go) = AsyncStream.makeStream(of: Never.self)
        let html = Pages.cart(1)
        try await PageFixture.running { device in
            device.server.answer { [server = device.server] request in
                guard case .stream(let stream) = server.inProtocol(request) else { return .notFound }
                let number = server.requests.count
                var fields = stream.headers
                fields.add(name: "Set-Cookie", value: "session=\(number)")
                return .stream(
                    ServedStream(headers: fields, length: html.utf8.count) { write in
                        try await write(ByteBuffer(string: String(html.prefix(20))))
                        if number == 1 { for await _ in held {} }
                        try await write(ByteBuffer(string: String(html.dropFirst(20))))
                    }
                )
            }
            let first = try await device.open()
            #expect(first.headers["Set-Cookie"] == ["session=1"])
            let second = try await device.get()
            #expect(second.headers["Set-Cookie"] == ["session=2"] && second.text == html)
            go.finish()
            _ = try await first.body.collect(upTo: 1 << 20)
        }
    }

    @Test func `get no cookies of another visit where no account is known`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.add(["Set-Cookie": "session=ann"])
            let ann = try await device.get()
            await eventually { device.isOver(device.session) }
            device.server.add([:])
            let (bob, _) = try await device.visit()
            #expect(bob.headers["Set-Cookie"] == [])
            let last = try await device.pageResult()
            #expect(last.headers["Set-Cookie"] == [])
            let pageResult = try await device.pageResult(visit: ann.visit)
            #expect(pageResult.headers["Set-Cookie"] == ["session=ann"])
        }
    }

    /// The page of an account is shown, and the answer that comes after it sets a cookie.
    private static func setLate(_ cookie: String, for account: String, _ device: PageFixture) async throws {
        try await device.visit(cookie: "sid=\(account)")
        device.server.add(["Set-Cookie": cookie])
        _ = try await device.get(cookie: "sid=\(account)")
        let session = device.session(of: account)
        await eventually { device.isOver(session) }
        device.server.add([:])
    }

    @Test(arguments: [599, 600])
    func `get late cookies with their account's next page, within ten minutes`(seconds: Int) async throws {
        try await PageFixture.running(pages: Self.ofAccounts) { device in
            try await Self.setLate("seen=1", for: "ann", device)
            device.clock.advance(by: .seconds(seconds))
            let bob = try await device.get(cookie: "sid=bob")
            #expect(bob.headers["Set-Cookie"] == [])
            let next = try await device.get(cookie: "sid=ann")
            #expect(next.headers["Set-Cookie"] == (seconds < 600 ? ["seen=1"] : []))
        }
    }

    @Test func `get no cookie of before they signed out`() async throws {
        try await PageFixture.running(pages: Self.ofAccounts) { device in
            try await Self.setLate("seen=1", for: "ann", device)
            device.server.answer { _ in .page("", ["Set-Cookie": "sid=; Max-Age=0"]) }
            _ = try await device.get("/logout", cookie: "sid=ann", ["Sec-Fetch-Dest": "empty"])
            device.server.answer(nil)
            let next = try await device.get(cookie: "sid=ann")
            let pageResult = try await device.pageResult(visit: next.visit, cookie: "sid=ann")
            #expect(pageResult.text.hasPrefix("{\"code\":1000,"))
            #expect(next.headers["Set-Cookie"] == [] && pageResult.headers["Set-Cookie"] == [])
        }
    }

    @Test func `get cookies that came after the page with the next answer, once`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.add(["Set-Cookie": "seen=1; Secure"])
            let got = try await device.get()
            let pageResult = try await device.pageResult(visit: got.visit)
            #expect(got.headers["Set-Cookie"] == [] && pageResult.headers["Set-Cookie"] == ["seen=1"])
            device.server.add([:])
            let again = try await device.pageResult(visit: got.visit)
            #expect(again.headers["Set-Cookie"] == [])
            let next = try await device.get()
            #expect(next.headers["Set-Cookie"] == [])
        }
    }

    /// V15.
    @Test func `see a page's first bytes before its last ones come, and go on with it after one of them left`()
        async throws
    {
        let (left, go) = AsyncStream.makeStream(of: Never.self)
        let html = Pages.cart(1)
        try await PageFixture.running { device in
            device.server.answer { [server = device.server] request in
                guard case .stream(let stream) = server.inProtocol(request) else { return .notFound }
                return .stream(
                    ServedStream(headers: stream.headers, length: html.utf8.count) { write in
                        try await write(ByteBuffer(string: String(html.prefix(20))))
                        for await _ in left {}
                        try await write(ByteBuffer(string: String(html.dropFirst(20))))
                    }
                )
            }
            do {
                let response = try await device.open()
                var body = response.body.makeAsyncIterator()
                let first = try #require(try await body.next())
                #expect(String(buffer: first) == String(html.prefix(20)))
            }
            // The first one has gone in the middle.
            let second = try await device.open()
            var body = second.body.makeAsyncIterator()
            let start = try #require(try await body.next())
            #expect(String(buffer: start) == String(html.prefix(20)))
            go.finish()
            var rest = ""
            while let piece = try await body.next() { rest += String(buffer: piece) }
            #expect(rest == String(html.dropFirst(20)))
            #expect(device.server.requests.count == 1)
            device.server.answer(nil)
            let (_, pageResult) = try await device.visit()
            #expect(pageResult["code"]?.number == 304 && device.kept() == [html])
        }
    }

    @Test(
        arguments: [
            (.GET, ["Sec-Fetch-Dest": "empty"]), (.GET, ["Sec-Fetch-Dest": "iframe"]),
            (.GET, ["Sec-Fetch-Dest": "document", "Range": "bytes=0-1"]),
            (.GET, ["Sec-Fetch-Dest": "document", "accept-diff": "true"]),
            (.GET, ["Sec-Fetch-Dest": "document", "Authorization": "Basic eDp5"]),
            (.HEAD, ["Sec-Fetch-Dest": "document"]),
            (.POST, ["Sec-Fetch-Dest": "document"]), (.GET, ["Accept": "application/json"]),
        ] as [(HTTPMethod, HTTPHeaders)]
    )
    func `who ask for something else get it from its server, as before`(method: HTTPMethod, fields: HTTPHeaders)
        async throws
    {
        try await PageFixture.running { device in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(device.port)/live")
            request.method = method
            request.headers = fields
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
            _ = try await response.body.collect(upTo: 1 << 20)
            #expect(response.headers["Server-Timing"] == [])
            let sent = try #require(device.server.last)
            #expect(sent.method == method)
            for (name, value) in fields { #expect(sent.headers[name] == [value]) }
            #expect(device.names() == [])
        }
    }
}
