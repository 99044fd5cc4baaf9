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
}

/// Objects, as the steps of a download find and store them.
extension Download {
    /// Whether the bytes are here, in the store or in what the app ships.
    ///
    /// A damaged object that stands before the app's own file steps aside.
    mutating func isIntact(_ fingerprint: Fingerprint, unrecorded: Bool = false) throws(SyncError) -> Bool {
        try isIntact(fingerprint.sha256, expected: fingerprint, unrecorded: unrecorded)
    }

    /// Whether these bytes lie on this device, in the store or in what the app ships.
    mutating func isIntact(_ digest: SHA256Digest, expected: Fingerprint?, unrecorded: Bool) throws(SyncError) -> Bool {
        let (place, condition) = try check.condition(of: digest, expected: expected, unrecorded: unrecorded)
        if case .intact(let identity) = condition {
            // So that it is not hashed again when it has been linked.
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

    /// Only saves the next start from reading the manifest.
    mutating func keepIndex(of patch: InstalledPatch, _ manifest: AssetManifest? = nil) {
        guard let index = try? check.index(of: patch, manifest) else { return }
        try? store.save(index)
    }
}

/// Compares the room that a download needs with the free space, before any of its files is written.
extension Download {
    /// Promises room to the missing files of a new version.
    ///
    /// Files of the active version are healed in any case.
    ///
    /// - Returns: the bytes that were promised.
    /// - Throws: `noRoom`, for this version alone.
    @discardableResult
    mutating func admit(_ missing: [Fingerprint], for wanted: SyncPlan.Wanted) throws(SyncError) -> Int {
        guard wanted.isNew, !missing.isEmpty else { return 0 }
        let needs = try store.bytesNeeded(by: missing)
        try admit(needs, for: wanted)
        promised += needs
        return needs
    }

    /// The manifest and the signatures come before the sizes of the other files are known.
    func admitDocuments(of wanted: SyncPlan.Wanted) throws(SyncError) {
        guard wanted.isNew else { return }
        let patch = wanted.patch
        var needs = try lies(patch.fingerprint.sha256) ? 0 : DiskRoom.taken(by: patch.fingerprint.size)
        if signatures == .required, let column = patch.column, let size = plan.columnSizes[column], try !lies(column) {
            needs += DiskRoom.taken(by: size)
        }
        if needs > 0 { try admit(needs, for: wanted) }
    }

    private func admit(_ needs: Int, for wanted: SyncPlan.Wanted) throws(SyncError) {
        guard let wait = transfers.lacksRoom(promised + needs) else { return }
        throw .noRoom(wanted.patch.label, RoomWait(needs: needs, free: wait.free - promised, reserve: wait.reserve))
    }

    /// Whether something is here under this digest.
    private func lies(_ digest: SHA256Digest) throws(SyncError) -> Bool {
        try store.wrapped { () throws(FileError) in
            try store.files.identity(of: try store.place(of: digest).path) != nil
        }
    }

    /// Removes partial files after the disk was full, so that other programs have room.
    ///
    /// If that is not enough, files of versions that were never installed go as well. The next sync asks for room first.
    func giveBack() {
        try? store.objects.removePartialDownloads()
        try? store.removeIntermediate()
        if transfers.lacksRoom(1) != nil { try? CleanUp(store: store).run() }
    }
}

extension DeviceStore {
    /// The bytes of the disk that these files need, without their received parts.
    func bytesNeeded(by missing: [Fingerprint]) throws(SyncError) -> Int {
        let objects = objects
        return try wrapped { () throws(FileError) in
            let begun = try objects.partialDownloads()
            var seen: Set<SHA256Digest> = []
            var needs = 0
            for file in missing where seen.insert(file.sha256).inserted {
                let here = begun.contains(file.sha256) ? try objects.bytesOfPart(of: file.sha256) : 0
                let (sum, isTooMuch) = needs.addingReportingOverflow(
                    DiskRoom.taken(by: file.size - min(here, file.size))
                )
                if isTooMuch { return .max / 2 }
                needs = sum
            }
            return needs
        }
    }
}

extension Download.Outcome {
    var roomWaits: RoomWaits {
        var waits = RoomWaits()
        for version in noRoomVersions {
            waits.add(version.content, .init(version: version.label.version, needs: version.wait.needs))
        }
        return waits
    }

    var noRoomVersions: [NoRoomVersion] {
        failures.compactMap { (failure) -> NoRoomVersion? in
            guard case .noRoom(let label, let wait) = failure.error,
                let content = noRoom.first(where: { $0.key.patchID == failure.patchID && $0.value == wait })?.key
            else { return nil }
            return NoRoomVersion(content: content, label: label, wait: wait)
        }
    }
}
