/// What stands in a page's template: its title and its blocks, by name.
package struct PageData: Equatable, Sendable {
    package struct Member: Equatable, Sendable {
        package let name: String
        /// Its tags or comments included; empty for the title of a page that has none.
        package let bytes: [UInt8]

        package init(name: String, bytes: [UInt8]) {
            (self.name, self.bytes) = (name, bytes)
        }
    }

    /// The name that the title has; a block of this name takes its place.
    package static let title = "title"

    /// In their order; no name stands twice.
    package let members: [Member]

    init(_ members: [Member]) {
        self.members = members
    }

    package subscript(name: String) -> [UInt8]? {
        members.first { $0.name == name }?.bytes
    }

    /// What has changed since other data, or came to it.
    package func changes(since old: PageData) -> PageData {
        let known = Dictionary(old.members.map { ($0.name, $0.bytes) }) { first, _ in first }
        return PageData(members.filter { known[$0.name] != $0.bytes })
    }

    /// The page of a template: each name is replaced wherever it stands in it, and nothing in what replaces it.
    ///
    /// - Returns: nil for one of more than ``PageLimits/page`` bytes.
    package func page(of template: [UInt8]) -> [UInt8]? {
        let known = Dictionary(members.map { ($0.name, $0.bytes) }) { first, _ in first }
        let placeholders = template.placeholders().filter { known[$0.text] != nil }
        // A name may stand in a template as often as there is room.
        var size = template.count
        for placeholder in placeholders {
            size += (known[placeholder.text]?.count ?? 0) - placeholder.range.count
        }
        guard size <= PageLimits.page else { return nil }
        var page: [UInt8] = []
        page.reserveCapacity(size)
        var place = 0
        for placeholder in placeholders {
            guard let bytes = known[placeholder.text] else { continue }
            page += template[place..<placeholder.range.lowerBound]
            page += bytes
            place = placeholder.range.upperBound
        }
        return page + template[place...]
    }
}

/// `{NAME}` in a template.
struct Placeholder: Equatable {
    let text: String
    /// Its braces included.
    let range: Range<Int>
}

extension [UInt8] {
    /// Each brace, word and brace; in their order.
    func placeholders() -> [Placeholder] {
        ByteSearch.through(self) { search in
            var found: [Placeholder] = []
            var place = 0
            while let start = search.first(UInt8(ascii: "{"), from: place, before: search.count) {
                let end = search.endOfWord(from: start + 1)
                if end > start + 1, search.holds("}", at: end) {
                    let text = String(decoding: ((start + 1)..<end).map { search[$0] }, as: UTF8.self)
                    found.append(Placeholder(text: text, range: start..<(end + 1)))
                }
                place = end
            }
            return found
        }
    }
}
