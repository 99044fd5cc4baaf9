import ArgumentParser
import CommandKit
import PatchChoice
import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust

extension KeyPolicy {
    static var ofThisProcess: KeyPolicy {
        KeyPolicy(allowsTestingKeys: ProcessEnvironment.allowsTestingKeys)
    }
}

/// The creation time of a document.
struct TimeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time to write, to reproduce a release byte for byte.",
            discussion: "Default: SOURCE_DATE_EPOCH if it is set, else now.",
            valueName: "YYYY-MM-DDTHH:MM:SSZ"
        )
    )
    var at: UTCTime?

    /// - Throws: an error if no time is given and the clock is certainly wrong. Devices would reject the result.
    func time() throws(Failure) -> UTCTime {
        if let given = try given() { return given }
        let clock = ProcessEnvironment.now()
        guard clock.adding(Self.slack) >= Build.time else { throw Self.clockBehind(clock) }
        return clock
    }

    /// The maximum time that a clock may be behind this program's build.
    private static let slack = Duration.minutes(1)

    static func clockBehind(_ clock: UTCTime) -> Failure {
        Failure(
            "the clock is behind: it shows \(clock), and this program was built at \(Build.time)",
            hint: "set the clock, or name the time with --at",
            code: .refused
        )
    }

    /// The given time; nil if there is none.
    func given() throws(Failure) -> UTCTime? {
        if let at { return at }
        return try UTCTime.ofEnvironment()
    }
}

/// The time by which expiry is judged.
struct JudgingTimeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time at which expiry is checked.",
            discussion: "Default: SOURCE_DATE_EPOCH if it is set, else now.",
            valueName: "YYYY-MM-DDTHH:MM:SSZ"
        )
    )
    var at: UTCTime?

    func time() throws(Failure) -> UTCTime {
        if let at { return at }
        return try UTCTime.ofEnvironment() ?? ProcessEnvironment.now()
    }
}

extension UTCTime {
    /// The value of SOURCE_DATE_EPOCH (reproducible-builds.org); nil if it is not set.
    fileprivate static func ofEnvironment() throws(Failure) -> UTCTime? {
        guard let epoch = ProcessEnvironment.environment("SOURCE_DATE_EPOCH") else { return nil }
        guard let seconds = Int(epoch), (0..<253_402_300_800).contains(seconds) else {
            throw Failure("SOURCE_DATE_EPOCH is not a count of seconds", code: .usage)
        }
        return UTCTime(seconds: seconds)
    }
}

extension ProcessEnvironment {
    /// The clock, or the build time of this program if the clock is behind it.
    ///
    /// Expiry is judged by this time.
    static var latestPast: UTCTime { max(now(), Build.time) }
}

extension ReleaseExpiry {
    /// Rejects a release that every device would reject as expired.
    func refuseExpired(at now: UTCTime, _ allowance: String? = nil) throws(Failure) {
        guard let role = expired(at: now) else { return }
        let isOwn = role == release
        throw Failure(
            "\(role.name) expired at \(role.expires), and it is past \(now): no device installs the release",
            hint: (isOwn
                ? "check the clock; else \(role.renewal), with a new expiry"
                : "\(role.renewal), then run `patchsrv trust`")
                + (allowance.map { "\n\($0)" } ?? ""),
            code: .refused
        )
    }

    func warn(at now: UTCTime) {
        for warning in warnings(at: now) { Console.standardError.line(printable("warning: \(warning)")) }
    }
}

/// Whole days or hours: `90d`, `12h`.
struct Validity: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard let count = Int(argument.dropLast()), (1...3_650 * 24).contains(count) else { return nil }
        switch argument.last {
        case "d" where count <= 3_650: duration = .days(count)
        case "h": duration = .hours(count)
        case nil, _?: return nil
        }
    }
}
