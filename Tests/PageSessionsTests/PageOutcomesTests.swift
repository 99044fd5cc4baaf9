import APIProxy
import HTTPCore
import HTTPFiles
import HTTPTesting
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchTesting
import PatchCrypto
import Testing

@Suite("A live page", .timeLimit(.minutes(10)))
struct PageOutcomesTests {
    /// V1.
    @Test func `is asked for without tags at first, and then with those of the page that is kept`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            let first = try #require(device.server.last?.headers)
            #expect(first["accept-diff"] == ["true"] && first["sonic-sdk-version"] == ["Patchline/1"])
            #expect(
                first["If-None-Match"] == [] && first["template-tag"] == []
                    && first["Accept-Encoding"] == ["zstd, gzip"]
            )
            try await device.visit()
            let page = SplitPage(Array(Pages.cart(1).utf8))
            let second = try #require(device.server.last?.headers)
            #expect(second["accept-diff"] == ["true"] && second["If-None-Match"] == [page.pageTag.hex])
            #expect(second["template-tag"] == [page.templateTag.hex])
        }
    }

    /// V2.
    @Test func `comes from its server at first, and is kept whole, with its tags`() async throws {
        try await PageFixture.running { device in
            let (got, pageResult) = try await device.visit()
            #expect(got.status == 200 && got.text == Pages.cart(1))
            #expect(got.headers["Content-Type"] == ["text/html; charset=utf-8"])
            #expect(got.headers["Cache-Control"] == ["no-store"] && got.headers["ETag"] == [])
            let page = SplitPage(Array(Pages.cart(1).utf8))
            let time = ManualClock.start.seconds * 1_000
            #expect(
                String(decoding: pageResult.fileBytes, as: UTF8.self) == """
                    {"code":1000,"extra":{"cache-offline":"true","eTag":"\(page.pageTag)","isReload":false,\
                    "template-tag":"\(page.templateTag)"},"local_refresh_time":\(time),"result":{},"srcCode":1000}
                    """
            )
            #expect(device.kept() == [Pages.cart(1)])
            let id = PageSession(origin: "http://127.0.0.1:\(device.upstream)", path: "/live", query: nil, account: nil)
            #expect(device.names() == ["\(id.id).\(page.pageTag).html", "\(id.id).json"])
        }
    }

    /// V3.
    @Test func `is shown as it is kept when nothing changed, and nothing is written again`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            let changes = device.files.changes
            device.clock.advance(by: .seconds(60))
            let (got, pageResult) = try await device.visit()
            #expect(got.status == 200 && got.text == Pages.cart(1))
            #expect(
                pageResult["code"]?.number == 304 && pageResult["srcCode"]?.number == 304
                    && pageResult["result"]?.names == []
            )
            #expect(pageResult["local_refresh_time"]?.number == ManualClock.start.seconds * 1_000)
            #expect(device.files.changes == changes)
            #expect(device.server.requests.filter { $0.path.text == "/live" }.count == 2)
        }
    }

    /// V4.
    @Test func `is shown as it was kept, and told the blocks that changed, and them alone`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.show(Pages.cart(2))
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == 200 && pageResult["srcCode"]?.number == 200)
            let block = "<!--sonicdiff-cart--><b>2</b><!--sonicdiff-cart-end-->"
            #expect(pageResult["result"] == .fields([("{cart}", .text(block))]))
            #expect(pageResult["extra"]?["isReload"]?.flag == false)
            #expect(pageResult["extra"]?["blocks"] == .array([.text("cart")]))
            let next = try await device.visit()
            #expect(next.got.text == Pages.cart(2) && next.pageResult["code"]?.number == 304)
            #expect(device.kept() == [Pages.cart(2)])
        }
    }

    @Test func `is told the names of all its blocks with those that changed, and numbers where they have none`()
        async throws
    {
        func page(_ number: Int) -> String {
            "<p><!--sonicdiff-->a<!--sonicdiff-end--></p><!--sonicdiff-cart-->b<!--sonicdiff-cart-end-->"
                + "<p><!--sonicdiff-->\(number)<!--sonicdiff-end--></p>"
        }
        try await PageFixture.running(PageServer(["/live": page(1)])) { device in
            let (_, first) = try await device.visit()
            #expect(first["extra"]?["blocks"] == nil)
            device.server.show(page(2))
            let (_, pageResult) = try await device.visit()
            #expect(pageResult["result"] == .fields([("{auto1}", .text("<!--sonicdiff-->2<!--sonicdiff-end-->"))]))
            #expect(pageResult["extra"]?["blocks"] == .array([.text("auto0"), .text("cart"), .text("auto1")]))
        }
    }

    /// V5.
    @Test func `is loaded again when its template changed, which takes the place of what was kept`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            let new = Pages.cart(1, template: "new shop")
            device.server.show(new)
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == 2_000 && pageResult["result"]?.names == [])
            #expect(pageResult["extra"]?["isReload"]?.flag == true)
            let next = try await device.visit()
            #expect(next.got.text == new && next.pageResult["code"]?.number == 304)
            #expect(device.kept() == [new])
        }
    }

    /// V6.
    @Test(arguments: [
        (CacheOffline.keepAndRefresh, 200, 200, ["{cart}"], [Pages.cart(2)]),
        (.keepForLater, 304, 200, [], [Pages.cart(2)]),
        (.keepNothing, 200, 200, ["{cart}"], []),
        (.switchOff, 200, 200, ["{cart}"], []),
    ])
    func `is kept and told as its server wants it when blocks changed`(
        offline: CacheOffline,
        code: Int,
        answered: Int,
        blocks: [String],
        kept: [String]
    ) async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.show(Pages.cart(2))
            device.server.set(offline)
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == code && pageResult["srcCode"]?.number == answered)
            #expect(
                pageResult["result"]?.names == blocks && pageResult["extra"]?["cache-offline"]?.text == offline.rawValue
            )
            #expect(device.kept() == kept)
        }
    }

    /// V6.
    @Test(arguments: [
        (CacheOffline.keepAndRefresh, 2_000, true), (.keepForLater, 304, false), (.keepNothing, 2_000, true),
        (.switchOff, 2_000, true),
    ])
    func `is loaded again for a new template only where its server wants it shown`(
        offline: CacheOffline,
        code: Int,
        isReload: Bool
    ) async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.show(Pages.cart(1, template: "new shop"))
            device.server.set(offline)
            let (_, pageResult) = try await device.visit()
            #expect(pageResult["code"]?.number == code && pageResult["srcCode"]?.number == 2_000)
            #expect(pageResult["extra"]?["isReload"]?.flag == isReload)
        }
    }

    /// V6.
    @Test func `is asked for as a browser does it for six hours once its server says http, also after a restart`()
        async throws
    {
        let (server, files, clock) = (PageServer(), FaultyFiles(), ManualClock())
        server.set(.switchOff)
        try await serving(server) { upstream in
            try await PageFixture.running(server, at: upstream, files: files, clock: clock) { device in
                let (got, pageResult) = try await device.visit()
                #expect(got.text == Pages.cart(1) && pageResult["code"]?.number == 1_000)
            }
            clock.advance(by: .seconds(21_599))
            try await PageFixture.running(server, at: upstream, files: files, clock: clock) { device in
                let plain = try await device.get()
                #expect(plain.text == Pages.cart(1) && plain.visit == nil)
                #expect(server.last?.headers["accept-diff"] == [])
                #expect(device.kept() == [] && device.names().count == 1)
                clock.advance(by: .seconds(1))
                server.set(.keepAndRefresh)
                let (_, pageResult) = try await device.visit()
                #expect(pageResult["code"]?.number == 1_000)
                #expect(server.last?.headers["accept-diff"] == ["true"])
            }
        }
    }

    /// V7.
    @Test(arguments: [
        HTTPHeaders(),
        ["Cache-Offline": "true", "template-change": "true", "template-tag": SHA1Digest(of: []).hex],
        ["ETag": SHA1Digest(of: []).hex, "template-change": "true", "template-tag": SHA1Digest(of: []).hex],
        ["Cache-Offline": "true", "ETag": "\"1\"", "template-change": "true", "template-tag": "x"],
    ])
    func `passes as it is when its server says less than the protocol asks for`(fields: HTTPHeaders) async throws {
        try await PageFixture.running { device in
            var all: HTTPHeaders = ["Content-Type": "text/html", "X-Own": "1"]
            all.add(contentsOf: fields)
            let sent = all
            device.server.answer { _ in .page("<p>plain</p>", sent) }
            let got = try await device.get()
            #expect(got.status == 200 && got.text == "<p>plain</p>" && got.visit == nil)
            for (name, value) in all { #expect(got.headers[name] == [value]) }
            let unknown = try await device.pageResult()
            #expect(unknown.status == 404)
            #expect(device.names() == [])
        }
    }

    /// V7.
    @Test(arguments: ["W/\"TAG\"", "\"TAG\"", "TAG"])
    func `has the tag of its server, weak or strong, and under another name`(spelling: String) async throws {
        let tag = SplitPage(Array(Pages.cart(1).utf8)).pageTag.hex
        try await PageFixture.running { device in
            device.server.answer(naming: "X-Tag", spelling.replacing("TAG", with: tag))
            let told2 = try await device.visit().pageResult
            #expect(told2["code"]?.number == 1_000)
            let told3 = try await device.visit().pageResult
            #expect(told3["code"]?.number == 304)
        }
    }

    /// V8.
    @Test func `is loaded again without the protocol when its server has too much to do, and stays kept`() async throws
    {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in .page("busy", [:], .serviceUnavailable) }
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == 503 && pageResult["extra"]?["isReload"]?.flag == true)
            device.server.answer { _ in .page("<p>static</p>", ["Content-Type": "text/html"]) }
            let plain = try await device.get()
            #expect(plain.text == "<p>static</p>" && plain.visit == nil)
            #expect(device.server.last?.headers["accept-diff"] == [])
            device.server.answer(nil)
            let told4 = try await device.visit().pageResult
            #expect(told4["code"]?.number == 304)
            #expect(device.kept() == [Pages.cart(1)])
        }
    }

    /// V8.
    @Test func `is asked for as a browser does it when its server has too much to do at first`() async throws {
        try await PageFixture.running { device in
            device.server.answer { request in
                request.headers.contains(name: "accept-diff")
                    ? .page("busy", [:], .serviceUnavailable) : .page("<p>static</p>", ["Content-Type": "text/html"])
            }
            let got = try await device.get()
            #expect(got.status == 200 && got.text == "<p>static</p>" && got.visit == nil)
            #expect(device.server.requests.count == 2 && device.names() == [])
        }
    }
}
