import HTTPAPI
import PatchFormat

/// The description of the operators' API (OpenAPI 3.1).
enum OperatorDescription {
    static func make(_ routes: [OperatorRoute]) -> JSON {
        OpenAPI(
            title: "Patchline release service",
            about: "Releases, rollouts and drafts of a team. Each request has a token as "
                + "`Authorization: Bearer plt_…`. Its role on an app decides its permissions: viewer, publisher, "
                + "operator, admin. Each role includes the permissions of those before it.",
            server: ("/api/v1", "The operators' listener, or the name that a proxy gives it."),
            parameters: parameters.map { APIParameter(name: $0, about: nil, schema: $1) },
            problems: .byStatus([400, 404, 413, 415, 429, 503], withToken: [401, 403]),
            schemas: [("Problem", APISchema.problem.json)]
        ).document(routes)
    }

    /// The variable parts of paths.
    private static let parameters: [(String, APISchema)] = [
        ("app", .app), ("channel", .channel), ("upload", .sha256), ("sha256", .sha256), ("manifest", .sha256),
        ("base", .sha256), ("version", .positive), ("token", .text("^[0-9a-f]{16}$")), ("proposal", .proposal),
        ("target", .text("^(everyone|[0-9a-f]{64})$")), ("patch", .patchID),
    ]
}

extension APISchema {
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
    fileprivate static let problem = object(
        [("type", text()), ("title", text()), ("status", integer(400...599)), ("detail", text())],
        optional: [
            ("hint", text()), ("rule", text()), ("retryAfter", natural), ("offset", natural), ("missing", natural),
        ],
        more: true
    )

    /// An object whose member names are patches.
    static func map(of value: APISchema) -> APISchema {
        APISchema(
            json: .fields([
                ("type", .text("object")), ("propertyNames", patchID.json), ("additionalProperties", value.json),
                ("maxProperties", .integer(1_000)),
            ])
        )
    }
}
