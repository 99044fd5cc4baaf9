import PatchFormat
import Yams

/// A file of settings: a flat YAML mapping, `name: value`, where every key is known.
///
/// Values are text as they are written, so `1.10` stays `1.10`; one without a value is not set.
package struct SettingsFile: Equatable, Sendable {
    package static let limit = 65_536

    struct Row: Equatable, Sendable {
        let value: String
        let line: Int
    }

    let name: String
    let rows: [String: Row]

    /// - Parameter name: for error messages.
    package init(_ bytes: [UInt8], named name: String, known: [Setting]) throws(SettingsError) {
        self.name = name
        var rows: [String: Row] = [:]
        for (key, value) in try Self.mapping(bytes, name) {
            let line = key.mark?.line ?? 1
            guard case .scalar(let key) = key else {
                throw .notSettings(file: name, line: line, rule: "must have plain text as keys")
            }
            guard known.contains(where: { $0.name == key.string }) else {
                throw .unknownKey(
                    file: name,
                    line: line,
                    key: key.string,
                    nearest: key.string.nearest(among: known.map(\.name))
                )
            }
            guard case .scalar(let scalar) = value else {
                throw .notSettings(file: name, line: line, rule: "has more than one value for \(key.string)")
            }
            let isUnset = scalar.style == .plain && ["", "~", "null"].contains(scalar.string)
            if !isUnset { rows[key.string] = Row(value: scalar.string, line: line) }
        }
        self.rows = rows
    }

    private static func mapping(_ bytes: [UInt8], _ name: String) throws(SettingsError) -> [(key: Node, value: Node)] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .notSettings(file: name, line: nil, rule: "is not UTF-8")
        }
        let root: Node?
        do { root = try Yams.compose(yaml: text) } catch { throw Self.described(error, name) }
        // A file of nothing but comments sets nothing.
        guard let root, root != Node("") else { return [] }
        guard case .mapping(let mapping) = root else {
            throw .notSettings(file: name, line: root.mark?.line, rule: "must be a mapping: name: value")
        }
        return mapping.map { ($0.key, $0.value) }
    }

    private static func described(_ error: any Error, _ name: String) -> SettingsError {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
            .composer(_, let problem, let mark, _)?:
            return .notSettings(file: name, line: mark.line, rule: "is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context)?:
            let keys = duplicates.sorted().map { "'\($0)'" }.joined(separator: ", ")
            return .notSettings(file: name, line: context.mark.line, rule: "sets \(keys) twice")
        case .no?, .memory?, .reader?, .writer?, .emitter?, .representer?, .dataCouldNotBeDecoded?, nil:
            return .notSettings(file: name, line: nil, rule: "is not YAML")
        }
    }
}
