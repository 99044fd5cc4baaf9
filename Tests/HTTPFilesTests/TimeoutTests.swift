import HTTPCore
import HTTPFiles
import PatchTesting
import Testing

@Suite("A slow client", .timeLimit(.minutes(10)))
struct TimeoutTests {
    @Test(arguments: ["G", "GET / HTTP/1.1\r\nHost: a\r\nX: y"])
    func `gets 408 when its head does not arrive in time`(text: String) async throws {
        try await TestServer.running(.digits, configure: { $0.headerTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send(text)
                #expect(try await client.response().status == 408)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `gets 408 also when it keeps dripping`() async throws {
        try await TestServer.running(.digits, configure: { $0.headerTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send("GET / HTTP/1.1\r\n")
                // A request on another connection is a moment's time, and a line in the log.
                var log = server.accessLog.makeAsyncIterator()
                repeat {
                    try await client.send("X: y\r\n")
                    _ = try await server.get("/")
                } while await log.next()?.status == 200
                #expect(try await client.response().status == 408)
            }
        }
    }

    @Test func `gets 408 when its body does not arrive in time`() async throws {
        try await TestServer.running(.echo, configure: { $0.bodyTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 5"]) + "hell")
                #expect(try await client.response().status == 408)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `is disconnected without a word when it asks nothing`() async throws {
        try await TestServer.running(.digits, configure: { $0.idleTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `is disconnected without a word when it asks nothing more`() async throws {
        #expect(
            try await holdsWithGrowingTime(from: .milliseconds(100)) { time in
                try await TestServer.running(.digits, configure: { $0.idleTimeout = time }) { server in
                    try await server.answersAndEnds(request("GET", "/"), status: 200)
                }
            }
        )
    }

    @Test func `is disconnected when it does not read`() async throws {
        let folder = try TemporaryFolder()
        let size = 256 * 1024 * 1024
        let file = try folder.writeSparse("large", size: Int64(size))
        let source = ClosureSource.answering { _ in .file(ServedFile(path: file)) }
        try await TestServer.running(source, configure: { $0.writeTimeout = .milliseconds(100) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                let entry = try #require(await server.accessLog.first { _ in true })
                #expect(entry.bodyBytes < size)
                #expect(await client.rest().count < size)
            }
        }
    }

    @Test func `does not hold up another`() async throws {
        let folder = try TemporaryFolder()
        let size = 64 * 1024 * 1024
        let file = try folder.writeSparse("large", size: Int64(size))
        let source = ClosureSource.answering { request in
            request.path.text == "/large" ? .file(ServedFile(path: file)) : .bytes(.digits)
        }
        try await TestServer.running(source) { server in
            try await server.connected { slow in
                try await slow.send(request("GET", "/large"))
                for _ in 0..<20 { #expect(try await server.get("/").status == 200) }
                #expect(try await slow.response().body.count == size)
            }
        }
    }
}
