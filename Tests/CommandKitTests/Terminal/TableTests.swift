import CommandKit
import Testing

@Suite("A table")
struct TableTests {
    let table = Table(
        ["PATCH", "STATE", .init("BYTES", .right)],
        rows: [
            ["web", Table.Cell("Success", .green), "175356"],
            ["fix-cart-total", "Update", "812"],
        ]
    )

    @Test func `lines its columns up, and no line ends in a blank`() {
        #expect(
            table.lines(on: plain) == [
                "PATCH           STATE     BYTES",
                "web             Success  175356",
                "fix-cart-total  Update      812",
            ]
        )
        let short = Table(["A", "B"], rows: [["long", ""], ["x"]])
        #expect(short.lines(on: plain) == ["A     B", "long", "x"])
    }

    @Test func `colours cells without moving them`() {
        let lines = table.lines(on: colored)
        #expect(lines[1] == "web             \u{1B}[32mSuccess\u{1B}[0m  175356")
        #expect(lines[0].contains("\u{1B}[1mPATCH\u{1B}[0m"))
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("日本", 4), ("한글", 4), ("ｆｕｌｌ", 8), ("e\u{301}", 1), ("👨‍👩‍👧‍👦", 2), ("🇫🇮", 2), ("❤️", 2), ("é", 1),
        ("ไทย", 3), ("…", 1),
    ])
    func `counts columns by what is seen`(_ text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test func `lines wide characters up`() {
        let table = Table(["NAME", "N"], rows: [["日本", "1"], ["abcde", "2"]])
        #expect(table.lines(on: plain) == ["NAME   N", "日本   1", "abcde  2"])
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("abc", 0, ""),
    ])
    func `cuts at whole characters`(_ text: String, limit: Int, cut: String) {
        #expect(text.truncated(toColumns: limit) == cut)
    }

    @Test func `cuts its widest column on a narrow terminal, and nothing in a pipe`() {
        let digest = String(repeating: "9f", count: 32)
        let table = Table(["PATCH", "DIGEST"], rows: [["web", .init(digest)]])

        let narrow = Console(descriptor: -1, isTerminal: true, width: 30)
        #expect(table.lines(on: narrow) == ["PATCH  DIGEST", "web    " + digest.prefix(22) + "…"])
        #expect(table.lines(on: Console(descriptor: -1, isTerminal: false, width: 30))[1] == "web    " + digest)
    }

    @Test func `leaves eight columns of a cell, however narrow the terminal`() {
        let table = Table(["ONE", "TWO"], rows: [["aaaaaaaaaaaa", "bbbbbbbbbbbb"]])
        #expect(table.lines(on: Console(descriptor: -1, isTerminal: true, width: 3))[1] == "aaaaaaa…  bbbbbbb…")
    }

    @Test func `does not let a cell drive the terminal`() {
        let name = "web\u{1B}[2J\nfake row"
        #expect(
            Table(["NAME"], rows: [["\(name)"], [.init(name)]]).lines(on: plain).dropFirst() == [
                "web\\u{1B}[2J\\nfake row", "web\\u{1B}[2J\\nfake row",
            ]
        )
    }
}
