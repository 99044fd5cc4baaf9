import PatchFormat

/// Parts of old names and the parts of new names that stand in their place, as in `main.5176981c.js` and `main.8abd5fdc.js`.
///
/// Files name one another by them, so that one that changes in nothing else becomes the new one when they are put in.
struct Tokens: Sendable {
    private static let bitmapBytes = 32_768

    /// Old tokens with the same first four bytes, and their new ones.
    private struct Family: Sendable {
        var tokens: [ArraySlice<UInt8>: [UInt8]] = [:]
        /// Of the old ones, each once, the longest first.
        var lengths: [Int] = []

        /// The longest old token that stands at a place, and its new one.
        func found(in bytes: [UInt8], at start: Int) -> (length: Int, new: [UInt8])? {
            for length in lengths where length <= bytes.count - start {
                if let new = tokens[bytes[start..<start + length]] { return (length, new) }
            }
            return nil
        }
    }

    /// By the first four bytes.
    private var families: [UInt32: Family] = [:]
    /// A bit for each hash of four bytes with which an old token begins: most places are passed by it alone.
    private var beginnings = [UInt8](repeating: 0, count: bitmapBytes)

    init() {}

    var isEmpty: Bool { families.isEmpty }

    /// The tokens of two paths: one of their last segments, and where both have as many, one of each segment in which they differ.
    static func pairs(_ old: AssetPath, _ new: AssetPath) -> [(old: [UInt8], new: [UInt8])] {
        let (olds, news) = (old.segments, new.segments)
        let segments = olds.count == news.count ? Array(zip(olds, news)) : Array(zip(olds.suffix(1), news.suffix(1)))
        return segments.compactMap { pair(Array($0.utf8), Array($1.utf8)) }
    }

    /// What is left of two names without what they begin and end with alike, and the letters and digits beside it.
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

    /// Whether this token is replaced already, and by another.
    func contradict(_ pair: (old: [UInt8], new: [UInt8])) -> Bool {
        let known = families[Self.beginning(pair.old[...])]?.tokens[pair.old[...]]
        return known.map { $0 != pair.new } ?? false
    }

    /// The first one counts where an old token has two new ones.
    mutating func insert(_ pair: (old: [UInt8], new: [UInt8])) {
        let beginning = Self.beginning(pair.old[...])
        var family = families.removeValue(forKey: beginning) ?? Family()
        defer { families[beginning] = family }
        guard family.tokens[pair.old[...]] == nil else { return }
        family.tokens[pair.old[...]] = pair.new
        let place = family.lengths.firstIndex { $0 <= pair.old.count } ?? family.lengths.count
        if place == family.lengths.count || family.lengths[place] != pair.old.count {
            family.lengths.insert(pair.old.count, at: place)
        }
        let bit = Self.bit(beginning)
        beginnings[bit >> 3] |= 1 << UInt8(bit & 7)
    }

    /// The bytes with every old token replaced: from left to right, the longest that fits, and none within another.
    ///
    /// - Returns: nil when they become more than `limit` bytes.
    func put(into bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard bytes.count <= limit else { return nil }
        if isEmpty || bytes.count < PackLimits.token { return bytes }
        let (input, beginnings) = (bytes.span, beginnings.span)
        var output: [UInt8] = []
        var done = 0
        var place = 3
        var window = UInt32(input[0]) << 16 | UInt32(input[1]) << 8 | UInt32(input[2])
        while place < input.count {
            window = window << 8 | UInt32(input[place])
            place += 1
            let bit = Self.bit(window)
            guard beginnings[bit >> 3] & 1 << UInt8(bit & 7) != 0 else { continue }
            let start = place - 4
            guard let found = families[window]?.found(in: bytes, at: start) else { continue }
            if output.isEmpty { output.reserveCapacity(bytes.count) }
            output += bytes[done..<start]
            output += found.new
            guard output.count <= limit else { return nil }
            done = start + found.length
            guard input.count - done >= PackLimits.token else { break }
            place = done + 3
            window = UInt32(input[done]) << 16 | UInt32(input[done + 1]) << 8 | UInt32(input[done + 2])
        }
        if done == 0 { return bytes }
        output += bytes[done...]
        return output.count <= limit ? output : nil
    }

    private static func beginning(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    @inline(__always)
    private static func bit(_ window: UInt32) -> Int { Int((window &* 0x9E37_79B1) >> 14) }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
