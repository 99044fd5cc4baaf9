import PatchDaemon
import Testing

@Suite("When a server is asked next")
struct NextLookTests {
    @Test("The reason is told in one word")
    func reasons() {
        #expect(NextContact(seconds: 0, reason: .backOff).reason.rawValue == "backOff")
    }
}
