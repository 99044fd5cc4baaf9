import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// Writes which packs lead to which versions, and removes an index where no pack leads.
///
/// The caller holds the lock. An index is a hint: where the disk has no room for it, it is left out.
struct IndexPacks: Sendable {
    private let storage: any TreeStorage
    private let manifests: Set<SHA256Digest>?
    private let gone: Set<TreePath.File>

    /// - Parameters:
    ///   - manifests: of the versions that packs were made to; nil for all.
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
    /// Of the pack of a whole bundle as it travels; nil where its manifest is not there.
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
