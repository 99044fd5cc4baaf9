import Linux
import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

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
