import DeviceOutput
import HTTPAPI
import PatchFormat

/// The description of the local socket (OpenAPI 3.1).
enum ControlDescription {
    static let store = APIParameter(name: "store", about: "The name of the store in the settings.", schema: .text())

    static func make(_ routes: [ControlRoute]) -> JSON {
        OpenAPI(
            title: "Patchline on this device",
            about:
                "Requests to the daemon on its local socket. Each process that can open the socket may send them. Members, "
                + "events and codes may be added to responses. A request with an unknown member or parameter is "
                + "rejected.",
            parameters: [store],
            problems: .asDefault,
            schemas: schemas + documents
        ).document(routes)
    }

    private static var schemas: [(String, JSON?)] {
        let problem = APISchema.object(
            [("type", .text()), ("title", .text()), ("status", .integer()), ("detail", .text())],
            optional: [("hint", .text()), ("exitCode", .integer())],
            more: true
        )
        let event = APISchema.object(
            [
                ("id", .text()), ("at", .text()), ("store", .text()), ("type", .integer()), ("typeName", .text()),
                ("event", .text()),
            ],
            optional: [("data", .document)],
            more: true
        )
        return [("Problem", problem.json), ("Event", event.json), ("Settings", DeviceSettings.schema.json)]
    }

    /// The documents that commands print.
    ///
    /// Their definitions have separate names.
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
