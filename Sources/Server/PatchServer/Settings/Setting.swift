/// One thing that can be set by an option, by a variable of the environment, or in a file.
package struct Setting: Sendable {
    /// `ready-within`: the option `--ready-within`, the file's key, and in capitals the variable.
    package let name: String
    /// What holds where nobody sets it; nil where nothing does.
    package let standard: String?
    /// Which values there are, for error messages.
    package let rule: String
    let accepts: @Sendable (String) -> Bool
    /// Settings that say the same thing in two ways: one that is nearer sets all of them aside.
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

    /// `PATCHSRV_READY_WITHIN`.
    package var variable: String {
        "PATCHSRV_" + name.uppercased().replacing("-", with: "_")
    }
}

/// Why settings do not make a configuration.
package enum SettingsError: Error, Equatable, Sendable {
    /// The file is not a flat YAML mapping; in which line, as far as that is known.
    case notSettings(file: String, line: Int?, rule: String)
    case unknownKey(file: String, line: Int, key: String, nearest: String?)
    /// The value, or the place of the value, that breaks the setting's rule.
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

/// Where a value comes from; the first that has one wins.
package enum SettingOrigin: Equatable, Sendable {
    case option
    case environment(String)
    case file(String, line: Int)
    case standard
}
