package import Linux
package import PatchChoice
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust

/// One file of a bundle that is served.
extension IntegrityCheck {
    /// Where a row's file lies, when it is the one that was verified; nothing is read of it.
    package func recorded(_ row: BundleIndex.Row, in patch: InstalledPatch) -> (FileLocation, FileIdentity)? {
        guard let place = try? place(of: row, in: patch), let recorded = recorded(row.sha256, at: place),
            (try? store.files.identity(of: place.path)) == recorded
        else { return nil }
        return (place, recorded)
    }

    /// Which file lies there now.
    package func identity(of row: BundleIndex.Row, in patch: InstalledPatch) -> FileIdentity? {
        (try? place(of: row, in: patch)).flatMap { place in (try? store.files.identity(of: place.path)) ?? nil }
    }

    /// Compares its digest; nil when it is missing or altered.
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

    /// Its bytes, compared with its digest; nil when it is missing or altered.
    package func contents(of row: BundleIndex.Row, in patch: InstalledPatch) throws(FileError) -> [UInt8]? {
        let bytes = try store.files.read(try place(of: row, in: patch).path, limit: row.size)
        return SHA256Digest(of: bytes) == row.sha256 ? bytes : nil
    }

    private func place(of row: BundleIndex.Row, in patch: InstalledPatch) throws(FileError) -> FileLocation {
        try store.place(of: row.path, row.sha256, in: patch.fingerprint.sha256)
    }
}
