import APIProxy
import AsyncHTTPClient
import HTTPFiles
import HTTPTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A proxy behind a port, and a page before it.
struct ServedProxy: Sendable {
    let port: Int
    private let page: HTTPClient

    static func running<Result: Sendable>(
        _ proxy: APIProxy,
        _ body: (ServedProxy) async throws -> Result
    ) async throws -> Result {
        let page = HTTPClient(eventLoopGroupProvider: .singleton)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await serving(proxy) { try await body(ServedProxy(port: $0, page: page)) })
        } catch { result = .failure(error) }
        try await page.shutdown()
        return try result.get()
    }

    func ask(_ path: String, sending count: Int) async -> Taken {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        if count > 0 {
            request.method = .POST
            request.body = .bytes(ByteBuffer(repeating: 7, count: count))
        }
        do {
            let response = try await page.execute(request, timeout: .seconds(300))
            let body = try await response.body.collect(upTo: 1_000_000)
            if let own = response.headers.first(name: "X-Patchline-Proxy") { return .refused(own) }
            return .answer(status: Int(response.status.code), body: Array(body.readableBytesView))
        } catch { return .refused("\(error)") }
    }

    /// Whatever comes of it: what the page reads is HTTP, and 101 is what the upstream said.
    func upgrade(_ path: String) async throws -> Taken {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            let fields = "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x"
            try await outbound.write(ByteBuffer(string: "GET \(path) HTTP/1.1\r\n\(fields)\r\n\r\n"))
            var text = ""
            for try await piece in inbound {
                text += String(buffer: piece)
                if text.contains("\r\n\r\n") { break }
            }
            let status = Int(text.dropFirst(9).prefix(3)) ?? 0
            #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 ") && (101..<1_000).contains(status), "\(path): \(text)")
            return status == 101 ? .answer(status: 101, body: []) : .refused("\(status)")
        }
    }
}
