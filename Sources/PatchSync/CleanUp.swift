import PatchFormat
import PatchStore
import SystemPackage

/// What stays in a store and what goes, decided from the kept selections and from what lies there (M15).
///
/// Nothing that a kept selection names ever goes.
struct Retention: Equatable {
    private(set) var objects: Set<SHA256Digest> = []
    private(set) var bundles: Set<SHA256Digest> = []

    /// - Parameter manifest: of a kept bundle; nil when it cannot be read.
    /// - Returns: nil when a manifest cannot be read: nothing is known of its objects, so nothing goes.
    init?<Failure>(
        keeping selections: [Selection],
        manifest: (InstalledPatch) throws(Failure) -> AssetManifest?
    ) throws(Failure) {
        for patch in selections.flatMap(\.patches) {
            objects.insert(patch.fingerprint.sha256)
            if let column = patch.column { objects.insert(column) }
            guard patch.kind == .bundle, bundles.insert(patch.fingerprint.sha256).inserted else { continue }
            guard let manifest = try manifest(patch) else { return nil }
            objects.formUnion(manifest.assets.map(\.fingerprint.sha256))
        }
    }

    /// These bytes are used where the app ships them.
    mutating func leave(_ object: SHA256Digest) {
        objects.remove(object)
    }

    func unused(objects found: [SHA256Digest]) -> [SHA256Digest] {
        found.filter { !objects.contains($0) }
    }

    /// - Parameter found: names of folders; one that is no digest is nobody's.
    func unused(bundles found: [String]) -> [String] {
        let names = Set(bundles.map(\.hex))
        return found.filter { !names.contains($0) }
    }
}

/// Removes what no kept selection needs.
struct CleanUp {
    let store: DeviceStore

    func run() throws(SyncError) {
        var kept: [Selection] = []
        for channel in try store.channels() { kept += try store.state(of: channel).machine.kept }
        var examination = Examination(store: store, records: store.records())
        let needed = Retention(keeping: kept) { patch in (try? examination.manifest(of: patch)) ?? nil }
        guard var retention = needed else { return }
        // What the app ships intact is used there.
        for digest in store.embedded?.digests ?? [:].keys where retention.objects.contains(digest) {
            if try examination.isEmbedded(digest) { retention.leave(digest) }
        }
        let files = store.files
        let all: [SHA256Digest]
        do throws(FileError) { all = try store.objects.all() } catch { throw .file(error) }
        let unused = retention.unused(objects: all)
        try examination.carrying(all.filter(retention.objects.contains)) { () throws(FileError) in
            for name in retention.unused(bundles: try files.list(store.bundles)) {
                try files.removeTree(store.bundles.appending(name))
            }
            for name in try files.list(store.downloading) { try files.removeTree(store.downloading.appending(name)) }
        }
        do throws(FileError) {
            for digest in unused { try store.objects.remove(digest) }
            try store.removeIndexes(except: retention.bundles)
        } catch { throw .file(error) }
        examination.keep(only: retention.objects)
        try examination.save()
    }
}
