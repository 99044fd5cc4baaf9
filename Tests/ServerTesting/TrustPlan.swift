package import PatchFormat
package import PatchServer
import PatchStore
import PatchCrypto
package import PatchTrust
package import ReleaseFolder
import SystemPackage

/// A root of trust as its key holders would sign it: what the tests change from one version to the next.
package struct TrustPlan {
    package var version = 1
    package var targetsVersion = 1
    package var app = ReleaseFactory.app
    package var rootKey = TestingKey.root
    package var targetsKey = TestingKey.targets
    package var online = TestingKey.online
    /// Listed for snapshot and timestamp beside it.
    package var standby: [TestingKey] = []
    /// By channel, in the order in which targets delegates to them.
    package var channels: [(name: String, keys: [TestingKey])] = [
        ("production", [.production, .second]), ("beta", [.beta]),
    ]
    /// Channels that have ended.
    package var retired: [String] = []
    package var hasDial = true
    package var rootExpires = TestingServer.start.adding(.days(365))
    package var targetsExpires = TestingServer.start.adding(.days(365))

    package init() {}

    /// The next root, with the same targets role.
    package func next(_ change: (inout TrustPlan) -> Void = { _ in }) -> TrustPlan {
        var plan = self
        plan.version += 1
        change(&plan)
        return plan
    }

    /// Signed by its own key and by those of the roots before it.
    package func root(signedBy others: [TestingKey] = [.root]) throws -> [UInt8] {
        let online = RoleDocument.Signers(keys: try ([online] + standby).map { try $0.signer }, threshold: 1)
        return try RoleDocument.root(
            app: app,
            version: version,
            expires: rootExpires,
            roles: [
                "root": .init(keys: [try rootKey.signer], threshold: 1),
                "targets": .init(keys: [try targetsKey.signer], threshold: 1),
                "snapshot": online, "timestamp": online,
            ]
        ).signed(by: [rootKey] + others).fileBytes
    }

    /// - Parameter others: keys that go, and sign once more.
    package func targets(signedBy others: [TestingKey] = []) throws -> [UInt8] {
        var delegations = try channels.map { channel, keys in
            RoleDocument.DelegationDraft.channel(
                named(channel),
                signers: .init(keys: try keys.map { try $0.signer }, threshold: 1)
            )
        }
        if hasDial { delegations.append(.dial(signers: .init(keys: [try online.signer], threshold: 1))) }
        return try RoleDocument.targets(
            version: targetsVersion,
            expires: targetsExpires,
            delegations: delegations,
            retired: retired.map { named($0) }
        ).signed(by: [targetsKey] + others).fileBytes
    }

    package func offered(after earlier: [TrustPlan] = [], targetsAlsoBy others: [TestingKey] = []) throws -> TrustUpload
    {
        var roots: [Int: [UInt8]] = [:]
        for plan in earlier { roots[plan.version] = try plan.root() }
        return try TrustUpload(root: try root(), earlier: roots, targets: try targets(signedBy: others))
    }
}

extension TestingServer {
    package func take(
        _ offered: TrustUpload,
        key: TestingKey = .online,
        releases: [SignedRelease] = [],
        carryingOver accepted: Set<ChannelName> = []
    ) throws -> TrustOutcome {
        try TakeTrust(
            offered,
            in: repository,
            onlineKey: try onlineKey(key),
            releases: releases,
            carryingOver: accepted,
            at: factory.now
        ).run()
    }

    package func onlineKey(_ key: TestingKey) throws -> OnlineKey {
        try OnlineKey(try key.online.bytes, passphrase: nil, from: key.file)
    }

    /// What a thief who has the keys of `production` and of the server writes over the tree.
    ///
    /// - Parameter dials: of these channels other ones.
    package func overwriteTree(
        channelVersion: Int,
        snapshot: Int,
        timestamp: Int,
        dial: Int,
        contents: ReleaseFactory.Contents,
        dials others: [TargetPath: TargetFile] = [:],
        altering alter: (inout [TargetPath: [UInt8]]) -> Void = { _ in }
    ) throws {
        let base = ReleaseFactory.base(channelVersion - 1)
        let release = try factory.release(contents, base: base, signedBy: [.production], altering: alter)
        let state = try PublishedState(of: repository)
        for (path, bytes) in release.targets {
            try write(bytes, to: URLLayout.target(path, sha256: SHA256Digest(of: bytes)))
        }
        let role = release.role.fileBytes
        try write(role, to: URLLayout.metadata("production", version: channelVersion))
        var dials: [TargetPath: TargetFile] = [:]
        for (name, file) in state.dial.targets { if let path = TargetPath(name.text) { dials[path] = file } }
        dials.merge(others) { $1 }
        let expires = factory.now.adding(.days(7))
        let dialRole = try RoleDocument.delegated("dial", version: dial, expires: expires, targets: dials)
            .signed(by: [.online]).fileBytes
        try write(dialRole, to: URLLayout.metadata("dial", version: dial))
        var files: [String: RoleFile] = [:]
        for (name, file) in state.snapshot.files { files[name.text] = file }
        files["production"] = RoleFile(of: role, version: channelVersion)
        files["dial"] = RoleFile(of: dialRole, version: dial)
        try overwriteSnapshot(snapshot, timestamp: timestamp, files: files)
    }

    /// A snapshot of these roles, and the timestamp that leads to it.
    package func overwriteSnapshot(_ snapshot: Int, timestamp: Int, files: [String: RoleFile]) throws {
        let expires = factory.now.adding(.days(7))
        let snapshotRole = try RoleDocument.snapshot(version: snapshot, expires: expires, files: files)
            .signed(by: [.online]).fileBytes
        try write(snapshotRole, to: URLLayout.metadata("snapshot", version: snapshot))
        let timestampRole = try RoleDocument.timestamp(
            version: timestamp,
            expires: expires,
            snapshot: RoleFile(of: snapshotRole, version: snapshot),
            signedAt: factory.now
        ).signed(by: [.online]).fileBytes
        try write(timestampRole, to: URLLayout.timestamp)
    }

    package func write(_ bytes: [UInt8], to name: String) throws {
        let path = folder.tree(of: repository.app).appending(name)
        try files.makeDirectory(path.removingLastComponent())
        try files.removeIfPresent(path)
        try files.write(bytes, to: path)
    }
}

extension TrustOutcome {
    private struct AlreadyCurrent: Error {}

    /// - Throws: if the tree had all of it already.
    package var publication: TrustPublication {
        get throws {
            guard case .updated(let done) = self else { throw AlreadyCurrent() }
            return done
        }
    }
}
