import PatchFormat
import PatchTesting
import Testing

@Suite("A name from outside")
struct NameTests {
    /// No path is ever made from these (P9).
    static let hostile = [
        "", ".", "..", "/", "a/b", "../a", "a/..", "\\", "a\\b", "\0", "a\0", "a\nb", "\u{1}", "a\u{7F}", " ", "a b",
        "é", "cafe\u{301}",
        "a%2F", "a:b", "*", "a?", "a#", "~", "\u{202E}a", "ａ", "a\u{301}", "٣",
    ]

    @Test(arguments: hostile)
    func `is refused as an app, a patch, a version and a channel when it is unsafe in a path`(_ text: String) {
        #expect(AppID(text) == nil)
        #expect(PatchID(text) == nil)
        #expect(VersionLabel(text) == nil)
        #expect(ChannelName(text) == nil)
    }

    @Test(arguments: ["a", "com.example.storefront", "A-Z_0.9", "...", ".hidden", "-", "_", "a".times(128)])
    func `of an app or a patch holds letters, digits, dot, underscore and hyphen`(_ text: String) {
        #expect(AppID(text)?.text == text)
        #expect(PatchID(text)?.text == text)
    }

    @Test func `of an app or a patch ends at 128 bytes`() {
        #expect(AppID("a".times(129)) == nil)
        #expect(PatchID("a".times(129)) == nil)
        #expect(AppID("a+b") == nil)
        #expect(PatchID("a+b") == nil)
    }

    @Test func `of a version may hold a plus too and ends at 64 bytes`() {
        #expect(VersionLabel("1.4.2-rc.1+build_7")?.description == "1.4.2-rc.1+build_7")
        #expect(VersionLabel("1".times(64)) != nil)
        #expect(VersionLabel("1".times(65)) == nil)
    }

    @Test(arguments: ["production", "beta", "0", "a1", "express", "a".times(32)])
    func `of a channel holds lowercase letters and digits`(_ text: String) {
        #expect(ChannelName(text)?.text == text)
    }

    @Test(arguments: [
        "root", "targets", "snapshot", "timestamp", "mirrors", "dial", "Beta", "a-b", "a.b", "a_b", "a+b",
        "a".times(33),
    ])
    func `of a channel is never a role's, nor longer than 32 bytes`(_ text: String) {
        #expect(ChannelName(text) == nil)
    }

    @Test func `sorts by bytes`() {
        #expect([named("b"), named("a"), named("B")].sorted() as [PatchID] == [named("B"), named("a"), named("b")])
    }
}
