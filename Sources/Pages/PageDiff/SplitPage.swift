package import PatchFormat
import PatchCrypto

/// A page as VasSonic takes it apart: a template, which holds `{NAME}` in place of each block, and what stands there.
package struct SplitPage: Sendable {
    package let page: [UInt8]
    package let marks: PageMarks
    /// SHA-1 of the page; the protocol's `etag` and `html-sha1`.
    package let pageTag: SHA1Digest
    /// SHA-1 of the template.
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

    /// Whether it has a block: one without is a page like any other.
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

    /// What a client that has the template needs for the page; nil where it could come to another page by it.
    ///
    /// Clients replace one name after the other, in no certain order, wherever it stands. So each name must stand in the template
    /// once and in no block. They read JSON, so each block must be UTF-8.
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

    /// What a template is made of.
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
