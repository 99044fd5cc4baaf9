import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import Terminal

extension KeyPolicy {
    static var ofThisProcess: KeyPolicy {
        KeyPolicy(allowsTestingKeys: ProcessEnvironment.allowsTestingKeys)
    }
}

/// When a document says that it was made.
struct TimeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time to write, for a release that can be made again byte for byte.",
            discussion: "Default: SOURCE_DATE_EPOCH where it is set, else now.",
            valueName: "YYYY-MM-DDTHH:MM:SSZ"
        )
    )
    var at: UTCTime?

    func time() throws(Failure) -> UTCTime { try given() ?? ProcessEnvironment.now() }

    /// Nil where nobody named a time.
    func given() throws(Failure) -> UTCTime? {
        if let at { return at }
        return try UTCTime.ofEnvironment()
    }
}

/// By which time it is judged what has expired.
struct JudgingTimeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time to judge by what has expired.",
            discussion: "Default: SOURCE_DATE_EPOCH where it is set, else now.",
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
    /// What SOURCE_DATE_EPOCH says (reproducible-builds.org); nil where it is not set.
    fileprivate static func ofEnvironment() throws(Failure) -> UTCTime? {
        guard let epoch = ProcessEnvironment.environment("SOURCE_DATE_EPOCH") else { return nil }
        guard let seconds = Int(epoch), (0..<253_402_300_800).contains(seconds) else {
            throw Failure("SOURCE_DATE_EPOCH is not a count of seconds", exitCode: .usage)
        }
        return UTCTime(seconds: seconds)
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
