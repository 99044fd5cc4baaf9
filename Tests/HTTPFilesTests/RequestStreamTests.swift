import HTTPFiles
import NIOCore
import NIOHTTP1
import Testing

/// A source that takes bodies as streams.
struct StreamingSource: FileSource {
    let acceptsBodies = true
    var kind = BodyIntake.stream
    let body: @Sendable (FileRequest, RequestStream) async throws -> FileAnswer

    func decide(_ request: FileRequest) -> FileDecision { .later(kind, answer) }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        guard let stream = request.stream else { return .notFound }
        do { return try await body(request, stream) } catch {
            return .refused(.badGateway, message: "\(error)", headers: [:])
        }
    }

    /// Sends the body back, as it comes.
    static let echo = StreamingSource { _, stream in
        .stream(ServedStream(headers: [:], length: stream.length, pieces: stream))
    }

    /// Tells how many bytes came.
    static let counting = StreamingSource { _, stream in
        let count = try await stream.reduce(0) { $0 + $1.readableBytes }
        return .bytes(ServedBytes(bytes: Array("\(count)".utf8), contentType: "text/plain"))
    }

    /// Answers without a look at the body.
    static let uninterested = StreamingSource { _, _ in .bytes(.digits) }
}

@Suite("A streamed request body", .timeLimit(.minutes(10)))
struct RequestStreamTests {
    @Test func `arrives whole, of a size no other body may have`() async throws {
        let size = 8 << 20
        try await TestServer.running(StreamingSource.counting) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: \(size)"]))
                try await client.send(bytes: Array(repeating: 0x78, count: size))
                #expect(try await client.response().text == "\(size)")
                try await client.send(request("POST", "/", ["Content-Length: 3"]) + "abc")
                #expect(try await client.response().text == "3")
            }
        }
    }

    @Test func `loses its chunks, their extensions and its trailers`() async throws {
        try await TestServer.running(StreamingSource.counting) { server in
            try await server.connected { client in
                let head = request("PUT", "/", ["Transfer-Encoding: chunked", "Trailer: X-Sum"])
                let body = "5;a=b\r\nhello\r\n7\r\n, world\r\n0\r\nX-Sum: 1\r\n\r\n"
                // Byte by byte: no boundary of a packet is one of the framing.
                for byte in (head + body + head + body).utf8 { try await client.send(bytes: [byte]) }
                #expect(try await client.response().text == "12")
                #expect(try await client.response().text == "12")
            }
        }
    }

    @Test func `may be answered while it arrives`() async throws {
        try await TestServer.running(StreamingSource.echo) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 10"]) + "01234")
                let (status, _) = try await client.head()
                #expect(status == 200)
                #expect(try await client.text(5) == "01234")
                try await client.send("56789")
                #expect(try await client.text(5) == "56789")
            }
        }
    }

    @Test func `is held back until it is asked for`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let source = StreamingSource { request, stream in
            if request.method == .POST { _ = await gate.first { true } }
            let count = try await stream.reduce(0) { $0 + $1.readableBytes }
            return .bytes(ServedBytes(bytes: Array("\(count)".utf8), contentType: "text/plain"))
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                let size = 24 << 20
                try await client.send(request("POST", "/", ["Content-Length: \(size)"]))
                let sending = client.sending(ByteBuffer(repeating: 0x78, count: size))
                #expect(await sending.isDone(afterRequestsTo: server) == false)
                open.yield()
                #expect(try await client.response().text == "\(size)")
                #expect(await sending.isDone(afterRequestsTo: server) == true)
            }
        }
    }

    @Test func `that is asked for is continued, and one that is not is not`() async throws {
        try await TestServer.running(StreamingSource.counting) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 5", "Expect: 100-continue"]))
                #expect(try await client.response(toHead: true).status == 100)
                try await client.send("hello")
                #expect(try await client.response().text == "5")
            }
        }
        try await TestServer.running(StreamingSource.uninterested) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 5", "Expect: 100-continue"]))
                let response = try await client.response()
                #expect(response.status == 200)
                // Nobody can know what the client sends next: the body, or a request.
                #expect(response["Connection"] == "close")
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: [(size: 1000, keeps: true), (size: 1 << 20, keeps: false)])
    func `that nobody wants is read to its end, or the connection ends`(size: Int, keeps: Bool) async throws {
        try await TestServer.running(StreamingSource.uninterested) { server in
            try await server.connected { client in
                let body = String(repeating: "GET / HTTP/1.1\r\n\r\n", count: size / 18)
                try await client.send(request("POST", "/", ["Content-Length: \(body.utf8.count)"]))
                let response = try await client.response()
                #expect(response["Connection"] == (keeps ? "keep-alive" : "close"))
                try await client.send(body)
                guard keeps else {
                    #expect(await client.rest() == [])
                    return
                }
                try await client.send(request("GET", "/"))
                #expect(try await client.response().status == 200)
            }
        }
    }

    @Test func `that stalls is answered 408`() async throws {
        try await TestServer.running(StreamingSource.counting, configure: { $0.bodyStallTimeout = .milliseconds(50) }) {
            server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 5"]) + "hell")
                #expect(try await client.response().status == 408)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: ["x\r\n", "5\r\nhelloo\r\n", "5\nhello\r\n", "-1\r\n"])
    func `that breaks its framing is answered 400, and is never whole`(chunks: String) async throws {
        try await TestServer.running(StreamingSource.counting) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Transfer-Encoding: chunked"]) + chunks)
                #expect(try await client.response().status == 400)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `that ends early is an error for whoever reads it`() async throws {
        let (ends, end) = AsyncStream.makeStream(of: String.self)
        let source = StreamingSource { _, stream in
            do { for try await _ in stream {} } catch {
                end.yield("broken")
                throw error
            }
            end.yield("whole")
            return .notFound
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 5"]) + "hell")
            }
            #expect(await ends.first { _ in true } == "broken")
        }
    }

    enum Leaving: CaseIterable { case halfClosing, closing, resetting }

    @Test(arguments: Leaving.allCases)
    func `that is kept has all bytes that came before its client left, and then its error`(_ leaving: Leaving)
        async throws
    {
        let (reads, read) = AsyncStream.makeStream(of: String.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let source = StreamingSource(kind: .keptStream) { request, stream in
            guard request.method == .PATCH else { return .notFound }
            _ = await gate.first { true }
            var count = 0
            do {
                for try await piece in stream { count += piece.readableBytes }
                read.yield("whole \(count)")
            } catch { read.yield("\(count), then \(type(of: error)), \(Task.isCancelled ? "" : "not ")cancelled") }
            return .notFound
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("PATCH", "/", ["Content-Length: 5000"]))
                try await client.send(bytes: Array(repeating: 0x78, count: 3000))
                // A moment's time, in which the server reads what came.
                for _ in 0..<20 { _ = try await server.get("/") }
                switch leaving {
                case .halfClosing: try await client.closeOutput()
                case .closing: break
                case .resetting: try await client.resetAtEnd()
                }
                if leaving == .halfClosing {
                    for _ in 0..<20 { _ = try await server.get("/") }
                    open.yield()
                    #expect(await reads.first { _ in true } == "3000, then RequestFault, not cancelled")
                }
            }
            guard leaving != .halfClosing else { return }
            for _ in 0..<20 { _ = try await server.get("/") }
            open.yield()
            #expect(await reads.first { _ in true } == "3000, then RequestFault, not cancelled")
        }
    }

    @Test func `keeps the order of pipelined requests`() async throws {
        try await TestServer.running(StreamingSource.echo) { server in
            try await server.connected { client in
                let bodies = (1...50).map { String(repeating: "\($0 % 10)", count: $0 * 37) }
                let requests = bodies.map { request("POST", "/", ["Content-Length: \($0.utf8.count)"]) + $0 }
                try await client.send(requests.joined())
                for body in bodies { #expect(try await client.response().text == body) }
            }
        }
    }

    @Test func `tells its request's path as it was spelled, without dot segments`() async throws {
        let source = StreamingSource { request, _ in
            .bytes(ServedBytes(bytes: Array(request.spelledPath.utf8), contentType: "text/plain"))
        }
        let spelled = [
            ("/", "/"), ("/a%3Bb/c;d/", "/a%3Bb/c;d/"), ("/a/./b/../c", "/a/c"), ("//a//b", "/a/b"),
            ("/a/%2e%2e/%41", "/%41"), ("/a/..", "/"), ("http://h/x%20y?q", "/x%20y"),
        ]
        try await TestServer.running(source) { server in
            for (target, path) in spelled {
                let answer = try await server.get(target)
                #expect(answer.text == path)
            }
        }
    }

    @Test func `tells whether its path was spelled with anything to remove`() async throws {
        let source = StreamingSource { request, _ in
            .bytes(ServedBytes(bytes: Array("\(request.isPlain)".utf8), contentType: "text/plain"))
        }
        let plain = ["/", "/a", "/a/", "/a/b?c=//", "/a%20b/..b/c.", "http://h/a", "http://h"]
        let other = [
            "//", "/a//", "/a//b", "/./a", "/a/.", "/a/../b", "/a/..", "/a/%2e%2e/b", "/%2E", "http://h/a/../b",
        ]
        try await TestServer.running(source) { server in
            for (targets, answer) in [(plain, "true"), (other, "false")] {
                for target in targets {
                    let found = try await server.get(target)
                    #expect(found.text == answer, "\(target)")
                }
            }
        }
    }
}
