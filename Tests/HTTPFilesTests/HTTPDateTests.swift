import Testing

@testable import HTTPFiles

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
}
