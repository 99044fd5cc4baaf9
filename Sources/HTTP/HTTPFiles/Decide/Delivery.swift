import HTTPCore
import NIOHTTP1

/// The part of an existing representation that is sent.
///
/// The conditions of a request are evaluated on values.
///
/// The order is RFC 9110 §13.2.2: If-Match or else If-Unmodified-Since, If-None-Match or else If-Modified-Since, then Range with
/// If-Range. If no Last-Modified is sent, conditions on dates are ignored (§13.1.3, §13.1.4), and a date in If-Range does not
/// match.
enum Delivery: Equatable, Sendable {
    case whole
    case part(Range<Int>)
    case notModified
    case preconditionFailed
    case unsatisfiable

    /// - Parameters:
    ///   - entityTag: The current strong tag, unquoted, or nil if there is none.
    ///   - modified: The value of Last-Modified, in seconds since 1970, or nil if there is none.
    ///   - size: The size of the whole representation in bytes.
    ///   - now: Seconds since 1970, for dates with two-digit years.
    init(
        method: HTTPMethod,
        headers: HTTPHeaders,
        entityTag: String?,
        modified: Int? = nil,
        size: Int,
        now: Int = HTTPDate.second
    ) {
        let isRead = method == .GET || method == .HEAD
        if let condition = EntityTagCondition(parsing: headers["If-Match"]) {
            if !condition.matchesStrongly(entityTag) {
                self = .preconditionFailed
                return
            }
        } else if let modified, let date = Self.date(headers["If-Unmodified-Since"], now: now), modified > date {
            self = .preconditionFailed
            return
        }
        if let condition = EntityTagCondition(parsing: headers["If-None-Match"]) {
            if condition.matchesWeakly(entityTag) {
                self = isRead ? .notModified : .preconditionFailed
                return
            }
        } else if isRead, let modified, let date = Self.date(headers["If-Modified-Since"], now: now), modified <= date {
            self = .notModified
            return
        }
        // Range is defined for GET alone (§14.2).
        guard method == .GET, let range = ByteRange(parsing: headers["Range"]),
            Self.stillValid(headers["If-Range"], entityTag: entityTag, modified: modified, now: now)
        else {
            self = .whole
            return
        }
        switch range.resolved(size: size) {
        case .bytes(let bytes): self = .part(bytes)
        case .whole: self = .whole
        case .unsatisfiable: self = .unsatisfiable
        }
    }

    /// Returns nil for a condition that is not exactly one date, which is ignored (§13.1.3, §13.1.4).
    private static func date(_ values: [String], now: Int) -> Int? {
        values.count == 1 ? HTTPDate.seconds(values[0], now: now) : nil
    }

    /// Evaluates If-Range: a strong comparison of a tag, or the exact date that was sent (§13.1.5).
    ///
    /// An absent field is valid.
    private static func stillValid(_ values: [String], entityTag: String?, modified: Int?, now: Int) -> Bool {
        if values.isEmpty { return true }
        guard values.count == 1 else { return false }
        if let tag = EntityTag(parsing: values[0]) { return !tag.isWeak && tag.opaque == entityTag }
        return modified != nil && HTTPDate.seconds(values[0], now: now) == modified
    }
}
