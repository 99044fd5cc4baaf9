import PatchChoice
import PatchFormat
import PatchStore
import ReleaseFolder
import SystemPackage

/// `signatures/<manifest sha256>`: the SHA-256 of the signature column in which every signature was checked.
///
/// A stored column may be downloaded but not checked yet, and a bundle's folder may have been installed without its column.
/// Only this record proves that the signatures of a manifest's entries were checked.
extension DeviceStore {
    var signatures: FilePath { root.at("signatures") }

    /// Returns false if the record is unreadable.
    ///
    /// The column is then checked again.
    func hasChecked(_ column: SHA256Digest, of manifest: SHA256Digest) -> Bool {
        let bytes = try? files.read(signatures.at(manifest.hex), limit: SHA256.byteCount)
        return bytes.map { $0 == column.bytes } ?? false
    }

    /// Records a checked column.
    ///
    /// If the record cannot be written, the next sync checks again.
    ///
    /// - Precondition: Every signature of the column is valid for this manifest.
    func recordChecked(_ column: SHA256Digest, of manifest: SHA256Digest) {
        try? files.makeDirectory(signatures)
        try? files.replace(manifest.hex, in: signatures, with: column.bytes)
    }

    /// Records the columns of the embedded bundles, whose signatures are checked regardless of the device's setting.
    func recordChecked(_ shipped: VerifiedEmbedded) {
        for patch in shipped.document.patches {
            if let column = patch.column { recordChecked(column, of: patch.entry.fingerprint.sha256) }
        }
    }

    /// Removes the records of all other bundles.
    func removeSignatureRecords(except kept: Set<SHA256Digest>) throws(FileError) {
        try removeAll(in: signatures, except: kept)
    }

    /// Removes all files that are not named by one of these digests.
    func removeAll(in folder: FilePath, except kept: Set<SHA256Digest>) throws(FileError) {
        let names = Set(kept.map(\.hex))
        do throws(FileError) {
            for name in try files.list(folder) where !names.contains(name) {
                try files.removeTree(folder.at(name))
            }
        } catch .notFound {
            return
        }
    }
}
