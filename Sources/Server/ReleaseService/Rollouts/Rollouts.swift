package import PatchFormat
package import PatchServer
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import ServerRecords

/// Schedules and defaults of rollouts, which are stored on the server and not published.
package struct Rollouts: Sendable {
    private static let defaults = "rolloutDefault"
    static let limit = 100_000

    let operations: ReleaseOperations

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    var records: ServerRecords { operations.records }

    // MARK: - The default of a channel

    /// The initial share of a channel's new versions, in devices of 10,000; nil for the signed ceiling.
    package func usual(of channel: ChannelName, in app: AppID) async throws(OperationError) -> Int? {
        guard
            let record = try await operations.reading({ () async throws(RecordError) in
                try await records.store.record(Self.defaultKey(channel, app))
            })
        else { return nil }
        return try await operations.reading { () throws(RecordError) in try Self.share(record) }
    }

    /// Sets or removes that share, for later releases.
    package func setUsual(
        _ share: Int?,
        of channel: ChannelName,
        in app: AppID,
        by actor: Actor
    ) async throws(OperationError) {
        try await operations.looking(app) { (repository) throws(ServerError) in try repository.check(channel) }
        try await operations.reading { () async throws(RecordError) in
            let key = Self.defaultKey(channel, app)
            let record = try await records.store.record(key)
            let before = try record.map { (record) throws(RecordError) in try Self.share(record) }
            guard before != share else { return }
            let change: RecordChange
            switch (record, share) {
            case (nil, nil): return
            case (let record?, nil): change = .remove(record)
            case (let record?, let share?): change = .replace(record, with: Self.json(share))
            case (nil, let share?): change = .insert(key, Self.json(share))
            }
            try await records.commit(
                [change],
                noting: AuditEntry.Event(
                    "rollout.default",
                    by: actor,
                    app: app,
                    channel: channel,
                    before: .fields([("rollout", before.map { .integer($0) })]),
                    after: .fields([("rollout", share.map { .integer($0) })])
                )
            )
        }
    }

    private static func defaultKey(_ channel: ChannelName, _ app: AppID) -> RecordKey {
        RecordKey(defaults, "\(app)/\(channel)")
    }

    private static func json(_ share: Int) -> JSON {
        .fields([("format", .text("patchline-rollout-default-v1")), ("rollout", .integer(share))])
    }

    private static func share(_ record: Record) throws(RecordError) -> Int {
        do throws(FormatError) {
            return try Fields(record.value, of: "the default").integer("rollout", in: 0...10_000)
        } catch { throw .malformed(record.key, rule: error.description) }
    }

    // MARK: - Schedules

    /// All schedules of an app, or of one channel, including ended ones.
    package func schedules(of channel: ChannelName? = nil, in app: AppID) async throws(OperationError)
        -> [RolloutSchedule]
    {
        try await operations.reading { () async throws(RecordError) in
            var schedules: [RolloutSchedule] = []
            for record in try await all(channel.map { RolloutSchedule.prefix(app, $0) } ?? "\(app)/") {
                schedules.append(try RolloutSchedule(record))
            }
            return schedules
        }
    }

    func all(_ prefix: String) async throws(RecordError) -> [Record] {
        try await records.store.records(RecordRange(RolloutSchedule.collection, prefix: prefix, limit: Self.limit))
    }

    /// A dial's document with the schedules of the listed versions, and the channel's default.
    package func describing(_ state: DialState, _ document: JSON) async throws(OperationError) -> JSON {
        let (channel, app) = (state.channel, state.app)
        let listed = Set(state.versions.map(\.sha256))
        let schedules = try await schedules(of: channel, in: app).filter { listed.contains($0.sha256) }
        let usual = try await usual(of: channel, in: app)
        return document.adding([
            ("default", usual.map { .integer($0) }),
            ("schedules", schedules.isEmpty ? nil : .array(schedules.map(\.json))),
        ])
    }

    /// How a release's new versions begin, decided from the current state.
    struct Beginning: Sendable {
        let rollout: ReleaseRollout
        let started: [StartedVersion]
    }

    /// - Parameter wish: The caller's rollout options, else those of the draft with the same content.
    func beginning(
        of verified: VerifiedRelease,
        by wish: StartingRollout?
    ) async throws(OperationError) -> Beginning {
        let header = verified.release.header
        let usual = try await usual(of: header.channel, in: header.app)
        return try await operations.looking(header.app) { (repository) throws(ServerError) in
            let kept =
                try wish == nil
                ? repository.draft(
                    of: header.channel,
                    version: header.roleVersion,
                    identity: verified.release.role.identity
                )?.rollout : nil
            let rollout = ReleaseRollout(wish ?? kept, default: usual)
            return Beginning(rollout: rollout, started: try rollout.starts(of: verified, in: repository))
        }
    }

    /// The schedules that begin with a published release.
    static func beginning(with entry: HistoryEntry) -> [RolloutSchedule] {
        entry.started.compactMap { version in
            guard case .ramp(let ramp) = version.start else { return nil }
            return RolloutSchedule(
                ramp,
                of: version.label,
                version.sha256,
                in: entry.channel,
                of: entry.app,
                by: entry.actor,
                at: entry.published
            )
        }
    }

    /// Writes schedules, and replaces earlier ones of the same versions.
    func writing(_ schedules: [RolloutSchedule]) async throws(RecordError) -> [RecordChange] {
        var changes: [RecordChange] = []
        for schedule in schedules {
            let record = try await records.store.record(schedule.key)
            changes.append(record.map { .replace($0, with: schedule.json) } ?? .insert(schedule.key, schedule.json))
        }
        return changes
    }

    /// The schedules that manual changes begin and end, given the resulting dial.
    func edited(
        by changes: [DialChange],
        _ state: DialState,
        by actor: Actor,
        at now: UTCTime
    ) async throws(RecordError) -> [RolloutSchedule] {
        var schedules: [RolloutSchedule] = []
        for version in state.versions {
            guard let edit = DialChange.scheduleEdit(changes, of: version) else { continue }
            let key = RolloutSchedule.key(state.app, state.channel, version.patchID, version.sha256)
            let record = try await records.store.record(key)
            let before = try record.map { (record) throws(RecordError) in try RolloutSchedule(record) }
            let begun: RolloutSchedule? =
                if case .begin(let ramp) = edit {
                    RolloutSchedule(
                        ramp,
                        of: Label(patchID: version.patchID, version: version.version),
                        version.sha256,
                        in: state.channel,
                        of: state.app,
                        by: actor,
                        at: now
                    )
                } else { nil }
            let cause: RolloutSchedule.Cause = if case .stop(let cause) = edit { cause } else { .turned }
            if let begun {
                schedules.append(begun)
            } else if let before {
                let ended = before.stopped(cause, at: now)
                if ended != before { schedules.append(ended) }
            }
        }
        return schedules
    }
}
