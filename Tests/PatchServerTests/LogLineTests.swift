import HTTPFiles
import PatchFormat
import PatchServer
import ServerTesting
import Testing

@Suite("A line of a server's log")
struct LogLineTests {
    private let time = (time: UTCTime(seconds: 1_795_000_000), milliseconds: 7)

    private func entry(_ target: String = "/a", status: Int = 200, agent: String? = "curl/8") -> AccessLogEntry {
        AccessLogEntry(
            method: "GET",
            target: target,
            status: status,
            bodyBytes: 12,
            duration: .microseconds(3_004),
            remoteAddress: "127.0.0.1",
            userAgent: agent
        )
    }

    @Test
    func `begins with the time, to the millisecond`() {
        #expect(
            LogLine(entry(), at: time).text(.text)
                == #"2026-11-18T11:06:40.007Z 127.0.0.1 "GET /a" 200 12 3ms "curl/8""#
        )
        let failed = LogLine.Content.message("cannot sign again", app: ReleaseFactory.app)
        #expect(
            LogLine(.error, failed, at: time).text(.text)
                == "2026-11-18T11:06:40.007Z error com.example.storefront: cannot sign again"
        )
        let message = LogLine.Content.message("read again", app: nil)
        #expect(LogLine(.info, message, at: time).text(.text) == "2026-11-18T11:06:40.007Z info read again")
    }

    @Test
    func `is one object where programs read`() throws {
        #expect(
            LogLine(entry(agent: nil), at: time).text(.json)
                == #"{"bytes":12,"event":"request","level":"info","method":"GET","microseconds":3004,"#
                + #""remote":"127.0.0.1","status":200,"target":"/a","time":"2026-11-18T11:06:40.007Z"}"#
        )
        let failed = LogLine.Content.message("no", app: ReleaseFactory.app)
        #expect(
            LogLine(.error, failed, at: time).text(.json)
                == #"{"app":"com.example.storefront","event":"message","level":"error","message":"no","#
                + #""time":"2026-11-18T11:06:40.007Z"}"#
        )
        #expect(LogLine(entry(status: 500), at: time).text(.json).contains(#""level":"error""#))
    }

    @Test
    func `cannot be forged by what the client chose`() throws {
        let hostile = entry("/\r\n\"}\u{1B}[2J\u{7F}", agent: "é\u{202E}😀\\")
        let line = LogLine(hostile, at: time).text(.json)
        #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        let read = try JSON.document(Array(line.utf8), named: "line", limit: 10_000)
        #expect(read["target"] == .text(hostile.target) && read["agent"] == .text(hostile.userAgent ?? ""))
    }
}
