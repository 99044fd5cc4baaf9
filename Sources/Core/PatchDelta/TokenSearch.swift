/// The tokens of a pack as they are looked for in bytes.
///
/// Whatever the tokens and the bytes are, a place takes at most some binary search: old tokens stand in the order of their
/// bytes, so that all which begin like a place stand together, and the longest of them that stands there is the last one
/// that is not behind it, or one that this begins with.
struct TokenSearch: Sendable {
    private static let bitmapBytes = 32_768

    /// Old tokens in the order of their bytes, one after the other.
    private var olds: [UInt8] = []
    private var news: [UInt8] = []
    private var rows: [Row] = []
    /// Rows by the first four bytes.
    private var families: [UInt32: Range<Int>] = [:]
    /// A bit for each hash of four bytes with which an old token begins: most places are passed by it alone.
    private var beginnings = [UInt8](repeating: 0, count: bitmapBytes)

    private struct Row: Sendable {
        let old: Range<Int>
        let new: Range<Int>
        /// The row of the longest other token that this one begins with; −1 where there is none.
        let parent: Int
    }

    init(_ tokens: Tokens) {
        for (old, new) in tokens.news.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var parent = rows.count - 1
            while parent >= 0, !old.starts(with: olds[rows[parent].old]) { parent = rows[parent].parent }
            let beginning = old.prefix(PackLimits.token).reduce(0) { $0 << 8 | UInt32($1) }
            families[beginning] = (families[beginning]?.lowerBound ?? rows.count)..<rows.count + 1
            let bit = Self.bit(beginning)
            beginnings[bit >> 3] |= 1 << UInt8(bit & 7)
            rows.append(
                Row(
                    old: olds.count..<olds.count + old.count,
                    new: news.count..<news.count + new.count,
                    parent: parent
                )
            )
            olds += old
            news += new
        }
    }

    /// The bytes with every old token replaced: from left to right, the longest that fits, and none within another.
    ///
    /// - Returns: nil when they become more than `limit` bytes.
    func put(into bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard bytes.count <= limit else { return nil }
        if rows.isEmpty || bytes.count < PackLimits.token { return bytes }
        let (input, beginnings) = (bytes.span, beginnings.span)
        var output: [UInt8] = []
        var done = 0
        var place = 3
        var window = UInt32(input[0]) << 16 | UInt32(input[1]) << 8 | UInt32(input[2])
        while place < input.count {
            window = window << 8 | UInt32(input[place])
            place += 1
            let bit = Self.bit(window)
            guard beginnings[bit >> 3] & 1 << UInt8(bit & 7) != 0, let family = families[window] else { continue }
            let start = place - PackLimits.token
            guard let found = longest(in: family, at: input.extracting(start...)) else { continue }
            if output.isEmpty { output.reserveCapacity(bytes.count) }
            output += bytes[done..<start]
            output += news[found.new]
            guard output.count <= limit else { return nil }
            done = start + found.old.count
            guard input.count - done >= PackLimits.token else { break }
            place = done + 3
            window = UInt32(input[done]) << 16 | UInt32(input[done + 1]) << 8 | UInt32(input[done + 2])
        }
        if done == 0 { return bytes }
        output += bytes[done...]
        return output.count <= limit ? output : nil
    }

    /// The longest old token of a family with which the rest of the bytes begins.
    private func longest(in family: Range<Int>, at rest: Span<UInt8>) -> Row? {
        let (olds, rows) = (olds.span, rows.span)
        // All before `range` are not behind the rest, all after it are; as many bytes of those beside it are the rest's.
        var range = family
        var (before, after) = (PackLimits.token, PackLimits.token)
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let old = rows[middle].old
            let most = min(old.count, rest.count)
            var alike = min(before, after)
            while alike < most, olds[old.lowerBound + alike] == rest[alike] { alike += 1 }
            if alike == old.count || alike < most && olds[old.lowerBound + alike] < rest[alike] {
                (range, before) = (middle + 1..<range.upperBound, alike)
            } else {
                (range, after) = (range.lowerBound..<middle, alike)
            }
        }
        var row = range.lowerBound - 1
        guard row >= family.lowerBound else { return nil }
        while row >= 0, rows[row].old.count > before { row = rows[row].parent }
        return row < 0 ? nil : rows[row]
    }

    @inline(__always)
    private static func bit(_ window: UInt32) -> Int { Int((window &* 0x9E37_79B1) >> 14) }
}
