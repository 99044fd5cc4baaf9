package import PatchFormat
package import PatchStore
package import PatchCrypto
package import PatchTrust
package import SystemPackage

/// The root of trust in a folder, and the keys that it may contain.
///
/// Expiry is checked by publishers and devices, not here.
package struct ReleaseTrust: Sendable {
    package static let rootFile = "root.json"
    package static let targetsFile = "targets.json"

    package let folder: FilePath
    package let rootOfTrust: RootOfTrust
    private let policy: KeyPolicy

    package var app: AppID { rootOfTrust.app }
    package var root: RootRole { rootOfTrust.root }
    package var targets: TargetsRole { rootOfTrust.targets }
    /// Both roles, including their signed forms.
    package var roles: TopRoles { TopRoles(rootOfTrust) }

    /// Reads both files and verifies them: the root with its own keys, targets with the root's keys.
    package init(
        folder: FilePath,
        policy: KeyPolicy,
        files: any FileOperations,
        observe: CheckObserver? = nil
    ) throws(SigningError) {
        func bytes(_ name: String, limit: Int) throws(SigningError) -> [UInt8] {
            let path = folder.at(name)
            guard try onDisk({ () throws(FileError) in try files.status(of: path) }) != nil else {
                throw .noKey(name, in: folder)
            }
            return try onDisk { () throws(FileError) in try files.read(path, limit: limit) }
        }
        let rootBytes = try bytes(Self.rootFile, limit: Limits.root)
        let targetsBytes = try bytes(Self.targetsFile, limit: Limits.targetsRole)
        let root: TrustedRoot
        do throws(TrustError) {
            root = try TrustedRoot(anchor: rootBytes, observe: observe)
        } catch { throw .rootOfTrust(folder.at(Self.rootFile), error) }
        do throws(TrustError) {
            rootOfTrust = try RootOfTrust(root, targets: targetsBytes, observe: observe)
        } catch { throw .rootOfTrust(folder.at(root.app == nil ? Self.rootFile : Self.targetsFile), error) }
        (self.folder, self.policy) = (folder, policy)
        for (role, keys) in allKeys { for key in keys { try policy.check(key, named: "a key of \(role)") } }
    }

    private var allKeys: [(role: String, keys: [PublicKey])] {
        let top = RootRole.roleNames.map { ($0, root.keys(of: $0)) }
        let delegated = targets.delegations.map { ($0.name, $0.keys) }
        return (top + delegated).map { ($0.0, $0.1.keys.values.compactMap(\.publicKey)) }
    }

    /// The id of `key` in the roles.
    func keyID(of key: PublicKey) -> SHA256Digest? {
        let all = RootRole.roleNames.map { root.keys(of: $0) } + targets.delegations.map(\.keys)
        return all.lazy.flatMap(\.keys).first { $0.value.publicKey == key }?.key
    }

    /// The roles that `key` may sign for.
    package func roles(of key: PublicKey) -> [String] {
        allKeys.filter { $0.keys.contains(key) }.map(\.role)
    }

    package func delegation(to channel: ChannelName) throws(SigningError) -> Delegation {
        guard let delegation = targets.delegation(to: channel.text) else {
            throw .rootOfTrust(folder.at(Self.targetsFile), .notDelegated(role: channel.text))
        }
        return delegation
    }

    /// Checks that a key of entries or JSPatch forms has no other use.
    ///
    /// A role's key must not sign those.
    package func checkEntryKey(_ signer: SigningKey) throws(SigningError) {
        try checkEntryKey(signer.publicKey, of: signer.file)
    }

    /// Checks that a key of JSPatch forms has no other use in the folder, neither in its roles nor as its `entry.pub`.
    package func checkJSPatchKey(_ signer: SigningKey, files: any FileOperations) throws(SigningError) {
        try checkEntryKey(signer)
        guard try KeyFolder(folder, files: files).publicKey(RootOfTrustPlan.entry) != signer.publicKey else {
            throw .keyInTwoUses(signer.file, also: KeyInventory.entries)
        }
    }

    func checkEntryKey(_ key: PublicKey, of file: FilePath) throws(SigningError) {
        if let role = roles(of: key).first { throw .keyInTwoUses(file, also: "role \(role)") }
        try policy.check(key, named: file.string)
        do throws(KeyError) { try key.kind.checkRSA() } catch { throw .key(file, error) }
    }
}
