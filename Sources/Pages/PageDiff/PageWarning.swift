/// A part of a page that its author probably meant differently.
///
/// Splitting ignores it without a message.
package struct PageWarning: Equatable, Sendable {
    package enum Matter: Equatable, Sendable {
        /// The start of a block with this name, possibly empty, without an end.
        case unended(String)
        /// The start of a block within another.
        case nested(String, within: String)
        /// An end outside of every block.
        case unbegun
        /// A comment that contains the marks' word. The text is its beginning.
        case noMark(String)
        /// A block with the name of another block or of the title.
        case twice(String)
        /// An empty block.
        case empty(String)
        /// The text contains `{NAME}` of a block or of the title, which is a placeholder in the template.
        case placeholder(String)
        /// The page has blocks, but they cannot be sent separately for another reason.
        case whole
        /// A title that spans several lines. It stays in the template.
        case longTitle
        /// The template contains the nonce of a Content-Security-Policy.
        case nonce
        /// The template contains the token of a form with this name.
        case token(String)
    }

    /// The line in the page, from 1.
    ///
    /// Lines end with a line feed.
    package let line: Int
    package let matter: Matter
}

extension PageWarning: CustomStringConvertible {
    /// The message without the line number, which quotes names from the page unchanged.
    package var description: String {
        switch matter {
        case .unended(let name): "\(Self.block(name)) has no end mark and is ignored"
        case .nested(let name, let outer):
            "\(Self.block(name)) begins within \(Self.block(outer)), which ends with the first end mark: blocks do not nest"
        case .unbegun: "an end mark is outside of every block"
        case .noMark(let text): "this comment resembles a mark but is not one: \(text)"
        case .twice(PageData.title): "a block has the name of the page's title: the page is sent whole"
        case .twice(let name): "the name \(name) is used twice: the page is sent whole"
        case .empty(let name): "\(Self.block(name)) is empty: an end mark directly after a start is ignored"
        case .placeholder(let name):
            "{\(name)} is the placeholder of the block or title of that name: the page is sent whole"
        case .whole:
            "the page is sent whole: the title or a block is not UTF-8, a block contains the title, "
                + "or there are more than \(PageLimits.blocks) blocks"
        case .nonce:
            "a nonce outside of every block changes the template with each answer: the page is sent whole; allow the script by its "
                + "hash, or put it in a block"
        case .token(let name):
            "the token \(name) outside of every block changes the template with each answer: the page is sent whole; put it in a block"
        case .longTitle: "the title is not on one line: where it changes, the page is sent whole"
        }
    }

    private static func block(_ name: String) -> String {
        name.isEmpty ? "a block without a name" : "the block \(name)"
    }
}

extension SplitPage {
    /// The doubtful parts of the page in their order, at most ``PageLimits/warnings``.
    package var warnings: [PageWarning] {
        ByteSearch.through(page) { search in
            var walk = WarningWalk(through: self, search)
            return walk.warnings()
        }
    }

    /// The reason why the page has blocks but no data although its names are unique, and its position.
    fileprivate var obstacle: (place: Int, matter: PageWarning.Matter)? {
        let names = Set(marks.blocks.map(\.name) + [PageData.title])
        guard let first = marks.blocks.first, names.count == marks.blocks.count + 1, data == nil else { return nil }
        let found = page.placeholders().first { names.contains($0.text) }
        return found.map { ($0.range.lowerBound, .placeholder($0.text)) } ?? (first.range.lowerBound, .whole)
    }
}

/// Walks once through a page from mark to mark.
private struct WarningWalk {
    private let search: ByteSearch
    private let marks: PageMarks
    /// Doubts that do not concern marks, by position.
    private var others: [(place: Int, matter: PageWarning.Matter)]
    private var found: [PageWarning] = []
    /// The first block that has not ended yet.
    private var block = 0
    private var names: Set<String> = [PageData.title]
    /// The position of an unused end after an empty block.
    ///
    /// It is reported with the block's start.
    private var emptyEnd: Int?
    /// The position up to which lines are counted.
    private var counted = 0
    private var line = 1

    init(through page: SplitPage, _ search: ByteSearch) {
        self.search = search
        marks = page.marks
        others = [page.obstacle].compactMap(\.self)
        if page.isMarked, marks.title == nil, let title = search.titleTag { others.append((title, .longTitle)) }
        others += ChangingPart.all(in: page).map { ($0.place, $0.matter) }
        others.sort { $0.place > $1.place }
    }

    mutating func warnings() -> [PageWarning] {
        var place = 0
        // Searches for `!` as the search for marks does, because it is the rarest character at the beginning of a comment.
        while found.count < PageLimits.warnings,
            let mark = search.first(UInt8(ascii: "!"), from: place + 1, before: search.count)
        {
            reportOthers(before: mark - 1)
            look(at: mark - 1)
            place = mark
        }
        reportOthers(before: search.count)
        return found
    }

    private mutating func reportOthers(before place: Int) {
        while let next = others.last, next.place <= place {
            others.removeLast()
            add(next.matter, at: next.place)
        }
    }

    private mutating func look(at place: Int) {
        let isInTitle = marks.title.map { $0.contains(place + 1) } ?? false
        if !isInTitle, let marker = BlockMarker(at: place, in: search) {
            take(marker)
        } else if let comment = search.comment(at: place), search.mentionsMarkers(comment) {
            add(.noMark(search.excerpt(comment)), at: place)
        }
    }

    private mutating func take(_ marker: BlockMarker) {
        let start = marker.range.lowerBound
        while block < marks.blocks.count, marks.blocks[block].range.upperBound <= start { block += 1 }
        guard block < marks.blocks.count, marks.blocks[block].range.lowerBound <= start else {
            return takeOutside(marker)
        }
        let outer = marks.blocks[block]
        guard outer.range.lowerBound != start else { return begin(outer) }
        guard outer.range.upperBound != marker.range.upperBound else { return }
        // An end within a block can only follow directly after its start.
        add(marker.endsBlock ? .empty(outer.name) : .nested(name(of: marker), within: outer.name), at: start)
    }

    private mutating func begin(_ outer: PageMarks.Block) {
        if !names.insert(outer.name).inserted { add(.twice(outer.name), at: outer.range.lowerBound) }
    }

    /// Handles a marker outside all blocks.
    ///
    /// A start here has no end, because starts without an end only follow the last block.
    private mutating func takeOutside(_ marker: BlockMarker) {
        let start = marker.range.lowerBound
        guard start != emptyEnd else { return }
        if marker.name != nil, BlockMarker(at: marker.range.upperBound, in: search)?.endsBlock == true {
            emptyEnd = marker.range.upperBound
            add(.empty(name(of: marker)), at: start)
        } else if marker.endsBlock {
            add(.unbegun, at: start)
        } else {
            add(.unended(name(of: marker)), at: start)
        }
    }

    private func name(of marker: BlockMarker) -> String {
        String(decoding: (marker.name ?? 0..<0).map { search[$0] }, as: UTF8.self)
    }

    private mutating func add(_ matter: PageWarning.Matter, at place: Int) {
        guard found.count < PageLimits.warnings else { return }
        while let end = search.first(UInt8(ascii: "\n"), from: counted, before: place) {
            line += 1
            counted = end + 1
        }
        counted = max(counted, place)
        found.append(PageWarning(line: line, matter: matter))
    }
}

extension ByteSearch {
    /// The length of an excerpt in characters.
    private static let excerptLength = 60

    /// A comment that begins here, up to its end or the next comment's beginning, so that no byte is searched twice.
    fileprivate func comment(at start: Int) -> Range<Int>? {
        guard holds("<!--", at: start) else { return nil }
        // The hyphens that begin the comment may also end it.
        var place = start + "<!".utf8.count
        while place < count, !holds("<!--", at: place) {
            if holds("-->", at: place) { return start..<(place + "-->".utf8.count) }
            place += 1
        }
        return start..<place
    }

    /// The position of the first title element.
    fileprivate var titleTag: Int? {
        var place = 0
        while let start = first(UInt8(ascii: "<"), from: place, before: count) {
            if holds("<title>", at: start) || holds("<title ", at: start) { return start }
            place = start + 1
        }
        return nil
    }

    fileprivate func mentionsMarkers(_ range: Range<Int>) -> Bool { range.contains { holds("sonicdiff", at: $0) } }

    fileprivate func excerpt(_ range: Range<Int>) -> String {
        let bytes = range.prefix(4 * Self.excerptLength).map { self[$0] }
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.count < range.count || text.count > Self.excerptLength else { return text }
        return "\(text.prefix(Self.excerptLength))…"
    }
}
