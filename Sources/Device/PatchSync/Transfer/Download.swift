import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The part of a sync that moves bytes: for every wanted patch, missing files are fetched, verified and staged.
///
/// A patch that fails stays at its version and stops no other (P10).
struct Download {
    struct Outcome {
        /// Patches that were checked and are complete.
        var ready: Set<PatchContent> = []
        var failures: [PatchFailure] = []
        var healed: [Label] = []
        var filesReceived = 0
        var bytesReceived = 0
        /// Signatures of bundles' entries that no installed version vouched for.
        var checkedSignatures = 0
        /// Bundles that turned out to be made for another native part.
        var unfit = UnfitVersions()
        var transfers = TransferOutcome()
        /// Bundles that came by a pack from a version that was here.
        var packs: [PackUse] = []
        /// Versions that wait for a network on which bytes cost nothing.
        var putOff: [PutOffVersion] = []
        /// Versions that do not fit on the disk.
        var noRoom: [PatchContent: RoomWait] = [:]
        /// Why the server did not answer this sync's question.
        var unanswered: SyncError?

        /// Whether every planned patch is complete, or failed and stays at its version.
        func isComplete(for plan: SyncPlan) -> Bool {
            plan.wanted.allSatisfy(isDone)
        }

        func isDone(_ wanted: SyncPlan.Wanted) -> Bool {
            ready.contains(wanted.patch.content)
                || !wanted.isNew
                    && failures.contains { $0.patchID == wanted.patch.patchID && $0.version == wanted.patch.version }
        }
    }

    let store: DeviceStore
    let transfers: Transfers
    let plan: SyncPlan
    let list: VerifiedList
    let signatures: EntrySignatures
    var atCommitPoint: @Sendable (CommitPoint) -> Void
    var check: IntegrityCheck
    /// Digests whose objects have other bytes.
    var damaged: Set<SHA256Digest> = []
    var outcome: Outcome
    /// Bytes that were promised to patches of this download, and are still to be written.
    var promised = 0

    /// - Parameter outcome: of this sync's earlier downloads, which this one adds to.
    init(
        of plan: SyncPlan,
        _ list: VerifiedList,
        checking signatures: EntrySignatures,
        into store: DeviceStore,
        by transfers: Transfers,
        after outcome: Outcome,
        atCommitPoint: @escaping @Sendable (CommitPoint) -> Void
    ) {
        (self.plan, self.list, self.store, self.transfers) = (plan, list, store, transfers)
        (self.outcome, self.atCommitPoint, self.signatures) = (outcome, atCommitPoint, signatures)
        check = IntegrityCheck(store: store, records: store.records())
    }

    mutating func run() async throws(SyncError) -> Outcome {
        let store = store
        // What a crash left.
        try store.wrapped { () throws(FileError) in try store.removeIntermediate() }
        defer { try? store.removeIntermediate() }
        var tasks: [PatchDownload] = []
        for wanted in plan.wanted where !outcome.isDone(wanted) {
            let task = try await isolating(wanted) { (download) throws(SyncError) in try await download.prepare(wanted)
            }
            if let task { tasks.append(task) }
        }
        let requests = MissingObjects(tasks)
        try removeUnwantedParts(requests)
        transfers.report(
            .downloading(
                files: requests.count,
                bytes: requests.indices.reduce(0) { $0 + requests.fingerprint(at: $1).size }
            )
        )
        let failures = tasks.isEmpty ? [:] : try await fetch(requests)
        atCommitPoint(.afterObjects)
        for task in tasks {
            _ = try await isolating(task.wanted) { (download) throws(SyncError) in
                if let digest = task.digests.first(where: { failures[$0] != nil }), let failure = failures[digest] {
                    throw failure
                }
                try download.install(task)
            }
        }
        try check.save()
        return outcome
    }

    /// A patch that fails stays at its version; errors that end the whole sync are passed on.
    private mutating func isolating<Result>(
        _ wanted: SyncPlan.Wanted,
        _ body: (inout Download) async throws(SyncError) -> Result?
    ) async throws(SyncError) -> Result? {
        do throws(SyncError) {
            return try await body(&self)
        } catch {
            guard !error.endsSync else { throw error }
            if case .incompatible(_, let platform, let needs) = error {
                let row = UnfitVersions.Row(version: wanted.patch.version, platform: platform, needs: needs)
                outcome.unfit.add(wanted.patch.content, row)
                return nil
            }
            if case .noRoom(_, let wait) = error { outcome.noRoom[wanted.patch.content] = wait }
            if wanted.isNew { outcome.transfers.fail(wanted.patch, because: error.transferCause) }
            let failure = PatchFailure(patchID: wanted.patch.patchID, version: wanted.patch.version, error: error)
            outcome.failures.append(failure)
            transfers.report(.failed(failure))
            return nil
        }
    }

    /// Checks the files on disk, and the manifest of a bundle that is not complete.
    ///
    /// Nil when nothing is to be done.
    private mutating func prepare(_ wanted: SyncPlan.Wanted) async throws(SyncError) -> PatchDownload? {
        let patch = wanted.patch
        let faults = try check.faults(of: patch)
        let state = state(of: wanted, faults)
        // When a patch's newer version failed or waits, its fallback is only checked: that is the news.
        let isFallback =
            !wanted.isNew
            && (outcome.failures.contains { $0.patchID == patch.patchID }
                || outcome.putOff.contains { $0.content.patchID == patch.patchID })
        if !isFallback || !faults.isEmpty {
            let fault = wanted.isNew ? nil : faults.first?.onDisk.fault
            transfers.report(.state(patch.patchID, patch.version, state, fault: fault))
        }
        let isUnproven = try isUnproven(wanted)
        guard state.work == .download || isUnproven else {
            if signatures == .required, listed(patch) != nil, try !check.hasCheckedColumn(of: patch) {
                // Fetches the signature column where it is missing, checks it and keeps it.
                let isHere = try check.hasColumn(of: patch)
                _ = try await manifest(of: wanted)
                if !isHere { outcome.healed.append(patch.label) }
            }
            if wanted.isNew, patch.kind == .bundle, let manifest = try check.manifest(of: patch) {
                try gate(manifest, wanted, isOnDisk: true)
            }
            if patch.kind == .bundle, !check.hasIndex(of: patch) { keepIndex(of: patch) }
            outcome.ready.insert(patch.content)
            outcome.transfers.arrive(patch)
            return nil
        }
        for digest in faults.compactMap({ $0.asset?.fingerprint.sha256 }) { check.forget(digest) }
        switch patch.kind {
        case .script:
            check.forget(patch.fingerprint.sha256)
            let isMissing = try !isIntact(patch.fingerprint)
            if isMissing { try admit([patch.fingerprint], for: wanted) }
            return PatchDownload(wanted: wanted, content: .script(isMissing: isMissing))
        case .bundle:
            let before = outcome.filesReceived
            try admitDocuments(of: wanted)
            let (manifest, pack) = try await manifest(of: wanted)
            if outcome.filesReceived > before { outcome.transfers.move(patch) }
            try gate(manifest, wanted, isOnDisk: false)
            var missing: [Int32] = []
            for (row, asset) in manifest.assets.enumerated() where try !isIntact(asset.fingerprint) {
                missing.append(Int32(row))
            }
            let needs = try admit(missing.map { manifest.assets[Int($0)].fingerprint }, for: wanted)
            if let pack {
                missing = try take(missing, of: manifest, from: pack, for: wanted)
                // The files of the pack are on the disk by now.
                promised -= needs
                try admit(missing.map { manifest.assets[Int($0)].fingerprint }, for: wanted)
            }
            return PatchDownload(wanted: wanted, content: .bundle(manifest, missing: missing))
        }
    }

    /// Whether a new bundle's signatures may never have been checked: all its files may be here without its folder, in
    /// the embedded files, and the folder is made only after the check.
    private func isUnproven(_ wanted: SyncPlan.Wanted) throws(SyncError) -> Bool {
        guard wanted.isNew, wanted.patch.kind == .bundle else { return false }
        let folder = store.bundle(wanted.patch.fingerprint.sha256)
        return try store.wrapped { () throws(FileError) in try store.files.status(of: folder)?.kind != .directory }
    }

    /// Every object is there: stages a bundle, heals an existing one, and checks the result.
    private mutating func install(_ task: PatchDownload) throws(SyncError) {
        let patch = task.wanted.patch
        var verified: AssetManifest?
        switch task.content {
        case .bundle(let manifest, _):
            verified = manifest
            var staging = BundleStaging(store: store)
            staging.atCommitPoint = atCommitPoint
            let folderStands = try store.wrapped { () throws(FileError) in
                try store.files.status(of: store.bundle(patch.fingerprint.sha256))?.kind == .directory
            }
            if folderStands {
                // What stands may be served now: only what is wrong is replaced.
                let wrong = try check.faults(of: patch, manifest).compactMap(\.asset)
                try staging.heal(wrong, of: patch.fingerprint.sha256, &check)
            } else {
                try staging.stage(manifest, as: patch.fingerprint.sha256, &check)
            }
        case .script:
            // It has its digest; whether it is text was not looked at on its way in.
            check.forget(patch.fingerprint.sha256)
        }
        if let fault = try check.faults(of: patch, verified).first {
            let state = PatchState(
                wanted: patch.address,
                installed: task.wanted.current?.address,
                onDisk: fault.onDisk,
                launch: .notRunning
            )
            transfers.report(.state(patch.patchID, patch.version, state, fault: fault.onDisk.fault))
            throw fault.error
        }
        if patch.kind == .bundle {
            keepIndex(of: patch, verified)
            try store.wrapped { () throws(FileError) in try store.objects.removePack(of: patch.fingerprint.sha256) }
        }
        outcome.ready.insert(patch.content)
        outcome.transfers.arrive(patch)
        if !task.wanted.isNew { outcome.healed.append(patch.label) }
        let launch: PatchInLaunch = task.wanted.isNew ? .notRunning : .running
        let result = PatchState(wanted: patch.address, installed: patch.address, onDisk: .intact, launch: launch)
        transfers.report(.state(patch.patchID, patch.version, result, fault: nil))
    }

    /// Lets a bundle pass that this device may have: before any asset of it is fetched.
    private func gate(_ manifest: AssetManifest, _ wanted: SyncPlan.Wanted, isOnDisk: Bool) throws(SyncError) {
        let content = wanted.patch.content
        let device = plan.context.device
        var facts = BundleDecision.Facts()
        facts.current = wanted.current?.content
        facts.pending = plan.pending?[content.patchID]?.content
        facts.blockStatus = plan.context.blocks.status(of: content, at: device.time, retryNow: device.retryNow)
        facts.platform = device.platform
        facts.isOnDisk = isOnDisk
        switch BundleDecision(content, compatibility: manifest.compatibility, facts: facts) {
        case .ignore, .ready, .download: return
        case .refuse(.blacklisted(let until)): throw .blacklisted(wanted.patch.label, until: until)
        case .refuse(.incompatible(let platform, let needs)):
            throw .incompatible(wanted.patch.label, platform, needs: needs)
        }
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

    /// Nobody needs it: without one, the next start reads the manifest.
    private mutating func keepIndex(of patch: InstalledPatch, _ manifest: AssetManifest? = nil) {
        guard let index = try? check.index(of: patch, manifest) else { return }
        try? store.save(index)
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
