extension HTTPDate {
    /// Returns the seconds since 1970 of a date in any of the three forms that a client may send, or nil for other text.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. The name of the day is not
    /// compared with the date, and a second of 60 is accepted (RFC 9110 §5.6.7).
    ///
    /// - Parameter now: Seconds since 1970. A two-digit year that would be more than 50 years in the future is in the past.
    package static func seconds(_ text: String, now: Int) -> Int? {
        let words = text.split(separator: " ")
        if words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" {
            return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
        }
        if words.count == 4, words[0].hasSuffix(","), words[3] == "GMT" {
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, let short = number(date[2], digits: 2...2) else { return nil }
            let thisYear = civilDate(daysSince1970: now / 86_400).year
            let year = thisYear / 100 * 100 + short
            return seconds(
                day: date[0],
                month: date[1],
                year: "\(year > thisYear + 50 ? year - 100 : year)",
                time: words[2]
            )
        }
        guard words.count == 5 else { return nil }
        return seconds(day: words[2], month: words[1], year: words[4], time: words[3])
    }

    private static func seconds(day: Substring, month: Substring, year: Substring, time: Substring) -> Int? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2...2) }
        guard let day = number(day, digits: 1...2), (1...31).contains(day),
            let month = months.firstIndex(of: String(month)), let year = number(year, digits: 4...4), parts.count == 3,
            let hour = parts[0], hour < 24, let minute = parts[1], minute < 60, let second = parts[2], second <= 60
        else { return nil }
        return days(year: year, month: month + 1, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }

    /// The inverse of ``civilDate(daysSince1970:)``.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted >= 0 ? shifted / 400 : (shifted - 399) / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }
}
