import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

/// A repository of keys that nobody else has, in which a testing key stands at one place.
private struct AdmissionWorld {
    static let own = Result { () throws(KeyError) in try PrivateKey.generate(.rsa(bits: 2048)) }

    let key: PrivateKey
    var entry: PublicKey
    /// Who signs for the channel.
    var channel: PrivateKey

    init() throws {
        key = try Self.own.get()
        entry = key.publicKey
        channel = key
    }

    private func signers(_ key: PrivateKey) -> RoleDocument.Signers {
        .init(keys: [TUFKey(rsa: key.publicKey, scheme: .rsaPSS)], threshold: 1)
    }

    private func signed(_ envelope: Envelope, by key: PrivateKey? = nil) throws -> [UInt8] {
        let key = key ?? self.key
        var envelope = envelope
        try envelope.sign(with: key, id: TUFKey(rsa: key.publicKey, scheme: .rsaPSS).id)
        return envelope.fileBytes
    }

    func root(version: Int = 1, timestamp: PrivateKey? = nil) throws -> [UInt8] {
        var roles = Dictionary(uniqueKeysWithValues: RootRole.roleNames.map { ($0, signers(key)) })
        roles["timestamp"] = signers(timestamp ?? key)
        return try signed(RoleDocument.root(app: app, version: version, expires: World.later, roles: roles))
    }

    func trusted(_ admission: KeyAdmission) throws(any Error) -> StepByStep {
        try StepByStep(
            try root(),
            at: ReferenceTime(clock: World.now),
            admitting: admission
        )
    }

    /// Everything that a sync of the channel rests on.
    func refreshed(_ admission: KeyAdmission) throws(any Error) -> StepByStep {
        let targets = try signed(
            RoleDocument.targets(
                version: 1,
                expires: World.later,
                delegations: [.channel(production, signers: signers(channel)), .dial(signers: signers(key))]
            )
        )
        let role = try signed(
            RoleDocument.delegated(
                "production",
                version: 1,
                expires: World.later,
                targets: [:],
                entryKeys: EntryKeys([entry])
            ),
            by: channel
        )
        let snapshot = try signed(
            RoleDocument.snapshot(
                version: 1,
                expires: World.later,
                files: [
                    "targets": RoleFile(of: targets, version: 1), "production": RoleFile(of: role, version: 1),
                ]
            )
        )
        let timestamp = try signed(
            RoleDocument.timestamp(
                version: 1,
                expires: World.later,
                snapshot: RoleFile(of: snapshot, version: 1),
                signedAt: World.now
            )
        )
        var trusted = try trusted(admission)
        _ = try trusted.updateTimestamp(timestamp)
        try trusted.updateSnapshot(snapshot)
        try trusted.updateTargets(targets, role: "targets", delegator: "root")
        try trusted.updateTargets(role, role: "production", delegator: "targets")
        return trusted
    }
}

@Suite("A key that everybody has")
struct KeyAdmissionTests {
    @Test func `vouches for nothing where it signs the first root`() throws {
        let root = try World.root().fileBytes
        #expect(throws: TrustError.testingKey(role: "root")) {
            try StepByStep(
                root,
                at: ReferenceTime(clock: World.now),
                admitting: .noTestingKeys
            )
        }
    }

    @Test func `vouches for nothing where a later root names it, and the root before stays`() throws {
        let world = try AdmissionWorld()
        let next = try world.root(version: 2, timestamp: try TestingKey.online.key)
        var device = try world.trusted(.noTestingKeys)
        #expect(throws: TrustError.testingKey(role: "timestamp")) { try device.updateRoot(next) }
        #expect(device.root.version == 1)
        var test = try world.trusted(.all)
        try test.updateRoot(next)
        #expect(test.root.version == 2)
    }

    @Test func `vouches for nothing where targets delegates to it`() throws {
        var world = try AdmissionWorld()
        world.channel = try TestingKey.production.key
        #expect(throws: TrustError.testingKey(role: "production")) { try world.refreshed(.noTestingKeys) }
        #expect(try world.refreshed(.all).repository?.role("production") != nil)
    }

    @Test func `vouches for no entry of a channel`() throws {
        var world = try AdmissionWorld()
        world.entry = try TestingKey.entry.key.publicKey
        #expect(throws: TrustError.testingKey(role: "entry key of production")) { try world.refreshed(.noTestingKeys) }
        #expect(try world.refreshed(.all).repository?.role("production") != nil)
    }

    @Test func `is looked for in vain among keys of one's own`() throws {
        #expect(try AdmissionWorld().refreshed(.noTestingKeys).repository?.role("production") != nil)
    }
}
