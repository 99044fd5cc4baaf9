import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// Creates one key pair in a folder: `NAME.key`, PKCS#8 and readable only by its owner, and `NAME.pub`.
package struct KeyMaker: Sendable {
    package let keyFile: FilePath
    package let publicFile: FilePath
    private let folder: FilePath
    private let files: any FileOperations

    /// - Throws: `.exists` if a key of that name exists, `.keyName` if the name is not valid.
    package init(_ name: String, in folder: FilePath, files: any FileOperations) throws(SigningError) {
        guard Self.isName(name) else { throw .keyName(name) }
        keyFile = folder.at("\(name).key")
        publicFile = folder.at("\(name).pub")
        self.folder = folder
        self.files = files
        for path in [keyFile, publicFile] {
            if try onDisk({ () throws(FileError) in try files.status(of: path) }) != nil { throw .exists(path) }
        }
    }

    /// 1 to 64 portable characters, without a leading dot or dash.
    private static func isName(_ name: String) -> Bool {
        let allowed = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-_.".utf8.contains(byte)
        }
        return (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(allowed) && !name.hasPrefix(".")
            && !name.hasPrefix("-")
    }

    /// Creates both files, durably.
    ///
    /// After an error neither remains, if they can be removed.
    package func make(
        _ kind: KeyKind,
        protection: RootOfTrustMaker.Protection
    ) throws(SigningError) -> PublicKey {
        if case .rsa(let bits) = kind, !(2_048...8_192).contains(bits) { throw .plan(.bits(bits)) }
        let (key, pem): (PrivateKey, [UInt8])
        do throws(KeyError) {
            key = try PrivateKey.generate(kind)
            pem = try protection.pem(of: key)
        } catch { throw .key(keyFile, error) }
        let isNew = try onDisk { () throws(FileError) in try files.status(of: folder) } == nil
        try onDisk { () throws(FileError) in try files.makeDirectory(folder) }
        // A `.gitignore` is only added to a new folder. An existing one may be any working folder.
        if isNew { try KeyFolder(folder, files: files).keepFromGit() }
        try files.writeNew(pem, to: keyFile, permissions: .privateFile)
        do throws(SigningError) {
            try files.writeNew(
                Array(key.publicKey.pem.utf8),
                to: publicFile,
                permissions: .publicFile
            )
        } catch {
            try? files.remove(keyFile)
            throw error
        }
        return key.publicKey
    }
}
