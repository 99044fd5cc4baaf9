package import PatchFormat
import PatchCrypto
import PatchTrust

/// What a signature is for, as an external signer is told.
package enum SigningPurpose: Equatable, Sendable {
    /// A TUF role, and the id by which it knows the key.
    case role(String, keyID: SHA256Digest)
    case entry

    /// `PATCHLINE_PURPOSE`.
    var name: String {
        switch self {
        case .role(let role, _): role
        case .entry: "entry"
        }
    }

    /// `PATCHLINE_KEYID`.
    func keyID(of key: PublicKey) -> SHA256Digest {
        switch self {
        case .role(_, let id): id
        case .entry: EntryKeys.id(of: key)
        }
    }
}
