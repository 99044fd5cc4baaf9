import PatchChoice
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// Where the bytes lie that the app ships, by their digest.
///
/// Read once, when the value is made. Nothing here is ever written, copied or fetched.
package struct EmbeddedFiles: Sendable {
    package let folder: FilePath
    /// That the app ships: by their manifests their assets are found.
    let bundles: [InstalledPatch]
    /// Below ``folder``.
    private let paths: [SHA256Digest: String]

    /// - Parameter store: where a damaged manifest was healed; without it the assets that it names would be lost too.
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

/// A file on disk that holds the bytes.
package struct FileLocation: Equatable, Sendable {
    package let path: FilePath
    /// Below which no symbolic link is followed.
    package let root: FilePath
    /// Whether it is the app's own file.
    package let isEmbedded: Bool
}

/// The one answer to where an asset or object lies: the store's own file where there is one, which heals the app's; else
/// the file with that digest that the app ships.
extension DeviceStore {
    package func place(of asset: Asset, in bundle: SHA256Digest) throws(FileError) -> FileLocation {
        try place(of: asset.path.text, asset.fingerprint.sha256, in: bundle)
    }

    /// - Parameter path: of an asset in its bundle.
    package func place(of path: String, _ digest: SHA256Digest, in bundle: SHA256Digest) throws(FileError)
        -> FileLocation
    {
        let folder = self.bundle(bundle)
        return try place(folder.at(path), below: folder, of: digest)
    }

    /// A script, manifest or signature column.
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

    /// The bytes of a script, manifest or column, not compared with their digest again.
    func bytes(of digest: SHA256Digest, limit: Int) throws(FileError) -> FileBytes {
        FileBytes(try files.open(try place(of: digest).path, limit: limit))
    }
}
