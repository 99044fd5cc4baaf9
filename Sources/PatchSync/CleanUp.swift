import PatchFormat
import PatchStore
import SystemPackage

/// Removes what no kept selection needs.
///
/// Nothing that a selection names is ever touched.
struct CleanUp {
    let store: DeviceStore

    func run() throws(SyncError) {
        var kept: [Selection] = []
        for channel in try store.channels() { kept += try store.state(of: channel).machine.kept }
        var examination = Examination(store: store, records: store.records())
        var objects: Set<SHA256Digest> = []
        var bundles: Set<String> = []
        for patch in kept.flatMap(\.patches) {
            objects.insert(patch.fingerprint.sha256)
            if let column = patch.column { objects.insert(column) }
            guard patch.kind == .bundle else { continue }
            bundles.insert(patch.fingerprint.sha256.hex)
            // A manifest that cannot be read tells nothing of its objects: leave everything as it is.
            guard case .some(let manifest) = try? examination.manifest(of: patch) else { return }
            objects.formUnion(manifest.assets.map(\.fingerprint.sha256))
        }
        // What the app ships intact is used there.
        for digest in store.embedded?.digests ?? [:].keys where objects.contains(digest) {
            if try examination.isEmbedded(digest) { objects.remove(digest) }
        }
        let files = store.files
        let all: [SHA256Digest]
        do throws(FileError) { all = try store.objects.all() } catch { throw .file(error) }
        let survivors = all.filter(objects.contains)
        try examination.carrying(survivors) { () throws(FileError) in
            for name in try files.list(store.bundles) where !bundles.contains(name) {
                try files.removeTree(store.bundles.appending(name))
            }
            for name in try files.list(store.downloading) { try files.removeTree(store.downloading.appending(name)) }
        }
        do throws(FileError) {
            for digest in all where !objects.contains(digest) { try store.objects.remove(digest) }
        } catch { throw .file(error) }
        examination.keep(only: objects)
        try examination.save()
    }
}
