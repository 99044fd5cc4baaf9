import PatchChoice
import PatchFormat
import PatchStore
import SystemPackage

/// Which files of a store stay, decided from the kept selections, those still served, and the files on disk (M15).
///
/// A file of a kept selection never goes, and none of a served one while a page may ask for it.
struct Retention: Equatable {
    private(set) var objects: Set<SHA256Digest> = []
    private(set) var bundles: Set<SHA256Digest> = []

    /// - Parameters:
    ///   - served: kept or not.
    ///   - manifest: of a kept bundle; nil when it cannot be read.
    /// - Returns: nil when a kept manifest cannot be read: its objects are unknown, so nothing goes.
    init?<Failure>(
        keeping selections: [Selection],
        served: [Selection] = [],
        manifest: (InstalledPatch) throws(Failure) -> AssetManifest?
    ) throws(Failure) {
        for patch in selections.flatMap(\.patches) {
            guard try keep(patch, manifest) else { return nil }
        }
        // No page gets a file of one that cannot be read.
        for patch in served.flatMap(\.patches) { _ = try keep(patch, manifest) }
    }

    /// False when its manifest cannot be read.
    private mutating func keep<Failure>(
        _ patch: InstalledPatch,
        _ manifest: (InstalledPatch) throws(Failure) -> AssetManifest?
    ) throws(Failure) -> Bool {
        objects.insert(patch.fingerprint.sha256)
        if let column = patch.column { objects.insert(column) }
        guard patch.kind == .bundle, bundles.insert(patch.fingerprint.sha256).inserted else { return true }
        guard let manifest = try manifest(patch) else { return false }
        objects.formUnion(manifest.assets.map(\.fingerprint.sha256))
        return true
    }

    /// Keeps these objects, whatever selections name.
    mutating func keep(_ more: Set<SHA256Digest>) {
        objects.formUnion(more)
    }

    /// Uses these bytes from the embedded folder.
    mutating func leave(_ object: SHA256Digest) {
        objects.remove(object)
    }

    func unused(objects found: [SHA256Digest]) -> [SHA256Digest] {
        found.filter { !objects.contains($0) }
    }

    /// - Parameter found: names of folders; names that are no digests are left alone.
    func unused(bundles found: [String]) -> [String] {
        let names = Set(bundles.map(\.hex))
        return found.filter { !names.contains($0) }
    }
}

/// Removes files that no kept or served selection needs.
struct CleanUp {
    let store: DeviceStore

    func run() throws(SyncError) {
        var kept: [Selection] = []
        for channel in try store.channels() {
            let found = try store.foundState(of: channel)
            // The kept selections are unknown, so nothing goes.
            guard found.fault == nil, !found.state.selections.contains(where: \.content.isLost) else { return }
            kept += found.state.selections
        }
        // The next clean-up will know.
        guard let served = try store.servedSelections() else { return }
        var check = IntegrityCheck(store: store, records: store.records())
        let needed = Retention(keeping: kept, served: served) { patch in (try? check.manifest(of: patch)) ?? nil }
        guard var retention = needed else { return }
        // A manifest that the app ships and that was healed here leads to embedded files, which bundles of other
        // manifests may use: it stays even when its own version is gone.
        retention.keep(store.embedded?.manifests ?? [])
        // Intact embedded files are used in their own folder.
        for digest in store.embedded?.digests ?? [:].keys where retention.objects.contains(digest) {
            if try check.isEmbedded(digest) { retention.leave(digest) }
        }
        let files = store.files
        let all: [SHA256Digest]
        do throws(FileError) { all = try store.objects.all() } catch { throw .file(error) }
        let unused = retention.unused(objects: all)
        try check.carrying(all.filter(retention.objects.contains)) { () throws(FileError) in
            for name in retention.unused(bundles: try files.list(store.bundles)) {
                try files.removeTree(store.bundles.at(name))
            }
            for name in try files.list(store.downloading) { try files.removeTree(store.downloading.at(name)) }
        }
        do throws(FileError) {
            for digest in unused { try store.objects.remove(digest) }
            try store.removeIndexes(except: retention.bundles)
            try store.removeSignatureRecords(except: retention.bundles)
        } catch { throw .file(error) }
        check.keep(only: retention.objects)
        try check.save()
    }
}
