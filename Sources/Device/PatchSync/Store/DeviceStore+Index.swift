package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `indexes/<manifest sha256>`: the index of an installed bundle, then the SHA-256 of these bytes.
extension DeviceStore {
    var indexes: FilePath { root.at("indexes") }

    /// Nil when it is missing, or anything about it is wrong.
    package func index(of manifest: SHA256Digest) -> BundleIndex? {
        guard
            var bytes = try? files.read(indexes.at(manifest.hex), limit: Limits.bundleIndex),
            let digest = SHA256Digest(bytes: bytes.suffix(SHA256.byteCount))
        else { return nil }
        bytes.removeLast(SHA256.byteCount)
        guard SHA256Digest(of: bytes) == digest else { return nil }
        return BundleIndex(bytes, of: manifest)
    }

    /// Afterwards: durable.
    func save(_ index: consuming BundleIndex) throws(FileError) {
        try files.makeDirectory(indexes)
        let name = index.manifest.hex
        try files.replace(name, in: indexes, with: index.bytes + SHA256Digest(of: index.bytes).bytes)
    }

    /// Removes the indexes of all other bundles.
    func removeIndexes(except kept: Set<SHA256Digest>) throws(FileError) {
        try removeAll(in: indexes, except: kept)
    }
}
