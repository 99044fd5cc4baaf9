import PatchFormat
import PatchCrypto
import PatchTrust

/// One app's metadata, made role by role, so that a test can break one of them.
struct World {
    static let now = time("2026-11-21T00:00:00Z")
    static let later = now.adding(.days(7))
    static let list = Array("[]".utf8)

    /// The roles as bytes, good until a test changes one.
    var root: [UInt8]
    var targets: [UInt8]
    var channel: [UInt8]
    var snapshot: [UInt8]
    var timestamp: [UInt8]

    init() throws {
        root = try Self.root().fileBytes
        targets = try Self.targets().fileBytes
        channel = try Self.channel().fileBytes
        snapshot = try Self.snapshot(targets: targets, channel: channel).fileBytes
        timestamp = try Self.timestamp(snapshot: snapshot).fileBytes
    }

    static func signers(_ keys: [TestingKey], _ threshold: Int = 1) throws -> RoleDocument.Signers {
        .init(keys: try keys.map { try $0.signer }, threshold: threshold)
    }

    static func root(
        version: Int = 1,
        expires: UTCTime = later,
        app name: AppID = app,
        root: RoleDocument.Signers? = nil,
        online: TestingKey = .online,
        signedBy keys: [TestingKey] = [.root]
    ) throws -> Envelope {
        try RoleDocument.root(
            app: name,
            version: version,
            expires: expires,
            roles: [
                "root": try root ?? signers([.root]), "targets": try signers([.targets]),
                "snapshot": try signers([online]),
                "timestamp": try signers([online]),
            ]
        ).signed(by: keys)
    }

    static func targets(
        version: Int = 1,
        expires: UTCTime = later,
        channel: RoleDocument.Signers? = nil,
        retired: [ChannelName] = [],
        signedBy keys: [TestingKey] = [.targets]
    ) throws -> Envelope {
        let channels = [ChannelName](retired.contains(production) ? [] : [production])
        return try RoleDocument.targets(
            version: version,
            expires: expires,
            delegations: try channels.map { .channel($0, signers: try channel ?? signers([.production])) } + [
                .dial(signers: try signers([.online]))
            ],
            retired: retired
        ).signed(by: keys)
    }

    static func channel(
        version: Int = 1,
        expires: UTCTime = later,
        targets: [TargetPath: TargetFile] = [.patchList(production): TargetFile(of: list)],
        signedBy keys: [TestingKey] = [.production]
    ) throws -> Envelope {
        try RoleDocument.delegated(
            "production",
            version: version,
            expires: expires,
            targets: targets,
            entryKeys: EntryKeys.none
        )
        .signed(by: keys)
    }

    static func snapshot(
        version: Int = 1,
        expires: UTCTime = later,
        files: [String: RoleFile],
        signedBy keys: [TestingKey] = [.online]
    ) throws -> Envelope {
        try RoleDocument.snapshot(version: version, expires: expires, files: files).signed(by: keys)
    }

    static func snapshot(targets: [UInt8], channel: [UInt8]) throws -> Envelope {
        try snapshot(files: [
            "targets": RoleFile(of: targets, version: 1), "production": RoleFile(of: channel, version: 1),
        ])
    }

    static func timestamp(
        version: Int = 1,
        expires: UTCTime = later,
        snapshot: [UInt8],
        snapshotVersion: Int = 1,
        signedBy keys: [TestingKey] = [.online]
    ) throws -> Envelope {
        try timestamp(
            version: version,
            expires: expires,
            file: RoleFile(of: snapshot, version: snapshotVersion),
            signedBy: keys
        )
    }

    static func timestamp(
        version: Int = 1,
        expires: UTCTime = later,
        file: RoleFile,
        signedBy keys: [TestingKey] = [.online]
    ) throws -> Envelope {
        try RoleDocument.timestamp(version: version, expires: expires, snapshot: file, signedAt: now).signed(by: keys)
    }

    // MARK: What is trusted so far

    func withRoot(at time: UTCTime = now) throws -> StepByStep {
        try StepByStep(root, at: time)
    }

    func withTimestamp(at time: UTCTime = now) throws -> StepByStep {
        var trusted = try withRoot(at: time)
        _ = try trusted.updateTimestamp(timestamp)
        return trusted
    }

    func withSnapshot(at time: UTCTime = now) throws -> StepByStep {
        var trusted = try withTimestamp(at: time)
        try trusted.updateSnapshot(snapshot)
        return trusted
    }

    func withTargets() throws -> StepByStep {
        var trusted = try withSnapshot()
        try trusted.updateTargets(targets, role: "targets", delegator: "root")
        return trusted
    }

    func withEverything() throws -> StepByStep {
        var trusted = try withTargets()
        try trusted.updateTargets(channel, role: "production", delegator: "targets")
        return trusted
    }

    /// A world whose snapshot and timestamp name this targets role and this channel role.
    static func naming(
        targets: Envelope? = nil,
        targetsVersion: Int = 1,
        channel: Envelope? = nil,
        channelVersion: Int = 1
    ) throws -> World {
        var world = try World()
        if let targets { world.targets = targets.fileBytes }
        if let channel { world.channel = channel.fileBytes }
        world.snapshot = try Self.snapshot(files: [
            "targets": RoleFile(of: world.targets, version: targetsVersion),
            "production": RoleFile(of: world.channel, version: channelVersion),
        ]).fileBytes
        world.timestamp = try Self.timestamp(snapshot: world.snapshot).fileBytes
        return world
    }
}
