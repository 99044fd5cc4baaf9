import APIProxy
import AsyncHTTPClient
import HTTPFiles
import HTTPTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PatchFetch
import Testing

/// A source made of a closure, which takes bodies as streams.
struct UpstreamSource: FileSource {
    let acceptsBodies = true
    let body: @Sendable (FileRequest) async throws -> FileAnswer

    init(_ body: @escaping @Sendable (FileRequest) async throws -> FileAnswer) {
        self.body = body
    }

    func decide(_ request: FileRequest) -> FileDecision { .later(.stream, answer) }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        do { return try await body(request) } catch { return .refused(.badRequest, message: "\(error)", headers: [:]) }
    }

    /// Tells what arrived.
    static let echo = UpstreamSource { request in
        let size = try await request.stream?.reduce(0) { $0 + $1.readableBytes } ?? 0
        let query = request.query.map { "?\($0)" } ?? ""
        return .text("\(request.method) \(request.spelledPath)\(query) \(size)", headers: ["X-Name": "echo"])
    }
}

extension FileAnswer {
    static func text(_ text: String, _ status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:]) -> FileAnswer {
        .bytes(ServedBytes(status: status, bytes: Array(text.utf8), contentType: "text/plain", headers: headers))
    }
}

/// What a page got.
struct Got: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let text: String
}

/// A proxy between a page and servers.
struct ProxyFixture: Sendable {
    let port: Int
    let reports: NIOLockedValueBox<[String]>

    static func running<Result: Sendable>(
        _ rules: String...,
        trust: TLSTrust? = nil,
        accessLog: (@Sendable (AccessLogEntry) -> Void)? = nil,
        configure: (inout APIProxy.Settings) -> Void = { _ in },
        _ body: (ProxyFixture) async throws -> Result
    ) async throws -> Result {
        var all: [ProxyRule] = []
        for rule in rules { all.append(try ProxyRule(argument: rule)) }
        var settings = APIProxy.Settings(rules: ProxyRules(all), trust: trust ?? TLSTrust())
        configure(&settings)
        let reports = NIOLockedValueBox<[String]>([])
        return try await APIProxy.with(settings, report: { line in reports.withLockedValue { $0.append(line) } }) {
            proxy in
            try await serving(proxy, accessLog: accessLog) { port in
                try await body(ProxyFixture(port: port, reports: reports))
            }
        }
    }

    func get(_ path: String, _ headers: HTTPHeaders = [:]) async throws -> Got {
        try await ask(.GET, path, headers)
    }

    func ask(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: HTTPHeaders = [:],
        body: HTTPClientRequest.Body? = nil
    ) async throws -> Got {
        let response = try await open(method, path, headers, body: body)
        let bytes = try await response.body.collect(upTo: 1 << 24)
        return Got(status: Int(response.status.code), headers: response.headers, text: String(buffer: bytes))
    }

    func open(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: HTTPHeaders = [:],
        body: HTTPClientRequest.Body? = nil
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers = headers
        request.body = body
        return try await HTTPClient.shared.execute(request, timeout: .seconds(300))
    }
}
