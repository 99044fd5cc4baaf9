import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// Which of the passphrases at hand encrypts a new key.
extension KeyFolder {
    /// The one that opens the key whose place the new key takes: then whoever could use the old one can use the new one.
    ///
    /// Where that private half is not here, or lies in the clear, one that opens any key of the folder, so that no
    /// mistyped passphrase becomes the only one; but not for the server's key, which no holder's passphrase may come to
    /// guard unasked.
    ///
    /// - Throws: `opensNothing` when there is none; nothing is written then.
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

    /// A key in the clear opens with anything, so with nothing.
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
