package import PatchFormat
import PatchServer
package import ServerRecords

/// A version whose share the server raises step by step, and its progress.
package struct RolloutSchedule: Equatable, Sendable {
    static let collection = "rollout"

    /// Why a schedule ended before its last step.
    package enum Cause: String, CaseIterable, Sendable {
        /// Its share was set manually.
        case turned
        /// It was paused manually.
        case paused
        /// The channel no longer lists it.
        case withdrawn
        /// The signed ceiling is below the next step.
        case ceiling
        /// It failed on devices; the reason describes the failure.
        case health
    }

    package enum State: Equatable, Sendable {
        case running(next: UTCTime)
        case finished(at: UTCTime)
        case stopped(Cause, reason: String?, at: UTCTime)
    }

    package let app: AppID
    package let channel: ChannelName
    package let label: Label
    package let sha256: SHA256Digest
    package let ramp: RolloutRamp
    /// When each step was taken; the last one is in effect.
    package private(set) var taken: [UTCTime]
    package let actor: Actor
    package private(set) var state: State

    /// Nil for a single step, which needs no later action.
    init?(
        _ ramp: RolloutRamp,
        of label: Label,
        _ sha256: SHA256Digest,
        in channel: ChannelName,
        of app: AppID,
        by actor: Actor,
        at now: UTCTime
    ) {
        guard ramp.steps.count > 1 else { return nil }
        (self.app, self.channel, self.label, self.sha256, self.ramp) = (app, channel, label, sha256, ramp)
        (taken, self.actor) = ([now], actor)
        state = .running(next: now.adding(.seconds(ramp.every)))
    }

    /// The share in effect.
    package var share: Int { ramp.steps[taken.count - 1] }
    /// The share of the next step; nil after the last one.
    package var nextShare: Int? { taken.count < ramp.steps.count ? ramp.steps[taken.count] : nil }

    package var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// Plans the next step one interval from now, even if this one was late: no step is skipped or made up for.
    func stepped(at now: UTCTime) -> RolloutSchedule {
        guard isRunning, nextShare != nil else { return self }
        var schedule = self
        schedule.taken.append(now)
        schedule.state =
            schedule.nextShare == nil ? .finished(at: now) : .running(next: now.adding(.seconds(ramp.every)))
        return schedule
    }

    /// Ends a running schedule.
    ///
    /// A share that is set manually also replaces the cause of a schedule that a pause ended, because it ends the pause.
    func stopped(_ cause: Cause, reason: String? = nil, at now: UTCTime) -> RolloutSchedule {
        switch (state, cause) {
        case (.running, _), (.stopped(.paused, _, _), .turned): break
        case (.finished, _), (.stopped, _): return self
        }
        var schedule = self
        schedule.state = .stopped(cause, reason: reason, at: now)
        return schedule
    }

    static func key(_ app: AppID, _ channel: ChannelName, _ patch: PatchID, _ sha256: SHA256Digest) -> RecordKey {
        RecordKey(collection, prefix(app, channel) + "\(patch)/\(sha256.hex)")
    }

    static func prefix(_ app: AppID, _ channel: ChannelName) -> String { "\(app)/\(channel)/" }

    var key: RecordKey { Self.key(app, channel, label.patchID, sha256) }
}

extension RolloutSchedule {
    /// The next action for a schedule.
    enum Decision: Equatable, Sendable {
        /// No action: the schedule has ended, or its next step is not due.
        case wait
        /// The dial must be set to this share.
        case step(Int)
        /// The dial already has the next share: the process ended before it recorded the step.
        case stepped
        /// The planned time does not fit the clock: see ``planned(at:)``.
        case plan
        case stop(Cause)
    }

    /// When the next step is due, by the server's clock; nil after the end.
    ///
    /// It is one interval after the last step. If the clock shows an earlier time than that step, it was ahead then or is behind
    /// now: the step is due at the planned time, and at most one interval from now. After a clock that was behind is corrected, the
    /// first rule applies again, so the step is not early.
    func planned(at now: UTCTime) -> UTCTime? {
        guard case .running(let next) = state, let last = taken.last else { return nil }
        let interval = Duration.seconds(ramp.every)
        return now >= last ? last.adding(interval) : min(next, now.adding(interval))
    }

    /// The schedule with its next step at the planned time.
    func replanned(at now: UTCTime) -> RolloutSchedule {
        guard let next = planned(at: now) else { return self }
        var schedule = self
        schedule.state = .running(next: next)
        return schedule
    }

    /// - Parameter version: Its current state in the dial, or nil if the channel no longer lists it.
    func decision(_ version: DialState.Version?, at now: UTCTime) -> Decision {
        guard case .running(let next) = state, let nextShare else { return .wait }
        guard let version else { return .stop(.withdrawn) }
        if version.isPaused { return .stop(.paused) }
        guard version.share == share else { return version.share == nextShare ? .stepped : .stop(.turned) }
        guard nextShare <= version.ceiling else { return .stop(.ceiling) }
        let planned = planned(at: now) ?? next
        if now >= planned { return .step(nextShare) }
        // An adjustment of the clock by seconds does not need a new plan.
        let difference = planned > next ? planned.since(next) : next.since(planned)
        return difference > .minutes(1) ? .plan : .wait
    }
}

extension DialChange {
    /// The effect of a manual change on a version's schedule.
    enum ScheduleEdit: Equatable, Sendable {
        case begin(RolloutRamp)
        case stop(RolloutSchedule.Cause)
    }

    /// Nil if the schedule continues.
    var scheduleEdit: ScheduleEdit? {
        switch action {
        case .ramp(let ramp): .begin(ramp)
        case .rollout: .stop(.turned)
        case .pause: .stop(.paused)
        case .resume, .headcount: nil
        }
    }

    /// The last change of a version that affects its schedule.
    static func scheduleEdit(_ changes: [DialChange], of version: DialState.Version) -> ScheduleEdit? {
        changes.last { $0.scheduleEdit != nil && $0.isAbout(version) }?.scheduleEdit
    }
}

extension RolloutSchedule {
    init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "rollout")
            try fields.constant("format", "patchline-rollout-v1")
            app = try fields.name("app")
            channel = try fields.name("channel")
            label = Label(patchID: try fields.name("patchId"), version: try fields.name("version"))
            sha256 = try fields.digest("sha256")
            ramp = try RolloutRamp(fields)
            taken = []
            for text in try fields.strings("taken", limit: RolloutRamp.stepLimit) {
                guard let time = UTCTime(text) else { throw fields.broken("taken", "must be times") }
                taken.append(time)
            }
            guard (1...ramp.steps.count).contains(taken.count) else {
                throw fields.broken("taken", "must be 1 to \(ramp.steps.count) times")
            }
            actor = try Actor(try fields.fields("by"))
            switch try fields.string("state") {
            case "running": state = .running(next: try fields.time("next"))
            case "finished": state = .finished(at: try fields.time("ended"))
            case "stopped":
                guard let cause = Cause(rawValue: try fields.string("cause")) else {
                    throw fields.broken("cause", "is not known")
                }
                state = .stopped(
                    cause,
                    reason: try fields.optionalString("reason"),
                    at: try fields.time("ended")
                )
            default: throw fields.broken("state", "must be running, finished or stopped")
            }
        } catch { throw .malformed(record.key, rule: error.description) }
    }

    /// The stored record, also shown by commands and the API.
    package var json: JSON {
        let ending: [(String, JSON?)] =
            switch state {
            case .running(let next): [("state", .text("running")), ("next", .text(next.description))]
            case .finished(let time): [("state", .text("finished")), ("ended", .text(time.description))]
            case .stopped(let cause, let reason, let time):
                [
                    ("state", .text("stopped")), ("cause", .text(cause.rawValue)),
                    ("reason", reason.map { .text($0) }), ("ended", .text(time.description)),
                ]
            }
        return .fields(
            [
                ("format", .text("patchline-rollout-v1")), ("app", .text(app.text)), ("channel", .text(channel.text)),
                ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)),
                ("sha256", .text(sha256.hex)), ("rollout", .integer(share)),
                ("nextRollout", isRunning ? nextShare.map { .integer($0) } : nil),
                ("steps", .array(ramp.steps.map { .integer($0) })), ("every", .integer(ramp.every)),
                ("taken", .array(taken.map { .text($0.description) })), ("by", actor.json),
            ] + ending + [("words", .text(words))]
        )
    }

    /// The part for the audit entry.
    var audited: JSON {
        .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)), ("words", .text(words)),
        ])
    }

    /// One line, without the version's name.
    package var words: String {
        switch state {
        case .running(let next):
            "\(RolloutShare(share)) of devices, " + (nextShare.map { "\(RolloutShare($0)) at \(next)" } ?? "\(next)")
        case .finished(let time): "the schedule ended at \(RolloutShare(share)), \(time)"
        case .stopped(let cause, let reason, let time):
            "the schedule stopped at \(RolloutShare(share)), \(time): \(cause.words)"
                + (reason.map { " (\($0))" } ?? "")
        }
    }
}

extension RolloutSchedule.Cause {
    fileprivate var words: String {
        switch self {
        case .turned: "its share was set by hand"
        case .paused: "it was paused"
        case .withdrawn: "it is no longer listed"
        case .ceiling: "the release keys signed a smaller share than the next step"
        case .health: "it failed on devices"
        }
    }
}
