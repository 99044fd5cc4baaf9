package import HTTPFiles

/// Which paths a rule names: a regular expression that matches the whole of a decoded path.
///
/// `^` at its begin and `$` at its end may stand there and say nothing new.
package struct ProxyPattern: Sendable, CustomStringConvertible {
    package static let maxLength = 512

    package let text: String
    /// The whole names before the first character that is not itself: `api`, `v1` of `/api/v1/.*`.
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
        return program.matches((path.text + slash).unicodeScalars)
    }

    /// Whether this certainly matches every path that another one matches; where it does not say so, it may all the same.
    package func covers(_ other: ProxyPattern) -> Bool {
        if node == other.node { return true }
        guard case .sequence(let nodes) = node, nodes.last == PatternNode.rest else { return false }
        let literal = node.literal
        guard literal.count == nodes.count - 1 else { return false }
        // Every path begins with it.
        return literal.isEmpty || literal == ["/"] || other.node.literal.starts(with: literal)
    }

    private static func names(before node: PatternNode) -> [String] {
        guard case .sequence(let nodes) = node else { return [] }
        let literal = String.UnicodeScalarView(node.literal)
        let isWhole = literal.count == nodes.count
        let names = String(literal).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return (isWhole ? names : names.dropLast()).filter { !$0.isEmpty }
    }
}
