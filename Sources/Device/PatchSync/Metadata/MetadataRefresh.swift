import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust

/// Drives a ``MetadataWalk`` with stored roles and a server's, and stores the roles that it accepts.
///
/// A device stores a timestamp and a snapshot once the top targets role under them is trusted too. Every other role is stored
/// as soon as it is trusted.
struct MetadataRefresh {
    let store: TrustStore
    let fetcher: any Fetcher
    let deadlines: Deadlines
    let rules: Rules
    /// False for a check that does not change the store.
    var keeps = true
    var atCommitPoint: (CommitPoint) -> Void = { _ in }

    /// The rules beyond TUF's own.
    struct Rules {
        let admission: KeyAdmission
        /// Whether the next targets role must not be older than the last accepted one, see ``TrustedSnapshot/floor(ofTargets:)``.
        let keepsTargetsFloor: Bool
        /// Whether timestamp and snapshot are stored only with targets that verify under them.
        ///
        /// A rejected walk then stores neither of them. Otherwise a timestamp and a snapshot of another app with the same online
        /// key would stay, and their higher versions would make the device reject the honest server's.
        let storesWholeWalks: Bool

        /// TUF to the letter: each role is stored as soon as it is trusted (TUF 5.4.5, 5.5.7).
        static let plain = Rules(admission: .all, keepsTargetsFloor: false, storesWholeWalks: false)
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
            rules: Rules(admission: device.admission, keepsTargetsFloor: true, storesWholeWalks: true)
        )
    }

    /// The outcome of a refresh.
    struct Refreshed {
        var repository: TrustedRepository
        /// The time that expiry was checked against.
        let time: UTCTime
        /// Set if the server's timestamp was older than the known one, which was kept.
        let staleMirror: StaleMirror?
    }

    /// Downloads root, timestamp, snapshot and the top targets role, and checks their expiry.
    func refresh(at time: ReferenceTime) async throws(SyncError) -> Refreshed {
        guard let bytes = try store.metadata("root") else {
            throw .storeIncomplete(store.folder.at(TrustStore.fileName("root")))
        }
        let root = try mappingErrors { () throws(TrustError) in
            try TrustedRoot(anchor: bytes, admitting: rules.admission)
        }
        let walk = MetadataWalk(from: root, .everyRole(time), keepsTargetsFloor: rules.keepsTargetsFloor)
        let (repository, older) = try await drive(walk)
        let signedAt = repository.timestamp.role.signedAt
        return Refreshed(
            repository: repository,
            time: time.noting(signedAt: signedAt).value,
            staleMirror: older.map { offered, known in
                StaleMirror(offered: offered, known: known, signedAt: signedAt, clock: time.clock)
            }
        )
    }

    /// Downloads all metadata that a sync of `channel` needs.
    func refresh(channel: ChannelName, at time: ReferenceTime) async throws(SyncError) -> Refreshed {
        var refreshed = try await refresh(at: time)
        try mappingErrors { [repository = refreshed.repository] () throws(TrustError) in
            try repository.refuseUnknown(channel)
        }
        try await targets(channel.text, by: "targets", &refreshed.repository)
        atCommitPoint(.afterMetadata)
        return refreshed
    }

    /// The repository's row of a target, anywhere in the tree of delegations.
    func find(_ target: String, _ repository: inout TrustedRepository) async throws(SyncError) -> TargetFile {
        var search = DelegationSearch(for: target)
        while true {
            let step = try mappingErrors { [repository] () throws(TrustError) in try search.next(in: repository) }
            switch step {
            case .found(let file, role: _): return file
            case .load(let role, let delegator): try await targets(role, by: delegator, &repository)
            }
        }
    }

    func targets(
        _ role: String,
        by delegator: String,
        _ repository: inout TrustedRepository
    ) async throws(SyncError) {
        (repository, _) = try await drive(MetadataWalk(in: repository, to: role, by: delegator))
    }

    /// Answers a walk's requests to its end.
    ///
    /// An older timestamp than the known one is returned as that of a lagging mirror.
    private func drive(_ start: MetadataWalk) async throws(SyncError) -> (
        TrustedRepository, older: (offered: Int, known: Int)?
    ) {
        var walk = start
        var older: (offered: Int, known: Int)?
        var held: [(request: RoleRequest, bytes: [UInt8])] = []
        while true {
            switch try mappingErrors({ [walk] () throws(TrustError) in try walk.next() }) {
            case .done(let repository):
                for (request, bytes) in held { try save(bytes, of: request) }
                return (repository, older)
            case .recall(let role):
                let stored = try store.metadata(role)
                try mappingErrors { () throws(TrustError) in try walk.recall(stored) }
                if rules.storesWholeWalks, keeps, role == "timestamp", stored != nil { try forgetRotated(walk) }
            case .fetch(let request):
                let taken = try await take(request) { bytes throws(SyncError) in
                    var next = walk
                    let taken = try mappingErrors { () throws(TrustError) in try next.take(bytes) }
                    walk = next
                    return taken
                }
                switch taken {
                case nil: walk.absent()
                case (.new, let bytes)?:
                    // A new root is stored at once, because it is signed by the previous one and names its app.
                    let isRoot = if case .root = request { true } else { false }
                    if isRoot || !rules.storesWholeWalks {
                        try save(bytes, of: request)
                    } else {
                        held.append((request, bytes))
                    }
                case (.known, _)?: continue
                case (.older(let offered, let known), _)?: older = (offered, known)
                }
            }
        }
    }

    /// Removes timestamp and snapshot if the timestamp no longer verifies, because its keys were replaced (TUF 5.3.11).
    ///
    /// They count as absent. If they stayed, they would count again once a later root restores an old key.
    private func forgetRotated(_ walk: MetadataWalk) throws(SyncError) {
        guard case .fetch(.timestamp(known: nil)) = try mappingErrors({ () throws(TrustError) in try walk.next() })
        else {
            return
        }
        try store.forgetOnlineRoles()
    }

    /// Returns nil if there is no later root.
    private func take(
        _ request: RoleRequest,
        _ take: (_ bytes: [UInt8]) throws(SyncError) -> MetadataWalk.Taken
    ) async throws(SyncError) -> (MetadataWalk.Taken, [UInt8])? {
        do throws(SyncError) {
            if case .timestamp(let known?) = request, let bytes = try await timestamp(unless: known, request) {
                return (try take(bytes), bytes)
            }
            return try await fetch(request.path, limit: request.mostBytes) { bytes throws(SyncError) in
                (try take(bytes), bytes)
            }
        } catch .fetch(.notFound(let path)) {
            guard case .root = request else { throw .fetch(.notFound(path)) }
            return nil
        } catch .fetch(.webPage(let path)) {
            // Some hosts answer every missing file with their start page. A captive portal answers the timestamp the same way.
            guard case .root = request else { throw .fetch(.webPage(path)) }
            return nil
        }
    }

    /// The timestamp, or `known` if the server confirms it; nil if the announced length is wrong.
    private func timestamp(unless known: [UInt8], _ request: RoleRequest) async throws(SyncError) -> [UInt8]? {
        do throws(FetchError) {
            return try await fetcher.bytes(
                request.path,
                known: known,
                limit: request.mostBytes,
                deadline: deadlines.document
            )
        } catch .short {
            return nil
        } catch { throw .fetch(error) }
    }

    private func save(_ bytes: [UInt8], of request: RoleRequest) throws(SyncError) {
        guard keeps else { return }
        switch request {
        case .root(let version): try store.saveRoot(bytes, version: version)
        case .timestamp, .role: try store.save(bytes, as: request.role)
        }
    }

    /// Downloads a document and returns the result of reading it; see ``PatchFetch/Fetcher/document(_:reading:)``.
    func fetch<Value>(
        _ path: String,
        limit: Int,
        _ read: (_ bytes: [UInt8]) throws(SyncError) -> Value
    ) async throws(SyncError) -> Value {
        try await fetcher.document(FetchRequest(path, limit: limit, deadline: deadlines.document), reading: read)
    }

    func mappingErrors<Result>(_ rule: () throws(TrustError) -> Result) throws(SyncError) -> Result {
        do throws(TrustError) { return try rule() } catch { throw .trust(error) }
    }
}
