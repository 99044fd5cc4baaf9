import Testing

@testable import PatchFormat

@Suite("The first error of a page on trial")
struct PageErrorTests {
    @Test(arguments: [
        ("Uncaught Error: no cart", "Uncaught Error: no cart"), ("a\nb\u{2028}c\0d", "a b c d"),
        ("at http://0123abcd.localhost:12095/app.js?token=x:3", "at /app.js"),
        ("at http://127.0.0.1:12095/?token=x", "at /"), ("'http://[::1]:1/a'", "'/a'"),
        ("(http://LOCALHOST/a#b)", "(/a)"),
        ("fetch https://user:secret@api.example.com/v1?key=1 failed", "fetch https://api.example.com/v1 failed"),
        ("http://a.localhost:1/x and http://b.localhost:2/y?z", "/x and /y"), ("a://b://c", "a://b://c"),
        ("://", "://"),
        ("1 ? 2 : 3 // why", "1 ? 2 : 3 // why"), ("http://", "http://"),
    ])
    func `holds no query, no user and no host of this machine`(_ message: String, kept: String) {
        let error = PageError(message: message)
        #expect(error.message == kept)
        #expect(PageError(message: kept).message == kept)
    }

    @Test func `has a bounded length, on one line`() throws {
        let long = String(repeating: "\u{1F600}", count: 5_000)
        let error = PageError(message: long, source: long, line: -3, column: .max)
        #expect(error.message.unicodeScalars.count == 300 && error.source?.unicodeScalars.count == 200)
        #expect(error.line == 0 && error.column == 2_147_483_647)
        #expect(PageError(message: "a", source: "http://x.localhost/").source == "/")
        #expect(PageError(message: "a", source: "").source == nil)
    }

    /// What is kept is compared with what was written: a rule that would change it a second time would make the state unreadable.
    @Test(arguments: ["http://cut.localhost.example.com/a", "a\u{0}b", "é", "http://127.0.0.1.example.com"])
    func `is read as it was written, wherever it was cut`(_ text: String) throws {
        for length in 0..<40 {
            let message = String(repeating: "x", count: 300 - length) + text
            let error = PageError(message: message, source: text, line: 1, column: 2)
            let fields = try Fields(try JSON(parsing: error.json.fileBytes), of: "state")
            #expect(try PageError(kept: fields) == error)
        }
    }

    @Test(arguments: [
        (#"{"message": 5, "line": 1, "column": 1}"#, "message must be a string"),
        (#"{"message": "a", "line": -1, "column": 1}"#, "line must be an integer from 0 to 2147483647"),
        (#"{"message": "a", "line": 1}"#, "column must be an integer from 0 to 2147483647"),
        (#"{"message": "a", "source": {}, "line": 1, "column": 1}"#, "source must be a string"),
    ])
    func `is refused where a report breaks a rule`(_ text: String, rule: String) throws {
        let fields = try Fields(try JSON(parsing: Array(text.utf8)), of: "report")
        do throws(FormatError) {
            _ = try PageError(reported: fields)
            Issue.record("it was taken")
        } catch { #expect(error.description == "report: \(rule)") }
    }

    @Test func `is told with its place, where that is known`() {
        #expect(
            PageError(message: "no", source: "/a.js", line: 3, column: 9).description == "no (/a.js, line 3, column 9)"
        )
        #expect(PageError(message: "no", source: "/a.js").description == "no (/a.js)")
        #expect(PageError(message: "no", line: 3, column: 9).description == "no (line 3, column 9)")
        #expect(PageError(message: "no").description == "no")
    }
}
