import HTTPCore
import NIOConcurrencyHelpers
import PatchCompression
import PatchFormat
import PatchCrypto
import Testing

@testable import PatchFetch

/// The fetcher against servers on real sockets.
@Suite("A fetch over HTTP", .timeLimit(.minutes(10)))
struct HTTPFetcherTests {
    private let body = "0123456789"
    private var object: Fingerprint { Fingerprint(of: Array(body.utf8)) }

    /// What comes of one fetch: its parts, or the error after them.
    private func fetch(
        _ request: FetchRequest? = nil,
        settings: HTTPFetcher.Settings = .patient,
        _ answer: @escaping @Sendable (String) -> RawServer.Answer
    ) async throws -> (parts: [FetchedPart], error: FetchError?, heads: [String]) {
        try await RawServer.running(answer) { server in
            let request =
                request ?? FetchRequest("objects/x", limit: 10, deadline: .seconds(600), expected: ExpectedFile(object))
            return try await HTTPFetcher.with([server.url()], app: RawServer.app, settings) { sources in
                var parts: [FetchedPart] = []
                do throws(FetchError) {
                    try await sources[0].fetcher.fetch(request) { parts.append($0) }
                    return (parts, nil, server.heads)
                } catch { return (parts, error, server.heads) }
            }
        }
    }

    private func resuming(at offset: Int = 4) -> FetchRequest {
        FetchRequest(
            "objects/x",
            limit: 10,
            deadline: .seconds(600),
            expected: ExpectedFile(object),
            resume: .init(offset: offset, validator: "\"v1\"")
        )
    }

    @Test func `asks for a compressed form where there is one, and for no part`() async throws {
        let (parts, error, heads) = try await fetch { _ in .bytes(.answer("200 OK", ["ETag: \"v1\""], "0123456789")) }
        #expect(error == nil)
        #expect(parts == [.head(FetchedHead(validator: "\"v1\"", length: 10)), .bytes(Array(body.utf8))])
        let head = try #require(heads.first).lowercased()
        #expect(head.hasPrefix("get /com.example.storefront/objects/x http/1.1\r\n"))
        #expect(head.contains("\r\naccept-encoding: zstd, gzip\r\n"))
        #expect(head.contains("\r\nuser-agent: patchsync"))
        #expect(!head.contains("range") && !head.contains("if-none-match"))
    }

    @Test func `asks for the rest by Range and If-Range`() async throws {
        let (parts, error, heads) = try await fetch(resuming()) { _ in
            .bytes(.answer("206 Partial Content", ["Content-Range: bytes 4-9/10", "ETag: \"v1\""], "456789"))
        }
        #expect(error == nil)
        #expect(parts == [.head(FetchedHead(offset: 4, validator: "\"v1\"", length: 6)), .bytes(Array("456789".utf8))])
        let head = try #require(heads.first).lowercased()
        #expect(head.contains("\r\nrange: bytes=4-\r\n") && head.contains("\r\nif-range: \"v1\""))
        // Of what came as it is.
        #expect(head.contains("\r\naccept-encoding: identity\r\n"))
    }

    @Test func `asks for a part by Range alone where the path names the content`() async throws {
        var request = FetchRequest("packs/x", limit: 10, deadline: .seconds(600))
        request.resume = .init(offset: 4, validator: nil, end: 8)
        let (parts, error, heads) = try await fetch(request) { _ in
            .bytes(.answer("206 Partial Content", ["Content-Range: bytes 4-7/10"], "4567"))
        }
        #expect(error == nil)
        #expect(parts == [.head(FetchedHead(offset: 4, length: 4)), .bytes(Array("4567".utf8))])
        let head = try #require(heads.first).lowercased()
        #expect(head.contains("\r\nrange: bytes=4-7\r\n") && !head.contains("if-range"))
        #expect(head.contains("\r\naccept-encoding: identity\r\n"))
    }

    @Test func `comes no faster than it may, over all requests together, and its waits are no delay of the server`()
        async throws
    {
        let waits = NIOLockedValueBox<[Duration]>([])
        let start = ContinuousClock.now
        var settings = HTTPFetcher.Settings.patient
        settings.deadlines.rate = 10
        // The clock stands: all time that passes is waited for.
        settings.clock = { start }
        settings.sleep = { wait in waits.withLockedValue { $0.append(wait) } }
        let pieces = [String](repeating: body, count: 300)
        try await RawServer.running({ _ in .bytes(.answer("200 OK", [], pieces.joined())) }) { server in
            try await HTTPFetcher.with([server.url(), server.url()], app: RawServer.app, settings) { sources in
                for source in sources {
                    // Shorter than what is waited.
                    let request = FetchRequest("objects/x", limit: 3_000, deadline: .seconds(300))
                    var bytes = 0
                    try await source.fetcher.fetch(request) { if case .bytes(let piece) = $0 { bytes += piece.count } }
                    #expect(bytes == 3_000)
                }
            }
        }
        let found = waits.withLockedValue { $0 }
        #expect(found == found.sorted() && found.last == .seconds(600))
    }

    @Test(arguments: [(nil, 120, 30), (1_000_000, 120, 30), (12_000, 1_000, 95)])
    func `may take as long as its share of the rate needs`(rate: Int?, million: Int, reading: Int) {
        var deadlines = Deadlines()
        deadlines.rate = rate
        #expect(deadlines.object(of: 1_000_000) == .seconds(million))
        #expect(deadlines.reading.components.seconds == reading)
    }

    @Test func `takes the whole file where the server gives no part`() async throws {
        let (parts, error, _) = try await fetch(resuming()) { _ in .bytes(.answer("200 OK", [], "0123456789")) }
        #expect(error == nil)
        #expect(parts == [.head(FetchedHead(length: 10)), .bytes(Array(body.utf8))])
    }

    @Test func `asks for all of it where there is no such part`() async throws {
        let (parts, error, heads) = try await fetch(resuming()) { head in
            head.lowercased().contains("range:")
                ? .bytes(.answer("416 Range Not Satisfiable")) : .bytes(.answer("200 OK", [], "0123456789"))
        }
        #expect(error == nil && heads.count == 2)
        #expect(parts == [.head(FetchedHead(length: 10)), .bytes(Array(body.utf8))])
    }

    @Test func `asks for all of it where another part comes`() async throws {
        let parts = [
            ["Content-Range: bytes 5-9/10"], ["Content-Range: bytes 4-9/15"],
            ["Content-Type: multipart/byteranges; boundary=x"],
        ]
        for fields in parts {
            let (parts, error, heads) = try await fetch(resuming()) { head in
                head.lowercased().contains("range:")
                    ? .bytes(.answer("206 Partial Content", fields, "56789"))
                    : .bytes(.answer("200 OK", [], "0123456789"))
            }
            #expect(error == nil && heads.count == 2)
            #expect(parts == [.head(FetchedHead(length: 10)), .bytes(Array(body.utf8))])
        }
    }

    @Test func `counts the bytes of a file whose size is signed, whatever length is announced`() async throws {
        let (parts, error, _) = try await fetch { _ in .last("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n0123456789")
        }
        #expect(error == nil)
        #expect(parts == [.head(FetchedHead(length: 99)), .bytes(Array(body.utf8))])
        let more = try await fetch { _ in .bytes(.answer("200 OK", [], "0123456789x")) }
        #expect(more.error == .tooLarge("objects/x", limit: 10))
        let less = try await fetch { _ in .last("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n012345678") }
        #expect(less.error == .short("objects/x"))
    }

    /// What comes of a body that is announced with a coding that was not asked for.
    private func undone(_ coding: String, _ sent: [UInt8], isExpected: Bool) async throws -> (
        bytes: [UInt8], error: FetchError?
    ) {
        var request = FetchRequest("objects/x", limit: 10, deadline: .seconds(600))
        if isExpected { request.expected = ExpectedFile(object) }
        request.isPlain = true
        let (parts, error, heads) = try await fetch(request) { _ in .answer(["Content-Encoding: \(coding)"], sent) }
        #expect(heads.count == 1 && heads[0].lowercased().contains("\r\naccept-encoding: identity\r\n"))
        #expect(parts.first == .head(FetchedHead()))
        return (parts.reduce(into: [UInt8]()) { if case .bytes(let bytes) = $1 { $0 += bytes } }, error)
    }

    @Test(arguments: [true, false])
    func `undoes what is announced without having been asked for, or takes it as it is`(isExpected: Bool) async throws {
        let file = Array(body.utf8)
        let (once, zstd) = (
            try CompressionFormat.gzip.compressed(file), try CompressionFormat.zstandard.compressed(file)
        )
        let twice = try CompressionFormat.gzip.compressed(once)
        for (coding, sent) in [
            ("gzip", once), ("X-GZIP", once), ("zstd", zstd), ("gzip, gzip", twice), ("gzip, gzip", once),
            ("gzip", file),
            ("zstd", file), ("gzip, zstd", file), ("gzip, zstd", try CompressionFormat.zstandard.compressed(once)),
            ("aws-chunked, gzip", once),
        ] {
            let (bytes, error) = try await undone(coding, sent, isExpected: isExpected)
            #expect(bytes == file && error == nil, "\(coding) of \(sent.count) bytes")
        }
        let (bytes, error) = try await undone("gzip", Array(once.dropLast(3)), isExpected: isExpected)
        #expect(error == .badForm("objects/x", .incomplete(.gzip)), "\(bytes)")
        let bomb = try CompressionFormat.gzip.compressed([UInt8](repeating: 0x20, count: 3_000_000))
        #expect(
            try await undone("gzip", bomb, isExpected: isExpected).error
                == .badForm("objects/x", .tooLong(.gzip, limit: 10))
        )
    }

    private static func noise(_ count: Int) -> [UInt8] {
        (0..<UInt64(count)).map { number in
            var bits = number &* 0x9E37_79B9_7F4A_7C15
            bits ^= bits >> 31
            return UInt8(truncatingIfNeeded: (bits &* 0xBF58_476D_1CE4_E5B9) >> 56)
        }
    }

    @Test func `takes a file that is a compressed one for itself, as its digest says`() async throws {
        for count in [10, 100_000] {
            let file = try CompressionFormat.gzip.compressed(Self.noise(count))
            let expected = ExpectedFile(Fingerprint(of: file))
            var request = FetchRequest("objects/x", limit: file.count, deadline: .seconds(600), expected: expected)
            request.isPlain = true
            for sent in [file, try CompressionFormat.gzip.compressed(file)] {
                let (parts, error, _) = try await fetch(request) { _ in .answer(["Content-Encoding: gzip"], sent) }
                let bytes = parts.reduce(into: [UInt8]()) { if case .bytes(let bytes) = $1 { $0 += bytes } }
                #expect(bytes == file && error == nil, "\(sent.count) for \(file.count)")
            }
        }
    }

    @Test func `follows a redirect within its server, as often as it may`() async throws {
        var settings = HTTPFetcher.Settings.patient
        settings.redirects = 2
        for (target, count, isFollowed) in [
            ("/cdn/x", 1, true), ("y/z", 2, true), ("/cdn/x", 3, false), ("//127.0.0.1:1/x", 1, false),
            ("https://127.0.0.1/x", 1, false), ("/a b", 1, false),
        ] {
            let left = NIOLockedValueBox(count)
            let (parts, error, heads) = try await fetch(settings: settings) { _ in
                let isLast = left.withLockedValue {
                    $0 -= 1; return $0 < 0
                }
                return .bytes(
                    isLast ? .answer("200 OK", [], "0123456789") : .answer("302 Found", ["Location: \(target)"])
                )
            }
            #expect(error == (isFollowed ? nil : .redirected("objects/x", to: target)), "\(target)")
            #expect(parts.isEmpty != isFollowed && heads.count == (isFollowed ? count + 1 : min(count, 3)), "\(target)")
            if isFollowed {
                let path =
                    target.hasPrefix("/")
                    ? target : "/com.example.storefront/objects/\(count == 2 ? "y/" : "")\(target)"
                #expect(heads.last?.hasPrefix("GET \(path) HTTP/1.1\r\n") == true, "\(heads)")
            }
        }
    }

    @Test func `refuses a part that is shorter than the range it says it is`() async throws {
        let (parts, error, _) = try await fetch(resuming()) { _ in
            .bytes(.answer("206 Partial Content", ["Content-Range: bytes 4-9/10", "ETag: \"v1\""], "456"))
        }
        #expect(error == .short("objects/x"))
        #expect(parts == [.head(FetchedHead(offset: 4, validator: "\"v1\"", length: 6)), .bytes(Array("456".utf8))])
    }

    @Test func `follows no redirect unless it may`() async throws {
        let (parts, error, heads) = try await fetch { _ in
            .bytes(.answer("302 Found", ["Location: /com.example.storefront/objects/y"]))
        }
        #expect(error == .redirected("objects/x", to: "/com.example.storefront/objects/y"))
        #expect(parts == [] && heads.count == 1)
    }

    @Test(arguments: [
        ("302 Found", ["Location: http://login.hotel.test/"], Interception.redirect(to: "http://login.hotel.test/")),
        ("511 Network Authentication Required", [], .status(511)),
        ("407 Proxy Authentication Required", [], .status(407)),
    ])
    func `knows a captive portal that answers in the server's place`(
        status: String,
        fields: [String],
        sign: Interception
    ) async throws {
        let (parts, error, heads) = try await fetch { _ in .bytes(.answer(status, fields, "<html>")) }
        #expect(error == .intercepted("objects/x", sign))
        #expect(parts == [] && heads.count == 1)
    }

    @Test(arguments: [0, 42, 99])
    func `lives through a status that none can be, and calls it a lie`(status: Int) async throws {
        let line = "HTTP/1.1 " + String(repeating: "0", count: 3 - "\(status)".count) + "\(status) X\r\n"
        for rest in ["Content-Length: 0\r\n\r\n", "Content-Length: 3\r\n\r\nabc", "\r\n"] {
            let (parts, error, heads) = try await fetch { _ in .last(line + rest) }
            #expect(
                error == .answer("objects/x", .status(status)) && error?.isServerFault == true
                    && error?.isNetwork == false
            )
            #expect(parts == [] && heads.count == 1)
        }
    }

    @Test func `stops reading at the first byte too many`() async throws {
        let (parts, error, _) = try await fetch { _ in
            .endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", then: "4\r\nabcd\r\n")
        }
        #expect(error == .tooLarge("objects/x", limit: 10))
        #expect(parts.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } } <= 10)
    }

    @Test func `never takes more than was announced`() async throws {
        let (parts, error, _) = try await fetch { _ in .bytes(.answer("200 OK", [], "0123456789") + "and more") }
        #expect(error == nil)
        #expect(parts.dropFirst() == [.bytes(Array(body.utf8))])
    }

    @Test func `names a body that ends early`() async throws {
        let (_, error, _) = try await fetch { _ in .last("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123") }
        #expect(error == .short("objects/x"))
    }

    @Test func `gives up on a server that falls silent, before its answer or within it`() async throws {
        var settings = HTTPFetcher.Settings.patient
        settings.deadlines.stall = .milliseconds(50)
        let silent = try await fetch(settings: settings) { _ in .silence }
        #expect(silent.error == .stalled("objects/x"))
        let stuck = try await fetch(settings: settings) { _ in
            .bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123")
        }
        #expect(stuck.error == .stalled("objects/x"))
    }

    @Test func `gives up on an answer that does not come by its deadline`() async throws {
        let request = FetchRequest("objects/x", limit: 10, deadline: .milliseconds(50), expected: ExpectedFile(object))
        let late = try await fetch(request) { _ in .silence }
        #expect(late.error == .timedOut("objects/x"))
    }

    @Test func `gives up at its deadline on a body that drips`() async throws {
        let time = NIOLockedValueBox(ContinuousClock.now)
        var settings = HTTPFetcher.Settings.patient
        // Each look at the clock is six seconds later.
        settings.clock = {
            time.withLockedValue {
                $0 += .seconds(6); return $0
            }
        }
        let request = FetchRequest("objects/x", limit: 1_000_000_000, deadline: .seconds(30))
        let (_, error, _) = try await fetch(request, settings: settings) { _ in
            .endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", then: "1\r\na\r\n")
        }
        #expect(error == .timedOut("objects/x"))
    }

    @Test func `refuses a page and a packed body before their bodies`() async throws {
        let answers: [(fields: [String], error: FetchError)] = [
            (["Content-Type: text/html"], .webPage("objects/x")),
            (["Content-Encoding: br"], .encoded("objects/x", as: "br")),
        ]
        for (fields, expected) in answers {
            let (parts, error, _) = try await fetch { _ in .bytes(.answer("200 OK", fields, "<html>")) }
            #expect(error == expected && parts == [])
        }
    }

    @Test func `names a page in place of a document`() async throws {
        let request = FetchRequest("metadata/timestamp.json", limit: 1_000, deadline: .seconds(600))
        let page = String.answer("200 OK", ["Content-Type: text/html"], "<html>Welcome to our hotel</html>")
        #expect(try await fetch(request) { _ in .bytes(page) }.error == .webPage("metadata/timestamp.json"))
        // A host that calls everything a page is no reason to refuse what is none.
        let document = String.answer("200 OK", ["Content-Type: text/html"], "{}")
        #expect(try await fetch(request) { _ in .bytes(document) }.error == nil)
    }

    @Test func `names what is known by its digest, and takes it for current on a 304 alone`() async throws {
        let known = Array("known".utf8)
        let tag = "\"\(SHA256Digest(of: known).hex)\""
        for (status, body, expected) in [
            ("304 Not Modified", "", known), ("200 OK", "newer", Array("newer".utf8)),
        ] {
            let (found, heads) = try await RawServer.running { _ in
                .bytes(.answer(status, body.isEmpty ? ["ETag: \(tag)"] : [], body))
            } _: { server in
                let found = try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                    try await sources[0].fetcher.bytes("x", known: known, limit: 10, deadline: .seconds(600))
                }
                return (found, server.heads)
            }
            #expect(found == expected)
            #expect(heads.map { $0.lowercased().contains("\r\nif-none-match: \(tag)") } == [true], "\(heads)")
            // A compressed form has another tag.
            #expect(heads[0].lowercased().contains("\r\naccept-encoding: identity\r\n"))
        }
        // Where nothing is known, nobody is told so.
        let unasked = try await fetch { _ in .bytes(.answer("304 Not Modified")) }
        #expect(unasked.error == .status("objects/x", code: 304))
    }

    @Test func `puts a question below the server itself, and reads no more of the answer than it may`() async throws {
        let question = Array("{}".utf8)
        for (limit, error) in [(10, nil), (9, FetchError.tooLarge("api/v1/x", limit: 9))] {
            let heads = try await RawServer.running { _ in
                .bytes(.answer("200 OK", [], "0123456789"))
            } _: { server in
                try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                    var found: FetchError?
                    do throws(FetchError) {
                        _ = try await sources[0].fetcher.answer(
                            to: question,
                            at: "api/v1/x",
                            limit: limit,
                            deadline: .seconds(600)
                        )
                    } catch { found = error }
                    #expect(found == error)
                }
                return server.heads
            }
            let head = try #require(heads.first).lowercased()
            #expect(head.hasPrefix("post /api/v1/x http/1.1\r\n") && head.contains("content-length: 2"))
            #expect(head.contains("\r\ncontent-type: application/json"))
            #expect(head.contains("\r\naccept-encoding: identity\r\n"))
        }
    }

    @Test func `names a connection that is refused`() async throws {
        let url = try await RawServer.running { _ in
            .silence
        } _: {
            try $0.url()
        }
        await #expect(
            throws: FetchError.connection("objects/x", reason: "no connection to the server: Connection refused")
        ) {
            try await HTTPFetcher.with([url], app: RawServer.app, .patient) { sources in
                _ = try await sources[0].fetcher.bytes("objects/x", limit: 10, deadline: .seconds(600))
            }
        }
    }

    @Test func `ends at once when its task is cancelled, wherever it waits`() async throws {
        for answer in [RawServer.Answer.silence, .bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123")] {
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            try await RawServer.running { _ in
                ask.yield(); return answer
            } _: { server in
                let url = try server.url()
                let object = object
                let task = Task {
                    try await HTTPFetcher.with([url], app: RawServer.app, .patient) { sources in
                        let request = FetchRequest(
                            "objects/x",
                            limit: 10,
                            deadline: .seconds(600),
                            expected: ExpectedFile(object)
                        )
                        try await sources[0].fetcher.fetch(request) { _ in }
                    }
                }
                for await _ in asked { break }
                task.cancel()
                await #expect(throws: FetchError.cancelled) { try await task.value }
            }
        }
    }

    @Test func `opens six connections to a server at most, and keeps them`() async throws {
        try await RawServer.running { _ in
            .bytes(.answer("200 OK", [], "0123456789"))
        } _: { server in
            try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                try await withThrowingTaskGroup { group in
                    for number in 0..<60 {
                        group.addTask {
                            _ = try await sources[0].fetcher.bytes(
                                "objects/\(number)",
                                limit: 10,
                                deadline: .seconds(600)
                            )
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.heads.count == 60)
            #expect(server.mostConnections <= 6)
            #expect(server.connections <= 6)
        }
    }

    @Test func `keeps its connection after what is not there, whatever becomes of that answer`() async throws {
        // Longer than one read, so that the end of it is not there with its head.
        let absent = String.answer("404 Not Found", [], String(repeating: "nothing ", count: 2_000))
        for (answer, connections) in [(RawServer.Answer.bytes(absent), 1), (.last(String(absent.dropLast(3))), 2)] {
            try await RawServer.running { head in
                head.contains("/absent") ? answer : .bytes(.answer("200 OK", [], "0123456789"))
            } _: { server in
                try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                    let fetcher = sources[0].fetcher
                    await #expect(throws: FetchError.notFound("absent")) {
                        _ = try await fetcher.bytes("absent", limit: 10, deadline: .seconds(600))
                    }
                    _ = try await fetcher.bytes("x", limit: 10, deadline: .seconds(600))
                }
                #expect(server.connections == connections)
            }
        }
    }

    @Test func `asks a mirror whose host and port are its own`() throws {
        let table = [
            ("http://a.test/x", "a.test", 80), ("https://a.test", "a.test", 443),
            ("https://a.test:8443/p", "a.test", 8443),
            ("http://127.0.0.1:81", "127.0.0.1", 81), ("http://[::1]:82/", "::1", 82), ("https://[::1]", "::1", 443),
        ]
        for (text, host, port) in table {
            let url = try #require(ServerURL(text))
            #expect(url.host == host && url.port == port && url.isSecure == text.hasPrefix("https"), "\(text)")
        }
    }
}

extension HTTPFetcher.Settings {
    /// For tests that are about no time-out: a busy machine may take long.
    static var patient: HTTPFetcher.Settings {
        var settings = HTTPFetcher.Settings()
        (settings.deadlines.connect, settings.deadlines.stall) = (.seconds(600), .seconds(600))
        return settings
    }
}

extension Digest {
    static var zero: Digest {
        guard let digest = Digest(bytes: [UInt8](repeating: 0, count: Algorithm.byteCount)) else {
            preconditionFailure("the length is the algorithm's")
        }
        return digest
    }
}
