package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// The folder that an app embeds.
///
/// It is read here, and verified only by ``verify(files:)``. It is never written to, and no symbolic link in it is followed.
package struct EmbeddedFolder: Sendable {
    /// The path with all symbolic links resolved.
    package let path: FilePath
    /// The path as the app's owner named it.
    ///
    /// A link in it may lead to another build later.
    package let named: FilePath
    package let document: EmbeddedDocument
    /// The digest of `embedded.json`, which identifies the build of the app.
    package let sha256: SHA256Digest

    /// Reads `embedded.json`.
    ///
    /// - Throws: `.missing` if it does not exist.
    package init(_ named: FilePath, files: any FileOperations) throws(ReleaseError) {
        let path = named.followingLinks
        let bytes = try Self.read(EmbeddedLayout.document, limit: Limits.patchList, in: path, files)
        do throws(FormatError) { document = try EmbeddedDocument(bytes) } catch { throw .format(error) }
        sha256 = SHA256Digest(of: bytes)
        (self.path, self.named) = (path, named)
    }

    /// The app's root of trust, not verified.
    package func root(files: any FileOperations) throws(ReleaseError) -> [UInt8] {
        try Self.read(EmbeddedLayout.root, limit: Limits.root, in: path, files)
    }

    /// The path of each digest's file in the folder, according to its manifests.
    ///
    /// If a manifest does not match ``document`` and `healed` has none, its assets are omitted.
    ///
    /// - Parameter healed: Returns the bytes of a manifest from elsewhere, by its digest.
    package func paths(
        files: any FileOperations,
        healed: (SHA256Digest) -> [UInt8]? = { _ in nil }
    ) -> [SHA256Digest: String] {
        var paths: [SHA256Digest: String] = [:]
        for patch in document.patches {
            let (id, digest) = (patch.entry.patchID, patch.entry.fingerprint.sha256)
            switch patch.entry.kind {
            case .script: paths[digest] = EmbeddedLayout.script(id)
            case .bundle:
                paths[digest] = EmbeddedLayout.manifest(id)
                if let column = patch.column { paths[column] = EmbeddedLayout.signatureColumn(id) }
                let name = EmbeddedLayout.manifest(id)
                let own = try? Self.read(name, limit: patch.entry.fingerprint.size, in: path, files)
                let bytes = own.flatMap { SHA256Digest(of: $0) == digest ? $0 : nil } ?? healed(digest)
                guard let bytes, let manifest = try? AssetManifest(bytes, named: name) else { continue }
                for asset in manifest.assets where paths[asset.fingerprint.sha256] == nil {
                    paths[asset.fingerprint.sha256] = EmbeddedLayout.asset(asset.path, of: id)
                }
            }
        }
        return paths
    }

    static func read(
        _ name: String,
        limit: Int,
        in folder: FilePath,
        _ files: any FileOperations
    ) throws(ReleaseError) -> [UInt8] {
        do throws(FileError) {
            return try files.read(folder.at(name), limit: limit)
        } catch .notFound {
            throw .missing(name)
        } catch { throw .file(error) }
    }
}
