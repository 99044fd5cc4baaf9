/// A parsed regular expression.
indirect enum PatternNode: Equatable, Sendable {
    case one(ScalarSet)
    case sequence([PatternNode])
    case either([PatternNode])
    /// `most` is nil for any number.
    case repeated(PatternNode, least: Int, most: Int?)
}

extension PatternNode {
    /// Any text: `.*`.
    static let rest = PatternNode.repeated(.one(.any), least: 0, most: nil)

    /// Whether the node matches no character.
    var matchesNothing: Bool {
        switch self {
        case .one: false
        case .sequence(let nodes), .either(let nodes): nodes.allSatisfy(\.matchesNothing)
        case .repeated(let node, least: _, let most): most == 0 || node.matchesNothing
        }
    }

    /// The fixed text with which every match begins.
    var literal: [Unicode.Scalar] {
        guard case .sequence(let nodes) = self else { return [] }
        var scalars: [Unicode.Scalar] = []
        for node in nodes {
            guard case .one(let set) = node, let scalar = set.single else { break }
            scalars.append(scalar)
        }
        return scalars
    }
}

/// The characters that are accepted at one position.
struct ScalarSet: Equatable, Sendable {
    var ranges: [ClosedRange<Unicode.Scalar>]
    var isNegated = false

    static let any = ScalarSet(ranges: [], isNegated: true)

    /// Returns the same set with ordered, disjoint ranges, as ``contains(_:)`` requires.
    var sorted: ScalarSet {
        var apart: [ClosedRange<Unicode.Scalar>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = apart.last, range.lowerBound <= last.upperBound {
                apart[apart.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                apart.append(range)
            }
        }
        return ScalarSet(ranges: apart, isNegated: isNegated)
    }

    /// - Precondition: The set is ``sorted``.
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        var places = ranges.indices
        while !places.isEmpty {
            let middle = (places.lowerBound + places.upperBound) / 2
            if ranges[middle].contains(scalar) { return !isNegated }
            places =
                ranges[middle].upperBound < scalar
                ? middle + 1..<places.upperBound : places.lowerBound..<middle
        }
        return isNegated
    }

    /// The only character of the set, or nil if there are several.
    var single: Unicode.Scalar? {
        guard ranges.count == 1, !isNegated, ranges[0].lowerBound == ranges[0].upperBound else { return nil }
        return ranges[0].lowerBound
    }
}

/// Parses the part of regular expressions that all dialects share: characters, `.`, `[a-z]`, `\d \w \s`, `( )`, `|`, `* + ? {m,n}`.
struct PatternParser {
    private let text: [Unicode.Scalar]
    private var position = 0
    private static let maxDepth = 32
    private var depth = 0

    static func parse(_ text: [Unicode.Scalar]) throws(PatternError) -> PatternNode {
        var parser = PatternParser(text: text)
        let node = try parser.alternatives()
        guard parser.position == text.count else { throw .unbalanced(at: parser.position) }
        return node
    }

    private init(text: [Unicode.Scalar]) {
        self.text = text
    }

    private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    private mutating func alternatives() throws(PatternError) -> PatternNode {
        var all = [try sequence()]
        while take("|") { all.append(try sequence()) }
        return all.count == 1 ? all[0] : .either(all)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" { nodes.append(try repeated(try atom(scalar))) }
        return .sequence(nodes)
    }

    private mutating func atom(_ scalar: Unicode.Scalar) throws(PatternError) -> PatternNode {
        let start = position
        position += 1
        switch scalar {
        case "(": return try group(at: start)
        case "[": return .one(try set(at: start))
        case ".": return .one(.any)
        case "\\": return .one(try escaped(at: start))
        case "*", "+", "?", "{": throw .nothingToRepeat(at: start)
        case "]", "}": throw .unbalanced(at: start)
        // A pattern always matches the whole path, so `^` and `$` would only have a meaning inside of it.
        case "^", "$": throw .unsupported(at: start)
        default: return .one(ScalarSet(ranges: [scalar...scalar]))
        }
    }

    private mutating func group(at start: Int) throws(PatternError) -> PatternNode {
        if take("?"), !take(":") { throw .unsupported(at: start) }
        depth += 1
        guard depth <= Self.maxDepth else { throw .tooLarge }
        let node = try alternatives()
        depth -= 1
        guard take(")") else { throw .unbalanced(at: start) }
        return node
    }

    private mutating func repeated(_ node: PatternNode) throws(PatternError) -> PatternNode {
        let start = position
        let least: Int
        let most: Int?
        if take("*") {
            (least, most) = (0, nil)
        } else if take("+") {
            (least, most) = (1, nil)
        } else if take("?") {
            (least, most) = (0, 1)
        } else if take("{") {
            (least, most) = try bounds(at: start)
        } else {
            return node
        }
        // Repeating a node that matches no character has no effect, and counting the repetitions would never end.
        guard !node.matchesNothing else { throw .nothingToRepeat(at: start) }
        // A lazy repetition matches the same paths.
        _ = take("?")
        if next == "*" || next == "+" || next == "{" { throw .nothingToRepeat(at: position) }
        return .repeated(node, least: least, most: most)
    }

    /// Parses `3}`, `3,}` and `3,5}`.
    private mutating func bounds(at start: Int) throws(PatternError) -> (Int, Int?) {
        guard let least = number() else { throw .badRange(at: start) }
        guard take(",") else {
            guard take("}") else { throw .badRange(at: start) }
            return (least, least)
        }
        if take("}") { return (least, nil) }
        guard let most = number(), most >= least, take("}") else { throw .badRange(at: start) }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let start = position
        while let scalar = next, ("0"..."9").contains(scalar) { position += 1 }
        return Int(String(String.UnicodeScalarView(text[start..<position])))
    }

    private mutating func set(at start: Int) throws(PatternError) -> ScalarSet {
        var set = ScalarSet(ranges: [], isNegated: take("^"))
        while let scalar = next, scalar != "]" || set.ranges.isEmpty {
            position += 1
            let lower = scalar == "\\" ? try escaped(at: position - 1) : ScalarSet(ranges: [scalar...scalar])
            guard next == "-", position + 1 < text.count, text[position + 1] != "]" else {
                guard !lower.isNegated else { throw .unsupported(at: position - 1) }
                set.ranges += lower.ranges
                continue
            }
            position += 2
            let upper = text[position - 1] == "\\" ? try escaped(at: position - 1).single : text[position - 1]
            guard let first = lower.single, let upper, first <= upper else { throw .badRange(at: start) }
            set.ranges.append(first...upper)
        }
        guard take("]") else { throw .unbalanced(at: start) }
        return set
    }

    /// Parses the text after a backslash: a class, or a character that is not a letter or a digit.
    private mutating func escaped(at start: Int) throws(PatternError) -> ScalarSet {
        guard let scalar = next else { throw .unsupported(at: start) }
        position += 1
        switch scalar {
        case "d", "D": return ScalarSet(ranges: ["0"..."9"], isNegated: scalar == "D")
        case "w", "W":
            return ScalarSet(ranges: ["a"..."z", "A"..."Z", "0"..."9", "_"..."_"], isNegated: scalar == "W")
        case "s", "S": return ScalarSet(ranges: [" "..." ", "\t"..."\r"], isNegated: scalar == "S")
        case "a"..."z", "A"..."Z", "0"..."9": throw .unsupported(at: start)
        default: return ScalarSet(ranges: [scalar...scalar])
        }
    }
}
