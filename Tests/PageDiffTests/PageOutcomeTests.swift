import PageDiff
import PatchFormat
import PatchCrypto
import Testing

@Suite("What came of a request for a page")
struct PageOutcomeTests {
    private let kept = SplitPage(Pages.cart)
    private let newer = SplitPage(Pages.page(title: "Cart", cart: "4", hello: "Ann"))

    /// What a server of the protocol answers, and what came of it.
    private func outcome(
        serving page: SplitPage,
        kept: SplitPage?,
        changed fields: [String: String?] = [:],
        body: [UInt8]? = nil
    ) -> PageOutcome {
        let answer = PageAnswer(to: PageQuestion(pageTag: kept?.pageTag, templateTag: kept?.templateTag), with: page)
        var sent = Dictionary(uniqueKeysWithValues: answer.fields(of: page, by: PageRule()).map { ($0.name, $0.value) })
        for (name, value) in fields { sent[name] = value }
        let (status, bytes): (Int, [UInt8]) =
            switch answer {
            case .notModified: (304, [])
            case .data(let update): (200, update.bytes)
            case .page: (200, page.page)
            }
        let reply = PageReply(status: status) { sent[$0] }
        return PageOutcome(of: reply, body: body ?? bytes, kept: kept, takesUntagged: false)
    }

    /// What came of data that a server sent to who has a page.
    private func outcome(serving page: SplitPage, data: [UInt8], kept: SplitPage) -> PageOutcome {
        let fields = [
            "ETag": page.pageTag.hex, "template-tag": kept.templateTag.hex, "template-change": "false",
            "Cache-Offline": "true",
        ]
        return PageOutcome(
            of: PageReply(status: 200) { fields[$0] },
            body: data,
            kept: kept,
            takesUntagged: false
        )
    }

    @Test func `the first page is kept: 1000`() throws {
        let outcome = outcome(serving: newer, kept: nil)
        guard case .firstLoad(let page) = outcome else { throw Unexpected(outcome) }
        #expect(page.page == newer.page)
        #expect(outcome.code == 1_000)
    }

    @Test func `the same page again: 304`() throws {
        let outcome = outcome(serving: kept, kept: kept)
        guard case .notModified = outcome else { throw Unexpected(outcome) }
        #expect(outcome.code == 304)
    }

    @Test func `data makes the new page of the kept template, and only the blocks that changed are told: 200`() throws {
        let outcome = outcome(serving: newer, kept: kept)
        guard case .dataUpdate(let page, let changes) = outcome else { throw Unexpected(outcome) }
        #expect(page.page == newer.page)
        #expect(changes.members.map(\.name) == ["cart"])
        #expect(outcome.code == 200)
    }

    @Test func `another template: 2000`() throws {
        let other = SplitPage("<hr><!--sonicdiff-cart--><b>3</b><!--sonicdiff-cart-end-->")
        let outcome = outcome(serving: other, kept: kept)
        guard case .templateChange(let page) = outcome else { throw Unexpected(outcome) }
        #expect(page.page == other.page)
        #expect(outcome.code == 2_000)
    }

    @Test(
        arguments: [
            ("Cache-Offline", nil), ("Cache-Offline", "yes"), ("ETag", nil), ("ETag", "\"x\""), ("template-tag", nil),
            ("template-tag", "1"), ("template-change", nil), ("template-change", "maybe"),
        ] as [(String, String?)]
    )
    func `a page that lacks a field of the protocol, or has it in other words, is a page like any other`(
        field: String,
        value: String?
    ) throws {
        let outcome = outcome(serving: newer, kept: nil, changed: [field: value])
        guard case .plain = outcome else { throw Unexpected(outcome) }
        #expect(outcome.code == nil)
    }

    @Test func `a tag that something on the way made weak is the tag; so is one under a name that the server gives`()
        throws
    {
        let weak = outcome(serving: newer, kept: nil, changed: ["ETag": "W/\"\(newer.pageTag.hex)\""])
        guard case .firstLoad = weak else { throw Unexpected(weak) }
        let own = outcome(
            serving: newer,
            kept: nil,
            changed: ["ETag": "\"x\"", "sonic-etag-key": "sonic-etag", "sonic-etag": newer.pageTag.hex]
        )
        guard case .firstLoad = own else { throw Unexpected(own) }
        let sha1 = outcome(serving: newer, kept: nil, changed: ["ETag": nil, "html-sha1": newer.pageTag.hex])
        guard case .firstLoad = sha1 else { throw Unexpected(sha1) }
    }

    @Test func `503 says that the page is to be asked for as a browser does`() throws {
        let outcome = PageOutcome(of: PageReply(status: 503) { _ in nil }, body: [], kept: kept, takesUntagged: true)
        guard case .overloaded = outcome else { throw Unexpected(outcome) }
    }

    @Test(arguments: [404, 500, 301, 206])
    func `an error is a page like any other`(status: Int) throws {
        let outcome = PageOutcome(
            of: PageReply(status: status) { _ in nil },
            body: [1],
            kept: kept,
            takesUntagged: true
        )
        guard case .plain = outcome else { throw Unexpected(outcome) }
    }

    private func fault(_ outcome: PageOutcome) throws -> PageOutcome.Inconsistency {
        guard case .inconsistent(let fault) = outcome else { throw Unexpected(outcome) }
        return fault
    }

    /// A template may hold a name as often as there is room, and its server may say anything.
    @Test func `a page of more than five megabytes is not made of its template`() throws {
        let kept = SplitPage("<!--sonicdiff-a-->1<!--sonicdiff-a-end-->" + String(repeating: "{a}", count: 100_000))
        for (count, fault) in [(49, PageOutcome.Inconsistency.pageTag), (50, .length)] {
            let block = String(repeating: "x", count: count)
            let body = Pages.bytes("{\"data\":{\"{a}\":\"\(block)\"}}")
            #expect(try self.fault(outcome(serving: newer, data: body, kept: kept)) == fault)
        }
    }

    @Test func `what does not fit together is inconsistent, and says how`() throws {
        let lie = SHA1Digest(of: [1]).hex
        #expect(try fault(outcome(serving: newer, kept: nil, changed: ["ETag": lie])) == .pageTag)
        #expect(try fault(outcome(serving: newer, kept: kept, changed: ["ETag": lie])) == .pageTag)
        #expect(try fault(outcome(serving: newer, kept: kept, changed: ["template-tag": lie])) == .templateTag)
        #expect(
            try fault(outcome(serving: newer, kept: kept, body: Pages.bytes("{\"data\":")))
                == .data(FormatError("data update", rule: "is not JSON (byte 8)"))
        )
        #expect(
            try fault(outcome(serving: newer, kept: kept, body: Pages.bytes("{\"data\":{\"{cart}\":\"\"}}")))
                == .pageTag
        )
        #expect(
            try fault(
                outcome(serving: newer, kept: kept, body: Pages.bytes("{\"data\":{},\"template-tag\":\"\(lie)\"}"))
            ) == .templateTag
        )
        let data = PageReply(status: 200) {
            [
                "ETag": lie, "template-tag": lie, "template-change": "false", "Cache-Offline": "true",
            ][$0]
        }
        #expect(try fault(PageOutcome(of: data, body: [], kept: nil, takesUntagged: false)) == .dataWithoutTemplate)
        let notModified = PageReply(status: 304) { _ in nil }
        #expect(
            try fault(PageOutcome(of: notModified, body: [], kept: nil, takesUntagged: false))
                == .notModifiedWithoutPage
        )
    }

    @Test func `pages of a server that knows nothing of it are split here, with the same four outcomes`() {
        func code(_ page: SplitPage, _ kept: SplitPage?) -> Int? {
            PageOutcome(of: PageReply(status: 200) { _ in nil }, body: page.page, kept: kept, takesUntagged: true).code
        }
        #expect(code(newer, nil) == 1_000)
        #expect(code(kept, kept) == 304)
        #expect(code(newer, kept) == 200)
        #expect(code(SplitPage("<p>"), kept) == 2_000)
    }

    private struct Unexpected: Error {
        let outcome: PageOutcome
        init(_ outcome: PageOutcome) { self.outcome = outcome }
    }
}

@Suite("Which page a kept page is")
struct PageSessionTests {
    private func id(_ path: String, _ query: String?, account: String? = nil) -> String {
        PageSession(origin: "https://shop.example", path: path, query: query, account: account).id.hex
    }

    @Test func `it is the MD5 of account, scheme, host and path`() {
        // printf %s https://shop.example/cart | md5sum
        #expect(id("/cart", nil) == "7c4e3aa98ecc34490bf27aabe9f01b9b")
        // printf %s ann_https://shop.example/cart | md5sum
        #expect(id("/cart", nil, account: "ann") == "23d5deefc6beb27087bff9904f453385")
    }

    @Test func `parameters are another page where their name begins with sonic_ or is to remain; their order is none`()
    {
        #expect(id("/cart", "utm=1&x=2") == id("/cart", nil))
        #expect(id("/cart", "sonic_tab=1") != id("/cart", nil))
        #expect(id("/cart", "sonic_tab=1") != id("/cart", "sonic_tab=2"))
        #expect(id("/cart", "sonic_a=1&sonic_b=2&c=3") == id("/cart", "sonic_b=2&sonic_a=1"))
        #expect(id("/cart", "sonic_remain_params=x;y&x=1") != id("/cart", "sonic_remain_params=x;y&x=2"))
        #expect(id("/cart", "sonic_remain_params=x&z=1") == id("/cart", nil))
    }
}
