import Linux
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto

/// Downloads the objects that the prepared patches lack.
struct DownloadObjects {
    let tasks: [PatchDownload]

    /// Sends up to ``Transfers/parallel`` requests at a time, while received objects are made durable.
    ///
    /// A failed request does not stop the others. Received bytes stay for the next sync.
    ///
    /// - Returns: the reason for each missing object, by digest.
    func run(_ download: inout Download) async throws(SyncError) -> [SHA256Digest: SyncError] {
        let requests = MissingObjects(tasks)
        try removeUnwantedParts(requests, download)
        download.transfers.report(
            .downloading(
                files: requests.count,
                bytes: requests.indices.reduce(0) { $0 + requests.fingerprint(at: $1).size }
            )
        )
        if tasks.isEmpty { return [:] }
        if !download.damaged.isEmpty {
            for digest in requests.indices.lazy.map({ requests.fingerprint(at: $0).sha256 })
            where download.damaged.contains(digest) {
                try download.removeDamaged(digest)
            }
        }
        let (store, transfers, atCommitPoint) = (download.store, download.transfers, download.atCommitPoint)
        var reception = try store.wrapped { () throws(FileError) in try Reception(of: requests, in: store.objects) }
        await withTaskGroup(of: ReceptionEvent.self) { group in
            reception.start(in: &group, into: store, by: transfers)
            while let progress = await group.next() {
                do throws(SyncError) { try take(progress, of: &reception, &download) } catch {
                    if error.endsSync { reception.end(with: error) }
                }
                if !progress.isCommit, !reception.hasAll { atCommitPoint(.duringObjects) }
                reception.start(in: &group, into: store, by: transfers)
            }
        }
        // Also if the sync ends here: received objects stay for the next one.
        download.check.record(try store.wrapped { () throws(FileError) in try reception.batch.finish() })
        if let error = reception.error { throw error }
        return reception.failures
    }

    private func take(
        _ progress: ReceptionEvent,
        of reception: inout Reception,
        _ download: inout Download
    ) throws(SyncError) {
        switch progress {
        case .committed(let made):
            reception.isCommitting = false
            download.check.record(try made.get())
        case .received(let position, let result, let hasMoved):
            reception.ended(results: 1)
            if hasMoved || result.isSuccess { move(position, of: reception, &download) }
            if case .failure(let error) = result { reception.fail(position, error) }
            keep(try result.get(), of: &reception, &download)
        case .packWritten(let pack, let writer, let written):
            for (position, part) in written.parts {
                move(position, of: reception, &download)
                keep(part, of: &reception, &download)
            }
            if let position = written.begun ?? written.waiting { move(position, of: reception, &download) }
            reception.wrote(written, by: writer, of: pack)
            try reception.concludePack(pack, from: download.transfers.sources)
        case .packRead(let pack, let end):
            reception.read(pack, end)
            try reception.concludePack(pack, from: download.transfers.sources)
        }
    }

    /// Records that bytes of this object were received that no later sync requests again.
    private func move(_ position: Int, of reception: Reception, _ download: inout Download) {
        reception.requests.patches(at: position).forEach { download.outcome.transfers.move($0) }
    }

    private func keep(_ part: SealedPart, of reception: inout Reception, _ download: inout Download) {
        download.outcome.filesReceived += 1
        download.outcome.bytesReceived += part.size
        if let full = reception.batch.add(part) { reception.full.append(full) }
    }

    /// Removes partial files that no wanted object needs.
    ///
    /// All of them stay if a patch failed before its files were known, or only waits, because they may belong to it.
    private func removeUnwantedParts(_ requests: MissingObjects, _ download: Download) throws(SyncError) {
        let store = download.store
        guard download.outcome.failures.isEmpty, !download.plan.hasPostponed else { return }
        try store.wrapped { () throws(FileError) in
            try store.objects.removePartialDownloads(
                except: Set(requests.indices.lazy.map { requests.fingerprint(at: $0).sha256 })
                    .union(requests.manifests.map(\.sha256))
            )
        }
        // Every manifest is complete now. The received bytes of a bundle's pack are named by the manifest's digest, and stay.
        for manifest in requests.manifests {
            do throws(StoreError) { try store.objects.removePart(of: ExpectedFile(manifest)) } catch {
                throw SyncError(error, entry: "\(manifest.sha256)")
            }
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
