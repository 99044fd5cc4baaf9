import Gateways
import HTTPAPI
package import HTTPCore
package import HTTPFiles
import NIOConcurrencyHelpers
package import NIOHTTP1
import PatchFormat
package import PatchServer
package import ReleaseService

/// The requests that devices may send: files of the published tree, and the endpoints for devices.
///
/// All other paths return 404, including those of the operators' API.
package struct DeviceFront: FileSource {
    private let tree: PublishedTree
    private let answers: DeviceAnswers?

    /// - Parameter answers: The device endpoints, or nil for a server without a release service.
    package init(_ tree: PublishedTree, answers: DeviceAnswers?) {
        self.tree = tree
        self.answers = answers
    }

    package var acceptsBodies: Bool { answers != nil }

    package func decide(_ request: FileRequest) -> FileDecision {
        if let answers, let path = AnswerPath(request.path) {
            return .later(.keptDocument) { await answers.answer($0, at: path) }
        }
        if let answers, let path = StatisticPath(request.path) {
            return .later(.keptDocument) { await answers.take($0, at: path) }
        }
        if let fault = request.spellingFault {
            return refusal(of: request, .refused(.badRequest, message: "Bad request: \(fault).", headers: [:]))
        }
        guard request.isRead else {
            if GatewayFiles.isMeant(by: request) {
                return refusal(of: request, GatewayFiles.answer(to: request.method))
            }
            guard PublishedTree.mayHold(request.path) else { return refusal(of: request, .notFound) }
            let headers: HTTPHeaders = ["Allow": "GET, HEAD"]
            return refusal(of: request, .refused(.methodNotAllowed, message: "Only GET and HEAD.", headers: headers))
        }
        return tree.decide(request)
    }

    private func refusal(of request: FileRequest, _ answer: FileAnswer) -> FileDecision {
        // A path without a route is rejected before its body is read.
        request.isRead ? .now(PreparedReply(answer)) : .later(.stream) { _ in answer }
    }

    package func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalBody? {
        let path = target.prefix { $0 != "?" }
        let segments = path.split(separator: "/")
        guard answers != nil, AnswerPath(segments) != nil || StatisticPath(segments) != nil else { return nil }
        return RefusalBody(
            contentType: APIProblem.mediaType,
            bytes: APIProblem.refused(refusal, status).bytes
        )
    }
}

/// The endpoints for devices: places in versions with a head-count, their user's answer, and reports of JSPatch's clients.
///
/// Devices have no tokens, so their requests are limited by address.
package struct DeviceAnswers: Sendable {
    private let operations: DeviceService
    private let trustedProxies: TrustedProxies
    private let sinceStart: @Sendable () -> Duration
    private let report: @Sendable (String) -> Void
    /// A device asks rarely, but many devices may share one address.
    private let limiter = NIOLockedValueBox(AddressLimiter(1_200, ofAll: 6_000))

    /// - Parameters:
    ///   - trustedProxies: The proxies whose `X-Forwarded-For` is used.
    ///   - sinceStart: A monotonic clock.
    ///   - report: Receives one line about each internal fault.
    package init(
        _ operations: ReleaseOperations,
        trustedProxies: TrustedProxies = .none,
        sinceStart: @escaping @Sendable () -> Duration = RateLimiter.sinceStart,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.operations = DeviceService(operations)
        (self.trustedProxies, self.sinceStart, self.report) = (trustedProxies, sinceStart, report)
    }

    func answer(_ request: FileRequest, at path: AnswerPath) async -> FileAnswer {
        await answering { () async throws(APIProblem) in
            .json(try await answered(request, at: path))
        }
    }

    /// Accepts a report as JSPatch's server did.
    ///
    /// Clients do not send an acknowledged report again.
    func take(_ request: FileRequest, at path: StatisticPath) async -> FileAnswer {
        await answering { () async throws(APIProblem) in
            try await taken(request, at: path)
            return .bytes(PlatformReport.acknowledgement, type: "application/json")
        }
    }

    private func answering(_ work: () async throws(APIProblem) -> APIAnswer) async -> FileAnswer {
        let answer: APIAnswer
        do throws(APIProblem) { answer = try await work() } catch { answer = error.answer() }
        return answer.served(isWhole: true)
    }

    private func taken(_ request: FileRequest, at path: StatisticPath) async throws(APIProblem) {
        let body = try body(of: request)
        guard let app = AppID(path.app), let channel = ChannelName(path.channel) else { throw Self.noSuchPackage }
        let form = try await FormBody.bytes(
            of: body,
            type: request.headers.first(name: "Content-Type"),
            length: body.length,
            limit: Limits.platformStatistic
        )
        let report: PlatformReport
        do throws(FormatError) { report = try PlatformReport(path.page, form: form) } catch { throw .malformed(error) }
        let isTaken: Bool
        do throws(OperationError) { isTaken = try await operations.take(report, in: channel, of: app) } catch {
            throw APIProblem(error)
        }
        guard isTaken else { throw Self.noSuchPackage }
    }

    private static let noSuchPackage = APIProblem(404, "notFound", "this server has no such package")

    /// The body of a device's request, if the request is valid and within the limits.
    private func body(of request: FileRequest) throws(APIProblem) -> RequestStream {
        if let fault = request.spellingFault { throw .badRequest(fault) }
        guard request.method == .POST, let body = request.stream else {
            throw APIProblem(405, "methodNotAllowed", "this takes POST", rule: "POST", allow: "POST")
        }
        let forwarded = request.headers["X-Forwarded-For"]
        let client = LimitedClient(request.remoteAddress, forwarded: forwarded, trusting: trustedProxies)
        if let wait = limiter.withLockedValue({ $0.take(from: client, at: sinceStart()) }) {
            throw APIProblem(429, "tooManyRequests", "too many devices send requests at once", retryAfter: wait)
        }
        return body
    }

    private func answered(_ request: FileRequest, at path: AnswerPath) async throws(APIProblem) -> JSON {
        let body = try body(of: request)
        guard let app = AppID(path.app) else { throw .badRequest("app \(AppID.rule)", rule: AppID.rule) }
        guard let channel = ChannelName(path.channel) else {
            throw .badRequest("channel \(ChannelName.rule)", rule: ChannelName.rule)
        }
        let fields = try await JSONBody.fields(
            of: body,
            type: request.headers.first(name: "Content-Type"),
            length: body.length,
            limit: Limits.question
        )
        let question: DeviceQuestion
        do throws(FormatError) { question = try DeviceQuestion(fields) } catch { throw .malformed(error) }
        do throws(OperationError) { return try await operations.answer(question, in: channel, of: app).json } catch {
            throw APIProblem(error)
        }
    }
}

/// `/api/v1/apps/APP/channels/CHANNEL/answer`.
///
/// The names of app and channel are not validated yet.
struct AnswerPath: Equatable, Sendable {
    let app: String
    let channel: String

    init?(_ path: RequestPath) {
        self.init(path.segments)
    }

    init?(_ segments: [some StringProtocol]) {
        let names = segments.map { String($0) }
        guard names.count == 7, names[..<3] == ["api", "v1", "apps"], names[4] == "channels", names[6] == "answer"
        else {
            return nil
        }
        (app, channel) = (names[3], names[5])
    }
}

/// `/APP/gateways/platform/CHANNEL/succ.php` and `err.php`.
///
/// The names of app and channel are not validated yet.
struct StatisticPath: Equatable, Sendable {
    let app: String
    let channel: String
    let page: PlatformReport.Page

    init?(_ path: RequestPath) {
        self.init(path.segments)
    }

    init?(_ segments: [some StringProtocol]) {
        let names = segments.map { String($0) }
        guard names.count == 5, names[1] == "gateways", names[2] == Gateway.platform.rawValue,
            let page = PlatformReport.Page(rawValue: names[4])
        else { return nil }
        (app, channel, self.page) = (names[0], names[3], page)
    }
}

extension FileRequest {
    fileprivate var isRead: Bool { method == .GET || method == .HEAD }
}
