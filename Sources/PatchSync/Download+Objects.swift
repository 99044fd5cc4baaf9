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
        if !place.isEmbedded, try examination.isEmbedded(digest, expected: expected) {
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

    private enum Progress: Sendable {
        case received(position: Int, Result<SealedPart, SyncError>, hasMoved: Bool)
        case committed(Result<[SHA256Digest: FileIdentity], SyncError>)
    }

    /// ``parallel`` at a time, while what came before them is made durable.
    ///
    /// One that fails stops no other; what has come stays for the next sync.
    ///
    /// - Returns: by digest, why an object did not come.
    mutating func fetch(_ requests: MissingObjects) async throws(SyncError) -> [SHA256Digest: SyncError] {
        if !damaged.isEmpty {
            for digest in requests.lazy.map(\.expected.sha256) where damaged.contains(digest) {
                try removeDamaged(digest)
            }
        }
        let (engine, store) = (engine, store)
        var batch = try store.wrapped { () throws(FileError) in try ObjectBatch(in: store.objects) }
        var failures: [SHA256Digest: SyncError] = [:]
        var end: SyncError?
        await withTaskGroup(of: Progress.self) { group in
            var waiting = requests.indices
            var (receiving, results) = (0, 0)
            // Several requests may end while one batch is made durable, and each may fill another.
            var (committing, full): (Bool, [ObjectBatch.Full]) = (false, [])
            func go() {
                if !committing, !full.isEmpty {
                    committing = true
                    let next = full.removeFirst()
                    group.addTask { [batch] in
                        let made = Result { () throws(SyncError) in
                            try store.wrapped { () throws(FileError) in try batch.commit(next) }
                        }
                        return .committed(made)
                    }
                }
                // A disk that is slower than the line: nothing more comes before it has what is here.
                while full.isEmpty, receiving < Self.parallel, let position = waiting.popFirst() {
                    receiving += 1
                    group.addTask {
                        let (result, hasMoved) = await engine.receivePart(of: requests[position])
                        return .received(position: position, result, hasMoved: hasMoved)
                    }
                }
            }
            go()
            while let progress = await group.next() {
                do throws(SyncError) {
                    switch progress {
                    case .committed(let made):
                        committing = false
                        examination.record(try made.get())
                    case .received(let position, let result, let hasMoved):
                        (receiving, results) = (receiving - 1, results + 1)
                        if hasMoved || result.isSuccess {
                            requests.patches(at: position).forEach { outcome.transfers.move($0) }
                        }
                        if case .failure(let error) = result { failures[requests[position].expected.sha256] = error }
                        let part = try result.get()
                        outcome.filesReceived += 1
                        outcome.bytesReceived += part.size
                        if let filled = batch.add(part) { full.append(filled) }
                    }
                } catch {
                    if error.endsSync { (end, waiting) = (end ?? error, 0..<0) }
                }
                if case .received = progress, results < requests.count { engine.atCommitPoint(.duringObjects) }
                go()
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
