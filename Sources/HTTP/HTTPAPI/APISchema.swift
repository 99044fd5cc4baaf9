package import PatchFormat

/// The form of a value in JSON Schema 2020-12, as OpenAPI 3.1 uses it.
package struct APISchema: Sendable {
    package let json: JSON

    package init(json: JSON) {
        self.json = json
    }

    /// A schema of the description's `components`.
    package static func named(_ name: String) -> APISchema {
        APISchema(json: .fields([("$ref", .text("#/components/schemas/\(name)"))]))
    }

    package static func text(
        _ pattern: String? = nil,
        upTo limit: Int? = nil,
        example: String? = nil
    ) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("string")), ("pattern", pattern.map { .text($0) }),
                ("maxLength", limit.map { .integer($0) }), ("examples", example.map { .array([.text($0)]) }),
            ])
        )
    }

    package static func integer(_ range: ClosedRange<Int>? = nil) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("integer")), ("minimum", range.map { .integer($0.lowerBound) }),
                ("maximum", range.map { .integer($0.upperBound) }),
            ])
        )
    }

    package static let bool = APISchema(json: .fields([("type", .text("boolean"))]))

    package static func one(of values: [String]) -> APISchema {
        APISchema(json: .fields([("type", .text("string")), ("enum", .array(values.map { .text($0) }))]))
    }

    package static func either(_ schemas: [APISchema]) -> APISchema {
        APISchema(json: .fields([("anyOf", .array(schemas.map(\.json)))]))
    }

    package static func array(_ element: APISchema, upTo limit: Int? = nil) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("array")), ("items", element.json), ("maxItems", limit.map { .integer($0) }),
            ])
        )
    }

    /// - Parameter more: whether other members are allowed.
    package static func object(
        _ members: [(String, APISchema)],
        optional: [(String, APISchema)] = [],
        more: Bool = false
    ) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("object")),
                ("properties", .object(JSONObject((members + optional).map { ($0.0, $0.1.json) }))),
                ("required", members.isEmpty ? nil : .array(members.map { .text($0.0) })),
                ("additionalProperties", more ? nil : .bool(false)),
            ])
        )
    }

    /// An object of any members.
    package static let document = APISchema(json: .fields([("type", .text("object"))]))

    package func orNull() -> APISchema {
        .either([self, APISchema(json: .fields([("type", .text("null"))]))])
    }

    /// One line of text.
    package static func line(upTo limit: Int) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("string")), ("pattern", .text(#"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$"#)),
                ("minLength", .integer(1)), ("maxLength", .integer(limit)),
            ])
        )
    }
}

extension APISchema {
    /// The schema of a request with these members and no others, without those that only answers have (`readOnly`).
    package var closed: APISchema { APISchema(json: Self.closed(json)) }

    private static func closed(_ schema: JSON) -> JSON {
        guard let object = schema.object, let properties = schema["properties"]?.object else { return schema }
        let settable = properties.members.filter { $0.value["readOnly"] != .bool(true) }
        let rest = object.members.filter { $0.key.text != "properties" }.map { ($0.key.text, $0.value as JSON?) }
        return .fields(
            rest + [
                ("properties", .fields(settable.map { ($0.key.text, closed($0.value)) })),
                ("additionalProperties", .bool(false)),
            ]
        )
    }

    /// The path of the first member of a value that this schema does not allow: `changes[0].sbject`; nil if all are allowed.
    package func unknownMember(in value: JSON) -> String? { Self.unknownMember(in: value, by: json, at: "") }

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

    /// The paths of all members that have no members of their own, in their order: `policy.consent`.
    package var memberPaths: [String] { Self.memberPaths(of: json, at: "") }

    private static func memberPaths(of schema: JSON, at path: String) -> [String] {
        (schema["properties"]?.object?.members ?? []).flatMap { member in
            let name = path.isEmpty ? member.key.text : "\(path).\(member.key.text)"
            let inner = memberPaths(of: member.value, at: name)
            return inner.isEmpty ? [name] : inner
        }
    }
}
