package import PatchFormat
import PatchServer
import ServerRecords

/// The result of advancing a schedule, or the schedules of a channel.
package enum RolloutAdvance: Equatable, Sendable {
    case stepped(RolloutSchedule)
    case stopped(RolloutSchedule)
    /// Its next step has a new time, because the clock was set.
    case planned(RolloutSchedule)
    case failed(AppID, ChannelName, OperationError)
}

/// The result of checking all schedules.
package struct RolloutRound: Equatable, Sendable {
    package internal(set) var results: [RolloutAdvance] = []
    /// When the next step is due; nil if no schedule runs.
    package internal(set) var next: UTCTime?
}

extension Rollouts {
    private struct Place: Hashable, Comparable {
        let app: AppID
        let channel: ChannelName

        static func < (left: Place, right: Place) -> Bool {
            (left.app, left.channel) < (right.app, right.channel)
        }
    }

    private struct Kept: Sendable {
        let record: Record
        let schedule: RolloutSchedule
    }

    /// Takes the steps that are due, and ends the schedules of versions that were changed manually, paused or withdrawn.
    ///
    /// A version takes one step at a time, and the next one an interval later, even if this one is late.
    ///
    /// - Parameter app: Only its schedules; nil for all.
    package func advance(_ app: AppID? = nil) async throws(OperationError) -> RolloutRound {
        let running = try await operations.reading { () async throws(RecordError) in
            try await kept(app.map { "\($0)/" } ?? "")
        }
        var round = RolloutRound()
        for place in Set(running.map { Place(app: $0.schedule.app, channel: $0.schedule.channel) }).sorted() {
            do throws(OperationError) { round.results += try await advance(place) } catch {
                if !error.isRace { round.results.append(.failed(place.app, place.channel, error)) }
            }
        }
        guard !running.isEmpty else { return round }
        let left = try await operations.reading { () async throws(RecordError) in
            try await kept(app.map { "\($0)/" } ?? "")
        }
        for one in left {
            if case .running(let next) = one.schedule.state { round.next = min(round.next ?? next, next) }
        }
        return round
    }

    /// The running schedules.
    private func kept(_ prefix: String) async throws(RecordError) -> [Kept] {
        var kept: [Kept] = []
        for record in try await all(prefix) {
            let schedule = try RolloutSchedule(record)
            if schedule.isRunning { kept.append(Kept(record: record, schedule: schedule)) }
        }
        return kept
    }

    private func advance(_ place: Place) async throws(OperationError) -> [RolloutAdvance] {
        let now = records.now()
        // The dial is read before the schedules: a later change of either is detected when the step is taken.
        let dial = try await dial(of: place)
        let running = try await operations.reading { () async throws(RecordError) in
            try await kept(RolloutSchedule.prefix(place.app, place.channel))
        }
        var (steps, endings): ([(Kept, Int)], [(Kept, RolloutSchedule)]) = ([], [])
        for one in running {
            let (label, sha256) = (one.schedule.label, one.schedule.sha256)
            let version = dial?.versions.first { $0.patchID == label.patchID && $0.sha256 == sha256 }
            switch one.schedule.decision(version, at: now) {
            case .wait: break
            case .step(let share): steps.append((one, share))
            case .stepped: endings.append((one, one.schedule.stepped(at: now)))
            case .plan: endings.append((one, one.schedule.replanned(at: now)))
            case .stop(let cause): endings.append((one, one.schedule.stopped(cause, at: now)))
            }
        }
        var results: [RolloutAdvance] = []
        for (one, after) in endings {
            results.append(try await write(after, isStep: after.share != one.schedule.share, over: one.record))
        }
        if let dial, !steps.isEmpty { results += try await take(steps, over: dial, at: now) }
        return results
    }

    /// Nil for a channel that no longer offers anything.
    private func dial(of place: Place) async throws(OperationError) -> DialState? {
        do throws(OperationError) {
            return try await operations.looking(place.app) { (repository) throws(ServerError) in
                try repository.dial(of: place.channel)
            }
        } catch {
            switch error {
            case .server(.dial(.unpublished)), .server(.noChannel), .server(.unknownApp): return nil
            default: throw error
            }
        }
    }

    /// Records a state that the tree already has.
    private func write(
        _ schedule: RolloutSchedule,
        isStep: Bool,
        over record: Record
    ) async throws(OperationError) -> RolloutAdvance {
        let isStopped = if case .stopped = schedule.state { true } else { false }
        try await operations.reading { () async throws(RecordError) in
            try await records.commit(
                // A version that is listed again later starts a new schedule.
                [schedule.isWithdrawn ? .remove(record) : .replace(record, with: schedule.json)],
                noting: AuditEntry.Event(
                    isStopped ? "rollout.stop" : isStep ? "rollout.step" : "rollout.plan",
                    by: .server,
                    app: schedule.app,
                    channel: schedule.channel,
                    after: schedule.audited
                )
            )
        }
        return isStopped ? .stopped(schedule) : isStep ? .stepped(schedule) : .planned(schedule)
    }

    private func take(
        _ steps: [(Kept, Int)],
        over dial: DialState,
        at now: UTCTime
    ) async throws(OperationError) -> [RolloutAdvance] {
        let (channel, app) = (dial.channel, dial.app)
        let changes = steps.map { kept, share in
            DialChange(.rollout(share), of: kept.schedule.label.patchID, .content(kept.schedule.sha256))
        }
        let taken = steps.map { kept, _ in (kept.record, kept.schedule.stepped(at: now)) }
        let operations = operations
        let intent = Intent(.turnDial(channel), of: app, by: .server)
        _ = try await RecordedChange(
            intent,
            by: operations,
            checking: { () async throws(OperationError) in
                for (record, _) in taken { try await check(record) }
            }
        ) { () throws(OperationError) in
            try operations.signing(app) { (repository, key) throws(ServerError) in
                try TurnDial(changes, in: channel, of: repository, expecting: dial.version, signing: key, at: now).run()
            }
        } remembering: { (outcome, intent) throws(OperationError) in
            RecordedOutcome(
                changes: taken.map { record, schedule in .replace(record, with: schedule.json) },
                event: intent.event(
                    after: outcome.state.json.adding([("schedules", .array(taken.map { $0.1.audited }))])
                )
            )
        }.run()
        return taken.map { .stepped($0.1) }
    }

    /// - Throws: `conflict` if the schedule was changed since it was read.
    private func check(_ record: Record) async throws(OperationError) {
        let current = try await operations.reading { () async throws(RecordError) in
            try await records.store.record(record.key)
        }
        guard current?.revision == record.revision else { throw .records(.conflict(record.key)) }
    }
}

extension OperationError {
    /// Whether another process or operator was faster: the next pass decides again.
    fileprivate var isRace: Bool {
        switch self {
        case .server(.dial(.outdated)), .records(.conflict): true
        default: false
        }
    }
}

extension RolloutSchedule {
    fileprivate var isWithdrawn: Bool {
        if case .stopped(.withdrawn, _, _) = state { true } else { false }
    }
}
