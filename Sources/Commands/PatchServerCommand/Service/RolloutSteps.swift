import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServiceLifecycle

/// The steps of rollout schedules in `serve` and `refresh`, and their reports.
enum RolloutSteps {
    /// The timer to run beside a server, or nil if this server signs nothing or has no records.
    ///
    /// - Parameter operations: The operations of the release service, if it runs.
    static func timer(
        _ operations: ReleaseOperations?,
        _ folder: ServerFolder,
        _ refresh: RefreshOptions,
        _ keys: RefreshOptions.Keys,
        log: ServerLog
    ) throws -> (any Service)? {
        guard case .every = refresh.refreshEvery else { return nil }
        let isKnown = try operations != nil || DiskFiles().status(of: folder.recordsFile) != nil
        guard isKnown else { return nil }
        return RolloutTimer(
            Rollouts(try operations ?? folder.operations(openKey: keys.open)),
            clock: .continuous,
            report: { result in
                let (level, line, app) = logLine(result)
                log.say(level, printable(line), app: app)
            },
            failed: { error in log.say(.error, printable(unread(error))) }
        )
    }

    /// The log line for a result.
    static func logLine(_ result: RolloutAdvance) -> (level: LogLine.Level, line: String, app: AppID) {
        switch result {
        case .stepped(let schedule): (.info, line(schedule), schedule.app)
        case .stopped(let schedule): (.warning, line(schedule), schedule.app)
        case .planned(let schedule):
            (.warning, "\(line(schedule)): planned again, because the clock was set", schedule.app)
        case .failed(let app, let channel, let error):
            (.error, "\(channel): a step of a rollout failed: \(words(error))", app)
        }
    }

    /// The schedule on one line: `rollout of web 2.1.0 in production: 5% of devices, 25% at …`.
    static func line(_ schedule: RolloutSchedule) -> String {
        "rollout of \(schedule.label) in \(schedule.channel): \(schedule.words)"
    }

    static func unread(_ error: OperationError) -> String { "the rollout schedules cannot be read: \(words(error))" }

    private static func words(_ error: OperationError) -> String { Failure(of: error)?.message ?? "\(error)" }
}
