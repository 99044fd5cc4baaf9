package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust
import SystemPackage

/// Creates an app on this server with an empty tree.
///
/// The caller holds the lock. The online key is the only key that it stores. A repeated call after a crash continues.
package struct CreateApp: Sendable {
    private let trust: RootOfTrust
    private let key: OnlineKey
    private let repository: AppRepository

    /// - Parameter storage: nil for the server's folder.
    package init(
        _ trust: RootOfTrust,
        onlineKey key: OnlineKey,
        in folder: ServerFolder,
        files: any FileOperations,
        storage: (any TreeStorage)? = nil,
        allowsTestingKeys: Bool = false
    ) {
        (self.trust, self.key) = (trust, key)
        repository = AppRepository(
            unchecked: trust.app,
            in: folder,
            files: files,
            storage: storage,
            allowsTestingKeys: allowsTestingKeys
        )
    }

    /// Checks whether an app can be created with these; nothing is written.
    package func check() throws(ServerError) {
        guard try repository.storage.status(of: .timestamp) == nil else { throw .appExists(trust.app) }
        // A restart would forget every label and use versions below those that devices know.
        guard try !repository.hasReleases() else { throw repository.lostTimestamp }
        try key.check(root: trust.root, targets: trust.targets)
        try repository.refuseTestingKeys(in: trust)
        try repository.refuseSharedKey(key.publicKey)
    }

    package func run(at now: UTCTime) throws(ServerError) -> AppRepository {
        try check()
        let plan = try plan(signedAt: try repository.folder.signingTime(after: nil, at: now))
        try WriteTree(plan, in: repository, over: nil).run()
        return repository
    }

    private func plan(signedAt now: UTCTime) throws(ServerError) -> PublicationPlan {
        let (root, targets) = (trust.root.header.version, trust.targets.header.version)
        var plan = PublicationPlan()
        plan.write(trust.rootBytes, to: .tree(.root(version: root)), in: .roots)
        plan.write(trust.targetsBytes, to: .tree(.role("targets", version: targets)), in: .targets)
        plan.write(trust.rootBytes, to: .record("root.json"), in: .records)
        plan.write(key.pem, to: .record("online.key"), in: .records)
        plan.write(PublishedLabels().fileBytes, to: .record("labels.json"), in: .records)
        let fresh = FreshRoles(
            signers: trust.signers(key),
            next: FreshRoles.Versions(dial: 1, snapshot: 1, timestamp: 1),
            now: now
        )
        let files = ["targets": RoleFile(of: trust.targetsBytes, version: targets)]
        _ = try fresh.add(to: &plan, dials: [:], files: files)
        return plan
    }
}
