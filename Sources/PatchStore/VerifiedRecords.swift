package import PatchFormat
package import SystemPackage

/// Which file each object was when its digests were last compared, so that an unchanged one is not hashed again.
///
/// ```
/// patchline-verified-v1
/// <sha256> <device> <inode> <size> <modified> <changed>
/// ```
///
/// One line a digest, in ascending order, numbers in decimal. It is only a cache: a lost or malformed file reads as no
/// records, which costs one hashing of the store and trusts nothing. A record wrong by accident matches no file.
package struct VerifiedRecords: Equatable, Sendable {
    static let header = "patchline-verified-v1\n"
    /// In bytes: some 200,000 lines.
    package static let fileLimit = 32_000_000

    private(set) var rows: [SHA256Digest: FileIdentity]

    package init() {
        rows = [:]
    }

    package var count: Int { rows.count }

    package subscript(digest: SHA256Digest) -> FileIdentity? {
        get { rows[digest] }
        set { rows[digest] = newValue }
    }

    /// Forgets all but `digests`.
    package mutating func keep(only digests: Set<SHA256Digest>) {
        rows = rows.filter { digests.contains($0.key) }
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
