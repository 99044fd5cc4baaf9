import PatchFormat
import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// Finds public keys as they are named on a command line.
extension KeyFolder {
    /// Returns the public key in the file at `path` or, if that does not exist, the key of this folder that `text` names.
    ///
    /// - Parameters:
    ///   - text: The argument: a path, `NAME` or `NAME.pub`.
    ///   - path: The argument as a path.
    package func publicKey(_ text: String, at path: FilePath) throws(SigningError) -> PublicKey {
        let exists = try onDisk { () throws(FileError) in try files.status(of: path) } != nil
        if !exists, let named = try publicKey(called: text) { return named }
        return try publicKey(at: path)
    }

    /// The key to remove from a role.
    ///
    /// The argument is tried as a name in this folder, then as the beginning of an id, then as a path.
    package func selector(_ text: String, at path: FilePath) throws(SigningError) -> KeySelector {
        guard KeySelector.isKeyID(text) else { return .key(try publicKey(text, at: path)) }
        return try publicKey(called: text).map { .key($0) } ?? .id(text)
    }

    /// Whether the selector matches the folder's entry key, which no role lists.
    package func isEntryKey(_ selector: KeySelector) throws(SigningError) -> Bool {
        guard let entry = try publicKey(RootOfTrustPlan.entry) else { return false }
        return selector.matches(EntryKeys.id(of: entry), TUFKey(entry))
    }

    private func publicKey(called text: String) throws(SigningError) -> PublicKey? {
        guard !text.isEmpty, !text.contains("/") else { return nil }
        return try publicKey(text.hasSuffix(".pub") ? String(text.dropLast(4)) : text)
    }
}

extension KeySelector {
    /// Whether a text may be the beginning of a key id: eight or more hex digits.
    package static func isKeyID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count) && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}
