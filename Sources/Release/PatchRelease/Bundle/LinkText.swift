import PatchFormat

/// The web app manifests that an HTML page links to, as written in the page.
struct PageLinks: Equatable, Sendable {
    /// The maximum number of manifests, more than a page has.
    static let most = 4

    /// The `href` of each `<link rel="manifest">` that a browser requests without cookies.
    var manifests: [String] = []
    /// The `href` of the first `<base>`.
    var base: String?
}

/// Parses HTML tags around a position in a text.
///
/// Work is bounded: only ``reach`` bytes around the position are read.
enum LinkText {
    private static let reach = 1_000
    private static let commentReach = 3_000

    /// Returns the `href` of a `<link rel="manifest">`, or nil if the tag is another one or the browser sends cookies with it.
    ///
    /// - Parameter place: The position of `manifest`.
    static func manifest(in text: ByteText, at place: Int) -> String? {
        guard isWord(text, place, length: 8),
            let start = (max(0, place - reach)..<place).last(where: { text[$0] == UInt8(ascii: "<") }),
            let attributes = attributes(of: "link", in: text, at: start),
            let rel = attributes["rel"]?.lowercased(), rel.split(whereSeparator: \.isWhitespace).contains("manifest"),
            attributes["crossorigin"]?.lowercased() != "use-credentials", !isComment(text, start)
        else { return nil }
        return attributes["href"]
    }

    /// Returns the `href` of a `<base>` tag.
    ///
    /// - Parameter start: The position of `<base`.
    static func base(in text: ByteText, at start: Int) -> String? {
        guard !isComment(text, start) else { return nil }
        return attributes(of: "base", in: text, at: start)?["href"]
    }

    /// Whether the text at a position is a whole word of an attribute's value.
    private static func isWord(_ text: ByteText, _ place: Int, length: Int) -> Bool {
        func isEdge(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            return byte <= 0x20 || [0x22, 0x27, UInt8(ascii: "="), UInt8(ascii: "/"), UInt8(ascii: ">")].contains(byte)
        }
        return isEdge(text[place - 1]) && isEdge(text[place + length])
    }

    private static func isComment(_ text: ByteText, _ start: Int) -> Bool {
        let before = max(0, start - commentReach)..<start
        guard let open = before.last(where: { text.holds("<!--", at: $0) }) else { return false }
        return !text.holds("-->", in: open..<start)
    }

    /// The attributes of the tag at a position, by lower-case name; nil if the tag is another one or incomplete.
    private static func attributes(
        of name: StaticString,
        in text: ByteText,
        at start: Int
    ) -> [String: String]? {
        var place = start + 1
        let written = slice(text, place, place + name.utf8CodeUnitCount)
        place += name.utf8CodeUnitCount
        guard written.lowercased() == "\(name)", isSpace(text[place]) || text[place] == UInt8(ascii: "/") else {
            return nil
        }
        let end = place + 2 * reach
        var found: [String: String] = [:]
        while place < end, let byte = text[place] {
            if byte == UInt8(ascii: ">") { return found }
            guard !isSpace(byte), byte != UInt8(ascii: "/") else {
                place += 1
                continue
            }
            let begin = place
            place = skip(text, from: place + 1, to: end) {
                isSpace($0) || [UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "=")].contains($0)
            }
            let key = slice(text, begin, place).lowercased()
            let sign = skip(text, from: place, to: end) { !isSpace($0) }
            var value = ""
            if text[sign] == UInt8(ascii: "=") {
                place = skip(text, from: sign + 1, to: end) { !isSpace($0) }
                if let quote = text[place], quote == 0x22 || quote == 0x27 {
                    let close = skip(text, from: place + 1, to: end) { $0 == quote }
                    value = slice(text, place + 1, close)
                    place = close + 1
                } else {
                    let close = skip(text, from: place, to: end) { isSpace($0) || $0 == UInt8(ascii: ">") }
                    value = slice(text, place, close)
                    place = close
                }
            }
            // The first of duplicate attributes counts (HTML Standard §13.2.5.33).
            if found[key] == nil { found[key] = value.replacing("&amp;", with: "&") }
        }
        return nil
    }

    private static func skip(_ text: ByteText, from start: Int, to end: Int, until isEnd: (UInt8) -> Bool) -> Int {
        var place = start
        while place < end, let byte = text[place], !isEnd(byte) { place += 1 }
        return place
    }

    private static func slice(_ text: ByteText, _ start: Int, _ end: Int) -> String {
        let range = (start..<max(start, end)).clamped(to: 0..<text.bytes.count)
        return String(decoding: text.bytes[range], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8?) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
    }
}
