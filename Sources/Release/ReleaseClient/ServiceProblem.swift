package import PatchFetch
import PatchFormat

/// What a release service says of a request that it did not do (RFC 9457).
package struct ServiceProblem: Equatable, Sendable {
    static let limit = 65_536

    package let status: Int
    /// `conflict`, `unauthorized`; `http` where something else than the service answered.
    package let kind: String
    package let detail: String
    package let hint: String?
    package let rule: String?
    /// The time that the service asks for before the next try.
    package let retryAfter: RetryAfter?
    /// Of `wrongOffset`: the next byte that is wanted.
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
    ///   - field: Retry-After, where it stands; a date there counts as none.
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

    /// Whether the same request may be done later.
    var isPassing: Bool {
        switch status {
        case 408, 425, 429, 502, 504: true
        case 503: kind != "keyLocked"
        case 409: rule == "one sender"
        default: false
        }
    }
}
