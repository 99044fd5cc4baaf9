package import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// Makes the keys and the root of trust of an app in a folder, whole or not at all.
///
/// ```
/// NAME.key       PKCS#8, 0600; encrypted unless its protection says otherwise
/// NAME.pub       0644
/// .gitignore     keeps private keys out of version control, unless the folder has one
/// targets.json   root.json last, so that a folder with a root has all the rest
/// trust.draft    in their place, when holders elsewhere still have to sign
/// ```
package struct RootOfTrustMaker: Sendable {
    /// How a private key is written.
    package enum Protection: Sendable {
        case passphrase(String)
        case none
    }

    package let plan: RootOfTrustPlan
    /// By name, the keys that were made elsewhere: only their public halves are written here.
    package let elsewhere: [String: PublicKey]
    package let policy: KeyPolicy
    package let folder: FilePath
    package let files: any FileOperations

    /// - Throws: `.exists` when any file to be made is there already.
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

    /// In the order in which they get their names.
    package var fileNames: [String] {
        let keys = plan.keyNames.flatMap { name -> [String] in
            elsewhere[name] == nil ? ["\(name).key", "\(name).pub"] : ["\(name).pub"]
        }
        let draft: [String] = elsewhere.isEmpty ? [] : [TrustFolder.draftFile]
        return keys + draft + [ReleaseTrust.targetsFile, ReleaseTrust.rootFile]
    }

    /// New keys, on all cores.
    ///
    /// - Parameter online: the kind of the online key; RSA of these bits unless it is named.
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
    /// Afterwards: all files stand under their names, durably; after an error none does.
    /// - Parameter protection: of each key, by its name.
    /// - Returns: who signed, and who is missing: then a draft stands in place of `root.json` and `targets.json`.
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

    /// By the rules that every later change is held to.
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
                // link(2) refuses a name that somebody else has taken meanwhile; rename(2) would replace it.
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
    /// 0644: what everybody may read.
    static let publicFile = FilePermissions(rawValue: 0o644)
}
