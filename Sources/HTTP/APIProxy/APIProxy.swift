import AsyncHTTPClient
package import HTTPFiles
package import HTTPCore
import NIOCore
import NIOHTTP1
import NIOPosix
package import PatchFetch

/// Forwards requests to the servers that their rule names, and forwards the answers while they arrive.
///
/// Bodies are passed on unchanged, except those that a filter collects, and the slower side limits the rate. A request without a
/// rule is answered 404.
package struct APIProxy: RequestDelegate {
    package struct Settings: Sendable {
        package var rules: ProxyRules
        package var trust: TLSTrust
        /// How long a connection to an upstream may take, including TLS.
        package var connectTimeout = Duration.seconds(10)
        /// How long an upstream may pause within a request or its answer.
        ///
        /// Event streams may pause without limit.
        package var timeout = Duration.seconds(60)
        /// The prefix of the device's own cookies.
        ///
        /// They are hidden from upstreams, which cannot set them either.
        package var reservedCookies = "cdvToken"
        package var placement = Placement.besidePages
        /// The filter that inspects answers, or nil to pass all of them unchanged.
        package var filter: (any AnswerFilter)?
        /// The most bytes of inspected answers that are kept at a time, all together.
        ///
        /// Answers without room are passed unchanged.
        package var collectedBytes = 128_000_000
        /// The most requests at a time to one upstream.
        ///
        /// They are shared among clients. A request without a slot is answered 503.
        package var requests = 512

        /// The proxy's position.
        package enum Placement: Equatable, Sendable {
            /// On a device. Pages reach the upstreams as if these were the pages' own server.
            case besidePages
            /// In front of a site. The site's server receives the client's address and `http` or `https`, the scheme that clients
            /// use.
            case inFrontOfSite(scheme: String, TrustedProxies)
        }

        package init(rules: ProxyRules, trust: TLSTrust) {
            self.rules = rules
            self.trust = trust
        }
    }

    /// The largest body in bytes that is inspected on the event loop, which delays the loop's other clients.
    private static let smallBytes = 32_768

    /// The name of this process in `Via`, which identifies requests that it sent itself.
    static let name = "patchline-\(UInt64.random(in: .min ... .max))"

    package let acceptsBodies = true
    let settings: Settings
    let order: UpstreamOrder
    private let client: HTTPClient
    /// The client for requests for server-sent events, which may pause without limit.
    private let eventClient: HTTPClient
    /// The client for requests with bodies, whose pace the loop of its connections controls.
    private let uploadClient: HTTPClient
    private let uploadLoop: any EventLoop
    /// The room for answers that ``Settings/filter`` inspects.
    private let room: InspectionMemory
    private let slots: UpstreamSlots
    /// Called with one line about each upstream that did not answer.
    private let report: @Sendable (String) -> Void

    /// Runs `body` with a proxy.
    ///
    /// Its connections are closed when `body` returns.
    package static func with<Result: Sendable>(
        _ settings: Settings,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        report: @escaping @Sendable (String) -> Void = { _ in },
        _ body: (APIProxy) async throws -> Result
    ) async throws -> Result {
        // A request's connection is on the event loop of the calling task, if that has one.
        let loops = MultiThreadedEventLoopGroup.singleton
        let uploadLoop = loops.next()
        let client = HTTPClient(eventLoopGroup: loops, configuration: .init(settings, isForEvents: false))
        let events = HTTPClient(eventLoopGroup: loops, configuration: .init(settings, isForEvents: true))
        let uploads = HTTPClient(eventLoopGroup: uploadLoop, configuration: .init(settings, isForEvents: false))
        let proxy = APIProxy(
            settings: settings,
            order: UpstreamOrder(now: now),
            client: client,
            eventClient: events,
            uploadClient: uploads,
            uploadLoop: uploadLoop,
            room: InspectionMemory(bytes: settings.collectedBytes),
            slots: UpstreamSlots(limit: settings.requests, now: now, report: report),
            report: report
        )
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(proxy)) } catch { result = .failure(error) }
        for client in [client, events, uploads] { await client.close() }
        return try result.get()
    }

    package func takes(_ request: FileRequest) -> Bool {
        settings.rules.rule(for: request.path) != nil
    }

    package func passesAsSent(_ request: FileRequest) -> Bool { takes(request) }

    package func decide(_ request: FileRequest) -> FileDecision {
        let named: ProxyRule?
        do throws(SentPathRefusal) { named = try settings.rules.rule(for: request) } catch {
            let headers: HTTPHeaders = ["Cache-Control": "no-store", "X-Patchline-Proxy": "path"]
            return .now(PreparedReply(.refused(.badRequest, message: error.message, headers: headers)))
        }
        guard let rule = named else { return .now(PreparedReply(.notFound)) }
        if request.headers["Via"].contains(where: { $0.contains(Self.name) }) {
            let text = "This proxy is its own upstream."
            return .now(PreparedReply(.refused(.loopDetected, message: text, headers: ["Cache-Control": "no-store"])))
        }
        return .passing { await answer($0, by: rule) }
    }

    private func answer(_ request: FileRequest, by rule: ProxyRule) async -> FileAnswer {
        let upstreams = order.order(rule.upstreams)
        for (number, upstream) in upstreams.enumerated() {
            do throws(UpstreamFault) {
                let answer = try await ask(upstream, request, by: rule)
                order.markAvailable(upstream)
                return answer
            } catch {
                // The client broke the request, and the server reports it.
                guard !Task.isCancelled, request.stream?.isBroken != true else { break }
                // Refusals are reported separately, once a minute.
                if !error.isRefusal {
                    report("\(request.method.rawValue) \(request.spelledPath): \(upstream.origin): \(error)")
                }
                if error.isBeforeRequest, !error.isRefusal { order.isMissing(upstream) }
                guard error.isBeforeRequest, number + 1 < upstreams.count else { return error.answer(upstream) }
            }
        }
        // The client has disconnected, so the answer is only for the log, where it shows that no server failed.
        return .refused(Self.clientClosedRequest, message: "The client is gone.", headers: [:])
    }

    /// The status that nginx logs for it.
    private static let clientClosedRequest = HTTPResponseStatus(statusCode: 499)

    private func ask(_ upstream: Upstream, _ request: FileRequest, by rule: ProxyRule) async throws(UpstreamFault)
        -> FileAnswer
    {
        if request.upgrade == "websocket" { return try await openTunnel(to: upstream, request, by: rule) }
        let slot = try slots.take(upstream, for: slotClient(of: request), isEndless: request.acceptsOnlyEventStream)
        do throws(UpstreamFault) {
            do throws(UpstreamFault) {
                return try await pass(request, to: upstream, by: rule, slot)
            } catch .closed where request.isRepeatable && !Task.isCancelled {
                // An idle connection may end at the moment it is reused (RFC 9110 §9.2.2).
                return try await pass(request, to: upstream, by: rule, slot)
            }
        } catch {
            slot.end()
            throw error
        }
    }

    private func slotClient(of request: FileRequest) -> UpstreamSlots.Client {
        switch settings.placement {
        case .besidePages: .path(request.spelledPath)
        case .inFrontOfSite(_, let proxies):
            .address(
                ClientName(request.remoteAddress, forwarded: request.headers["X-Forwarded-For"], trusting: proxies)
            )
        }
    }

    private func pass(
        _ request: FileRequest,
        to upstream: Upstream,
        by rule: ProxyRule,
        _ slot: UpstreamSlots.Slot
    ) async throws(UpstreamFault) -> FileAnswer {
        if request.hasBody { return try await passUpload(request, to: upstream, by: rule, slot) }
        let client = request.acceptsEventStream ? eventClient : client
        let view = settings.filter?.view(of: request)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(asked(request, of: upstream, by: rule, view), deadline: .distantFuture)
        } catch { throw UpstreamFault(error) }
        // A 101, which no request here asks for.
        guard response.status.code >= 200 else { throw .malformed }
        if response.headers.isEventStream { try slot.becomesEndless() } else { slot.isNotEndless() }
        if let view { return try await pass(response, through: view, of: upstream, by: rule, slot) }
        return .stream(
            stream(response, of: upstream, by: rule) { write in
                defer { slot.end() }
                for try await piece in response.body { try await write(piece) }
            }
        )
    }

    private func passUpload(
        _ request: FileRequest,
        to upstream: Upstream,
        by rule: ProxyRule,
        _ slot: UpstreamSlots.Slot
    ) async throws(UpstreamFault) -> FileAnswer {
        let stall = UploadStall(on: uploadLoop, limit: settings.timeout)
        var asked = asked(request, of: upstream, by: rule, nil)
        if let body = request.stream {
            let length = body.length.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
            asked.body = .stream(PacedBody(stream: body, stall: stall), length: length)
        }
        let response: HTTPClientResponse
        do {
            response = try await stall.cancelling { [asked] in
                try await uploadClient.execute(asked, deadline: .distantFuture)
            }
        } catch {
            stall.end()
            throw UpstreamFault(error)
        }
        guard response.status.code >= 200 else { throw .malformed }
        if response.headers.isEventStream {
            do throws(UpstreamFault) { try slot.becomesEndless() } catch {
                stall.end()
                throw error
            }
        } else {
            slot.isNotEndless()
        }
        return .stream(
            stream(response, of: upstream, by: rule) { write in
                // An upstream may answer early, and read the rest of the body later or never.
                defer {
                    stall.end()
                    slot.end()
                }
                try await stall.cancelling { for try await piece in response.body { try await write(piece) } }
            }
        )
    }

    private func stream(
        _ response: HTTPClientResponse,
        of upstream: Upstream,
        by rule: ProxyRule,
        send: @escaping @Sendable (@escaping ServedStream.Write) async throws -> Void
    ) -> ServedStream {
        ServedStream(
            status: response.status,
            headers: fields(response.headers, of: upstream, by: rule),
            length: Self.length(response.headers),
            isEndless: response.headers.isEventStream,
            send: send
        )
    }

    /// Returns the answer to a request without a body, for inspection by the filter.
    private func pass(
        _ response: HTTPClientResponse,
        through view: any AnswerView,
        of upstream: Upstream,
        by rule: ProxyRule,
        _ slot: UpstreamSlots.Slot
    ) async throws(UpstreamFault) -> FileAnswer {
        let fields = fields(response.headers, of: upstream, by: rule)
        let body = CollectedBody(response.body, room: room)
        let passed: HTTPHeaders
        var copy: (limit: Int, to: @Sendable ([UInt8]) -> Void)?
        switch view.plan(for: response.status, fields) {
        case .passes(let fields): passed = fields
        case .copies(let limit, let fields, let to): (passed, copy) = (fields, (limit, to))
        case .collects(let limit, let otherwise):
            let all: [UInt8]?
            do { all = try await body.all(limit: limit) } catch { throw UpstreamFault(error) }
            if let all {
                // The upstream's connection is free, even if the client reads slowly.
                slot.end()
                let answer =
                    all.count <= Self.smallBytes
                    ? view.answer(response.status, fields, body: all)
                    : await offLoop { view.answer(response.status, fields, body: all) }
                return answer.holding(body)
            }
            passed = otherwise
        }
        return .stream(
            ServedStream(
                status: response.status,
                headers: passed,
                length: Self.length(response.headers),
                isEndless: response.headers.isEventStream
            ) { [copy] write in
                defer { slot.end() }
                guard let copy else {
                    while let piece = try await body.next() { try await write(piece) }
                    return
                }
                while let piece = try await body.nextCopied(limit: copy.limit) { try await write(piece) }
                guard let bytes = await body.copy else { return }
                if bytes.count <= Self.smallBytes { copy.to(bytes) } else { await offLoop { copy.to(bytes) } }
            }
        )
    }

    private func asked(
        _ request: FileRequest,
        of upstream: Upstream,
        by rule: ProxyRule,
        _ view: (any AnswerView)?
    ) -> HTTPClientRequest {
        // Set separately, because the client would change the spelling of a URL's path.
        var asked = HTTPClientRequest(url: upstream.origin + "/")
        asked.method = request.method
        let fields = asks(request, of: upstream)
        asked.headers = view?.asked(fields) ?? fields
        asked.headers.replaceOrAdd(name: AnswerGuard.targetField, value: rule.target(of: request, at: upstream))
        return asked
    }

    /// Returns the fields that the upstream receives.
    func asks(_ request: FileRequest, of upstream: Upstream) -> HTTPHeaders {
        switch settings.placement {
        case .besidePages: HTTPHeaders(of: request, for: upstream, reservedCookies: settings.reservedCookies)
        case .inFrontOfSite(let scheme, let proxies):
            HTTPHeaders(
                of: request,
                from: request.remoteAddress,
                forSite: upstream,
                scheme: scheme,
                trusting: proxies
            )
        }
    }

    /// Returns the fields that the client receives.
    func fields(_ fields: HTTPHeaders, of upstream: Upstream, by rule: ProxyRule) -> HTTPHeaders {
        switch settings.placement {
        case .besidePages:
            HTTPHeaders(
                from: fields,
                of: upstream,
                by: rule,
                in: settings.rules,
                reserved: settings.reservedCookies
            )
        case .inFrontOfSite: HTTPHeaders(ofSite: fields, at: upstream, by: rule, in: settings.rules)
        }
    }

    static func length(_ fields: HTTPHeaders) -> Int? {
        let lengths = fields["Content-Length"]
        guard lengths.count == 1, !fields.contains(name: "Transfer-Encoding") else { return nil }
        return Int(lengths[0]).flatMap { $0 < 0 ? nil : $0 }
    }
}

extension FileAnswer {
    /// Returns the same answer, which keeps the body's share of the room until all of it is sent.
    fileprivate func holding(_ body: CollectedBody) -> FileAnswer {
        guard case .stream(let stream) = self else { return self }
        return .stream(
            ServedStream(
                status: stream.status,
                headers: stream.headers,
                length: stream.length,
                isEndless: stream.isEndless
            ) { write in
                try await stream.send(write)
                withExtendedLifetime(body) {}
            }
        )
    }
}

extension FileRequest {
    /// Whether the request may be sent twice: it changes nothing, and none of its body was read.
    fileprivate var isRepeatable: Bool {
        ["GET", "HEAD", "OPTIONS"].contains(method.rawValue) && (stream.map { $0.length ?? 1 } ?? body.count) == 0
    }

    fileprivate var hasBody: Bool { stream.map { $0.length != 0 } ?? false }

    fileprivate var acceptsEventStream: Bool {
        headers["Accept"].contains { $0.lowercased().contains("text/event-stream") }
    }

    /// Whether the answer can only be a stream, as for an EventSource of a page.
    ///
    /// Other clients accept a document as well, and the head of the answer shows which of the two it is.
    fileprivate var acceptsOnlyEventStream: Bool {
        let types = headers["Accept"]
        return !types.isEmpty && types.allSatisfy { $0.lowercased() == "text/event-stream" }
    }
}

extension HTTPHeaders {
    fileprivate var isEventStream: Bool {
        first(name: "Content-Type")?.lowercased().hasPrefix("text/event-stream") == true
    }
}

extension HTTPClient.Configuration {
    /// Shorter than the time for which servers keep an idle connection (5 s with Node), so that few connections end during a
    /// request.
    private static let idleTime = TimeAmount.seconds(4)

    init(_ settings: APIProxy.Settings, isForEvents: Bool) {
        self.init(
            trusting: settings.trust,
            connectTimeout: settings.connectTimeout,
            // Each request has a slot first, so none waits for a connection of the pool.
            connections: settings.requests
        )
        if !isForEvents { timeout.read = TimeAmount(settings.timeout) }
        connectionPool.idleTimeout = Self.idleTime
    }
}
