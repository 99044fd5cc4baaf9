import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import SystemPackage
import Testing

/// Answers every path at once, and counts.
private final class CountingSource: FileSource {
    struct Counts: Equatable {
        var decided = 0
        var used = 0
        var worked = 0
    }

    let acceptsBodies = true
    private let files: [String: ServedFile]
    private let counts = NIOLockedValueBox(Counts())

    init(files: [String: ServedFile]) {
        self.files = files
    }

    /// What was counted since the last time.
    func take() -> Counts {
        counts.withLockedValue { counts in
            defer { counts = Counts() }
            return counts
        }
    }

    func decide(_ request: FileRequest) -> FileDecision {
        counts.withLockedValue { $0.decided += 1 }
        let answer: FileAnswer = files[request.path.text].map { .file($0) } ?? .bytes(.digits)
        if request.path.segments.first == "later" {
            return .later(request.query == "stream" ? .stream : .whole) { [counts] _ in
                counts.withLockedValue { $0.worked += 1 }
                return answer
            }
        }
        return .now(
            PreparedReply(
                answer,
                whenUsed: { [counts] in
                    counts.withLockedValue { $0.used += 1 }
                    return nil
                }
            )
        )
    }
}

@Suite("A decision", .timeLimit(.minutes(10)))
struct DecisionTests {
    private let folder: TemporaryFolder
    private let source: CountingSource

    init() throws {
        folder = try TemporaryFolder()
        let large = try folder.write(String(repeating: "0123456789", count: 20_000), to: "large")
        source = CountingSource(files: [
            "/large": ServedFile(path: large, entityTag: "v1", size: 200_000),
            "/other": ServedFile(path: large, entityTag: "v1", size: 200_001),
            "/gone": ServedFile(path: folder.path.appending("gone")),
        ])
    }

    private static let now = CountingSource.Counts(decided: 1, used: 1)
    private static let later = CountingSource.Counts(decided: 1, worked: 1)
    private static let refused = CountingSource.Counts()

    /// A request, its answer, and what was asked of the source.
    private static let requests: [(text: String, status: Int, counts: CountingSource.Counts)] = [
        (request("GET", "/"), 200, now),
        (request("GET", "/large"), 200, now),
        (request("GET", "/", ["Upgrade: websocket", "Connection: upgrade"]), 200, now),
        (request("GET", "/other"), 500, now),
        (request("GET", "/gone"), 404, now),
        (request("POST", "/", ["Content-Length: 3"]) + "abc", 200, now),
        (request("GET", "/later"), 200, later),
        (request("POST", "/later", ["Content-Length: 3"]) + "abc", 200, later),
        (request("POST", "/later?stream", ["Content-Length: 3"]) + "abc", 200, later),
        (request("CONNECT", "/"), 405, refused),
    ]

    @Test(arguments: [false, true])
    func `is made once for each request and used once, whoever answers it`(pipelined: Bool) async throws {
        try await TestServer.running(source) { server in
            try await server.connected { client in
                if pipelined { try await client.send(Self.requests.map(\.text).joined()) }
                for (text, status, counts) in Self.requests {
                    if !pipelined { try await client.send(text) }
                    #expect(try await client.response().status == status, "\(text)")
                    if !pipelined { #expect(source.take() == counts, "\(text)") }
                }
            }
        }
        let sum = Self.requests.map(\.counts).reduce(into: CountingSource.Counts()) { sum, counts in
            sum.decided += counts.decided
            sum.used += counts.used
            sum.worked += counts.worked
        }
        if pipelined { #expect(source.take() == sum) }
    }

    @Test func `is made once under TLS, which takes no files`() async throws {
        let certificate = try await TestCertificate()
        let identity = try certificate.identity()
        try await TestServer.running(source, configure: { $0.tls = RenewableIdentity(identity) }) { server in
            try await RawClient.connected(to: server.port, tls: try certificate.clientContext()) { client in
                for _ in 0..<2 {
                    try await client.send(request("GET", "/large"))
                    #expect(try await client.response().text.utf8.count == 200_000)
                    #expect(source.take() == Self.now)
                }
            }
        }
    }
}
