import HTTPFiles
import PatchFormat

/// Finds the names in a request that its description does not have: a misspelled one would be a setting that its sender
/// believes in.
enum ControlNames {
    /// - Parameters:
    ///   - schema: of the body; nil if the request has none.
    ///   - query: the names that the request takes.
    static func check(_ call: ControlCall, body schema: ControlSchema?, query known: [String]) throws(ControlProblem) {
        for name in call.queryNames {
            guard let name else {
                throw .invalid(FormatError("the query", rule: "has a percent sign without two hex digits behind it"))
            }
            guard known.contains(name) else {
                let error = FormatError("the query", field: name, rule: "is not a parameter of this request")
                throw .invalid(error, hint: hint(name, known))
            }
        }
        // The route reports a body that cannot be read.
        guard !call.request.body.isEmpty, let fields = try? call.fields() else { return }
        let schema = schema?.asBody ?? ControlSchema.object([]).json
        guard let path = unknown(in: .object(fields.object), schema) else { return }
        let error = FormatError(fields.document, field: path, rule: "is not a member of this request")
        throw .invalid(error, hint: hint(path, paths(of: schema)))
    }

    /// The path of the first member that a schema does not have.
    static func unknown(in value: JSON, _ schema: JSON, at path: String = "") -> String? {
        // Without properties of its own a table takes every name.
        guard let object = value.object, let properties = schema["properties"]?.object else { return nil }
        for member in object.members {
            let name = path.isEmpty ? member.key.text : "\(path).\(member.key.text)"
            guard let inner = properties[member.key.text] else { return name }
            if let found = unknown(in: member.value, inner, at: name) { return found }
        }
        return nil
    }

    /// The paths of all members of a schema, those without members of their own.
    static func paths(of schema: JSON, at path: String = "") -> [String] {
        (schema["properties"]?.object?.members ?? []).flatMap { member in
            let name = path.isEmpty ? member.key.text : "\(path).\(member.key.text)"
            let inner = paths(of: member.value, at: name)
            return inner.isEmpty ? [name] : inner
        }
    }

    /// The path that was meant: the same name elsewhere, or one like it beside it or elsewhere; else all that there are.
    static func hint(_ path: String, _ known: [String]) -> String {
        func last(_ path: String) -> String { path.split(separator: ".").last.map(String.init) ?? path }
        func folder(_ path: String) -> Substring { path.dropLast(last(path).count) }
        // An object may be misspelled as well: each has members, so it is a beginning of known paths.
        let objects = known.flatMap { path in
            path.indices.filter { path[$0] == "." }.map { String(path[..<$0]) }
        }
        let beside = (known + objects).filter { folder($0) == folder(path) }
        let meant =
            known.first { last($0) == last(path) }
            ?? last(path).nearest(among: beside.map(last)).map { folder(path) + $0 }
            ?? last(path).nearest(among: known.map(last)).flatMap { name in known.first { last($0) == name } }
        if let meant { return "did you mean \(meant)?" }
        return known.isEmpty ? "it takes none." : "it takes \(known.joined(separator: ", "))."
    }
}

extension ControlSchema {
    /// The schema of a body: no other members than these.
    var asBody: JSON {
        switch self {
        case .inline(let json): Self.closed(json)
        case .named(let name): Self.closed(ControlDescription.schema(named: name))
        }
    }

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
}
