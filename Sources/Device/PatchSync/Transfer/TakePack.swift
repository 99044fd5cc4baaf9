import Linux
import PatchChoice
import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Reads the missing files of a bundle from a pack, by the verified manifest.
struct TakePack {
    let pack: OpenPack
    let patch: InstalledPatch

    /// - Parameter missing: The rows of the missing files.
    /// - Returns: the rows that are still missing.
    func run(_ missing: [Int32], of manifest: AssetManifest, _ download: inout Download) throws(SyncError) -> [Int32] {
        let fingerprints = missing.map { manifest.assets[Int($0)].fingerprint }
        let size = patch.column.flatMap { download.plan.columnSizes[$0] } ?? 0
        let column = download.signatures == .required ? size : 0
        let costs = TransferCosts(missing: missing.map(Int.init), of: PackWeights(manifest.assets), knowing: nil)
        let use = PackUse(
            label: patch.label,
            base: (pack.first ?? pack.step).base.version,
            through: pack.first.map { _ in pack.step.base.version },
            bytes: pack.bytes,
            estimate: WireSize.estimate(ofDocument: patch.fingerprint.size) + costs.bytes + column
        )
        for digest in fingerprints.map(\.sha256) where download.damaged.contains(digest) {
            try download.removeDamaged(digest)
        }
        let received: Set<SHA256Digest>
        do throws(SyncError) {
            received = try unpack(missing, of: manifest, &download)
        } catch {
            try pack.giveUp(for: patch, because: error, download.store, download.transfers)
            var rest: [Int32] = []
            for row in missing where try !download.isIntact(manifest.assets[Int(row)].fingerprint) {
                rest.append(row)
            }
            return rest
        }
        pack.discard(from: download.store)
        download.outcome.packs.append(use)
        download.transfers.report(.byPack(use))
        return missing.filter { !received.contains(manifest.assets[Int($0)].fingerprint.sha256) }
    }

    private func unpack(
        _ missing: [Int32],
        of manifest: AssetManifest,
        _ download: inout Download
    ) throws(SyncError) -> Set<SHA256Digest> {
        guard !missing.isEmpty else { return [] }
        let (store, step, atCommitPoint) = (download.store, pack.step, download.atCommitPoint)
        var contents = try store.wrapped { () throws(FileError) in
            try PackContents(missing, of: manifest, named: patch.label.description, into: store.objects)
        }
        var failure: SyncError?
        do throws(SyncError) {
            _ = try step.base.read(step.pack, named: step.name) { result throws(SyncError) in
                try contents.take(result)
                if !contents.hasAll, case .content = result { atCommitPoint(.duringObjects) }
                return !contents.hasAll
            }
        } catch { failure = error }
        // Also if reading ends with an error: correct files stay.
        do throws(FileError) { try contents.finish() } catch { failure = failure ?? .file(error) }
        download.check.record(contents.made)
        for (digest, size) in contents.received where contents.made[digest] != nil {
            download.damaged.remove(digest)
            download.outcome.filesReceived += 1
            download.outcome.bytesReceived += size
        }
        if let failure { throw failure }
        return Set(contents.received.keys)
    }
}
