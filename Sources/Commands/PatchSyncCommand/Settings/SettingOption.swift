import ArgumentParser
import PatchDaemon

/// Options made from the lists of settings (``StoreSetting``, ``DeviceSetting``).
extension ArgumentHelp {
    init(_ setting: some Setting) {
        let about = setting.about
        self.init(stringLiteral: about.text)
        valueName = about.valueName
    }
}

extension Option where Value == String? {
    init(_ setting: some Setting) {
        self.init(name: .customLong(setting.name), help: ArgumentHelp(setting))
    }
}

extension Option where Value == [String] {
    init(wrappedValue: [String], _ setting: some Setting) {
        self.init(
            wrappedValue: wrappedValue,
            name: .customLong(setting.name),
            parsing: .singleValue,
            help: ArgumentHelp(setting)
        )
    }
}

extension Flag where Value == Bool {
    init(wrappedValue: Bool, _ setting: some Setting) {
        self.init(wrappedValue: wrappedValue, name: .customLong(setting.name), help: ArgumentHelp(setting))
    }
}

extension Flag where Value == Bool? {
    /// Creates a flag with the negation `--no-NAME`.
    init(_ setting: some Setting) {
        self.init(name: .customLong(setting.name), inversion: .prefixedNo, help: ArgumentHelp(setting))
    }
}

extension GivenSetting {
    /// Returns the given value, or nil for an option that was not given.
    static func option(_ text: String?) -> GivenSetting? { text.map { .text($0) } }
    static func option(_ items: [String]) -> GivenSetting? { items.isEmpty ? nil : .list(items) }
    static func option(_ flag: Bool) -> GivenSetting? { flag ? .flag(true) : nil }
    static func option(_ flag: Bool?) -> GivenSetting? { flag.map { .flag($0) } }
}

extension Setting {
    /// - Throws: An error that contains the option's name.
    func value(_ given: GivenSetting) throws(ValidationError) -> SettingValue {
        do throws(SettingFault) { return try value(given, takesBareTimes: true) } catch {
            throw ValidationError(error.words("--\(name)"))
        }
    }
}
