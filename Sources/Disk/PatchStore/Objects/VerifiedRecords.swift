package import Linux
package import PatchFormat
package import SystemPackage

/// Which file each object was when its digests were last compared, so that an unchanged one is not hashed again.
///
/// ```
/// patchline-verified-v2
/// rows of 72 bytes: sha256, device, inode, size, modified, changed     five numbers of 8 bytes, big-endian
/// ```
///
/// Rows ascend by digest, and are looked up where they lie. It is only a cache: a lost or malformed file, or one of an
/// earlier version, reads as no records, which costs one hashing of the store and trusts nothing. A record wrong by
/// accident matches no file.
package struct VerifiedRecords: Equatable, Sendable {
    /// In bytes: some 400,000 rows.
    package static let fileLimit = 32_000_000

    private var saved = SavedRecords.none
    /// What was recorded or forgotten since.
    private var changes: [SHA256Digest: FileIdentity?] = [:]
    /// Whether the file would be another one.
    package private(set) var isChanged = false

    package init() {}

    /// Nil unless `bytes` are exactly what ``bytes`` writes.
    package init?(parsing bytes: [UInt8]) {
        guard let saved = SavedRecords(parsing: bytes) else { return nil }
        self.saved = saved
    }

    /// The one way in which these records are written.
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

    /// So many changes go into the rows at once: a dictionary of a hundred thousand needs three times their memory.
    private static let fold = 4_096

    /// Forgets all but `digests`.
    package mutating func keep(only digests: Set<SHA256Digest>) {
        let rows = rows
        let kept = rows.filter { digests.contains($0.key) }
        guard kept.count < rows.count else { return }
        (saved, changes, isChanged) = (SavedRecords(kept), [:], true)
    }

    package static func == (left: VerifiedRecords, right: VerifiedRecords) -> Bool {
        left.rows == right.rows
    }

    /// What the file at `path` records; nothing when it is missing, unreadable or malformed.
    package static func load(_ path: FilePath, from files: some FileOperations) -> VerifiedRecords {
        guard let bytes = try? files.read(path, limit: fileLimit) else { return VerifiedRecords() }
        return VerifiedRecords(parsing: bytes) ?? VerifiedRecords()
    }

    /// Replaces the file `name`.
    ///
    /// Afterwards: durable.
    package func save(_ name: String, in directory: FilePath, of files: some FileOperations) throws(FileError) {
        try files.replace(name, in: directory, with: bytes)
    }
}
