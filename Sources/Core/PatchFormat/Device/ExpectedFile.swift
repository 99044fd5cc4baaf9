/// The expected size and digests of a file before its download.
///
/// Lists and manifests name all digests, a role only its SHA-256.
package struct ExpectedFile: Hashable, Sendable {
    /// The size in bytes.
    package let size: Int
    package let sha256: SHA256Digest
    private let fingerprint: Fingerprint?

    package init(_ fingerprint: Fingerprint) {
        (size, sha256) = (fingerprint.size, fingerprint.sha256)
        self.fingerprint = fingerprint
    }

    package init(size: Int, sha256: SHA256Digest) {
        (self.size, self.sha256) = (size, sha256)
        fingerprint = nil
    }

    /// Nil if only the SHA-256 is known.
    package var sha1: SHA1Digest? { fingerprint?.sha1 }

    /// Returns the name of the first difference in `found`, as in ``Fingerprint/firstDifference(from:)``.
    package func firstDifference(in found: Fingerprint) -> String? {
        if let fingerprint { return found.firstDifference(from: fingerprint) }
        if found.size != size { return "size" }
        return found.sha256 == sha256 ? nil : "sha256"
    }
}
