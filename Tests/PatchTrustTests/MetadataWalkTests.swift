import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

/// Drives a walk by hand: what it asks for, in order, and what was worth storing.
private struct Drive {
    var walk: MetadataWalk
    /// What an earlier walk stored, by role.
    var stored: [String: [UInt8]] = [:]
    /// By path.
    var served: [String: [UInt8]] = [:]
    private(set) var asked: [String] = []
    private(set) var saved: [String] = []
    private(set) var older: MetadataWalk.Taken?

    init(_ world: World, knowing stored: [String: [UInt8]] = [:], at time: UTCTime = World.now) throws {
        self.init(try TrustedRoot(anchor: world.root), serving: world, .everyRole(ReferenceTime(clock: time)))
        self.stored = stored
    }

    init(_ root: TrustedRoot, serving world: World, _ expiry: ExpiryRule) {
        walk = MetadataWalk(from: root, expiry, keepsTargetsFloor: true)
        served = [
            "metadata/timestamp.json": world.timestamp, "metadata/1.snapshot.json": world.snapshot,
            "metadata/1.targets.json": world.targets, "metadata/1.production.json": world.channel,
        ]
    }

    mutating func run() throws -> TrustedRepository {
        while true {
            switch try walk.next() {
            case .done(let repository): return repository
            case .recall(let role):
                asked.append("?\(role)")
                try walk.recall(stored[role])
            case .fetch(let request):
                asked.append(request.path)
                guard let bytes = served[request.path] else {
                    walk.absent()
                    continue
                }
                switch try walk.take(bytes) {
                case .new: saved.append(request.role)
                case .known: continue
                case .older(let offered, let known): older = .older(offered: offered, known: known)
                }
            }
        }
    }
}

@Suite("A walk through metadata")
struct MetadataWalkTests {
    @Test func `asks in the order of the specification, for what is stored before what is served`() throws {
        var drive = try Drive(try World())
        let repository = try drive.run()
        #expect(
            drive.asked == [
                "metadata/2.root.json", "?timestamp", "metadata/timestamp.json", "?snapshot",
                "metadata/1.snapshot.json", "?targets", "metadata/1.targets.json",
            ]
        )
        #expect(drive.saved == ["timestamp", "snapshot", "targets"])
        #expect(repository.targets.delegations.map(\.name) == ["production", "dial"])
        #expect(repository.role("production") == nil)
    }

    @Test func `asks for nothing that it knows but the next root and the timestamp`() throws {
        let world = try World()
        let stored = [
            "timestamp": world.timestamp, "snapshot": world.snapshot, "targets": world.targets,
            "production": world.channel,
        ]
        var drive = try Drive(world, knowing: stored)
        let repository = try drive.run()
        drive.walk = MetadataWalk(in: repository, to: "production", by: "targets")
        #expect(try drive.run().role("production")?.header.version == 1)
        #expect(drive.asked.filter { !$0.hasPrefix("?") } == ["metadata/2.root.json", "metadata/timestamp.json"])
        #expect(drive.saved == [])
    }

    @Test func `is done at once with a role that its delegator has verified`() throws {
        var drive = try Drive(try World())
        drive.walk = MetadataWalk(in: try drive.run(), to: "production", by: "targets")
        let repository = try drive.run()
        let before = drive.asked.count
        drive.walk = MetadataWalk(in: repository, to: "production", by: "targets")
        #expect(try drive.run().role("production") != nil)
        #expect(drive.asked.count == before)
    }

    @Test func `ends at a channel that has ended, before it asks for anything of it`() throws {
        var world = try World()
        world.targets = try World.targets(retired: [production]).fileBytes
        world.snapshot = try World.snapshot(targets: world.targets, channel: world.channel).fileBytes
        world.timestamp = try World.timestamp(snapshot: world.snapshot).fileBytes
        var drive = try Drive(world)
        drive.stored["production"] = world.channel
        let repository = try drive.run()
        #expect(repository.targets.retired == [production] && repository.targets.hasRetired("production"))
        let before = drive.asked
        drive.walk = MetadataWalk(in: repository, to: "production", by: "targets")
        #expect(throws: TrustError.retired(channel: "production")) { try drive.run() }
        #expect(drive.asked == before)
    }

    @Test func `follows roots to the last one, and takes its keys for what comes after`() throws {
        var world = try World()
        world.timestamp = try World.timestamp(snapshot: world.snapshot, signedBy: [.other]).fileBytes
        world.snapshot = try World.snapshot(
            files: ["targets": RoleFile(of: world.targets, version: 1)],
            signedBy: [.other]
        ).fileBytes
        world.timestamp = try World.timestamp(snapshot: world.snapshot, signedBy: [.other]).fileBytes
        var drive = try Drive(world)
        drive.served["metadata/2.root.json"] = try World.root(version: 2, expires: World.now).fileBytes
        drive.served["metadata/3.root.json"] = try World.root(version: 3, online: .other).fileBytes
        #expect(try drive.run().root.version == 3)
        #expect(drive.saved.prefix(3) == ["root", "root", "timestamp"])
    }

    @Test func `follows at most 256 roots in one refresh`() throws {
        var drive = try Drive(try World())
        for version in 2...Limits.rootRotations + 2 {
            drive.served["metadata/\(version).root.json"] = try World.root(version: version).fileBytes
        }
        #expect(throws: TrustError.tooManyRoots(limit: Limits.rootRotations)) { try drive.run() }
        #expect(drive.saved.count == Limits.rootRotations)
    }

    /// A driver has no call to forget: each role is judged where it is taken.
    @Test(arguments: ["root", "timestamp", "snapshot", "targets"])
    func `ends at a role that has ended`(_ role: String) throws {
        var world = try World()
        let end = World.now
        switch role {
        case "root": world.root = try World.root(expires: end).fileBytes
        case "timestamp": world.timestamp = try World.timestamp(expires: end, snapshot: world.snapshot).fileBytes
        case "snapshot":
            world.snapshot = try World.snapshot(
                expires: end,
                files: ["targets": RoleFile(of: world.targets, version: 1)]
            ).fileBytes
            world.timestamp = try World.timestamp(snapshot: world.snapshot).fileBytes
        default: world = try World.naming(targets: try World.targets(expires: end))
        }
        var drive = try Drive(world)
        let error = #expect(throws: TrustError.self) { try drive.run() }
        // Before a timestamp says that it is later, the clock alone says so of the root.
        let expected: TrustError =
            role == "root"
            ? .clockAheadOrStale(role: role, expires: end, clock: World.now)
            : .expired(role: role, expires: end, at: World.now)
        #expect(error == expected)
        #expect(!drive.saved.contains(role))
        // A reader who signs again what people sign goes on; so does a server in its own tree.
        var again = Drive(try TrustedRoot(anchor: world.root), serving: world, .onlineRoles(at: World.now))
        if ["root", "targets"].contains(role) {
            #expect(try again.run().targets.header.version == 1)
        } else {
            #expect(throws: TrustError.expired(role: role, expires: end, at: World.now)) { try again.run() }
        }
        var server = Drive(try TrustedRoot(anchor: world.root), serving: world, .noRole(because: .signsAgain))
        #expect(try server.run().targets.header.version == 1)
    }

    @Test func `tells of an older timestamp, and goes on with the one that it knows`() throws {
        let world = try World()
        let newer = try World.timestamp(version: 2, snapshot: world.snapshot).fileBytes
        var drive = try Drive(world, knowing: ["timestamp": newer])
        #expect(try drive.run().timestamp.role.header.version == 2)
        #expect(drive.older == .older(offered: 1, known: 2))
        #expect(drive.saved == ["snapshot", "targets"])
    }

    @Test func `takes a stored role that no longer verifies for none`() throws {
        let world = try World()
        let foreign = try World.timestamp(version: 9, snapshot: world.snapshot, signedBy: [.other]).fileBytes
        let stored = ["timestamp": foreign, "snapshot": [1], "targets": world.channel]
        var drive = try Drive(world, knowing: stored)
        #expect(try drive.run().timestamp.role.header.version == 1)
        #expect(drive.saved == ["timestamp", "snapshot", "targets"])
    }

    @Test func `stands where it stood after a refusal, so that other bytes may be offered`() throws {
        let world = try World()
        var drive = try Drive(world)
        drive.served["metadata/1.targets.json"] = world.targets.flippingBit(9)
        #expect(throws: TrustError.wrongDigest(name: "targets", algorithm: "sha256")) { try drive.run() }
        drive.served["metadata/1.targets.json"] = world.targets
        #expect(try drive.run().targets.header.version == 1)
    }

    @Test func `asks for no role that the snapshot does not list`() throws {
        var drive = try Drive(try World())
        drive.walk = MetadataWalk(in: try drive.run(), to: "dial", by: "targets")
        let before = drive.asked
        #expect(throws: TrustError.notInSnapshot(role: "dial")) { try drive.run() }
        #expect(drive.asked == before)
    }

    @Test func `names roles without their version where the root says so`() throws {
        let file = RoleFile(version: 7, length: 12, sha256: nil)
        let versioned = RoleRequest.role("production", file, isVersioned: true)
        #expect(versioned.path == "metadata/7.production.json" && versioned.mostBytes == 12)
        #expect(RoleRequest.role("production", file, isVersioned: false).path == "metadata/production.json")
        #expect(RoleRequest.timestamp(known: nil).mostBytes == Limits.timestamp)
        let unsized = RoleRequest.role("snapshot", RoleFile(version: 1, length: nil, sha256: nil), isVersioned: true)
        #expect(unsized.mostBytes == Limits.snapshot)
    }
}
