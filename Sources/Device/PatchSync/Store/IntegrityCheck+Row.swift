package import Linux
package import PatchChoice
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust

/// Checks of single files of a served bundle.
extension IntegrityCheck {
    /// The location of a row's file if it is the verified one.
    ///
    /// The file is not read.
    package func recorded(_ row: BundleIndex.Row, in patch: InstalledPatch) -> (FileLocation, FileIdentity)? {
        guard let place = try? place(of: row, in: patch), let recorded = recorded(row.sha256, at: place),
            (try? store.files.identity(of: place.path)) == recorded
        else { return nil }
        return (place, recorded)
    }

    /// The identity of the row's present file.
    package func identity(of row: BundleIndex.Row, in patch: InstalledPatch) -> FileIdentity? {
        (try? place(of: row, in: patch)).flatMap { place in (try? store.files.identity(of: place.path)) ?? nil }
    }

    /// Compares the file with its digest.
    ///
    /// Returns nil if it is missing or altered.
    package mutating func examine(
        _ row: BundleIndex.Row,
        in patch: InstalledPatch
    ) throws(FileError) -> (FileLocation, FileIdentity)? {
        let place = try place(of: row, in: patch)
        let recorded = recorded(row.sha256, at: place)
        let condition = try store.files.condition(of: place.path, row.sha256, expected: nil, recorded: recorded)
        guard case .intact(let identity) = condition else { return nil }
        return (place, identity)
    }

    /// The file's bytes, compared with their digest, or nil if the file is missing or altered.
    package func contents(of row: BundleIndex.Row, in patch: InstalledPatch) throws(FileError) -> [UInt8]? {
        let bytes = try store.files.read(try place(of: row, in: patch).path, limit: row.size)
        return SHA256Digest(of: bytes) == row.sha256 ? bytes : nil
    }

    private func place(of row: BundleIndex.Row, in patch: InstalledPatch) throws(FileError) -> FileLocation {
        try store.place(of: row.path, row.sha256, in: patch.fingerprint.sha256)
    }
}
