import Glibc
import NIOConcurrencyHelpers

/// The date of a message, `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let latest = NIOLockedValueBox(Latest())

    package static var now: String { text(at: second) }

    /// The wall clock, in seconds since 1970 and within four-digit years.
    ///
    /// Nothing else in HTTPCore and HTTPFiles reads it.
    package static var second: Int { clamped(Glibc.time(nil)) }

    package static func clamped(_ second: Int) -> Int { min(max(second, -62_167_219_200), 253_402_300_799) }

    /// Returns ``text(secondsSince1970:)``, made once for each second.
    package static func text(at second: Int) -> String {
        latest.withLockedValue { $0.text(at: second) }
    }

    /// Remembers the text of the second that was last requested.
    struct Latest: Sendable {
        private(set) var second: Int?
        private(set) var text = ""

        mutating func text(at second: Int) -> String {
            if self.second != second {
                self.second = second
                text = HTTPDate.text(secondsSince1970: second)
            }
            return text
        }
    }

    package static func text(secondsSince1970 seconds: Int) -> String {
        let days = seconds.floorDivided(by: 86_400)
        let ofDay = seconds - days * 86_400
        let (year, month, day) = civilDate(daysSince1970: days)
        let weekday = weekdays[(days + 4) - (days + 4).floorDivided(by: 7) * 7]
        let time = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map { padded($0, to: 2) }.joined(separator: ":")
        return "\(weekday), \(padded(day, to: 2)) \(months[month - 1]) \(padded(year, to: 4)) \(time) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The proleptic Gregorian date, counted in 400-year eras that begin in March so that the leap day comes last.
    static func civilDate(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * ofYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, ofYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    fileprivate func floorDivided(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
