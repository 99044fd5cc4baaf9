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

    private let engine: SyncEngine
    private let plan: SyncPlan
    private let list: VerifiedList
    private let store: DeviceStore
    private var examination: Examination
    private var outcome = Outcome()

    init(engine: SyncEngine, plan: SyncPlan, list: VerifiedList) {
        self.engine = engine
        self.plan = plan
        self.list = list
        store = engine.store
        examination = Examination(store: engine.store, records: engine.store.records())
    }

    mutating func run() async throws(SyncError) -> Outcome {
        // Nothing resumes inside a file yet, so half files are of no use.
        try store.wrapped { () throws(FileError) in try store.objects.removePartialDownloads() }
        for wanted in plan.wanted {
            do throws(SyncError) {
                try await bring(wanted)
                outcome.patches.append(wanted.patch)
            } catch {
                guard !error.endsSync else { throw error }
                let failure = PatchFailure(patchID: wanted.patch.patchID, version: wanted.patch.version, error: error)
                outcome.failures.append(failure)
                engine.report(.failed(failure))
                if let current = wanted.current { outcome.patches.append(current) }
            }
        }
        engine.atCommitPoint(.afterObjects)
        try examination.save()
        return outcome
    }

    /// Makes one patch complete on disk.
    private mutating func bring(_ wanted: SyncPlan.Wanted) async throws(SyncError) {
        let patch = wanted.patch
        let faults = try examination.faults(of: patch)
        let state = state(of: wanted, faults)
        engine.report(.state(patch.patchID, patch.version, state, fault: faults.first?.onDisk.fault))
        guard state.work == .download else { return }
        switch patch.kind {
        case .script: try await object(patch.fingerprint, path: patch.url, entry: patch.label.description)
        case .bundle: try await bundle(patch, faults)
        }
        if !wanted.isNew { outcome.healed.append(patch.label) }
        if let fault = try examination.faults(of: patch).first { throw fault.error }
        let installed: PatchInLaunch = wanted.isNew ? .notRunning : .running
        let result = PatchState(wanted: patch.address, installed: patch.address, onDisk: .intact, launch: installed)
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
            wanted: wanted.patch.address, installed: wanted.current?.address, onDisk: onDisk,
            launch: wanted.isNew ? .notRunning : .running)
    }

    /// Manifest and column, every signature, then the assets that no installed object holds already.
    private mutating func bundle(_ patch: InstalledPatch, _ faults: [FileFault]) async throws(SyncError) {
        let manifest = try await manifest(of: patch)
        var missing: [Asset] = []
        var seen: Set<SHA256Digest> = []
        let damaged = Set(faults.compactMap { $0.wrong == .missing ? nil : $0.asset?.fingerprint.sha256 })
        for asset in manifest.assets where seen.insert(asset.fingerprint.sha256).inserted {
            if damaged.contains(asset.fingerprint.sha256) { examination.forget(asset.fingerprint.sha256) }
            if try !isIntact(asset.fingerprint) { missing.append(asset) }
        }
        if !missing.isEmpty {
            engine.report(.downloading(files: missing.count, bytes: missing.reduce(0) { $0 + $1.fingerprint.size }))
            try await objects(missing, of: patch)
        }
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

    private mutating func manifest(of patch: InstalledPatch) async throws(SyncError) -> AssetManifest {
        guard let entry = list.entries.first(where: { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }),
            let column = patch.column
        else {
            throw .trust(.noTarget(role: list.list.channel.text, target: "\(patch.label) manifest.sigs"))
        }
        let columnPath = TargetPath.signatureColumn(channel: list.list.channel, patchID: patch.patchID, version: patch.version)
        let manifestBytes = try await document(patch.fingerprint.sha256, path: patch.url, limit: patch.fingerprint.size)
        let columnBytes = try await document(
            column, path: URLLayout.target(columnPath, sha256: column), limit: Limits.signatureColumn)
        let verified: VerifiedManifest
        do throws(TrustError) {
            verified = try VerifiedManifest(
                manifestBytes, column: columnBytes, of: entry, app: list.list.app, keys: list.entryKeys)
        } catch { throw .trust(error) }
        guard verified.column == column else {
            throw .trust(.wrongDigest(name: columnPath.text, algorithm: "sha256"))
        }
        try keep(manifestBytes)
        try keep(columnBytes)
        return verified.manifest
    }

    /// A manifest or column from the objects, or from the server.
    private mutating func document(_ digest: SHA256Digest, path: String, limit: Int) async throws(SyncError) -> [UInt8] {
        let condition = try store.wrapped { () throws(FileError) in
            try store.objects.condition(of: digest, records: VerifiedRecords())
        }
        if case .intact = condition {
            return try store.wrapped { () throws(FileError) in try store.objects.read(digest, limit: limit) }
        }
        do throws(FetchError) {
            let bytes = try await engine.fetcher.bytes(path, limit: limit, deadline: engine.deadlines.document)
            outcome.filesReceived += 1
            outcome.bytesReceived += bytes.count
            return bytes
        } catch { throw .fetch(error) }
    }

    private func keep(_ bytes: [UInt8]) throws(SyncError) {
        let fingerprint = Fingerprint(of: bytes)
        if try !isIntact(fingerprint, unrecorded: true) {
            try removeDamaged(fingerprint.sha256)
            do throws(StoreError) { try store.objects.put(bytes, as: fingerprint) } catch { throw SyncError(error, entry: "") }
        }
    }

    private func isIntact(_ fingerprint: Fingerprint, unrecorded: Bool = false) throws(SyncError) -> Bool {
        let condition = try store.wrapped { () throws(FileError) in
            try store.objects.condition(
                of: fingerprint.sha256, expected: fingerprint,
                records: unrecorded ? VerifiedRecords() : examination.records)
        }
        if case .intact = condition { return true }
        return false
    }

    private func removeDamaged(_ digest: SHA256Digest) throws(SyncError) {
        try store.wrapped { () throws(FileError) in
            if try store.files.status(of: store.objects.path(of: digest)) != nil { try store.objects.quarantine(digest) }
        }
    }

    private mutating func object(_ fingerprint: Fingerprint, path: String, entry: String) async throws(SyncError) {
        examination.forget(fingerprint.sha256)
        guard try !isIntact(fingerprint) else { return }
        engine.report(.downloading(files: 1, bytes: fingerprint.size))
        try removeDamaged(fingerprint.sha256)
        outcome.bytesReceived += try await engine.receive(fingerprint, path: path, entry: entry).get()
        outcome.filesReceived += 1
    }

    /// Six at a time; the first failure stops the rest of this bundle, what has come stays for the next sync.
    private mutating func objects(_ assets: [Asset], of patch: InstalledPatch) async throws(SyncError) {
        for asset in assets { try removeDamaged(asset.fingerprint.sha256) }
        let engine = engine
        let results = await withTaskGroup(of: Result<Int, SyncError>.self) { group in
            var waiting = assets[...]
            var results: [Result<Int, SyncError>] = []
            func start() {
                guard let asset = waiting.popFirst() else { return }
                group.addTask {
                    await engine.receive(
                        asset.fingerprint, path: URLLayout.object(asset.fingerprint.sha256),
                        entry: "\(patch.label) \(asset.path)")
                }
            }
            for _ in 0..<Self.parallel { start() }
            while let result = await group.next() {
                results.append(result)
                if case .failure = result { waiting = [] }
                if !waiting.isEmpty { engine.atCommitPoint(.duringObjects) }
                start()
            }
            return results
        }
        var failure: SyncError?
        for result in results {
            switch result {
            case .success(let size):
                outcome.filesReceived += 1
                outcome.bytesReceived += size
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}

extension SyncEngine {
    /// One object from the server into the store, digested as it comes.
    fileprivate func receive(_ fingerprint: Fingerprint, path: String, entry: String) async -> Result<Int, SyncError> {
        do throws(StoreError) {
            var receiver = try store.objects.receive(fingerprint)
            let limit = fingerprint.size
            var fetchError: FetchError?
            do throws(FetchError) {
                try await fetcher.fetch(path, limit: limit, deadline: deadlines.object(of: limit)) { chunk throws(FetchError) in
                    do throws(StoreError) { try receiver.append(chunk) } catch {
                        throw .notTaken(path, reason: error.description)
                    }
                    report(.received(bytes: chunk.count))
                }
            } catch { fetchError = error }
            if let fetchError { return .failure(.fetch(fetchError)) }
            try receiver.finish()
            report(.fileDone(entry))
            return .success(fingerprint.size)
        } catch { return .failure(SyncError(error, entry: entry)) }
    }
}

extension SyncError {
    fileprivate init(_ error: StoreError, entry: String) {
        switch error {
        case .mismatch(_, let field): self = .object(entry: entry, field: field)
        case .file(let error): self = .file(error)
        }
    }

    /// Whether nothing else can come either: the disk, the lock or the way to the server is at fault.
    fileprivate var endsSync: Bool {
        switch self {
        case .file, .lock, .cancelled, .fetch(.cancelled), .fetch(.connection): true
        case .fetch, .trust, .format, .object, .noStore, .storeExists, .rootNamesNoApp, .rootForOtherApp, .testingKeys,
            .nothingPending, .nothingToRollBackTo, .nothingInstalled:
            false
        }
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
