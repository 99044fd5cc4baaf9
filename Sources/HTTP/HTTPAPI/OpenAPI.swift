import NIOHTTP1
package import PatchFormat

/// Writes the description of an API (OpenAPI 3.1) from its routes.
package struct OpenAPI: Sendable {
    /// The problems in the description of each route.
    package enum Problems: Sendable {
        /// These statuses, those for routes that need a token, and those of the route.
        case byStatus([Int], withToken: [Int])
        /// One description for all statuses.
        case asDefault
    }

    private let title: String
    private let about: String
    private let server: (url: String, about: String)?
    private let parameters: [String: APIParameter]
    private let problems: Problems
    private let schemas: [(String, JSON?)]

    /// - Parameters:
    ///   - server: the address below which the paths are.
    ///   - parameters: the variable parts of paths, by name.
    ///   - schemas: the named schemas; one has the name `Problem`.
    package init(
        title: String,
        about: String,
        server: (url: String, about: String)? = nil,
        parameters: [APIParameter],
        problems: Problems,
        schemas: [(String, JSON?)]
    ) {
        (self.title, self.about, self.server) = (title, about, server)
        self.parameters = Dictionary(parameters.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        (self.problems, self.schemas) = (problems, schemas)
    }

    package func document<Access, Call>(_ routes: [APIRoute<Access, Call>]) -> JSON {
        var paths: [(String, [(String, JSON?)])] = []
        for route in routes {
            let row = (route.method.rawValue.lowercased(), operation(route) as JSON?)
            if let index = paths.firstIndex(where: { $0.0 == route.path }) {
                paths[index].1.append(row)
            } else {
                paths.append((route.path, [row]))
            }
        }
        let token = JSON.fields([("type", .text("http")), ("scheme", .text("bearer"))])
        let hasTokens = routes.contains(where: \.needsToken)
        return .fields([
            ("openapi", .text("3.1.0")),
            (
                "info",
                .fields([("title", .text(title)), ("version", .text("1")), ("description", .text(about))])
            ),
            (
                "servers",
                server.map { .array([.fields([("url", .text($0.url)), ("description", .text($0.about))])]) }
            ),
            ("paths", .fields(paths.map { ($0.0, .fields($0.1)) })),
            (
                "components",
                .fields([
                    ("securitySchemes", hasTokens ? .fields([("token", token)]) : nil), ("schemas", .fields(schemas)),
                ])
            ),
        ])
    }

    private func operation<Access, Call>(_ route: APIRoute<Access, Call>) -> JSON {
        let path = route.pathParameters.map { name in
            let known = parameters[name]
            return parameter(
                APIParameter(name: name, about: known?.about, schema: known?.schema ?? .text(), isRequired: true),
                in: "path"
            )
        }
        let others =
            route.query.map { parameter($0, in: "query") } + route.headers.map { parameter($0, in: "header") }
        return .fields([
            ("operationId", .text(route.name)), ("summary", .text(route.about)),
            ("description", route.access?.about.map { .text($0) }), ("parameters", .array(path + others)),
            ("requestBody", body(route.body)),
            ("security", route.needsToken ? .array([.fields([("token", .array([]))])]) : nil),
            ("responses", responses(route)),
        ])
    }

    private func parameter(_ parameter: APIParameter, in place: String) -> JSON {
        .fields([
            ("name", .text(parameter.name)), ("in", .text(place)), ("required", .bool(parameter.isRequired)),
            ("description", parameter.about.map { .text($0) }), ("schema", parameter.schema.json),
        ])
    }

    private func body(_ body: APIBody) -> JSON? {
        switch body {
        case .none: nil
        case .json(let schema, _, let type, let isRequired):
            .fields([
                ("required", isRequired ? .bool(true) : nil), ("content", content(type, schema)),
            ])
        case .bytes:
            .fields([
                ("required", .bool(true)),
                ("content", content("application/octet-stream", APISchema(json: .fields([])))),
            ])
        }
    }

    private func responses<Access, Call>(_ route: APIRoute<Access, Call>) -> JSON {
        let answers = route.answers.map { ("\($0.status)", response($0) as JSON?) }
        let problem = response(
            DescribedAnswer(
                status: 0,
                about: "Why not.",
                schema: .named("Problem"),
                mediaType: APIProblem.mediaType
            )
        )
        switch problems {
        case .asDefault: return .fields(answers + [("default", problem)])
        case .byStatus(let usual, let withToken):
            let statuses = Set(usual + route.problems + (route.needsToken ? withToken : [])).sorted()
            return .fields(answers + statuses.map { ("\($0)", problem) })
        }
    }

    private func response(_ answer: DescribedAnswer) -> JSON {
        .fields([
            ("description", .text(answer.about)), ("content", answer.schema.map { content(answer.mediaType, $0) }),
        ])
    }

    private func content(_ type: String, _ schema: APISchema) -> JSON {
        .fields([(type, .fields([("schema", schema.json)]))])
    }
}
