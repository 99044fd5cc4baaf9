package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// The folder that ships inside an app: read, and verified only by ``verify(files:)``.
///
/// Nothing is ever written in it, and nothing in it is reached through a symbolic link.
package struct EmbeddedFolder: Sendable {
    /// Without symbolic links on the way.
    package let path: FilePath
    /// As the app's owner names it: a link of it may lead to another build later.
    package let named: FilePath
    package let document: EmbeddedDocument
    /// Of `embedded.json`: another one is another build of the app.
    package let sha256: SHA256Digest

    /// Reads `embedded.json`.
    ///
    /// - Throws: `.missing` where there is none.
    package init(_ named: FilePath, files: any FileOperations) throws(ReleaseError) {
        let path = named.followingLinks
        let bytes = try Self.read(EmbeddedLayout.document, limit: Limits.patchList, in: path, files)
        do throws(FormatError) { document = try EmbeddedDocument(bytes) } catch { throw .format(error) }
        sha256 = SHA256Digest(of: bytes)
        (self.path, self.named) = (path, named)
    }

    /// The app's root of trust, as it lies there.
    package func root(files: any FileOperations) throws(ReleaseError) -> [UInt8] {
        try Self.read(EmbeddedLayout.root, limit: Limits.root, in: path, files)
    }

    /// Where each digest lies below the folder, by its manifests.
    ///
    /// A manifest that is not there as ``document`` names it, and that nobody else has, adds none of its assets.
    ///
    /// - Parameter healed: the bytes of such a manifest, by their digest, from elsewhere.
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
