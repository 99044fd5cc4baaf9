package import HTTPCore
import PatchFormat

/// A release service's reason for rejecting a request (RFC 9457).
package struct ServiceProblem: Equatable, Sendable {
    static let limit = 65_536

    package let status: Int
    /// `conflict`, `unauthorized`; `http` if the answer is not the service's.
    package let kind: String
    package let detail: String
    package let hint: String?
    package let rule: String?
    /// The delay that the service requests.
    package let retryAfter: RetryAfter?
    /// The next needed byte, for `wrongOffset`.
    package let offset: Int?

    package init(
        status: Int,
        kind: String,
        detail: String,
        hint: String? = nil,
        rule: String? = nil,
        retryAfter: RetryAfter? = nil,
        offset: Int? = nil
    ) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.hint = hint
        self.rule = rule
        self.retryAfter = retryAfter
        self.offset = offset
    }

    /// - Parameters:
    ///   - field: The Retry-After field, if any. A date in it is ignored.
    init(status: Int, body: [UInt8], retryAfter field: String?) {
        let retryAfter = field.flatMap { RetryAfter(field: $0) }
        let json = try? JSON.document(body, named: "problem", limit: Self.limit)
        guard let fields = try? Fields(json, of: "problem"), let kind = try? fields.string("title"),
            let detail = try? fields.string("detail")
        else {
            self.init(status: status, kind: "http", detail: "the server answered \(status)", retryAfter: retryAfter)
            return
        }
        self.init(
            status: status,
            kind: kind,
            detail: detail,
            hint: try? fields.optionalString("hint"),
            rule: try? fields.optionalString("rule"),
            retryAfter: retryAfter,
            offset: try? fields.integer("offset", in: 0...Limits.object)
        )
    }

    /// Whether the same request may succeed later.
    var isPassing: Bool {
        switch status {
        case 408, 425, 429, 502, 504: true
        case 503: kind != "keyLocked"
        case 409: rule == "one sender"
        default: false
        }
    }
}
