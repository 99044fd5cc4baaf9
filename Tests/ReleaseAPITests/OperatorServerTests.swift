import Glibc
import HTTPFiles
import NIOCore
import Testing

@testable import ReleaseAPI

@Suite("The operators' listener", .timeLimit(.minutes(10)))
struct OperatorServerTests {
    @Test func `answers one request after the other on a connection, and ends it when it is asked to`() async throws {
        try await RunningOperators.with { operators in
            let response = try await operators.response(
                to: "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nHEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                    + operators.head("GET", "/api/v1/apps")
                    + "PUT /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                    + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
            )
            #expect(response.matches(of: #/HTTP/1\.1 (\d+)/#).map { $0.1 } == ["200", "200", "200", "405"])
            #expect(response.matches(of: #/\r\n\r\nok/#).count == 1)
            #expect(response.matches(of: #/(?i)cache-control: no-store\r\n/#).count == 4)
            #expect(
                response.contains("Allow: GET, HEAD\r\n") && response.matches(of: #/Connection: close\r\n/#).count == 1
            )
            #expect(response.contains("Content-Length: 2\r\n") && response.contains(#"{"apps":[]}"#))
            var log = operators.accessLog.makeAsyncIterator()
            for (method, status, bytes) in [("GET", 200, 2), ("HEAD", 200, 0), ("GET", 200, 12), ("PUT", 405, 133)] {
                let entry = await log.next()
                #expect(
                    entry?.method == method && entry?.status == status && entry?.bodyBytes == bytes,
                    "\(entry as Any)"
                )
            }
        }
    }

    @Test(arguments: ["/readyz", "/metrics"])
    func `keeps its pages out of caches, and has them at one path each`(_ path: String) async throws {
        try await RunningOperators.with { operators in
            let response = try await operators.response(
                to: "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\nGET \(path)/ HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            )
            let codes = response.matches(of: #/HTTP/1\.1 (\d+)/#).map { $0.1 }
            #expect(codes.count == 3 && codes[0] != "404" && codes[1...] == ["404", "404"], "\(response)")
            #expect(
                response.prefix { $0 != "{" }.matches(of: #/(?i)cache-control: no-store\r\n/#).count >= 1,
                "\(response)"
            )
            #expect(response.matches(of: #/(?i)cache-control: no-store\r\n/#).count == 3, "\(response)")
        }
    }

    @Test func `answers in HTTP/1.1 where a client asks for another protocol, and answers the request behind it`()
        async throws
    {
        try await RunningOperators.with { operators in
            let upgrade = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
            let last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let response = try await operators.response(to: upgrade + last)
            #expect(response.matches(of: #/HTTP/1\.1 200 /#).count == 2 && !response.contains("Upgrade"), "\(response)")
            #expect(response.hasSuffix("\r\nConnection: close\r\n\r\nok"), "\(response)")
        }
    }

    @Test func `refuses a client for which there is no place as a problem`() async throws {
        try await RunningOperators.with({ $0.maxConnections = 1 }) { operators in
            try await operators.connected { busy in
                let upload = operators.head(
                    "POST",
                    "/api/v1/tokens",
                    Self.json,
                    "Content-Length: 2",
                    "Expect: 100-continue"
                )
                try await busy.send(upload)
                _ = try await busy.read(to: "\r\n\r\n")
                let refused = try await operators.response(to: "")
                #expect(
                    refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("\r\nConnection: close\r\n"),
                    "\(refused)"
                )
                #expect(refused.contains("\r\nContent-Type: application/problem+json\r\n"), "\(refused)")
                #expect(refused.contains("\r\nCache-Control: no-store\r\n"), "\(refused)")
                #expect(refused.contains(#""detail":"Too many connections.""#), "\(refused)")
            }
        }
    }

    @Test func `closes a connection whose client takes none of its answers, though they have no bodies`() async throws {
        try await RunningOperators.with({ $0.writeTimeout = .milliseconds(50) }) { operators in
            try await RunningOperators.Client.connected(to: operators.port, reading: false) { client in
                let head = "HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                // The server closes the connection in the middle of the requests.
                while (try? await client.send(String(repeating: head, count: 1_000))) != nil {}
            }
        }
    }

    @Test(arguments: [false, true])
    func `sends the whole of its last answer, however long the client pauses, and though that has ended its own half`(
        _ hasEnded: Bool
    ) async throws {
        try await RunningOperators.with { operators in
            try await RunningOperators.Client.connected(to: operators.port, reading: false) { client in
                try await client.send("GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                if hasEnded { try await client.channel.close(mode: .output) }
                try await client.startReading()
                let head = try await client.read(to: "\r\n\r\n")
                let length = try #require(head.firstMatch(of: #/(?i)content-length: (\d+)/#))
                #expect(await client.rest().utf8.count == Int(length.1))
            }
        }
    }

    @Test func `sends an answer about work whole, whatever ranges and conditions the request has`() async throws {
        try await RunningOperators.with { operators in
            let fields = ["Range: bytes=0-1", "If-Match: \"x\"", "Connection: close"]
            let response = try await operators.response(
                to: operators.head("GET", "/api/v1/apps", fields[0], fields[1], fields[2])
            )
            #expect(response.hasPrefix("HTTP/1.1 200 ") && response.hasSuffix("\r\n\r\n{\"apps\":[]}\n"), "\(response)")
        }
    }

    private static let malformed: [(String, Int, String)] = [
        ("GET /healthz HTTP/1.1\r\n\r\n", 400, "there is not exactly one Host"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "there is not exactly one Host"),
        ("GET /healthz HTTP/1.1\r\nHost: u@a\r\n\r\n", 400, "the Host is not a host"),
        ("GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n", 400, "a field has no name"),
        ("\u{16}\u{3}\u{1}", 400, "no method begins like this"),
        ("BREW /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 501, "Unknown method."),
        ("GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", 505, "Only HTTP/1.1"),
        ("GET /@ HTTP/1.1\r\nHost: a\r\n\r\n", 414, "The target is too long."),
        (
            "GET /healthz HTTP/1.1\r\nHost: a\r\nX: @@\r\n", 431,
            "head is too large"
        ),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 400, "a body in a GET or HEAD request"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Bad request"),
        (
            "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400,
            "chunked is not the final transfer coding"
        ),
        ("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, "Unknown transfer coding."),
        ("POST /x HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\n", 417, "Unknown expectation."),
        ("GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "Bad request"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the target is not a path"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400, "a field has no name"),
        ("GET /healthz HTTP/1.1\nHost: a\r\n\r\n", 400, "a line does not end in CRLF"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400, "Content-Length is not one number"),
        ("POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Transfer-Encoding in HTTP/1.0"),
        (
            "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400,
            "chunked is not the final transfer coding, once"
        ),
    ]

    @Test(arguments: malformed)
    func `refuses what is no request as a problem, and ends the connection`(
        _ text: String,
        _ status: Int,
        _ words: String
    ) async throws {
        try await RunningOperators.with { operators in
            let long = String(repeating: "x", count: 9_000)
            let response = try await operators.response(
                to: text.replacing("@ ", with: "\(long) ").replacing("@@", with: long + long)
            )
            #expect(
                response.hasPrefix("HTTP/1.1 \(status) ") && response.contains("\r\nConnection: close\r\n"),
                "\(response)"
            )
            #expect(response.contains("\r\nContent-Type: application/problem+json\r\n"), "\(response)")
            #expect(response.contains("\r\nCache-Control: no-store\r\n"), "\(response)")
            #expect(response.contains(words) && response.contains("\"status\":\(status),"), "\(response)")
        }
    }

    @Test(arguments: ["G", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: y"])
    func `ends a head that does not come in time with 408, and a connection that says nothing without a word`(
        _ text: String
    ) async throws {
        try await RunningOperators.with({ $0.headerTimeout = .milliseconds(50) }) { operators in
            let response = try await operators.response(to: text)
            #expect(response.hasPrefix("HTTP/1.1 408 ") && response.contains(#""title":"tooSlow""#), "\(response)")
        }
        try await RunningOperators.with({ $0.idleTimeout = .milliseconds(50) }) { operators in
            #expect(try await operators.response(to: "") == "")
            // It may be silent between two requests for no longer; a busy machine may send the first one too late.
            var after = ""
            while after.isEmpty { after = try await operators.response(to: "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") }
            #expect(after.hasPrefix("HTTP/1.1 200 ") && after.hasSuffix("\r\n\r\nok"), "\(after)")
        }
    }

    private static let json = "Content-Type: application/json"

    @Test func `ends a body that does not come in time with 408, and reads none that says it is too large`()
        async throws
    {
        try await RunningOperators.with({ $0.bodyTimeout = .milliseconds(50) }) { operators in
            let slow = operators.head("POST", "/api/v1/tokens", Self.json, "Content-Length: 100")
            let late = try await operators.response(to: slow + "{")
            #expect(late.hasPrefix("HTTP/1.1 408 ") && late.contains(#""title":"tooSlow""#), "\(late)")
        }
        try await RunningOperators.with { operators in
            let large = operators.head(
                "POST",
                "/api/v1/tokens",
                Self.json,
                "Content-Length: 3000000000",
                "Expect: 100-continue"
            )
            let refused = try await operators.response(to: large)
            #expect(refused.hasPrefix("HTTP/1.1 413 ") && refused.contains("\r\nConnection: close\r\n"), "\(refused)")
            // Of one that does not say it, no more is taken than it may have.
            let endless = operators.head("POST", "/api/v1/tokens", Self.json, "Transfer-Encoding: chunked")
            let chunk = "10000\r\n\(String(repeating: "x", count: 65_536))\r\n"
            let answer = try await operators.response(to: endless + chunk + chunk)
            #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("\r\nConnection: close\r\n"), "\(answer)")
        }
    }

    @Test func `asks for a body only once somebody wants it`() async throws {
        try await RunningOperators.with { operators in
            let fields = [Self.json, "Content-Length: 2", "Expect: 100-continue"]
            let wanted = operators.head("POST", "/api/v1/tokens", fields[0], fields[1], fields[2])
            try await operators.connected { client in
                try await client.send(wanted)
                #expect(try await client.read(to: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await client.send("{}")
                let answer = try await client.read(to: "\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("\r\nConnection: keep-alive\r\n"))
            }
            let stranger = wanted.replacing("Bearer plt", with: "Bearer no")
            let refused = try await operators.response(to: stranger)
            #expect(refused.hasPrefix("HTTP/1.1 401 ") && refused.contains("\r\nConnection: close\r\n"), "\(refused)")
        }
    }

    @Test func `stops with what waits closed, what is in flight answered, and the rest ended in time`() async throws {
        for isFinished in [true, false] {
            try await RunningOperators.with({ $0.drainTimeout = isFinished ? .seconds(600) : .milliseconds(50) }) {
                operators in
                try await operators.connected { idle in
                    try await operators.connected { busy in
                        try await idle.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                        _ = try await idle.read(to: "\r\n\r\nok")
                        let head = operators.head(
                            "POST",
                            "/api/v1/tokens",
                            Self.json,
                            "Content-Length: 2",
                            "Expect: 100-continue"
                        )
                        try await busy.send(head)
                        _ = try await busy.read(to: "\r\n\r\n")
                        operators.stop()
                        #expect(await idle.rest() == "")
                        if isFinished { try await busy.send("{}") }
                        let response = await busy.rest()
                        #expect(response.hasPrefix("HTTP/1.1 400 ") == isFinished, "\(response)")
                        #expect(response.contains("\r\nConnection: close\r\n") == isFinished, "\(response)")
                    }
                }
                await #expect(throws: (any Error).self) { try await operators.response(to: "") }
            }
        }
    }

    @Test func `stops at once after clients that left in the middle of a body`() async throws {
        try await RunningOperators.with({ $0.drainTimeout = .seconds(3600) }) { operators in
            let part = "\(String(repeating: "ab", count: 32))/parts/\(String(repeating: "cd", count: 32))"
            let (path, fields) = ("/api/v1/apps/a/uploads/\(part)", ["Upload-Offset: 0", "Content-Length: 99"])
            let half = operators.head("PATCH", path, fields[0], fields[1]) + "half"
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<500 {
                    group.addTask {
                        try? await operators.connected { client in
                            try await client.send(half)
                            try await client.channel.close(mode: .output)
                            _ = await client.rest()
                        }
                    }
                }
            }
        }
    }

    @Test func `whose socket breaks says so at once, whoever is still connected`() async throws {
        await #expect(throws: FileServerError.listenerClosed) {
            try await RunningOperators.with({ $0.idleTimeout = .seconds(3600) }) { operators in
                try await operators.connected { client in
                    try await client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    _ = try await client.read(to: "\r\n\r\nok")
                    let listener = try #require(openSockets(on: operators.port).first { $0.isListening })
                    #expect(shutdown(listener.descriptor, CInt(SHUT_RDWR)) == 0)
                    #expect(await client.rest() == "")
                }
            }
        }
    }

    @Test func `makes room for a newcomer by ending who has waited longest without a token`() async throws {
        try await RunningOperators.with({ $0.maxConnections = 4 }) { operators in
            try await operators.connected { known in
                try await known.send(operators.head("GET", "/api/v1/apps"))
                _ = try await known.read(to: #"{"apps":[]}"#)
                try await operators.connected { oldest in
                    try await oldest.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    _ = try await oldest.read(to: "\r\n\r\nok")
                    for _ in 0..<6 {
                        let response = try await operators.response(
                            to: "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                        )
                        #expect(response.hasSuffix("\r\n\r\nok"))
                    }
                    try await operators.connected { _ in
                        try await operators.connected { _ in
                            try await operators.connected { _ in #expect(await oldest.rest() == "") }
                        }
                    }
                }
                try await known.send(operators.head("GET", "/api/v1/apps"))
                _ = try await known.read(to: #"{"apps":[]}"#)
            }
        }
    }

    /// The head of a stranger's request.
    private static func stranger(_ fields: String...) -> String {
        (["POST /api/v1/tokens HTTP/1.1", "Host: a", Self.json] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test func `makes room by ending a stranger who was refused and does not send the rest of the body`() async throws {
        try await RunningOperators.with({
            $0.maxConnections = 1
            $0.bodyTimeout = .seconds(3600)
        }) { operators in
            try await operators.connected { stranger in
                try await stranger.send(Self.stranger("Content-Length: 9"))
                #expect(try await stranger.read(to: "\r\n\r\n").hasPrefix("HTTP/1.1 401 "))
                // The refusal may be here before its connection waits for the rest.
                var response = ""
                while !response.hasPrefix("HTTP/1.1 200 ") {
                    response = try await operators.response(
                        to: "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                    )
                }
                #expect(response.hasSuffix("\r\n\r\nok"), "\(response)")
                let rest = await stranger.rest()
                #expect(!rest.contains("HTTP/1.1"), "\(rest)")
            }
        }
    }

    @Test(arguments: [(65_536, true), (65_537, false)])
    func `keeps a connection over a refused body when little of it is left, and ends it over a longer one`(
        _ length: Int,
        _ keeps: Bool
    ) async throws {
        try await RunningOperators.with { operators in
            try await operators.connected { client in
                try await client.send(Self.stranger("Content-Length: \(length)"))
                let head = try await client.read(to: "\r\n\r\n")
                #expect(head.hasPrefix("HTTP/1.1 401 "), "\(head)")
                #expect(head.contains("\r\nConnection: \(keeps ? "keep-alive" : "close")\r\n"), "\(head)")
                let next = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                try? await client.send(String(repeating: "x", count: length) + next)
                let rest = await client.rest()
                #expect(rest.hasSuffix("\r\n\r\nok") == keeps, "\(rest)")
            }
        }
    }

    @Test func `ends a connection over a refused body of unknown length, and over a rest that does not come in time`()
        async throws
    {
        try await RunningOperators.with({ $0.bodyTimeout = .milliseconds(50) }) { operators in
            for (field, connection) in [("Transfer-Encoding: chunked", "close"), ("Content-Length: 9", "keep-alive")] {
                let response = try await operators.response(to: Self.stranger(field))
                #expect(response.hasPrefix("HTTP/1.1 401 "), "\(response)")
                #expect(response.contains("\r\nConnection: \(connection)\r\n"), "\(response)")
                // The client has its answer; a 408 after it would be taken for that of the next request.
                #expect(response.matches(of: #/HTTP/1\.1 /#).count == 1, "\(response)")
            }
        }
    }

    @Test(arguments: ["x\r\n", "5\r\nhelloo\r\n", "5\nhello\r\n", "-1\r\n"])
    func `refuses a body whose chunks are none, whatever was made of its beginning`(_ chunks: String) async throws {
        try await RunningOperators.with { operators in
            let head = operators.head("POST", "/api/v1/tokens", Self.json, "Transfer-Encoding: chunked")
            let response = try await operators.response(to: head + chunks)
            #expect(
                response.hasPrefix("HTTP/1.1 400 ") && response.contains("\r\nConnection: close\r\n"),
                "\(response)"
            )
            #expect(response.contains(#""detail":"Bad request: a chunk"#), "\(response)")
        }
    }

    @Test func `answers a request before it refuses what stands behind it and is none`() async throws {
        try await RunningOperators.with { operators in
            let response = try await operators.response(to: operators.head("GET", "/api/v1/apps") + "\u{1}")
            #expect(response.matches(of: #/HTTP/1\.1 (\d+)/#).map { $0.1 } == ["200", "400"], "\(response)")
            #expect(
                response.contains(#"{"apps":[]}"#) && response.contains("no method begins like this"),
                "\(response)"
            )
            #expect(response.matches(of: #/Connection: close\r\n/#).count == 1, "\(response)")
        }
    }

    @Test(arguments: ["TRACE", "CONNECT", "QUERY", "OPTIONS"])
    func `refuses a method that it has no use for, and sends no token back`(_ method: String) async throws {
        try await RunningOperators.with { operators in
            let response = try await operators.response(to: operators.head(method, "/api/v1/apps", "Connection: close"))
            #expect(response.hasPrefix("HTTP/1.1 405 ") && response.contains("\r\nAllow: GET, HEAD"), "\(response)")
            #expect(response.contains("\r\nCache-Control: no-store\r\n"), "\(response)")
            #expect(
                response.contains(#""title":"methodNotAllowed""#) && !response.contains(operators.token),
                "\(response)"
            )
        }
    }
}
