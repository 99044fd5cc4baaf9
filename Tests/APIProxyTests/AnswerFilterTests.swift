import HTTPCore
import HTTPFiles
import HTTPTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PatchFetch
import Testing

@testable import APIProxy

/// Looks at every answer as a test says.
private struct Filter: AnswerFilter, AnswerView {
    var plan: @Sendable (HTTPHeaders) -> AnswerPlan

    func view(of request: FileRequest) -> (any AnswerView)? { self }

    func asked(_ fields: HTTPHeaders) -> HTTPHeaders {
        var fields = fields
        fields.replaceOrAdd(name: "X-Asked", value: "yes")
        return fields
    }

    func plan(for status: HTTPResponseStatus, _ fields: HTTPHeaders) -> AnswerPlan { plan(fields) }

    func answer(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, body: [UInt8]) -> FileAnswer {
        .stream(
            ServedStream(headers: [:]) { write in
                try await write(ByteBuffer(string: "collected \(body.count)"))
            }
        )
    }
}

@Suite("What looks at answers on their way")
struct AnswerFilterTests {
    private static let changed: HTTPHeaders = ["X-Plan": "passed"]

    /// An upstream that answers with so many bytes, in pieces, and a proxy whose filter does this with them.
    private func asking(
        bytes: Int,
        room: Int = 1_000_000,
        _ plan: @escaping @Sendable (HTTPHeaders) -> AnswerPlan,
        _ body: @escaping @Sendable (ProxyFixture) async throws -> Void
    ) async throws {
        let upstream = UpstreamSource { request in
            guard request.headers.first(name: "X-Asked") == "yes" else { return .notFound }
            return .stream(
                ServedStream(headers: ["Content-Type": "text/html"]) { write in
                    var left = bytes
                    while left > 0 {
                        try await write(ByteBuffer(repeating: UInt8(ascii: "x"), count: min(left, 100)))
                        left -= min(left, 100)
                    }
                }
            )
        }
        try await serving(upstream) { port in
            try await ProxyFixture.running(
                "/.*=http://127.0.0.1:\(port)",
                configure: {
                    $0.filter = Filter(plan: plan)
                    $0.collectedBytes = room
                },
                body
            )
        }
    }

    @Test func `collects what is no longer than it says, and answers in its place`() async throws {
        try await asking(bytes: 1_000, { _ in .collects(limit: 1_000, else: Self.changed) }) { proxy in
            let text = try await proxy.get("/x").text
            #expect(text == "collected 1000")
        }
    }

    @Test(arguments: [(1_001, 1_000_000), (1_000, 999)])
    func `lets pass what is longer, or what there is no room for, from its first byte on`(
        bytes: Int,
        room: Int
    ) async throws {
        try await asking(bytes: bytes, room: room, { _ in .collects(limit: 1_000, else: Self.changed) }) { proxy in
            let got = try await proxy.get("/x")
            #expect(got.text == String(repeating: "x", count: bytes))
            #expect(got.headers["X-Plan"] == ["passed"])
        }
    }

    @Test func `has its room again after each answer`() async throws {
        try await asking(bytes: 1_000, room: 1_000, { _ in .collects(limit: 1_000, else: Self.changed) }) { proxy in
            for _ in 0..<3 {
                let text = try await proxy.get("/x").text
                #expect(text == "collected 1000")
            }
        }
    }

    @Test func `has its room again once the answer was sent, not before`() async throws {
        let upstream = UpstreamSource { _ in .text(String(repeating: "x", count: 1_000)) }
        try await serving(upstream) { port in
            let rule = try ProxyRule(argument: "/.*=http://127.0.0.1:\(port)")
            var settings = APIProxy.Settings(rules: ProxyRules([rule]), trust: TLSTrust())
            settings.filter = Filter { _ in .collects(limit: 1_000, else: Self.changed) }
            settings.collectedBytes = 1_000
            try await APIProxy.with(settings) { proxy in
                func isCollected() async throws -> (Bool, ServedStream) {
                    let request = try FileRequest.get("/x")
                    guard case .stream(let stream) = await proxy.decide(request).answer(to: request) else {
                        throw UpstreamFault.malformed
                    }
                    return (stream.headers["X-Plan"].isEmpty, stream)
                }
                let (first, unsent) = try await isCollected()
                let (second, passed) = try await isCollected()
                #expect(first && !second)
                for stream in [unsent, passed] { try await stream.send { _ in } }
            }
            try await APIProxy.with(settings) { proxy in
                for _ in 0..<3 {
                    let request = try FileRequest.get("/x")
                    guard case .stream(let stream) = await proxy.decide(request).answer(to: request) else {
                        throw UpstreamFault.malformed
                    }
                    #expect(stream.headers["X-Plan"].isEmpty)
                    try await stream.send { _ in }
                }
            }
        }
    }

    @Test(arguments: [(1_000, 1_000_000, 1_000), (1_001, 1_000_000, nil), (1_000, 999, nil)] as [(Int, Int, Int?)])
    func `gets a copy of what was sent, where that is no longer than it says and there is room`(
        bytes: Int,
        room: Int,
        copied: Int?
    ) async throws {
        let copies = NIOLockedValueBox<[Int]>([])
        let plan: @Sendable (HTTPHeaders) -> AnswerPlan = { _ in
            .copies(limit: 1_000, Self.changed) { bytes in copies.withLockedValue { $0.append(bytes.count) } }
        }
        try await asking(bytes: bytes, room: room, plan) { proxy in
            let text = try await proxy.get("/x").text
            #expect(text.utf8.count == bytes)
        }
        #expect(copies.withLockedValue(\.self) == (copied.map { [$0] } ?? []))
    }

    @Test func `passes an answer with the fields that it says`() async throws {
        try await asking(bytes: 5_000, { _ in .passes(Self.changed) }) { proxy in
            let got = try await proxy.get("/x")
            #expect(got.text.utf8.count == 5_000 && got.headers["X-Plan"] == ["passed"])
            #expect(got.headers["Content-Type"] == [])
        }
    }
}

@Suite("A request's fields for the site behind a proxy")
struct SiteFieldsTests {
    private func asked(_ headers: HTTPHeaders, from address: String, trusting proxies: TrustedProxies = .none) throws
        -> [String]
    {
        let upstream = try #require(Upstream("http://site.example"))
        let request = try FileRequest.get("/x", headers)
        return HTTPHeaders(of: request, from: address, forSite: upstream, scheme: "https", trusting: proxies)
            .filter { $0.name.lowercased().hasPrefix("x") || ["host", "forwarded"].contains($0.name.lowercased()) }
            .map { "\($0.name): \($0.value)" }.sorted()
    }

    private let claims: HTTPHeaders = [
        "Host": "shop.example", "X-Forwarded-For": "192.0.2.9", "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": "evil.example",
        "X-Real-IP": "192.0.2.9", "Forwarded": "for=192.0.2.9",
    ]

    @Test func `say who asked, for which name and how, and nothing that a client claims of it`() throws {
        #expect(
            try asked(claims, from: "203.0.113.5") == [
                "Host: site.example", "X-Forwarded-For: 203.0.113.5", "X-Forwarded-Host: shop.example",
                "X-Forwarded-Proto: https",
            ]
        )
    }

    @Test(arguments: ["X_Forwarded_For", "x_real-ip", "X-Forwarded_Anything", "FORWARDED", "x_forwarded-proto"])
    func `lose what servers that read CGI's names would take for the same`(name: String) throws {
        #expect(
            try asked(["Host": "shop.example", name: "192.0.2.9"], from: "203.0.113.5") == [
                "Host: site.example", "X-Forwarded-For: 203.0.113.5", "X-Forwarded-Host: shop.example",
                "X-Forwarded-Proto: https",
            ]
        )
    }

    @Test func `keep what a proxy says that is trusted, and add its address`() throws {
        let proxies = try #require(TrustedProxies("203.0.113.0/24"))
        #expect(
            try asked(claims, from: "203.0.113.5", trusting: proxies) == [
                "Forwarded: for=192.0.2.9", "Host: site.example", "X-Forwarded-For: 192.0.2.9",
                "X-Forwarded-For: 203.0.113.5", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http",
                "X-Real-IP: 192.0.2.9",
            ]
        )
    }
}
