import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
package import PatchFormat
import PatchCrypto

/// Fetches over HTTP, once.
///
/// Repeated tries and mirrors are the engine's task.
///
/// Answers are not cached, redirects are followed only up to ``Settings/redirects``, and a compressed form is passed on as
/// transferred.
package struct HTTPFetcher: Fetcher {
    let client: HTTPClient
    let places: BaseURLs
    let settings: Settings
    /// The pace shared by all fetchers of one client, or nil for no limit.
    let pace: Pace?

    package struct Settings: Sendable {
        package var deadlines = Deadlines()
        package var trust = TLSTrust()
        /// The clock for a body's deadline and for the rate.
        package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
        /// Waits, to keep the rate.
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Called with the `Date` of each answer, as the server writes it (RFC 9110 §6.6.1).
        package var onDate: (@Sendable (String) -> Void)?
        /// The most redirects that are followed for one file.
        ///
        /// Only redirects to another path of the same server are followed.
        package var redirects = 0

        package init() {}
    }

    /// The base URLs of the parts of the URL layout.
    package struct BaseURLs: Sendable {
        /// Nil if only files are fetched.
        let server: ServerURL?
        let rest: ServerURL
        let metadata: ServerURL?
        let targets: ServerURL?

        /// A Patchline server: everything is below `/APP/`.
        package init(_ server: ServerURL, app: AppID) {
            self.server = server
            rest = server.appending(app)
            (metadata, targets) = (nil, nil)
        }

        /// Any TUF repository: metadata and targets each have a base URL.
        package init(metadata: ServerURL, targets: ServerURL) {
            server = nil
            rest = metadata
            (self.metadata, self.targets) = (metadata, targets)
        }

        /// Files of any other kind: every path is below one URL.
        package init(folder: ServerURL) {
            (server, rest) = (folder, folder)
            (metadata, targets) = (nil, nil)
        }

        func url(_ request: FetchRequest) -> String {
            let (server, rest) = split(request)
            return "\(server)/\(rest)" + (request.query.map { "?\($0)" } ?? "")
        }

        func server(of request: FetchRequest) -> ServerURL { split(request).0 }

        private func split(_ request: FetchRequest) -> (ServerURL, Substring) {
            let path = request.path
            if request.question != nil, let server { return (server, path[...]) }
            if let metadata, path.hasPrefix("metadata/") { return (metadata, path.dropFirst("metadata/".count)) }
            if let targets, path.hasPrefix("targets/") { return (targets, path.dropFirst("targets/".count)) }
            return (rest, path[...])
        }
    }

    package func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        guard try await fetch(request, unless: request.unless, take: take) else {
            return try await take(.head(FetchedHead(isUnchanged: true)))
        }
    }

    /// Patchline's servers tag a file with its SHA-256.
    ///
    /// With a tag of another form, the bytes are transferred again.
    package func bytes(
        _ path: String,
        known: [UInt8],
        limit: Int,
        deadline: Duration
    ) async throws(FetchError) -> [UInt8] {
        var bytes: [UInt8] = []
        let tag = "\"\(SHA256Digest(of: known).hex)\""
        var request = FetchRequest(path, limit: limit, deadline: deadline)
        // A compressed form has another tag than the known file.
        request.isPlain = true
        let isNew = try await fetch(request, unless: tag) { if case .bytes(let chunk) = $0 { bytes += chunk } }
        return isNew ? bytes : known
    }

    private func fetch(
        _ request: FetchRequest,
        unless tag: String?,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) -> Bool {
        do {
            if settings.trust.needsTLS, case let server = places.server(of: request), !server.isSecure {
                throw FetchError.tls(.notEncrypted(host: server.host))
            }
            return try await get(request, unless: tag, take: take)
        } catch let error as FetchError {
            throw error
        } catch {
            // The error at the end of a cancelled task's connection is irrelevant.
            if Task.isCancelled { throw .cancelled }
            let server = places.server(of: request)
            throw await FetchError(error, path: request.path, server: server, within: settings.deadlines.connect)
        }
    }

    /// - Parameters:
    ///   - url: The target of a redirect, or nil for the file's own URL.
    ///   - redirects: The number of redirects that were followed before.
    /// - Returns: False if the server confirms that the file still has `tag`.
    private func get(
        _ request: FetchRequest,
        at url: String? = nil,
        after redirects: Int = 0,
        unless tag: String?,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws -> Bool {
        var end = settings.clock() + request.deadline
        let response = try await client.execute(
            HTTPClientRequest(request, at: url ?? places.url(request), unless: tag),
            deadline: .now() + TimeAmount(request.deadline)
        )
        if let hears = settings.onDate, let date = response.headers.first(name: "date") { hears(date) }
        let status = Int(response.status.code)
        if status == 404 { try await finish(response, by: end) }
        let server = places.server(of: request)
        switch try HTTPAnswer(status, response.headers, to: request, unless: tag, from: server) {
        case .notModified: return false
        case .movedTo(let location):
            let target = RedirectTarget(location, from: url ?? places.url(request))
            guard redirects < settings.redirects, let target = target?.url else {
                throw FetchError.redirected(request.path, to: location)
            }
            return try await get(request, at: target, after: redirects + 1, unless: tag, take: take)
        case .noSuchRange:
            var whole = request
            whole.resume = nil
            return try await get(whole, at: url, after: redirects, unless: tag, take: take)
        case .body(var head, let length, let undoing):
            // The length of a coded form differs from the file's, and its announcement may be false.
            head.length = undoing.isEmpty ? length : nil
            try await take(.head(head))
            if request.isHead { return true }
            var body = ReceivedBody(request, head, undoing: undoing, length: length)
            do {
                for try await buffer in response.body {
                    try body.feed(Array(buffer.readableBytesView))
                    while let piece = try body.next() { try await take(.bytes(piece)) }
                    if let pace { end += try await pace.pay(for: buffer.readableBytes) }
                    // The client's own deadline covers only the head.
                    guard settings.clock() < end else { throw FetchError.timedOut(request.path) }
                }
                try Task.checkCancellation()
            } catch let error where !(error is FetchError) && !Task.isCancelled && body.isWhole {
                // The server announced more bytes than it sent, but the file is complete.
                return true
            }
            body.end()
            while let piece = try body.next() { try await take(.bytes(piece)) }
            try body.check()
            return true
        }
    }

    /// Reads a short answer to its end, so that its connection is kept.
    ///
    /// Each check for a newer root ends with a 404.
    private func finish(_ response: HTTPClientResponse, by end: ContinuousClock.Instant) async throws {
        guard let field = response.headers.first(name: "content-length"), let length = Int(field),
            length <= Self.shortAnswer
        else { return }
        do {
            for try await _ in response.body where settings.clock() >= end { return }
        } catch {
            // The body does not matter, and a broken connection is not reused.
            try Task.checkCancellation()
        }
    }

    private static let shortAnswer = 16_384
}

extension HTTPClientRequest {
    fileprivate init(_ request: FetchRequest, at url: String, unless tag: String?) {
        self.init(url: url)
        let codings = request.codings.map(\.rawValue)
        headers.add(
            name: "accept-encoding",
            value: codings.isEmpty ? "identity" : codings.joined(separator: ", ")
        )
        headers.add(name: "user-agent", value: "patchsync")
        if let tag { headers.add(name: "if-none-match", value: tag) }
        if let resume = request.resume {
            headers.add(name: "range", value: "bytes=\(resume.offset)-" + (resume.end.map { "\($0 - 1)" } ?? ""))
            if let validator = resume.validator { headers.add(name: "if-range", value: validator) }
        }
        if request.isHead { method = .HEAD }
        if let question = request.question {
            method = .POST
            headers.add(name: "content-type", value: request.questionType)
            body = .bytes(ByteBuffer(bytes: question))
        }
    }
}
