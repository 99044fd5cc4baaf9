/// An error in a document: which document, which field, which rule.
package struct FormatError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The document's name in messages: `patch list`, `production/web/1.0.0/manifest.json`.
    package let document: String
    /// The field, such as `patches[3].size`, or empty for the document as a whole.
    package let field: String
    /// The rule, such as `must be an integer from 0 to 4000000000`.
    package let rule: String

    package init(_ document: String, field: String = "", rule: String) {
        self.document = document
        self.field = field
        self.rule = rule
    }

    package var description: String {
        field.isEmpty ? "\(document) \(rule)" : "\(document): \(field) \(rule)"
    }
}

/// Reads the members of one object, with errors that name the document, the field and the rule.
package struct Fields: Sendable {
    package let document: String
    package let path: String
    package let object: JSONObject

    package init(_ value: JSON?, of document: String, at path: String = "") throws(FormatError) {
        guard let object = value?.object else {
            throw FormatError(document, field: path, rule: "must be an object")
        }
        self.document = document
        self.path = path
        self.object = object
    }

    package func at(_ key: String) -> String {
        path.isEmpty ? key : "\(path).\(key)"
    }

    package func broken(_ key: String, _ rule: String) -> FormatError {
        FormatError(document, field: at(key), rule: rule)
    }

    package func has(_ key: String) -> Bool {
        object[key] != nil
    }

    /// Rejects members of other names: a misspelled one would be a setting without effect.
    package func allow(_ names: Set<String>) throws(FormatError) {
        if let other = object.members.first(where: { !names.contains($0.key.text) }) {
            throw broken(other.key.text, "is not a known member")
        }
    }

    package func string(_ key: String) throws(FormatError) -> String {
        guard case .string(let value) = object[key] else { throw broken(key, "must be a string") }
        return value.text
    }

    package func optionalString(_ key: String) throws(FormatError) -> String? {
        has(key) ? try string(key) : nil
    }

    package func integer(_ key: String, in range: ClosedRange<Int>) throws(FormatError) -> Int {
        guard case .integer(let value) = object[key], range.contains(value) else {
            throw broken(key, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    package func bool(_ key: String, default value: Bool? = nil) throws(FormatError) -> Bool {
        if case .bool(let found) = object[key] { return found }
        guard !has(key), let value else { throw broken(key, "must be true or false") }
        return value
    }

    package func array(_ key: String, limit: Int) throws(FormatError) -> [JSON] {
        guard case .array(let values) = object[key] else { throw broken(key, "must be an array") }
        guard values.count <= limit else { throw broken(key, "must hold at most \(limit) elements") }
        return values
    }

    package func strings(_ key: String, limit: Int) throws(FormatError) -> [String] {
        try strings(in: try array(key, limit: limit), key)
    }

    private func strings(in values: [JSON], _ key: String) throws(FormatError) -> [String] {
        var strings: [String] = []
        strings.reserveCapacity(values.count)
        for value in values {
            guard case .string(let text) = value else { throw broken(key, "must hold strings only") }
            strings.append(text.text)
        }
        return strings
    }

    /// Reads the digests of one of ``object``'s own members without a lookup.
    func digests(of member: JSONObject.Member, limit: Int) throws(FormatError) -> [SHA256Digest] {
        let key = member.key.text
        guard case .array(let values) = member.value else { throw broken(key, "must be an array") }
        guard values.count <= limit else { throw broken(key, "must hold at most \(limit) elements") }
        var digests: [SHA256Digest] = []
        for text in try strings(in: values, key) {
            guard let digest = SHA256Digest(hex: text) else {
                throw broken(key, "must hold 64 lowercase hex digits each")
            }
            digests.append(digest)
        }
        return digests
    }

    package func fields(_ key: String) throws(FormatError) -> Fields {
        try Fields(object[key], of: document, at: at(key))
    }

    /// Reads the fields of a table, and rejects one with too many members before any of them is read.
    package func members(of key: String, limit: Int) throws(FormatError) -> Fields {
        let table = try fields(key)
        guard table.object.members.count <= limit else { throw broken(key, "must hold at most \(limit) members") }
        return table
    }

    /// Reads one of ``object``'s own members without a lookup: a table may have many thousands.
    package func fields(of member: JSONObject.Member) throws(FormatError) -> Fields {
        try Fields(member.value, of: document, at: at(member.key.text))
    }

    package func constant(_ key: String, _ expected: String) throws(FormatError) {
        guard try string(key).hasSameBytes(as: expected) else { throw broken(key, "must be \(expected)") }
    }

    package func name<Name: ParsedName>(_ key: String, as type: Name.Type = Name.self) throws(FormatError) -> Name {
        guard let name = Name(try string(key)) else { throw broken(key, Name.rule) }
        return name
    }

    package func digest<Algorithm>(
        _ key: String,
        as type: Digest<Algorithm>.Type = Digest<Algorithm>.self
    ) throws(FormatError) -> Digest<Algorithm> {
        guard let digest = Digest<Algorithm>(hex: try string(key)) else {
            throw broken(key, "must be \(Algorithm.byteCount * 2) lowercase hex digits")
        }
        return digest
    }

    package func time(_ key: String) throws(FormatError) -> UTCTime {
        guard let time = UTCTime(try string(key)) else { throw broken(key, "must be YYYY-MM-DDTHH:MM:SSZ") }
        return time
    }

    package func fingerprint() throws(FormatError) -> Fingerprint {
        Fingerprint(
            size: try integer("size", in: 0...Limits.object),
            md5: try digest("md5"),
            sha1: try digest("sha1"),
            sha256: try digest("sha256")
        )
    }
}

extension JSON {
    /// Parses a document strictly, with errors that name the document.
    package static func document(_ bytes: [UInt8], named document: String, limit: Int) throws(FormatError) -> JSON {
        guard bytes.count <= limit else { throw FormatError(document, rule: "is over \(limit) bytes") }
        return try self.document(from: BytesInMemory(bytes), named: document)
    }

    /// Parses a document that arrives in pieces.
    package static func document(
        from source: some ByteSource,
        named document: String,
        rows: JSONRows? = nil
    ) throws(FormatError) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: source, rows: rows)
        } catch {
            throw FormatError(document, rule: "\(error.rule.rawValue) (byte \(error.offset))")
        }
    }
}
