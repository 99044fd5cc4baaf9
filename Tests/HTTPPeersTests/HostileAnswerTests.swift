import APIProxy
import NIOHTTP1
import PatchFormat
import PatchStore
import Testing

@testable import PatchSync
@testable import ReleaseClient

/// The process lives, each request ends in time with a value or a typed error, and no body is made up.
@Suite("Answers thrown at", .serialized, .timeLimit(.minutes(120)))
struct HostileAnswerTests {
    static let generated = 144

    @Test func `a device`() async throws { try await Self.device().throwGenerated(Self.generated) }
    @Test func `a device over TLS`() async throws {
        let names = (0..<AnsweringServer.hosts).map { "IP:\(AnsweringServer.host(UInt64($0)))" }
        let certificate = try await Certificate(names: names.joined(separator: ","))
        try await Self.device(certificate).throwGenerated(Self.generated / 2)
    }
    @Test func `a device, cut at every byte`() async throws { try await Self.device().throwCut(AnswerPatrol.small) }
    @Test func `the API proxy`() async throws { try await Self.proxy.throwGenerated(Self.generated) }
    @Test func `the API proxy, cut at every byte`() async throws { try await Self.proxy.throwCut(AnswerPatrol.small) }
    @Test func `the release client`() async throws { try await Self.service.throwGenerated(Self.generated) }
    @Test func `the release client, cut at every byte`() async throws {
        try await Self.service.throwCut(AnswerPatrol.small)
    }

    static func device(_ certificate: Certificate? = nil) -> AnswerPatrol {
        AnswerPatrol(name: "device", certificate: certificate) { port, numbers, tell in
            var settings = HTTPFetcher.Settings()
            settings.deadlines.stall = .milliseconds(400)
            if let certificate { settings.trust = try ServerTrust(authorities: certificate.pem, pins: []) }
            let scheme = certificate == nil ? "http" : "https"
            let servers = try numbers.map { try serverURL($0, port, scheme) }
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

    static let service = AnswerPatrol(name: "release client") { port, numbers, tell in
        try await withThrowingTaskGroup { group in
            for number in numbers {
                group.addTask {
                    var settings = ServiceClient.Settings()
                    settings.retries = 0
                    let url = try serverURL(number, port)
                    do throws(ServiceError) {
                        let bytes = try await ServiceClient.with(url, token: nil, settings) {
                            client throws(ServiceError) in try await client.bytes(request(number))
                        }
                        tell(number, .answer(status: nil, body: bytes))
                    } catch { tell(number, .refused("\(error)")) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// A third with no body, with one that fits into the socket, and with one that does not.
    private static func request(_ number: UInt64) -> ServiceRequest {
        var request = ServiceRequest(method: number % 3 == 0 ? .GET : .PATCH, path: "/\(number)")
        (request.limit, request.deadline) = (100_000, .milliseconds(600))
        guard number % 3 != 0 else { return request }
        let bytes = [UInt8](repeating: 7, count: number % 3 == 1 ? 1_000 : 3_000_000)
        request.body = .part(
            PartBody(
                name: "part",
                source: .bytes(bytes),
                size: bytes.count,
                offset: 0,
                files: DiskFiles(),
                observe: { _ in }
            )
        )
        return request
    }

    /// Every fourth asks for a WebSocket, and every fourth sends something.
    static let proxy = AnswerPatrol(name: "API proxy") { port, numbers, tell in
        let rules = try numbers.map { try ProxyRule(argument: "/\($0)=http://\(AnsweringServer.host($0)):\(port)") }
        var settings = APIProxy.Settings(rules: ProxyRules(rules), trust: try UpstreamTrust())
        settings.timeout = .milliseconds(400)
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

    private static func serverURL(_ number: UInt64, _ port: Int, _ scheme: String = "http") throws -> ServerURL {
        try #require(ServerURL("\(scheme)://\(AnsweringServer.host(number)):\(port)"))
    }
}
