import PatchFormat

// Reads fields as people write them. Each error shows the correct form.
extension Fields {
    func unknown(_ key: String, known: Set<String>) -> FormatError {
        let meant = key.nearest(among: known.sorted()).map { "did you mean \($0)? The fields" } ?? "the fields"
        return broken(key, "is not a known field; \(meant) are \(known.sorted().joined(separator: ", "))")
    }

    func allow(_ known: Set<String>) throws(FormatError) {
        for member in object.members where !known.contains(member.key.text) {
            throw unknown(member.key.text, known: known)
        }
    }

    /// Reads a text; the error for a number shows how to write it as text.
    func words(_ key: String) throws(FormatError) -> String {
        guard has(key) else { throw broken(key, "is missing") }
        return try Self.text(object[key]) { (rule) throws(FormatError) in throw broken(key, rule) }
    }

    /// Reads a list; the error for a single value shows how to write it as a list.
    func list(_ key: String, limit: Int) throws(FormatError) -> [JSON] {
        switch object[key] {
        case .array: return try array(key, limit: limit)
        case nil: throw broken(key, "is missing")
        case .string(let text): throw broken(key, "must be a list: [\(Self.quoted(text.text))]")
        case .integer(let number): throw broken(key, "must be a list: [\"\(number)\"]")
        case .null, .bool, .object:
            throw broken(key, "must be a list: in brackets, or one line with '- ' for each element")
        }
    }

    func texts(_ key: String, limit: Int) throws(FormatError) -> [String] {
        var texts: [String] = []
        for (index, value) in try list(key, limit: limit).enumerated() {
            texts.append(try Self.text(value) { (rule) throws(FormatError) in throw broken("\(key)[\(index)]", rule) })
        }
        return texts
    }

    /// - Parameter example: A valid mapping, for the error message.
    func mapping(_ key: String, such example: String) throws(FormatError) -> Fields {
        guard object[key]?.object != nil else { throw broken(key, "must be a mapping, such as \(example)") }
        return try fields(key)
    }

    func parsed<Name: ParsedName>(_ key: String, as type: Name.Type = Name.self) throws(FormatError) -> Name {
        guard let name = Name(try words(key)) else { throw broken(key, Name.rule) }
        return name
    }

    func path(_ key: String, default path: String? = nil) throws(FormatError) -> AssetPath {
        let text = if let path, !has(key) { path } else { try words(key) }
        do throws(AssetPath.Problem) { return try AssetPath(text) } catch { throw broken(key, error.rawValue) }
    }

    private static func text(
        _ value: JSON?,
        otherwise refuse: (String) throws(FormatError) -> Never
    ) throws(FormatError) -> String {
        switch value {
        case .string(let text): return text.text
        case .integer(let number): try refuse("is a number; put it in quotes: \"\(number)\"")
        case .bool(let flag): try refuse("is true or false; put it in quotes if it is meant as text: \"\(flag)\"")
        case .null, .array, .object, nil: try refuse("must be text")
        }
    }

    /// The text as YAML, in quotes if it needs them.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : "\"\(text)\""
    }
}
