import PatchFormat
import PatchStore
import PatchTrust

/// The client workflow of TUF 5.3 to 5.6: asks, lets ``TrustedMetadata`` judge, stores what was taken, in that order.
///
/// Each role is stored as soon as it is trusted, so that an interrupted refresh leaves a state to go on from.
struct MetadataRefresh {
    let store: TrustStore
    let fetcher: any Fetcher
    let deadlines: Deadlines
    let rules: Rules
    var atCommitPoint: (CommitPoint) -> Void = { _ in }

    /// What goes beyond TUF's own rules.
    struct Rules {
        let admission: KeyAdmission
        /// Whether the targets role that was taken before is a floor for the next one, see ``TrustedMetadata/keepFloor(ofTargets:)``.
        let keepsTargetsFloor: Bool

        /// TUF to the letter.
        static let plain = Rules(admission: .all, keepsTargetsFloor: false)
    }

    init(store: TrustStore, fetcher: any Fetcher, deadlines: Deadlines, rules: Rules) {
        self.store = store
        self.fetcher = fetcher
        self.deadlines = deadlines
        self.rules = rules
    }

    /// The refresh of a device.
    init(of device: DeviceStore, fetcher: any Fetcher, deadlines: Deadlines) {
        self.init(
            store: device.trust,
            fetcher: fetcher,
            deadlines: deadlines,
            rules: Rules(admission: device.admission, keepsTargetsFloor: true)
        )
    }

    /// What a refresh came to.
    struct Refreshed {
        var trusted: TrustedMetadata
        /// The server's timestamp was older than the one known, which was kept.
        let staleMirror: StaleMirror?
    }

    /// Root, timestamp, snapshot and the top targets role, unexpired.
    func refresh(at time: ReferenceTime) async throws(SyncError) -> Refreshed {
        guard let root = try store.metadata("root") else { throw .noStore(store.folder) }
        var trusted = try judged { () throws(TrustError) in
            try TrustedMetadata(trustedRoot: root, at: time, admitting: rules.admission)
        }
        try await followRoots(&trusted)
        // One that no longer verifies, after a rotation, counts as absent (TUF 5.3.11).
        var stored = try store.metadata("timestamp")
        if let bytes = stored, (try? trusted.updateTimestamp(bytes)) == nil { stored = nil }
        try judged { [trusted] () throws(TrustError) in try trusted.checkRootExpiry() }
        let staleMirror = try await timestamp(known: stored, &trusted)
        try await snapshot(&trusted)
        try await targets("targets", by: "root", &trusted)
        return Refreshed(trusted: trusted, staleMirror: staleMirror)
    }

    /// Everything that a sync of `channel` rests on.
    func refresh(channel: ChannelName, at time: ReferenceTime) async throws(SyncError) -> Refreshed {
        var refreshed = try await refresh(at: time)
        try await targets(channel.text, by: "targets", &refreshed.trusted)
        atCommitPoint(.afterMetadata)
        return refreshed
    }

    /// What the repository says of a target, wherever in the tree of delegations.
    func find(_ target: String, _ trusted: inout TrustedMetadata) async throws(SyncError) -> TargetFile {
        var search = DelegationSearch(for: target)
        while true {
            let step = try judged { [trusted] () throws(TrustError) in try search.next(in: trusted) }
            switch step {
            case .found(let file, role: _): return file
            case .load(let role, let delegator): try await targets(role, by: delegator, &trusted)
            }
        }
    }

    /// Asks for the next root until there is none, from the first day on (TUF 5.3.2 to 5.3.10).
    private func followRoots(_ trusted: inout TrustedMetadata) async throws(SyncError) {
        for followed in 0...Limits.rootRotations {
            let next = trusted.root.header.version + 1
            let bytes: [UInt8]
            do throws(FetchError) {
                bytes = try await fetcher.bytes(
                    URLLayout.metadata("root", version: next),
                    limit: Limits.root,
                    deadline: deadlines.document
                )
            } catch .notFound {
                break
            } catch { throw .fetch(error) }
            guard followed < Limits.rootRotations else { throw .trust(.tooManyRoots(limit: Limits.rootRotations)) }
            try judged { () throws(TrustError) in try trusted.updateRoot(bytes) }
            try store.saveRoot(bytes, version: next)
        }
    }

    /// An older timestamp than the one known is a mirror's that lags: the known one stays, and is what counts.
    private func timestamp(known: [UInt8]?, _ trusted: inout TrustedMetadata) async throws(SyncError)
        -> StaleMirror?
    {
        let bytes = try await fetch(URLLayout.timestamp, known: known, limit: Limits.timestamp)
        var isNew = false
        var staleMirror: StaleMirror?
        do throws(TrustError) {
            isNew = try trusted.updateTimestamp(bytes) == .taken
        } catch .rolledBack(role: "timestamp", let offered, let known) {
            staleMirror = StaleMirror(
                offered: offered,
                known: known,
                signedAt: trusted.timestamp?.signedAt,
                clock: trusted.time.clock
            )
        } catch { throw .trust(error) }
        try judged { [trusted] () throws(TrustError) in
            try trusted.checkTimestampExpiry()
            // Once more, by what the new one says of the time: one from the far future is not kept.
            try trusted.checkRootExpiry()
        }
        if isNew { try store.save(bytes, as: "timestamp") }
        return staleMirror
    }

    private func snapshot(_ trusted: inout TrustedMetadata) async throws(SyncError) {
        guard let file = trusted.timestamp?.snapshot else { preconditionFailure("the timestamp comes first") }
        if let stored = try store.metadata("snapshot") {
            // Also when it is not the current one any more: roles in it must not go back (TUF 5.5.5).
            try? trusted.updateSnapshot(stored, stored: true)
            if trusted.snapshot?.header.version == file.version, file.matches(stored) {
                return try judged { [trusted] () throws(TrustError) in try trusted.checkSnapshotIsCurrent() }
            }
        }
        let bytes = try await fetch(
            URLLayout.metadata("snapshot", version: trusted.root.consistentSnapshot ? file.version : nil),
            limit: min(file.length ?? Limits.snapshot, Limits.snapshot)
        )
        try judged { () throws(TrustError) in
            try trusted.updateSnapshot(bytes)
            try trusted.checkSnapshotIsCurrent()
        }
        try store.save(bytes, as: "snapshot")
    }

    func targets(_ role: String, by delegator: String, _ trusted: inout TrustedMetadata) async throws(SyncError) {
        if trusted.isVerified(role, by: delegator) { return }
        let file = try judged { [trusted] () throws(TrustError) in try trusted.file(of: role) }
        if let stored = try store.metadata(role) {
            if (try? trusted.updateTargets(stored, role: role, delegator: delegator)) != nil { return }
            if rules.keepsTargetsFloor, delegator == "root" { trusted.keepFloor(ofTargets: stored) }
        }
        let bytes = try await fetch(
            URLLayout.metadata(role, version: trusted.root.consistentSnapshot ? file.version : nil),
            limit: min(file.length ?? Limits.targetsRole, Limits.targetsRole)
        )
        try judged { () throws(TrustError) in try trusted.updateTargets(bytes, role: role, delegator: delegator) }
        try store.save(bytes, as: role)
    }

    func fetch(_ path: String, known: [UInt8]? = nil, limit: Int) async throws(SyncError) -> [UInt8] {
        do throws(FetchError) {
            guard let known else { return try await fetcher.bytes(path, limit: limit, deadline: deadlines.document) }
            return try await fetcher.bytes(path, known: known, limit: limit, deadline: deadlines.document)
        } catch { throw .fetch(error) }
    }

    func judged<Result>(_ rule: () throws(TrustError) -> Result) throws(SyncError) -> Result {
        do throws(TrustError) { return try rule() } catch { throw .trust(error) }
    }
}
