extension Setting {
    /// - Parameters:
    ///   - given: The value as it was written. An empty text resets the setting.
    ///   - takesBareTimes: Whether a duration may have no unit, as in an option.
    package func value(_ given: GivenSetting, takesBareTimes: Bool) throws(SettingFault) -> SettingValue {
        switch (form, given) {
        case (.list(let most), .list(let items)) where items.count > most:
            throw SettingFault("must have at most \(most) values")
        case (.list, .text): throw SettingFault("must be a list")
        default: break
        }
        guard let value = form.value(given, takesBareTimes: takesBareTimes) else { throw SettingFault(rule) }
        return value
    }
}

extension SettingForm {
    fileprivate func value(_ given: GivenSetting, takesBareTimes: Bool) -> SettingValue? {
        switch (self, given) {
        case (.flag, .flag(let isOn)): .flag(isOn)
        case (.flag, .text("true")): .flag(true)
        case (.flag, .text("false")): .flag(false)
        case (.list(let most), .list(let items)): items.count <= most ? .list(items) : nil
        case (.table, .table(let rows)): .table(rows)
        case (.text, .text(let text)), (.path, .text(let text)), (.file, .text(let text)):
            text.isEmpty ? .unset : .text(text)
        case (.choice(let all), .text(let text)): text.isEmpty ? .unset : all.contains(text) ? .text(text) : nil
        case (.count(let range), .text(let text)): text.isEmpty ? .unset : Self.count(text, range)
        case (.bytes(let range), .text(let text)): text.isEmpty ? .unset : Self.bytes(text, range)
        case (.time(let range, let unit, let canBeOff), .text(let text)):
            if text.isEmpty || canBeOff && text == "off" {
                .unset
            } else {
                Self.time(text, range, takesBareTimes ? unit : nil)
            }
        case (.flag, _), (.list, _), (.table, _), (.text, _), (.path, _), (.file, _), (.choice, _), (.count, _),
            (.bytes, _), (.time, _):
            nil
        }
    }

    private static func count(_ text: String, _ range: ClosedRange<Int>) -> SettingValue? {
        Int(text).flatMap { range.contains($0) ? .number($0) : nil }
    }

    private static func bytes(_ text: String, _ range: ClosedRange<Int>) -> SettingValue? {
        let units = ["B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000]
        guard let (thousandths, rest) = number(text), let unit = units[rest], unit > 1 || thousandths % 1_000 == 0
        else { return nil }
        let (product, overflows) = thousandths.multipliedReportingOverflow(by: unit)
        guard !overflows else { return nil }
        let count = product / 1_000
        if count == 0, !range.contains(0) { return .unset }
        return range.contains(count) ? .number(count) : nil
    }

    private static func time(_ text: String, _ range: ClosedRange<Duration>, _ bare: TimeUnit?) -> SettingValue? {
        guard let (thousandths, rest) = number(text), thousandths <= 1_000_000_000_000 else { return nil }
        // Zero needs no unit.
        let unit = TimeUnit(rawValue: rest) ?? (rest.isEmpty ? bare ?? (thousandths == 0 ? .seconds : nil) : nil)
        guard let unit else { return nil }
        let length = unit.length * thousandths / 1_000
        return range.contains(length) ? .time(length) : nil
    }

    /// Returns the number at the beginning of a text, in thousandths, and the rest of the text.
    private static func number(_ text: String) -> (thousandths: Int, rest: String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let whole = Int(digits), whole <= 1_000_000_000_000_000 else { return nil }
        let rest = text.dropFirst(digits.count)
        guard rest.first == "." else { return (whole * 1_000, String(rest)) }
        let decimals = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard (1...3).contains(decimals.count),
            let part = Int(decimals + String(repeating: "0", count: 3 - decimals.count))
        else { return nil }
        return (whole * 1_000 + part, String(rest.dropFirst(1 + decimals.count)))
    }
}
