/// A setting of a store.
///
/// Its name is the same as an option, as a member of the settings file, and in messages.
///
/// The lists ``StoreSetting`` and ``DeviceSetting`` define the options of `serve`, `init` and `set`, the members of the settings
/// file, and those of the local API.
package protocol Setting: CaseIterable, RawRepresentable<String>, Hashable, Sendable {
    var form: SettingForm { get }
    /// The rule for values, for messages: "must be from 0 to 65535".
    var rule: String { get }
    /// The help of the option.
    var about: SettingHelp { get }
}

extension Setting {
    package var name: String { rawValue }
}

/// The help of an option.
package struct SettingHelp: Sendable {
    package let text: String
    /// The name of the value, or nil for a flag.
    package let valueName: String?

    package init(_ text: String, _ valueName: String? = nil) {
        (self.text, self.valueName) = (text, valueName)
    }
}

/// The form of a setting's value.
package enum SettingForm: Equatable, Sendable {
    case flag
    /// Any text. The setting itself checks it.
    case text
    case choice([String])
    /// The path of a file or folder. It must be absolute in the settings file.
    case path
    /// A file whose text is the value. A request contains the text itself.
    case file
    case count(ClosedRange<Int>)
    /// A number of bytes. If the range excludes zero, `0B` resets the setting.
    case bytes(ClosedRange<Int>)
    /// A duration. An option also accepts a number without a unit.
    case time(ClosedRange<Duration>, bare: TimeUnit?, canBeOff: Bool)
    case list(most: Int)
    case table

    package enum TimeUnit: String, Sendable, CaseIterable {
        case milliseconds = "ms"
        case seconds = "s"
        case minutes = "m"
        case hours = "h"
        case days = "d"

        var length: Duration {
            switch self {
            case .milliseconds: .milliseconds(1)
            case .seconds: .seconds(1)
            case .minutes: .seconds(60)
            case .hours: .seconds(3_600)
            case .days: .seconds(86_400)
            }
        }
    }
}

/// A value as it was given, before it is checked.
package enum GivenSetting: Equatable, Sendable {
    case flag(Bool)
    case text(String)
    case list([String])
    /// A table. Nil removes a key.
    case table([String: String?])
}

/// A value in the form of its setting.
package enum SettingValue: Equatable, Sendable {
    /// Resets the setting.
    case unset
    case flag(Bool)
    case text(String)
    /// A count or a number of bytes.
    case number(Int)
    case time(Duration)
    case list([String])
    case table([String: String?])
}

/// A value that violates the rule of its setting.
package struct SettingFault: Error, Equatable, Sendable {
    package let rule: String
    /// The item of a list that violates the rule.
    package let item: String?

    package init(_ rule: String, item: String? = nil) {
        (self.rule, self.item) = (rule, item)
    }

    /// - Parameter name: The setting's name, as the sender wrote it.
    package func words(_ name: String) -> String { name + (item.map { " '\($0)'" } ?? "") + " " + rule }
}
