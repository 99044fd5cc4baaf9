import PatchChoice
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// The locations of the embedded files, by digest.
///
/// Read once, when the value is created. The embedded files are never written, copied or downloaded.
package struct EmbeddedFiles: Sendable {
    package let folder: FilePath
    /// The embedded bundles.
    ///
    /// Their manifests lead to their assets.
    let bundles: [InstalledPatch]
    /// Paths relative to ``folder``.
    private let paths: [SHA256Digest: String]

    /// - Parameter store: Contains repaired manifests. Without it, a damaged embedded manifest would hide its assets.
    init(_ embedded: EmbeddedFolder, in store: DeviceStore) {
        let paths = embedded.paths(files: store.files) { digest in
            let bytes = try? store.files.read(store.objects.path(of: digest), limit: Limits.manifest)
            return bytes.flatMap { SHA256Digest(of: $0) == digest ? $0 : nil }
        }
        self.paths = paths
        folder = embedded.path
        bundles = embedded.document.patches.filter { $0.entry.kind == .bundle }.map { patch in
            InstalledPatch(patch.entry, column: patch.column)
        }
    }

    var manifests: Set<SHA256Digest> { Set(bundles.map(\.fingerprint.sha256)) }

    package func file(_ digest: SHA256Digest) -> FilePath? {
        paths[digest].map(folder.appending)
    }

    var digests: Dictionary<SHA256Digest, String>.Keys { paths.keys }
}

/// The location of a file on disk with the wanted bytes.
package struct FileLocation: Equatable, Sendable {
    package let path: FilePath
    /// The folder below which symbolic links are not followed.
    package let root: FilePath
    /// Whether it is an embedded file.
    package let isEmbedded: Bool
}

/// Finds the file of an asset or object: the store's own file if it exists (it repairs a damaged embedded one), else the
/// embedded file with that digest.
extension DeviceStore {
    package func place(of asset: Asset, in bundle: SHA256Digest) throws(FileError) -> FileLocation {
        try place(of: asset.path.text, asset.fingerprint.sha256, in: bundle)
    }

    /// - Parameter path: The path of an asset in its bundle.
    package func place(of path: String, _ digest: SHA256Digest, in bundle: SHA256Digest) throws(FileError)
        -> FileLocation
    {
        let folder = self.bundle(bundle)
        return try place(folder.at(path), below: folder, of: digest)
    }

    /// The location of a script, manifest or signature column.
    func place(of digest: SHA256Digest) throws(FileError) -> FileLocation {
        try place(objects.path(of: digest), below: objects.root, of: digest)
    }

    private func place(_ own: FilePath, below root: FilePath, of digest: SHA256Digest) throws(FileError) -> FileLocation
    {
        guard let embedded, let shipped = embedded.file(digest), try files.status(of: own) == nil else {
            return FileLocation(path: own, root: root, isEmbedded: false)
        }
        return FileLocation(path: shipped, root: embedded.folder, isEmbedded: true)
    }

    /// The bytes of a script, manifest or column.
    ///
    /// Their digest is not compared again.
    func bytes(of digest: SHA256Digest, limit: Int) throws(FileError) -> FileBytes {
        FileBytes(try files.open(try place(of: digest).path, limit: limit))
    }
}
