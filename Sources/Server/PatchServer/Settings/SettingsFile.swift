import PatchFormat
import YAMLReading

/// A file of settings: a flat YAML mapping, `name: value`, where every key is known.
///
/// Values are read as written, so `1.10` stays `1.10`; a key without a value is not set.
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
        let file: YAMLFile
        let pairs: [YAMLFile.Pair]
        do throws(YAMLFile.Fault) {
            file = try YAMLFile(bytes)
            pairs = try file.settings()
        } catch { throw .notSettings(file: name, line: error.line, rule: error.rule) }
        var rows: [String: Row] = [:]
        for pair in pairs {
            guard known.contains(where: { $0.name == pair.key }) else {
                throw .unknownKey(
                    file: name,
                    line: pair.line,
                    key: pair.key,
                    nearest: pair.key.nearest(among: known.map(\.name))
                )
            }
            guard let text = file.text(pair.value) else {
                throw .notSettings(file: name, line: pair.line, rule: "has more than one value for \(pair.key)")
            }
            if !file.isUnset(pair.value) { rows[pair.key] = Row(value: text, line: pair.line) }
        }
        self.rows = rows
    }
}

extension YAMLFile {
    /// The pairs of a settings file; none in a file with only comments.
    fileprivate func settings() throws(Fault) -> [Pair] {
        guard let root = tree.root, text(root)?.isEmpty != true || !isUnset(root) else { return [] }
        return try pairs(of: root)
    }
}
