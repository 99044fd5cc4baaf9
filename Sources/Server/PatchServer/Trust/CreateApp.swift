package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust
import SystemPackage

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
        try refuseSharedKey(key.publicKey)
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
        let now = try folder.signingTime(after: nil, at: now)
        let (root, targets) = (trust.root.header.version, trust.targets.header.version)
        var plan = PublicationPlan()
        plan.write(trust.rootBytes, to: .tree(.root(version: root)), in: .roots)
        plan.write(trust.targetsBytes, to: .tree(.role("targets", version: targets)), in: .targets)
        plan.write(trust.rootBytes, to: .record("root.json"), in: .records)
        plan.write(key.pem, to: .record("online.key"), in: .records)
        plan.write(PublishedLabels().fileBytes, to: .record("labels.json"), in: .records)
        _ = try FreshRoles(
            signers: trust.signers(key),
            next: FreshRoles.Versions(dial: 1, snapshot: 1, timestamp: 1),
            now: now
        ).add(to: &plan, dials: [:], files: ["targets": RoleFile(of: trust.targetsBytes, version: targets)])
        try WriteTree(plan, in: repository, over: nil).run()
        return repository
    }
}
