import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A new bundle to which no pack leads from the versions that were asked for: by what a server's index of packs says.
///
/// Nobody vouches for the index, nor for the version between two packs. What comes in the end is the signed manifest and its
/// contents, or it is asked for as it is without packs.
extension Download {
    mutating func openListed(
        _ pack: PackIndex.Pack,
        from base: BaseVersion,
        for patch: InstalledPatch,
        hasManifest: Bool
    ) async throws(SyncError) -> OpenPack? {
        var step = step(to: patch, from: base.expecting(pack: pack.size), pack.base)
        step.signatures = pack.signatures
        guard let bytes = try await named(step, of: patch) else { return nil }
        return try open(step, bytes, of: patch, hasManifest: hasManifest)
    }

    mutating func openChain(
        _ pack: PackIndex.Pack,
        through row: PackIndex.Row,
        from base: BaseVersion,
        for patch: InstalledPatch,
        hasManifest: Bool
    ) async throws(SyncError) -> OpenPack? {
        let first = PackStep(
            pack: BasePack(manifest: row.pack.base, base: pack.base),
            base: base.expecting(pack: pack.size, manifest: row.manifest),
            name: "\(patch.label) first pack of two, from \(base.version)",
            signatures: pack.signatures,
            leadsTo: row.column
        )
        guard let bytes = try await named(first, of: patch) else { return nil }
        let between: BaseVersion
        do throws(SyncError) { between = try intermediate(bytes, by: first, to: patch) } catch {
            if error.isOwn, !error.isNoSpace { throw error }
            try? store.objects.remove(first.pack)
            try? store.removeIntermediate()
            transfers.report(.packRefused(patch.label, because: error))
            return nil
        }
        var last = step(to: patch, from: between.expecting(pack: row.pack.size), row.pack.base)
        last.signatures = row.pack.signatures
        guard let manifest = try await named(last, of: patch) else {
            try? store.removeIntermediate()
            return nil
        }
        return try open(last, manifest, of: patch, hasManifest: hasManifest, after: first)
    }

    /// The version that the first pack makes, its contents in a place of their own.
    private func intermediate(
        _ manifest: [UInt8],
        by step: PackStep,
        to patch: InstalledPatch
    ) throws(SyncError) -> BaseVersion {
        var contents = try store.wrapped { () throws(FileError) in
            try IntermediateContents(in: store, fromBaseOf: step.base.contents)
        }
        let version = try step.base.through(manifest, in: contents, to: patch, named: "\(step.name): manifest")
        _ = try step.base.read(step.pack, named: step.name) { result throws(SyncError) in
            try contents.take(result, named: step.name)
            return true
        }
        return version
    }

    /// The manifest that a pack makes which an index names; told where it does not come.
    private mutating func named(_ step: PackStep, of patch: InstalledPatch) async throws(SyncError) -> [UInt8]? {
        switch try await deliver(step, of: patch) {
        case .manifest(let bytes): return bytes
        case .refused: return nil
        case .nowhere:
            let error = SyncError.fetch(.notFound(URLLayout.pack(step.pack, .pack)))
            transfers.report(.packRefused(patch.label, because: error))
            return nil
        }
    }

    /// The index of the first server that has one; one that cannot be read is told of.
    func packIndex(of patch: InstalledPatch) async throws(SyncError) -> PackIndex? {
        let path = URLLayout.packIndex(of: patch.fingerprint.sha256)
        let request = FetchRequest(path, limit: Limits.packIndex, deadline: transfers.deadlines.document)
        for source in transfers.sources.inOrder {
            let bytes: [UInt8]
            do throws(FetchError) { bytes = try await source.fetcher.document(request).bytes } catch .cancelled {
                throw .fetch(.cancelled)
            } catch { continue }
            transfers.sources.count(bytes.count)
            // Of a file that is not there some hosts send their page.
            if bytes.first == UInt8(ascii: "<") { continue }
            do throws(FormatError) { return try PackIndex(bytes, of: patch.fingerprint.sha256) } catch {
                transfers.report(.packRefused(patch.label, because: .format(error)))
                return nil
            }
        }
        return nil
    }
}
