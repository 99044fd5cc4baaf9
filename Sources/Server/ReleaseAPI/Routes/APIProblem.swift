import HTTPFiles
import HTTPTypes
import NIOHTTP1
package import PatchFormat

/// Why a request was not done, as RFC 9457 says it (`application/problem+json`).
package struct APIProblem: Error, Equatable, Sendable {
    static let mediaType = "application/problem+json"

    /// 400 to 599.
    package let status: Int
    /// The kind of problem, for programs: `conflict`, `unauthorized`.
    package let kind: String
    /// One sentence for people.
    package let detail: String
    /// What to do about it.
    package let hint: String?
    /// Which rule the request, or the release in it, broke.
    package let rule: String?
    /// Seconds after which it may be tried again.
    package let retryAfter: Int?
    /// Facts that a program goes on with: `{"offset": 1024}`.
    package let facts: [String: Int]

    package init(
        _ status: Int,
        _ kind: String,
        _ detail: String,
        hint: String? = nil,
        rule: String? = nil,
        retryAfter: Int? = nil,
        facts: [String: Int] = [:]
    ) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.hint = hint
        self.rule = rule
        self.retryAfter = retryAfter
        self.facts = facts
    }

    package var json: JSON {
        .fields(
            [
                ("type", .text("urn:patchline:\(kind)")), ("title", .text(kind)), ("status", .integer(status)),
                ("detail", .text(detail)), ("hint", hint.map { .text($0) }), ("rule", rule.map { .text($0) }),
                ("retryAfter", retryAfter.map { .integer($0) }),
            ] + facts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) }
        )
    }

    static func badRequest(_ detail: String, rule: String? = nil) -> APIProblem {
        APIProblem(400, "badRequest", detail, rule: rule)
    }

    static func malformed(_ error: FormatError) -> APIProblem {
        APIProblem(400, "malformed", error.description, rule: error.rule)
    }

    static func notFound(_ what: String) -> APIProblem {
        APIProblem(404, "notFound", what)
    }

    static let `internal` = APIProblem(500, "internal", "the server could not do this; its log says why")

    /// What is refused before anybody is asked.
    init(_ fault: RequestFault) {
        self.init(refused: fault.message, fault.status)
    }

    init(_ fault: ListenerNames.Fault) {
        switch fault {
        case .otherName: self.init(421, "misdirected", fault.message)
        case .foreignOrigin: self.init(403, "forbidden", fault.message)
        }
    }

    init(refused message: String, _ status: HTTPResponseStatus) {
        let kind: String =
            switch status {
            case .badRequest: "badRequest"
            case .methodNotAllowed: "methodNotAllowed"
            case .requestTimeout: "tooSlow"
            case .payloadTooLarge: "tooLarge"
            default: "refused"
            }
        self.init(Int(status.code), kind, message)
    }
}
