/// A moment in whole seconds, UTC, with the only text form `YYYY-MM-DDTHH:MM:SSZ` (TUF 4.2.3).
package struct UTCTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since 1970-01-01T00:00:00Z.
    package let seconds: Int

    /// The moments that have a text form: 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    ///
    /// Differences of two such moments, and the sum with a duration, fit any integer.
    package static let range = -62_167_219_200...253_402_300_799

    /// Clamps to the range that has a text form, because a clock may show any value.
    package init(seconds: Int) {
        self.seconds = min(max(seconds, Self.range.lowerBound), Self.range.upperBound)
    }

    /// Nil unless `text` has exactly the form `YYYY-MM-DDTHH:MM:SSZ` and names a real moment.
    package init?(_ text: String) {
        let utf8 = Array(text.utf8)
        guard utf8.count == 20 else { return nil }
        for (index, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "Z")] {
            guard utf8[index] == Array(mark.utf8)[0] else { return nil }
        }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in utf8[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        seconds = Self.dayNumber(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// The year of the Gregorian calendar in UTC.
    package var year: Int { Self.date(of: Int((Double(seconds) / 86_400).rounded(.down))).year }

    package var description: String {
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        let second = seconds - day * 86_400
        let (year, month, dayOfMonth) = Self.date(of: day)
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let yearText = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
        return "\(yearText)-\(two(month))-\(two(dayOfMonth))T"
            + "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }

    /// The sum, clamped to the range that has a text form.
    package func adding(_ duration: Duration) -> UTCTime {
        let (sum, isOver) = seconds.addingReportingOverflow(Int(clamping: duration.components.seconds))
        return UTCTime(seconds: isOver ? (duration < .zero ? .min : .max) : sum)
    }

    /// The duration from `other` to this moment.
    ///
    /// Negative if `other` is later.
    package func since(_ other: UTCTime) -> Duration {
        .seconds(seconds - other.seconds)
    }

    package static func < (left: UTCTime, right: UTCTime) -> Bool {
        left.seconds < right.seconds
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let leap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar, counted in eras of 400 years from 1 March.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(of dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Duration {
    package static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
    package static func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }
    package static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
