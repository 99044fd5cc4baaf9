package import PatchFormat

/// A JSON document of a command: one list of members makes the document, its schema and its table on the page.
package struct Document<Value: Sendable>: Sendable {
    private let name: String
    private let title: String
    private let about: String
    private let shape: Shape<Value>

    init(_ name: String, title: String, _ about: String, @MembersBuilder<Value> _ members: () -> [Member<Value>]) {
        (self.name, self.title, self.about) = (name, title, about)
        shape = .object(members)
    }

    package func json(_ value: Value) -> JSON { shape.json(value) }

    /// The JSON Schema, draft 2020-12.
    package var schema: String { JSON.schema(name, title: title, about, shape.schema, shape.definitions) }

    /// The members as a Markdown table.
    ///
    /// A member of an element follows `[]`.
    package var table: String {
        let rows = shape.rows.map { row in
            let path = row.path.replacing("[]", with: "[].")
            return "| `\(path)`\(row.isRequired ? "" : " ?") | \(row.word) | \(row.about.replacing("|", with: "\\|")) |"
        }
        return (["| member | type | |", "|---|---|---|"] + rows).joined(separator: "\n")
    }
}

extension JSON {
    /// The text of a schema of the commands.
    static func schema(
        _ name: String,
        title: String,
        _ about: String,
        _ members: [(String, JSON)],
        _ definitions: [SchemaDefinition]
    ) -> String {
        var seen: Set<String> = []
        let named = definitions.filter { seen.insert($0.name).inserted }.map { ($0.name, $0.schema) }
        let head: [(String, JSON)] = [
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("$id", .text("urn:patchline:patchsync:\(name):1")), ("title", .text(title)), ("description", .text(about)),
        ]
        return JSON.ordered(head + members + (named.isEmpty ? [] : [("$defs", .ordered(named))])).wrapped(at: 110)
    }

    /// Formats the value for reading.
    ///
    /// An array or object is on one line if that line has at most `width` characters.
    func wrapped(at width: Int) -> String { wrapped(at: width, indent: "", before: 0) }

    /// - Parameter before: The number of characters between the line's indentation and this value.
    private func wrapped(at width: Int, indent: String, before: Int) -> String {
        let line = onOneLine
        guard isWrappable, indent.count + before + line.count > width else { return line }
        let inner = indent + "  "
        let (open, parts, close): (String, [String], String) =
            switch self {
            case .object(let object):
                (
                    "{",
                    object.members.map { member in
                        let key = "\(Self.quoted(member.key)): "
                        // One more character for the comma.
                        return inner + key + member.value.wrapped(at: width, indent: inner, before: key.count + 1)
                    }, "}"
                )
            case .array(let values): ("[", values.map { inner + $0.wrapped(at: width, indent: inner, before: 1) }, "]")
            case .null, .bool, .integer, .string: ("", [line], "")
            }
        return "\(open)\n" + parts.joined(separator: ",\n") + "\n\(indent)\(close)"
    }

    private var isWrappable: Bool {
        switch self {
        case .object(let object): !object.members.isEmpty
        case .array(let values): !values.isEmpty
        case .null, .bool, .integer, .string: false
        }
    }

    private var onOneLine: String {
        switch self {
        case .object(let object):
            "{" + object.members.map { "\(Self.quoted($0.key)): \($0.value.onOneLine)" }.joined(separator: ", ") + "}"
        case .array(let values): "[" + values.map(\.onOneLine).joined(separator: ", ") + "]"
        case .null, .bool, .integer, .string: String(decoding: fileBytes, as: UTF8.self)
        }
    }

    private static func quoted(_ key: ExactString) -> String {
        String(decoding: JSON.string(key).fileBytes, as: UTF8.self)
    }
}
