import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

extension AppRepository {
    /// Writes what packs lead to these versions, and removes it where none does; the caller holds the lock.
    ///
    /// It is a hint: where the disk has no room for it, it is left out.
    ///
    /// - Parameters:
    ///   - manifests: of the versions that packs were made to; nil for all.
    ///   - gone: files that are about to be removed.
    func indexPacks(
        to manifests: Set<SHA256Digest>? = nil,
        without gone: Set<TreePath.File> = []
    ) throws(ServerError) -> TreeChange {
        var listing = try storage.listingOfPacks()
        for file in gone { listing.files[file] = nil }
        let packs = PackIndexes(listing)
        var (writes, old) = ([TreeWrite](), [TreePath.File]())
        for manifest in (manifests.map(packs.reached) ?? packs.manifests).sorted() {
            let file = TreePath.File.packIndex(manifest)
            if let index = packs.index(of: manifest, whole: try wholeBytes(of: manifest, packs)) {
                writes.append(TreeWrite(file: file, source: .bytes(index.json.fileBytes)))
            } else if packs.isWritten(manifest) {
                old.append(file)
            }
        }
        if !old.isEmpty { try storage.remove(old) }
        guard !writes.isEmpty else { return .nothing }
        do throws(ServerError) {
            let change = try storage.put(writes)
            _ = try storage.removeHalfWritten()
            return change
        } catch {
            guard case .file(.noSpace) = error else { throw error }
            try storage.remove(writes.map(\.file))
            _ = try storage.removeHalfWritten()
            return .nothing
        }
    }

    /// Of the pack of a whole bundle as it travels; nil where its manifest is not there.
    func wholeBytes(of manifest: SHA256Digest, _ packs: PackIndexes) throws(ServerError) -> Int? {
        if let form = packs.wholeForm(of: manifest) { return form }
        for file in packs.documents.manifests(manifest) {
            guard let reader = try storage.open(file, limit: Limits.manifest),
                let contents = try? FullPackContents(ofManifest: FileBytes(reader), named: manifest.hex)
            else { continue }
            return contents.pack.offsets.last
        }
        return nil
    }
}
