import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// The key pairs of a holder's folder, and the replacement of a pair by a new one.
///
/// ```
/// NAME.key, NAME.pub              in use
/// NAME.next.key, NAME.next.pub    staged; no published role lists it yet
/// retired/NAME-KEYID8.key, .pub   replaced; kept, because programs never delete private keys
/// ```
package struct KeyFolder: Sendable {
    package static let retired = "retired"
    package static let ignoreFile = ".gitignore"

    /// Ignores private keys and passphrases, also in ``retired``: a pattern without a slash matches at any depth.
    static let ignoreText = Array(
        """
        # Private keys and passphrases stay out of version control.
        *.key
        *.pass

        """.utf8
    )

    package let folder: FilePath
    package let files: any FileOperations

    package init(_ folder: FilePath, files: any FileOperations) {
        self.folder = folder
        self.files = files
    }

    package static func next(_ name: String) -> String { "\(name).next" }

    package func privateFile(_ name: String) -> FilePath { folder.at("\(name).key") }
    package func publicFile(_ name: String) -> FilePath { folder.at("\(name).pub") }

    package func hasPrivateKey(_ name: String) throws(SigningError) -> Bool {
        try exists(privateFile(name))
    }

    /// Whether `NAME.signer` exists, the description of a command that signs with the key.
    package func hasSigner(_ name: String) throws(SigningError) -> Bool {
        try exists(folder.at("\(name).\(KeyReference.signerExtension)"))
    }

    func hasIgnoreFile() throws(SigningError) -> Bool {
        try exists(folder.at(Self.ignoreFile))
    }

    /// Whether git would add private keys of this folder because its own `.gitignore` does not list them.
    ///
    /// Only this file is read. A `.gitignore` in a parent folder may list them too.
    package func leavesKeysToGit() throws(SigningError) -> Bool {
        let file = folder.at(Self.ignoreFile)
        guard try hasIgnoreFile() else { return true }
        let bytes = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return !lines.contains { ["*.key", "*"].contains($0.trimmed) }
    }

    /// Creates a `.gitignore` that lists private keys, unless there is one.
    func keepFromGit() throws(SigningError) {
        guard try !hasIgnoreFile() else { return }
        try onDisk { () throws(FileError) in
            try files.replace(Self.ignoreFile, in: folder, with: Self.ignoreText, permissions: .publicFile)
        }
    }

    /// Every `NAME.pub` that is a public key, by name; other files are skipped.
    package func publicKeys() throws(SigningError) -> [(name: String, key: PublicKey)] {
        let names = try onDisk { () throws(FileError) in try files.list(folder) }
        var found: [(name: String, key: PublicKey)] = []
        for name in names where name.hasSuffix(".pub") {
            guard let key = try? publicKey(at: folder.at(name)) else { continue }
            found.append((String(name.dropLast(4)), key))
        }
        return found
    }

    /// Returns nil if `NAME.pub` does not exist.
    package func publicKey(_ name: String) throws(SigningError) -> PublicKey? {
        try exists(publicFile(name)) ? try publicKey(at: publicFile(name)) : nil
    }

    package func publicKey(at path: FilePath) throws(SigningError) -> PublicKey {
        try PublicKey(file: path, files: files)
    }

    /// Stages a new pair next to the current one.
    ///
    /// Afterwards: both files are durable, the private one first.
    ///
    /// A pair staged by an earlier call is retired, because a draft may name it.
    package func stage(
        _ key: PrivateKey,
        as name: String,
        protection: RootOfTrustMaker.Protection
    ) throws(SigningError) {
        let next = Self.next(name)
        let pem: [UInt8]
        do throws(KeyError) { pem = try protection.pem(of: key) } catch { throw .key(privateFile(next), error) }
        try retire(next, withKey: true)
        try onDisk { () throws(FileError) in
            try files.removeIfPresent(publicFile(next))
            try files.syncDirectory(folder)
            try files.replace("\(next).key", in: folder, with: pem)
            try files.replace(
                "\(next).pub",
                in: folder,
                with: Array(key.publicKey.pem.utf8),
                permissions: .publicFile
            )
        }
    }

    /// Renames each staged pair whose key `isCurrent` accepts, and retires the previous pair.
    ///
    /// The result is durable; after a crash the same call continues. Every private key has a name at all times.
    /// - Returns: the names of the new keys.
    @discardableResult
    package func settle(_ isCurrent: (String, PublicKey) -> Bool) throws(SigningError) -> [String] {
        var settled: [String] = []
        for (next, key) in try publicKeys() where next.hasSuffix(".next") {
            let name = String(next.dropLast(5))
            guard isCurrent(name, key) else { continue }
            try retire(name, withKey: try exists(privateFile(next)))
            // One after the other, durably: if the public half has its final name, the private half has it too.
            for (from, to) in [(privateFile(next), privateFile(name)), (publicFile(next), publicFile(name))] {
                guard try exists(from) else { continue }
                try onDisk { () throws(FileError) in
                    try files.rename(from, to: to)
                    try files.syncDirectory(folder)
                }
            }
            settled.append(name)
        }
        return settled
    }

    /// Adds a second name for a pair, below `retired/`.
    ///
    /// A private file without a public one is named by the file's digest.
    ///
    /// - Parameter withKey: false if the private file belongs to another key already.
    private func retire(_ name: String, withKey: Bool) throws(SigningError) {
        guard let id = try retiredID(name, withKey: withKey) else { return }
        let folder = folder.at(Self.retired)
        let label = "\(name)-\(id)"
        try onDisk { () throws(FileError) in
            // A symbolic link in place of this folder could move the private key elsewhere.
            if let kind = try files.status(of: folder)?.kind, kind != .directory {
                throw .notDirectory(.makeDirectory, folder)
            }
            try files.makeDirectory(folder)
            for (file, kind) in (withKey ? [(privateFile(name), "key")] : []) + [(publicFile(name), "pub")] {
                let place = folder.at("\(label).\(kind)")
                guard try files.status(of: file) != nil, try files.status(of: place) == nil else { continue }
                try files.link(file, to: place)
            }
            try files.syncDirectory(folder)
        }
    }

    /// The pair's name in `retired/`, without `.key` or `.pub`.
    package static func retiredName(of key: PublicKey, named name: String) -> String {
        "\(name)-\(id(of: key, named: name))"
    }

    /// The id of the pair to retire; nil if there is none.
    private func retiredID(_ name: String, withKey: Bool) throws(SigningError) -> KeyID? {
        if let key = try publicKey(name) { return Self.id(of: key, named: name) }
        guard withKey, try hasPrivateKey(name) else { return nil }
        let file = privateFile(name)
        return KeyID(
            SHA256Digest(of: try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) })
        )
    }

    /// The id of an entry key covers another scheme than the id of a role key.
    package static func id(of key: PublicKey, named name: String) -> KeyID {
        [RootOfTrustPlan.entry, next(RootOfTrustPlan.entry)].contains(name)
            ? KeyID(EntryKeys.id(of: key)) : KeyID(TUFKey(key).id)
    }

    private func exists(_ path: FilePath) throws(SigningError) -> Bool {
        try onDisk { () throws(FileError) in try files.status(of: path) } != nil
    }
}

extension RootOfTrustMaker.Protection {
    func pem(of key: PrivateKey) throws(KeyError) -> [UInt8] {
        switch self {
        case .passphrase(let secret): try key.pem(passphrase: secret)
        case .none: try key.unencryptedPEM()
        }
    }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
