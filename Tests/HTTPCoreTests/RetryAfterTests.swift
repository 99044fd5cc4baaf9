import HTTPCore
import Testing

@Suite("How long a server asks to be left alone")
struct RetryAfterTests {
    @Test(arguments: [
        ("0", 0), ("7", 7), ("007", 7), ("3600", 3_600), ("2147483648", RetryAfter.longest),
        ("9223372036854775807", RetryAfter.longest), ("9223372036854775808", RetryAfter.longest),
        (String(repeating: "9", count: 10_000), RetryAfter.longest),
    ])
    func `is its seconds, up to the longest interval between two syncs`(_ field: String, _ seconds: Int) {
        #expect(RetryAfter(field: field)?.seconds == seconds)
    }

    @Test(arguments: ["", " ", "-1", "+1", "0x10", "1.5", "1e9", "\u{664}", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `is nothing where it is no count of seconds`(_ field: String) {
        #expect(RetryAfter(field: field) == nil)
    }

    @Test func `counts no longer than its reader waits`() {
        #expect(RetryAfter(.max).upTo(.seconds(60)) == .seconds(60))
        #expect(RetryAfter(.min).upTo(.seconds(60)) == .zero)
        #expect(RetryAfter(7).upTo(.seconds(60)) == .seconds(7))
    }
}
