/// The words and signs of a script, to the extent needed to find names.
///
/// The grammar is not checked.
struct ScriptTokens {
    enum Kind: Equatable {
        case name(String)
        /// With its escapes left as written; nil for a template.
        case text(String?)
        case sign(Character)
        case other
    }

    struct Token: Equatable {
        let kind: Kind
        /// The line of the token, from 1.
        let line: Int
    }

    private(set) var tokens: [Token] = []
    private let bytes: [UInt8]
    private var at = 0
    private var line = 1

    /// Words after which a `/` begins a regular expression.
    private static let beforeExpressions: Set<String> = [
        "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield",
    ]

    init(_ script: String) {
        bytes = Array(script.utf8)
        while at < bytes.count { next() }
    }

    private func byte(_ offset: Int = 0) -> UInt8 { at + offset < bytes.count ? bytes[at + offset] : 0 }

    private mutating func step() {
        if bytes[at] == UInt8(ascii: "\n") { line += 1 }
        at += 1
    }

    private mutating func add(_ kind: Kind, _ line: Int) { tokens.append(Token(kind: kind, line: line)) }

    private mutating func next() {
        let start = line
        switch byte() {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): step()
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
            while at < bytes.count, byte() != UInt8(ascii: "\n") { step() }
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipComment()
        case UInt8(ascii: "/") where isExpression: skipPattern()
        case UInt8(ascii: "'"), UInt8(ascii: "\""): add(.text(quoted()), start)
        case UInt8(ascii: "`"):
            skipTemplate()
            add(.text(nil), start)
        case let first where Self.isWord(first):
            let begin = at
            while at < bytes.count, Self.isWord(byte()) { step() }
            let word = String(decoding: bytes[begin..<at], as: UTF8.self)
            add(first >= UInt8(ascii: "0") && first <= UInt8(ascii: "9") ? .other : .name(word), start)
        case let sign:
            step()
            add(.sign(Character(Unicode.Scalar(sign))), start)
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    /// Whether an expression may begin here, so that a `/` is not a division.
    private var isExpression: Bool {
        switch tokens.last?.kind {
        case nil: true
        case .sign(let sign): sign != ")" && sign != "]" && sign != "}"
        case .name(let name): Self.beforeExpressions.contains(name)
        case .text, .other: false
        }
    }

    private mutating func skipComment() {
        while at < bytes.count, !(byte() == UInt8(ascii: "*") && byte(1) == UInt8(ascii: "/")) { step() }
        at = min(bytes.count, at + 2)
    }

    private mutating func skipPattern() {
        let start = line
        step()
        var isInClass = false
        while at < bytes.count, byte() != UInt8(ascii: "\n"), isInClass || byte() != UInt8(ascii: "/") {
            if byte() == UInt8(ascii: "[") { isInClass = true }
            if byte() == UInt8(ascii: "]") { isInClass = false }
            if byte() == UInt8(ascii: "\\"), at + 1 < bytes.count { step() }
            step()
        }
        at = min(bytes.count, at + 1)
        add(.other, start)
    }

    private mutating func quoted() -> String {
        let quote = byte()
        step()
        let begin = at
        while at < bytes.count, byte() != quote {
            if byte() == UInt8(ascii: "\\"), at + 1 < bytes.count { step() }
            step()
        }
        defer { at = min(bytes.count, at + 1) }
        return String(decoding: bytes[begin..<at], as: UTF8.self)
    }

    /// Skips to the template's end, including its substitutions.
    private mutating func skipTemplate() {
        step()
        var depth = 0
        while at < bytes.count, depth > 0 || byte() != UInt8(ascii: "`") {
            if byte() == UInt8(ascii: "\\"), at + 1 < bytes.count {
                step()
            } else if byte() == UInt8(ascii: "$"), byte(1) == UInt8(ascii: "{") {
                depth += 1
                step()
            } else if depth > 0, byte() == UInt8(ascii: "}") {
                depth -= 1
            }
            step()
        }
        at = min(bytes.count, at + 1)
    }
}
