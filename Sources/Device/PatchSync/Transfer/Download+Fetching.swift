import Linux
import PatchFetch
import PatchFormat
import PatchStore

extension Download {
    /// ``Transfers/parallel`` requests at a time, while what came before them is made durable.
    ///
    /// One that fails stops no other; what has come stays for the next sync.
    ///
    /// - Returns: by digest, why an object did not come.
    mutating func fetch(_ requests: MissingObjects) async throws(SyncError) -> [SHA256Digest: SyncError] {
        if !damaged.isEmpty {
            for digest in requests.indices.lazy.map({ requests.fingerprint(at: $0).sha256 })
            where damaged.contains(digest) {
                try removeDamaged(digest)
            }
        }
        let (store, transfers, atCommitPoint) = (store, transfers, atCommitPoint)
        var reception = try store.wrapped { () throws(FileError) in try Reception(of: requests, in: store.objects) }
        await withTaskGroup(of: ReceptionEvent.self) { group in
            reception.start(in: &group, into: store, by: transfers)
            while let progress = await group.next() {
                do throws(SyncError) { try take(progress, of: &reception) } catch {
                    if error.endsSync { reception.end(with: error) }
                }
                if !progress.isCommit, !reception.hasAll { atCommitPoint(.duringObjects) }
                reception.start(in: &group, into: store, by: transfers)
            }
        }
        // Also when the sync ends here: what has come stays for the next one.
        check.record(try store.wrapped { () throws(FileError) in try reception.batch.finish() })
        if let error = reception.error { throw error }
        return reception.failures
    }

    private mutating func take(_ progress: ReceptionEvent, of reception: inout Reception) throws(SyncError) {
        switch progress {
        case .committed(let made):
            reception.isCommitting = false
            check.record(try made.get())
        case .received(let position, let result, let hasMoved):
            reception.ended(results: 1)
            if hasMoved || result.isSuccess { move(position, of: reception) }
            if case .failure(let error) = result { reception.fail(position, error) }
            keep(try result.get(), of: &reception)
        case .packWritten(let pack, let writer, let written):
            for (position, part) in written.parts {
                move(position, of: reception)
                keep(part, of: &reception)
            }
            if let position = written.begun ?? written.waiting { move(position, of: reception) }
            reception.wrote(written, by: writer, of: pack)
            try reception.concludePack(pack, from: transfers.sources)
        case .packRead(let pack, let end):
            reception.read(pack, end)
            try reception.concludePack(pack, from: transfers.sources)
        }
    }

    /// Bytes of this object came that no later sync asks for.
    private mutating func move(_ position: Int, of reception: Reception) {
        reception.requests.patches(at: position).forEach { outcome.transfers.move($0) }
    }

    private mutating func keep(_ part: SealedPart, of reception: inout Reception) {
        outcome.filesReceived += 1
        outcome.bytesReceived += part.size
        if let full = reception.batch.add(part) { reception.full.append(full) }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
