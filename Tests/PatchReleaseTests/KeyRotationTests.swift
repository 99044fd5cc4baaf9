import PatchFormat
import PatchRelease
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@Suite("A key rotation")
struct KeyRotationTests {
    /// Puts pairs into alice's folder, as `patchsign init` would have.
    private func world(with names: [String: TestKey]) throws -> CeremonyWorld {
        let world = try CeremonyWorld()
        for (name, key) in names.sorted(by: { $0.key < $1.key }) {
            try world.files.write(try key.key.unencryptedPEM(), to: world.path("alice", "\(name).key"))
            try world.files.write(Array(try key.publicKey.pem.utf8), to: world.path("alice", "\(name).pub"))
        }
        try world.files.syncDirectory(world.path("alice"))
        return world
    }

    private static let signers = [TestKey.root, .other, .targets].reduce(into: [:]) { $0[$1] = try? $1.signer }

    private static func signer(_ key: TestKey) throws -> SigningKey {
        try #require(signers[key])
    }

    /// What `patchsign rotate` does: go on with what waits, or make a new pair and a draft; sign; publish.
    private func rotate(
        _ name: String,
        to key: PrivateKey,
        by signers: [TestKey],
        on disk: FaultyFiles,
        _ world: CeremonyWorld
    ) throws {
        let folder = world.folder(on: disk)
        let rotation = KeyRotation(name, in: folder)
        var draft: TrustDraft
        if let pending = try folder.resume(at: CeremonyWorld.time), try rotation.isUnderWay(in: pending) {
            draft = pending
        } else {
            let trust = try ReleaseTrust(folder: folder.folder, policy: .forTests, files: disk)
            if trust.root.header.version > 1 { return }
            draft = try rotation.draft(
                key,
                protection: .none,
                on: trust,
                at: CeremonyWorld.time,
                validity: TrustDraft.validity
            )
        }
        let next = folder.folder.appending("\(name).next.key")
        let staged = try SigningKey(next, passphrase: nil, policy: .forTests, files: disk)
        var change = try folder.change(draft, at: "/x")
        for signer in try signers.map({ try Self.signer($0) }) + [staged] {
            guard !change.rolesToSign(with: signer.publicKey).isEmpty else { continue }
            change = try folder.change(try change.signed(with: signer), at: "/x")
        }
        draft = change.draft
        try folder.save(draft, to: folder.draftPath, replacing: true)
        if change.isComplete { try folder.finish(draft, at: CeremonyWorld.time) }
    }

    private func text(_ path: FilePath, on disk: FaultyFiles) throws -> [UInt8] {
        try disk.read(path, limit: Limits.keyFile)
    }

    @Test func `of the online key leaves the new pair under its name and the old one in retired`() throws {
        let world = try world(with: ["online": .online])
        let key = CeremonyWorld.fresh[0]
        try rotate("online", to: key, by: [.root, .other, .targets], on: world.files, world)
        let label = "online-\(id(of: try TestKey.online.publicKey).hex.prefix(8))"
        #expect(
            try world.names() == [
                "1.root.json", "2.root.json", "online.key", "online.pub", "retired", "root.json", "targets.json",
            ]
        )
        #expect(try world.names("alice/retired") == ["\(label).key", "\(label).pub"])
        #expect(try text("/alice/online.key", on: world.files) == key.unencryptedPEM())
        #expect(try text("/alice/online.pub", on: world.files) == Array(key.publicKey.pem.utf8))
        let retired = world.path("alice/retired", "\(label).key")
        #expect(try text(retired, on: world.files) == TestKey.online.key.unencryptedPEM())
        #expect(try Authorities(try world.roles()).roles(of: key.publicKey) == [.online])
    }

    @Test func `that lacks a holder leaves the draft, and the same call goes on with it`() throws {
        let world = try world(with: ["online": .online])
        let key = CeremonyWorld.fresh[0]
        try rotate("online", to: key, by: [.root, .targets], on: world.files, world)
        let waiting = [
            "online.key", "online.next.key", "online.next.pub", "online.pub", "root.json", "targets.json",
            "trust.draft",
        ]
        #expect(try world.names() == waiting)
        #expect(try text("/alice/online.key", on: world.files) == TestKey.online.key.unencryptedPEM())
        try rotate("online", to: CeremonyWorld.fresh[1], by: [.other], on: world.files, world)
        #expect(try text("/alice/online.key", on: world.files) == key.unencryptedPEM())
        #expect(try Authorities(try world.roles()).roles(of: key.publicKey) == [.online])
    }

    @Test func `is another than the one that waits`() throws {
        let world = try world(with: ["online": .online, "production": .production])
        try rotate("online", to: CeremonyWorld.fresh[0], by: [.root, .targets], on: world.files, world)
        let folder = world.folder()
        let pending = try #require(try folder.resume(at: CeremonyWorld.time))
        #expect(try KeyRotation("online", in: folder).isUnderWay(in: pending))
        #expect(try !KeyRotation("production", in: folder).isUnderWay(in: pending))
    }

    @Test func `goes on with no draft that holds more or less than the swap of its key`() throws {
        let world = try world(with: ["production": .production])
        let (folder, next) = (world.folder(), CeremonyWorld.fresh[0])
        try KeyFolder("/alice", files: world.files).stage(next, as: "production", protection: .none)
        let role = TrustRole.channel(named("production"))
        let swap: [TrustEdit] = [
            .add(next.publicKey, role), .remove(.key(try TestKey.production.publicKey), role),
        ]
        let rotation = KeyRotation("production", in: folder)
        #expect(try rotation.isUnderWay(in: try world.draft(swap, validity: .days(30))))
        let thief = CeremonyWorld.fresh[1].publicKey
        for more: [TrustEdit] in [
            [.add(thief, .root)], [.threshold(1, .root)], [.add(thief, role)], [.add(next.publicKey, .targets)],
            [.add(thief, .channel(named("canary")))], [.remove(.key(try TestKey.second.publicKey), .root)],
        ] {
            #expect(try !rotation.isUnderWay(in: try world.draft(swap + more)), "\(more)")
        }
        #expect(try !rotation.isUnderWay(in: try world.draft([swap[0]])))
    }

    @Test func `destroys no private key that has no public half beside it`() throws {
        let world = try world(with: ["online": .online])
        let (old, folder) = (try TestKey.online.key.unencryptedPEM(), KeyFolder("/alice", files: world.files))
        try world.files.removeIfPresent("/alice/online.pub")
        try folder.stage(CeremonyWorld.fresh[0], as: "online", protection: .none)
        #expect(try folder.settle { _, _ in true } == ["online"])
        let label = "online-\(SHA256Digest(of: old).hex.prefix(8))"
        #expect(try world.names("alice/retired") == ["\(label).key"])
        #expect(try text(world.path("alice/retired", "\(label).key"), on: world.files) == old)
    }

    @Test func `takes over every role of the key, and knows no other`() throws {
        let world = try world(with: ["root-bob": .other, "entry": .entry])
        let trust = try ReleaseTrust(folder: "/alice", policy: .forTests, files: world.files)
        #expect(try KeyRotation("root-bob", in: world.folder()).roles(in: trust) == [.root])
        let unlisted = SigningError.ceremony(
            "/alice/entry.pub",
            .unknownKey("key \(KeyID(id(of: try TestKey.entry.publicKey)))", role: "any role")
        )
        #expect(throws: unlisted) { try KeyRotation("entry", in: world.folder()).roles(in: trust) }
        #expect(throws: SigningError.noKey("dave.pub", in: "/alice")) {
            try KeyRotation("dave", in: world.folder()).roles(in: trust)
        }
    }

    @Test func `of the entry key has it under its name at once, and goes on where it stopped`() throws {
        let world = try world(with: ["entry": .entry])
        let folder = KeyFolder("/alice", files: world.files)
        let rotation = EntryKeyRotation(in: folder)
        #expect(try !rotation.isUnderWay())
        try rotation.stage(CeremonyWorld.fresh[0], protection: .none)
        #expect(try rotation.isUnderWay())
        #expect(try folder.publicKey("entry") == TestKey.entry.publicKey)
        try rotation.finish()
        #expect(try folder.publicKey("entry") == CeremonyWorld.fresh[0].publicKey)
        let label = "entry-\(EntryKeys.id(of: try TestKey.entry.publicKey).hex.prefix(8))"
        #expect(KeyFolder.retiredName(of: try TestKey.entry.publicKey, named: "entry") == label)
        #expect(try world.names("alice/retired") == ["\(label).key", "\(label).pub"])
        #expect(try !rotation.isUnderWay())
    }

    @Test func `gives up no private key that an earlier one made`() throws {
        let world = try world(with: ["online": .online])
        let folder = KeyFolder("/alice", files: world.files)
        try folder.stage(CeremonyWorld.fresh[0], as: "online", protection: .none)
        try folder.stage(CeremonyWorld.fresh[1], as: "online", protection: .none)
        let label = "online.next-\(id(of: CeremonyWorld.fresh[0].publicKey).hex.prefix(8))"
        #expect(try world.names("alice/retired") == ["\(label).key", "\(label).pub"])
        #expect(try folder.publicKey("online.next") == CeremonyWorld.fresh[1].publicKey)
    }

    /// Every private key that stands anywhere in alice's folder.
    private func held(on disk: FaultyFiles) throws -> [[UInt8]] {
        var held: [[UInt8]] = []
        for folder in ["/alice", "/alice/retired"] as [FilePath] where try disk.status(of: folder) != nil {
            for name in try disk.list(folder) where name.hasSuffix(".key") {
                held.append(try text(folder.appending(name), on: disk))
            }
        }
        return held
    }

    /// The online keys of root.json and of targets.json, which differ between the two writes of a publish.
    private func listed(on disk: FaultyFiles) throws -> [PublicKey] {
        let root = try Envelope(try disk.read("/alice/root.json", limit: Limits.root), role: "root", limit: Limits.root)
        let targets = try Envelope(
            try disk.read("/alice/targets.json", limit: Limits.root),
            role: "targets",
            limit: Limits.root
        )
        let roles = try TopRoles(root: root, targets: targets)
        let dial = try #require(roles.targets.delegation(to: "dial")).keys
        return (Array(roles.root.keys(of: "snapshot").keys.values) + Array(dial.keys.values)).compactMap(\.publicKey)
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `never loses a key that a published role lists, and ends when it is called again`(
        _ survival: FaultyFiles.Survival
    ) throws {
        let world = try world(with: ["online": .online])
        let signers: [TestKey] = [.root, .other, .targets]
        let (first, second) = (CeremonyWorld.fresh[0], CeremonyWorld.fresh[1])
        let pairs = [try TestKey.online.key, first, second]
        let oldKey = pairs[0].publicKey
        let rehearsal = world.files.reopened()
        try rotate("online", to: first, by: signers, on: rehearsal, world)
        #expect(rehearsal.changes > 40)
        for change in Sweep.points(of: rehearsal.changes, every: 8, offset: survival == .lose ? 0 : 4) {
            let disk = world.files.reopened(failingAtChange: change)
            #expect(throws: SigningError.self) { try rotate("online", to: first, by: signers, on: disk, world) }
            let after = disk.crashed(survival)
            for key in try listed(on: after) {
                let owner = try #require(pairs.first { $0.publicKey == key })
                #expect(try held(on: after).contains(try owner.unencryptedPEM()), "stopped at \(change)")
            }
            try rotate("online", to: second, by: signers, on: after, world)
            let roles = try #require(try world.folder(on: after).current())
            let online = try Authorities(roles).online.keys.values.compactMap(\.publicKey)
            let key = try SigningKey("/alice/online.key", passphrase: nil, policy: .forTests, files: after)
            #expect(online == [key.publicKey] && online != [oldKey], "stopped at \(change)")
            #expect(try KeyFolder("/alice", files: after).publicKey("online") == key.publicKey, "stopped at \(change)")
            #expect(try held(on: after).contains(try pairs[0].unencryptedPEM()), "stopped at \(change)")
        }
    }

    @Test func `is asked for by the name of a file, an id or a key`() throws {
        let world = try CeremonyWorld()
        let authorities = try Authorities(try world.roles())
        let key = try TestKey.other.publicKey
        let edits: [TrustEdit] = [.remove(.id(id(of: key).hex), .root)]
        #expect(try authorities.revoking(.key(key), in: "/alice") == edits)
        #expect(try authorities.revoking(.id(String(id(of: key).hex.prefix(10))), in: "/alice") == edits)
        #expect(throws: SigningError.ceremony("/alice", .unknownKey("ffffffff", role: "any role"))) {
            try authorities.revoking(.id("ffffffff"), in: "/alice")
        }
        #expect(throws: SigningError.ceremony("/alice", .ambiguousKey("", role: "all roles"))) {
            try authorities.revoking(.id(""), in: "/alice")
        }
    }
}
