import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import HTTPCore

/// The faults that ``AnswerGuard`` stands against.
///
/// What fails here says that a later version of async-http-client has mended one, and that the guard's part against it can go.
@Suite("async-http-client without a guard", .timeLimit(.minutes(10)))
struct UpstreamFaultTests {
    @Test func `ends the process at a status below 100`() async {
        await #expect(processExitsWith: .trap) {
            try await AnsweringServer.running({ _ in .statusZero }) { port in
                try await BareClient.running(isGuarded: false) { try await $0.get(port) }
            }
        }
    }

    @Test func `ends the process when an answer is whole before its request is`() async {
        await #expect(processExitsWith: .trap) {
            try await AnsweringServer.running({ _ in .early }) { port in
                try await BareClient.running(isGuarded: false) { try await $0.sendTwo(to: port) }
            }
        }
    }
}

@Suite("async-http-client with a guard", .timeLimit(.minutes(10)))
struct AnswerGuardTests {
    @Test func `refuses a status below 100`() async throws {
        try await AnsweringServer.running({ _ in .statusZero }) { port in
            try await BareClient.running(isGuarded: true) { client in
                await #expect(throws: AnswerFault.status(0)) { try await client.get(port) }
            }
        }
    }

    @Test func `goes on when an answer is whole before its request is`() async throws {
        try await AnsweringServer.running({ _ in .early }) { port in
            try await BareClient.running(isGuarded: true) { try await $0.sendTwo(to: port) }
        }
    }

    @Test func `waits for no end of interim answers`() async throws {
        let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 33)
        try await AnsweringServer.running({ _ in Script(interim + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }) {
            port in
            try await BareClient.running(isGuarded: true) { client in
                await #expect(throws: AnswerFault.interimAnswers(limit: 32)) { try await client.get(port) }
            }
        }
    }
}

extension ExitTest.Condition {
    /// How Swift ends a process that would go wrong.
    fileprivate static var trap: ExitTest.Condition {
        #if arch(x86_64)
        .signal(SIGILL)
        #else
        .signal(SIGTRAP)
        #endif
    }
}

extension Script {
    fileprivate static let statusZero = Script("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n")
    /// As soon as the head of a request is here.
    fileprivate static let early = {
        var script = Script("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        script.isForMore = true
        return script
    }()
}

/// One connection at a time, with a write timeout as the release client has one.
private struct BareClient: Sendable {
    private let client: HTTPClient

    static func running(isGuarded: Bool, _ body: (BareClient) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.timeout.write = .seconds(60)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        if isGuarded { configuration.http1_1ConnectionDebugInitializer = { AnswerGuard.install(on: $0) } }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Swift.Result<Void, any Error>
        do { result = .success(try await body(BareClient(client: client))) } catch { result = .failure(error) }
        try await client.shutdown()
        try result.get()
    }

    func get(_ port: Int) async throws {
        _ = try await client.execute(HTTPClientRequest(url: "http://127.0.0.1:\(port)/"), timeout: .seconds(300))
    }

    /// The first body goes on once its answer is here, with more than any socket takes at once, and ends with that; the second
    /// request waits meanwhile for the connection.
    func sendTwo(to port: Int) async throws {
        let (pieces, give) = AsyncStream.makeStream(of: ByteBuffer.self)
        give.yield(ByteBuffer(string: "first"))
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/")
        request.method = .POST
        request.body = .stream(pieces, length: .unknown)
        let response = try await client.execute(request, timeout: .seconds(300))
        _ = try await response.body.collect(upTo: 10)
        async let second: Void = get(port)
        give.yield(ByteBuffer(repeating: 7, count: 64_000_000))
        give.finish()
        try await second
    }
}
