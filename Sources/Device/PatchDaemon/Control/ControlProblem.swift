import DeviceOutput
import NIOHTTP1
import PatchFormat
import PatchSync

/// Why something that was asked over the socket was not done (RFC 9457): the kinds and hints are those of the commands.
struct ControlProblem: Error, Equatable, Sendable {
    static let mediaType = "application/problem+json"

    let status: HTTPResponseStatus
    let kind: String
    let detail: String
    var hint: String?
    /// With which the command would end; nil where there is none.
    var code: ResultCode?
    var allow: String?

    init(_ status: HTTPResponseStatus, _ kind: String, _ detail: String, hint: String? = nil) {
        (self.status, self.kind, self.detail, self.hint) = (status, kind, detail, hint)
    }

    init(_ failure: Failure) {
        self.init(failure.code.status, "\(failure.code)", failure.message, hint: failure.hint)
        code = failure.code
    }

    init(_ error: SyncError) { self.init(Failure(error)) }

    /// What a request says breaks a rule.
    static func invalid(_ error: FormatError, hint: String? = nil) -> ControlProblem {
        var problem = ControlProblem(.badRequest, "\(ResultCode.usage)", error.description, hint: hint)
        problem.code = .usage
        return problem
    }

    static let notFound = ControlProblem(
        .notFound,
        "notFound",
        "there is nothing here",
        hint: "GET /v1/openapi.json says what there is."
    )

    static let noSuchStore = ControlProblem(
        .notFound,
        "notFound",
        "no store has this name",
        hint: "GET /v1 names them."
    )

    static func notAllowed(_ methods: [String]) -> ControlProblem {
        let allow = methods.joined(separator: ", ")
        var problem = ControlProblem(.methodNotAllowed, "methodNotAllowed", "this takes \(allow)")
        problem.allow = allow
        return problem
    }

    /// A browser's request: none reaches a socket by itself, and what stands in front may let it through.
    static let fromAPage = ControlProblem(
        .forbidden,
        "forbidden",
        "a request with an Origin comes from a page, and pages have no business here",
        hint: "the pages of an app have an interface of their own: window.patchline."
    )

    /// A refusal of the server itself.
    init(refusal: String, _ status: HTTPResponseStatus) {
        let kind =
            switch status {
            case .badRequest: "badRequest"
            case .payloadTooLarge: "tooLarge"
            case .requestTimeout: "tooSlow"
            case .serviceUnavailable: "busy"
            default: "refused"
            }
        self.init(status, kind, refusal)
    }

    var json: JSON {
        .fields([
            ("type", .text("urn:patchline:\(kind)")), ("title", .text(kind)), ("status", .integer(Int(status.code))),
            ("detail", .text(detail)), ("hint", hint.map { .text($0) }),
            ("exitCode", code.map { .integer(Int($0.rawValue)) }),
        ])
    }
}

extension ResultCode {
    fileprivate var status: HTTPResponseStatus {
        switch self {
        case .usage: .badRequest
        // The device's state does not allow it.
        case .failed, .refused, .conflict: .conflict
        case .network: .badGateway
        case .busy, .interrupted, .terminated: .serviceUnavailable
        case .malformed, .disk, .done, .partial, .due: .internalServerError
        }
    }
}
