package import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The source of versions' documents and contents: a release being uploaded, else the tree.
struct VersionSources: Sendable {
    private let tree: AppTree
    private let release: SignedRelease?

    init(_ tree: AppTree, _ release: SignedRelease? = nil) {
        (self.tree, self.release) = (tree, release)
    }

    /// The bytes of a manifest or a column, checked against the digest in its name.
    func document(_ file: TreePath.File) throws(ServerError) -> [UInt8] {
        guard case .target(let path, let digest) = file else { return try tree.read(file, limit: Limits.manifest) }
        if let bytes = release?.targets[path], SHA256Digest(of: bytes) == digest { return bytes }
        let bytes = try tree.read(file, limit: Limits.manifest)
        guard SHA256Digest(of: bytes) == digest else {
            throw .tree(tree.app, .wrongDigest(name: path.text, algorithm: "sha256"))
        }
        return bytes
    }

    func object(_ digest: SHA256Digest) throws(ServerError) -> any FileReader {
        if let path = release?.objects[digest] {
            do throws(FileError) { return try tree.files.open(path, limit: Limits.object) } catch { throw .file(error) }
        }
        guard let reader = try tree.storage.open(.object(digest), limit: Limits.object) else {
            throw .treeFileMissing(tree.app, "tree/\(tree.app)/\(URLLayout.object(digest))")
        }
        return reader
    }

    /// All available contents.
    ///
    /// The reader of one must check its digest.
    var contents: PackObjects {
        PackObjects { digest in (try? object(digest)).map(FileBytes.init) }
    }
}

/// A version in the tree that a pack is applied to.
package struct PackBase: Sendable {
    package let manifest: PackManifest
    package let column: [UInt8]
    /// The limit for a reader of the base: the bytes to read and produce.
    package let work: Int
}
