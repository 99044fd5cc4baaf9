/// What is known of a file before it comes: lists and manifests name all its digests, a role its SHA-256 alone.
package struct ExpectedFile: Hashable, Sendable {
    /// In bytes.
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

    /// Nil where nobody names it.
    package var sha1: SHA1Digest? { fingerprint?.sha1 }

    /// What of `found` is wrong, as ``Fingerprint/firstDifference(from:)`` names it.
    package func firstDifference(in found: Fingerprint) -> String? {
        if let fingerprint { return found.firstDifference(from: fingerprint) }
        if found.size != size { return "size" }
        return found.sha256 == sha256 ? nil : "sha256"
    }
}
