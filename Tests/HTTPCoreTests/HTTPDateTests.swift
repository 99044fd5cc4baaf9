import Testing

@testable import HTTPCore

@Suite("An HTTP date")
struct HTTPDateTests {
    @Test(arguments: [
        (seconds: 784_111_777, text: "Sun, 06 Nov 1994 08:49:37 GMT"),
        (seconds: 0, text: "Thu, 01 Jan 1970 00:00:00 GMT"),
        (seconds: 951_782_400, text: "Tue, 29 Feb 2000 00:00:00 GMT"),
        (seconds: 1_709_251_199, text: "Thu, 29 Feb 2024 23:59:59 GMT"),
        (seconds: 4_107_542_400, text: "Mon, 01 Mar 2100 00:00:00 GMT"),
        (seconds: -1, text: "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
    func `is written as RFC 9110 writes it`(seconds: Int, text: String) {
        #expect(HTTPDate.text(secondsSince1970: seconds) == text)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Sunday, 01-Jan-78 00:00:00 GMT", 252_460_800), ("Friday, 01-Jan-77 00:00:00 GMT", 3_376_684_800),
            ("Sun, 06 Nov 1994 08:49:60 GMT", 784_111_800), ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 1994 08:49:37", nil), ("", nil), ("784111777", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("Sun, 32 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 06 Nov 1994 08:60:00 GMT", nil),
            ("Sun, 06 Nov 1994 8:49:37 GMT", nil), ("Sun, 06 Nov 94 08:49:37 GMT", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37.5 GMT", nil),
        ] as [(String, Int?)]
    )
    func `is read in the three forms that clients send, and in no other`(text: String, seconds: Int?) {
        #expect(HTTPDate.seconds(text, now: 1_800_000_000) == seconds)
    }

    @Test func `is written once for each second`() {
        var latest = HTTPDate.Latest()
        let texts = [0, 0, 1].map { latest.text(at: $0) }
        #expect(
            texts == Array(repeating: "Thu, 01 Jan 1970 00:00:00 GMT", count: 2) + ["Thu, 01 Jan 1970 00:00:01 GMT"]
        )
        #expect(latest.second == 1 && latest.text == texts[2])
        #expect(latest.text.utf8.count == 29)
    }
}
