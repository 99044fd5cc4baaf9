import PageDiff
import PatchFormat
import PatchCrypto
import Testing

@Suite("What a page's server answers")
struct PageAnswerTests {
    private let page = SplitPage(Pages.cart)
    private let other = SHA1Digest(of: [1])

    private func answer(_ pageTag: SHA1Digest?, _ templateTag: SHA1Digest?) -> PageAnswer {
        PageAnswer(to: PageQuestion(pageTag: pageTag, templateTag: templateTag), with: page)
    }

    @Test func `a first request gets the page`() {
        #expect(answer(nil, nil) == .page)
    }

    @Test func `who has the page gets 304, whatever template it says that it has`() {
        #expect(answer(page.pageTag, page.templateTag) == .notModified)
        #expect(answer(page.pageTag, nil) == .notModified)
        #expect(answer(page.pageTag, other) == .notModified)
    }

    @Test func `who has the template gets the data`() throws {
        let update = DataUpdate(data: try #require(page.data), pageTag: page.pageTag, templateTag: page.templateTag)
        #expect(answer(other, page.templateTag) == .data(update))
        #expect(answer(nil, page.templateTag) == .data(update))
    }

    @Test func `who has another template gets the page`() {
        #expect(answer(other, other) == .page)
    }

    @Test func `a page without a marker, or with names that stand for two things, is never sent as data`() {
        for text in ["<p>1</p>", "{a}<!--sonicdiff-a-->1<!--sonicdiff-a-end-->"] {
            let page = SplitPage(text)
            let question = PageQuestion(pageTag: other, templateTag: page.templateTag)
            #expect(PageAnswer(to: question, with: page) == .page)
        }
    }

    private func fields(_ answer: PageAnswer, _ rule: PageRule = PageRule()) -> [String: String] {
        Dictionary(uniqueKeysWithValues: answer.fields(of: page, by: rule).map { ($0.name, $0.value) })
    }

    @Test func `the fields of a page, of data and of 304`() {
        let tags = ["ETag": page.pageTag.hex, "template-tag": page.templateTag.hex]
        #expect(
            fields(.page) == tags.merging(["Cache-Offline": "true", "template-change": "true"]) { $1 }
        )
        #expect(
            fields(answer(other, page.templateTag))
                == tags.merging(["Cache-Offline": "true", "template-change": "false"]) { $1 }
        )
        #expect(fields(.notModified) == tags.merging(["Cache-Offline": "store"]) { $1 })
    }

    @Test func `a route says how pages are kept, what is linked, and which field holds the tag`() {
        var rule = PageRule()
        rule.cacheOffline = .keepNothing
        rule.links = ["/a.css", "/b.js"]
        rule.etagName = "sonic-etag"
        #expect(
            fields(.page, rule) == [
                "sonic-etag-key": "sonic-etag", "sonic-etag": page.pageTag.hex, "template-tag": page.templateTag.hex,
                "Cache-Offline": "false", "template-change": "true", "sonic-link": "/a.css;/b.js",
            ]
        )
        #expect(fields(.notModified, rule)["Cache-Offline"] == "false")
    }

    @Test func `a client says that it speaks the protocol; a tag that is weak, quoted or in capitals is the tag`() {
        let tag = page.pageTag
        for text in [tag.hex, "\"\(tag.hex)\"", "W/\"\(tag.hex)\"", "w/\(tag.hex)", tag.hex.uppercased()] {
            let question = PageQuestion { ["accept-diff": "true", "If-None-Match": text][$0] }
            #expect(question == PageQuestion(pageTag: tag, templateTag: nil))
        }
        #expect(PageQuestion { ["If-None-Match": tag.hex][$0] } == nil)
        #expect(PageQuestion { ["accept-diff": "false"][$0] } == nil)
        #expect(
            PageQuestion { ["accept-diff": "true", "template-tag": "\"", "If-None-Match": "*"][$0] }
                == PageQuestion(pageTag: nil, templateTag: nil)
        )
    }

    @Test func `a first request has no tags; a later one has both`() {
        func names(_ question: PageQuestion) -> [String] { question.fields.map { "\($0.name): \($0.value)" } }
        let first = ["accept-diff: true", "sonic-sdk-version: Patchline/1"]
        #expect(names(PageQuestion(pageTag: nil, templateTag: nil)) == first)
        #expect(
            names(PageQuestion(pageTag: page.pageTag, templateTag: page.templateTag))
                == first + ["If-None-Match: \(page.pageTag.hex)", "template-tag: \(page.templateTag.hex)"]
        )
    }
}
