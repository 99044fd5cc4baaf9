import PatchFormat
import PatchStore
import PatchTrust

/// The part of a sync that moves bytes: for every wanted patch, what is missing on disk is fetched, verified and staged.
///
/// One patch that fails stays what it was and stops no other (P10).
struct Download {
    /// Connections open at once.
    static let parallel = 6

    struct Outcome {
        /// Of the selection to be: what was wanted and came, and what stays because it did not.
        var patches: [InstalledPatch] = []
        var failures: [PatchFailure] = []
        var healed: [Label] = []
        var filesReceived = 0
        var bytesReceived = 0
    }

    let engine: SyncEngine
    let plan: SyncPlan
    let list: VerifiedList
    let store: DeviceStore
    var examination: Examination
    var outcome = Outcome()

    init(engine: SyncEngine, plan: SyncPlan, list: VerifiedList) {
        self.engine = engine
        self.plan = plan
        self.list = list
        store = engine.store
        examination = Examination(store: engine.store, records: engine.store.records())
    }

    /// A patch that needs something, and what.
    private struct Task {
        let wanted: SyncPlan.Wanted
        /// A bundle's, verified with every signature.
        let manifest: AssetManifest?
        /// What no installed object holds already.
        let missing: [ObjectRequest]
    }

    mutating func run() async throws(SyncError) -> Outcome {
        // Nothing resumes inside a file yet, so half files are of no use.
        try store.wrapped { () throws(FileError) in try store.objects.removePartialDownloads() }
        var tasks: [Task] = []
        for wanted in plan.wanted {
            let task = try await isolating(wanted) { (download) throws(SyncError) in try await download.prepare(wanted)
            }
            if let task { tasks.append(task) }
        }
        let requests = tasks.flatMap(\.missing).uniqued()
        engine.report(.downloading(files: requests.count, bytes: requests.reduce(0) { $0 + $1.fingerprint.size }))
        let failures = try await fetch(requests)
        engine.atCommitPoint(.afterObjects)
        for task in tasks {
            _ = try await isolating(task.wanted) { (download) throws(SyncError) in
                if let failure = task.missing.lazy.compactMap({ failures[$0.fingerprint.sha256] }).first {
                    throw failure
                }
                try download.install(task)
            }
        }
        outcome.patches = plan.wanted.compactMap { wanted in
            outcome.failures.contains { $0.patchID == wanted.patch.patchID } ? wanted.current : wanted.patch
        }
        try examination.save()
        return outcome
    }

    /// One patch that fails stays what it was; what ends the whole sync is passed on.
    private mutating func isolating<Result>(
        _ wanted: SyncPlan.Wanted,
        _ body: (inout Download) async throws(SyncError) -> Result?
    ) async throws(SyncError) -> Result? {
        do throws(SyncError) {
            return try await body(&self)
        } catch {
            guard !error.endsSync else { throw error }
            let failure = PatchFailure(patchID: wanted.patch.patchID, version: wanted.patch.version, error: error)
            outcome.failures.append(failure)
            engine.report(.failed(failure))
            return nil
        }
    }

    /// Looks at what is there, and at the manifest of a bundle that is not complete.
    ///
    /// Nil when nothing is to be done.
    private mutating func prepare(_ wanted: SyncPlan.Wanted) async throws(SyncError) -> Task? {
        let patch = wanted.patch
        let faults = try examination.faults(of: patch)
        let state = state(of: wanted, faults)
        engine.report(
            .state(patch.patchID, patch.version, state, fault: wanted.isNew ? nil : faults.first?.onDisk.fault)
        )
        guard state.work == .download else {
            if try !examination.hasColumn(of: patch), listed(patch) != nil {
                // Fetches and keeps what is missing, the column that is.
                _ = try await manifest(of: wanted)
                outcome.healed.append(patch.label)
            }
            return nil
        }
        for digest in faults.compactMap({ $0.asset?.fingerprint.sha256 }) { examination.forget(digest) }
        switch patch.kind {
        case .script:
            examination.forget(patch.fingerprint.sha256)
            let request = ObjectRequest(patch.fingerprint, path: patch.url, entry: patch.label.description)
            return Task(wanted: wanted, manifest: nil, missing: try isIntact(patch.fingerprint) ? [] : [request])
        case .bundle:
            let manifest = try await manifest(of: wanted)
            var missing: [ObjectRequest] = []
            for asset in manifest.assets where try !isIntact(asset.fingerprint) {
                let path = URLLayout.object(asset.fingerprint.sha256)
                missing.append(ObjectRequest(asset.fingerprint, path: path, entry: "\(patch.label) \(asset.path)"))
            }
            return Task(wanted: wanted, manifest: manifest, missing: missing.uniqued())
        }
    }

    /// Every object is there: stages a bundle, mends one that stands, and looks at the result once more.
    private mutating func install(_ task: Task) throws(SyncError) {
        let patch = task.wanted.patch
        if let manifest = task.manifest {
            var staging = BundleStaging(store: store)
            staging.atCommitPoint = engine.atCommitPoint
            let folderStands = try store.wrapped { () throws(FileError) in
                try store.files.status(of: store.bundle(patch.fingerprint.sha256))?.kind == .directory
            }
            if folderStands {
                // What stands may be served now: only what is wrong is replaced.
                let wrong = try examination.faults(of: patch).compactMap(\.asset)
                try staging.mend(wrong, of: patch.fingerprint.sha256, &examination)
            } else {
                try staging.stage(manifest, as: patch.fingerprint.sha256, &examination)
            }
        }
        if let fault = try examination.faults(of: patch).first {
            let state = PatchState(
                wanted: patch.address,
                installed: task.wanted.current?.address,
                onDisk: fault.onDisk,
                launch: .notRunning
            )
            engine.report(.state(patch.patchID, patch.version, state, fault: fault.onDisk.fault))
            throw fault.error
        }
        if !task.wanted.isNew { outcome.healed.append(patch.label) }
        let launch: PatchInLaunch = task.wanted.isNew ? .notRunning : .running
        let result = PatchState(wanted: patch.address, installed: patch.address, onDisk: .intact, launch: launch)
        engine.report(.state(patch.patchID, patch.version, result, fault: nil))
    }

    private func state(of wanted: SyncPlan.Wanted, _ faults: [FileFault]) -> PatchState {
        let onDisk: PatchOnDisk =
            switch (faults.first, wanted.isNew) {
            case (nil, _): .intact
            case (_?, true): .absent
            case (let fault?, false): fault.onDisk
            }
        return PatchState(
            wanted: wanted.patch.address,
            installed: wanted.current?.address,
            onDisk: onDisk,
            launch: wanted.isNew ? .notRunning : .running
        )
    }

    /// Whether the bytes are here, in the store or in what the app ships.
    ///
    /// A damaged object that stands before the app's own file steps aside.
    mutating func isIntact(_ fingerprint: Fingerprint, unrecorded: Bool = false) throws(SyncError) -> Bool {
        let (place, condition) = try examination.condition(
            of: fingerprint.sha256,
            expected: fingerprint,
            unrecorded: unrecorded
        )
        if case .intact = condition { return true }
        guard !place.isEmbedded, try examination.isEmbedded(fingerprint) else { return false }
        if condition != .missing { try removeDamaged(fingerprint.sha256) }
        return true
    }

    func removeDamaged(_ digest: SHA256Digest) throws(SyncError) {
        try store.wrapped { () throws(FileError) in
            if try store.files.status(of: store.objects.path(of: digest)) != nil {
                try store.objects.quarantine(digest)
            }
        }
    }

    /// Six at a time.
    ///
    /// One that fails stops no other; what has come stays for the next sync.
    ///
    /// - Returns: by digest, why an object did not come.
    private mutating func fetch(_ requests: [ObjectRequest]) async throws(SyncError) -> [SHA256Digest: SyncError] {
        for request in requests { try removeDamaged(request.fingerprint.sha256) }
        let engine = engine
        let results = await withTaskGroup(of: (ObjectRequest, SyncError?).self) { group in
            var waiting = requests[...]
            var results: [(ObjectRequest, SyncError?)] = []
            func start() {
                guard let request = waiting.popFirst() else { return }
                group.addTask { (request, await engine.receive(request)) }
            }
            for _ in 0..<Self.parallel { start() }
            while let result = await group.next() {
                results.append(result)
                if result.1?.endsSync == true { waiting = [] }
                if results.count < requests.count { engine.atCommitPoint(.duringObjects) }
                start()
            }
            return results
        }
        var failures: [SHA256Digest: SyncError] = [:]
        for (request, error) in results {
            if let error {
                if error.endsSync { throw error }
                failures[request.fingerprint.sha256] = error
            } else {
                outcome.filesReceived += 1
                outcome.bytesReceived += request.fingerprint.size
            }
        }
        return failures
    }
}

extension FileFault {
    fileprivate var onDisk: PatchOnDisk {
        switch wrong {
        case .missing: .missing(file)
        case .differs(let field): .damaged(file, field: field)
        case .unreadable: .unreadable(file)
        }
    }

    fileprivate var error: SyncError {
        switch wrong {
        case .missing: .object(entry: file, field: "size")
        case .differs(let field): .object(entry: file, field: field)
        case .unreadable: .trust(.entry(EntryFault(entry: file, rule: .unreadable("is not UTF-8 text"))))
        }
    }
}
