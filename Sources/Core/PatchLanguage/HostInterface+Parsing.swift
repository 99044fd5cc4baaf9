package import PatchFormat

/// Why a document is not a valid host interface.
package enum HostInterfaceError: Error, Equatable, Sendable {
    case notJSON(JSONError)
    /// The field is a path such as `types[2].methods[0].name`.
    case wrong(field: String, rule: String)
}

extension HostInterfaceError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notJSON(let error): "\(error.rule.rawValue) (byte \(error.offset))"
        case .wrong(let field, let rule): "\(field) \(rule)"
        }
    }
}

extension HostInterface {
    /// The largest interface document in bytes.
    package static let largest = 4_000_000

    /// Parses a document.
    ///
    /// Unknown members are ignored.
    package init(parsing document: [UInt8]) throws(HostInterfaceError) {
        let root: JSON
        do throws(JSONError) { root = try JSON(parsing: document) } catch { throw .notJSON(error) }
        guard root["format"] == .text(Self.format) else { throw .wrong(field: "format", rule: "is not \(Self.format)") }
        types = try Self.list(root["types"], "types") { value, field throws(HostInterfaceError) in
            ExposedType(
                name: try Self.text(value["name"], field + ".name"),
                parent: try value["parent"].map { parent throws(HostInterfaceError) in
                    try Self.text(parent, field + ".parent")
                },
                constructor: try value["constructor"].map { arguments throws(HostInterfaceError) in
                    try Self.list(arguments, field + ".constructor", Self.text)
                },
                methods: try Self.list(value["methods"], field + ".methods", Self.method),
                statics: try Self.list(value["statics"], field + ".statics", Self.method)
            )
        }
    }

    private static func method(_ value: JSON?, _ field: String) throws(HostInterfaceError) -> Method {
        let name = try text(value?["name"], field + ".name")
        let arguments = try list(value?["arguments"], field + ".arguments", text)
        guard let waits = value?["waits"], case .bool(let waits) = waits else {
            throw .wrong(field: field + ".waits", rule: "is not true or false")
        }
        return Method(
            name: name,
            arguments: arguments,
            returns: try text(value?["returns"], field + ".returns"),
            waits: waits
        )
    }

    private static func text(_ value: JSON?, _ field: String) throws(HostInterfaceError) -> String {
        guard case .string(let text)? = value else { throw .wrong(field: field, rule: "is not text") }
        return text.text
    }

    private static func list<Element>(
        _ value: JSON?,
        _ field: String,
        _ read: (JSON, String) throws(HostInterfaceError) -> Element
    ) throws(HostInterfaceError) -> [Element] {
        guard case .array(let values)? = value else { throw .wrong(field: field, rule: "is not a list") }
        var elements: [Element] = []
        for (place, value) in values.enumerated() { elements.append(try read(value, "\(field)[\(place)]")) }
        return elements
    }
}
