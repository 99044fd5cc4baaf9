package import Linux
package import PatchFormat
import PatchCrypto
package import SystemPackage

/// The reason why an operation of an object store failed.
package enum StoreError: Error, Equatable, Sendable {
    /// The bytes do not match the entry that names them. `field` is the first of size, md5, sha1 and sha256 that differs.
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

/// Files stored by their SHA-256: `ROOT/ab/<sha256>`, mode 0444, created by rename, never opened for writing.
///
/// A file gets a digest's name only after it was compared with all digests of its entry; ``condition(of:expected:records:)``
/// checks whether it still matches. The caller must have the ``StoreLock`` for every change, so there is one writer at a time.
package struct ObjectStore: Sendable {
    /// `…/objects`.
    package let root: FilePath
    /// `…/PartialDownload`, on the same file system: incomplete files, which are never served.
    package let incoming: FilePath
    /// `…/quarantine`: damaged objects, one for each digest, for diagnosis.
    package var quarantined: FilePath { root.parent.at("quarantine") }

    /// The amount that a batch makes durable at once.
    package var bounds = ObjectBatch.Bounds()

    let files: any FileOperations
    let directoryPermissions: FilePermissions

    /// - Parameter directoryPermissions: The permissions of new directories; 0755 for a tree that a web server reads as another
    ///   user.
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

    /// Creates the store's missing directories.
    ///
    /// Must be called once before anything is stored or received.
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

    /// Whether a file with this digest's name exists; ``condition(of:expected:records:)`` checks its contents.
    package func contains(_ digest: SHA256Digest) throws(FileError) -> Bool {
        try files.status(of: path(of: digest))?.kind == .file
    }

    /// Stores `bytes` under the digest of their entry.
    ///
    /// Afterwards the object is durable. An existing file of the right size is kept, and made durable.
    /// - Returns: its identity, to be recorded once all links are made.
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
            // An interrupted call may have completed the rename.
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

    /// Renames a synced file to its name among the objects.
    ///
    /// Afterwards the object is durable.
    func commit(_ file: FilePath, as digest: SHA256Digest) throws(FileError) -> FileIdentity {
        try files.rename(file, to: path(of: digest))
        try files.syncDirectory(directory(of: digest))
        guard let identity = try files.identity(of: path(of: digest)) else {
            throw .notFound(.inspect, path(of: digest))
        }
        return identity
    }

    /// The bytes under `digest`, without comparing them with it again.
    package func read(_ digest: SHA256Digest, limit: Int) throws(FileError) -> [UInt8] {
        try files.read(path(of: digest), limit: limit)
    }
}
