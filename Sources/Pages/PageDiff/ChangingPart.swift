/// A part of a template that differs in each response, so that clients never have the template already.
struct ChangingPart: Equatable {
    let place: Int
    let matter: PageWarning.Matter

    /// The maximum length of a tag that is searched, in bytes.
    private static let tag = 4_096
    /// The minimum length of a token in bytes, because shorter values are words.
    private static let shortest = 8

    /// The names of form tokens in web frameworks, in lower case without `-` and `_`.
    private static let tokens: Set = [
        "csrf", "csrftoken", "xcsrftoken", "csrfmiddlewaretoken", "xsrf", "xsrftoken", "authenticitytoken", "token",
        "requestverificationtoken", "anticsrf", "anticsrftoken", "csrfkey", "csrfname", "csrfvalue", "formbuildid",
        "formtoken",
        "formkey", "wpnonce", "nonce", "viewstate", "eventvalidation",
    ]

    /// Whether an element that may have a nonce or token begins here.
    private static func mayCarryNonce(_ place: Int, in search: ByteSearch) -> Bool {
        search.holds("script", at: place) || search.holds("style", at: place) || search.holds("link", at: place)
            || search.holds("meta", at: place) || search.holds("input", at: place)
    }

    /// The first nonce and the first token outside the blocks of a page, in their order.
    static func all(in page: SplitPage) -> [ChangingPart] {
        guard page.isMarked else { return [] }
        var (nonce, token): (ChangingPart?, ChangingPart?)
        ByteSearch.through(page.page) { search in
            var place = 0
            var block = page.marks.blocks[...]
            while nonce == nil || token == nil,
                let start = search.first(UInt8(ascii: "<"), from: place, before: search.count)
            {
                place = start + 1
                while let first = block.first, first.range.upperBound <= start { block = block.dropFirst() }
                if let first = block.first, first.range.contains(start) {
                    place = max(place, first.range.upperBound)
                    continue
                }
                guard mayCarryNonce(place, in: search) else { continue }
                let attributes = Attributes(after: start, in: search, limit: tag)
                // Each byte is searched once, even in a tag without an end.
                place = attributes.end
                if nonce == nil, let value = attributes["nonce"], value.utf8.count >= shortest {
                    nonce = ChangingPart(place: start, matter: .nonce)
                }
                if token == nil, let name = attributes.token(tokens, shortest) {
                    token = ChangingPart(place: start, matter: .token(name))
                }
            }
        }
        return [nonce, token].compactMap(\.self).sorted { $0.place < $1.place }
    }
}

/// The attributes of a tag.
private struct Attributes {
    private var values: [String: String] = [:]
    /// The position after the last byte that was searched.
    let end: Int

    /// - Parameter start: The position of the tag's `<`.
    init(after start: Int, in search: ByteSearch, limit: Int) {
        let limit = min(search.count, start + limit)
        var place = Self.skip(from: start + 1, before: limit, in: search) { !$0.isSpace && $0 != UInt8(ascii: ">") }
        while place < limit, search[place] != UInt8(ascii: ">") {
            let begin = place
            place = Self.skip(from: place, before: limit, in: search) {
                !$0.isSpace && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ">")
            }
            let name = begin..<place
            place = Self.skip(from: place, before: limit, in: search) { $0.isSpace }
            guard place < limit, search[place] == UInt8(ascii: "=") else { continue }
            place = Self.skip(from: place + 1, before: limit, in: search) { $0.isSpace }
            let value = Self.value(from: &place, before: limit, in: search)
            let text = Self.text(name, of: search).lowercased()
            if values[text] == nil { values[text] = Self.text(value, of: search) }
        }
        end = place
    }

    subscript(_ name: String) -> String? { values[name] }

    /// The name of the token in a `meta` or `input` element.
    func token(_ names: Set<String>, _ shortest: Int) -> String? {
        guard let name = values["name"] ?? values["id"], let value = values["content"] ?? values["value"],
            value.utf8.count >= shortest,
            names.contains(name.lowercased().filter { $0 != "-" && $0 != "_" })
        else { return nil }
        return name
    }

    private static func value(from place: inout Int, before end: Int, in search: ByteSearch) -> Range<Int> {
        guard place < end else { return place..<place }
        let (begin, quote) = (place, search[place])
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            place = skip(from: begin, before: end, in: search) { !$0.isSpace && $0 != UInt8(ascii: ">") }
            return begin..<place
        }
        let stop = search.first(quote, from: begin + 1, before: end) ?? end
        place = min(stop + 1, end)
        return min(begin + 1, stop)..<stop
    }

    private static func skip(
        from start: Int,
        before end: Int,
        in search: ByteSearch,
        while isPart: (UInt8) -> Bool
    ) -> Int {
        var place = start
        while place < end, isPart(search[place]) { place += 1 }
        return place
    }

    private static func text(_ range: Range<Int>, of search: ByteSearch) -> String {
        String(decoding: range.map { search[$0] }, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
