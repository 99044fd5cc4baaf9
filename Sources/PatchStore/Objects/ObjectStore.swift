package import FileFacts
package import PatchFormat
import PatchTrust
package import SystemPackage

/// What an object store refuses, or could not do.
package enum StoreError: Error, Equatable, Sendable {
    /// Bytes are not those of the entry that names them; `field` is the first of size, md5, sha1, sha256 that differs.
    case mismatch(SHA256Digest, field: String)
    case file(FileError)
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .mismatch(let digest, let field): "object \(digest): \(field) does not match"
        case .file(let error): error.description
        }
    }
}

/// Files by their SHA-256: `ROOT/ab/<sha256>`, mode 0444, made by rename, never opened for writing.
///
/// What stands under a digest was compared with all digests of its entry before it got that name;
/// ``condition(of:expected:records:)`` says whether it is still so. One writer at a time: the caller holds the
/// ``StoreLock`` for all that changes a store.
package struct ObjectStore: Sendable {
    /// `…/objects`.
    package let root: FilePath
    /// `…/PartialDownload`, on the same file system: never served, and what is in it may be half written.
    package let incoming: FilePath
    /// `…/quarantine`: damaged objects, one of each digest, for whoever wants to know what happened.
    package var quarantined: FilePath { root.parent.at("quarantine") }

    /// How much is made durable at once.
    package var bounds = ObjectBatch.Bounds()

    let files: any FileOperations
    let directoryPermissions: FilePermissions

    /// - Parameter directoryPermissions: of the directories that the store makes; 0755 for a tree that a web server
    ///   reads as another user.
    package init(
        root: FilePath,
        incoming: FilePath,
        files: any FileOperations,
        directoryPermissions: FilePermissions = .privateDirectory
    ) {
        self.root = root
        self.incoming = incoming
        self.files = files
        self.directoryPermissions = directoryPermissions
    }

    /// Makes the store's directories where they are missing.
    ///
    /// Call once before anything is put or received.
    package func prepare() throws(FileError) {
        try files.makeDirectory(root, permissions: directoryPermissions)
        try files.makeDirectory(incoming, permissions: .privateDirectory)
    }

    package func path(of digest: SHA256Digest) -> FilePath {
        root.at("\(Hex.text(digest.bytes.prefix(1)))/\(digest.hex)")
    }

    func directory(of digest: SHA256Digest) -> FilePath {
        root.at(Hex.text(digest.bytes.prefix(1)))
    }

    /// Whether a file stands under this digest; what is in it is for ``condition(of:expected:records:)`` to say.
    package func contains(_ digest: SHA256Digest) throws(FileError) -> Bool {
        try files.status(of: path(of: digest))?.kind == .file
    }

    /// Stores `bytes` under the digest of their entry.
    ///
    /// Afterwards: the object is durable. A file of the right size that stands there already stays, and is made
    /// durable.
    /// - Returns: what to record once nothing will be linked any more.
    /// - Throws: `mismatch` before anything is written.
    @discardableResult
    package func put(_ bytes: [UInt8], as expected: Fingerprint) throws(StoreError) -> FileIdentity {
        if let field = Fingerprint(of: bytes).firstDifference(from: expected) {
            throw .mismatch(expected.sha256, field: field)
        }
        do throws(FileError) {
            return try put(checked: bytes, as: expected.sha256)
        } catch {
            throw .file(error)
        }
    }

    private func put(checked bytes: [UInt8], as digest: SHA256Digest) throws(FileError) -> FileIdentity {
        try files.makeDirectory(directory(of: digest), permissions: directoryPermissions)
        if let there = try files.status(of: path(of: digest)), there.kind == .file, there.identity.size == bytes.count {
            // An interrupted call may have got as far as the rename.
            try files.syncDirectory(directory(of: digest))
            return there.identity
        }
        let new = incoming.at("\(digest).new")
        do throws(FileError) {
            try files.removeIfPresent(new)
            try files.write(bytes, to: new, permissions: .sealed)
            return try commit(new, as: digest)
        } catch {
            try? files.remove(new)
            throw error
        }
    }

    /// Gives a synced file its name among the objects.
    ///
    /// Afterwards: the object is durable.
    func commit(_ file: FilePath, as digest: SHA256Digest) throws(FileError) -> FileIdentity {
        try files.rename(file, to: path(of: digest))
        try files.syncDirectory(directory(of: digest))
        guard let identity = try files.identity(of: path(of: digest)) else {
            throw .notFound(.inspect, path(of: digest))
        }
        return identity
    }

    /// The bytes under `digest`, not compared with it again.
    package func read(_ digest: SHA256Digest, limit: Int) throws(FileError) -> [UInt8] {
        try files.read(path(of: digest), limit: limit)
    }
}
