package import PatchFormat

/// The JSON form of a Swift value: its JSON Schema, and the value written as JSON.
package struct Shape<Value: Sendable>: Sendable {
    /// The schema's members in the order in which they are printed.
    let schema: [(String, JSON)]
    /// The schemas that ``schema`` refers to by name.
    var definitions: [SchemaDefinition] = []
    /// The type in a table.
    let word: String
    /// The description of a named shape.
    var about: String?
    /// The rows of its members in a table.
    var rows: [MemberRow] = []
    package let json: @Sendable (Value) -> JSON
}

/// A schema below `$defs`.
struct SchemaDefinition: Sendable {
    let name: String
    let schema: JSON
}

/// A row of the table of a document's members.
struct MemberRow: Sendable {
    let path: String
    let word: String
    let about: String
    let isRequired: Bool
}

extension JSON {
    static func ordered(_ members: [(String, JSON)]) -> JSON { .object(JSONObject(members)) }
}

extension Shape {
    /// The members of an object.
    func members(of value: Value) -> [(String, JSON?)] {
        json(value).object?.members.map { ($0.key.text, $0.value) } ?? []
    }

    /// Returns the schema with a description, which follows the type of an object and ends any other schema.
    func described(_ about: String?) -> [(String, JSON)] {
        guard let about else { return schema }
        var schema = schema
        let isObject = schema.contains { $0.0 == "properties" }
        schema.insert(("description", .text(about)), at: isObject ? 1 : schema.endIndex)
        return schema
    }

    /// Returns the same shape as a definition below `$defs`.
    func named(_ name: String, _ about: String? = nil) -> Shape {
        Shape(
            schema: [("$ref", .text("#/$defs/\(name)"))],
            definitions: definitions + [SchemaDefinition(name: name, schema: .ordered(described(about)))],
            word: word,
            about: about,
            rows: rows,
            json: json
        )
    }

    /// Returns the shape of values from which `value` computes values of this shape.
    func of<Other: Sendable>(_ value: @escaping @Sendable (Other) -> Value) -> Shape<Other> {
        Shape<Other>(schema: schema, definitions: definitions, word: word, about: about, rows: rows) { [json] in
            json(value($0))
        }
    }

    /// A list of these values.
    var list: Shape<[Value]> { list(atLeast: 0) }

    /// - Parameter least: the smallest number of elements.
    func list(atLeast least: Int) -> Shape<[Value]> {
        Shape<[Value]>(
            schema: [("type", .text("array")), ("items", .ordered(schema))]
                + (least > 0 ? [("minItems", .integer(least))] : []),
            definitions: definitions,
            word: "list of \(word)",
            rows: rows.map {
                MemberRow(path: "[]\($0.path)", word: $0.word, about: $0.about, isRequired: $0.isRequired)
            }
        ) { [json] in .array($0.map(json)) }
    }

    /// An object with these members.
    static func object(@MembersBuilder<Value> _ members: () -> [Member<Value>]) -> Shape {
        let members = members()
        let required = members.filter(\.isRequired).map { JSON.text($0.name) }
        return Shape(
            schema: [("type", .text("object"))] + (required.isEmpty ? [] : [("required", .array(required))])
                + [("properties", .ordered(members.map { ($0.name, .ordered($0.schema)) }))],
            definitions: members.flatMap(\.definitions),
            word: "object",
            rows: members.flatMap(\.rows)
        ) { value in .fields(members.map { ($0.name, $0.json(value)) }) }
    }
}

extension Shape where Value == String {
    static var text: Shape { text() }

    static func text(atMost length: Int? = nil, pattern: String? = nil) -> Shape {
        Shape(
            schema: [("type", .text("string"))] + (length.map { [("maxLength", .integer($0))] } ?? [])
                + (pattern.map { [("pattern", .text($0))] } ?? []),
            word: "text",
            json: { .text($0) }
        )
    }

    static func oneOf(_ names: [String]) -> Shape {
        Shape(
            schema: [("enum", .array(names.map { .text($0) }))],
            word: names.map { "`\($0)`" }.joined(separator: ", "),
            json: { .text($0) }
        )
    }
}

extension Shape where Value: RawRepresentable, Value.RawValue == String {
    static func oneOf(_ values: some Collection<Value>) -> Shape {
        Shape<String>.oneOf(values.map(\.rawValue)).of { $0.rawValue }
    }
}

extension Shape where Value == Int {
    static var number: Shape { Shape(schema: [("type", .text("integer"))], word: "number", json: { .integer($0) }) }

    static func integer(_ range: PartialRangeFrom<Int>) -> Shape {
        Shape(
            schema: [("type", .text("integer")), ("minimum", .integer(range.lowerBound))],
            word: "number",
            json: { .integer($0) }
        )
    }
}

extension Shape where Value == Bool {
    static var flag: Shape { Shape(schema: [("type", .text("boolean"))], word: "true or false", json: { .bool($0) }) }
}

extension Shape where Value == Void {
    /// A member that is `true` or missing.
    static var mark: Shape { Shape(schema: [("const", .bool(true))], word: "`true`", json: { .bool(true) }) }
}

extension Shape where Value == JSON {
    /// An object that another schema describes.
    static var anyObject: Shape {
        Shape(schema: [("type", .text("object")), ("additionalProperties", .bool(true))], word: "object", json: { $0 })
    }
}

/// A member of a JSON object: its name, type, description and value.
package struct Member<Value: Sendable>: Sendable {
    let name: String
    let isRequired: Bool
    let schema: [(String, JSON)]
    let definitions: [SchemaDefinition]
    let rows: [MemberRow]
    let json: @Sendable (Value) -> JSON?
}

extension Member {
    private init<Part: Sendable>(
        _ name: String,
        _ shape: Shape<Part>,
        _ about: String?,
        isRequired: Bool,
        _ json: @escaping @Sendable (Value) -> JSON?
    ) {
        let own = MemberRow(path: name, word: shape.word, about: about ?? shape.about ?? "", isRequired: isRequired)
        let below = shape.rows.map { row in
            let path = row.path.hasPrefix("[]") ? name + row.path : "\(name).\(row.path)"
            return MemberRow(path: path, word: row.word, about: row.about, isRequired: row.isRequired)
        }
        self.init(
            name: name,
            isRequired: isRequired,
            schema: shape.described(about),
            definitions: shape.definitions,
            rows: [own] + below,
            json: json
        )
    }

    /// A member that every document has.
    init<Part: Sendable>(
        _ name: String,
        _ shape: Shape<Part>,
        _ about: String? = nil,
        _ value: @escaping @Sendable (Value) -> Part
    ) {
        self.init(name, shape, about, isRequired: true) { shape.json(value($0)) }
    }

    /// Creates a member that is missing if `value` is nil.
    init<Part: Sendable>(
        optional name: String,
        _ shape: Shape<Part>,
        _ about: String? = nil,
        _ value: @escaping @Sendable (Value) -> Part?
    ) {
        self.init(name, shape, about, isRequired: false) { value($0).map(shape.json) }
    }
}

extension Member {
    /// The same member of a value that contains this one.
    func of<Whole: Sendable>(_ part: @escaping @Sendable (Whole) -> Value) -> Member<Whole> {
        Member<Whole>(name: name, isRequired: isRequired, schema: schema, definitions: definitions, rows: rows) {
            [json] in
            json(part($0))
        }
    }
}

extension Member where Value == JSON {
    /// Creates a member of a value that is JSON already.
    init<Part: Sendable>(given name: String, _ shape: Shape<Part>, _ about: String? = nil, isRequired: Bool = true) {
        self.init(name, shape, about, isRequired: isRequired) { $0[name] }
    }
}

@resultBuilder
package enum MembersBuilder<Value: Sendable> {
    package static func buildExpression(_ member: Member<Value>) -> [Member<Value>] { [member] }
    package static func buildExpression(_ members: [Member<Value>]) -> [Member<Value>] { members }
    package static func buildBlock(_ parts: [Member<Value>]...) -> [Member<Value>] { parts.flatMap(\.self) }
}
