/// Searches bytes for the tokens of a pack.
///
/// A position costs at most a few binary searches for any tokens and bytes. Old tokens are sorted by their bytes, so tokens with
/// the same beginning are adjacent. The longest match is the last token that does not sort behind the bytes, or a token that it
/// begins with.
struct TokenSearch: Sendable {
    private static let bitmapBytes = 32_768

    /// The old tokens in the order of their bytes, concatenated.
    private var olds: [UInt8] = []
    private var news: [UInt8] = []
    private var rows: [Row] = []
    /// Rows by the first four bytes.
    private var families: [UInt32: Range<Int>] = [:]
    /// A bit for each hash of the first four bytes of an old token.
    ///
    /// It excludes most positions without a search.
    private var beginnings = [UInt8](repeating: 0, count: bitmapBytes)

    private struct Row: Sendable {
        let old: Range<Int>
        let new: Range<Int>
        /// The row of the longest other token that this one begins with, or −1 if there is none.
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

    /// Replaces every old token: from left to right, the longest match first, without overlaps.
    ///
    /// - Returns: nil if the result has more than `limit` bytes.
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

    /// The longest old token of a family that is a prefix of the remaining bytes.
    private func longest(in family: Range<Int>, at rest: Span<UInt8>) -> Row? {
        let (olds, rows) = (olds.span, rows.span)
        // All rows before `range` sort at or before the remaining bytes, all after it sort behind them. `before` and `after` are
        // the lengths of the common prefixes with the rows next to it.
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
