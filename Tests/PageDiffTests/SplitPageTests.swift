import PageDiff
import PatchFormat
import PatchCrypto
import Testing

@Suite("A page that is split")
struct SplitPageTests {
    @Test func `its tags are the SHA-1 of its bytes and of its template's`() {
        let page = SplitPage(Pages.cart)
        #expect(page.pageTag == SHA1Digest(of: Pages.cart))
        let template = "<html><head>{title}</head><body>{hello}<hr>{cart}</body></html>"
        #expect(page.templateText == template)
        #expect(page.templateTag == SHA1Digest(of: Pages.bytes(template)))
    }

    @Test func `template and data make the page again`() throws {
        let page = SplitPage(Pages.cart)
        let data = try #require(page.data)
        #expect(data.members.map(\.name) == ["title", "hello", "cart"])
        #expect(data.page(of: page.template) == Pages.cart)
    }

    @Test func `the data of a page without title has an empty one, as VasSonic's servers send it`() throws {
        let page = SplitPage("<!--sonicdiff-a-->1<!--sonicdiff-a-end-->")
        #expect(try #require(page.data?["title"]) == [])
    }

    @Test(arguments: [
        // Two blocks of one name.
        "<!--sonicdiff-a-->1<!--sonicdiff-a-end--><!--sonicdiff-a-->2<!--sonicdiff-a-end-->",
        // A name that the template has of its own.
        "{a}<!--sonicdiff-a-->1<!--sonicdiff-a-end-->",
        "{title}<!--sonicdiff-a-->1<!--sonicdiff-a-end-->",
        // A name in a block: whoever replaces it next, replaces that.
        "<!--sonicdiff-a-->{b}<!--sonicdiff-a-end--><!--sonicdiff-b-->2<!--sonicdiff-b-end-->",
        "<!--sonicdiff-a-->{a}<!--sonicdiff-a-end-->",
        // A title in a block, of which the template knows nothing.
        "<!--sonicdiff-a--><title>x</title><!--sonicdiff-a-end-->",
        "<!--sonicdiff-a--><title>x</title><!--sonicdiff-a-end-->{title}",
        // A block of the title's name.
        "<title>x</title><!--sonicdiff-title-->1<!--sonicdiff-title-end-->",
    ])
    func `where names could be replaced in two ways there is no data`(text: String) {
        let page = SplitPage(text)
        #expect(page.isMarked)
        #expect(page.data == nil)
    }

    @Test func `a block that is no UTF-8 cannot be sent as data`() {
        let page = Pages.bytes("<!--sonicdiff-a-->") + [0xFF] + Pages.bytes("<!--sonicdiff-a-end-->")
        #expect(SplitPage(page).data == nil)
    }

    @Test func `braces that hold no name of the page stay`() throws {
        let page = SplitPage("function(){x}{b}<!--sonicdiff-a-->{c}<!--sonicdiff-a-end-->")
        #expect(try #require(page.data).page(of: page.template) == page.page)
    }

    @Test func `blocks up to 10,000 are data; over it the page is sent whole`() throws {
        func page(_ count: Int) -> SplitPage {
            SplitPage((0..<count).map { "<!--sonicdiff-b\($0)-->\($0)<!--sonicdiff-b\($0)-end-->" }.joined())
        }
        let most = page(10_000)
        #expect(try #require(most.data).page(of: most.template) == most.page)
        #expect(page(10_001).data == nil)
    }

    @Test func `a data update is read as it was written`() throws {
        let page = SplitPage(Pages.cart)
        let update = DataUpdate(data: try #require(page.data), pageTag: page.pageTag, templateTag: page.templateTag)
        let read = try DataUpdate(update.bytes)
        #expect(read.data.page(of: page.template) == Pages.cart)
        #expect(read.pageTag == page.pageTag)
        #expect(read.templateTag == page.templateTag)
    }

    @Test func `a data update as PHP writes it is read`() throws {
        let update = try DataUpdate(
            Pages.bytes(
                #"{"data":{"{title}":"<title>\u4e2d<\/title>","{a}":"<!--sonicdiff-a-->1<!--sonicdiff-a-end-->"},"#
                    + #""template-tag":"a48cd31a5768b4e703459583559801fcc70905a9","html-sha1":"78c41717b323a51e7d94a70628706b499832a0cb","diff":""}"#
            )
        )
        #expect(update.data["title"] == Pages.bytes("<title>中</title>"))
        #expect(update.pageTag?.hex == "78c41717b323a51e7d94a70628706b499832a0cb")
    }

    @Test(arguments: [
        (#"{"data":{"{a}":"1""#, "data update is not JSON (byte 18)"),
        ("[]", "data update must be an object"),
        ("{}", "data update: data must be an object"),
        (
            #"{"data":{"a":"1"}}"#,
            "data update: data.a must be a name between braces: letters, digits and underscores"
        ),
        (
            #"{"data":{"{é}":"1"}}"#,
            "data update: data.{é} must be a name between braces: letters, digits and underscores"
        ),
        (#"{"data":{"{a}":1}}"#, "data update: data.{a} must be a string"),
        (#"{"data":{"{a}":"1","{a}":"2"}}"#, "data update has a key twice in one object (byte 19)"),
        (#"{"data":{},"html-sha1":"x"}"#, "data update: html-sha1 must be 40 lowercase hex digits"),
    ])
    func `a data update that breaks a rule is refused with it`(text: String, message: String) {
        #expect { try DataUpdate(Pages.bytes(text)) } throws: { "\($0)" == message }
    }
}
