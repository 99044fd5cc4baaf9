import HTTPCore
import HTTPFiles
import HTTPTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import APIProxy

/// Says what arrived, byte for byte.
private struct SentEcho: FileSource {
    let acceptsBodies = true

    func passesAsSent(_ request: FileRequest) -> Bool { true }

    func decide(_ request: FileRequest) -> FileDecision {
        .later(.stream) { request in
            let body = try? await request.stream?.reduce(into: "") { $0 += String(buffer: $1) }
            let query = request.query.map { "?\($0)" } ?? ""
            return .text("\(request.method.rawValue) \(request.sentPath.text)\(query) [\(body ?? "")]")
        }
    }
}

@Suite("A request, passed on", .timeLimit(.minutes(10)))
struct SentRequestTests {
    /// The response to a request whose bytes are these, and whether it came from the upstream.
    private func response(to request: String, of port: Int) async throws -> String {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var text = ""
            for try await piece in inbound { text += String(buffer: piece) }
            return text
        }
    }

    private func passing(_ body: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
        try await serving(SentEcho()) { upstream in
            try await ProxyFixture.running("/api/.*=http://127.0.0.1:\(upstream)") { try await body($0.port) }
        }
    }

    @Test func `has its path and query byte for byte`() async throws {
        let long = "/api/" + String(repeating: "a/", count: 1_500)
        try await passing { port in
            for target in [
                "/api/img/https://host/a.png", "/api//", "/api/a%2Fb%2fc", "/api/a%5Cb", "/api/a;v=1/b;", "/api/%7Ex/~",
                "/api/%FF%fe%C3", "/api/a+b%2Bc", "/api/x?", "/api/x??a=%2&b[]={c}|^`\"<>\\", "/api/a%252e%252e/b",
                "/api/:@!$&'()*,=",
                "/api/[a]{b}|^`\"<>", long,
            ] {
                let fields = "Host: a\r\nConnection: close\r\nPatchline-Request-Target: /evil"
                let response = try await response(to: "GET \(target) HTTP/1.1\r\n\(fields)\r\n\r\n", of: port)
                #expect(
                    response.hasPrefix("HTTP/1.1 200 ") && response.hasSuffix("\r\n\r\nGET \(target) []"),
                    "\(response)"
                )
            }
        }
    }

    @Test func `may have any method, and a body in any frame`() async throws {
        try await passing { port in
            for method in ["PROPFIND", "QUERY", "REPORT", "MKCOL", "M-SEARCH", "x"] {
                let fields = "Host: a\r\nConnection: close"
                let plain = try await response(to: "\(method) /api/x HTTP/1.1\r\n\(fields)\r\n\r\n", of: port)
                #expect(plain.hasPrefix("HTTP/1.1 200 ") && plain.hasSuffix("\(method) /api/x []"), "\(plain)")
                let chunks = "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n"
                let chunked = try await response(
                    to:
                        "\(method) /api/x HTTP/1.1\r\n\(fields)\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n\(chunks)",
                    of: port
                )
                #expect(chunked.hasSuffix("\(method) /api/x [abcde]"), "\(chunked)")
                let counted = try await response(
                    to: "\(method) /api/x HTTP/1.1\r\n\(fields)\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi",
                    of: port
                )
                #expect(counted.hasSuffix("\(method) /api/x [hi]"), "\(counted)")
            }
        }
    }

    @Test func `is refused where it cannot pass as it was sent`() async throws {
        try await passing { port in
            for (line, status) in [
                ("GET /api/../x", "404"), ("GET /api/./x", "400"), ("GET /api/%2e%2E/api/x", "400"),
                ("GET /api/..;/x", "400"),
                ("GET /api/a%2F..%2Fb", "400"), ("GET //api/x", "400"), ("GET /api/a%00b", "400"),
                ("GET /api/a%0Ab", "400"),
                ("GET /api/a%zz", "400"), ("GET /api/a#b", "400"), ("GET /other/a%2Fb", "400"),
                ("PROPFIND /other", "501"),
                ("QUERY /other", "405"), ("TRACE /api/x", "405"), ("CONNECT a:443", "405"), ("OPTIONS *", "400"),
            ] {
                let response = try await response(
                    to: "\(line) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                    of: port
                )
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(line): \(response)")
            }
            let refused = try await response(
                to: "GET /api/./x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                of: port
            )
            #expect(refused.contains("X-Patchline-Proxy: path\r\n"))
            #expect(refused.contains("The path has a segment . or .., which servers resolve in different ways."))
        }
    }
}
