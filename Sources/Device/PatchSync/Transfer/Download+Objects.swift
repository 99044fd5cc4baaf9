import PatchChoice
import PatchFormat
import PatchStore

/// The objects of a download: which lie here, and how the others come.
extension Download {
    /// Half files of objects that are still wanted stay; those of a patch that could not be looked at, or that only waits, may
    /// be.
    func removeUnwantedParts(_ requests: MissingObjects) throws(SyncError) {
        guard outcome.failures.isEmpty, !plan.hasPostponed else { return }
        try store.wrapped { () throws(FileError) in
            try store.objects.removePartialDownloads(
                except: Set(requests.indices.lazy.map { requests.fingerprint(at: $0).sha256 })
                    .union(requests.manifests.map(\.sha256))
            )
        }
        // Each manifest is whole by now. The received bytes of the bundle's pack have its digest as their name, and stay.
        for manifest in requests.manifests {
            do throws(StoreError) { try store.objects.removePart(of: ExpectedFile(manifest)) } catch {
                throw SyncError(error, entry: "\(manifest.sha256)")
            }
        }
    }

    /// Whether the bytes are here, in the store or in what the app ships.
    ///
    /// A damaged object that stands before the app's own file steps aside.
    mutating func isIntact(_ fingerprint: Fingerprint, unrecorded: Bool = false) throws(SyncError) -> Bool {
        try isIntact(fingerprint.sha256, expected: fingerprint, unrecorded: unrecorded)
    }

    /// Whether these bytes lie on this device, in the store or in what the app ships.
    mutating func isIntact(
        _ digest: SHA256Digest,
        expected: Fingerprint?,
        unrecorded: Bool
    ) throws(SyncError) -> Bool {
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
}
