package import PatchFormat
import PatchCrypto

/// A page split as in VasSonic: a template with `{NAME}` in place of each block, and the data for these names.
package struct SplitPage: Sendable {
    package let page: [UInt8]
    package let marks: PageMarks
    /// The SHA-1 of the page: the protocol's `etag` and `html-sha1`.
    package let pageTag: SHA1Digest
    /// The SHA-1 of the template.
    package let templateTag: SHA1Digest

    package init(_ page: [UInt8]) {
        self.page = page
        marks = PageMarks(of: page)
        pageTag = SHA1Digest(of: page)
        var digester = SHA1Digester()
        for piece in Self.pieces(of: page.count, by: marks) {
            switch piece {
            case .page(let range): digester.update(page.span.extracting(range))
            case .name(let name): digester.update(Array("{\(name)}".utf8).span)
            }
        }
        templateTag = digester.finish()
    }

    /// Whether the page has a block.
    ///
    /// Without one it is an ordinary page.
    package var isMarked: Bool { !marks.blocks.isEmpty }

    package var template: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(page.count)
        for piece in Self.pieces(of: page.count, by: marks) {
            switch piece {
            case .page(let range): bytes += page[range]
            case .name(let name): bytes += "{\(name)}".utf8
            }
        }
        return bytes
    }

    /// The data that a client with the template needs for the page.
    ///
    /// Nil if the client could build a different page from it.
    ///
    /// Clients replace the names one by one in any order, at every position. Therefore each name must occur once in the template
    /// and in no block. Clients read JSON, so each block must be UTF-8.
    package var data: PageData? {
        guard !marks.hasTitleInBlock else { return nil }
        let title = marks.title.map { Array(page[$0]) } ?? []
        var members = [PageData.Member(name: PageData.title, bytes: title)]
        members += marks.blocks.map { PageData.Member(name: $0.name, bytes: Array(page[$0.range])) }
        guard members.count <= PageLimits.blocks + 1,
            members.allSatisfy({
                $0.bytes.count <= PageLimits.block && String(validating: $0.bytes, as: UTF8.self) != nil
            })
        else { return nil }
        let names = Set(members.map(\.name))
        guard names.count == members.count else { return nil }
        var left = names
        if marks.title == nil { left.remove(PageData.title) }
        for name in template.placeholders() where names.contains(name.text) {
            guard left.remove(name.text) != nil else { return nil }
        }
        guard left.isEmpty, !members.contains(where: { $0.bytes.placeholders().contains { names.contains($0.text) } })
        else { return nil }
        return PageData(members)
    }

    /// A part of a template.
    private enum Piece {
        case page(Range<Int>)
        case name(String)
    }

    private static func pieces(of size: Int, by marks: PageMarks) -> [Piece] {
        var holes = marks.blocks.map { (range: $0.range, name: $0.name) }
        if let title = marks.title, !marks.hasTitleInBlock {
            let place = holes.firstIndex { $0.range.lowerBound > title.lowerBound } ?? holes.count
            holes.insert((title, PageData.title), at: place)
        }
        var pieces: [Piece] = []
        var place = 0
        for hole in holes {
            pieces += [.page(place..<hole.range.lowerBound), .name(hole.name)]
            place = hole.range.upperBound
        }
        return pieces + [.page(place..<size)]
    }
}
