import PatchChoice
import PatchFormat
import PatchStore
import ReleaseFolder
import SystemPackage

/// `signatures/<manifest sha256>`: the SHA-256 of the column of which every signature was checked.
///
/// A column that lies here may be one that came and was not looked at yet; a bundle's folder may be that of a device that did
/// without its column. This record alone says that a manifest's entries were checked.
extension DeviceStore {
    var signatures: FilePath { root.at("signatures") }

    /// What cannot be read is checked again.
    func hasChecked(_ column: SHA256Digest, of manifest: SHA256Digest) -> Bool {
        let bytes = try? files.read(signatures.at(manifest.hex), limit: SHA256.byteCount)
        return bytes.map { $0 == column.bytes } ?? false
    }

    /// Nothing is lost where the disk does not take it: the next sync checks again.
    ///
    /// - Precondition: every signature of the column holds for this manifest.
    func recordChecked(_ column: SHA256Digest, of manifest: SHA256Digest) {
        try? files.makeDirectory(signatures)
        try? files.replace(manifest.hex, in: signatures, with: column.bytes)
    }

    /// Of what the app ships: its signatures are checked whatever the device's setting, for they lie there.
    func recordChecked(_ shipped: VerifiedEmbedded) {
        for patch in shipped.document.patches {
            if let column = patch.column { recordChecked(column, of: patch.entry.fingerprint.sha256) }
        }
    }

    /// Removes the records of all other bundles.
    func removeSignatureRecords(except kept: Set<SHA256Digest>) throws(FileError) {
        try removeAll(in: signatures, except: kept)
    }

    /// What is named otherwise than by one of these digests goes.
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
