package import PatchFormat
package import PatchStore
package import PatchTrust
import SystemPackage

/// What `patchsign init` wrote for the server, verified: the root of trust and the top targets role.
package struct RootOfTrust: Sendable {
    let rootBytes: [UInt8]
    let targetsBytes: [UInt8]
    package let app: AppID
    package let root: RootRole
    package let targets: TargetsRole

    /// - Throws: `setup` with the rule that `root` or `targets` breaks.
    package init(root rootBytes: [UInt8], targets targetsBytes: [UInt8], at now: UTCTime) throws(ServerError) {
        let trusted: TrustedMetadata
        do throws(TrustError) {
            trusted = try TrustedMetadata(trustedRoot: rootBytes, at: now)
        } catch { throw Self.refused("root.json", error) }
        try self.init(trusted.root, rootBytes: rootBytes, targets: targetsBytes, at: now)
    }

    /// - Parameter root: verified already.
    init(
        _ root: RootRole,
        rootBytes: [UInt8],
        targets targetsBytes: [UInt8],
        at now: UTCTime
    ) throws(ServerError) {
        guard root.header.expires > now else {
            throw Self.refused("root.json", .expired(role: "root", expires: root.header.expires, at: now))
        }
        let targets: TargetsRole
        let envelope: Envelope
        do throws(FormatError) {
            envelope = try Envelope(targetsBytes, role: "targets", limit: Limits.targetsRole)
            targets = try TargetsRole(envelope, name: "targets")
        } catch { throw .malformed(error) }
        do throws(TrustError) {
            try root.keys(of: "targets").check(envelope, role: "targets")
        } catch { throw Self.refused("targets.json", error) }
        guard let app = root.app else { throw .setup(document: "root.json", rule: "names no app (x-patchline-app)") }
        guard app.text != "api" else {
            throw .setup(document: "root.json", rule: "is of an app named api: the release service answers there")
        }
        guard root.consistentSnapshot else { throw .setup(document: "root.json", rule: "must set consistent_snapshot") }
        guard targets.targets.isEmpty else {
            throw .setup(document: "targets.json", rule: "must hold delegations only")
        }
        guard targets.header.expires > now else {
            throw .setup(document: "targets.json", rule: "expired at \(targets.header.expires)")
        }
        self.rootBytes = rootBytes
        self.targetsBytes = targetsBytes
        self.app = app
        self.root = root
        self.targets = targets
    }

    private static func refused(_ document: String, _ error: TrustError) -> ServerError {
        if case .malformed(let format) = error { return .malformed(format) }
        return .setup(document: document, rule: "is not trusted: \(error)")
    }
}

extension AppRepository {
    /// Whether an app can be started with these; nothing is written.
    package static func checkBeginning(
        _ trust: RootOfTrust,
        onlineKey key: OnlineKey,
        in folder: ServerFolder,
        files: any FileOperations,
        allowsTestingKeys: Bool
    ) throws(ServerError) {
        try AppRepository(unchecked: trust.app, in: folder, files: files, allowsTestingKeys: allowsTestingKeys)
            .checkBeginning(trust, onlineKey: key)
    }

    private func checkBeginning(_ trust: RootOfTrust, onlineKey key: OnlineKey) throws(ServerError) {
        guard try storage.status(of: .timestamp) == nil else { throw .appExists(trust.app) }
        // To begin again would forget every label and go below every number that devices know.
        guard try !hasReleases() else { throw lostTimestamp }
        try key.check(root: trust.root, targets: trust.targets)
        try refuseTestingKeys(in: trust)
    }

    /// Starts an app on this server with an empty tree.
    ///
    /// The caller holds the lock. Of keys it stores the online key alone. Started again after a crash, it continues.
    ///
    /// - Parameter storage: nil for the server's folder.
    package static func create(
        _ trust: RootOfTrust,
        onlineKey key: OnlineKey,
        in folder: ServerFolder,
        files: any FileOperations,
        storage: (any TreeStorage)? = nil,
        allowsTestingKeys: Bool = false,
        at now: UTCTime
    ) throws(ServerError) -> AppRepository {
        let repository = AppRepository(
            unchecked: trust.app,
            in: folder,
            files: files,
            storage: storage,
            allowsTestingKeys: allowsTestingKeys
        )
        try repository.checkBeginning(trust, onlineKey: key)
        let (root, targets) = (trust.root.header.version, trust.targets.header.version)
        var plan = PublicationPlan()
        plan.write(trust.rootBytes, to: .tree(.root(version: root)), in: .roots)
        plan.write(trust.targetsBytes, to: .tree(.role("targets", version: targets)), in: .targets)
        plan.write(trust.rootBytes, to: .record("root.json"), in: .records)
        plan.write(key.pem, to: .record("online.key"), in: .records)
        plan.write(Labels().fileBytes, to: .record("labels.json"), in: .records)
        try FreshRoles(
            signers: trust.signers(key),
            versions: FreshRoles.Versions(dial: 1, snapshot: 1, timestamp: 1),
            now: now
        ).add(to: &plan, dials: [:], files: ["targets": RoleFile(of: trust.targetsBytes, version: targets)])
        _ = try repository.carryOut(plan, over: nil)
        return repository
    }
}
