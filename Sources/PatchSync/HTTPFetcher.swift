import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
package import PatchFormat
import PatchTrust
import SystemPackage

/// Fetches over HTTP.
///
/// No redirect is followed, nothing is cached, nothing is asked for twice.
package struct HTTPFetcher: Fetcher {
    private let client: HTTPClient
    private let places: Places

    /// Where the parts of the URL layout stand.
    package struct Places: Sendable {
        let rest: ServerURL
        let metadata: ServerURL?
        let targets: ServerURL?

        /// A Patchline server: everything below `/APP/`.
        package init(_ server: ServerURL, app: AppID) {
            rest = server.appending(app)
            (metadata, targets) = (nil, nil)
        }

        /// Any TUF repository: metadata and targets each have a place of their own.
        package init(metadata: ServerURL, targets: ServerURL) {
            rest = metadata
            (self.metadata, self.targets) = (metadata, targets)
        }

        func url(_ path: String) -> String {
            if let metadata, path.hasPrefix("metadata/") { return "\(metadata)/\(path.dropFirst("metadata/".count))" }
            if let targets, path.hasPrefix("targets/") { return "\(targets)/\(path.dropFirst("targets/".count))" }
            return "\(rest)/\(path)"
        }
    }

    /// Runs `body` with a client that is gone when it returns.
    package static func with<Result: Sendable, Failure: Error>(
        _ server: ServerURL,
        app: AppID,
        _ body: (HTTPFetcher) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await with(Places(server, app: app), body)
    }

    /// Runs `body` with a client that is gone when it returns.
    package static func with<Result: Sendable, Failure: Error>(
        _ places: Places,
        _ body: (HTTPFetcher) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(10)
        configuration.timeout.read = .seconds(30)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 6
        configuration.decompression = .disabled
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let fetcher = HTTPFetcher(client: client, places: places)
        let result: Swift.Result<Result, Failure>
        do throws(Failure) {
            result = .success(try await body(fetcher))
        } catch { result = .failure(error) }
        try? await client.shutdown()
        return try result.get()
    }

    package func fetch(
        _ path: String,
        limit: Int,
        deadline: Duration,
        receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        _ = try await fetch(path, unless: nil, limit: limit, deadline: deadline, receive: receive)
    }

    /// Patchline's servers tag a file with its SHA-256; with another's tag the bytes just travel.
    package func bytes(
        _ path: String,
        known: [UInt8],
        limit: Int,
        deadline: Duration
    ) async throws(FetchError) -> [UInt8] {
        var bytes: [UInt8] = []
        let tag = "\"\(SHA256Digest(of: known).hex)\""
        let isNew = try await fetch(path, unless: tag, limit: limit, deadline: deadline) { bytes += $0 }
        return isNew ? bytes : known
    }

    private func fetch(
        _ path: String,
        unless tag: String?,
        limit: Int,
        deadline: Duration,
        receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws(FetchError) -> Bool {
        do {
            return try await get(path, unless: tag, limit: limit, deadline: deadline, receive: receive)
        } catch let error as FetchError {
            throw error
        } catch {
            throw FetchError(error, path: path)
        }
    }

    /// - Returns: false when the server says that the file still has `tag`.
    private func get(
        _ path: String,
        unless tag: String?,
        limit: Int,
        deadline: Duration,
        receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws -> Bool {
        var request = HTTPClientRequest(url: places.url(path))
        request.headers.add(name: "accept-encoding", value: "identity")
        request.headers.add(name: "user-agent", value: "patchsync")
        if let tag { request.headers.add(name: "if-none-match", value: tag) }
        let response = try await client.execute(request, deadline: .now() + TimeAmount(deadline))
        switch response.status.code {
        case 200: break
        case 304 where tag != nil: return false
        case 403, 404: throw FetchError.notFound(path)
        default: throw FetchError.status(path, code: Int(response.status.code))
        }
        let announced = response.headers.first(name: "content-length").flatMap { Int($0) }
        if let announced, announced > limit { throw FetchError.tooLarge(path, limit: limit) }
        var received = 0
        for try await buffer in response.body {
            received += buffer.readableBytes
            guard received <= limit else { throw FetchError.tooLarge(path, limit: limit) }
            try await receive(Array(buffer.readableBytesView))
        }
        if let announced, received != announced { throw FetchError.short(path) }
        return true
    }
}

extension FetchError {
    /// What the HTTP client throws, in our words.
    fileprivate init(_ error: any Error, path: String) {
        switch error as? HTTPClientError {
        case HTTPClientError.deadlineExceeded?, HTTPClientError.connectTimeout?, HTTPClientError.readTimeout?:
            self = .timedOut(path)
        case HTTPClientError.remoteConnectionClosed?: self = .short(path)
        case HTTPClientError.cancelled?: self = .cancelled
        case let error?: self = .connection(path, reason: error.shortDescription)
        case nil:
            if error is CancellationError {
                self = .cancelled
            } else if case HTTPParserError.invalidEOFState? = error as? HTTPParserError {
                self = .short(path)
            } else if let error = error as? IOError {
                self = .connection(path, reason: "no connection to the server: \(Errno(rawValue: error.errnoCode))")
            } else if let error = error as? NIOConnectionError {
                self = .connection(path, reason: "cannot connect to \(error.host):\(error.port)")
            } else {
                self = .connection(path, reason: "\(error)")
            }
        }
    }
}
