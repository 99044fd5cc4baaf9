/// A setting that an option, an environment variable or a file can set.
package struct Setting: Sendable {
    /// The name, such as `ready-within`: the option `--ready-within`, the file's key, and in capitals the variable.
    package let name: String
    /// The default, if any.
    package let standard: String?
    /// The accepted values, for error messages.
    package let rule: String
    let accepts: @Sendable (String) -> Bool
    /// Settings with the same text here are alternatives: one from a source with precedence overrides the others.
    let alternative: String?

    package init(
        _ name: String,
        standard: String? = nil,
        alternative: String? = nil,
        rule: String = "must be text on one line",
        accepts: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }
    ) {
        (self.name, self.standard, self.alternative) = (name, standard, alternative)
        (self.rule, self.accepts) = (rule, accepts)
    }

    /// The environment variable, such as `PATCHSRV_READY_WITHIN`.
    package var variable: String {
        "PATCHSRV_" + name.uppercased().replacing("-", with: "_")
    }
}

/// Why settings are not valid.
package enum SettingsError: Error, Equatable, Sendable {
    /// The file is not a flat YAML mapping, with the line if known.
    case notSettings(file: String, line: Int?, rule: String)
    case unknownKey(file: String, line: Int, key: String, nearest: String?)
    /// A value breaks the setting's rule.
    case badValue(SettingOrigin, name: String, rule: String)
}

extension SettingsError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notSettings(let file, let line, let rule): "\(file)\(line.map { ":\($0)" } ?? "") \(rule)"
        case .unknownKey(let file, let line, let key, _): "\(file):\(line): there is no setting '\(key)'"
        case .badValue(.file(let file, let line), let name, let rule): "\(file):\(line): \(name) \(rule)"
        case .badValue(.environment(let variable), _, let rule): "\(variable) \(rule)"
        case .badValue(.option, let name, let rule), .badValue(.standard, let name, let rule): "--\(name) \(rule)"
        }
    }
}

/// The origin of a value, in order of precedence.
package enum SettingOrigin: Equatable, Sendable {
    case option
    case environment(String)
    case file(String, line: Int)
    case standard
}
