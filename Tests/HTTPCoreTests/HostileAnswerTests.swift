import APIProxy
import HTTPTesting
import NIOHTTP1
import PatchFetch
import PatchFormat
import PatchStore
import Testing

@testable import PatchSync
@testable import ReleaseClient

/// The process lives, each request ends in time with a value or a typed error, and no body is made up.
@Suite("Answers thrown at", .serialized, .timeLimit(.minutes(120)))
struct HostileAnswerTests {
    /// Over TCP; half as many go over TLS, where each costs twice as much.
    static let generated = 96
    /// A batch with an answer that stays open takes so long; on a crowded machine a sound one takes half of it.
    static let patience = Duration.seconds(1)

    @Test func `a device`() async throws { try await Self.device().throwGenerated(Self.generated) }
    @Test func `a device over TLS`() async throws {
        try await Self.device(try await Self.certificate()).throwGenerated(Self.generated / 2)
    }
    @Test func `a device, cut at every byte`() async throws { try await Self.device().throwCut(AnswerPatrol.small) }
    @Test func `the API proxy`() async throws { try await Self.proxy().throwGenerated(Self.generated) }
    @Test func `the API proxy over TLS`() async throws {
        try await Self.proxy(try await Self.certificate()).throwGenerated(Self.generated / 2)
    }
    @Test func `the API proxy, cut at every byte`() async throws { try await Self.proxy().throwCut(AnswerPatrol.small) }
    @Test func `the release client`() async throws { try await Self.service().throwGenerated(Self.generated) }
    @Test func `the release client over TLS`() async throws {
        try await Self.service(try await Self.certificate()).throwGenerated(Self.generated / 2)
    }
    @Test func `the release client, cut at every byte`() async throws {
        try await Self.service().throwCut(AnswerPatrol.small)
    }

    @Test func `anybody over TLS, with a body that ends with its connection and is cut`() async throws {
        let certificate = try await Self.certificate()
        let codings = [
            "", "Transfer-Encoding: identity\r\n", "Transfer-Encoding: gzip\r\n",
            "Transfer-Encoding: chunked, gzip\r\n",
        ]
        let answers = codings.map { "HTTP/1.1 200 OK\r\n\($0)\r\nhalf of it" }
        for patrol in [Self.device(certificate), Self.proxy(certificate), Self.service(certificate)] {
            try await patrol.throwBroken(answers)
        }
    }

    private static func certificate() async throws -> Certificate {
        let names = (0..<AnsweringServer.hosts).map { "IP:\(AnsweringServer.host(UInt64($0)))" }
        return try await Certificate(names: names.joined(separator: ","))
    }

    static func device(_ certificate: Certificate? = nil) -> AnswerPatrol {
        AnswerPatrol(name: "device", certificate: certificate) { port, numbers, tell in
            var settings = HTTPFetcher.Settings()
            settings.deadlines.stall = Self.patience
            if let certificate { settings.trust = try TLSTrust(authorities: certificate.pem, pins: []) }
            let servers = try numbers.map { try server($0, port, certificate) }
            let app = try #require(AppID("com.example.storefront"))
            await HTTPFetcher.with(servers, app: app, settings) { sources in
                await withTaskGroup { group in
                    for (number, source) in zip(numbers, sources) {
                        group.addTask {
                            do throws(FetchError) {
                                let path = "objects/\(number)", limit = 100_000
                                let body = try await source.fetcher.bytes(path, limit: limit, deadline: .seconds(5))
                                tell(number, .answer(status: 200, body: body))
                            } catch { tell(number, .refused("\(error)")) }
                        }
                    }
                }
            }
        }
    }

    static func service(_ certificate: Certificate? = nil) -> AnswerPatrol {
        AnswerPatrol(name: "release client", certificate: certificate) { port, numbers, tell in
            try await withThrowingTaskGroup { group in
                for number in numbers {
                    group.addTask {
                        var settings = ServiceClient.Settings()
                        (settings.authorities, settings.retries) = (certificate?.pem, 0)
                        let server = try server(number, port, certificate)
                        do throws(ServiceError) {
                            let bytes = try await ServiceClient.with(server, token: nil, settings) {
                                client throws(ServiceError) in try await client.bytes(request(number))
                            }
                            tell(number, .answer(status: nil, body: bytes))
                        } catch { tell(number, .refused("\(error)")) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// A third with no body, with one that fits into the socket, and with one that does not.
    private static func request(_ number: UInt64) -> ServiceRequest {
        var request = ServiceRequest(method: number % 3 == 0 ? .GET : .PATCH, path: "/\(number)")
        (request.limit, request.deadline) = (100_000, patience)
        guard number % 3 != 0 else { return request }
        let bytes = [UInt8](repeating: 7, count: number % 3 == 1 ? 1_000 : 3_000_000)
        request.body = .part(
            PartBody(
                name: "part",
                source: .bytes(bytes),
                size: bytes.count,
                offset: 0,
                coding: number % 2 == 0 ? .zstandard : nil,
                files: DiskFiles(),
                observe: { _, _ in }
            )
        )
        return request
    }

    /// Every fourth asks for a WebSocket, and every fourth sends something.
    static func proxy(_ certificate: Certificate? = nil) -> AnswerPatrol {
        AnswerPatrol(name: "API proxy", certificate: certificate) { port, numbers, tell in
            let rules = try numbers.map {
                try ProxyRule(argument: "/\($0)=\(origin($0, port, certificate))")
            }
            let trust = try TLSTrust(authorities: certificate?.pem)
            var settings = APIProxy.Settings(rules: ProxyRules(rules), trust: trust)
            settings.timeout = Self.patience
            try await APIProxy.with(settings) { proxy in
                try await ServedProxy.running(proxy) { served in
                    try await withThrowingTaskGroup { group in
                        for number in numbers {
                            group.addTask {
                                let taken =
                                    number % 4 == 3
                                    ? try await served.upgrade("/\(number)")
                                    : await served.ask("/\(number)", sending: number % 4 == 2 ? 2_000_000 : 0)
                                tell(number, taken)
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        }
    }

    private static func server(_ number: UInt64, _ port: Int, _ certificate: Certificate?) throws -> ServerURL {
        try #require(ServerURL(origin(number, port, certificate)))
    }

    private static func origin(_ number: UInt64, _ port: Int, _ certificate: Certificate?) -> String {
        "\(certificate == nil ? "http" : "https")://\(AnsweringServer.host(number)):\(port)"
    }
}
