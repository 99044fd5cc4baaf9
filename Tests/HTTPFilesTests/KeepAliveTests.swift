import HTTPCore
import HTTPFiles
import Testing

@Suite("A connection", .timeLimit(.minutes(10)))
struct KeepAliveTests {
    @Test func `serves one request after another`() async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                for target in ["/1", "/2", "/3"] {
                    try await client.send(request("GET", target))
                    #expect(try await client.response().text == "GET \(target) ")
                }
            }
        }
    }

    @Test func `answers pipelined requests in order, however long each takes`() async throws {
        let (slow, release) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { request in
            if request.path.text == "/slow" { _ = await slow.first { true } } else { release.yield() }
            return .bytes(ServedBytes(bytes: Array(request.path.text.utf8), contentType: "text/plain"))
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/slow") + request("HEAD", "/head") + request("GET", "/fast"))
                // Another connection releases the first request; the two behind it were not answered meanwhile.
                #expect(try await server.get("/other").text == "/other")
                #expect(try await client.response().text == "/slow")
                #expect(try await client.response(toHead: true)["Content-Length"] == "5")
                #expect(try await client.response().text == "/fast")
            }
        }
    }

    @Test func `takes pipelined bodies apart at their ends`() async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                let chunked = request("POST", "/chunked", ["Transfer-Encoding: Chunked"])
                try await client.send(
                    request("POST", "/length", ["Content-Length: 3"]) + "abc" + chunked
                        + "3;ext=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n" + request("GET", "/last")
                )
                #expect(try await client.response().text == "POST /length abc")
                #expect(try await client.response().text == "POST /chunked abc0123456789")
                #expect(try await client.response().text == "GET /last ")
            }
        }
    }

    @Test func `takes a request that arrives byte by byte`() async throws {
        let text =
            "\r\n" + request("POST", "/a", ["Transfer-Encoding: chunked"]) + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
            + request("GET", "/b")
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                for byte in text.utf8 { try await client.send(bytes: [byte]) }
                #expect(try await client.response().text == "POST /a hello")
                #expect(try await client.response().text == "GET /b ")
            }
        }
    }

    @Test(arguments: [
        (version: "1.1", field: "X: y", staysOpen: true),
        (version: "1.1", field: "Connection: close", staysOpen: false),
        (version: "1.1", field: "Connection: x, Close", staysOpen: false),
        (version: "1.0", field: "X: y", staysOpen: false),
        (version: "1.0", field: "Connection: keep-alive", staysOpen: true),
        (version: "1.9", field: "X: y", staysOpen: true),
    ])
    func `stays open as the client and its version ask for`(
        version: String,
        field: String,
        staysOpen: Bool
    ) async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { client in
                let text = "GET / HTTP/\(version)\r\nHost: a\r\n\(field)\r\n\r\n"
                try await client.send(text + text)
                let first = try await client.response()
                #expect(first["Connection"] == (staysOpen ? "keep-alive" : "close"))
                if staysOpen {
                    #expect(try await client.response().status == 200)
                } else {
                    #expect(await client.rest() == [])
                }
            }
        }
    }

    @Test func `answers HTTP/1.0 without a Host`() async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { client in
                try await client.send("GET / HTTP/1.0\r\n\r\n")
                #expect(try await client.response().status == 200)
            }
        }
    }

    @Test func `answers a client that has said it sends nothing more`() async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/") + request("GET", "/"))
                try await client.closeOutput()
                #expect(try await client.response().status == 200)
                #expect(try await client.response().status == 200)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `asks for a body that waits for it`() async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                try await client.send(request("PUT", "/", ["Content-Length: 5", "Expect: 100-Continue"]))
                #expect(try await client.response().status == 100)
                try await client.send("hello")
                #expect(try await client.response().text == "PUT / hello")
            }
        }
    }

    @Test func `takes an absolute target`() async throws {
        let response = try await TestServer.running(.echo) { try await $0.get("http://example.org:8080/a/../b?c=%20") }
        #expect(response.text == "GET /b?c=%20 ")
    }

    @Test func `is logged request by request`() async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/a?b", ["User-Agent: tests"]) + request("HEAD", "/h"))
                _ = try await client.response()
                _ = try await client.response(toHead: true)
                try await client.send("\r\nnonsense\r\n\r\n")
                _ = try await client.response()
            }
            var log = server.accessLog.makeAsyncIterator()
            let get = try #require(await log.next())
            #expect(get.method == "GET" && get.target == "/a?b" && get.status == 200 && get.bodyBytes == 10)
            #expect(get.remoteAddress == "127.0.0.1" && get.userAgent == "tests")
            let head = try #require(await log.next())
            #expect(head.method == "HEAD" && head.bodyBytes == 0)
            let malformed = try #require(await log.next())
            #expect(malformed.method == "-" && malformed.target == "-" && malformed.status == 400)
        }
    }
}
