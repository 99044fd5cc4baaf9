package import HTTPCore

/// The paths of a rule: a regular expression that matches the whole of a decoded path.
///
/// `^` at its beginning and `$` at its end are accepted and have no effect.
package struct ProxyPattern: Sendable, CustomStringConvertible {
    package static let maxLength = 512

    package let text: String
    /// The whole names before the first special character: `api`, `v1` of `/api/v1/.*`.
    package let prefix: [String]
    private let node: PatternNode
    private let program: PatternProgram

    package init(_ text: String) throws(PatternError) {
        guard text.unicodeScalars.count <= Self.maxLength else { throw .tooLong }
        var scalars = Array(text.unicodeScalars)
        if scalars.first == "^" { scalars.removeFirst() }
        if scalars.last == "$", scalars.dropLast().last != "\\" { scalars.removeLast() }
        guard !scalars.isEmpty else { throw .empty }
        let node = try PatternParser.parse(scalars)
        self.text = text
        self.node = node
        program = try PatternProgram(node)
        prefix = Self.names(before: node)
        guard program.canBegin(with: "/") else { throw .noPath }
    }

    package var description: String { text }

    package func matches(_ path: RequestPath) -> Bool {
        let slash = path.hasTrailingSlash && !path.segments.isEmpty ? "/" : ""
        return matches(path.text + slash)
    }

    /// - Parameter path: The decoded path.
    func matches(_ path: String) -> Bool { program.matches(path.unicodeScalars) }

    /// Whether this pattern certainly matches every path that `other` matches.
    ///
    /// False if that cannot be proved.
    package func covers(_ other: ProxyPattern) -> Bool {
        if node == other.node || coversAll { return true }
        guard let literal = literalBeforeRest else { return false }
        return other.node.literal.starts(with: literal)
    }

    /// Whether this matches every path, as `/.*` does.
    var coversAll: Bool {
        guard let literal = literalBeforeRest else { return false }
        // Every path begins with this text.
        return literal.isEmpty || literal == ["/"]
    }

    /// The fixed text of a pattern that consists of that text and `.*`, or nil for all other patterns.
    private var literalBeforeRest: [Unicode.Scalar]? {
        guard case .sequence(let nodes) = node, nodes.last == PatternNode.rest else { return nil }
        let literal = Array(node.literal)
        return literal.count == nodes.count - 1 ? literal : nil
    }

    private static func names(before node: PatternNode) -> [String] {
        guard case .sequence(let nodes) = node else { return [] }
        let literal = String.UnicodeScalarView(node.literal)
        let isWhole = literal.count == nodes.count
        let names = String(literal).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return (isWhole ? names : names.dropLast()).filter { !$0.isEmpty }
    }
}
