import PatchFormat
import SystemPackage
import YAMLReading

/// A settings file while it is read.
struct SettingsText {
    struct Row {
        let value: Int
        let line: Int
    }

    let name: String
    let tree: YAMLTree

    static func tree(_ bytes: [UInt8], _ name: String) throws(DaemonSettingsFault) -> YAMLTree {
        let text: String
        do throws(FileText.Problem) { text = try FileText.decode(bytes) } catch {
            throw DaemonSettingsFault(file: name, line: nil, rule: error.rawValue)
        }
        do throws(YAMLFault) { return try YAMLTree(text) } catch {
            switch error {
            case .syntax(let problem, let mark):
                throw DaemonSettingsFault(file: name, line: mark.line, rule: "is not YAML: \(problem)")
            case .duplicateKeys(let names, let mark):
                let keys = names.map { "'\($0)'" }.joined(separator: ", ")
                throw DaemonSettingsFault(file: name, line: mark.line, rule: "sets \(keys) twice")
            case .unreadable, .noMemory: throw DaemonSettingsFault(file: name, line: nil, rule: "is not YAML")
            }
        }
    }

    func fault(_ line: Int?, _ rule: String, hint: String? = nil) -> DaemonSettingsFault {
        DaemonSettingsFault(file: name, line: line, rule: rule, hint: hint)
    }

    func pairs(
        of node: Int,
        what: String,
        at line: Int
    ) throws(DaemonSettingsFault) -> [(key: (text: String, line: Int), value: Int)] {
        guard case .mapping(let pairs) = tree[node].content else {
            throw fault(line, "\(what) must be a mapping: name: value")
        }
        var found: [(key: (text: String, line: Int), value: Int)] = []
        for (key, value) in pairs {
            let line = tree[key].mark.line
            guard case .scalar(let scalar) = tree[key].content else {
                throw fault(line, "\(what) must have plain text as keys")
            }
            found.append(((scalar.text, line), value))
        }
        return found
    }

    /// The members that have a value.
    ///
    /// - Parameter elsewhere: options of a command with a reason why they are no members.
    func rows(
        of node: Int,
        known: [String],
        what: String,
        elsewhere: [String: String] = [:]
    ) throws(DaemonSettingsFault) -> [String: Row] {
        var rows: [String: Row] = [:]
        for (key, value) in try pairs(of: node, what: what, at: tree[node].mark.line) {
            guard known.contains(key.text) else {
                throw fault(
                    key.line,
                    "there is no setting '\(key.text)'",
                    hint: elsewhere[key.text] ?? key.text.nearest(among: known).map { "did you mean \($0)?" }
                        ?? "there are \(known.joined(separator: ", "))."
                )
            }
            if case .scalar(let scalar) = tree[value].content, scalar.isUnset { continue }
            rows[key.text] = Row(value: value, line: key.line)
        }
        return rows
    }

    func text(_ row: Row, _ key: String) throws(DaemonSettingsFault) -> String {
        guard case .scalar(let scalar) = tree[row.value].content else {
            throw fault(row.line, "\(key) must have one value")
        }
        return scalar.text
    }

    func path(_ text: String, _ key: String, _ row: Row) throws(DaemonSettingsFault) -> FilePath {
        let path = FilePath(text)
        guard path.isAbsolute, !text.utf8.contains(0) else { throw fault(row.line, "\(key) must be a path from / on") }
        // Not normalized: `..` after a link leaves the folder that the link leads to (`resolved(named:)`).
        return path
    }

    /// The value of a setting, nil without one, in the setting's form.
    func value<Name: Setting>(
        of setting: Name,
        in rows: [String: Row]
    ) throws(DaemonSettingsFault) -> (value: SettingValue, row: Row)? {
        guard let row = rows[setting.name] else { return nil }
        let given = try given(row, setting)
        let value: SettingValue
        do throws(SettingFault) { value = try setting.value(given, takesBareTimes: false) } catch {
            throw fault(row.line, error.words(setting.name))
        }
        if setting.form == .path || setting.form == .file, case .text(let text) = value {
            _ = try path(text, setting.name, row)
        }
        return (value, row)
    }

    private func given(_ row: Row, _ setting: some Setting) throws(DaemonSettingsFault) -> GivenSetting {
        switch (setting.form, tree[row.value].content) {
        case (.list, .sequence(let items)):
            return .list(
                try items.map { item throws(DaemonSettingsFault) in
                    try text(Row(value: item, line: tree[item].mark.line), setting.name)
                }
            )
        case (.table, .mapping):
            var table: [String: String?] = [:]
            for (key, value) in try pairs(of: row.value, what: setting.name, at: row.line) {
                let row = Row(value: value, line: key.line)
                let isUnset = if case .scalar(let scalar) = tree[value].content { scalar.isUnset } else { false }
                table[key.text] = .some(isUnset ? nil : try text(row, "\(setting.name) \(key.text)"))
            }
            return .table(table)
        case (.table, _): throw fault(row.line, "\(setting.name) must be a mapping: name: value")
        case (.list, .scalar(let scalar)): return .text(scalar.text)
        case (_, _): return .text(try text(row, setting.name))
        }
    }
}

extension YAMLTree.Scalar {
    fileprivate var isUnset: Bool { isPlain && ["", "~", "null"].contains(text) }
}
