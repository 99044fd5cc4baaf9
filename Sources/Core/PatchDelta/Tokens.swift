import PatchFormat

/// Parts of old names with their replacements in new names, as in `main.5176981c.js` and `main.8abd5fdc.js`.
///
/// Files refer to each other by name. A file that changes in nothing else becomes the new file when the tokens are replaced.
struct Tokens: Sendable {
    /// The new tokens by the old ones.
    private(set) var news: [[UInt8]: [UInt8]] = [:]

    var count: Int { news.count }

    /// The tokens of two paths: one of their last segments, and if both have the same depth, one of each segment that differs.
    static func pairs(_ old: AssetPath, _ new: AssetPath) -> [(old: [UInt8], new: [UInt8])] {
        let (olds, news) = (old.segments, new.segments)
        let segments = olds.count == news.count ? Array(zip(olds, news)) : Array(zip(olds.suffix(1), news.suffix(1)))
        return segments.compactMap { pair(Array($0.utf8), Array($1.utf8)) }
    }

    /// The parts of two names without their common beginning and end, extended by the adjacent letters and digits.
    private static func pair(_ old: [UInt8], _ new: [UInt8]) -> (old: [UInt8], new: [UInt8])? {
        let shorter = min(old.count, new.count)
        var first = 0
        while first < shorter, old[first] == new[first] { first += 1 }
        var last = 0
        while last < shorter - first, old[old.count - 1 - last] == new[new.count - 1 - last] { last += 1 }
        while first > 0, old[first - 1].isLetterOrDigit { first -= 1 }
        while last > 0, old[old.count - last].isLetterOrDigit { last -= 1 }
        let pair = (Array(old[first..<old.count - last]), Array(new[first..<new.count - last]))
        guard pair.0 != pair.1, min(pair.0.count, pair.1.count) >= PackLimits.token else { return nil }
        return pair
    }

    /// Whether this token already has another replacement.
    func contradict(_ pair: (old: [UInt8], new: [UInt8])) -> Bool { news[pair.old].map { $0 != pair.new } ?? false }

    /// Keeps the first replacement of an old token.
    mutating func insert(_ pair: (old: [UInt8], new: [UInt8])) {
        if news[pair.old] == nil { news[pair.old] = pair.new }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
