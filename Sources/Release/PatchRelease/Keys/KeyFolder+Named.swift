import PatchFormat
import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// Public keys as people name them on a command line.
extension KeyFolder {
    /// The public key in the file at `path`, or, when none is there, the one that `text` names in this folder.
    ///
    /// - Parameters:
    ///   - text: as it was written: a path, `NAME` or `NAME.pub`.
    ///   - path: `text` as a path.
    package func publicKey(_ text: String, at path: FilePath) throws(SigningError) -> PublicKey {
        let isThere = try onDisk { () throws(FileError) in try files.status(of: path) } != nil
        if !isThere, let named = try publicKey(called: text) { return named }
        return try publicKey(at: path)
    }

    /// The key that a role is asked to drop: a name of this folder goes before the beginning of an id, that before a path.
    package func selector(_ text: String, at path: FilePath) throws(SigningError) -> KeySelector {
        guard KeySelector.isKeyID(text) else { return .key(try publicKey(text, at: path)) }
        return try publicKey(called: text).map { .key($0) } ?? .id(text)
    }

    /// Whether the folder's entry key is meant, which no role lists.
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
    /// Eight or more hex digits are the beginning of a key id.
    package static func isKeyID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count) && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}
