import DeviceOutput
import NIOHTTP1
import PatchFormat

/// The socket's interface as OpenAPI 3.1 describes it, made from the very table that is routed by.
enum ControlDescription {
    static func make(_ routes: [ControlRoute]) -> JSON {
        var paths: [(String, [(String, JSON?)])] = []
        for route in routes {
            let row = (route.method.rawValue.lowercased(), operation(route) as JSON?)
            if let index = paths.firstIndex(where: { $0.0 == route.path }) {
                paths[index].1.append(row)
            } else {
                paths.append((route.path, [row]))
            }
        }
        return .fields([
            ("openapi", .text("3.1.0")),
            (
                "info",
                .fields([
                    ("title", .text("Patchline on this device")), ("version", .text("1")),
                    (
                        "description",
                        .text(
                            "What the daemon answers on its local socket. Who may ask is who may reach the socket. Members, events "
                                + "and codes may be added to answers. A request with a member or parameter that is not described is "
                                + "refused."
                        )
                    ),
                ])
            ),
            ("paths", .fields(paths.map { ($0.0, .fields($0.1)) })),
            ("components", .fields([("schemas", .fields(schemas + documents))])),
        ])
    }

    private static func operation(_ route: ControlRoute) -> JSON {
        let path = route.pathParameters.map { parameter($0, in: "path", required: true) }
        let problem = ControlRoute.Answer(
            status: 0,
            about: "Why not.",
            schema: .named("Problem"),
            mediaType: ControlProblem.mediaType
        )
        return .fields([
            ("operationId", .text(route.name)), ("summary", .text(route.about)),
            (
                "parameters",
                .array(
                    path + route.query.map { parameter($0, in: "query", required: false) }
                        + route.headers.map { parameter($0, in: "header", required: false) }
                )
            ),
            (
                "requestBody",
                route.body.map { body in
                    .fields([("content", .fields([(route.bodyType, .fields([("schema", body.asBody)]))]))])
                }
            ),
            (
                "responses",
                .fields(
                    route.answers.map { ("\($0.status)", response($0)) } + [("default", response(problem))]
                )
            ),
        ])
    }

    private static func parameter(_ parameter: ControlRoute.Parameter, in place: String, required: Bool) -> JSON {
        .fields([
            ("name", .text(parameter.name)), ("in", .text(place)), ("required", .bool(required)),
            ("description", .text(parameter.about)), ("schema", parameter.schema.json),
        ])
    }

    private static func response(_ answer: ControlRoute.Answer) -> JSON {
        .fields([
            ("description", .text(answer.about)),
            ("content", answer.schema.map { .fields([(answer.mediaType, schema($0))]) }),
        ])
    }

    private static func schema(_ schema: ControlSchema) -> JSON { .fields([("schema", schema.json)]) }

    static func schema(named name: String) -> JSON {
        guard let schema = schemas.first(where: { $0.0 == name })?.1 else {
            preconditionFailure("a body's schema is one of ours")
        }
        return schema
    }

    private static var schemas: [(String, JSON?)] {
        let integer = ControlSchema.inline(.fields([("type", .text("integer"))]))
        let object = ControlSchema.inline(.fields([("type", .text("object"))]))
        let problem = ControlSchema.object(
            [
                ("type", .text), ("title", .text), ("status", integer), ("detail", .text), ("hint", .text),
                ("exitCode", integer),
            ],
            required: ["type", "title", "status", "detail"]
        )
        let event = ControlSchema.object(
            [
                ("id", .text), ("at", .text), ("store", .text), ("type", integer), ("typeName", .text),
                ("event", .text), ("data", object),
            ],
            required: ["id", "at", "store", "type", "typeName", "event"]
        )
        return [("Problem", problem.json), ("Event", event.json), ("Settings", DeviceSettings.schema.json)]
    }

    /// What commands print: their definitions stand beside them, under names of their own.
    private static var documents: [(String, JSON?)] {
        let printed: [(String, OutputSchema)] = [
            ("Status", .status), ("Sync", .sync), ("Cost", .dryRun), ("Explanation", .explain),
        ]
        return printed.flatMap { name, output -> [(String, JSON?)] in
            guard let schema = (try? JSON(parsing: Array(output.text.utf8)))?.object else {
                preconditionFailure("a schema of ours is JSON")
            }
            let own = schema.members.filter { !$0.key.text.hasPrefix("$") }
                .map { ($0.key.text, renamed($0.value, within: name) as JSON?) }
            let definitions = (schema["$defs"]?.object?.members ?? [])
                .map { ("\(name).\($0.key.text)", renamed($0.value, within: name) as JSON?) }
            return [(name, .fields(own))] + definitions
        }
    }

    private static func renamed(_ json: JSON, within name: String) -> JSON {
        let prefix = "#/$defs/"
        switch json {
        case .object(let object):
            return .object(
                JSONObject(
                    object.members.map { member in
                        guard member.key.text == "$ref", case .string(let text) = member.value,
                            text.text.hasPrefix(prefix)
                        else { return (member.key.text, renamed(member.value, within: name)) }
                        return ("$ref", .text("#/components/schemas/\(name).\(text.text.dropFirst(prefix.count))"))
                    }
                )
            )
        case .array(let elements): return .array(elements.map { renamed($0, within: name) })
        case .null, .bool, .integer, .string: return json
        }
    }
}
