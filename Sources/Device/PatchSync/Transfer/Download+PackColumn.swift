import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The signature column of a bundle that came by packs: of the base's and of the signatures of new statements, which come
/// beside the packs.
extension Download {
    /// A column that is made: of how many bytes it may be, and what it has to come to.
    private struct WantedColumn {
        let sha256: SHA256Digest
        let size: Int
    }

    /// - Returns: whether it was made; where it was not, it is asked for as a whole.
    mutating func makeColumn(
        _ column: SHA256Digest,
        of patch: InstalledPatch,
        by pack: inout OpenPack?
    ) async throws(SyncError) -> Bool {
        guard let open = pack, let size = plan.columnSizes[column], size <= Limits.signatureColumn,
            let bytes = try? store.bytes(of: open.step.pack.manifest, limit: Limits.manifest),
            let new = try? PackManifest(bytes)
        else { return false }
        var step = open.step
        if let first = open.first {
            // Nobody signed the digest of this one: what comes of it in the end is compared with one that was signed.
            guard let column = first.leadsTo.map({ WantedColumn(sha256: $0.sha256, size: $0.size) }),
                let made = try await self.column(column, to: step.base.manifest, by: first, of: patch)
            else { return false }
            pack?.bytes += made.travelled
            step.base = step.base.with(column: made.bytes)
        }
        let wanted = WantedColumn(sha256: column, size: size)
        guard let made = try await self.column(wanted, to: new, by: step, of: patch) else { return false }
        pack?.bytes += made.travelled
        return try put(made.bytes, as: Fingerprint(of: made.bytes), by: open, for: patch)
    }

    private func column(
        _ column: WantedColumn,
        to new: PackManifest,
        by step: PackStep,
        of patch: InstalledPatch
    ) async throws(SyncError) -> (bytes: [UInt8], travelled: Int)? {
        guard let old = step.base.column() else { return nil }
        let base = step.base.manifest
        func made(of signatures: [UInt8]) throws(PackError) -> [UInt8] {
            try PackSignatures.column(from: base, column: old, to: new, signatures: signatures, digest: column.sha256)
        }
        // Where nothing was signed anew, nothing travels.
        if let made = try? made(of: []) { return (made, 0) }
        if let came = store.objects.signatures(of: step.pack, limit: column.size) {
            do throws(PackError) { return (try made(of: came), BasePack.frontCount + came.count) } catch {
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
}
