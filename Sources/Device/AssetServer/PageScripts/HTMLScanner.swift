/// Reads the beginning of an HTML document as browsers do: tag by tag, skipping comments and the like (HTML Standard §13.2.5).
///
/// It reads only the given bytes. A tag that is cut off at their end does not count.
struct HTMLScanner {
    struct Tag {
        /// The tag's name in lower case.
        let name: String
        let isEnd: Bool
        /// The tag with its angle brackets.
        let bytes: Range<Int>
        let attributes: [(name: String, value: String)]

        subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }
    }

    enum Token {
        case tag(Tag)
        /// A comment, a doctype or another token that shows nothing.
        case nothing
        /// The position of the first text byte that is not white space.
        case text(at: Int)
        /// The end of the bytes. `isClean` is false if they end inside a token.
        case end(isClean: Bool)
    }

    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    mutating func next() -> Token {
        while position < bytes.endIndex, Self.isSpace(bytes[position]) { position += 1 }
        guard position < bytes.endIndex else { return .end(isClean: true) }
        guard bytes[position] == UInt8(ascii: "<") else { return .text(at: position) }
        guard position + 1 < bytes.endIndex else { return .end(isClean: false) }
        switch bytes[position + 1] {
        case UInt8(ascii: "!"): return follows("<!--") ? comment() : skip()
        case UInt8(ascii: "?"): return skip()
        case UInt8(ascii: "/"):
            guard position + 2 < bytes.endIndex else { return .end(isClean: false) }
            return Self.isLetter(bytes[position + 2]) ? tag(isEnd: true) : skip()
        case let byte where Self.isLetter(byte): return tag(isEnd: false)
        default: return .text(at: position)
        }
    }

    /// Skips text up to the next `<`.
    mutating func skipText() {
        position += 1
        while position < bytes.endIndex, bytes[position] != UInt8(ascii: "<") { position += 1 }
    }

    /// Skips up to the next `>`: a doctype, or markup that browsers treat as a comment.
    private mutating func skip() -> Token {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else { return .end(isClean: false) }
        position = end + 1
        return .nothing
    }

    /// `<!-->` and `<!--->` are complete comments, and `--!>` also ends one.
    private mutating func comment() -> Token {
        let start = position
        position += 4
        if follows(">") || follows("->") {
            position += follows(">") ? 1 : 2
            return .nothing
        }
        while position < bytes.endIndex {
            if follows("-->") || follows("--!>") {
                position += follows("-->") ? 3 : 4
                return .nothing
            }
            position += 1
        }
        position = start
        return .end(isClean: false)
    }

    private mutating func tag(isEnd: Bool) -> Token {
        let start = position
        position += isEnd ? 2 : 1
        let name = text { !Self.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        var attributes: [(name: String, value: String)] = []
        while position < bytes.endIndex {
            let byte = bytes[position]
            if byte == UInt8(ascii: ">") {
                position += 1
                return .tag(Tag(name: name, isEnd: isEnd, bytes: start..<position, attributes: attributes))
            }
            if Self.isSpace(byte) || byte == UInt8(ascii: "/") {
                position += 1
            } else if let attribute = attribute() {
                attributes.append(attribute)
            }
        }
        position = start
        return .end(isClean: false)
    }

    private mutating func attribute() -> (name: String, value: String)? {
        let first = position
        position += 1
        let rest = text {
            !Self.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "=")
        }
        let name = Self.lowercased(bytes[first..<first + 1]) + rest
        passSpaces()
        guard follows("=") else { return (name, "") }
        position += 1
        passSpaces()
        guard position < bytes.endIndex else { return nil }
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return (name, text { !Self.isSpace($0) && $0 != UInt8(ascii: ">") })
        }
        position += 1
        let value = text { $0 != quote }
        guard position < bytes.endIndex else { return nil }
        position += 1
        return (name, value)
    }

    private mutating func passSpaces() {
        while position < bytes.endIndex, Self.isSpace(bytes[position]) { position += 1 }
    }

    private mutating func text(while isPart: (UInt8) -> Bool) -> String {
        let start = position
        while position < bytes.endIndex, isPart(bytes[position]) { position += 1 }
        return Self.lowercased(bytes[start..<position])
    }

    private func follows(_ text: StaticString) -> Bool {
        bytes[position...].starts(with: "\(text)".utf8)
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
