import HTTPCore
import NIOCore
import NIOHTTP1
import SystemPackage
import Testing

@testable import HTTPFiles

@Suite("What a server says to what is no request")
struct HTTPTranscripts {
    @Test func `stands in its transcript, with the status`() throws {
        var transcript = Transcript("http", about: "Requests that break a rule of HTTP, and what the server answers.")
        transcript.section("heads", Self.heads.map { Self.answer($0) })
        transcript.section("bodies", Self.bodies.map { Self.answer("POST / HTTP/1.1\r\nHost: a\r\n" + $0) })
        let others: [RequestFault] = [
            .target(.backslash), .bodyTooLarge, .tooSlow, .tooManyConnections, .unsupportedExpectation,
            .headEndsEarly, .bodyEndsEarly,
            .malformed("a body in a GET or HEAD request"),
        ]
        transcript.list("other faults", others.map { "\($0.status.code) \($0.message)" })
        let files: [OpenFileError] = [.notFound, .failed(.ioError), .shrank]
        transcript.list("files in the log", files.map(\.description))
        try transcript.check()
    }

    private static let heads = [
        "\u{16}\u{3}\u{1}", "GET /\r\n\r\n", "GET / HTTP/x\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
        "GET /" + String(repeating: "a", count: 300) + " HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 2_000) + "\r\n\r\n",
    ]

    private static let bodies = [
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "Content-Length: x\r\n\r\n",
        "Content-Length: 9999\r\n\r\n", "Transfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding: gzip, chunked\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nx\r\n", "Transfer-Encoding: chunked\r\n\r\n1\n",
        "Transfer-Encoding: chunked\r\n\r\n1;\u{1}\r\n",
        "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: "1", count: 2_000),
    ]

    /// The request as it is read, and the answer to it.
    private static func answer(_ text: String) -> String {
        var buffer = ByteBuffer(string: text)
        var scanner = RequestHeadScanner(maxHeadBytes: 1_000, maxTargetBytes: 200)
        let shown = text.debugDescription
        let request = shown.count > 120 ? shown.prefix(60) + "…" + shown.suffix(40) : shown[...]
        do throws(RequestFault) {
            guard let head = try scanner.next(from: &buffer) else { return "> \(request)\nnothing yet" }
            var body = try RequestBody(BodyFraming(head), limit: 1_000)
            while try body.next(from: &buffer) != nil {}
            return "> \(request)\na request"
        } catch { return "> \(request)\n\(error.status.code) \(error.message)" }
    }
}
