import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PatchFetch
package import PatchFormat
import PatchCrypto
import PatchTrust

/// An HTTP client for a release service.
///
/// It repeats requests if that may help. Redirects are not followed, and nothing is cached. The token is sent only to the
/// service: before the first request with it, the server must state whether it has the app, and prove that it knows the token.
package struct ServiceClient: Sendable {
    package struct Settings: Sendable {
        /// Trusted certificates in PEM, instead of the system's.
        package var authorities: [UInt8]?
        /// Whether the token may be sent to another machine without TLS.
        package var allowsPlainHTTP = false
        /// The maximum number of consecutive repetitions of a request.
        package var retries = 7
        package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        package var random: @Sendable () -> Double = { .random(in: 0..<1) }
        /// An upper bound for the deadline of each request; nil for none.
        package var longestDeadline: Duration?
        /// The user agent.
        package var agent = "patchsign"
        /// Called before each wait.
        package var notice: @Sendable (ServiceError, Duration) -> Void = { _, _ in }

        package init() {}
    }

    /// The maximum number of concurrent requests.
    static let connections = 6
    private static let connectDeadline = Duration.seconds(10)
    /// The maximum time in which a server accepts no bytes.
    private static let writeDeadline = TimeAmount.seconds(60)

    package let server: ServerURL
    private let client: HTTPClient
    private let token: ServiceToken?
    private let settings: Settings
    /// The apps for which the server has identified itself; an empty name for requests that do not concern an app.
    private let identified = NIOLockedValueBox<Set<String>>([])

    /// Runs `body` with a client, and closes its connections afterwards.
    ///
    /// - Parameter token: nil for requests that need none.
    package static func with<Value: Sendable>(
        _ server: ServerURL,
        token: ServiceToken?,
        _ settings: Settings,
        _ body: (ServiceClient) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard token == nil || server.isSecure || server.isLoopback || settings.allowsPlainHTTP else {
            throw .notEncrypted(host: server.host)
        }
        let trust: TLSTrust
        do throws(TLSFault) { trust = try TLSTrust(authorities: settings.authorities) } catch { throw .noAuthority }
        var configuration = HTTPClient.Configuration(
            trusting: trust,
            connectTimeout: connectDeadline,
            connections: connections
        )
        configuration.timeout.write = writeDeadline
        return try await HTTPClient.with(configuration) { client throws(ServiceError) in
            try await body(ServiceClient(server: server, client: client, token: token, settings: settings))
        }
    }

    /// The answer to a request, which is repeated if that may help.
    func json(_ request: ServiceRequest) async throws(ServiceError) -> Fields {
        try await trying { () async throws(ServiceError) in try await jsonOnce(request) }
    }

    func jsonOnce(_ request: ServiceRequest) async throws(ServiceError) -> Fields {
        let bytes = try await once(request)
        do throws(FormatError) {
            return try Fields(try JSON.document(bytes, named: "answer", limit: request.limit), of: "answer")
        } catch { throw .malformed(error) }
    }

    func bytes(_ request: ServiceRequest) async throws(ServiceError) -> [UInt8] {
        try await trying { () async throws(ServiceError) in try await once(request) }
    }

    func trying<Value: Sendable>(
        _ work: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        var failures = 0
        while true {
            do throws(ServiceError) { return try await work() } catch {
                failures += 1
                try await rest(after: error, failures: failures)
            }
        }
    }

    /// Waits until the request may be repeated, or throws the error if it may not.
    func rest(after error: ServiceError, failures: Int) async throws(ServiceError) {
        guard error.isPassing, failures <= settings.retries,
            let wait = Backoff.build.wait(failures: failures, asked: error.retryAfter, random: settings.random())
        else { throw error }
        settings.notice(error, wait)
        do { try await settings.pause(wait) } catch { throw .cancelled }
    }

    func once(_ request: ServiceRequest) async throws(ServiceError) -> [UInt8] {
        try await identify(request.app)
        return try await perform(request, token)
    }

    /// Asks the server, once per app, whether it is the one that the token is for.
    ///
    /// A server that does not support this question receives the token only over TLS, where its certificate identifies it.
    func identify(_ app: AppID?, root: IdentityQuestion.KnownRoot? = nil) async throws(ServiceError) {
        guard let token else { return }
        let isKnown = identified.withLockedValue { app == nil ? !$0.isEmpty : $0.contains(app?.text ?? "") }
        if isKnown, root == nil { return }
        let question = IdentityQuestion(app, root: root, token: token, nonce: SecureRandom.bytes(TokenProof.nonceBytes))
        do throws(ServiceError) {
            guard let identity = ServerIdentity(try await perform(question.request, nil)) else {
                throw .unidentified(server)
            }
            if let fault = identity.fault(question, at: server) { throw fault }
        } catch .problem(let problem) where problem.status == 404 || problem.status == 405 {
            guard server.isSecure else {
                throw problem.kind == "http" ? ServiceError.problem(problem) : .unidentified(server)
            }
        }
        identified.withLockedValue { _ = $0.insert(app?.text ?? "") }
    }

    private func perform(_ request: ServiceRequest, _ token: ServiceToken?) async throws(ServiceError) -> [UInt8] {
        var request = request
        if let longest = settings.longestDeadline { request.deadline = min(request.deadline, longest) }
        do {
            let response = try await client.execute(
                message(request, token),
                deadline: .now() + TimeAmount(request.deadline)
            )
            let status = Int(response.status.code)
            let location = response.headers.first(name: "location")
            if let sign = Interception(status: status, location: location, from: server) {
                throw ServiceError.intercepted(sign)
            }
            let isDone = (200..<300).contains(status)
            // The service never answers with a web page.
            if isDone, response.headers.first(name: "content-type")?.lowercased().hasPrefix("text/html") == true {
                throw ServiceError.intercepted(.page)
            }
            let limit = isDone ? request.limit : ServiceProblem.limit
            let bytes = try await body(of: response, limit: limit, request)
            if isDone { return bytes }
            if (300..<400).contains(status) {
                throw ServiceError.redirected(to: location ?? "nowhere")
            }
            let retryAfter = response.headers.first(name: "retry-after")
            throw ServiceError.problem(ServiceProblem(status: status, body: bytes, retryAfter: retryAfter))
        } catch let error as ServiceError {
            throw error
        } catch { throw ServiceError(error, at: request.path, of: server) }
    }

    private func message(_ request: ServiceRequest, _ token: ServiceToken?) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: server.text + request.path)
        message.method = request.method
        message.headers.add(name: "user-agent", value: settings.agent)
        message.headers.add(name: "accept-encoding", value: "identity")
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let token {
            message.headers.add(name: "authorization", value: token.authorization)
        }
        switch request.body {
        case .none: break
        case .json(let json):
            message.headers.add(name: "content-type", value: "application/json")
            message.body = .bytes(ByteBuffer(bytes: json.fileBytes))
        case .part(let part):
            message.headers.add(name: "content-type", value: "application/octet-stream")
            if let coding = part.coding { message.headers.add(name: "content-encoding", value: coding.rawValue) }
            message.body = .stream(part, length: part.length.map { .known(Int64($0)) } ?? .unknown)
        }
        return message
    }

    private func body(
        of response: HTTPClientResponse,
        limit: Int,
        _ request: ServiceRequest
    ) async throws -> [UInt8] {
        // The HTTP client's own deadline covers only the head, and a stalled body would be awaited forever.
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask {
                var bytes: [UInt8] = []
                for try await piece in response.body {
                    guard bytes.count + piece.readableBytes <= limit else {
                        throw ServiceError.tooLarge(request.path, limit: limit)
                    }
                    bytes += piece.readableBytesView
                }
                return bytes
            }
            group.addTask {
                try await Task.sleep(for: request.deadline)
                throw ServiceError.timedOut(request.path)
            }
            defer { group.cancelAll() }
            guard let bytes = try await group.next() else { throw ServiceError.cancelled }
            return bytes
        }
    }
}
