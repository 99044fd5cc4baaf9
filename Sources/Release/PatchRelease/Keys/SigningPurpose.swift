package import PatchFormat
import PatchCrypto
import PatchTrust

/// The purpose of a signature, which an external signer receives.
package enum SigningPurpose: Equatable, Sendable {
    /// A TUF role, and the key's id in it.
    case role(String, keyID: SHA256Digest)
    case entry

    /// The value of `PATCHLINE_PURPOSE`.
    var name: String {
        switch self {
        case .role(let role, _): role
        case .entry: "entry"
        }
    }

    /// The value of `PATCHLINE_KEYID`.
    func keyID(of key: PublicKey) -> SHA256Digest {
        switch self {
        case .role(_, let id): id
        case .entry: EntryKeys.id(of: key)
        }
    }
}
