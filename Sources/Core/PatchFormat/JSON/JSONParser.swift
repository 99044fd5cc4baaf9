/// Why bytes are not a JSON document that Patchline accepts.
package struct JSONError: Error, Equatable, Sendable {
    package enum Rule: String, Sendable, CaseIterable {
        case syntax = "is not JSON"
        case notUTF8 = "is not UTF-8"
        case duplicateKey = "has a key twice in one object"
        case float = "has a number with a fraction or an exponent"
        case integerRange = "has an integer beyond ±(2^53 − 1)"
        case loneSurrogate = "has a lone surrogate"
        case depth = "is nested more than 64 deep"
        case trailing = "has bytes after its end"
        case tooManyValues = "holds more than 1,000,000 values"
        case tooLongString = "has a string over 5,000,000 bytes"
    }

    package let rule: Rule
    /// The position of the error in bytes from the start of the document.
    package let offset: Int

    package init(_ rule: Rule, at offset: Int) {
        self.rule = rule
        self.offset = offset
    }
}

extension JSON {
    /// The only parser for signed documents.
    ///
    /// It is stricter than RFC 8259: it rejects duplicate keys, floats, integers beyond ±(2^53 − 1), lone surrogates and a depth
    /// over 64, so that two readers always see the same document in the same bytes.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        try self.init(parsing: BytesInMemory(bytes))
    }

    /// Parses a document that arrives in pieces.
    ///
    /// All pieces are read, even after an error.
    ///
    /// - Parameter rows: receives the elements of an array that may be too long for memory. The result contains an empty array
    ///   instead.
    package init(parsing source: some ByteSource, rows: JSONRows? = nil) throws(JSONError) {
        var parser = JSONParser(source, rows: rows)
        self = try parser.document()
    }
}

/// The elements of one array of a document.
///
/// Each is passed on as it is read.
package struct JSONRows {
    /// The member name of the array in the top-level object.
    let key: ExactString
    let take: (JSON) -> Void

    package init(of key: String, take: @escaping (JSON) -> Void) {
        self.key = ExactString(key)
        self.take = take
    }
}

private struct JSONParser {
    static let maximumDepth = 64

    private var input: JSONInput
    private let rows: JSONRows?
    private var depth = 0
    /// The number of values in memory.
    ///
    /// A value needs many times its bytes in the document.
    private var held = 0

    init(_ source: some ByteSource, rows: JSONRows?) {
        input = JSONInput(source)
        self.rows = rows
    }

    /// Reports text that is not UTF-8 as such, even if another error precedes it.
    mutating func document() throws(JSONError) -> JSON {
        let result = Result { () throws(JSONError) in
            let value = try value()
            input.skipWhiteSpace()
            guard input.isAtEnd else { throw JSONError(.trailing, at: input.offset) }
            return value
        }
        guard input.restIsText() else { throw JSONError(.notUTF8, at: 0) }
        return try result.get()
    }

    private mutating func value() throws(JSONError) -> JSON {
        input.skipWhiteSpace()
        try hold()
        switch input.peek() {
        case UInt8(ascii: "{"): return .object(try nested { (parser) throws(JSONError) in try parser.object() })
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(ExactString(try string()))
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return .integer(try integer())
        default: throw JSONError(.syntax, at: input.offset)
        }
    }

    private mutating func hold() throws(JSONError) {
        held += 1
        guard held <= Limits.valuesInDocument else { throw JSONError(.tooManyValues, at: input.offset) }
    }

    private mutating func nested<Value>(
        _ body: (inout JSONParser) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        depth += 1
        guard depth <= Self.maximumDepth else { throw JSONError(.depth, at: input.offset) }
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        input.advance()
        var members = UniqueMembers()
        input.skipWhiteSpace()
        if input.take(UInt8(ascii: "}")) { return members.object }
        while true {
            input.skipWhiteSpace()
            let start = input.offset
            guard input.peek() == UInt8(ascii: "\"") else { throw JSONError(.syntax, at: start) }
            let key = ExactString(try string())
            guard !members.contains(key) else { throw JSONError(.duplicateKey, at: start) }
            input.skipWhiteSpace()
            guard input.take(UInt8(ascii: ":")) else { throw JSONError(.syntax, at: input.offset) }
            members.append(JSONObject.Member(key: key, value: try member(key)))
            input.skipWhiteSpace()
            if input.take(UInt8(ascii: "}")) { return members.object }
            guard input.take(UInt8(ascii: ",")) else { throw JSONError(.syntax, at: input.offset) }
        }
    }

    private mutating func member(_ key: ExactString) throws(JSONError) -> JSON {
        guard depth == 1, let rows, key == rows.key else { return try value() }
        input.skipWhiteSpace()
        guard input.peek() == UInt8(ascii: "[") else { return try value() }
        // The receiver keeps only the parts of a row that it needs, so rows do not count towards the limit.
        let before = held
        try elements { (parser, row) in
            rows.take(row)
            parser.held = before
        }
        return .array([])
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        var values: [JSON] = []
        try elements { values.append($1) }
        return values
    }

    private mutating func elements(_ take: (inout JSONParser, JSON) -> Void) throws(JSONError) {
        try nested { (parser) throws(JSONError) in
            parser.input.advance()
            parser.input.skipWhiteSpace()
            if parser.input.take(UInt8(ascii: "]")) { return }
            while true {
                let value = try parser.value()
                take(&parser, value)
                parser.input.skipWhiteSpace()
                if parser.input.take(UInt8(ascii: "]")) { return }
                guard parser.input.take(UInt8(ascii: ",")) else { throw JSONError(.syntax, at: parser.input.offset) }
            }
        }
    }

    private mutating func string() throws(JSONError) -> String {
        let start = input.offset
        input.advance()
        var run: [UInt8] = []
        while true {
            let plain = input.takePlainText()
            guard run.count + plain.count <= Limits.stringInDocument else {
                throw JSONError(.tooLongString, at: start)
            }
            switch input.peek() {
            case UInt8(ascii: "\"")?:
                input.advance()
                // Usually one piece contains the whole string.
                return String(decoding: run.isEmpty ? plain : (run + plain)[...], as: UTF8.self)
            case UInt8(ascii: "\\")?:
                run += plain
                try escape(into: &run)
            case let byte? where byte >= 0x20: run += plain
            case _: throw JSONError(.syntax, at: input.offset)
            }
        }
    }

    private mutating func escape(into run: inout [UInt8]) throws(JSONError) {
        let start = input.offset
        input.advance()
        guard let kind = input.peek() else { throw JSONError(.syntax, at: input.offset) }
        input.advance()
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
        guard (0xD800..<0xDC00).contains(first), input.take(UInt8(ascii: "\\")), input.take(UInt8(ascii: "u")) else {
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
            guard let byte = input.peek(), let digit = Hex.value(of: byte, allowingUppercase: true) else {
                throw JSONError(.syntax, at: input.offset)
            }
            value = value << 4 | UInt32(digit)
            input.advance()
        }
        return value
    }

    private mutating func integer() throws(JSONError) -> Int {
        let start = input.offset
        let negative = input.take(UInt8(ascii: "-"))
        let startsWithZero = input.peek() == UInt8(ascii: "0")
        var (value, digits) = (0, 0)
        while let byte = input.peek(), Self.isDigit(byte) {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            guard value < 1 << 53 else { throw JSONError(.integerRange, at: start) }
            digits += 1
            input.advance()
        }
        guard digits > 0, digits == 1 || !startsWithZero, !(negative && value == 0) else {
            throw JSONError(.syntax, at: start)
        }
        if let byte = input.peek(), [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(byte) {
            throw JSONError(.float, at: start)
        }
        return negative ? -value : value
    }

    private mutating func literal(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        let start = input.offset
        for byte in word.utf8 {
            guard input.take(byte) else { throw JSONError(.syntax, at: start) }
        }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// The members of an object that is being parsed.
private struct UniqueMembers {
    private var members: [JSONObject.Member] = []
    /// Nil while there are few members, which are searched linearly.
    private var places: [ExactString: Int32]?

    var object: JSONObject { JSONObject(unique: members, places: places) }

    func contains(_ key: ExactString) -> Bool {
        places.map { $0[key] != nil } ?? members.contains { $0.key == key }
    }

    mutating func append(_ member: JSONObject.Member) {
        places?[member.key] = Int32(members.count)
        members.append(member)
        if members.count == JSONObject.fewMembers { places = JSONObject.places(of: members) }
    }
}
