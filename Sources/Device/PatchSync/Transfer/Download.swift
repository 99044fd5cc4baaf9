import Linux
import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The facts of a download and its results so far, which its steps share.
///
/// ``DownloadPlan`` runs the steps.
struct Download {
    struct Outcome {
        /// Patches that were checked and are complete.
        var ready: Set<PatchContent> = []
        var failures: [PatchFailure] = []
        var healed: [Label] = []
        var filesReceived = 0
        var bytesReceived = 0
        /// The number of bundle entry signatures that no installed version had checked before.
        var checkedSignatures = 0
        /// Bundles whose manifest requires another native part.
        var unfit = UnfitVersions()
        var transfers = TransferOutcome()
        /// Bundles that were downloaded as packs from a stored version.
        var packs: [PackUse] = []
        /// Versions that wait for an unmetered network.
        var putOff: [DeferredVersion] = []
        /// Versions that do not fit on the disk.
        var noRoom: [PatchContent: SpaceShortage] = [:]
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
    /// Digests of objects whose bytes are damaged.
    var damaged: Set<SHA256Digest> = []
    var outcome: Outcome
    /// Bytes of disk space that are promised to this download's patches and not yet written.
    var promised = 0

    /// - Parameter outcome: The outcome of this sync's earlier downloads, to which this one adds.
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
}

/// Objects, as the steps of a download find and store them.
extension Download {
    /// Whether the object is intact, in the store or among the embedded files.
    ///
    /// A damaged object is removed if the embedded file can replace it.
    mutating func isIntact(_ fingerprint: Fingerprint, unrecorded: Bool = false) throws(SyncError) -> Bool {
        try isIntact(fingerprint.sha256, expected: fingerprint, unrecorded: unrecorded)
    }

    /// Whether the object with this digest is intact, in the store or among the embedded files.
    mutating func isIntact(_ digest: SHA256Digest, expected: Fingerprint?, unrecorded: Bool) throws(SyncError) -> Bool {
        let (place, condition) = try check.condition(of: digest, expected: expected, unrecorded: unrecorded)
        if case .intact(let identity) = condition {
            // Recorded, so that the file is not hashed again after it was linked.
            check.record(identity, of: digest, at: place)
            return true
        }
        if !place.isEmbedded, try check.isEmbedded(digest, expected: expected) {
            if condition != .missing { try removeDamaged(digest) }
            return true
        }
        if condition != .missing { damaged.insert(digest) }
        return false
    }

    func removeDamaged(_ digest: SHA256Digest) throws(SyncError) {
        try store.wrapped { () throws(FileError) in
            if try store.files.status(of: store.objects.path(of: digest)) != nil {
                try store.objects.quarantine(digest)
            }
        }
    }

    func listed(_ patch: InstalledPatch) -> PatchEntry? {
        list.entries.first { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }
    }

    /// Downloads a document into the store.
    mutating func receive(_ request: ObjectRequest) async throws(SyncError) {
        try removeDamaged(request.expected.sha256)
        switch await transfers.receive(request) {
        case nil:
            outcome.filesReceived += 1
            outcome.bytesReceived += request.expected.size
        case .object(let entry, let field): throw .trust(.entry(EntryFault(entry: entry, rule: .differs(field))))
        case let error?: throw error
        }
    }

    /// Stores the bundle's index.
    ///
    /// Errors are ignored: the index only saves the next start from reading the manifest.
    mutating func keepIndex(of patch: InstalledPatch, _ manifest: AssetManifest? = nil) {
        guard let index = try? check.index(of: patch, manifest) else { return }
        try? store.save(index)
    }
}

/// Compares the disk space that a download needs with the free space, before any of its files is written.
extension Download {
    /// Reserves disk space for the missing files of a new version.
    ///
    /// Repairs of the active version are never refused.
    ///
    /// - Returns: the reserved bytes.
    /// - Throws: `noRoom`, for this version alone.
    @discardableResult
    mutating func admit(_ missing: [Fingerprint], for wanted: SyncPlan.Wanted) throws(SyncError) -> Int {
        guard wanted.isNew, !missing.isEmpty else { return 0 }
        let needs = try store.bytesNeeded(by: missing)
        try admit(needs, for: wanted)
        promised += needs
        return needs
    }

    /// Checks the space for the manifest and the signatures, which are downloaded before the sizes of the other files are known.
    func admitDocuments(of wanted: SyncPlan.Wanted) throws(SyncError) {
        guard wanted.isNew else { return }
        let patch = wanted.patch
        var needs = try isStored(patch.fingerprint.sha256) ? 0 : DownloadSpace.taken(by: patch.fingerprint.size)
        if signatures == .required, let column = patch.column, let size = plan.columnSizes[column],
            try !isStored(column)
        {
            needs += DownloadSpace.taken(by: size)
        }
        if needs > 0 { try admit(needs, for: wanted) }
    }

    private func admit(_ needs: Int, for wanted: SyncPlan.Wanted) throws(SyncError) {
        guard let wait = transfers.spaceShortage(promised + needs) else { return }
        throw .noRoom(
            wanted.patch.label,
            SpaceShortage(needs: needs, free: wait.free - promised, reserve: wait.reserve)
        )
    }

    /// Whether a file is stored under this digest.
    private func isStored(_ digest: SHA256Digest) throws(SyncError) -> Bool {
        try store.wrapped { () throws(FileError) in
            try store.files.identity(of: try store.place(of: digest).path) != nil
        }
    }

    /// Removes partial files after the disk was full, so that other programs can write.
    ///
    /// If that is not enough, files of versions that were never installed are removed as well. The next sync checks the space
    /// first.
    func removePartialFiles() {
        try? store.objects.removePartialDownloads()
        try? store.removeIntermediate()
        if transfers.spaceShortage(1) != nil { try? CleanUp(store: store).run() }
    }
}

extension DeviceStore {
    /// The disk space in bytes that these files need, without their received parts.
    func bytesNeeded(by missing: [Fingerprint]) throws(SyncError) -> Int {
        let objects = objects
        return try wrapped { () throws(FileError) in
            let begun = try objects.partialDownloads()
            var seen: Set<SHA256Digest> = []
            var needs = 0
            for file in missing where seen.insert(file.sha256).inserted {
                let here = begun.contains(file.sha256) ? try objects.bytesOfPart(of: file.sha256) : 0
                let (sum, isTooMuch) = needs.addingReportingOverflow(
                    DownloadSpace.taken(by: file.size - min(here, file.size))
                )
                if isTooMuch { return .max / 2 }
                needs = sum
            }
            return needs
        }
    }
}

extension Download.Outcome {
    var spaceShortages: SpaceShortages {
        var waits = SpaceShortages()
        for version in oversizedVersions {
            waits.add(version.content, .init(version: version.label.version, needs: version.wait.needs))
        }
        return waits
    }

    var oversizedVersions: [OversizedVersion] {
        failures.compactMap { (failure) -> OversizedVersion? in
            guard case .noRoom(let label, let wait) = failure.error,
                let content = noRoom.first(where: { $0.key.patchID == failure.patchID && $0.value == wait })?.key
            else { return nil }
            return OversizedVersion(content: content, label: label, wait: wait)
        }
    }
}
