import HTTPCore
import Testing

@testable import HTTPFiles

@Suite("A limit", .timeLimit(.minutes(10)))
struct LimitTests {
    /// The head of a GET that is `size` bytes long.
    private func head(ofSize size: Int) -> String {
        let without = request("GET", "/", ["X: "])
        return request("GET", "/", ["X: " + String(repeating: "x", count: size - without.utf8.count)])
    }

    @Test(
        arguments: [(1_024, 1_024, 512), (1_024, 20_000, 1_024), (1_024, nil, 1_024), (1_024, 1, 1)]
            as [(Int, Int?, Int)]
    )
    func `of connections leaves half of the process's descriptors for files`(
        wanted: Int,
        descriptors: Int?,
        expected: Int
    ) {
        #expect(DescriptorLimit.connections(atMost: wanted, of: descriptors) == expected)
    }

    @Test func `of descriptors is raised as far as the system lets it, and never lowered`() throws {
        let before = try #require(DescriptorLimit.raised(to: 1))
        #expect(try #require(DescriptorLimit.raised(to: before + 1)) >= before)
    }

    @Test(arguments: [(size: 500, status: 200), (size: 501, status: 431)])
    func `bounds the head`(size: Int, status: Int) async throws {
        let response = try await TestServer.running(.digits, configure: { $0.maxHeaderBytes = 500 }) { server in
            try await server.connected { client in
                try await client.send(head(ofSize: size))
                return try await client.response()
            }
        }
        #expect(response.status == status)
    }

    @Test func `bounds a head that never ends`() async throws {
        try await TestServer.running(.digits, configure: { $0.maxHeaderBytes = 500 }) { server in
            try await server.connected { client in
                try await client.send("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 200))
                #expect(try await client.response().status == 431)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: [(length: 100, status: 200), (length: 101, status: 414), (length: 5000, status: 414)])
    func `bounds the target`(length: Int, status: Int) async throws {
        let target = "/" + String(repeating: "a", count: length - 1)
        let response = try await TestServer.running(
            .digits,
            configure: {
                $0.maxTargetBytes = 100
                $0.maxHeaderBytes = 500
            },
            { try await $0.get(target) }
        )
        #expect(response.status == status)
    }

    @Test(arguments: [
        (body: "0123456789", status: 200), (body: "0123456789a", status: 413), (body: "", status: 200),
    ])
    func `bounds a body of known length`(body: String, status: Int) async throws {
        try await TestServer.running(.echo, configure: { $0.maxBodyBytes = 10 }) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: \(body.utf8.count)"]) + body)
                let response = try await client.response()
                #expect(response.status == status)
                #expect(status != 200 || response.text == "POST / \(body)")
            }
        }
    }

    @Test(arguments: ["11", "99999999999999999999999"])
    func `refuses a declared length before the body comes`(length: String) async throws {
        try await TestServer.running(.echo, configure: { $0.maxBodyBytes = 10 }) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: \(length)", "Expect: 100-continue"]))
                #expect(try await client.response().status == 413)
            }
        }
    }

    @Test func `is told also to a client that sends everything before it reads`() async throws {
        try await TestServer.running(.echo, configure: { $0.maxBodyBytes = 10 }) { server in
            try await server.connected { client in
                let size = 16 * 1024 * 1024
                try await client.send(request("POST", "/", ["Content-Length: \(size)"]))
                try await client.send(bytes: Array(repeating: 0x78, count: size))
                #expect(try await client.response().status == 413)
            }
        }
    }

    @Test(arguments: [
        (chunks: "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", status: 200),
        (chunks: "5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n", status: 413),
        (chunks: "ffffffffffffffffffff\r\n", status: 413),
    ])
    func `bounds a chunked body`(chunks: String, status: Int) async throws {
        try await TestServer.running(.echo, configure: { $0.maxBodyBytes = 10 }) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Transfer-Encoding: chunked"]) + chunks)
                #expect(try await client.response().status == status)
            }
        }
    }

    @Test func `bounds the connections, while each of them is being answered`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (asked, didAsk) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { request in
            guard request.path.text == "/slow" else { return .bytes(.digits) }
            didAsk.yield()
            _ = await gate.first { true }
            return .bytes(.digits)
        }
        try await TestServer.running(source, configure: { $0.maxConnections = 1 }) { server in
            try await server.connected { first in
                try await first.send(request("GET", "/slow"))
                _ = await asked.first { true }
                try await server.connected { second in
                    // The request travels while the refusal does: what is unread must not take the refusal with it.
                    try? await second.send(request("GET", "/") + String(repeating: "x", count: 100_000))
                    let refusal = try await second.response()
                    #expect(refusal.status == 503 && refusal.text == "Too many connections.\n")
                    #expect(await second.rest() == [])
                }
                // The refusal is the first response that ended, and has its line.
                let entry = try #require(await server.accessLog.first { _ in true })
                #expect((entry.method, entry.target, entry.status, entry.bodyBytes) == ("-", "-", 503, 22))
                #expect(entry.remoteAddress == "127.0.0.1" && entry.userAgent == nil)
                open.yield()
                #expect(try await first.response().status == 200)
                // Now it waits, and goes for a newcomer.
                #expect(try await server.get("/").status == 200)
                #expect(await first.rest() == [])
            }
        }
    }
}
