package import Linux
package import PatchFormat
package import SystemPackage

/// The identity of each object's file when its digests were last compared, so that an unchanged file is not hashed again.
///
/// ```
/// patchline-verified-v2
/// rows of 72 bytes: sha256, device, inode, size, modified, changed     five numbers of 8 bytes, big-endian
/// ```
///
/// Rows are in ascending order of digests, and are looked up in place. The file is only a cache: if it is lost, malformed or of
/// an earlier version, there are no records. That costs one hashing of the store, and nothing unverified is trusted. An
/// accidentally wrong record matches no file.
package struct VerifiedRecords: Equatable, Sendable {
    /// In bytes: about 400,000 rows.
    package static let fileLimit = 32_000_000

    private var saved = SavedRecords.none
    /// The changes since the file was read.
    private var changes: [SHA256Digest: FileIdentity?] = [:]
    /// Whether the file's content would change.
    package private(set) var isChanged = false

    package init() {}

    /// Returns nil unless `bytes` are exactly the output of ``bytes``.
    package init?(parsing bytes: [UInt8]) {
        guard let saved = SavedRecords(parsing: bytes) else { return nil }
        self.saved = saved
    }

    /// The only serialised form of these records.
    package var bytes: [UInt8] {
        saved.with(changes).bytes
    }

    package var count: Int { rows.count }

    private var rows: [SHA256Digest: FileIdentity] {
        var rows = saved.rows
        for (digest, file) in changes { rows[digest] = file }
        return rows
    }

    package subscript(digest: SHA256Digest) -> FileIdentity? {
        get { changes[digest] ?? saved[digest] }
        set {
            guard self[digest] != newValue else { return }
            changes[digest] = .some(newValue)
            isChanged = true
            if changes.count >= Self.fold { (saved, changes) = (saved.with(changes), [:]) }
        }
    }

    /// The number of changes that are merged into the rows at once: a dictionary of a hundred thousand needs three times their
    /// memory.
    private static let fold = 4_096

    /// Removes all records except those of `digests`.
    package mutating func keep(only digests: Set<SHA256Digest>) {
        let rows = rows
        let kept = rows.filter { digests.contains($0.key) }
        guard kept.count < rows.count else { return }
        (saved, changes, isChanged) = (SavedRecords(kept), [:], true)
    }

    package static func == (left: VerifiedRecords, right: VerifiedRecords) -> Bool {
        left.rows == right.rows
    }

    /// The records in the file at `path`; none if it is missing, unreadable or malformed.
    package static func load(_ path: FilePath, from files: some FileOperations) -> VerifiedRecords {
        guard let bytes = try? files.read(path, limit: fileLimit) else { return VerifiedRecords() }
        return VerifiedRecords(parsing: bytes) ?? VerifiedRecords()
    }

    /// Replaces the file `name`, durably.
    package func save(_ name: String, in directory: FilePath, of files: some FileOperations) throws(FileError) {
        try files.replace(name, in: directory, with: bytes)
    }
}
