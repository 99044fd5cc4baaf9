import PatchFormat
import PatchServer
import PatchCrypto
import PatchTesting
import PatchTrust
import ServerTesting
import Testing

@Suite("What an operator writes of a dial")
struct DialWordsTests {
    @Test(arguments: [
        ("0%", 0), ("25%", 2_500), ("0.5%", 50), ("12.34%", 1_234), ("100%", 10_000), ("0.01%", 1),
    ])
    func `is a share, read and written the same way`(text: String, share: Int) {
        #expect(RolloutShare(text)?.tenThousandths == share && "\(RolloutShare(share))" == text)
    }

    @Test(arguments: ["", "%", "25", "-1%", "+1%", "101%", "100.01%", "1.234%", "1.%", ".5%", "1e1%", "٣%", "25 %"])
    func `is no other share`(text: String) {
        #expect(RolloutShare(text) == nil)
    }

    @Test
    func `names a patch, a version of it, or a content`() {
        let digest = SHA256Digest(of: [])
        let (web, version): (PatchID, VersionLabel) = (named("web"), named("1.4.2"))
        #expect(DialChange.subject("web").map { $0 == (web, .everyVersion) } == true)
        #expect(DialChange.subject("web@1.4.2").map { $0 == (web, .version(version)) } == true)
        #expect(DialChange.subject("web@sha256:\(digest.hex)").map { $0 == (web, .content(digest)) } == true)
        for bad in ["", "@1", "web@", "web@a b", "web@sha256:12", "we b"] {
            #expect(DialChange.subject(bad) == nil, "\(bad)")
        }
    }

    @Test
    func `has a reason of one line and at most 500 bytes`() {
        #expect(DialReason(String(repeating: "é", count: 250)) != nil)
        for bad in ["", "a\nb", "\u{1B}[2J", "\u{2028}", String(repeating: "é", count: 250) + "x"] {
            #expect(DialReason(bad) == nil)
        }
    }
}
