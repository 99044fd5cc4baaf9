import PatchCrypto
package import PatchFormat

/// The size and the hashes of a target in a targets role.
package struct TargetFile: Hashable, Sendable {
    /// The size in bytes.
    package let length: Int
    package let hashes: ListedHashes

    package init(length: Int, hashes: ListedHashes) {
        self.length = length
        self.hashes = hashes
    }

    package init(length: Int, sha256: SHA256Digest) {
        self.init(length: length, hashes: ListedHashes(sha256: sha256))
    }

    package init(of bytes: [UInt8]) {
        self.init(length: bytes.count, sha256: SHA256Digest(of: bytes))
    }

    package func check(_ bytes: [UInt8], name: String) throws(TrustError) {
        guard bytes.count == length else { throw .wrongLength(name: name, found: bytes.count, expected: length) }
        try hashes.check(bytes, name: name)
    }

    package var sha256: SHA256Digest? { hashes.sha256 }

    /// Returns the SHA-256, which Patchline requires.
    ///
    /// Other TUF repositories may omit it.
    package func requiredSHA256(of name: String) throws(TrustError) -> SHA256Digest {
        guard let sha256 = hashes.sha256 else { throw .noSHA256(target: name) }
        return sha256
    }
}
