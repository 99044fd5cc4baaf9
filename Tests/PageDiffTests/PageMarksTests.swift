import PageDiff
import Testing

@Suite("The marks of a page")
struct PageMarksTests {
    @Test func `a block is what stands between its comments, and they with it`() {
        let page = SplitPage("a<!--sonicdiff-x-->b<!--sonicdiff-x-end-->c")
        #expect(page.templateText == "a{x}c")
        #expect(page.blockTexts == ["x": "<!--sonicdiff-x-->b<!--sonicdiff-x-end-->"])
    }

    @Test(arguments: ["", "-"])
    func `blocks without a name are numbered in their order`(hyphen: String) {
        let block = "<!--sonicdiff\(hyphen)-->b<!--sonicdiff\(hyphen)-end-->"
        #expect(SplitPage(block + "," + block).templateText == "{auto0},{auto1}")
    }

    @Test func `a block ends with the first comment that ends any, whatever it names: nothing nests or overlaps`() {
        let page = SplitPage(
            "<!--sonicdiff-a-->1<!--sonicdiff-b-->2<!--sonicdiff-b-end-->3<!--sonicdiff-a-end-->4"
        )
        #expect(page.templateText == "{a}3<!--sonicdiff-a-end-->4")
    }

    @Test func `a block that does not end is text, and so is all behind it`() {
        let text = "<!--sonicdiff-a-->1<!--sonicdiff-a-end-->2<!--sonicdiff-b-->3<!--sonicdiff-c-->4"
        #expect(SplitPage(text).templateText == "{a}2<!--sonicdiff-b-->3<!--sonicdiff-c-->4")
    }

    @Test func `a block has something in it: an end that follows at once is of its contents`() {
        let text = "<!--sonicdiff-a--><!--sonicdiff-a-end--><!--sonicdiff-b-end-->."
        #expect(SplitPage(text).templateText == "{a}.")
        #expect(!SplitPage("<!--sonicdiff-a--><!--sonicdiff-a-end-->").isMarked)
    }

    @Test func `a comment that begins a block named end, ends one too`() {
        #expect(SplitPage("<!--sonicdiff-end-->1<!--sonicdiff-end-->2").templateText == "{end}2")
        #expect(SplitPage("<!--sonicdiff-->1<!--sonicdiff-end-->2").templateText == "{auto0}2")
    }

    @Test func `letters of either case make a marker, and a name keeps its own`() {
        let text = "<!--SonicDiff-News-->1<!--SONICDIFF-news-END-->"
        #expect(SplitPage(text).templateText == "{News}")
    }

    @Test(arguments: [
        "<!-- sonicdiff-a -->1<!-- sonicdiff-a-end -->", "<!--sonicdiff-a b-->1<!--sonicdiff-a-end-->",
        "<!--sonicdiff-a-b-->1<!--sonicdiff-a-end-->", "<!--sonicdiff-é-->1<!--sonicdiff-é-end-->",
        "<!--sonicdiff--a-->1<!--sonicdiff-a-end-->", "<!--sonicdif-a-->1<!--sonicdiff-a-end-->",
        "<!--sonicdiff-a->1<!--sonicdiff-a-end-->", "<-!-sonicdiff-a-->1<!--sonicdiff-a-end-->",
    ])
    func `what is nearly a marker is none`(text: String) {
        #expect(SplitPage(text).templateText == text)
    }

    @Test func `markers in scripts and attributes are markers: HTML is not read`() {
        let text =
            "<script>x='<!--sonicdiff-a-->1<!--sonicdiff-a-end-->'</script><p t=\"<!--sonicdiff-b-->2<!--sonicdiff-b-end-->\">"
        #expect(SplitPage(text).templateText == "<script>x='{a}'</script><p t=\"{b}\">")
    }

    @Test func `the title is the first that is on one line; what else begins as one is one too`() {
        #expect(SplitPage("<TITLE a=b>x</Title><title>y</title>").templateText == "{title}<title>y</title>")
        #expect(SplitPage("<title>\nx</title><title>y</title>").templateText == "<title>\nx</title>{title}")
        #expect(SplitPage("<titles>x</title>").templateText == "{title}")
        #expect(SplitPage("<title>x<title>y</title>").templateText == "{title}")
    }

    @Test(arguments: ["\n", "\r", "\u{2028}", "\u{2029}"])
    func `a line ends as lines of JavaScript do`(end: String) {
        #expect(SplitPage("<title>\(end)</title>").templateText == "<title>\(end)</title>")
        #expect(SplitPage("<title>\u{2027}\u{2030}é</title>").templateText == "{title}")
    }

    @Test func `a marker in the title is none, for the title is out of the page by then`() {
        let page = SplitPage(
            "<title><!--sonicdiff-a--></title>1<!--sonicdiff-a-end--><!--sonicdiff-b-->2<!--sonicdiff-b-end-->"
        )
        #expect(page.templateText == "{title}1<!--sonicdiff-a-end-->{b}")
    }

    @Test func `bytes that are no UTF-8 stay as they are`() {
        let page = SplitPage([0xFF, 0xC0] + Pages.bytes("<!--sonicdiff-a-->1<!--sonicdiff-a-end-->") + [0x80])
        #expect(page.template == [0xFF, 0xC0] + Pages.bytes("{a}") + [0x80])
        #expect(page.data?.page(of: page.template) == page.page)
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["<!--sonicdiff-a-->", "<title>", "<!", "<!--sonicdiff-a", "{a", "\u{2028}<title"]
    )
    func `a page of markers that never end, of titles that never end, or of exclamation marks is passed once`(
        piece: String
    ) {
        // Where each looked through the rest, these would be hours.
        let text = String(repeating: piece, count: PageLimits.page / piece.utf8.count)
        let page = SplitPage(text)
        #expect(!page.isMarked)
        // Megabytes are no message.
        let (isTemplate, isMade) = (page.template == page.page, page.data?.page(of: page.template) == page.page)
        #expect(isTemplate && isMade)
    }
}
