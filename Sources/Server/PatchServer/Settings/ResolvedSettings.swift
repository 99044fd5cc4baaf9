import PatchFormat

/// The value and origin of every setting: from an option, else an environment variable, else the file, else the default.
package struct ResolvedSettings: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let name: String
        /// Nil if nothing is set.
        package let value: String?
        package let origin: SettingOrigin
    }

    package let rows: [Row]

    /// - Parameters:
    ///   - arguments: those of the command line, after the command's name.
    ///   - environment: a variable's value.
    package init(
        _ settings: [Setting],
        arguments: [String],
        environment: (String) -> String?,
        file: SettingsFile?
    ) throws(SettingsError) {
        let options = Self.options(in: arguments)
        let layers = settings.map { setting in
            [
                options[setting.name].map { ($0, SettingOrigin.option) },
                environment(setting.variable).map { ($0, .environment(setting.variable)) },
                file?.rows[setting.name].map { [name = file?.name ?? ""] row in (row.value, .file(name, line: row.line))
                },
            ]
        }
        var rows: [Row] = []
        for (index, setting) in settings.enumerated() {
            var found = layers[index].firstIndex { $0 != nil }
            let rivals = settings.indices.filter {
                $0 != index && setting.alternative != nil && settings[$0].alternative == setting.alternative
            }
            let nearest = rivals.compactMap { layers[$0].firstIndex { $0 != nil } }.min()
            if let layer = found, let nearest, nearest < layer { found = nil }
            guard let layer = found, let (value, origin) = layers[index][layer] else {
                rows.append(Row(name: setting.name, value: setting.standard, origin: .standard))
                continue
            }
            guard setting.accepts(value) else {
                throw .badValue(origin, name: setting.name, rule: setting.rule)
            }
            rows.append(Row(name: setting.name, value: value, origin: origin))
        }
        self.rows = rows
    }

    private init(rows: [Row]) {
        self.rows = rows
    }

    /// The settings with another default for a setting that depends on others.
    ///
    /// A value that is set stays.
    package func with(standard: String, of name: String) -> ResolvedSettings {
        ResolvedSettings(
            rows: rows.map { row in
                let changes = row.name == name && row.origin == .standard
                return changes ? Row(name: name, value: standard, origin: .standard) : row
            }
        )
    }

    package func value(of name: String) -> String? { rows.first { $0.name == name }?.value }

    /// Parses `--name value` and `--name=value`; the last one of each name wins.
    package static func options(in arguments: [String]) -> [String: String] {
        var options: [String: String] = [:]
        for (index, argument) in arguments.enumerated() where argument.hasPrefix("--") {
            if let equals = argument.firstIndex(of: "=") {
                options[String(argument[..<equals].dropFirst(2))] = String(argument[argument.index(after: equals)...])
            } else if index + 1 < arguments.count {
                options[String(argument.dropFirst(2))] = arguments[index + 1]
            }
        }
        return options
    }

    /// The arguments that the environment and the file add to the command line.
    package var addedArguments: [String] {
        rows.compactMap { row in
            switch row.origin {
            case .environment, .file: row.value.map { "--\(row.name)=\($0)" }
            case .option, .standard: nil
            }
        }
    }

    /// A settings file with all values, and the origin of each.
    package var text: String {
        rows.map { row in
            guard let value = row.value else { return "\(row.name):  # not set\n" }
            return "\(row.name): \(Self.written(value))  # \(row.origin)\n"
        }.joined()
    }

    /// Unquoted if YAML reads the same text, else in quotes.
    private static func written(_ value: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-".utf8)
        guard value.utf8.allSatisfy(plain.contains), !["", "null"].contains(value), value.first != "-" else {
            return String(decoding: JSON.text(value).fileBytes, as: UTF8.self)
        }
        return value
    }
}

extension SettingOrigin: CustomStringConvertible {
    package var description: String {
        switch self {
        case .option: "the command line"
        case .environment(let variable): variable
        case .file(let file, let line): "\(file):\(line)"
        case .standard: "default"
        }
    }
}
