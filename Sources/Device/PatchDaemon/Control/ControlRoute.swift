import NIOHTTP1
import PatchFormat

/// One thing that may be asked over the socket: its description and its work, in a row of one table.
struct ControlRoute: Sendable {
    struct Parameter: Sendable {
        let name: String
        let about: String
        let schema: ControlSchema
    }

    struct Answer: Sendable {
        let status: Int
        let about: String
        var schema: ControlSchema?
        var mediaType = "application/json"
    }

    let method: HTTPMethod
    /// With `{name}` for a variable part.
    let path: String
    let name: String
    let about: String
    var query: [Parameter] = []
    var headers: [Parameter] = []
    var body: ControlSchema?
    var bodyType = "application/json"
    let answers: [Answer]
    let work: @Sendable (ControlCall) async throws(ControlProblem) -> ControlAnswer

    /// Names in braces, in order.
    var pathParameters: [Parameter] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            Parameter(name: String($0.dropFirst().dropLast()), about: "As the settings name it.", schema: .text)
        }
    }

    /// What the path's variable parts are; nil where this is another path.
    func parameters(of segments: [String]) -> [String: String]? {
        let parts = path.split(separator: "/")
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            if part.hasPrefix("{") {
                parameters[String(part.dropFirst().dropLast())] = segment
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}

/// A JSON schema, or the name of one.
enum ControlSchema: Sendable {
    case inline(JSON)
    /// Of ``ControlDescription``.
    case named(String)

    static let text = ControlSchema.inline(.fields([("type", .text("string"))]))
    static let bool = ControlSchema.inline(.fields([("type", .text("boolean"))]))

    static func object(_ members: [(String, ControlSchema)], required: [String] = []) -> ControlSchema {
        .inline(
            .fields([
                ("type", .text("object")), ("properties", .fields(members.map { ($0.0, $0.1.json) })),
                ("required", required.isEmpty ? nil : .array(required.map { .text($0) })),
            ])
        )
    }

    static func array(_ element: ControlSchema) -> ControlSchema {
        .inline(.fields([("type", .text("array")), ("items", element.json)]))
    }

    var json: JSON {
        switch self {
        case .inline(let json): json
        case .named(let name): .fields([("$ref", .text("#/components/schemas/\(name)"))])
        }
    }
}
