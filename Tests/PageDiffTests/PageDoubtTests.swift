import PageDiff
import Testing

@Suite("What of a page's marks was probably meant otherwise")
struct PageDoubtTests {
    private static func reported(_ text: String) -> [String] { SplitPage(text).warnings.map { "\($0.line): \($0)" } }

    @Test func `is nothing where each block ends, is named once, and has something in it`() {
        #expect(SplitPage(Pages.cart).warnings == [])
        #expect(Self.reported("<p>no page of blocks</p><!-- a comment --><!doctype html>!") == [])
        #expect(Self.reported("<!--sonicdiff-->1<!--sonicdiff-end-->2<!--sonicdiff-->3<!--sonicdiff-end-->") == [])
        #expect(Self.reported("<!--SonicDiff-a-->1<!--sonicdiff-b-END-->") == [])
    }

    @Test func `is a nonce and a token in the template, and none in a block`() {
        let block =
            "<!--sonicdiff-a--><script nonce=\"abcdefgh\">1</script><input name=csrf_token value=0123456789><!--sonicdiff-a-end-->"
        #expect(Self.reported(block) == [])
        #expect(Self.reported("<script nonce=abcdefgh>1</script>") == [])
        let nonce =
            "a nonce outside of every block changes the template with each answer: the page is sent whole; allow the script by its "
            + "hash, or put it in a block"
        func token(_ name: String) -> String {
            "the token \(name) outside of every block changes the template with each answer: the page is sent whole; put it in a block"
        }
        let head =
            "<head>\n<META content='0123456789' Name='csrf-token'>\n<script src=a.js nonce='r4nd0m+/=='></script></head>"
        #expect(
            Self.reported("\(head)\(block)\n<style nonce=\"r4nd0m+/==\"></style>") == [
                "2: \(token("csrf-token"))", "3: \(nonce)",
            ]
        )
        for name in ["csrfmiddlewaretoken", "authenticity_token", "_token", "__RequestVerificationToken", "_csrf"] {
            let form = "\(block)<form>\n<input type=\"hidden\" name=\"\(name)\" value=\"aB3-0123456789\" /></form>"
            #expect(Self.reported(form) == ["2: \(token(name))"])
        }
        for none in [
            "<script nonce>", "<script nonce=''>", "<input name=csrf_token>", "<input name=q value=0123456789>",
            "<x nonce=\"", "<", "< nonce=abcdefgh>",
        ] {
            #expect(Self.reported(block + none) == [], "\(none)")
        }
    }

    @Test func `is each start behind the last end`() {
        let text = "<!--sonicdiff-a-->1<!--sonicdiff-a-end-->\n<!--sonicdiff-b-->2\n\n<!--sonicdiff-->3"
        #expect(
            Self.reported(text) == [
                "2: the block b has no end mark and is ignored",
                "4: a block without a name has no end mark and is ignored",
            ]
        )
    }

    @Test func `is a start within a block, and the end that it leaves over`() {
        let text = "<!--sonicdiff-a-->1\n<!--sonicdiff-b-->2<!--sonicdiff-b-end-->\n3<!--sonicdiff-a-end-->4"
        #expect(
            Self.reported(text) == [
                "2: the block b begins within the block a, which ends with the first end mark: blocks do not nest",
                "3: an end mark is outside of every block",
            ]
        )
        #expect(
            Self.reported("<!--sonicdiff-->1<!--sonicdiff-->2<!--sonicdiff-end-->") == [
                "1: a block without a name begins within the block auto0, which ends with the first end mark: blocks do not nest"
            ]
        )
    }

    @Test(arguments: [
        "<!--sonicdiff-a-end-->", "1\r\n<!--sonicdiff-end-->",
        "<!--sonicdiff-a-->1<!--sonicdiff-a-end-->\n<!--sonicdiff-b-end-->",
    ])
    func `is an end without a start`(text: String) {
        let line = text.utf8.split(separator: UInt8(ascii: "\n")).count
        #expect(Self.reported(text) == ["\(line): an end mark is outside of every block"])
    }

    @Test(arguments: [
        "<!-- sonicdiff-cart -->", "<!--sonicdiff-cart-box-->", "<!--sonicdiff-cart box-->", "<!--sonicdiff-é-->",
        "<!-- of SonicDiff -->", "<!--sonicdiff-cart->", "<!--sonicdiff--cart-->", "<!--sonicdiff-cart--",
    ])
    func `is a comment that is nearly a mark`(comment: String) {
        #expect(Self.reported("1\n\(comment)") == ["2: this comment resembles a mark but is not one: \(comment)"])
        let next = Self.reported("\(comment)<!--sonicdiff-a-->1<!--sonicdiff-a-end-->")
        #expect(next == ["1: this comment resembles a mark but is not one: \(comment)"])
    }

    @Test func `is a mark in the title, which is none there`() {
        #expect(
            Self.reported("<title><!--sonicdiff-a--></title>") == [
                "1: this comment resembles a mark but is not one: <!--sonicdiff-a-->"
            ]
        )
    }

    @Test func `shows of a comment 60 characters`() {
        let (fits, long) = (
            "<!--sonicdiff " + String(repeating: "é", count: 43) + "-->", String(repeating: "é", count: 90)
        )
        #expect(Self.reported(fits) == ["1: this comment resembles a mark but is not one: \(fits)"])
        let cut = "<!--sonicdiff " + String(repeating: "é", count: 46) + "…"
        #expect(
            Self.reported("<!--sonicdiff \(long)-->") == ["1: this comment resembles a mark but is not one: \(cut)"]
        )
    }

    @Test func `is a name that stands twice, for the page has no data then`() {
        let block = "<!--sonicdiff-a-->1<!--sonicdiff-a-end-->\n"
        #expect(
            Self.reported(block + block + block)
                == (2...3).map { "\($0): the name a is used twice: the page is sent whole" }
        )
        #expect(
            Self.reported("<!--sonicdiff-title-->1<!--sonicdiff-title-end-->") == [
                "1: a block has the name of the page's title: the page is sent whole"
            ]
        )
    }

    @Test func `is an empty block, whose end is of its contents or of nothing`() {
        let said = "1: the block a is empty: an end mark directly after a start is ignored"
        #expect(Self.reported("<!--sonicdiff-a--><!--sonicdiff-a-end-->") == [said])
        #expect(Self.reported("<!--sonicdiff-a--><!--sonicdiff-a-end-->\n<!--sonicdiff-b-end-->") == [said])
        #expect(
            Self.reported("<!--sonicdiff-a--><!--sonicdiff-a-end-->\n<!--sonicdiff-b-->1<!--sonicdiff-b-end-->") == [
                said,
                "2: the block b begins within the block a, which ends with the first end mark: blocks do not nest",
            ]
        )
    }

    @Test(arguments: [
        ("<title>x</title>\n{a}\n<!--sonicdiff-a-->1<!--sonicdiff-a-end-->", 2, "a"),
        ("\n<!--sonicdiff-a-->{title}<!--sonicdiff-a-end-->", 2, "title"),
        ("<!--sonicdiff-a-->1<!--sonicdiff-a-end-->\n\n{a}", 3, "a"),
    ])
    func `is the name of a block or of the title in braces, at its line`(text: String, line: Int, name: String) {
        let said =
            "{\(name)} is the placeholder of the block or title of that name: the page is sent whole"
        #expect(Self.reported(text) == ["\(line): \(said)"])
        #expect(SplitPage(text).data == nil)
    }

    @Test func `is what else keeps a page from data`() {
        let said =
            "the page is sent whole: the title or a block is not UTF-8, a block contains the title, or there are more than 10000 blocks"
        let text = "\n<!--sonicdiff-a--><title>1</title><!--sonicdiff-a-end-->"
        #expect(Self.reported(text) == ["2: \(said)"])
        #expect(SplitPage(text).data == nil)
    }

    @Test func `is a title that is not on one line, where there are blocks`() {
        let (title, block) = ("<html>\n<title>\nCart</title>\n", "<!--sonicdiff-a-->1<!--sonicdiff-a-end-->")
        #expect(
            Self.reported(title + block) == [
                "2: the title is not on one line: where it changes, the page is sent whole"
            ]
        )
        #expect(Self.reported(title) == [] && Self.reported("<title>Cart</title>\n" + block) == [])
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("<!--sonicdiff-a-->", 100), ("<!--sonicdiff-a-end-->", 100), ("<!-- sonicdiff", 100), ("<!--", 0),
            ("<!", 0),
            ("!", 0), ("<!-- sonicdif -->", 0), ("<title>", 0), ("-", 0),
        ]
    )
    func `is told of 100 places at most, and each byte is looked at a few times`(piece: String, count: Int) {
        // Where each looked through the rest, these would be hours.
        let text = "<!--" + String(repeating: piece, count: (PageLimits.page - 4) / piece.utf8.count)
        let found = SplitPage(text).warnings.count
        #expect(found == count)
    }
}
