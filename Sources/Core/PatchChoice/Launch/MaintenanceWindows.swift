package import PatchFormat

/// The hours of a week in which new versions may start, by the clock of a time zone.
package struct MaintenanceWindows: Equatable, Sendable {
    package static let most = 32

    /// If empty, new versions may start at any time.
    package var windows: [Window]
    package var zone: WindowZone

    package init(_ windows: [Window] = [], zone: WindowZone = .utc) {
        (self.windows, self.zone) = (windows, zone)
    }

    private static let week = 7 * 86_400
    /// A zone's clock changes a few times a year.
    ///
    /// A file with more changes within weeks is not plausible.
    private static let mostChanges = 64

    /// When a window opens next, or nil while one is open, or if there is none.
    ///
    /// A window is open while the zone's clock shows a time inside it. Hours that a change of the clock skips do not occur.
    /// Hours that it repeats are inside the window both times.
    ///
    /// - Parameter clock: The clock of ``zone``.
    package func opens(after time: UTCTime, by clock: TimeZoneRules) -> UTCTime? {
        guard !windows.isEmpty else { return nil }
        guard var left = wait(at: time, clock.offset(at: time)) else { return nil }
        var now = time
        for _ in 0..<Self.mostChanges {
            let opens = now.adding(.seconds(left))
            guard let change = clock.nextChange(after: now), change <= opens else { return opens }
            guard let next = wait(at: change, clock.offset(at: change)) else { return change }
            (now, left) = (change, next)
        }
        return now.adding(.seconds(left))
    }

    /// The seconds until a window opens if the clock does not change before, or nil while one is open.
    private func wait(at time: UTCTime, _ offset: Int) -> Int? {
        // 1 January 1970 was a Thursday, the fourth day.
        let local = time.seconds + offset + 3 * 86_400
        let now = ((local % Self.week) + Self.week) % Self.week
        var least = Self.week
        for window in windows {
            for start in window.starts {
                let since = (now - start + Self.week) % Self.week
                if since < window.length { return nil }
                least = min(least, Self.week - since)
            }
        }
        return least
    }

    /// A window such as `mon-fri 02:00-04:00`, `sat,sun 22:00-06:00`, `daily 03:00-04:30`, or hours alone, for every day.
    package struct Window: Hashable, Sendable, CustomStringConvertible {
        package static let rule =
            "must be days and hours, such as 'mon-fri 02:00-04:00', 'sat,sun 22:00-06:00' or '02:00-04:00' for every day"
        private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

        /// The window with days in lower case and hours of two digits.
        package let description: String
        /// The starts in seconds of the week, from Monday.
        let starts: [Int]
        /// The length in seconds.
        let length: Int

        package init?(_ text: String) {
            var parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
            if parts.count == 1 { parts.insert("daily", at: 0) }
            guard parts.count == 2, let days = Self.days(parts[0]) else { return nil }
            let hours = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard hours.count == 2, let start = Self.minutes(hours[0]), let end = Self.minutes(hours[1]),
                start < 1_440, start != end
            else { return nil }
            description = "\(parts[0]) \(Self.clock(start))-\(Self.clock(end))"
            starts = days.sorted().map { $0 * 86_400 + start * 60 }
            length = (end > start ? end - start : end + 1_440 - start) * 60
        }

        private static func days(_ text: Substring) -> Set<Int>? {
            if text == "daily" { return Set(0...6) }
            var days: Set<Int> = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
                guard ends.count <= 2, let first = names.firstIndex(of: ends[0]),
                    let last = names.firstIndex(of: ends[ends.count - 1])
                else { return nil }
                // The days may wrap around: from Friday to Monday there are four.
                for day in 0...((last - first + 7) % 7) { days.insert((first + day) % 7) }
            }
            return days
        }

        /// The minutes of `02:00` or `2:00`.
        private static func minutes(_ text: Substring) -> Int? {
            let digits = text.utf8.count == 4 ? "0\(text)" : text
            return ZoneOffset.clock(digits).flatMap { $0 <= 1_440 ? $0 : nil }
        }

        private static func clock(_ minutes: Int) -> String {
            let (hours, rest) = minutes.quotientAndRemainder(dividingBy: 60)
            return (hours < 10 ? "0\(hours)" : "\(hours)") + (rest < 10 ? ":0\(rest)" : ":\(rest)")
        }
    }
}

/// A constant difference between a clock and UTC: `UTC`, `+01:00`, `-03:30`.
package struct ZoneOffset: Hashable, Sendable, CustomStringConvertible {
    package static let utc = ZoneOffset(minutes: 0)

    package let minutes: Int

    private init(minutes: Int) { self.minutes = minutes }

    package init?(_ text: String) {
        if text == "UTC" {
            self = .utc
            return
        }
        guard let sign = text.first, sign == "+" || sign == "-", let minutes = Self.clock(text.dropFirst()),
            minutes <= 14 * 60
        else { return nil }
        self.init(minutes: sign == "-" ? -minutes : minutes)
    }

    package var description: String {
        guard minutes != 0 else { return "UTC" }
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        return (minutes < 0 ? "-" : "+") + (hours < 10 ? "0\(hours)" : "\(hours)")
            + (rest < 10 ? ":0\(rest)" : ":\(rest)")
    }

    /// The minutes of `HH:MM`.
    static func clock(_ text: Substring) -> Int? {
        let digits = Array(text.utf8)
        guard digits.count == 5, digits[2] == UInt8(ascii: ":") else { return nil }
        func digit(_ index: Int) -> Int? {
            let value = Int(digits[index]) - 48
            return (0...9).contains(value) ? value : nil
        }
        guard let a = digit(0), let b = digit(1), let c = digit(3), let d = digit(4), c < 6 else { return nil }
        let (hours, minutes) = (a * 10 + b, c * 10 + d)
        return hours < 24 || hours == 24 && minutes == 0 ? hours * 60 + minutes : nil
    }
}
