import PatchFormat

/// What a value of the API looks like, in the words of JSON Schema 2020-12, as OpenAPI 3.1 has it.
struct APISchema: Sendable {
    let json: JSON

    static func text(_ pattern: String? = nil, upTo limit: Int? = nil, example: String? = nil) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("string")), ("pattern", pattern.map { .text($0) }),
                ("maxLength", limit.map { .integer($0) }), ("examples", example.map { .array([.text($0)]) }),
            ])
        )
    }

    static func integer(_ range: ClosedRange<Int>) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("integer")), ("minimum", .integer(range.lowerBound)),
                ("maximum", .integer(range.upperBound)),
            ])
        )
    }

    static let bool = APISchema(json: .fields([("type", .text("boolean"))]))

    static func one(of values: [String]) -> APISchema {
        APISchema(json: .fields([("type", .text("string")), ("enum", .array(values.map { .text($0) }))]))
    }

    static func array(_ element: APISchema, upTo limit: Int? = nil) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("array")), ("items", element.json), ("maxItems", limit.map { .integer($0) }),
            ])
        )
    }

    /// - Parameter more: whether members may stand there that are not named.
    static func object(_ members: [(String, APISchema)], optional: [(String, APISchema)] = [], more: Bool = false)
        -> APISchema
    {
        APISchema(
            json: .fields([
                ("type", .text("object")),
                ("properties", .object(JSONObject((members + optional).map { ($0.0, $0.1.json) }))),
                ("required", members.isEmpty ? nil : .array(members.map { .text($0.0) })),
                ("additionalProperties", more ? nil : .bool(false)),
            ])
        )
    }

    /// An object whose members' names are patches.
    static func map(of value: APISchema) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("object")), ("propertyNames", patchID.json), ("additionalProperties", value.json),
                ("maxProperties", .integer(1_000)),
            ])
        )
    }

    func orNull() -> APISchema {
        APISchema(json: .fields([("anyOf", .array([json, .fields([("type", .text("null"))])]))]))
    }

    /// One line of text.
    static func line(upTo limit: Int) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("string")), ("pattern", .text(#"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$"#)),
                ("minLength", .integer(1)), ("maxLength", .integer(limit)),
            ])
        )
    }

    static let document = APISchema(json: .fields([("type", .text("object"))]))
    static let app = text("^[A-Za-z0-9._-]{1,128}$", example: "com.example.storefront")
    static let channel = text("^[a-z0-9]{1,32}$", example: "production")
    static let patchID = text("^[A-Za-z0-9._-]{1,128}$")
    static let version = text("^[A-Za-z0-9._+-]{1,64}$")
    static let sha256 = text("^[0-9a-f]{64}$")
    static let time = text("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
    static let proposal = text("^[0-9a-f]{16}$")
    static let positive = integer(1...(1 << 53 - 1))
    static let natural = integer(0...(1 << 53 - 1))
    static let grant = text(
        #"^(\*|[A-Za-z0-9._-]{1,128}(/[a-z0-9]{1,32})?)=(viewer|publisher|operator|admin)$"#,
        example: "*=viewer"
    )
    static let problem = object(
        [("type", text()), ("title", text()), ("status", integer(400...599)), ("detail", text())],
        optional: [
            ("hint", text()), ("rule", text()), ("retryAfter", natural), ("offset", natural), ("missing", natural),
        ],
        more: true
    )
}

extension APISchema {
    /// The first member of a value that this schema does not allow, with its path: `changes[0].sbject`; nil if there is none.
    func unknownMember(in value: JSON) -> String? { Self.unknownMember(in: value, by: json, at: "") }

    private static func unknownMember(in value: JSON, by schema: JSON, at path: String) -> String? {
        if case .array(let choices)? = schema["anyOf"] {
            let possible = choices.filter { value == .null || $0["type"] != .text("null") }
            let found = possible.map { unknownMember(in: value, by: $0, at: path) }
            return found.contains(nil) ? nil : found.first ?? nil
        }
        switch value {
        case .array(let elements):
            guard let items = schema["items"] else { return nil }
            for (index, element) in elements.enumerated() {
                if let found = unknownMember(in: element, by: items, at: "\(path)[\(index)]") { return found }
            }
        case .object(let object):
            for member in object.members {
                let name = member.key.text
                let place = path.isEmpty ? name : "\(path).\(name)"
                guard let next = schema["properties"]?[name] ?? schema["additionalProperties"] else { continue }
                if next == .bool(false) { return place }
                if let found = unknownMember(in: member.value, by: next, at: place) { return found }
            }
        case .bool, .integer, .string, .null: break
        }
        return nil
    }
}
