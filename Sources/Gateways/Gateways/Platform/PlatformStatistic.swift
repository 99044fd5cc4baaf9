package import PatchFormat

/// The identifier an app gives the platform to count this device.
package struct PlatformDeviceID: ParsedName {
    package static let rule = "must be 1 to 128 bytes without control characters"
    package let text: String

    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        self.text = text
    }
}

/// A client's report of one package: that it was installed, or why it was not.
package struct PlatformStatistic: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case succeeded
        case failed(PlatformError.Code)

        var isSuccess: Bool { self == .succeeded }
    }

    package let place: LoaderPlace
    package let outcome: Outcome

    package init(_ place: LoaderPlace, _ outcome: Outcome) {
        self.place = place
        self.outcome = outcome
    }

    /// The path below the root of the statistics server.
    package var path: String {
        (outcome.isSuccess ? PlatformReport.Page.succeeded : .failed).rawValue
    }

    /// The form that is posted: `k=KEY&av=2.1&pv=3&d=DEVICE`, with `&code=5003` for a failure.
    package func form(of app: PlatformAppKey, on device: PlatformDeviceID) -> [UInt8] {
        var fields = [
            ("k", app.text), ("av", place.appVersion.text), ("pv", place.version.description), ("d", device.text),
        ]
        if case .failed(let code) = outcome { fields.append(("code", "\(code.rawValue)")) }
        return Array(fields.map { "\($0)=\(URLLayout.percentEncoded($1))" }.joined(separator: "&").utf8)
    }

    /// Whether a response acknowledges the report: a JSON object whose `succ` is not 0, false or null.
    package static func isAcknowledged(by answer: [UInt8]) -> Bool {
        guard answer.count <= Limits.platformReply, let answer = try? JSON(parsing: answer) else { return false }
        switch answer["succ"] {
        case nil, .null, .bool(false), .integer(0): return false
        case .bool, .integer, .string, .array, .object: return true
        }
    }

    /// Whether both count as one: a device's success with a version counts once, and so does its failure.
    fileprivate func countsAs(_ other: PlatformStatistic) -> Bool {
        place == other.place && outcome.isSuccess == other.outcome.isSuccess
    }
}

/// The reports that a device has sent or must send, each once.
package struct PlatformReports: Equatable, Sendable {
    package struct Report: Equatable, Sendable {
        package let statistic: PlatformStatistic
        package fileprivate(set) var isAcknowledged: Bool

        package init(_ statistic: PlatformStatistic, isAcknowledged: Bool) {
            self.statistic = statistic
            self.isAcknowledged = isAcknowledged
        }
    }

    /// The reports, oldest first.
    package private(set) var reports: [Report]

    package init(_ reports: [Report] = []) {
        self.reports = reports
    }

    /// The reports that are not acknowledged yet.
    package var unsent: [PlatformStatistic] { reports.filter { !$0.isAcknowledged }.map(\.statistic) }

    /// Adds a report unless an equal one exists.
    ///
    /// If there are too many, the oldest acknowledged report is removed, or else the oldest.
    package mutating func note(_ statistic: PlatformStatistic) {
        guard !reports.contains(where: { $0.statistic.countsAs(statistic) }) else { return }
        reports.append(Report(statistic, isAcknowledged: false))
        if reports.count > Limits.platformReports {
            reports.remove(at: reports.firstIndex(where: \.isAcknowledged) ?? 0)
        }
    }

    package mutating func acknowledge(_ statistic: PlatformStatistic) {
        guard let place = reports.firstIndex(where: { $0.statistic.countsAs(statistic) }) else { return }
        reports[place].isAcknowledged = true
    }
}
