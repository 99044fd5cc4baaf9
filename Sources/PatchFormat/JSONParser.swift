/// Why bytes are not a JSON document that Patchline reads.
package struct JSONError: Error, Equatable, Sendable {
    package enum Rule: String, Sendable {
        case syntax = "is not JSON"
        case notUTF8 = "is not UTF-8"
        case duplicateKey = "has a key twice in one object"
        case float = "has a number with a fraction or an exponent"
        case integerRange = "has an integer beyond ±(2^53 − 1)"
        case loneSurrogate = "has a lone surrogate"
        case depth = "is nested more than 64 deep"
        case trailing = "has bytes after its end"
    }

    package let rule: Rule
    /// In bytes from the start of the document.
    package let offset: Int

    package init(_ rule: Rule, at offset: Int) {
        self.rule = rule
        self.offset = offset
    }
}

extension JSON {
    /// The one parser for signed documents.
    ///
    /// Stricter than RFC 8259: duplicate keys, floats, integers beyond ±(2^53 − 1), lone surrogates and a depth over 64
    /// are refused, so that two readers can never see two documents in the same bytes.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw JSONError(.notUTF8, at: 0) }
        var parser = JSONParser(bytes: bytes)
        self = try parser.document()
    }
}

private struct JSONParser {
    static let maximumDepth = 64

    let bytes: [UInt8]
    var position = 0
    var depth = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value()
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONError(.trailing, at: position) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSON {
        skipWhiteSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try nested { (parser) throws(JSONError) in try parser.object() })
        case UInt8(ascii: "["): return .array(try nested { (parser) throws(JSONError) in try parser.array() })
        case UInt8(ascii: "\""): return .string(ExactString(try string()))
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return .integer(try integer())
        default: throw JSONError(.syntax, at: position)
        }
    }

    private mutating func nested<Value>(
        _ body: (inout JSONParser) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        depth += 1
        guard depth <= Self.maximumDepth else { throw JSONError(.depth, at: position) }
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        position += 1
        var members: [JSONObject.Member] = []
        var seen: Set<ExactString> = []
        skipWhiteSpace()
        if take(UInt8(ascii: "}")) { return JSONObject(unique: []) }
        while true {
            skipWhiteSpace()
            let start = position
            guard peek == UInt8(ascii: "\"") else { throw JSONError(.syntax, at: position) }
            let key = ExactString(try string())
            guard seen.insert(key).inserted else { throw JSONError(.duplicateKey, at: start) }
            skipWhiteSpace()
            guard take(UInt8(ascii: ":")) else { throw JSONError(.syntax, at: position) }
            members.append(JSONObject.Member(key: key, value: try value()))
            skipWhiteSpace()
            if take(UInt8(ascii: "}")) { return JSONObject(unique: members) }
            guard take(UInt8(ascii: ",")) else { throw JSONError(.syntax, at: position) }
        }
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        position += 1
        var values: [JSON] = []
        skipWhiteSpace()
        if take(UInt8(ascii: "]")) { return [] }
        while true {
            values.append(try value())
            skipWhiteSpace()
            if take(UInt8(ascii: "]")) { return values }
            guard take(UInt8(ascii: ",")) else { throw JSONError(.syntax, at: position) }
        }
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var run: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: run, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &run)
            case 0..<0x20:
                throw JSONError(.syntax, at: position)
            default:
                run.append(byte)
                position += 1
            }
        }
        throw JSONError(.syntax, at: position)
    }

    private mutating func escape(into run: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        guard let kind = peek else { throw JSONError(.syntax, at: position) }
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): run.append(kind)
        case UInt8(ascii: "b"): run.append(0x08)
        case UInt8(ascii: "f"): run.append(0x0C)
        case UInt8(ascii: "n"): run.append(0x0A)
        case UInt8(ascii: "r"): run.append(0x0D)
        case UInt8(ascii: "t"): run.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try unicodeEscape(from: start)
            run += Array(String(Character(scalar)).utf8)
        default: throw JSONError(.syntax, at: start)
        }
    }

    private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw JSONError(.loneSurrogate, at: start)
        }
        let second = try fourHexDigits()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw JSONError(.loneSurrogate, at: start) }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Hex.value(of: byte, allowingUppercase: true) else {
                throw JSONError(.syntax, at: position)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func integer() throws(JSONError) -> Int {
        let start = position
        let negative = take(UInt8(ascii: "-"))
        let digits = position
        var value = 0
        while let byte = peek, Self.isDigit(byte) {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            guard value < 1 << 53 else { throw JSONError(.integerRange, at: start) }
            position += 1
        }
        guard position > digits else { throw JSONError(.syntax, at: start) }
        guard position == digits + 1 || bytes[digits] != UInt8(ascii: "0"), !(negative && value == 0) else {
            throw JSONError(.syntax, at: start)
        }
        if let byte = peek, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            throw JSONError(.float, at: start)
        }
        return negative ? -value : value
    }

    private mutating func literal(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let text = Array("\(word)".utf8)
        guard bytes.count - position >= text.count, Array(bytes[position..<position + text.count]) == text else {
            throw JSONError(.syntax, at: position)
        }
        position += text.count
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }
}
