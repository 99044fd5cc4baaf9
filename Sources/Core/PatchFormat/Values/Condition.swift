/// A rule over the facts that a device knows about itself: `region==eu&&ios>=9.0||tester==1` (J7).
///
/// `&&` binds tighter than `||`; there are no parentheses. `==` and `!=` compare text by its bytes; `>=`, `<=`, `>` and `<` compare
/// numbers. A comparison with a key that the device does not know is false, even with `!=`. A numeric comparison is false unless
/// both sides are numbers. `&gt;`, `&lt;` and `&amp;` encode their characters. Spaces around keys and values are ignored.
package struct Condition: Hashable, Sendable {
    package enum Comparator: String, Sendable, CaseIterable {
        // In the order in which the parser searches for them.
        case equal = "=="
        case notEqual = "!="
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"
    }

    struct Comparison: Hashable, Sendable {
        let key: ConditionKey
        let comparator: Comparator
        let value: ConditionValue

        var text: String { "\(key.text)\(comparator.rawValue)\(value.text)" }
    }

    /// Why a text is not a valid condition.
    package enum Problem: Error, Hashable, Sendable {
        case tooLong
        case tooManyComparisons
        /// This part, as written, is not a comparison.
        case malformed(String)
        case key(String)
        case value(String)
        /// A value that is compared by size but is not a number.
        case notANumber(String)
    }

    package let text: String
    /// The groups, at least one of which must be true.
    ///
    /// In a group, all comparisons must be true.
    private let groups: [[Comparison]]

    package init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Limits.condition else { throw .tooLong }
        var groups: [[Comparison]] = []
        var count = 0
        for group in text.decodingEntities.pieces(between: UInt8(ascii: "|")) {
            var comparisons: [Comparison] = []
            for term in group.pieces(between: UInt8(ascii: "&")) {
                count += 1
                guard count <= Limits.comparisonsInCondition else { throw .tooManyComparisons }
                comparisons.append(try Comparison(term))
            }
            groups.append(comparisons)
        }
        self.text = text
        self.groups = groups
    }

    package func holds(for facts: [ConditionKey: ConditionValue]) -> Bool {
        groups.contains { $0.allSatisfy { $0.holds(for: facts) } }
    }

    /// The smallest set of comparisons that are false and would have to be true: those of the first group with the fewest.
    package func lacking(in facts: [ConditionKey: ConditionValue]) -> [String] {
        let lacking = groups.map { group in group.filter { !$0.holds(for: facts) }.map(\.text) }
        return lacking.min { $0.count < $1.count } ?? []
    }

    /// The keys that the condition uses, each once, in its order.
    package var keys: [ConditionKey] {
        var seen: Set<ConditionKey> = []
        return groups.joined().map(\.key).filter { seen.insert($0).inserted }
    }
}

extension Condition.Comparison {
    fileprivate init(_ term: String) throws(Condition.Problem) {
        guard
            let (comparator, place) = Condition.Comparator.allCases.lazy.compactMap({ comparator in
                term.firstPlace(of: comparator.rawValue).map { (comparator, $0) }
            }).first
        else { throw .malformed(term) }
        let (left, right) = (term.utf8.prefix(place), term.utf8.dropFirst(place + comparator.rawValue.utf8.count))
        let (key, value) = (
            String(decoding: left, as: UTF8.self).trimmed, String(decoding: right, as: UTF8.self).trimmed
        )
        guard let key = ConditionKey(key) else { throw .key(term) }
        guard let value = ConditionValue(value) else { throw .value(term) }
        switch comparator {
        case .equal, .notEqual: break
        case .atLeast, .atMost, .above, .below: if value.number == nil { throw .notANumber(term) }
        }
        self.init(key: key, comparator: comparator, value: value)
    }

    fileprivate func holds(for facts: [ConditionKey: ConditionValue]) -> Bool {
        guard let fact = facts[key] else { return false }
        switch comparator {
        case .equal: return fact == value
        case .notEqual: return fact != value
        case .atLeast, .atMost, .above, .below:
            guard let left = fact.number, let right = value.number else { return false }
            return comparator.compares(left, right)
        }
    }
}

extension Condition.Comparator {
    fileprivate func compares(_ left: Double, _ right: Double) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .atLeast: left >= right
        case .atMost: left <= right
        case .above: left > right
        case .below: left < right
        }
    }
}

extension Condition.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong: "must be at most \(Limits.condition) bytes"
        case .tooManyComparisons: "must hold at most \(Limits.comparisonsInCondition) comparisons"
        case .malformed(let term): "must be KEY==VALUE (or != >= <= > <) joined by && and ||, and '\(term)' is not"
        case .key(let term): "has a malformed key in '\(term)': it \(ConditionKey.rule)"
        case .value(let term): "has a malformed value in '\(term)': it \(ConditionValue.rule)"
        case .notANumber(let term): "must compare by size with a number only, and '\(term)' does not"
        }
    }
}

extension String {
    /// Replaces `&gt;`, `&lt;` and `&amp;`, without decoding the result again.
    fileprivate var decodingEntities: String {
        let names: [(String, UInt8)] = [
            ("&gt;", UInt8(ascii: ">")), ("&lt;", UInt8(ascii: "<")), ("&amp;", UInt8(ascii: "&")),
        ]
        var decoded: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: "&"),
                let (name, character) = names.first(where: { rest.starts(with: $0.0.utf8) })
            {
                decoded.append(character)
                rest = rest.dropFirst(name.utf8.count)
            } else {
                decoded.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// The pieces between pairs of this byte.
    ///
    /// Pairs do not overlap.
    ///
    /// Linear: each byte is read at most twice, however many marks there are.
    fileprivate func pieces(between mark: UInt8) -> [String] {
        let bytes = Array(utf8)
        var pieces: [String] = []
        var (start, place) = (0, 0)
        while place < bytes.count {
            guard bytes[place] == mark, place + 1 < bytes.count, bytes[place + 1] == mark else {
                place += 1
                continue
            }
            pieces.append(String(decoding: bytes[start..<place], as: UTF8.self))
            place += 2
            start = place
        }
        return pieces + [String(decoding: bytes[start...], as: UTF8.self)]
    }

    /// The byte position of the first `mark`, or nil if there is none.
    fileprivate func firstPlace(of mark: String) -> Int? {
        let bytes = Array(utf8)
        return bytes.indices.first { bytes[$0...].starts(with: mark.utf8) }
    }

    fileprivate var trimmed: String {
        var rest = utf8[...]
        while rest.first == 0x20 { rest = rest.dropFirst() }
        while rest.last == 0x20 { rest = rest.dropLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
