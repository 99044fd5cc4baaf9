extension String {
    /// The number of columns on a terminal: one for each character, two if it is wide, none if it only combines.
    package var columns: Int {
        reduce(0) { $0 + $1.columns }
    }

    /// Returns the text cut to at most `limit` columns, with `…` for the omitted part.
    package func truncated(toColumns limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 0 else { return "" }
        var room = limit - 1
        let kept = prefix { character in
            room -= character.columns
            return room >= 0
        }
        return kept + "…"
    }
}

extension Character {
    fileprivate var columns: Int {
        // An emoji of several scalars, or one with U+FE0F, is one wide picture.
        if unicodeScalars.contains(where: { $0 == "\u{FE0F}" || $0.properties.isEmojiPresentation || $0.isWide }) {
            return 2
        }
        switch unicodeScalars.first?.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, nil: return 0
        default: return 1
        }
    }
}

extension Unicode.Scalar {
    /// Whether the East Asian width is W or F (Unicode annex 11), by block.
    fileprivate var isWide: Bool {
        guard value >= 0x1100 else { return false }
        return wideBlocks.contains { $0.contains(value) }
    }
}

private let wideBlocks: [ClosedRange<UInt32>] = [
    0x1100...0x115F,  // Hangul Jamo, initial
    0x2E80...0x303E,  // CJK radicals, punctuation
    0x3041...0x4DBF,  // Kana, CJK symbols, extension A
    0x4E00...0xA4CF,  // CJK, Yi
    0xA960...0xA97F,  // Hangul Jamo, extended
    0xAC00...0xD7A3,  // Hangul syllables
    0xF900...0xFAFF,  // CJK compatibility
    0xFE10...0xFE19, 0xFE30...0xFE6F,  // vertical and small forms
    0xFF01...0xFF60, 0xFFE0...0xFFE6,  // fullwidth forms
    0x16FE0...0x18DFF,  // Tangut, Khitan
    0x1AFF0...0x1B2FF,  // Kana, Nushu
    0x1F200...0x1F2FF,  // enclosed ideographs
    0x20000...0x3FFFD,  // CJK extensions B and later
]
