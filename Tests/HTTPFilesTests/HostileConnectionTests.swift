import Glibc
import HTTPCore
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing

@testable import HTTPFiles

/// Digits at `/`; a large file at `/large`; POST takes a body, at `/stream` piece by piece, which `/token` has a right to.
private struct Shop: FileSource {
    let acceptsBodies = true
    let large: ServedFile

    func decide(_ request: FileRequest) -> FileDecision {
        switch request.path.text {
        case "/" where request.method == .GET:
            .now(PreparedReply(.bytes(.digits), edition: 1, showsRight: request.query == "token"))
        case "/stream", "/token": .later(.keptStream, answer)
        case "/document": .later(.keptDocument, answer)
        default: .later(.whole, answer)
        }
    }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        if request.path.text == "/large" { return .file(large) }
        if request.path.text == "/token" || request.query == "token" { request.right?.show() }
        if let stream = request.stream {
            do { for try await _ in stream {} } catch {
                return .refused(.badRequest, message: "\(error)", headers: [:])
            }
        }
        return .bytes(.digits)
    }
}

@Suite("A flood of connections from one address", .timeLimit(.minutes(10)))
struct HostileConnectionTests {
    private static let largeSize = 32 * 1024 * 1024
    private let folder: TemporaryFolder
    private let shop: Shop

    init() throws {
        folder = try TemporaryFolder()
        shop = Shop(large: ServedFile(path: try folder.writeSparse("large", size: Int64(Self.largeSize))))
    }

    enum Kind: CaseIterable {
        case idle, drippingHead, drippingBody, drippingStream, drippingReader, pipelining

        var text: String {
            switch self {
            case .idle: ""
            case .drippingHead: "GET / HTTP/1.1\r\nHost: a\r\nX: y"
            case .drippingBody: request("POST", "/", ["Content-Length: 65000"]) + "x"
            case .drippingStream: request("POST", "/stream", ["Content-Length: 65000"]) + "x"
            case .drippingReader: request("GET", "/large")
            case .pipelining: String(repeating: request("GET", "/"), count: 20)
            }
        }
    }

    private func poll(_ server: TestServer, from address: String = "127.0.0.3") async throws -> Int {
        try await server.connected(from: address) { client in
            try await client.send(request("GET", "/"))
            return try await client.response().status
        }
    }

    @Test(arguments: Kind.allCases)
    func `keeps no device of another address from its answer`(kind: Kind) async throws {
        try await TestServer.running(shop, configure: { $0.maxConnections = 16 }) { server in
            let reading = kind != .drippingReader && kind != .pipelining
            try await Crowd.connected(64, to: server, from: "127.0.0.2", saying: kind.text, reading: reading) { crowd in
                for _ in 0..<8 {
                    let status = try await poll(server)
                    #expect(status == 200)
                    await crowd.say("x")
                }
            }
            // One line for all of them.
            let line = try #require(await server.errorLog.first { _ in true })
            #expect(line.hasPrefix("connections: 1 ") && line.hasSuffix("; most of 127.0.0.2: 1"), "\(line)")
        }
    }

    @Test func `keeps no device of the same address from its answer either, while it only waits`() async throws {
        try await TestServer.running(shop, configure: { $0.maxConnections = 16 }) { server in
            try await Crowd.connected(64, to: server, from: "127.0.0.2") { _ in
                for _ in 0..<8 {
                    let status = try await poll(server, from: "127.0.0.2")
                    #expect(status == 200)
                }
            }
        }
    }

    @Test func `ends nobody's answer, and no upload of somebody with a right`() async throws {
        try await TestServer.running(shop, configure: { $0.maxConnections = 16 }) { server in
            try await server.connected(from: "127.0.0.3") { reader in
                try await reader.send(request("GET", "/large"))
                _ = try await reader.head()
                try await server.connected(from: "127.0.0.3") { sender in
                    try await sender.send(request("POST", "/token", ["Content-Length: 10", "Expect: 100-continue"]))
                    #expect(try await sender.response(toHead: true).status == 100)
                    try await Crowd.connected(64, to: server, from: "127.0.0.2") { _ in
                        for number in 0..<20 { #expect(try await poll(server, from: "127.0.1.\(number)") == 200) }
                        try await sender.send("0123456789")
                        #expect(try await sender.response().status == 200)
                        #expect(try await reader.text(Self.largeSize).utf8.count == Self.largeSize)
                    }
                }
            }
        }
    }

    @Test(arguments: ["/?token", "/slow?token"])
    func `of our own user keeps nobody out who has shown a right, nor who comes with one`(target: String) async throws {
        let configure: (inout FileServerConfiguration) -> Void = { configuration in
            configuration.maxConnections = 16
            configuration.sharing = .byUser(strangers: 64)
        }
        try await TestServer.running(shop, configure: configure) { server in
            try await server.connected { page in
                // The second answer to the same head is a remembered one.
                for _ in 0..<2 {
                    try await page.send(request("GET", target))
                    #expect(try await page.response().status == 200)
                }
                for kind in [Kind.idle, .drippingHead, .drippingStream] {
                    try await Crowd.connected(64, to: server, from: "127.0.0.1", saying: kind.text) { _ in
                        let newcomer = try await server.get(target)
                        #expect(newcomer.status == 200)
                    }
                    try await page.send(request("GET", target))
                    #expect(try await page.response().status == 200)
                }
            }
        }
    }

    @Test func `before TLS was spoken makes room for a device that speaks it`() async throws {
        let certificate = try await TestCertificate()
        let identity = try certificate.identity()
        let configure: (inout FileServerConfiguration) -> Void = { configuration in
            configuration.maxConnections = 16
            configuration.tls = RenewableIdentity(identity)
        }
        try await TestServer.running(shop, configure: configure) { server in
            let client = try certificate.clientContext()
            for half in ["", "\u{16}\u{3}\u{1}\u{1}"] {
                try await Crowd.connected(64, to: server, from: "127.0.0.2", saying: half) { _ in
                    try await RawClient.connected(to: server.port, tls: client, from: "127.0.0.3") { client in
                        try await client.send(request("GET", "/"))
                        #expect(try await client.response().status == 200)
                    }
                }
            }
        }
    }

    @Test func `through a proxy that is trusted counts for the address that it names`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let asked = NIOLockedValueBox(0)
        let source = ClosureSource.answering { request in
            guard request.path.text == "/slow" else { return .bytes(.digits) }
            asked.withLockedValue { $0 += 1 }
            _ = await gate.first { true }
            return .bytes(.digits)
        }
        let proxies = try #require(TrustedProxies("127.0.0.2"))
        let configure: (inout FileServerConfiguration) -> Void = { configuration in
            configuration.maxConnections = 16
            configuration.sharing = .byAddress(trustedProxies: proxies)
        }
        try await TestServer.running(source, configure: configure) { server in
            let slow = request("GET", "/slow", ["X-Forwarded-For: 192.0.2.1"])
            try await Crowd.connected(8, to: server, from: "127.0.0.2", saying: slow) { _ in
                while asked.withLockedValue(\.self) < 8 { _ = try await server.get("/") }
                // Eight are at work; with four more connections room is short, and they have more than their share.
                try await Crowd.connected(4, to: server, from: "127.0.0.4") { _ in
                    for (address, status) in [("192.0.2.1", 503), ("192.0.2.2", 200)] {
                        try await server.connected(from: "127.0.0.2") { proxy in
                            try await proxy.send(request("GET", "/", ["X-Forwarded-For: \(address)"]))
                            #expect(try await proxy.response().status == status)
                        }
                    }
                }
            }
            open.finish()
        }
    }
}

@Suite("A client that drips", .timeLimit(.minutes(10)))
struct DrippingClientTests {
    /// Says a byte now and then, each after an answer on another connection, until it is told something.
    private func status(of client: inout RawClient, dripping byte: String, at server: TestServer) async throws -> Int {
        var log = server.accessLog.makeAsyncIterator()
        repeat {
            try? await client.send(byte)
            _ = try await server.get("/")
        } while await log.next()?.status == 200
        return try await client.response().status
    }

    @Test(arguments: [BodyIntake.stream, .keptStream, .keptDocument])
    func `with a streamed body gets 408 at the end of its time, and its connection ends`(kind: BodyIntake) async throws
    {
        let source = StreamingSource(kind: kind) { _, stream in
            for try await _ in stream {}
            return .bytes(.digits)
        }
        let configure: (inout FileServerConfiguration) -> Void = { configuration in
            (configuration.bodyStallTimeout, configuration.bodyTimeout) = (.milliseconds(100), .milliseconds(100))
        }
        try await TestServer.running(source, configure: configure) { server in
            try await server.connected { client in
                try await client.send(request("POST", "/", ["Content-Length: 65000"]))
                #expect(try await status(of: &client, dripping: "x", at: server) == 408)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `is given no more time for a small document by being fast, but for a long stream it is`() {
        let configuration = FileServerConfiguration()
        let kinds: [BodyIntake] = [.keptDocument, .keptStream, .stream]
        let whole = Pace(grace: .seconds(60), rate: nil)
        let least = Pace(grace: .seconds(60), rate: 2_000)
        #expect(kinds.map(configuration.sendingPace) == [whole, least, least])
        #expect(configuration.readingPace == least)
    }

    @Test func `with its reading has one time for all answers together`() async throws {
        let source = ClosureSource.answering { request in
            guard request.path.text == "/large" else { return .bytes(.digits) }
            return .bytes(ServedBytes(bytes: Array(repeating: 0, count: 100_000), contentType: "text/plain"))
        }
        let configure: (inout FileServerConfiguration) -> Void = { configuration in
            // Shorter than the moments of all answers together, on the fastest machine too.
            configuration.writeTimeout = .milliseconds(100)
            configuration.leastRate = 1_000_000_000
        }
        try await TestServer.running(source, configure: configure) { server in
            try await server.connected { client in
                try await client.send(String(repeating: request("GET", "/large"), count: 300))
                var answers = 0
                do {
                    while answers < 300 {
                        _ = try await client.response()
                        answers += 1
                        // A moment's time.
                        for _ in 0..<5 { _ = try await server.get("/") }
                    }
                } catch is RawClient.ConnectionEnded {}
                #expect(answers < 300)
            }
        }
    }
}

@Suite("Another user of this machine", .timeLimit(.minutes(10)))
struct OtherUserTests {
    @Test(
        arguments: [
            (nil, ClientGroup.boundless), (0, .boundless), (1_000, .boundless), (65_534, .user(65_534)),
        ] as [(UInt32?, ClientGroup)]
    )
    func `is who is neither root nor whoever runs the server`(user: UInt32?, group: ClientGroup) {
        #expect(ClientGroup(user: user, ourselves: 1_000) == group)
    }

    @Test func `is told by the system, and has so many strangers; ourselves have room`() async throws {
        let turnedAway = TurnedAway()
        let configure: (inout FileServerConfiguration) -> Void = { $0.sharing = .byUser(strangers: 2) }
        try await TestServer.running(.digits, turnedAway: turnedAway, configure: configure) { server in
            try await Crowd.connected(8, to: server, from: "127.0.0.1") { _ in
                for _ in 0..<8 {
                    let status = try await server.get("/").status
                    #expect(status == 200)
                }
            }
            #expect(turnedAway.count == 0)
            guard getuid() == 0 else { return }
            // Three connections of nobody's, each answered before the next comes; the first must go for the third.
            let script = """
                ask() { printf 'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' >&$1; read -r -u $1 line; }
                exec 3<>/dev/tcp/127.0.0.1/\(server.port); ask 3
                exec 4<>/dev/tcp/127.0.0.1/\(server.port); ask 4
                exec 5<>/dev/tcp/127.0.0.1/\(server.port); ask 5
                cat <&3 >/dev/null; echo "the first has ended"; echo "third: $line"
                """
            let said = try await run("setpriv", ["--reuid", "65534", "--clear-groups", "bash", "-c", script])
            #expect(said.text.hasPrefix("the first has ended\nthird: HTTP/1.1 200 OK"), "\(said.text)")
            #expect(turnedAway.count == 0, "nobody of ours")
        }
        try await TestServer.running(.digits, turnedAway: turnedAway, configure: { $0.maxConnections = 1 }) { server in
            try await Crowd.connected(2, to: server, from: "127.0.0.1") { _ in
                while turnedAway.count == 0 { _ = try? await server.get("/") }
            }
        }
    }
}
