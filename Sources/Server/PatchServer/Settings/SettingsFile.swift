import PatchFormat
import YAMLReading

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
        let tree = try Self.tree(bytes, name)
        for (key, value) in try Self.mapping(of: tree, name) {
            let line = tree[key].mark.line
            guard case .scalar(let key) = tree[key].content else {
                throw .notSettings(file: name, line: line, rule: "must have plain text as keys")
            }
            guard known.contains(where: { $0.name == key.text }) else {
                throw .unknownKey(
                    file: name,
                    line: line,
                    key: key.text,
                    nearest: key.text.nearest(among: known.map(\.name))
                )
            }
            guard case .scalar(let scalar) = tree[value].content else {
                throw .notSettings(file: name, line: line, rule: "has more than one value for \(key.text)")
            }
            if !scalar.isUnset { rows[key.text] = Row(value: scalar.text, line: line) }
        }
        self.rows = rows
    }

    private static func tree(_ bytes: [UInt8], _ name: String) throws(SettingsError) -> YAMLTree {
        let text: String
        do throws(FileText.Problem) { text = try FileText.decode(bytes) } catch {
            throw .notSettings(file: name, line: nil, rule: error.rawValue)
        }
        do throws(YAMLFault) { return try YAMLTree(text) } catch {
            switch error {
            case .syntax(let problem, let mark):
                throw .notSettings(file: name, line: mark.line, rule: "is not YAML: \(problem)")
            case .duplicateKeys(let names, let mark):
                let keys = names.map { "'\($0)'" }.joined(separator: ", ")
                throw .notSettings(file: name, line: mark.line, rule: "sets \(keys) twice")
            case .unreadable, .noMemory: throw .notSettings(file: name, line: nil, rule: "is not YAML")
            }
        }
    }

    private static func mapping(
        of tree: YAMLTree,
        _ name: String
    ) throws(SettingsError) -> [(key: Int, value: Int)] {
        // A file of nothing but comments sets nothing.
        guard let root = tree.root else { return [] }
        switch tree[root].content {
        case .mapping(let pairs): return pairs
        case .scalar(let scalar) where scalar.isUnset && scalar.text.isEmpty: return []
        case .scalar, .sequence:
            throw .notSettings(file: name, line: tree[root].mark.line, rule: "must be a mapping: name: value")
        }
    }
}

extension YAMLTree.Scalar {
    fileprivate var isUnset: Bool { isPlain && ["", "~", "null"].contains(text) }
}
