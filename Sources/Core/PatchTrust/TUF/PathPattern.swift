/// A TUF path pattern, compared component by component, so that `*` and `?` never match `/`.
///
/// It is case-sensitive.
package struct PathPattern: Sendable {
    private let components: [[UInt8]]

    package init(_ pattern: String) {
        components = Self.split(pattern)
    }

    package func matches(_ path: String) -> Bool {
        let parts = Self.split(path)
        return parts.count == components.count && zip(components, parts).allSatisfy { Self.matches($0[...], $1[...]) }
    }

    private static func split(_ text: String) -> [[UInt8]] {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Greedy with one backtracking point: linear space, and no exponential time on hostile patterns.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        var (p, t) = (pattern.startIndex, text.startIndex)
        var retry: (pattern: Int, text: Int)?
        while t < text.endIndex {
            if p < pattern.endIndex, pattern[p] == UInt8(ascii: "*") {
                retry = (p + 1, t)
                p += 1
            } else if p < pattern.endIndex, pattern[p] == text[t] || pattern[p] == UInt8(ascii: "?") {
                p += 1
                t += 1
            } else if let back = retry {
                retry = (back.pattern, back.text + 1)
                (p, t) = (back.pattern, back.text + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
