import HTTPCore
import HTTPFiles
import NIOHTTP1
import Testing

@Suite("A server that stops", .timeLimit(.minutes(10)))
struct StoppingTests {
    @Test func `finishes the response in flight, closes the idle and accepts no one`() async throws {
        let (asked, didAsk) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { request in
            if request.path.text == "/slow" {
                didAsk.yield()
                _ = await gate.first { true }
            }
            return .bytes(.digits)
        }
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { idle in
                try await idle.send(request("GET", "/"))
                _ = try await idle.response()
                try await server.connected { busy in
                    try await busy.send(request("GET", "/slow"))
                    _ = await asked.first { true }

                    server.stop()
                    #expect(await idle.rest() == [])
                    await #expect(throws: (any Error).self) { try await server.get("/") }

                    open.yield()
                    let response = try await busy.response()
                    #expect(response.text == "0123456789")
                    #expect(response["Connection"] == "close")
                    #expect(await busy.rest() == [])
                }
            }
        }
    }

    @Test func `sends a large response to its end`() async throws {
        let folder = try TemporaryFolder()
        let size = 64 * 1024 * 1024
        let file = try folder.writeSparse("large", size: Int64(size))
        let source = ClosureSource.answering { _ in .file(ServedFile(path: file)) }
        // Longer than the test may take: the end must not come from the deadline.
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                let head = try await client.head()
                #expect(head.headers.first(name: "Content-Length") == String(size))
                server.stop()
                #expect(await client.rest().count == size)
            }
        }
    }

    @Test func `does not wait for a body that was begun`() async throws {
        let (asked, didAsk) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering(acceptsBodies: true) { _ in
            didAsk.yield()
            return .bytes(.digits)
        }
        // Longer than the test may take.
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { client in
                let expecting = ["Content-Length: 10", "Expect: 100-continue"]
                try await client.send(request("POST", "/", expecting))
                #expect(try await client.head().status == 100)
                try await client.send("half")
                server.stop()
                #expect(await client.rest() == [])
            }
        }
        didAsk.finish()
        #expect(await asked.first { true } == nil, "nothing was done for it")
    }

    @Test func `gives up a response at the drain deadline`() async throws {
        let (asked, didAsk) = AsyncStream.makeStream(of: Void.self)
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { _ in
            didAsk.yield()
            _ = await never.first { true }
            return .bytes(.digits)
        }
        try await TestServer.running(source, configure: { $0.drainTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                _ = await asked.first { true }
                server.stop()
                #expect(await client.rest() == [])
            }
        }
        end.finish()
    }

    @Test func `ends also when no one was connected`() async throws {
        try await TestServer.running(.digits) { $0.stop() }
    }
}

@Suite("A server that starts", .timeLimit(.minutes(10)))
struct StartingTests {
    @Test func `says when its port is in use`() async throws {
        try await TestServer.running(.digits) { first in
            let second = FileServer(configuration: .init(port: first.port), source: .digits)
            await #expect(throws: FileServerError.portInUse(host: "127.0.0.1", port: first.port)) {
                try await second.run()
            }
            let response = try await first.get("/")
            #expect(response.status == 200)
        }
    }

    @Test func `says when its host is not here`() async throws {
        // TEST-NET-1 of RFC 5737 belongs to no machine.
        let server = FileServer(configuration: .init(host: "192.0.2.1", port: 0), source: .digits)
        let error = await #expect(throws: FileServerError.self) { try await server.run() }
        #expect(
            error == .cannotBind(host: "192.0.2.1", port: 0, reason: "Cannot assign requested address")
        )
    }
}
