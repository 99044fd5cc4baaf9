import NIOHTTP1

/// What is sent of a representation that exists: the conditions of a request, decided on values.
///
/// The order is RFC 9110 §13.2.2: If-Match, If-None-Match, then Range with If-Range. The conditions on dates
/// (If-Modified-Since, If-Unmodified-Since, a date in If-Range) are about a Last-Modified that is never sent here, so
/// the first two are ignored, as §13.1.3 and §13.1.4 ask for, and the last one does not match.
enum Delivery: Equatable, Sendable {
    case whole
    case part(Range<Int>)
    case notModified
    case preconditionFailed
    case unsatisfiable

    /// - Parameters:
    ///   - entityTag: the current strong tag, unquoted; nil when there is none.
    ///   - size: bytes of the whole representation.
    init(method: HTTPMethod, headers: HTTPHeaders, entityTag: String?, size: Int) {
        let isRead = method == .GET || method == .HEAD
        if let condition = EntityTagCondition(parsing: headers["If-Match"]), !condition.matchesStrongly(entityTag) {
            self = .preconditionFailed
            return
        }
        if let condition = EntityTagCondition(parsing: headers["If-None-Match"]), condition.matchesWeakly(entityTag) {
            self = isRead ? .notModified : .preconditionFailed
            return
        }
        // Range is defined for GET alone (§14.2).
        guard method == .GET, let range = ByteRange(parsing: headers["Range"]),
            Self.stillValid(headers["If-Range"], entityTag: entityTag)
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

    /// If-Range, by strong comparison (§13.1.5); absent is valid.
    private static func stillValid(_ values: [String], entityTag: String?) -> Bool {
        if values.isEmpty { return true }
        guard values.count == 1, let tag = EntityTag(parsing: values[0]) else { return false }
        return !tag.isWeak && tag.opaque == entityTag
    }
}
