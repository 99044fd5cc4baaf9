import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Obtains the signature column of a bundle.
///
/// If packs produced the bundle's manifest, the column is built from the base's column and the signatures of new entries, which are
/// sent with the packs. Otherwise it is downloaded.
struct DownloadColumn {
    let patch: InstalledPatch
    /// The column's digest.
    let column: SHA256Digest

    /// The digest that a built column must have, and its maximum size.
    private struct WantedColumn {
        let sha256: SHA256Digest
        let size: Int
    }

    func run(by pack: inout OpenPack?, _ download: inout Download) async throws(SyncError) {
        if try await !make(by: &pack, &download) { try await receive(&download) }
    }

    /// - Returns: false if the column cannot be built from the pack's signatures.
    private func make(by pack: inout OpenPack?, _ download: inout Download) async throws(SyncError) -> Bool {
        guard let open = pack, let size = download.plan.columnSizes[column], size <= Limits.signatureColumn,
            let bytes = try? download.store.bytes(of: open.step.pack.manifest, limit: Limits.manifest),
            let new = try? PackManifest(bytes)
        else { return false }
        var step = open.step
        if let first = open.first {
            // The digest of this intermediate column is not signed. The final column built from it is compared with a signed
            // digest.
            guard let column = first.resultColumn.map({ WantedColumn(sha256: $0.sha256, size: $0.size) }),
                let made = try await make(column, to: step.base.manifest, by: first, download.store, download.transfers)
            else { return false }
            pack?.bytes += made.travelled
            step.base = step.base.with(column: made.bytes)
        }
        let wanted = WantedColumn(sha256: column, size: size)
        guard let made = try await make(wanted, to: new, by: step, download.store, download.transfers) else {
            return false
        }
        pack?.bytes += made.travelled
        return try open.put(made.bytes, as: Fingerprint(of: made.bytes), for: patch, &download)
    }

    private func make(
        _ column: WantedColumn,
        to new: PackManifest,
        by step: PackStep,
        _ store: DeviceStore,
        _ transfers: Transfers
    ) async throws(SyncError) -> (bytes: [UInt8], travelled: Int)? {
        guard let old = step.base.column() else { return nil }
        let base = step.base.manifest
        func made(of signatures: [UInt8]) throws(PackError) -> [UInt8] {
            try PackSignatures.column(from: base, column: old, to: new, signatures: signatures, digest: column.sha256)
        }
        // If no entry was signed again, no signatures are downloaded.
        if let made = try? made(of: []) { return (made, 0) }
        if let stored = store.objects.signatures(of: step.pack, limit: column.size) {
            do throws(PackError) { return (try made(of: stored), BasePack.frontCount + stored.count) } catch {
                transfers.report(.packRefused(patch.label, because: .pack(step.name, error)))
            }
        }
        for source in transfers.sources.inOrder {
            var request = FetchRequest(
                URLLayout.pack(step.pack, .signatures),
                limit: min(step.signatures ?? column.size, column.size),
                deadline: transfers.deadlines.document
            )
            request.isPlain = true
            let signatures: [UInt8]
            do throws(FetchError) { signatures = try await source.fetcher.document(request).bytes } catch .cancelled {
                throw .fetch(.cancelled)
            } catch { continue }
            transfers.sources.count(signatures.count)
            do throws(PackError) { return (try made(of: signatures), signatures.count) } catch {
                let error = SyncError.pack(step.name, error)
                transfers.sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
                transfers.report(.packRefused(patch.label, because: error))
            }
        }
        return nil
    }

    private func receive(_ download: inout Download) async throws(SyncError) {
        let target = TargetPath.signatureColumn(
            channel: download.list.list.channel,
            patchID: patch.patchID,
            version: patch.version
        )
        let path = URLLayout.target(target, sha256: column)
        guard let size = download.plan.columnSizes[column] else {
            throw .trust(.noTarget(role: download.list.list.channel.text, target: target.text))
        }
        guard size <= Limits.signatureColumn else { throw .fetch(.tooLarge(path, limit: Limits.signatureColumn)) }
        let expected = ExpectedFile(size: size, sha256: column)
        try await download.receive(ObjectRequest(expected, path: path, entry: "\(patch.label) manifest.sigs"))
    }
}
