import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// Writes the index of packs of each version, and removes an index without packs.
///
/// The caller holds the lock. An index is a hint: if the disk has no space for it, it is left out.
struct IndexPacks: Sendable {
    private let storage: any TreeStorage
    private let manifests: Set<SHA256Digest>?
    private let gone: Set<TreePath.File>

    /// - Parameters:
    ///   - manifests: those of the versions whose packs changed; nil for all.
    ///   - gone: files that are about to be removed.
    init(in repository: AppRepository, to manifests: Set<SHA256Digest>? = nil, without gone: Set<TreePath.File> = []) {
        (storage, self.manifests, self.gone) = (repository.storage, manifests, gone)
    }

    private struct Plan {
        var writes: [TreeWrite] = []
        var old: [TreePath.File] = []
    }

    @discardableResult
    func run() throws(ServerError) -> TreeChange {
        let plan = try plan()
        if !plan.old.isEmpty { try storage.remove(plan.old) }
        guard !plan.writes.isEmpty else { return .nothing }
        do throws(ServerError) {
            let change = try storage.put(plan.writes)
            _ = try storage.removeHalfWritten()
            return change
        } catch {
            guard case .file(.noSpace) = error else { throw error }
            try storage.remove(plan.writes.map(\.file))
            _ = try storage.removeHalfWritten()
            return .nothing
        }
    }

    private func plan() throws(ServerError) -> Plan {
        var listing = try storage.listingOfPacks()
        for file in gone { listing.files[file] = nil }
        let packs = PackIndexes(listing)
        var plan = Plan()
        for manifest in (manifests.map(packs.reached) ?? packs.manifests).sorted() {
            let file = TreePath.File.packIndex(manifest)
            if let index = packs.index(of: manifest, whole: try packs.wholeBytes(of: manifest, in: storage)) {
                plan.writes.append(TreeWrite(file: file, source: .bytes(index.json.fileBytes)))
            } else if packs.isWritten(manifest) {
                plan.old.append(file)
            }
        }
        return plan
    }
}

extension PackIndexes {
    /// The transfer size of a whole bundle's pack; nil if its manifest does not exist.
    func wholeBytes(of manifest: SHA256Digest, in storage: any TreeStorage) throws(ServerError) -> Int? {
        if let form = wholeForm(of: manifest) { return form }
        for file in documents.manifests(manifest) {
            guard let reader = try storage.open(file, limit: Limits.manifest),
                let contents = try? FullPackContents(ofManifest: FileBytes(reader), named: manifest.hex)
            else { continue }
            return contents.pack.offsets.last
        }
        return nil
    }
}
