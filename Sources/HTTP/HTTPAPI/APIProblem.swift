package import HTTPCore
package import NIOHTTP1
package import PatchFormat

/// The reason for a refused request (`application/problem+json`, RFC 9457).
package struct APIProblem: Error, Equatable, Sendable {
    package static let mediaType = "application/problem+json"

    /// The status, from 400 to 599.
    package let status: Int
    /// The kind of problem, for programs: `conflict`, `unauthorized`.
    package let kind: String
    /// One sentence for people.
    package let detail: String
    /// A way to continue.
    package let hint: String?
    /// The rule that the request, or the release in it, broke.
    package let rule: String?
    /// Seconds after which the request may be repeated.
    package let retryAfter: Int?
    /// The exit code of the command that does the same; nil if there is no such command.
    package let code: ResultCode?
    /// The methods of the path, for a 405.
    package let allow: String?
    /// Numbers that a program needs to continue: `{"offset": 1024}`.
    package let facts: [String: Int]

    package init(
        _ status: Int,
        _ kind: String,
        _ detail: String,
        hint: String? = nil,
        rule: String? = nil,
        retryAfter: Int? = nil,
        code: ResultCode? = nil,
        allow: String? = nil,
        facts: [String: Int] = [:]
    ) {
        (self.status, self.kind, self.detail, self.hint, self.rule) = (status, kind, detail, hint, rule)
        (self.retryAfter, self.code, self.allow, self.facts) = (retryAfter, code, allow, facts)
    }

    package var json: JSON {
        .fields(
            [
                ("type", .text("urn:patchline:\(kind)")), ("title", .text(kind)), ("status", .integer(status)),
                ("detail", .text(detail)), ("hint", hint.map { .text($0) }), ("rule", rule.map { .text($0) }),
                ("retryAfter", retryAfter.map { .integer($0) }),
                ("exitCode", code.map { .integer(Int($0.rawValue)) }),
            ] + facts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) }
        )
    }

    /// The document as it is sent.
    package var bytes: [UInt8] { json.fileBytes + [0x0A] }
}

extension APIProblem {
    package static func badRequest(_ detail: String, rule: String? = nil) -> APIProblem {
        APIProblem(400, "badRequest", detail, rule: rule)
    }

    package static func malformed(_ error: FormatError) -> APIProblem {
        APIProblem(400, "malformed", error.description, rule: error.rule)
    }

    package static func notFound(_ detail: String) -> APIProblem {
        APIProblem(404, "notFound", detail)
    }

    /// The failure of a command, with its exit code.
    package init(_ failure: Failure) {
        self.init(
            failure.code.httpStatus,
            "\(failure.code)",
            failure.message,
            hint: failure.hint,
            code: failure.code
        )
    }

    /// A refusal by the HTTP server itself.
    ///
    /// - Parameter kinds: kinds of further statuses.
    package init(refused message: String, _ status: HTTPResponseStatus, kinds: [UInt: String] = [:]) {
        let known: [UInt: String] = [400: "badRequest", 408: "tooSlow", 413: "tooLarge"]
        self.init(Int(status.code), known[status.code] ?? kinds[status.code] ?? "refused", message)
    }

    package init(_ fault: ListenerNames.Fault) {
        switch fault {
        case .otherName: self.init(421, "misdirected", fault.message)
        case .foreignOrigin: self.init(403, "forbidden", fault.message)
        }
    }
}

extension ResultCode {
    /// The status of a failure with this code.
    fileprivate var httpStatus: Int {
        switch self {
        case .usage: 400
        // The device's state does not allow it.
        case .failed, .refused, .conflict: 409
        case .network: 502
        case .busy, .interrupted, .terminated: 503
        case .malformed, .disk, .done, .partial, .due: 500
        }
    }
}
