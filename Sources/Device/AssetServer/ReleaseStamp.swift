import PatchFormat
import PatchCrypto

/// Identifies the origin of a page: the bundle and the script patches of one selection.
///
/// The same selection has the same stamp in every launch and on every device. It is not secret.
package struct ReleaseStamp: Hashable, Sendable {
    /// A field of every response with a file of a bundle.
    ///
    /// It identifies the release of a cached copy.
    package static let field = "Patchline-Release"
    static let rule = "must be 32 lowercase hex digits"

    /// The stamp in 32 lowercase hex digits.
    package let text: String

    /// Computes the first 16 bytes of the SHA-256 over these lines.
    init(of lines: [String]) {
        let text = (["patchline-stamp-v1"] + lines).map { "\($0)\n" }.joined()
        self.text = Hex.text(Array(SHA256Digest(of: Array(text.utf8)).bytes.prefix(16)))
    }

    /// Parses a stamp that a page reports; nil if `text` breaks ``rule``.
    package init?(_ text: some StringProtocol) {
        let isHex = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard text.utf8.count == 32, isHex else { return nil }
        self.text = String(text)
    }
}

extension ReleaseStamp: CustomStringConvertible {
    package var description: String { text }
}
