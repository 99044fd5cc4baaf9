import HTTPCore
import HTTPFiles
import NIOHTTP1
import SystemPackage
import Testing

/// What is too large for memory, on its way by `sendfile` from the front of a connection.
@Suite("A large file from the front", .timeLimit(.minutes(10)))
struct SendfileTests {
    private let folder: TemporaryFolder
    private let file: FilePath
    private let size = 64 * 1024 * 1024

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.writeSparse("large", size: Int64(size))
    }

    private var source: PreparedSource {
        PreparedSource { [file] request in
            request.path.text == "/large" ? .file(ServedFile(path: file, entityTag: "v1")) : .echo(request)
        }
    }

    @Test func `comes whole, and what was asked behind it comes after it`() async throws {
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/large") + request("GET", "/after") + request("GET", "/slow"))
                #expect(try await client.response().body.count == size)
                #expect(try await client.response().text == "GET /after ")
                #expect(try await client.response().text == "GET /slow ")
            }
        }
    }

    @Test func `does not hold up another`() async throws {
        try await TestServer.running(source) { server in
            try await server.connected { slow in
                try await slow.send(request("GET", "/large"))
                for _ in 0..<20 { #expect(try await server.get("/").status == 200) }
                #expect(try await slow.response().body.count == size)
            }
        }
    }

    @Test func `ends the connection when it shrinks under way, and says so`() async throws {
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/large") + request("GET", "/after"))
                let head = try await client.head()
                #expect(head.headers.first(name: "Content-Length") == String(size))
                // The client does not read, so a slice is on its way now that will never be whole.
                try folder.resize(file, to: 0)
                let rest = await client.rest()
                #expect(rest.count < size && rest.allSatisfy { $0 == 0 }, "no second response follows")
            }
            let line = try #require(await server.errorLog.first { _ in true })
            #expect(line.hasPrefix("/large: the response broke after"))
            #expect(line.hasSuffix(" bytes: it became shorter while it was read"))
            let entry = try #require(await server.accessLog.first { _ in true })
            #expect(entry.status == 200 && entry.bodyBytes < size)
            #expect(try await server.get("/").status == 200)
        }
    }

    @Test func `is given up when the client does not read`() async throws {
        try await TestServer.running(source, configure: { $0.writeTimeout = .milliseconds(100) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/large"))
                let entry = try #require(await server.accessLog.first { _ in true })
                #expect(entry.target == "/large" && entry.bodyBytes < size)
                #expect(await client.rest().count < size)
            }
        }
    }

    @Test func `holds back a client that only sends`() async throws {
        let source = PreparedSource { _ in
            .bytes(ServedBytes(bytes: Array(repeating: 0, count: 60_000), contentType: "text/plain"))
        }
        try await TestServer.running(source, configure: { $0.writeTimeout = .milliseconds(200) }) { server in
            try await server.connected { client in
                // 600 MB of answers; the server makes few of them, and gives the client up.
                try? await client.send(String(repeating: request("GET", "/"), count: 10_000))
                _ = try #require(await server.accessLog.first { $0.bodyBytes == 0 })
                #expect(await client.rest().count < 100_000_000)
            }
        }
    }

    @Test func `is sent to its end by a server that stops, which then closes`() async throws {
        // Longer than the test may take: the end must not come from the deadline.
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/large"))
                _ = try await client.head()
                server.stop()
                #expect(await client.rest().count == size)
            }
        }
    }

    @Test func `is cut at the drain deadline`() async throws {
        try await TestServer.running(source, configure: { $0.drainTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/large"))
                _ = try await client.head()
                server.stop()
                _ = try #require(await server.accessLog.first { _ in true })
                #expect(await client.rest().count < size)
            }
        }
    }

    @Test func `goes on as it was when its name is given to another, which is served from then on`() async throws {
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/large"))
                _ = try await client.head()
                try folder.remove(file)
                try folder.write("new", to: "large")
                #expect(try await server.get("/large").text == "new")
                try await client.send(request("GET", "/large", ["Connection: close"]))
                let rest = await client.rest()
                #expect(rest.count > size && rest[size - 1] == 0)
                #expect(String(decoding: rest.dropFirst(size), as: UTF8.self).hasSuffix("\r\n\r\nnew"))
            }
        }
    }
}
