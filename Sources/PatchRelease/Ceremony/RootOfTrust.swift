package import PatchFormat
package import PatchStore
package import PatchTrust
package import SystemPackage

/// `root.json` and `targets.json` of one app, checked: who may sign what.
///
/// Expiry is not judged here: whoever publishes or installs does that.
package struct RootOfTrust: Sendable {
    package static let rootFile = "root.json"
    package static let targetsFile = "targets.json"

    package let folder: FilePath
    package let app: AppID
    /// Both as they were signed, too.
    package let roles: TopRoles
    private let policy: KeyPolicy

    package var root: RootRole { roles.root }
    package var targets: TargetsRole { roles.targets }

    /// Reads both files: the root is signed by its own keys, targets by the root's.
    package init(
        folder: FilePath,
        policy: KeyPolicy,
        files: any FileOperations,
        observe: CheckObserver? = nil
    ) throws(SigningError) {
        func envelope(_ name: String, role: String, limit: Int) throws(SigningError) -> Envelope {
            let path = folder.at(name)
            guard try onDisk({ () throws(FileError) in try files.status(of: path) }) != nil else {
                throw .noKey(name, in: folder)
            }
            let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: limit) }
            do throws(FormatError) {
                return try Envelope(bytes, role: role, limit: limit)
            } catch { throw .rootOfTrust(path, .malformed(error)) }
        }
        let rootEnvelope = try envelope(Self.rootFile, role: "root", limit: Limits.root)
        let targetsEnvelope = try envelope(Self.targetsFile, role: "targets", limit: Limits.targetsRole)
        var place = folder.at(Self.rootFile)
        do throws(TrustError) {
            let root = try Self.parsed { () throws(FormatError) in try RootRole(rootEnvelope) }
            try root.keys(of: "root").check(rootEnvelope, role: "root", rule: .rootSignature, observe: observe)
            guard let app = root.app else {
                throw .malformed(FormatError("root", field: "x-patchline-app", rule: "is missing"))
            }
            place = folder.at(Self.targetsFile)
            let roles = try Self.parsed { () throws(FormatError) in
                try TopRoles(root: rootEnvelope, targets: targetsEnvelope)
            }
            try root.keys(of: "targets").check(
                targetsEnvelope,
                role: "targets",
                rule: .roleSignature,
                observe: observe
            )
            (self.folder, self.app, self.roles, self.policy) = (folder, app, roles, policy)
        } catch { throw .rootOfTrust(place, error) }
        for (role, keys) in allKeys { for key in keys { try policy.check(key, named: "a key of \(role)") } }
    }

    private static func parsed<Role>(_ read: () throws(FormatError) -> Role) throws(TrustError) -> Role {
        do throws(FormatError) { return try read() } catch { throw .malformed(error) }
    }

    private var allKeys: [(role: String, keys: [PublicKey])] {
        let top = RootRole.roleNames.map { ($0, root.keys(of: $0)) }
        let delegated = targets.delegations.map { ($0.name, $0.keys) }
        return (top + delegated).map { ($0.0, $0.1.keys.values.compactMap(\.publicKey)) }
    }

    /// The id by which the roles know `key`.
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

    /// A key of entries, or of their JSPatch forms, signs nothing else; a role's key never signs those.
    package func checkEntryKey(_ signer: SigningKey) throws(SigningError) {
        try checkEntryKey(signer.publicKey, of: signer.file)
    }

    /// A key of JSPatch forms that nothing in the folder is for: neither its roles nor its `entry.pub`.
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
