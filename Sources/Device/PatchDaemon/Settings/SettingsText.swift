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
    let file: YAMLFile
    var tree: YAMLTree { file.tree }

    init(_ bytes: [UInt8], named name: String) throws(DaemonSettingsFault) {
        self.name = name
        do throws(YAMLFile.Fault) { file = try YAMLFile(bytes) } catch {
            throw DaemonSettingsFault(file: name, line: error.line, rule: error.rule)
        }
    }

    func fault(_ line: Int?, _ rule: String, hint: String? = nil) -> DaemonSettingsFault {
        DaemonSettingsFault(file: name, line: line, rule: rule, hint: hint)
    }

    func pairs(
        of node: Int,
        what: String,
        at line: Int
    ) throws(DaemonSettingsFault) -> [YAMLFile.Pair] {
        guard case .mapping = tree[node].content else { throw fault(line, "\(what) must be a mapping: name: value") }
        do throws(YAMLFile.Fault) { return try file.pairs(of: node) } catch {
            throw fault(error.line, "\(what) \(error.rule)")
        }
    }

    /// Returns the members that have a value.
    ///
    /// - Parameter elsewhere: Options of a command with the reason why they are not members.
    func rows(
        of node: Int,
        known: [String],
        what: String,
        elsewhere: [String: String] = [:]
    ) throws(DaemonSettingsFault) -> [String: Row] {
        var rows: [String: Row] = [:]
        for pair in try pairs(of: node, what: what, at: tree[node].mark.line) {
            guard known.contains(pair.key) else {
                throw fault(
                    pair.line,
                    "there is no setting '\(pair.key)'",
                    hint: elsewhere[pair.key] ?? pair.key.nearest(among: known).map { "did you mean \($0)?" }
                        ?? "there are \(known.joined(separator: ", "))."
                )
            }
            if !file.isUnset(pair.value) { rows[pair.key] = Row(value: pair.value, line: pair.line) }
        }
        return rows
    }

    func text(_ row: Row, _ key: String) throws(DaemonSettingsFault) -> String {
        guard let text = file.text(row.value) else { throw fault(row.line, "\(key) must have one value") }
        return text
    }

    func path(_ text: String, _ key: String, _ row: Row) throws(DaemonSettingsFault) -> FilePath {
        let path = FilePath(text)
        guard path.isAbsolute, !text.utf8.contains(0) else { throw fault(row.line, "\(key) must be a path from / on") }
        // The path is not normalized, because `..` after a link leaves the folder that the link leads to (`resolved(named:)`).
        return path
    }

    /// Returns the value of a setting in the setting's form, or nil if it is missing.
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
            for pair in try pairs(of: row.value, what: setting.name, at: row.line) {
                let row = Row(value: pair.value, line: pair.line)
                table[pair.key] = .some(file.isUnset(pair.value) ? nil : try text(row, "\(setting.name) \(pair.key)"))
            }
            return .table(table)
        case (.table, _): throw fault(row.line, "\(setting.name) must be a mapping: name: value")
        case (.list, .scalar(let scalar)): return .text(scalar.text)
        case (_, _): return .text(try text(row, setting.name))
        }
    }
}
