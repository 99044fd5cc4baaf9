import Dispatch
import HTTPCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import HTTPFiles

extension ServedStream {
    /// What is put into `pieces`, as it comes.
    static func of(_ pieces: AsyncStream<String>, length: Int? = nil, isEndless: Bool = false) -> ServedStream {
        ServedStream(
            headers: ["Content-Type": "text/plain"],
            length: length,
            isEndless: isEndless,
            pieces: pieces.map { ByteBuffer(string: $0) }
        )
    }

    static func of(_ pieces: [String], length: Int? = nil) -> ServedStream {
        let (stream, give) = AsyncStream.makeStream(of: String.self)
        for piece in pieces { give.yield(piece) }
        give.finish()
        return .of(stream, length: length)
    }
}

private struct Broken: Error {}

@Suite("A streamed response", .timeLimit(.minutes(10)))
struct StreamTests {
    @Test func `is chunked when its length is unknown, and the connection goes on`() async throws {
        let source = ClosureSource.answering { _ in .stream(.of(["hello", "", ", world"])) }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for _ in 0..<2 {
                    try await client.send(request("GET", "/"))
                    let (status, headers) = try await client.head()
                    #expect(status == 200)
                    #expect(headers["Transfer-Encoding"] == ["chunked"])
                    #expect(headers["Content-Length"] == [])
                    #expect(headers["Connection"] == ["keep-alive"])
                    #expect(try await client.text(27) == "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n")
                }
            }
        }
    }

    @Test func `has a Content-Length when that is known`() async throws {
        let source = ClosureSource.answering { _ in .stream(.of(["hello", ", world"], length: 12)) }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for _ in 0..<2 {
                    try await client.send(request("GET", "/"))
                    let response = try await client.response()
                    #expect(response.text == "hello, world")
                    #expect(response.headers["Transfer-Encoding"] == [])
                }
            }
        }
    }

    @Test func `ends with the connection in HTTP 1.0`() async throws {
        let source = ClosureSource.answering { _ in .stream(.of(["hello", ", world"])) }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                let (_, headers) = try await client.head()
                #expect(headers["Transfer-Encoding"] == [] && headers["Content-Length"] == [])
                #expect(headers["Connection"] == ["close"])
                #expect(await client.rest() == Array("hello, world".utf8))
            }
        }
    }

    @Test(arguments: [true, false])
    func `has its head sent while its first bytes do not come, or where there are none`(hasLength: Bool) async throws {
        let (pieces, give) = AsyncStream.makeStream(of: String.self)
        let source = ClosureSource.answering { request in
            request.path.text == "/empty"
                ? .stream(.of([], length: hasLength ? 0 : nil)) : .stream(.of(pieces, length: hasLength ? 5 : nil))
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                #expect(try await client.head().0 == 200)
                give.yield("hello")
                give.finish()
                #expect(try await client.text(hasLength ? 5 : 15) == (hasLength ? "hello" : "5\r\nhello\r\n0\r\n\r\n"))
                for _ in 0..<2 {
                    try await client.send(request("GET", "/empty"))
                    #expect(try await client.head().0 == 200)
                    if !hasLength {
                        let end = try await client.text(5)
                        #expect(end == "0\r\n\r\n")
                    }
                }
            }
        }
    }

    @Test func `has its head sent by a loop that is late`() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (accepted, accept) = AsyncStream.makeStream(of: (any Channel).self)
        let listener = try await ServerBootstrap(group: loops)
            .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { _ = accept.yield(channel) } }
            .bind(host: "127.0.0.1", port: 0).get()
        try await RawClient.connected(to: try #require(listener.localAddress?.port)) { client in
            let channel = try #require(await accepted.first { _ in true })
            let release = DispatchSemaphore(value: 0)
            channel.eventLoop.execute { release.wait() }
            // The loop is at this one when the head and its flush are both due.
            channel.eventLoop.execute {}
            channel.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), flushedWithin: .nanoseconds(1))
            let since = ContinuousClock.now
            while since.duration(to: .now) < .microseconds(100) {}
            release.signal()
            #expect(try await client.head().status == 200)
        }
        try await loops.shutdownGracefully()
    }

    @Test func `that fails before its first byte has its head sent`() async throws {
        let source = ClosureSource.answering { _ in .stream(ServedStream(headers: [:]) { _ in throw Broken() }) }
        try await TestServer.running(source) { server in
            for _ in 0..<50 {
                try await server.connected { client in
                    try await client.send(request("GET", "/"))
                    #expect(try await client.head().status == 200)
                    #expect(await client.rest() == [])
                }
            }
        }
    }

    @Test func `is made on its connection's event loop only where its source says that it just waits`() async throws {
        struct Source: FileSource {
            func decide(_ request: FileRequest) -> FileDecision {
                let work: FileDecision.Work = { _ in
                    let made = MultiThreadedEventLoopGroup.currentEventLoop == nil ? "thread" : "loop"
                    return .stream(
                        ServedStream(headers: [:], length: 2 * made.utf8.count + 1) { write in
                            let sent = MultiThreadedEventLoopGroup.currentEventLoop == nil ? "thread" : "loop"
                            try await write(ByteBuffer(string: "\(made) \(sent)"))
                        }
                    )
                }
                return switch request.path.text {
                case "/passing": .passing(work)
                case "/stream": .later(.stream, work)
                default: .later(.whole, work)
                }
            }
        }
        try await TestServer.running(Source()) { server in
            for (path, places) in [
                ("/passing", "loop loop"), ("/stream", "thread thread"), ("/whole", "thread thread"),
            ] {
                let got = try await server.get(path).text
                #expect(got == places, "\(path)")
            }
        }
    }

    @Test func `has no bytes for HEAD, and none are asked for`() async throws {
        let source = ClosureSource.answering { _ in
            .stream(ServedStream(headers: [:], length: 5) { _ in Issue.record("asked for") })
        }
        try await TestServer.running(source) { server in
            let response = try await server.get("/", method: "HEAD")
            #expect(response["Content-Length"] == "5")
        }
    }

    @Test(arguments: [nil, 100])
    func `that fails ends the connection before its end`(length: Int?) async throws {
        let source = ClosureSource.answering { _ in
            .stream(
                ServedStream(headers: [:], length: length) { write in
                    try await write(ByteBuffer(string: "hello"))
                    throw Broken()
                }
            )
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/a?key=secret"))
                _ = try await client.head()
                let rest = await client.rest()
                #expect(String(decoding: rest, as: UTF8.self) == (length == nil ? "5\r\nhello\r\n" : "hello"))
            }
            let line = await server.errorLog.first { _ in true }
            #expect(line == "/a: the response broke after 5 bytes: Broken()", "and the query's secrets are not logged")
        }
    }

    @Test func `whose client goes away is no trouble`() async throws {
        let (never, keep) = AsyncStream.makeStream(of: String.self)
        let source = ClosureSource.answering { request in
            request.path.text == "/broken"
                ? .stream(ServedStream(headers: [:]) { _ in throw Broken() }) : .stream(.of(never, isEndless: true))
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                _ = try await client.head()
                try await client.closeOutput()
                _ = await client.rest()
            }
            try await server.connected { client in
                try await client.send(request("GET", "/broken"))
                _ = await client.rest()
            }
            #expect(await server.errorLog.first { _ in true }?.hasPrefix("/broken: ") == true)
        }
        keep.finish()
    }

    @Test(arguments: [(["hel"], "hel"), (["hello"], "hello"), (["hello", "x"], "hello"), (["hellox"], "")])
    func `never has another number of bytes than it says`(pieces: [String], received: String) async throws {
        let source = ClosureSource.answering { _ in .stream(.of(pieces, length: 5)) }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", ["Connection: close"]))
                _ = try await client.head()
                #expect(String(decoding: await client.rest(), as: UTF8.self) == received)
            }
            guard received == "hel" else { return }
            let line = await server.errorLog.first { _ in true }
            #expect(line?.hasSuffix("the stream does not have its declared length") == true, "\(line ?? "")")
        }
    }

    @Test func `is asked for a piece only when the kernel has taken the one before`() async throws {
        let piece = ByteBuffer(repeating: 0x78, count: 1 << 20)
        let (made, make) = AsyncStream.makeStream(of: Int.self)
        let total = 256
        let source = ClosureSource.answering { _ in
            .stream(
                ServedStream(headers: [:], length: total << 20) { write in
                    for number in 1...total {
                        make.yield(number)
                        try await write(piece)
                    }
                }
            )
        }
        try await TestServer.running(source, configure: { $0.writeTimeout = .milliseconds(200) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                // The write deadline ends the wait for a client that does not read.
                _ = await server.accessLog.first { _ in true }
                make.finish()
                let last = await made.reduce(0) { max($0, $1) }
                #expect(last < total / 2)
                withExtendedLifetime(client) {}
            }
        }
    }

    @Test func `is cancelled when the client goes away while it waits`() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let (never, keep) = AsyncStream.makeStream(of: String.self)
        let source = ClosureSource.answering { _ in
            .stream(
                ServedStream(headers: [:], isEndless: true) { write in
                    try await write(ByteBuffer(string: "first"))
                    for await _ in never {}
                    end.yield(Task.isCancelled)
                }
            )
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                _ = try await client.head()
                #expect(try await client.text(10) == "5\r\nfirst\r\n")
            }
            #expect(await ended.first { _ in true } == true)
        }
        keep.finish()
    }

    @Test func `without an end is ended at once when the server stops`() async throws {
        let (never, keep) = AsyncStream.makeStream(of: String.self)
        let source = ClosureSource.answering { _ in .stream(.of(never, isEndless: true)) }
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                _ = try await client.head()
                server.stop()
                #expect(await client.rest() == [])
            }
        }
        keep.finish()
    }

    @Test func `with an end is sent to it when the server stops`() async throws {
        let (pieces, give) = AsyncStream.makeStream(of: String.self)
        let source = ClosureSource.answering { _ in .stream(.of(pieces)) }
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                _ = try await client.head()
                server.stop()
                give.yield("last")
                give.finish()
                #expect(String(decoding: await client.rest(), as: UTF8.self) == "4\r\nlast\r\n0\r\n\r\n")
            }
        }
    }
}
