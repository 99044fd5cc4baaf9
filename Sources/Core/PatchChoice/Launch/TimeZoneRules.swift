package import PatchFormat

/// The difference between a zone's clock and UTC at any moment: a table of changes, and a rule for the years after it.
///
/// A pure value. ``init(tzif:named:)`` parses the bytes of a file of the system's database.
package struct TimeZoneRules: Equatable, Sendable {
    /// A change of the clock.
    struct Change: Equatable, Sendable {
        /// The moment in seconds since 1970, UTC.
        let time: Int
        /// The offset from then on, in seconds east of UTC.
        let offset: Int
    }

    /// The offset before the first change.
    let first: Int
    /// Sorted by time.
    let changes: [Change]
    /// The rule after the last change, or nil if the last offset stays.
    let yearly: YearlyClock?

    init(first: Int, changes: [Change], yearly: YearlyClock?) {
        (self.first, self.changes, self.yearly) = (first, changes, yearly)
    }

    /// - Parameter offset: The constant offset in seconds east of UTC.
    package init(offset: Int) {
        self.init(first: offset, changes: [], yearly: nil)
    }

    /// The offset in seconds east of UTC.
    package func offset(at time: UTCTime) -> Int {
        if let last = changes.last, time.seconds < last.time {
            let after = firstChange(after: time.seconds)
            return after == 0 ? first : changes[after - 1].offset
        }
        return yearly?.offset(at: time.seconds) ?? changes.last?.offset ?? first
    }

    /// When the offset may change next, or nil if never.
    func nextChange(after time: UTCTime) -> UTCTime? {
        let after = firstChange(after: time.seconds)
        if after < changes.count { return UTCTime(seconds: changes[after].time) }
        return yearly?.nextChange(after: time.seconds).map { UTCTime(seconds: $0) }
    }

    private func firstChange(after seconds: Int) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].time <= seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The two clocks of a zone, and the days of each year on which they change.
///
/// This is the footer of a zone's file, in the form of POSIX's TZ (`CET-1CEST,M3.5.0,M10.5.0/3`), with the hours that RFC 8536
/// adds to it.
struct YearlyClock: Equatable, Sendable {
    /// The standard offset in seconds east of UTC.
    let standard: Int
    let saving: Saving?

    struct Saving: Equatable, Sendable {
        let offset: Int
        let begins: Day
        let ends: Day
    }

    /// A moment of each year, by the clock that is used until then.
    struct Day: Equatable, Sendable {
        enum Form: Equatable, Sendable {
            /// The day of the year from 1 to 365. 29 February is never counted.
            case withoutLeapDay(Int)
            /// The day of the year from 0 to 365.
            case ofYear(Int)
            /// The n-th such weekday of a month, or 5 for the last one. Sunday is 0.
            case weekday(month: Int, week: Int, day: Int)
        }

        let form: Form
        /// Seconds after midnight.
        ///
        /// May be negative or exceed a day.
        let time: Int
    }

    func offset(at seconds: Int) -> Int {
        guard let saving else { return standard }
        return changes(around: seconds).last { $0.time <= seconds }.map { $0.isSaving ? saving.offset : standard }
            ?? standard
    }

    func nextChange(after seconds: Int) -> Int? {
        changes(around: seconds).first { $0.time > seconds }?.time
    }

    /// The changes of the year, of the previous one and of the next one, sorted by time.
    private func changes(around seconds: Int) -> [(time: Int, isSaving: Bool)] {
        guard let saving else { return [] }
        let year = CivilYear(of: seconds)
        return [year.before, year, year.after].flatMap { year in
            [
                (time: saving.begins.seconds(in: year) - standard, isSaving: true),
                (time: saving.ends.seconds(in: year) - saving.offset, isSaving: false),
            ]
        }
        // Permanent daylight saving time ends at the moment when the next one begins. The later change is the valid one.
        .sorted { ($0.time, $0.isSaving ? 1 : 0) < ($1.time, $1.isSaving ? 1 : 0) }
    }
}

extension YearlyClock.Day {
    /// The seconds since 1970, by the zone's own clock.
    func seconds(in year: CivilYear) -> Int {
        let day: Int
        switch form {
        case .withoutLeapDay(let number): day = year.firstDay + number - 1 + (year.isLeap && number >= 60 ? 1 : 0)
        case .ofYear(let number): day = year.firstDay + number
        case .weekday(let month, let week, let weekday):
            let begin = year.firstDay(ofMonth: month)
            // 1 January 1970 was a Thursday, the fourth day after Sunday.
            let first = begin + ((weekday - (begin + 4)) % 7 + 7) % 7
            let length = year.days(inMonth: month)
            let last = first + 7 * ((begin + length - 1 - first) / 7)
            day = min(first + 7 * (week - 1), last)
        }
        return day * 86_400 + time
    }
}

/// A year of the Gregorian calendar.
struct CivilYear: Equatable, Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }

    /// - Parameter seconds: The seconds since 1970, UTC.
    init(of seconds: Int) {
        number = UTCTime(seconds: seconds).year
    }

    var before: CivilYear { CivilYear(number - 1) }
    var after: CivilYear { CivilYear(number + 1) }

    var isLeap: Bool {
        number.isMultiple(of: 4) && (!number.isMultiple(of: 100) || number.isMultiple(of: 400))
    }

    /// The number of days from 1970 to 1 January.
    var firstDay: Int {
        func floored(_ years: Int, by divisor: Int) -> Int {
            let quotient = years / divisor
            return years % divisor < 0 ? quotient - 1 : quotient
        }
        let past = number - 1
        return past * 365 + floored(past, by: 4) - floored(past, by: 100) + floored(past, by: 400) - 719_162
    }

    func days(inMonth month: Int) -> Int {
        [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    func firstDay(ofMonth month: Int) -> Int {
        (1..<month).reduce(firstDay) { $0 + days(inMonth: $1) }
    }
}
