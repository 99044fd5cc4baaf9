/// The parts of a page that its template leaves out: the title and the blocks, by name.
package struct PageData: Equatable, Sendable {
    package struct Member: Equatable, Sendable {
        package let name: String
        /// The bytes, including tags or comments.
        ///
        /// Empty for the title of a page that has none.
        package let bytes: [UInt8]

        package init(name: String, bytes: [UInt8]) {
            (self.name, self.bytes) = (name, bytes)
        }
    }

    /// The name of the title.
    ///
    /// A block of this name replaces it.
    package static let title = "title"

    /// The members in page order, with unique names.
    package let members: [Member]

    init(_ members: [Member]) {
        self.members = members
    }

    package subscript(name: String) -> [UInt8]? {
        members.first { $0.name == name }?.bytes
    }

    /// The members that are new or differ from those of older data.
    package func changes(since old: PageData) -> PageData {
        let known = Dictionary(old.members.map { ($0.name, $0.bytes) }) { first, _ in first }
        return PageData(members.filter { known[$0.name] != $0.bytes })
    }

    /// Fills a template: each placeholder is replaced at every position.
    ///
    /// Replaced text is not searched again.
    ///
    /// - Returns: Nil if the page exceeds ``PageLimits/page`` bytes.
    package func page(of template: [UInt8]) -> [UInt8]? {
        let known = Dictionary(members.map { ($0.name, $0.bytes) }) { first, _ in first }
        let placeholders = template.placeholders().filter { known[$0.text] != nil }
        // A placeholder may be repeated many times, which would multiply the size.
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

/// A placeholder `{NAME}` in a template.
struct Placeholder: Equatable {
    let text: String
    /// The range, including the braces.
    let range: Range<Int>
}

extension [UInt8] {
    /// All placeholders in their order: a brace, a word and a brace.
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
