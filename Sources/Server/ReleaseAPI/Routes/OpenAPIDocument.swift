import HTTPTypes
import PatchFormat
import ServerRecords

/// The API as OpenAPI 3.1 describes it, made from the very table that routes are made from.
enum OpenAPIDocument {
    static func make(_ endpoints: [APIEndpoint]) -> JSON {
        var paths: [(String, [(String, JSON?)])] = []
        for endpoint in endpoints {
            let row = (endpoint.method.rawValue.lowercased(), operation(endpoint) as JSON?)
            if let index = paths.firstIndex(where: { $0.0 == endpoint.path }) {
                paths[index].1.append(row)
            } else {
                paths.append((endpoint.path, [row]))
            }
        }
        return .fields([
            ("openapi", .text("3.1.0")),
            (
                "info",
                .fields([
                    ("title", .text("Patchline release service")), ("version", .text("1")),
                    (
                        "description",
                        .text(
                            "Everything a team does with releases. A token stands in each request as "
                                + "`Authorization: Bearer plt_…`; what it may do is its role on an app: viewer, publisher, "
                                + "operator, admin, each of which may do what those before it may."
                        )
                    ),
                ])
            ),
            (
                "servers",
                .array([
                    .fields([
                        ("url", .text("/api/v1")),
                        ("description", .text("The operators' listener, or the name that a proxy gives it.")),
                    ])
                ])
            ),
            ("paths", .object(JSONObject(paths.map { ($0.0, .fields($0.1)) }))),
            (
                "components",
                .fields([
                    (
                        "securitySchemes",
                        .fields([("token", .fields([("type", .text("http")), ("scheme", .text("bearer"))]))])
                    ),
                    ("schemas", .fields([("Problem", APISchema.problem.json)])),
                ])
            ),
        ])
    }

    private static func operation(_ endpoint: APIEndpoint) -> JSON {
        let path = endpoint.pathParameters.map { name in
            parameter(name, in: "path", required: true, about: nil, APIPath.schemas[name] ?? .text())
        }
        let query = endpoint.query.map { parameter($0.name, in: "query", required: false, about: $0.about, $0.schema) }
        let headers = endpoint.headers.map {
            parameter($0.name, in: "header", required: true, about: $0.about, $0.schema)
        }
        return .fields([
            ("operationId", .text(endpoint.name)), ("summary", .text(endpoint.about)),
            ("description", role(endpoint.access).map { .text($0) }),
            ("parameters", .array(path + query + headers)), ("requestBody", body(endpoint.body)),
            ("security", endpoint.needsNoToken ? nil : .array([.fields([("token", .array([]))])])),
            ("responses", responses(endpoint)),
        ])
    }

    private static func role(_ access: APIEndpoint.Access) -> String? {
        switch access {
        case .everybody, .anyone: nil
        case .app(let role): "Needs the role \(role.rawValue) on the app."
        case .release(let role): "Needs the role \(role.rawValue) on the app, or in the release's channel."
        case .server(let role): "Needs the role \(role.rawValue) on every app (`*`)."
        }
    }

    private static func parameter(
        _ name: String,
        in place: String,
        required: Bool,
        about: String?,
        _ schema: APISchema
    ) -> JSON {
        .fields([
            ("name", .text(name)), ("in", .text(place)), ("required", .bool(required)),
            ("description", about.map { .text($0) }), ("schema", schema.json),
        ])
    }

    private static func body(_ body: APIEndpoint.Body) -> JSON? {
        switch body {
        case .none: nil
        case .json(let schema, _):
            .fields([
                ("required", .bool(true)),
                ("content", .fields([("application/json", .fields([("schema", schema.json)]))])),
            ])
        case .bytes:
            .fields([
                ("required", .bool(true)),
                ("content", .fields([("application/octet-stream", .fields([("schema", .object(JSONObject()))]))])),
            ])
        }
    }

    private static func responses(_ endpoint: APIEndpoint) -> JSON {
        let good: [(String, JSON?)] = endpoint.answers.map { answer in
            let content = answer.schema.map { schema in
                JSON.fields([("application/json", .fields([("schema", schema.json)]))])
            }
            return ("\(answer.status)", .fields([("description", .text(answer.about)), ("content", content)]))
        }
        let usual = endpoint.needsNoToken ? [400, 404, 413, 415, 429] : [400, 401, 403, 404, 413, 415, 429]
        let statuses = Set(usual + endpoint.problems + [503]).sorted()
        let problem = JSON.fields([
            ("description", .text("Why not.")),
            (
                "content",
                .fields([
                    (
                        "application/problem+json",
                        .fields([("schema", .fields([("$ref", .text("#/components/schemas/Problem"))]))])
                    )
                ])
            ),
        ])
        let problems = statuses.map { ("\($0)", problem) }
        return .object(JSONObject(good.map { ($0.0, $0.1 ?? .null) } + problems))
    }
}

extension APIEndpoint {
    fileprivate var needsNoToken: Bool { access == .everybody }
}

/// What stands in braces in paths.
enum APIPath {
    static let schemas: [String: APISchema] = [
        "app": .app, "channel": .channel, "upload": .sha256, "sha256": .sha256, "manifest": .sha256, "base": .sha256,
        "version": .positive,
        "token": .text("^[0-9a-f]{16}$"), "proposal": .proposal,
        "target": .text("^(everyone|[0-9a-f]{64})$"), "patch": .patchID,
    ]
}
