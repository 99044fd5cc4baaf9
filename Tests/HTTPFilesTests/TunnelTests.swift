import HTTPFiles
import NIOCore
import NIOHTTP1
import Testing

private let upgrade = ["Connection: keep-alive, Upgrade", "Upgrade: Echo"]

extension FileSource where Self == ClosureSource {
    /// Sends back what comes, and ends with the client.
    fileprivate static var echoTunnel: ClosureSource {
        .answering { _ in
            .tunnel(
                ServedTunnel(headers: ["Upgrade": "echo"]) { client in
                    while let bytes = try? await client.next() {
                        guard (try? await client.write(bytes)) != nil else { return }
                    }
                }
            )
        }
    }
}

@Suite("A tunnel", .timeLimit(.minutes(10)))
struct TunnelTests {
    @Test func `carries raw bytes both ways after 101, also those that came with the request`() async throws {
        try await TestServer.running(.echoTunnel) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", upgrade) + "GET / HTTP/1.1\r\n\r\n")
                let (status, headers) = try await client.head()
                #expect(status == 101)
                #expect(headers["Upgrade"] == ["echo"] && headers["Connection"] == ["Upgrade"])
                #expect(headers["Content-Length"] == [] && headers["Transfer-Encoding"] == [])
                #expect(try await client.text(18) == "GET / HTTP/1.1\r\n\r\n")
                for size in [1, 100_000, 7] {
                    let bytes = String(repeating: "x", count: size)
                    let sending = client.sending(ByteBuffer(string: bytes))
                    #expect(try await client.text(size) == bytes)
                    _ = try await sending.value
                }
            }
            let entry = await server.accessLog.first { _ in true }
            #expect(entry?.status == 101 && entry?.bodyBytes == 100_026)
        }
    }

    @Test(arguments: [[], ["Upgrade: echo"], ["Connection: upgrade"]])
    func `is only for who asks for it`(fields: [String]) async throws {
        try await TestServer.running(.echoTunnel) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", fields))
                let refusal = try await client.response()
                #expect(refusal.status == 500 && refusal.text == "No upgrade was asked for.\n")
            }
            let line = await server.errorLog.first { _ in true }
            #expect(line?.hasSuffix("the source switches protocols without being asked to") == true, "\(line ?? "")")
        }
    }

    @Test func `holds back a client whose bytes nobody takes`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (counts, report) = AsyncStream.makeStream(of: Int.self)
        let source = ClosureSource.answering { request in
            guard request.upgrade != nil else { return .bytes(.digits) }
            return .tunnel(
                ServedTunnel(headers: ["Upgrade": "echo"]) { client in
                    _ = await gate.first { true }
                    var count = 0
                    while let bytes = try? await client.next() { count += bytes.readableBytes }
                    report.yield(count)
                }
            )
        }
        let size = 24 << 20
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", upgrade))
                _ = try await client.head()
                let sending = client.sending(ByteBuffer(repeating: 0x78, count: size))
                #expect(await sending.isDone(afterRequestsTo: server) == false)
                open.yield()
                _ = try await sending.value
            }
            #expect(await counts.first { _ in true } == size)
        }
    }

    @Test func `ends when its source has had enough`() async throws {
        let source = ClosureSource.answering { _ in
            .tunnel(
                ServedTunnel(headers: ["Upgrade": "echo"]) { client in
                    try? await client.write(ByteBuffer(string: "bye"))
                }
            )
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", upgrade))
                _ = try await client.head()
                #expect(await client.rest() == Array("bye".utf8))
            }
        }
    }

    @Test func `is closed, and its source cancelled, when nothing has moved in it for a while`() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let (never, keep) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { _ in
            .tunnel(
                ServedTunnel(headers: ["Upgrade": "echo"]) { _ in
                    for await _ in never {}
                    end.yield(Task.isCancelled)
                }
            )
        }
        try await TestServer.running(source, configure: { $0.tunnelIdleTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", upgrade))
                _ = try await client.head()
                #expect(await client.rest() == [])
            }
            #expect(await ended.first { _ in true } == true)
        }
        keep.finish()
    }

    @Test func `is closed when the server stops`() async throws {
        try await TestServer.running(.echoTunnel, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", upgrade))
                _ = try await client.head()
                server.stop()
                #expect(await client.rest() == [])
            }
        }
    }
}
