import HTTPAPI
import HTTPFiles
import PatchFormat

/// Rejects names that the description of a request does not contain.
///
/// Otherwise a misspelled setting would be ignored.
enum ControlNames {
    static func check(_ call: ControlCall, of route: ControlRoute) throws(APIProblem) {
        let known = route.query.map(\.name)
        let badEscape = FormatError("the query", rule: "has a percent sign without two hex digits behind it")
        for member in call.members {
            guard let name = member.name else { throw .invalid(badEscape) }
            guard known.contains(name) else {
                let error = FormatError("the query", field: name, rule: "is not a parameter of this request")
                throw .invalid(error, hint: hint(name, known))
            }
            // Otherwise the parameter would be ignored.
            guard member.value(plusIsSpace: true) != nil else { throw .invalid(badEscape) }
        }
        // The route reports an unreadable body.
        guard !call.request.body.isEmpty, let fields = try? call.fields() else { return }
        var schema = APISchema.object([])
        if case .json(let taken, _, _, _) = route.body { schema = taken }
        guard let path = schema.unknownMember(in: .object(fields.object)) else { return }
        let error = FormatError(fields.document, field: path, rule: "is not a member of this request")
        throw .invalid(error, hint: hint(path, schema.memberPaths))
    }

    /// Suggests the path that was probably meant: one with the same name elsewhere, or a similar one.
    ///
    /// Otherwise lists all paths.
    static func hint(_ path: String, _ known: [String]) -> String {
        func last(_ path: String) -> String { path.split(separator: ".").last.map(String.init) ?? path }
        func folder(_ path: String) -> Substring { path.dropLast(last(path).count) }
        // An object may be misspelled as well. Each object is the beginning of the paths of its members.
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
