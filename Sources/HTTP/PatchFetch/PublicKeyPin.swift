package import PatchFormat

/// A pinned key of a server: SHA-256 of its certificate's SubjectPublicKeyInfo, written `sha256/BASE64` (RFC 7469).
package struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    package static let rule = "must be sha256/ and the base64 of 32 bytes"

    package let digest: SHA256Digest

    package init(digest: SHA256Digest) {
        self.digest = digest
    }

    package init?(_ text: String) {
        guard text.hasPrefix("sha256/"), let bytes = Base64.bytes(String(text.dropFirst(7))),
            let digest = SHA256Digest(bytes: bytes)
        else { return nil }
        self.digest = digest
    }

    package var description: String { "sha256/\(Base64.text(digest.bytes))" }
}
