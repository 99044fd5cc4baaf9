import PatchFormat
import Testing

@Suite("An asset path")
struct AssetPathTests {
    @Test(
        arguments: [
            ("", AssetPath.Problem.empty), ("/", .absolute), ("/etc/passwd", .absolute), ("//a", .absolute),
            ("a//b", .emptySegment), ("a/", .emptySegment), (".", .dotSegment), ("..", .dotSegment),
            ("../a", .dotSegment),
            ("a/../b", .dotSegment), ("a/..", .dotSegment), ("a/.", .dotSegment), ("./a", .dotSegment),
            ("a/./b", .dotSegment),
            ("a\\b", .backslash), ("..\\a", .backslash), ("\\", .backslash), ("C:\\a", .backslash), ("a\0", .control),
            ("a\0/b", .control), ("a\nb", .control), ("\r", .control), ("a\tb", .control), ("\u{1F}", .control),
            ("a\u{7F}", .control),
            ("a\u{80}", .control), ("a\u{9F}b", .control), ("cafe\u{301}", .notNFC), ("a/cafe\u{301}/b", .notNFC),
            ("\u{212A}", .notNFC), ("\u{1100}\u{1161}", .notNFC), ("a".times(256), .segmentTooLong),
            ("a/\("é".times(128))", .segmentTooLong),
            ("\("a".times(255))/".times(5), .tooLong), ("a/".times(513), .tooLong),
        ] as [(String, AssetPath.Problem)]
    )
    func `is refused for the rule it breaks`(_ text: String, problem: AssetPath.Problem) {
        #expect(throws: problem) { try AssetPath(text) }
    }

    @Test(arguments: [
        "index.html", "app/main.js", "caf\u{E9}.svg", "...", "..a", "a..", ".hidden", "a b", "a:b", "~", "%2e%2e",
        "a\"b", "*?",
        "日本/語", "\u{D55C}", "\u{202E}", "a".times(255), "a/\("é".times(127))", "\("a/".times(511))bc",
    ])
    func `is taken as it stands`(_ text: String) throws {
        #expect(try AssetPath(text).text.hasSameBytes(as: text))
    }

    @Test func `ends at 1,024 bytes`() throws {
        let longest = "\("a".times(255))/".times(3) + "b".times(254)
        #expect(longest.utf8.count == 1_022)
        #expect(throws: Never.self) { try AssetPath(longest + "/c") }
        #expect(throws: AssetPath.Problem.tooLong) { try AssetPath(longest + "/cd") }
    }

    @Test func `has its segments where the slashes are, whatever combines with them`() {
        #expect(path("a/b/c").segments == ["a", "b", "c"])
        #expect(path("a/\u{301}b").segments == ["a", "\u{301}b"])
    }

    @Test func `is another when its bytes are`() {
        #expect(path("a") < path("b") && path("B") < path("a") && path("a/b") < path("a0"))
        #expect(path("\u{FFFD}") < path("\u{10000}"))
    }

    @Test(
        arguments: [
            ("README", "readme"), ("straße", "STRASSE"), ("straße", "strasse"), ("stra\u{1E9E}e", "straße"),
            ("stra\u{1E9E}e", "strasse"),
            ("É", "é"), ("Σας", "ΣΑΣ"), ("σας", "σασ"), ("ǅ", "ǆ"), ("Ω", "ω"), ("\u{17F}", "s"), ("ﬁ", "FI"),
            ("ŉ", "\u{2BC}n"),
            ("\u{130}", "i\u{307}"), ("\u{13A0}", "\u{AB70}"), ("ẛ", "ṡ"), ("µ", "μ"), ("\u{1F80}", "\u{1F88}"),
            // Stricter than Unicode's folding, which keeps the dotless i apart: some file systems do not.
            ("\u{131}", "i"), ("\u{131}", "I"),
        ] as [(String, String)]
    )
    func `folds to the same text as one that differs in case`(_ one: String, other: String) {
        #expect(path(one).caseFolded == path(other).caseFolded)
    }

    @Test(arguments: [("a", "b"), ("e", "é"), ("ss", "s"), ("O", "0"), ("a/b", "a_b")])
    func `does not fold to the text of another name`(_ one: String, other: String) {
        #expect(path(one).caseFolded != path(other).caseFolded)
    }

    @Test func `cannot hold a Kelvin sign, which is no NFC, so K and k are all there is to fold`() {
        #expect(throws: AssetPath.Problem.notNFC) { try AssetPath("\u{212A}.js") }
        #expect(path("K.js").caseFolded == path("k.js").caseFolded)
    }
}
