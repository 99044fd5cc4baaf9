package import PatchFormat

extension TimeZoneRules {
    /// The maximum size of a zone's file in bytes.
    ///
    /// The largest ones of the database have less than 4,000.
    package static let longestFile = 65_536

    /// Reads a file of the system's database: TZif of version 2 to 4 (RFC 9636).
    ///
    /// Files of version 1 are rejected because they end in 2037. Files that count leap seconds are rejected because they would be
    /// wrong by half a minute.
    ///
    /// - Parameter name: The name of the file in errors.
    package init(tzif bytes: [UInt8], named name: String) throws(FormatError) {
        var input = TimeZoneInput(bytes: bytes[...], name: name)
        let old = try input.header()
        // The block of version 1 exists for programs that only know that version.
        try input.skip(old.size(ofTimes: 4))
        let header = try input.header()
        guard header.leapSeconds == 0 else { throw input.broken("counts leap seconds") }
        guard header.types > 0 else { throw input.broken("has no clock") }
        var times: [Int] = []
        for _ in 0..<header.times {
            let time = try input.integer(bytes: 8)
            if let last = times.last, time <= last { throw input.broken("has changes out of order") }
            times.append(time)
        }
        let indexes = try input.take(header.times).map(Int.init)
        var offsets: [Int] = []
        for _ in 0..<header.types {
            let offset = try input.integer(bytes: 4)
            guard abs(offset) <= Self.largestOffset else { throw input.broken("has an offset of more than 26 hours") }
            offsets.append(offset)
            // Skips whether it is daylight saving time, and its name.
            try input.skip(2)
        }
        guard indexes.allSatisfy({ $0 < offsets.count }) else { throw input.broken("names a clock that it lacks") }
        try input.skip(header.characters + header.standards + header.universals)
        self.init(
            first: offsets[0],
            changes: zip(times, indexes).map { Change(time: $0, offset: offsets[$1]) },
            yearly: try input.footer()
        )
    }

    /// The largest offset in seconds, by RFC 9636 §3.2.
    fileprivate static let largestOffset = 26 * 3_600
}

/// The remaining bytes of a zone's file.
private struct TimeZoneInput {
    var bytes: ArraySlice<UInt8>
    let name: String

    struct Header {
        let universals, standards, leapSeconds, times, types, characters: Int

        /// The size in bytes of the block after this header, whose moments have so many bytes.
        func size(ofTimes bytes: Int) -> Int {
            times * (bytes + 1) + types * 6 + characters + leapSeconds * (bytes + 4) + standards + universals
        }
    }

    func broken(_ rule: String) -> FormatError { FormatError(name, rule: rule) }

    mutating func take(_ count: Int) throws(FormatError) -> ArraySlice<UInt8> {
        guard count <= bytes.count else { throw broken("ends early") }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    mutating func skip(_ count: Int) throws(FormatError) { _ = try take(count) }

    /// Reads a signed big-endian integer.
    mutating func integer(bytes count: Int) throws(FormatError) -> Int {
        let taken = try take(count)
        let bits = taken.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return count == 4 ? Int(Int32(truncatingIfNeeded: bits)) : Int(Int64(bitPattern: bits))
    }

    mutating func header() throws(FormatError) -> Header {
        guard Array(try take(4)) == Array("TZif".utf8) else { throw broken("is not a time zone (TZif)") }
        let version = try take(1).first ?? 0
        guard (UInt8(ascii: "2")...UInt8(ascii: "4")).contains(version) else {
            throw broken("is of version 1, without the years after 2037")
        }
        try skip(15)
        var counts: [Int] = []
        for _ in 0..<6 {
            let count = try integer(bytes: 4)
            // No file is larger than that.
            guard (0...TimeZoneRules.longestFile).contains(count) else { throw broken("ends early") }
            counts.append(count)
        }
        return Header(
            universals: counts[0],
            standards: counts[1],
            leapSeconds: counts[2],
            times: counts[3],
            types: counts[4],
            characters: counts[5]
        )
    }

    /// Reads the last line, which ends the file.
    mutating func footer() throws(FormatError) -> YearlyClock? {
        guard bytes.count >= 2, bytes.first == 0x0A, bytes.last == 0x0A else { throw broken("has no last line") }
        let line = Array(bytes.dropFirst().dropLast())
        guard !line.isEmpty else { return nil }
        guard let clock = YearlyClock(line) else { throw broken("has a last line that is not a rule") }
        return clock
    }
}

extension YearlyClock {
    /// Parses a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    ///
    /// Returns nil for any other text.
    init?(_ text: [UInt8]) {
        var rest = ClockText(rest: text[...])
        guard rest.takeName(), let west = rest.takeTime(hours: 24) else { return nil }
        standard = -west
        guard !rest.isEmpty else {
            saving = nil
            return
        }
        guard rest.takeName() else { return nil }
        var offset = standard + 3_600
        if !rest.begins(with: ",") {
            guard let west = rest.takeTime(hours: 24) else { return nil }
            offset = -west
        }
        guard rest.take(","), let begins = rest.takeDay(), rest.take(","), let ends = rest.takeDay(), rest.isEmpty
        else {
            return nil
        }
        saving = Saving(offset: offset, begins: begins, ends: ends)
    }
}

/// The remaining text of a rule.
private struct ClockText {
    var rest: ArraySlice<UInt8>

    var isEmpty: Bool { rest.isEmpty }

    func begins(with mark: Character) -> Bool { rest.first == mark.asciiValue }

    mutating func take(_ mark: Character) -> Bool {
        guard begins(with: mark) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads a name such as `CET` or `<+03>`, of three bytes or more.
    mutating func takeName() -> Bool {
        let isQuoted = take("<")
        let name = rest.prefix { byte in
            let isLetter = (0x41...0x5A).contains(byte & 0xDF)
            return isLetter || isQuoted && ((0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D)
        }
        rest = rest.dropFirst(name.count)
        return name.count >= 3 && (!isQuoted || take(">"))
    }

    mutating func takeNumber(in range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, digits.count <= 3 else { return nil }
        rest = rest.dropFirst(digits.count)
        let number = digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        return range.contains(number) ? number : nil
    }

    /// Reads a time such as `-1`, `+5:30` or `2:00:00`, in seconds.
    mutating func takeTime(hours most: Int) -> Int? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard let hours = takeNumber(in: 0...most) else { return nil }
        var seconds = hours * 3_600
        for unit in [60, 1] {
            guard take(":") else { break }
            guard let count = takeNumber(in: 0...59) else { return nil }
            seconds += count * unit
        }
        return isNegative ? -seconds : seconds
    }

    /// Reads a day such as `M3.5.0/2`, `J60` or `59`.
    mutating func takeDay() -> YearlyClock.Day? {
        let form: YearlyClock.Day.Form
        if take("M") {
            guard let month = takeNumber(in: 1...12), take("."), let week = takeNumber(in: 1...5), take("."),
                let day = takeNumber(in: 0...6)
            else { return nil }
            form = .weekday(month: month, week: week, day: day)
        } else if take("J") {
            guard let day = takeNumber(in: 1...365) else { return nil }
            form = .withoutLeapDay(day)
        } else {
            guard let day = takeNumber(in: 0...365) else { return nil }
            form = .ofYear(day)
        }
        guard take("/") else { return YearlyClock.Day(form: form, time: 7_200) }
        guard let time = takeTime(hours: 167) else { return nil }
        return YearlyClock.Day(form: form, time: time)
    }
}
