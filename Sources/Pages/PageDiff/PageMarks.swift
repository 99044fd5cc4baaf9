/// The positions of a page's data: its title, and its blocks between comments.
///
/// ```
/// <!--sonicdiff-cart--><b>3</b><!--sonicdiff-cart-end-->
/// ```
/// The grammar is that of VasSonic's node module (`common/diff.js`). A block begins with `<!--sonicdiff-NAME-->` or
/// `<!--sonicdiff-->`, ignoring case. It ends with the first comment that ends any block, whichever name it has, at least a byte
/// on. Blocks do not nest. Markers in scripts and attributes count too, because bytes are read and HTML is not parsed.
package struct PageMarks: Equatable, Sendable {
    package struct Block: Equatable, Sendable {
        /// The placeholder's name in the template: ASCII letters, digits and underscores.
        package let name: String
        /// The range, including the comments.
        package let range: Range<Int>
    }

    /// The first title that is on one line, including its tags.
    package let title: Range<Int>?
    /// The blocks in page order, without overlaps.
    package let blocks: [Block]

    /// Whether the title is inside a block and therefore not in the template.
    var hasTitleInBlock: Bool { title.map { title in blocks.contains { $0.range.overlaps(title) } } ?? false }

    package init(of page: [UInt8]) {
        (title, blocks) = ByteSearch.through(page) { search in
            let title = search.title()
            return (title, search.blocks(around: title))
        }
    }
}

extension ByteSearch {
    /// The first match of `/<title(.*?)<\/title>/i`.
    ///
    /// Its dot does not match a line terminator.
    fileprivate func title() -> Range<Int>? {
        var place = 0
        while let start = first(UInt8(ascii: "<"), from: place, before: count) {
            guard holds("<title", at: start) else {
                place = start + 1
                continue
            }
            let lineEnd = endOfLine(from: start)
            var next = start + "<title".utf8.count
            while let end = first(UInt8(ascii: "<"), from: next, before: lineEnd) {
                if holds("</title>", at: end) { return start..<(end + "</title>".utf8.count) }
                next = end + 1
            }
            // Later title tags on this line have no end either.
            place = lineEnd
        }
        return nil
    }

    /// The end of the line in JavaScript's sense: LF, CR, U+2028 or U+2029.
    private func endOfLine(from start: Int) -> Int {
        for place in start..<count {
            switch self[place] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return place
            case 0xE2 where place + 2 < count && self[place + 1] == 0x80 && self[place + 2] & 0xFE == 0xA8: return place
            default: continue
            }
        }
        return count
    }

    /// - Parameter title: The range of the title. It is removed before blocks are searched, so markers in it are ignored.
    fileprivate func blocks(around title: Range<Int>?) -> [PageMarks.Block] {
        var blocks: [PageMarks.Block] = []
        var unnamed = 0
        var place = 0
        while let opening = marker(from: place, around: title, where: { $0.name != nil }), let name = opening.name,
            // A block has at least one byte.
            let closing = marker(from: opening.range.upperBound + 1, around: title, where: \.endsBlock)
        {
            var text = String(decoding: name.map { self[$0] }, as: UTF8.self)
            if text.isEmpty {
                text = "auto\(unnamed)"
                unnamed += 1
            }
            blocks.append(PageMarks.Block(name: text, range: opening.range.lowerBound..<closing.range.upperBound))
            place = closing.range.upperBound
        }
        return blocks
    }

    /// The first marker of one kind after a position.
    private func marker(from start: Int, around title: Range<Int>?, where isSought: (BlockMarker) -> Bool)
        -> BlockMarker?
    {
        var place = start
        // `!` is the rarest character at the beginning of a comment.
        while let mark = first(UInt8(ascii: "!"), from: place + 1, before: count) {
            if let title, title.contains(mark) {
                place = title.upperBound - 1
                continue
            }
            if let found = BlockMarker(at: mark - 1, in: self), isSought(found) { return found }
            place = mark
        }
        return nil
    }
}

/// A comment that begins or ends a block.
///
/// `<!--sonicdiff-end-->` can do either.
struct BlockMarker {
    let range: Range<Int>
    /// The range of the name, which may be empty.
    ///
    /// Nil if the marker cannot begin a block.
    let name: Range<Int>?
    let endsBlock: Bool

    init?(at place: Int, in search: ByteSearch) {
        guard search.holds("<!--sonicdiff", at: place) else { return nil }
        let afterWord = place + "<!--sonicdiff".utf8.count
        let hasHyphen = search.holds("-", at: afterWord)
        let name = (hasHyphen ? afterWord + 1 : afterWord)
        let afterName = search.endOfWord(from: name)
        let end: Int
        if search.holds("-end-->", at: afterName) {
            (self.name, endsBlock, end) = (nil, true, afterName + "-end-->".utf8.count)
        } else if search.holds("-->", at: afterName) {
            let isEnd = hasHyphen && search.holds("end-->", at: name)
            (self.name, endsBlock, end) = (name..<afterName, isEnd, afterName + "-->".utf8.count)
        } else if search.holds("-->", at: afterWord) {
            // The hyphen belongs to the comment's end.
            (self.name, endsBlock, end) = (afterWord..<afterWord, false, afterWord + "-->".utf8.count)
        } else {
            return nil
        }
        range = place..<end
    }
}
