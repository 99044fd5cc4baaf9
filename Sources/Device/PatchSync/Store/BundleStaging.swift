import PatchFormat
import PatchStore
import SystemPackage

/// Builds a bundle's folder from hard links to objects, and repairs an existing one.
///
/// A new folder is built under `Downloading/`, which is never served. The rename to `bundles/<manifest sha256>` is the commit.
struct BundleStaging {
    let store: DeviceStore
    var atCommitPoint: (CommitPoint) -> Void = { _ in }

    /// Builds the folder of a bundle, complete and durable.
    ///
    /// Embedded assets need no link. Every other object must exist.
    func stage(_ manifest: AssetManifest, as digest: SHA256Digest, _ check: inout IntegrityCheck) throws(SyncError) {
        let files = store.files
        let growing = store.downloading.at(digest.hex)
        let linked = try own(manifest.assets, &check)
        try check.carrying(linked.lazy.map(\.fingerprint.sha256)) { () throws(FileError) in
            try files.removeTree(growing)
            let batch = try files.beginBatch(on: store.downloading)
            try addLinks(to: linked, in: growing)
            try batch.sync()
            atCommitPoint(.beforeBundleRename)
            // An existing folder is damaged or an interrupted removal. It is not being served.
            try files.removeTree(store.bundle(digest))
            try files.rename(growing, to: store.bundle(digest))
            // Synced first: after a power cut the folder could have both names, and clearing this one would empty it.
            try files.syncDirectory(store.downloading)
            try files.syncDirectory(store.bundles)
        }
    }

    private func addLinks(to assets: [Asset], in root: FilePath) throws(FileError) {
        try store.files.addDirectory(root)
        var folders: Set<String> = [""]
        for asset in assets {
            for folder in asset.path.folders where folders.insert(folder).inserted {
                try store.files.addDirectory(root.at(folder))
            }
            try store.objects.link(asset.fingerprint.sha256, to: root.at(asset.path.text))
        }
    }

    /// The assets that are not embedded, or whose embedded file is damaged.
    private func own(_ assets: [Asset], _ check: inout IntegrityCheck) throws(SyncError) -> [Asset] {
        guard store.embedded != nil else { return assets }
        var own: [Asset] = []
        for asset in assets where try !check.isEmbedded(asset.fingerprint) { own.append(asset) }
        return own
    }

    /// Replaces the files of the named assets by links to intact objects, each in one step, beside a running server.
    ///
    /// The store's own files of embedded assets are removed.
    func heal(_ assets: [Asset], of digest: SHA256Digest, _ check: inout IntegrityCheck) throws(SyncError) {
        let files = store.files
        let linked = try own(assets, &check)
        let shipped = Set(assets.map(\.path)).subtracting(linked.map(\.path))
        try check.carrying(assets.map(\.fingerprint.sha256)) { () throws(FileError) in
            for asset in assets {
                let path = store.bundle(digest).at(asset.path.text)
                let folder = path.parent
                if shipped.contains(asset.path) {
                    try files.removeTree(path)
                    try files.syncDirectory(folder)
                    continue
                }
                let link = store.downloading.at("\(asset.fingerprint.sha256).link")
                try files.makeDirectory(folder)
                try files.removeTree(link)
                if try files.status(of: path)?.kind != .file { try files.removeTree(path) }
                try store.objects.link(asset.fingerprint.sha256, to: link)
                try files.rename(link, to: path)
                // rename(2) leaves both names when they are one file already.
                try files.removeIfPresent(link)
                try files.syncDirectory(folder)
            }
        }
    }
}
