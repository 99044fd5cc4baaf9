import HTTPFiles
import Testing

@Suite("A malformed request", .timeLimit(.minutes(10)))
struct MalformedRequestTests {
    /// Sends `text` and a good request after it: exactly one answer must come, then the end.
    private func expect(_ status: Int, for text: String) async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                try await client.send(text + request("GET", "/smuggled"))
                let response = try await client.response()
                #expect(response.status == status)
                #expect(response["Connection"] == "close")
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: [
        "GET /\r\n\r\n",
        "GET\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1x\r\nHost: a\r\n\r\n",
        "GET / HTTP/11\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}",
    ])
    func `is answered 400 and ends the connection`(text: String) async throws {
        try await expect(400, for: text)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    ])
    func `names no host, or two, or something else`(text: String) async throws {
        try await expect(400, for: text)
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 0",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length:",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding:",
    ])
    func `could be read as two lengths`(fields: String) async throws {
        try await expect(400, for: "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n0\r\n\r\n")
    }

    @Test func `chunks an HTTP/1.0 body`() async throws {
        try await expect(400, for: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    }

    @Test(arguments: [
        "5\r\nhelloX\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "\r\n",
        "x\r\n",
        "-1\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "5 5\r\nhello\r\n0\r\n\r\n",
        "5;a\rb\r\nhello\r\n0\r\n\r\n",
        "5;\(String(repeating: "x", count: 2000))\r\nhello\r\n0\r\n\r\n",
        "0\r\nTrailer: \(String(repeating: "x", count: 2000))\r\n\r\n",
    ])
    func `has chunks that do not add up`(body: String) async throws {
        try await expect(400, for: request("POST", "/", ["Transfer-Encoding: chunked"]) + body)
    }

    @Test(arguments: ["GET", "HEAD"])
    func `has a body where none can be meant`(method: String) async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                try await client.send(request(method, "/", ["Content-Length: 3"]) + "GET")
                #expect(try await client.response(toHead: method == "HEAD").status == 400)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: [
        "/%00", "/%2e%2e%2fetc/passwd", "/a%", "/%ff", "/a%5cb", "/a\\b", "/a\u{1}b", "/\u{E9}", "relative", "*",
        "http:///a", "/a#b",
    ])
    func `has a target that is no path`(target: String) async throws {
        try await expect(400, for: request("GET", target))
    }

    @Test(arguments: [
        (text: "GET / HTTP/2.0\r\nHost: a\r\n\r\n", status: 505),
        (text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
        (text: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", status: 501),
        (text: "POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\n1", status: 417),
    ])
    func `asks for more than is spoken here`(text: String, status: Int) async throws {
        try await expect(status, for: text)
    }

    @Test(arguments: [
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: a\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n123",
    ])
    func `ends early`(text: String) async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                try await client.send(text)
                try await client.closeOutput()
                #expect(try await client.response().status == 400)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `does not disturb another client`() async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { bystander in
                try await bystander.send("GET / HT")
                #expect(try await server.get("/%00").status == 400)
                try await bystander.send("TP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await bystander.response().status == 200)
            }
        }
    }
}
