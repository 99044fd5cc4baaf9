import HTTPFiles
import Testing

@Suite("An access log line")
struct AccessLogTests {
    private func line(target: String, agent: String? = nil) -> String {
        AccessLogEntry(
            method: "GET",
            target: target,
            status: 200,
            bodyBytes: 12,
            duration: .milliseconds(1003),
            remoteAddress: "127.0.0.1",
            userAgent: agent
        ).line
    }

    @Test func `tells who asked for what and what came of it`() {
        #expect(line(target: "/a?b", agent: "curl/8") == #"127.0.0.1 "GET /a?b" 200 12 1003ms "curl/8""#)
        #expect(line(target: "/") == #"127.0.0.1 "GET /" 200 12 1003ms "-""#)
    }

    @Test func `cannot be forged by what the client chose`() {
        #expect(
            line(target: "/\r\n127.0.0.1 \"GET /\u{1B}[2J\\", agent: "a\" 200\n\u{7F}é")
                == #"127.0.0.1 "GET /\x0D\x0A127.0.0.1 \x22GET /\x1B[2J\x5C" 200 12 1003ms "a\x22 200\x0A\x7F\xC3\xA9""#
        )
    }
}
