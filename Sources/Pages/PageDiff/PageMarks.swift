/// Where a page's data stands: its title, and its blocks between comments.
///
/// ```
/// <!--sonicdiff-cart--><b>3</b><!--sonicdiff-cart-end-->
/// ```
/// The grammar is VasSonic's, as its node module has it (`common/diff.js`): a block begins with `<!--sonicdiff-NAME-->` or
/// `<!--sonicdiff-->`, in letters of either case, and ends with the first comment that ends any block, whatever it names, at least
/// a byte on. Nothing nests. Markers in scripts and attributes are markers too: this reads bytes and knows no HTML.
package struct PageMarks: Equatable, Sendable {
    package struct Block: Equatable, Sendable {
        /// Between the braces of the template: letters, digits and underscores, of ASCII.
        package let name: String
        /// Its comments included.
        package let range: Range<Int>
    }

    /// The first title that is on one line, its tags included.
    package let title: Range<Int>?
    /// In their order; none of them overlaps another.
    package let blocks: [Block]

    /// Whether the title is out of the template with a block.
    var hasTitleInBlock: Bool { title.map { title in blocks.contains { $0.range.overlaps(title) } } ?? false }

    package init(of page: [UInt8]) {
        (title, blocks) = ByteSearch.through(page) { search in
            let title = search.title()
            return (title, search.blocks(around: title))
        }
    }
}

extension ByteSearch {
    /// `/<title(.*?)<\/title>/i`, whose dot ends at a line's end.
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
            // No later one on this line ends either.
            place = lineEnd
        }
        return nil
    }

    /// What ends a line of JavaScript: LF, CR, U+2028, U+2029.
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

    /// - Parameter title: which is out of the page by the time that blocks are looked for, so that a marker in it is none.
    fileprivate func blocks(around title: Range<Int>?) -> [PageMarks.Block] {
        var blocks: [PageMarks.Block] = []
        var unnamed = 0
        var place = 0
        while let opening = marker(from: place, around: title, where: { $0.name != nil }), let name = opening.name,
            // A block has something in it.
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

    /// The first marker of one kind from a place on.
    private func marker(from start: Int, around title: Range<Int>?, where isSought: (BlockMarker) -> Bool)
        -> BlockMarker?
    {
        var place = start
        // Of a comment's beginning, a page has least of exclamation marks.
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

/// A comment that begins or ends a block; `<!--sonicdiff-end-->` may do either.
struct BlockMarker {
    let range: Range<Int>
    /// Where its name stands, which may be empty; nil where it begins no block.
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
            // The hyphen is the comment's own.
            (self.name, endsBlock, end) = (afterWord..<afterWord, false, afterWord + "-->".utf8.count)
        } else {
            return nil
        }
        range = place..<end
    }
}
