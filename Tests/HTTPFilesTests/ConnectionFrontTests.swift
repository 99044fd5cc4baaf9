import NIOCore
import PatchTesting
import Testing

@testable import HTTPFiles

/// What the front of a connection answers at once, and what it leaves to the connection behind it.
@Suite("The front of a connection", .timeLimit(.minutes(10)))
struct ConnectionFrontTests {
    @Test func `never answers ahead of a request that has to wait`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let source = PreparedSource.echoing(wait: { _ in _ = await gate.first { true } })
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/1") + request("GET", "/slow") + request("GET", "/2"))
                #expect(try await client.response().text == "GET /1 ")
                try await client.send(request("GET", "/3"))
                // Another connection is answered meanwhile.
                #expect(try await server.get("/other").text == "GET /other ")
                open.yield()
                for path in ["/slow", "/2", "/3"] { #expect(try await client.response().text == "GET \(path) ") }
            }
        }
    }

    @Test func `answers a hundred pipelined requests in order, whoever answers them`() async throws {
        let source = PreparedSource.echoing()
        let paths = (0..<100).map { $0 % 10 == 3 ? "/slow\($0)" : "/\($0)" }
        try await TestServer.running(source) { server in
            for _ in 0..<2 {
                try await server.connected { client in
                    try await client.send(paths.map { request("GET", $0) }.joined())
                    for path in paths { #expect(try await client.response().text == "GET \(path) ") }
                }
            }
            #expect(source.prepared >= 3 && source.answered > 0)
        }
    }

    @Test func `answers a hundred pipelined requests alone when none has to wait`() async throws {
        let source = PreparedSource.echoing()
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send((0..<100).map { request("GET", "/\($0)") }.joined())
                for number in 0..<100 { #expect(try await client.response().text == "GET /\(number) ") }
            }
        }
        #expect(source.prepared == 100 && source.answered == 0)
    }

    @Test func `has the turn again when all that waited is answered`() async throws {
        let source = PreparedSource.echoing(.once)
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for round in 1...3 {
                    try await client.send(request("GET", "/slow"))
                    #expect(try await client.response().text == "GET /slow ")
                    #expect(source.answered == round)
                    // The turn comes back after the answer, so the first of these may be answered behind.
                    var asked = 0
                    repeat {
                        asked += 1
                        try await client.send(request("GET", "/fast"))
                        #expect(try await client.response().text == "GET /fast ")
                    } while source.prepared < round && asked < 1000
                    #expect(source.prepared >= round)
                    try #require(source.answered < 1000)
                    source.forgetAnswered(but: round)
                }
            }
        }
    }

    @Test(arguments: ["Content-Length: 28", "Transfer-Encoding: chunked"])
    func `does not take a body for a request that looks like one`(framing: String) async throws {
        let smuggled = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
        try #require(smuggled.utf8.count == 28)
        let body = framing.hasPrefix("T") ? "1c\r\n\(smuggled)\r\n0\r\n\r\n" : smuggled
        let source = PreparedSource.echoing()
        try await TestServer.running(source) { server in
            try await server.connected { client in
                // The head alone first, so that the body is the first thing in what is read next.
                try await client.send(request("GET", "/a") + request("POST", "/b", [framing]))
                #expect(try await client.response().text == "GET /a ")
                try await client.send(body)
                #expect(try await client.response().text == "POST /b \(smuggled)")
                try await client.send(request("GET", "/c"))
                #expect(try await client.response().text == "GET /c ")
            }
        }
    }

    @Test func `refuses a GET with a body, and what follows is nobody's request`() async throws {
        let source = PreparedSource.echoing()
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/a", ["Content-Length: 5"]) + request("GET", "/b"))
                #expect(try await client.response().status == 400)
                #expect(await client.rest() == [])
            }
        }
        #expect(source.prepared == 0 && source.answered == 0)
    }

    @Test func `takes a head that arrives in pieces, between heads that arrive whole`() async throws {
        let source = PreparedSource.echoing()
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for split in [1, 5, 16, 20, 36] {
                    try await client.send(request("GET", "/whole"))
                    #expect(try await client.response().text == "GET /whole ")
                    let text = request("GET", "/parts")
                    try await client.send(String(text.prefix(split)))
                    // An answer to another connection is a moment's time.
                    #expect(try await server.get("/other").status == 200)
                    try await client.send(String(text.dropFirst(split)))
                    #expect(try await client.response().text == "GET /parts ")
                }
            }
        }
    }

    @Test(arguments: [
        "GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\nHost: a\n\n", "GET /%2e%2fa HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /a HTTP/1.1\r\nHost : a\r\n\r\n",
        "BREW /a HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a HTTP/2.0\r\nHost: a\r\n\r\n",
    ])
    func `leaves what is malformed to the connection behind it`(text: String) async throws {
        let source = PreparedSource.echoing()
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/first") + text)
                #expect(try await client.response().text == "GET /first ")
                #expect(try await client.response().status >= 400)
                #expect(await client.rest() == [])
            }
        }
        #expect(source.prepared == 1 && source.answered == 0)
    }

    @Test(arguments: [
        (head: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", connection: "close"),
        (head: "GET / HTTP/1.0\r\n\r\n", connection: "close"),
    ])
    func `closes after its answer when the client asks for it`(head: String, connection: String) async throws {
        try await TestServer.running(PreparedSource.echoing()) { server in
            for _ in 0..<2 {
                try await server.connected { client in
                    try await client.send(head + request("GET", "/never"))
                    let response = try await client.response()
                    #expect(response.text == "GET / " && response["Connection"] == connection)
                    #expect(await client.rest() == [])
                }
            }
        }
    }

    @Test(arguments: ["/fast", "/slow"])
    func `answers a client that has said it sends nothing more`(last: String) async throws {
        try await TestServer.running(PreparedSource.echoing()) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/fast") + request("GET", last))
                try await client.closeOutput()
                #expect(try await client.response().text == "GET /fast ")
                #expect(try await client.response().text == "GET \(last) ")
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: ["/fast", "/slow"])
    func `closes when the client has ended after its answer`(path: String) async throws {
        try await TestServer.running(PreparedSource.echoing()) { server in
            try await server.connected { client in
                try await client.send(request("GET", path))
                #expect(try await client.response().text == "GET \(path) ")
                try await client.closeOutput()
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: ["/fast", "/slow"])
    func `closes what is idle after an answer, whoever gave it`(path: String) async throws {
        let source = PreparedSource.echoing()
        #expect(
            try await holdsWithGrowingTime(from: .milliseconds(100)) { time in
                try await TestServer.running(source, configure: { $0.idleTimeout = time }) { server in
                    try await server.answersAndEnds(request("GET", path), status: 200)
                }
            }
        )
    }

    @Test func `closes nothing that was idle for less than its time`() {
        let rests = [0, 4, 9, 10, 11].map { ConnectionFront.rest(of: .seconds(10), afterIdle: .seconds($0)) }
        #expect(rests == [.seconds(10), .seconds(6), .seconds(1), nil, nil])
    }

    @Test func `gives a head that does not end 408, also after an answer`() async throws {
        let source = PreparedSource.echoing()
        try await TestServer.running(source, configure: { $0.headerTimeout = .milliseconds(50) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/fast") + "GET / HTTP")
                #expect(try await client.response().text == "GET /fast ")
                #expect(try await client.response().status == 408)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `counts its connections, and makes room as soon as one of them waits`() async throws {
        let source = HoldingSource(PreparedSource.echoing())
        try await TestServer.running(source, configure: { $0.maxConnections = 1 }) { server in
            try await server.connected { first in
                let held = try await source.holding(&first) {
                    try await server.connected { second in
                        let refusal = try await second.response()
                        #expect(refusal.status == 503)
                        #expect(await second.rest() == [])
                    }
                }
                #expect(held.status == 200)
                // Answered on the front, it waits there; what has waited goes.
                try await first.send(request("GET", "/fast"))
                #expect(try await first.response().status == 200)
                #expect(try await server.get("/fast").status == 200)
                #expect(await first.rest() == [])
            }
        }
    }

    @Test func `closes the idle when the server stops, whoever answered them`() async throws {
        let source = PreparedSource.echoing()
        try await TestServer.running(source, configure: { $0.drainTimeout = .seconds(600) }) { server in
            try await server.connected { fast in
                try await fast.send(request("GET", "/fast"))
                _ = try await fast.response()
                try await server.connected { slow in
                    try await slow.send(request("GET", "/slow"))
                    _ = try await slow.response()
                    try await server.connected { silent in
                        server.stop()
                        #expect(await fast.rest() == [])
                        #expect(await slow.rest() == [])
                        #expect(await silent.rest() == [])
                    }
                }
            }
        }
    }
}
