/// Dotted integers such as `2.1.0`.
///
/// Missing parts count as 0.
package struct AppVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let rule = "must be integers joined by dots, at most 8 of at most 9 digits"
    package let text: String
    private let parts: [Int]

    package init?(_ text: String) {
        let pieces = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...8).contains(pieces.count) else { return nil }
        var parts: [Int] = []
        for piece in pieces {
            guard (1...9).contains(piece.utf8.count), piece.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let value = Int(piece)
            else { return nil }
            parts.append(value)
        }
        while parts.last == 0 { parts.removeLast() }
        self.parts = parts
        self.text = text
    }

    package var description: String { text }

    package static func == (left: AppVersion, right: AppVersion) -> Bool {
        left.parts == right.parts
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(parts)
    }

    package static func < (left: AppVersion, right: AppVersion) -> Bool {
        for index in 0..<max(left.parts.count, right.parts.count) {
            let (one, other) = (
                index < left.parts.count ? left.parts[index] : 0, index < right.parts.count ? right.parts[index] : 0
            )
            if one != other { return one < other }
        }
        return false
    }
}

/// Comparators joined by spaces, all of which must be true: `>=2.1 <3`.
package struct AppVersionRange: Hashable, Sendable {
    package static let rule = "must be comparators (>= <= > < = !=) joined by spaces, such as '>=2.1 <3'"

    package enum Comparator: String, Sendable, CaseIterable {
        case atLeast = ">="
        case atMost = "<="
        case notEqual = "!="
        case above = ">"
        case below = "<"
        case equal = "="
    }

    private struct Bound: Hashable, Sendable {
        let comparator: Comparator
        let version: AppVersion

        func holds(for other: AppVersion) -> Bool {
            switch comparator {
            case .atLeast: other >= version
            case .atMost: other <= version
            case .notEqual: other != version
            case .above: other > version
            case .below: other < version
            case .equal: other == version
            }
        }
    }

    package let text: String
    private let bounds: [Bound]

    package init?(_ text: String) {
        var bounds: [Bound] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let comparator = Comparator.allCases.first(where: { word.hasPrefix($0.rawValue) }),
                let version = AppVersion(String(word.dropFirst(comparator.rawValue.count)))
            else { return nil }
            bounds.append(Bound(comparator: comparator, version: version))
        }
        guard !bounds.isEmpty else { return nil }
        self.text = text
        self.bounds = bounds
    }

    package func contains(_ version: AppVersion) -> Bool {
        bounds.allSatisfy { $0.holds(for: version) }
    }

    /// The comparators that are false, joined by spaces.
    ///
    /// All of them if the version is unknown.
    package func lacking(in version: AppVersion?) -> String {
        bounds.filter { bound in version.map { !bound.holds(for: $0) } ?? true }
            .map { "\($0.comparator.rawValue)\($0.version.text)" }.joined(separator: " ")
    }
}
