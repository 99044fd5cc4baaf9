import HTTPCore
import HTTPFiles
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

/// A source made of a closure.
struct ClosureSource: FileSource {
    var acceptsBodies = false
    let body: @Sendable (FileRequest) async -> FileAnswer

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, body) }
}

extension FileSource where Self == ClosureSource {
    static func answering(
        acceptsBodies: Bool = false,
        _ body: @escaping @Sendable (FileRequest) async -> FileAnswer
    ) -> ClosureSource {
        ClosureSource(acceptsBodies: acceptsBodies, body: body)
    }

    /// Ten bytes with a tag, at every path.
    static var digits: ClosureSource {
        .answering { _ in .bytes(.digits) }
    }

    /// Tells what arrived: `METHOD /path?query body`.
    static var echo: ClosureSource {
        .answering(acceptsBodies: true) { request in
            let query = request.query.map { "?\($0)" } ?? ""
            let body = String(decoding: request.body, as: UTF8.self)
            let text = "\(request.method.rawValue) \(request.path.text)\(query) \(body)"
            return .bytes(ServedBytes(bytes: Array(text.utf8), contentType: "text/plain"))
        }
    }
}

extension ServedBytes {
    static var digits: ServedBytes {
        ServedBytes(
            bytes: Array("0123456789".utf8),
            entityTag: "v1",
            contentType: "text/plain",
            cacheControl: "max-age=60"
        )
    }
}

/// A server that is running on a port of its own, and what it logged.
struct TestServer: Sendable {
    let port: Int
    let accessLog: AsyncStream<AccessLogEntry>
    let errorLog: AsyncStream<String>
    /// Cancels the task that runs the server.
    let stop: @Sendable () -> Void

    /// Runs a server while `body` runs, then cancels it and waits for its end, which must be without an error.
    static func running<Result: Sendable>(
        _ source: any FileSource,
        meter: (any TrafficMeter)? = nil,
        turnedAway: TurnedAway? = nil,
        configure: (inout FileServerConfiguration) -> Void = { _ in },
        _ body: (TestServer) async throws -> Result
    ) async throws -> Result {
        var configuration = FileServerConfiguration()
        configure(&configuration)
        let (addresses, listening) = AsyncStream.makeStream(of: SocketAddress.self)
        let (accessLog, access) = AsyncStream.makeStream(of: AccessLogEntry.self)
        let (errorLog, errors) = AsyncStream.makeStream(of: String.self)
        let server = FileServer(
            configuration: configuration,
            source: source,
            accessLog: { access.yield($0) },
            meter: meter,
            turnedAway: turnedAway,
            errorLog: { errors.yield($0) },
            onListening: { listening.yield($0) }
        )
        let task = Task {
            defer { listening.finish() }
            try await server.run()
        }
        let address = try #require(await addresses.first { _ in true })
        let running = TestServer(
            port: try #require(address.port),
            accessLog: accessLog,
            errorLog: errorLog,
            stop: { task.cancel() }
        )
        let result: Result
        do {
            result = try await body(running)
        } catch {
            task.cancel()
            _ = await task.result
            throw error
        }
        task.cancel()
        try await task.value
        return result
    }

    func connected<Result: Sendable>(
        from address: String? = nil,
        _ body: (inout RawClient) async throws -> Result
    ) async throws -> Result {
        try await RawClient.connected(to: port, from: address, body)
    }

    /// Whether the server answers these bytes with a status, and then ends the connection.
    ///
    /// False if it was ended before.
    func answersAndEnds(_ text: String, status: Int, tls: NIOSSLContext? = nil) async throws -> Bool {
        do {
            return try await RawClient.connected(to: port, tls: tls) { client in
                try await client.send(text)
                let response = try await client.response()
                return response.status == status ? await client.rest() == [] : false
            }
        } catch { return false }
    }

    /// One request on a connection of its own, with the fields given as lines.
    func get(_ target: String, _ fields: String..., method: String = "GET") async throws -> RawResponse {
        try await connected { client in
            try await client.send(request(method, target, fields))
            return try await client.response(toHead: method == "HEAD")
        }
    }
}

/// The text of a request without a body.
func request(_ method: String, _ target: String, _ fields: [String] = []) -> String {
    (["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
}
