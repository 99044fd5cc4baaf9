import PatchChoice
import PatchFormat
import PatchStore
import SystemPackage

/// The files of a store to keep, computed from the kept selections, the served ones, and the files on disk (M15).
///
/// Files of kept selections are never removed. Files of served selections stay while a page may request them.
struct Retention: Equatable {
    private(set) var objects: Set<SHA256Digest> = []
    private(set) var bundles: Set<SHA256Digest> = []

    /// - Parameters:
    ///   - served: The selections being served, kept or not.
    ///   - manifest: Reads the manifest of a kept bundle. Returns nil if it is unreadable.
    /// - Returns: nil if a kept manifest is unreadable. Its objects are unknown, so no file may be removed.
    init?<Failure>(
        keeping selections: [Selection],
        served: [Selection] = [],
        manifest: (InstalledPatch) throws(Failure) -> AssetManifest?
    ) throws(Failure) {
        for patch in selections.flatMap(\.patches) {
            guard try keep(patch, manifest) else { return nil }
        }
        // A bundle whose manifest is unreadable serves no files, so the result is ignored.
        for patch in served.flatMap(\.patches) { _ = try keep(patch, manifest) }
    }

    /// Returns false if the bundle's manifest is unreadable.
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

    /// Keeps these objects regardless of the selections.
    mutating func keep(_ more: Set<SHA256Digest>) {
        objects.formUnion(more)
    }

    /// Marks this object as unneeded, because the embedded file is used instead.
    mutating func leave(_ object: SHA256Digest) {
        objects.remove(object)
    }

    func unused(objects found: [SHA256Digest]) -> [SHA256Digest] {
        found.filter { !objects.contains($0) }
    }

    /// - Parameter found: Names of folders. Names that are not digests are ignored.
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
            // The kept selections are unknown, so no file may be removed.
            guard found.fault == nil, !found.state.selections.contains(where: \.content.isLost) else { return }
            kept += found.state.selections
        }
        // A later clean-up will be able to read the served selections.
        guard let served = try store.servedSelections() else { return }
        var check = IntegrityCheck(store: store, records: store.records())
        let needed = Retention(keeping: kept, served: served) { patch in (try? check.manifest(of: patch)) ?? nil }
        guard var retention = needed else { return }
        // A repaired copy of an embedded manifest leads to embedded files, which bundles of other manifests may use. It stays
        // even after its own version is removed.
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
