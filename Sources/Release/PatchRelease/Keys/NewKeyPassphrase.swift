import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// Chooses the passphrase that encrypts a new key.
extension KeyFolder {
    /// Returns the passphrase that opens the replaced key: every holder of the old key can then use the new one.
    ///
    /// If that private key is not in the folder or not encrypted, returns a passphrase that opens any key of the folder, so that
    /// a mistyped passphrase is not accepted. This does not apply to the server's online key: a holder's passphrase must not
    /// protect it by accident.
    ///
    /// - Throws: `opensNothing` if no passphrase fits. Nothing is written then.
    package func passphrase(replacing name: String, among given: [String]) throws(SigningError) -> String {
        let old = privateFile(name)
        let decides = try isEncrypted(old) || name == RootOfTrustPlan.online
        for file in decides ? [old] : try privateFiles() {
            for text in given where try opens(file, with: text) { return text }
        }
        throw .opensNothing(decides ? old : folder)
    }

    private func privateFiles() throws(SigningError) -> [FilePath] {
        try onDisk { () throws(FileError) in try files.list(folder) }.filter { $0.hasSuffix(".key") }
            .map { folder.at($0) }
    }

    private func isEncrypted(_ file: FilePath) throws(SigningError) -> Bool {
        guard try onDisk({ () throws(FileError) in try files.status(of: file) }) != nil else { return false }
        return try failure(of: file, passphrase: nil) == .needsPassphrase
    }

    /// Whether the passphrase opens an encrypted key.
    ///
    /// An unencrypted key opens with any passphrase, so it never counts.
    private func opens(_ file: FilePath, with passphrase: String) throws(SigningError) -> Bool {
        guard try isEncrypted(file) else { return false }
        return try failure(of: file, passphrase: passphrase) == nil
    }

    private func failure(of file: FilePath, passphrase: String?) throws(SigningError) -> KeyError? {
        let pem = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
        do throws(KeyError) {
            _ = try PrivateKey(pem: pem, passphrase: passphrase)
            return nil
        } catch { return error }
    }
}
