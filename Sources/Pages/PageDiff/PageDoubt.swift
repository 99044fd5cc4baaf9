/// Something in a page that was probably meant otherwise: a page is split without a word about what is not taken.
package struct PageDoubt: Equatable, Sendable {
    package enum Matter: Equatable, Sendable {
        /// The start of a block with this name, which may be empty, that no end follows.
        case unended(String)
        /// The start of a block within another.
        case nested(String, within: String)
        /// An end outside of every block.
        case unbegun
        /// A comment that has the marks' word in it, from its beginning on.
        case noMark(String)
        /// A block whose name another has, or the title.
        case twice(String)
        /// A block with nothing in it.
        case empty(String)
        /// `{NAME}` of a block, or of the title, which is what stands for it in the template.
        case placeholder(String)
        /// There are blocks, which cannot be sent alone for something else.
        case whole
        /// A title that is not on one line: it is of the template.
        case longTitle
        /// The nonce of a Content-Security-Policy in the template.
        case nonce
        /// The token of a form, by its name, in the template.
        case token(String)
    }

    /// In the page, from 1; lines end with a line feed.
    package let line: Int
    package let matter: Matter
}

extension PageDoubt: CustomStringConvertible {
    /// Without the line; with what stands in the page as it is there.
    package var description: String {
        switch matter {
        case .unended(let name): "no end mark follows the start of \(Self.block(name)), which is none"
        case .nested(let name, let outer):
            "\(Self.block(name)) begins within \(Self.block(outer)), which ends with the first end mark: nothing nests"
        case .unbegun: "an end mark stands outside of every block"
        case .noMark(let text): "this is nearly a mark, and is none: \(text)"
        case .twice(PageData.title): "a block has the name of the page's title: the page is sent whole"
        case .twice(let name): "the name \(name) stands twice: the page is sent whole"
        case .empty(let name): "\(Self.block(name)) is empty: an end mark right behind a start ends nothing"
        case .placeholder(let name):
            "{\(name)} is what stands in the template for the block or title of that name: the page is sent whole"
        case .whole:
            "the page is sent whole: the title or a block is no UTF-8, or a block holds the title, "
                + "or blocks are over \(PageLimits.blocks)"
        case .nonce:
            "a nonce outside of every block makes each answer another template: clients get the page whole; allow the script by its "
                + "hash, or put it in a block"
        case .token(let name):
            "the token \(name) outside of every block makes each answer another template: clients get the page whole; put it in a block"
        case .longTitle: "the title is not on one line: where it changes, the page is sent whole"
        }
    }

    private static func block(_ name: String) -> String {
        name.isEmpty ? "a block without a name" : "the block \(name)"
    }
}

extension SplitPage {
    /// What in the page was probably meant otherwise, in its order, and no more than ``PageLimits/doubts``.
    package var doubts: [PageDoubt] {
        ByteSearch.through(page) { search in
            var walk = DoubtWalk(through: self, search)
            return walk.doubts()
        }
    }

    /// Why it has blocks and no data although no name stands twice, and where.
    fileprivate var obstacle: (place: Int, matter: PageDoubt.Matter)? {
        let names = Set(marks.blocks.map(\.name) + [PageData.title])
        guard let first = marks.blocks.first, names.count == marks.blocks.count + 1, data == nil else { return nil }
        let found = page.placeholders().first { names.contains($0.text) }
        return found.map { ($0.range.lowerBound, .placeholder($0.text)) } ?? (first.range.lowerBound, .whole)
    }
}

/// A walk through a page from mark to mark, once.
private struct DoubtWalk {
    private let search: ByteSearch
    private let marks: PageMarks
    /// What is told beside marks, by its place.
    private var others: [(place: Int, matter: PageDoubt.Matter)]
    private var found: [PageDoubt] = []
    /// The first block that is not over.
    private var block = 0
    private var names: Set<String> = [PageData.title]
    /// Where the end of an empty block stands that is none: it is told with its start.
    private var emptyEnd: Int?
    /// How far lines are counted.
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

    mutating func doubts() -> [PageDoubt] {
        var place = 0
        // As marks are looked for: of a comment's beginning, a page has least of exclamation marks.
        while found.count < PageLimits.doubts,
            let mark = search.first(UInt8(ascii: "!"), from: place + 1, before: search.count)
        {
            tellOthers(before: mark - 1)
            look(at: mark - 1)
            place = mark
        }
        tellOthers(before: search.count)
        return found
    }

    private mutating func tellOthers(before place: Int) {
        while let next = others.last, next.place <= place {
            others.removeLast()
            add(next.matter, at: next.place)
        }
    }

    private mutating func look(at place: Int) {
        let isInTitle = marks.title.map { $0.contains(place + 1) } ?? false
        if !isInTitle, let marker = BlockMarker(at: place, in: search) {
            take(marker)
        } else if let comment = search.comment(at: place), search.speaksOfMarks(comment) {
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
        // The only end within a block is one right behind its start.
        add(marker.endsBlock ? .empty(outer.name) : .nested(name(of: marker), within: outer.name), at: start)
    }

    private mutating func begin(_ outer: PageMarks.Block) {
        if !names.insert(outer.name).inserted { add(.twice(outer.name), at: outer.range.lowerBound) }
    }

    /// No start of a block that ends: only behind the last block are there starts that do not.
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

    private mutating func add(_ matter: PageDoubt.Matter, at place: Int) {
        guard found.count < PageLimits.doubts else { return }
        while let end = search.first(UInt8(ascii: "\n"), from: counted, before: place) {
            line += 1
            counted = end + 1
        }
        counted = max(counted, place)
        found.append(PageDoubt(line: line, matter: matter))
    }
}

extension ByteSearch {
    /// In characters.
    private static let excerptLength = 60

    /// A comment that begins at a place, to its end or to where the next begins: none is looked through twice.
    fileprivate func comment(at start: Int) -> Range<Int>? {
        guard holds("<!--", at: start) else { return nil }
        // The hyphens of its beginning may be those of its end.
        var place = start + "<!".utf8.count
        while place < count, !holds("<!--", at: place) {
            if holds("-->", at: place) { return start..<(place + "-->".utf8.count) }
            place += 1
        }
        return start..<place
    }

    /// Where the first element begins that is called title.
    fileprivate var titleTag: Int? {
        var place = 0
        while let start = first(UInt8(ascii: "<"), from: place, before: count) {
            if holds("<title>", at: start) || holds("<title ", at: start) { return start }
            place = start + 1
        }
        return nil
    }

    fileprivate func speaksOfMarks(_ range: Range<Int>) -> Bool { range.contains { holds("sonicdiff", at: $0) } }

    fileprivate func excerpt(_ range: Range<Int>) -> String {
        let bytes = range.prefix(4 * Self.excerptLength).map { self[$0] }
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.count < range.count || text.count > Self.excerptLength else { return text }
        return "\(text.prefix(Self.excerptLength))…"
    }
}
