import PatchFormat
import PatchStore

/// The objects of a download: which lie here, and how the others come.
extension Download {
    /// Half files of objects that are still wanted stay; those of a patch that could not be looked at, or that only waits, may
    /// be.
    func removeUnwantedParts(_ requests: MissingObjects) throws(SyncError) {
        guard outcome.failures.isEmpty, !plan.hasPostponed else { return }
        let wanted = Set(requests.map(\.expected.sha256))
        try store.wrapped { () throws(FileError) in try store.objects.removePartialDownloads(except: wanted) }
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
        let (place, condition) = try examination.condition(of: digest, expected: expected, unrecorded: unrecorded)
        if case .intact = condition { return true }
        guard !place.isEmbedded, try examination.isEmbedded(digest, expected: expected) else { return false }
        if condition != .missing { try removeDamaged(digest) }
        return true
    }

    func removeDamaged(_ digest: SHA256Digest) throws(SyncError) {
        try store.wrapped { () throws(FileError) in
            if try store.files.status(of: store.objects.path(of: digest)) != nil {
                try store.objects.quarantine(digest)
            }
        }
    }

    /// ``parallel`` at a time.
    ///
    /// One that fails stops no other; what has come stays for the next sync.
    ///
    /// - Returns: by digest, why an object did not come.
    mutating func fetch(_ requests: MissingObjects) async throws(SyncError) -> [SHA256Digest: SyncError] {
        for request in requests { try removeDamaged(request.expected.sha256) }
        let engine = engine
        var batch = try store.wrapped { () throws(FileError) in try ObjectBatch(in: store.objects) }
        var failures: [SHA256Digest: SyncError] = [:]
        var end: SyncError?
        await withTaskGroup(of: (Int, Result<SealedPart, SyncError>, hasMoved: Bool).self) { group in
            var waiting = requests.indices
            var results = 0
            func start() {
                guard let position = waiting.popFirst() else { return }
                let request = requests[position]
                group.addTask {
                    let (result, hasMoved) = await engine.receivePart(of: request)
                    return (position, result, hasMoved)
                }
            }
            for _ in 0..<Self.parallel { start() }
            while let (position, result, hasMoved) = await group.next() {
                if hasMoved || result.isSuccess {
                    requests.patches(at: position).forEach { outcome.transfers.move($0) }
                }
                results += 1
                do throws(SyncError) {
                    let part = try result.get()
                    examination.record(try store.wrapped { () throws(FileError) in try batch.add(part) })
                    outcome.filesReceived += 1
                    outcome.bytesReceived += part.size
                } catch {
                    failures[requests[position].expected.sha256] = error
                    if error.endsSync { (end, waiting) = (end ?? error, 0..<0) }
                }
                if results < requests.count { engine.atCommitPoint(.duringObjects) }
                start()
            }
        }
        // Also when the sync ends here: what has come stays for the next one.
        examination.record(try store.wrapped { () throws(FileError) in try batch.finish() })
        if let end { throw end }
        return failures
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
