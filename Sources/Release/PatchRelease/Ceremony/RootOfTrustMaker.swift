package import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// Creates the keys and the root of trust of an app in a folder, completely or not at all.
///
/// ```
/// NAME.key       PKCS#8, 0600; encrypted unless its protection is `none`
/// NAME.pub       0644
/// .gitignore     keeps private keys out of version control, unless the folder has one
/// targets.json   root.json is created last, so that a folder with a root is complete
/// trust.draft    instead of both, if other holders still have to sign
/// ```
package struct RootOfTrustMaker: Sendable {
    /// How a private key is stored.
    package enum Protection: Sendable {
        case passphrase(String)
        case none
    }

    package let plan: RootOfTrustPlan
    /// The keys made elsewhere, by name.
    ///
    /// Only their public halves are written here.
    package let elsewhere: [String: PublicKey]
    package let policy: KeyPolicy
    package let folder: FilePath
    package let files: any FileOperations

    /// - Throws: `.exists` if any of the files exists already.
    package init(
        _ plan: RootOfTrustPlan,
        elsewhere: [String: PublicKey] = [:],
        policy: KeyPolicy,
        in folder: FilePath,
        files: any FileOperations
    ) throws(SigningError) {
        self.plan = plan
        self.elsewhere = elsewhere
        self.policy = policy
        self.folder = folder
        self.files = files
        for name in fileNames {
            let path = folder.at(name)
            if try onDisk({ () throws(FileError) in try files.status(of: path) }) != nil { throw .exists(path) }
        }
    }

    /// The file names in the order of creation.
    package var fileNames: [String] {
        let keys = plan.keyNames.flatMap { name -> [String] in
            elsewhere[name] == nil ? ["\(name).key", "\(name).pub"] : ["\(name).pub"]
        }
        let draft: [String] = elsewhere.isEmpty ? [] : [TrustFolder.draftFile]
        return keys + draft + [ReleaseTrust.targetsFile, ReleaseTrust.rootFile]
    }

    /// Creates the keys on all cores.
    ///
    /// - Parameter online: The kind of the online key; by default RSA with `bits` bits.
    package func makeKeys(
        bits: Int,
        online: KeyKind? = nil,
        progress: ProgressStart
    ) async throws(SigningError) -> [String: PrivateKey] {
        guard (2_048...8_192).contains(bits) else { throw .plan(.bits(bits)) }
        let folder = folder
        let made = try await mapOnAllCores(plan.keyNames.filter { elsewhere[$0] == nil }, chunk: 1, progress: progress)
        {
            (name) throws(SigningError) in
            do throws(KeyError) {
                let kind = name == RootOfTrustPlan.online ? online : nil
                return (name, try PrivateKey.generate(kind ?? .rsa(bits: bits)))
            } catch { throw .key(folder.at("\(name).key"), error) }
        }
        return Dictionary(made) { first, _ in first }
    }

    /// Writes keys and roles.
    ///
    /// Afterwards all files are durable; after an error none exists.
    /// - Parameter protection: The protection of each key, by name.
    /// - Returns: the keys that signed and those missing. If any is missing, a draft replaces `root.json` and `targets.json`.
    @discardableResult
    package func write(
        _ keys: [String: PrivateKey],
        at time: UTCTime,
        protection: (String) -> Protection
    ) throws(SigningError) -> TrustChange {
        var contents: [(name: String, bytes: [UInt8], permissions: FilePermissions)] = []
        let roles: (root: Envelope, targets: Envelope)
        do throws(KeyError) {
            for name in plan.keyNames {
                if let publicKey = elsewhere[name] {
                    contents.append(("\(name).pub", Array(publicKey.pem.utf8), .publicFile))
                    continue
                }
                guard let key = keys[name] else { preconditionFailure("no key \(name) was made") }
                contents.append(("\(name).key", try protection(name).pem(of: key), .privateFile))
                contents.append(("\(name).pub", Array(key.publicKey.pem.utf8), .publicFile))
            }
            roles = try plan.roles(keys: keys, elsewhere: elsewhere, at: time)
        } catch { throw .key(folder, error) }
        let change = try change(roles, keys)
        if try !KeyFolder(folder, files: files).hasIgnoreFile() {
            contents.insert((KeyFolder.ignoreFile, KeyFolder.ignoreText, .publicFile), at: 0)
        }
        if change.isComplete {
            contents.append((ReleaseTrust.targetsFile, roles.targets.fileBytes, .publicFile))
            contents.append((ReleaseTrust.rootFile, roles.root.fileBytes, .publicFile))
        } else {
            contents.append((TrustFolder.draftFile, change.draft.fileBytes, .publicFile))
        }
        do throws(FileError) { try commit(contents) } catch { throw .file(error) }
        return change
    }

    /// Checks the roles by the same rules as every later change.
    private func change(
        _ roles: (root: Envelope, targets: Envelope),
        _ keys: [String: PrivateKey]
    ) throws(SigningError) -> TrustChange {
        let entry = elsewhere[RootOfTrustPlan.entry] ?? keys[RootOfTrustPlan.entry]?.publicKey
        let rules = TrustRules(policy: policy, entryKeys: [entry].compactMap(\.self))
        let draft = TrustDraft(app: plan.app, base: nil, root: roles.root, targets: roles.targets)
        return try ceremony(folder) { () throws(CeremonyError) in try TrustChange(draft, from: nil, rules: rules) }
    }

    private func commit(
        _ contents: [(name: String, bytes: [UInt8], permissions: FilePermissions)]
    ) throws(FileError) {
        try files.makeDirectory(folder)
        let staging = folder.at(".init.new")
        try files.removeTree(staging)
        var named: [FilePath] = []
        do throws(FileError) {
            try files.makeDirectory(staging)
            for (name, bytes, permissions) in contents {
                try files.write(bytes, to: staging.at(name), permissions: permissions)
            }
            for (name, _, _) in contents {
                // link(2) fails if another program has created the name meanwhile; rename(2) would replace its file.
                try files.link(staging.at(name), to: folder.at(name))
                named.append(folder.at(name))
            }
            try files.syncDirectory(folder)
        } catch {
            for path in named { try? files.remove(path) }
            try? files.removeTree(staging)
            throw error
        }
        try files.removeTree(staging)
        try files.syncDirectory(folder)
    }
}

extension FilePermissions {
    /// 0644: readable by all users.
    static let publicFile = FilePermissions(rawValue: 0o644)
}
