/// A regular expression as steps that are followed simultaneously (Thompson, 1968).
///
/// Matching takes time in proportion to the length of the path and the number of steps, which is small. So no pattern lets a
/// page block the server.
struct PatternProgram: Sendable {
    private enum Step: Sendable {
        case take(ScalarSet)
        case fork(Int, Int)
        case done
    }

    /// Twice the number of a pattern's characters.
    ///
    /// In the worst case, each character of a path is compared with all steps.
    static let maxSteps = 2 * ProxyPattern.maxLength
    /// The most nodes after unfolding the repetitions, including nodes that add no step.
    private static let maxNodes = 8 * maxSteps

    private var steps: [Step] = []
    private var nodes = 0

    init(_ node: PatternNode) throws(PatternError) {
        try add(node)
        steps.append(.done)
    }

    private mutating func add(_ node: PatternNode) throws(PatternError) {
        nodes += 1
        guard steps.count < Self.maxSteps, nodes <= Self.maxNodes else { throw .tooLarge }
        switch node {
        case .one(let set): steps.append(.take(set.sorted))
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .either(let nodes): try addEither(nodes[...])
        case .repeated(let node, let least, let most):
            guard least <= Self.maxSteps, most ?? 0 <= Self.maxSteps else { throw .tooLarge }
            for _ in 0..<least { try add(node) }
            guard let most else { return try addLoop(node) }
            for _ in least..<most { try addOptional(node) }
        }
    }

    private mutating func addEither(_ nodes: ArraySlice<PatternNode>) throws(PatternError) {
        guard let first = nodes.first else { return }
        guard nodes.count > 1 else { return try add(first) }
        let fork = steps.count
        steps.append(.done)
        try add(first)
        let leave = steps.count
        steps.append(.done)
        steps[fork] = .fork(fork + 1, steps.count)
        try addEither(nodes.dropFirst())
        steps[leave] = .fork(steps.count, steps.count)
    }

    private mutating func addOptional(_ node: PatternNode) throws(PatternError) {
        let fork = steps.count
        steps.append(.done)
        try add(node)
        steps[fork] = .fork(fork + 1, steps.count)
    }

    private mutating func addLoop(_ node: PatternNode) throws(PatternError) {
        let fork = steps.count
        steps.append(.done)
        try add(node)
        steps.append(.fork(fork, fork))
        steps[fork] = .fork(fork + 1, steps.count)
    }

    /// Whether all of `text` matches.
    func matches(_ text: some Sequence<Unicode.Scalar>) -> Bool { run(text).matches }

    /// - Returns: Whether the text matches, and the number of comparisons: at most ``maxSteps`` per character.
    func run(_ text: some Sequence<Unicode.Scalar>) -> (matches: Bool, work: Int) {
        var work = 0
        var seen = [Int](repeating: -1, count: steps.count)
        var current: [Int] = []
        follow(from: 0, into: &current, &seen, round: 0)
        var round = 0
        for scalar in text {
            round += 1
            var next: [Int] = []
            work += current.count
            for index in current {
                guard case .take(let set) = steps[index], set.contains(scalar) else { continue }
                follow(from: index + 1, into: &next, &seen, round: round)
            }
            if next.isEmpty { return (false, work) }
            current = next
        }
        return (current.contains { if case .done = steps[$0] { true } else { false } }, work)
    }

    /// Whether a text that begins with `scalar` can match.
    ///
    /// Only the first steps are checked, because every reachable step leads to the end.
    func canBegin(with scalar: Unicode.Scalar) -> Bool {
        var seen = [Int](repeating: -1, count: steps.count)
        var first: [Int] = []
        follow(from: 0, into: &first, &seen, round: 0)
        return first.contains { index in
            if case .take(let set) = steps[index] { set.contains(scalar) } else { false }
        }
    }

    /// Adds all steps that are reachable from `start` without a character.
    private func follow(from start: Int, into list: inout [Int], _ seen: inout [Int], round: Int) {
        var open = [start]
        while let index = open.popLast() {
            guard seen[index] != round else { continue }
            seen[index] = round
            if case .fork(let first, let second) = steps[index] {
                open += [second, first]
            } else {
                list.append(index)
            }
        }
    }
}
