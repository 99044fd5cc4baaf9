import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("The root chain")
struct RootChainTests {
    @Test func `starts from a root that its own keys signed`() throws {
        #expect(try World().withRoot().root.version == 1)
        let unsigned = try World.root(signedBy: [.other]).fileBytes
        #expect(throws: TrustError.threshold(role: "root", valid: 0, needed: 1)) {
            try StepByStep(unsigned, at: World.now)
        }
    }

    @Test func `starts from an expired root, which only its end may not be`() throws {
        let trusted = try StepByStep(try World.root(expires: World.now).fileBytes, at: World.now)
        #expect(throws: TrustError.clockAheadOrStale(role: "root", expires: World.now, clock: World.now)) {
            try trusted.checkRootExpiry()
        }
        #expect(throws: Never.self) { try World().withRoot().checkRootExpiry() }
    }

    @Test func `goes from one root to the next, also through an expired one`() throws {
        var trusted = try World().withRoot()
        try trusted.updateRoot(try World.root(version: 2, expires: World.now.adding(.days(-30))).fileBytes)
        try trusted.updateRoot(try World.root(version: 3).fileBytes)
        #expect(trusted.root.version == 3)
        #expect(throws: Never.self) { try trusted.checkRootExpiry() }
    }

    @Test(arguments: [1, 3, 100])
    func `takes no version but the next`(_ version: Int) throws {
        var trusted = try World().withRoot()
        #expect(throws: TrustError.wrongVersion(role: "root", offered: version, expected: 2)) {
            try trusted.updateRoot(try World.root(version: version).fileBytes)
        }
        #expect(trusted.root.version == 1)
    }

    @Test func `takes a new key that the old one and the new one signed for`() throws {
        var trusted = try World().withRoot()
        let signers = try World.signers([.other])
        #expect(throws: TrustError.threshold(role: "root", valid: 0, needed: 1)) {
            try trusted.updateRoot(try World.root(version: 2, root: signers, signedBy: [.other]).fileBytes)
        }
        #expect(throws: TrustError.threshold(role: "root", valid: 0, needed: 1)) {
            try trusted.updateRoot(try World.root(version: 2, root: signers, signedBy: [.root]).fileBytes)
        }
        try trusted.updateRoot(try World.root(version: 2, root: signers, signedBy: [.root, .other]).fileBytes)
        #expect(throws: TrustError.threshold(role: "root", valid: 0, needed: 1)) {
            try trusted.updateRoot(try World.root(version: 3, root: signers, signedBy: [.root]).fileBytes)
        }
    }

    @Test func `needs as many keys as the old and the new threshold ask for`() throws {
        let two = try World.signers([.root, .other], 2)
        var trusted = try StepByStep(
            try World.root(root: two, signedBy: [.root, .other]).fileBytes,
            at: World.now
        )
        let one = try World.signers([.root])
        #expect(throws: TrustError.threshold(role: "root", valid: 1, needed: 2)) {
            try trusted.updateRoot(try World.root(version: 2, root: one, signedBy: [.root]).fileBytes)
        }
        try trusted.updateRoot(try World.root(version: 2, root: one, signedBy: [.root, .other]).fileBytes)
        #expect(throws: TrustError.threshold(role: "root", valid: 1, needed: 2)) {
            try trusted.updateRoot(try World.root(version: 3, root: two, signedBy: [.root]).fileBytes)
        }
    }

    @Test func `never leads to the root of another app, or of none`() throws {
        var trusted = try World().withRoot()
        #expect(
            throws: TrustError.foreign(document: "root", field: "app", found: "com.example.other", expected: app.text)
        ) {
            try trusted.updateRoot(try World.root(version: 2, app: named("com.example.other")).fileBytes)
        }
        let nameless = try Envelope(
            role: "root",
            signing: try World.root(version: 2).signed.setting("x-patchline-app", to: nil)
        ).signed(by: [.root])
        #expect(throws: TrustError.foreign(document: "root", field: "app", found: "none", expected: app.text)) {
            try trusted.updateRoot(nameless.fileBytes)
        }
        #expect(trusted.root.app == app)
    }
}

@Suite("A timestamp")
struct TimestampRuleTests {
    @Test func `is taken, with the time at which it was signed`() throws {
        var trusted = try World().withRoot()
        #expect(try trusted.updateTimestamp(try World().timestamp) == .taken)
        #expect(trusted.timestamp?.signedAt == World.now)
    }

    @Test func `signed by another key is refused`() throws {
        var trusted = try World().withRoot()
        let world = try World()
        #expect(throws: TrustError.threshold(role: "timestamp", valid: 0, needed: 1)) {
            try trusted.updateTimestamp(
                try World.timestamp(snapshot: world.snapshot, signedBy: [.root, .targets, .other]).fileBytes
            )
        }
        #expect(trusted.timestamp == nil)
    }

    @Test func `older than the known one is a rollback`() throws {
        var world = try World()
        world.timestamp = try World.timestamp(version: 5, snapshot: world.snapshot).fileBytes
        var trusted = try world.withTimestamp()
        #expect(throws: TrustError.rolledBack(role: "timestamp", offered: 4, trusted: 5)) {
            try trusted.updateTimestamp(try World.timestamp(version: 4, snapshot: world.snapshot).fileBytes)
        }
    }

    @Test func `of the known version changes nothing, whatever it says`() throws {
        let world = try World()
        var trusted = try world.withTimestamp()
        let other = try World.timestamp(file: RoleFile(version: 9, length: 1, sha256: nil))
        #expect(try trusted.updateTimestamp(other.fileBytes) == .unchanged)
        #expect(trusted.timestamp?.snapshot.version == 1)
    }

    @Test func `that takes the snapshot back is a rollback`() throws {
        var world = try World()
        world.timestamp = try World.timestamp(snapshot: world.snapshot, snapshotVersion: 7).fileBytes
        var trusted = try world.withTimestamp()
        #expect(throws: TrustError.rolledBack(role: "snapshot", offered: 6, trusted: 7)) {
            try trusted.updateTimestamp(
                try World.timestamp(version: 2, snapshot: world.snapshot, snapshotVersion: 6).fileBytes
            )
        }
        #expect(
            try trusted.updateTimestamp(
                try World.timestamp(version: 2, snapshot: world.snapshot, snapshotVersion: 7).fileBytes
            ) == .taken
        )
    }

    @Test func `expired is not current, and still guards against rollback`() throws {
        var world = try World()
        world.timestamp = try World.timestamp(version: 5, expires: World.now, snapshot: world.snapshot).fileBytes
        var trusted = try world.withTimestamp()
        #expect(throws: TrustError.expired(role: "timestamp", expires: World.now, at: World.now)) {
            try trusted.checkTimestampExpiry()
        }
        #expect(throws: TrustError.rolledBack(role: "timestamp", offered: 4, trusted: 5)) {
            try trusted.updateTimestamp(try World.timestamp(version: 4, snapshot: world.snapshot).fileBytes)
        }
        #expect(
            try trusted.updateTimestamp(try World.timestamp(version: 6, snapshot: world.snapshot).fileBytes) == .taken
        )
        #expect(throws: Never.self) { try trusted.checkTimestampExpiry() }
    }

    @Test func `ends with the second that it names`() throws {
        var world = try World()
        world.timestamp = try World.timestamp(expires: World.now.adding(.seconds(1)), snapshot: world.snapshot)
            .fileBytes
        #expect(throws: Never.self) { try world.withTimestamp().checkTimestampExpiry() }
        #expect(throws: TrustError.self) {
            try world.withTimestamp(at: World.now.adding(.seconds(1))).checkTimestampExpiry()
        }
    }

    @Test func `stored before a rotation no longer verifies, so its high version does not stay in the way`() throws {
        let world = try World()
        var trusted = try world.withRoot()
        try trusted.updateRoot(try World.root(version: 2, online: .other).fileBytes)
        let forwarded = try World.timestamp(version: 9_999, snapshot: world.snapshot, signedBy: [.online]).fileBytes
        #expect(throws: TrustError.threshold(role: "timestamp", valid: 0, needed: 1)) {
            try trusted.updateTimestamp(forwarded)
        }
        #expect(trusted.timestamp == nil)
        #expect(
            try trusted.updateTimestamp(
                try World.timestamp(version: 2, snapshot: world.snapshot, signedBy: [.other]).fileBytes
            ) == .taken
        )
    }
}

@Suite("A snapshot")
struct SnapshotRuleTests {
    @Test func `is taken when it is the one the timestamp names`() throws {
        let trusted = try World().withSnapshot()
        #expect(throws: Never.self) { try trusted.checkSnapshotIsCurrent() }
        #expect(try trusted.file(of: "production").version == 1)
    }

    @Test func `of another length is refused before it is parsed`() throws {
        let world = try World()
        var trusted = try world.withTimestamp()
        #expect(
            throws: TrustError.wrongLength(
                name: "snapshot",
                found: world.snapshot.count + 1,
                expected: world.snapshot.count
            )
        ) {
            try trusted.updateSnapshot(world.snapshot + [0])
        }
    }

    @Test func `of another digest is refused before it is parsed`() throws {
        let world = try World()
        var trusted = try world.withTimestamp()
        #expect(throws: TrustError.wrongDigest(name: "snapshot", algorithm: "sha256")) {
            try trusted.updateSnapshot(world.snapshot.flippingBit(0))
        }
        #expect(trusted.snapshot == nil)
    }

    @Test func `signed by another key is refused`() throws {
        var world = try World()
        world.snapshot = try World.snapshot(files: [:], signedBy: [.targets]).fileBytes
        world.timestamp = try World.timestamp(snapshot: world.snapshot).fileBytes
        #expect(throws: TrustError.threshold(role: "snapshot", valid: 0, needed: 1)) { try world.withSnapshot() }
    }

    @Test func `of another version than the timestamp names is not current`() throws {
        var world = try World()
        world.timestamp = try World.timestamp(snapshot: world.snapshot, snapshotVersion: 2).fileBytes
        #expect(throws: TrustError.wrongVersion(role: "snapshot", offered: 1, expected: 2)) {
            try world.withSnapshot().checkSnapshotIsCurrent()
        }
    }

    @Test func `expired is not current`() throws {
        var world = try World()
        world.snapshot = try World.snapshot(expires: World.now, files: [:]).fileBytes
        world.timestamp = try World.timestamp(snapshot: world.snapshot).fileBytes
        #expect(throws: TrustError.expired(role: "snapshot", expires: World.now, at: World.now)) {
            try world.withSnapshot().checkSnapshotIsCurrent()
        }
    }

    /// Trusts a stored snapshot with these versions, then is offered a newer one with those.
    private func offering(_ new: [String: Int], after old: [String: Int]) throws -> StepByStep {
        func files(_ versions: [String: Int]) -> [String: RoleFile] {
            versions.mapValues { RoleFile(version: $0, length: nil, sha256: nil) }
        }
        var world = try World()
        world.snapshot = try World.snapshot(version: 2, files: files(new)).fileBytes
        world.timestamp = try World.timestamp(snapshot: world.snapshot, snapshotVersion: 2).fileBytes
        var trusted = try world.withTimestamp()
        // The hash in the timestamp is the new one's; the stored one counts all the same.
        try trusted.updateSnapshot(try World.snapshot(version: 1, files: files(old)).fileBytes, stored: true)
        try trusted.updateSnapshot(world.snapshot)
        return trusted
    }

    @Test func `that takes a role back is a rollback`() throws {
        #expect(throws: TrustError.rolledBack(role: "production", offered: 4, trusted: 5)) {
            try offering(["targets": 2, "production": 4], after: ["targets": 1, "production": 5])
        }
    }

    @Test func `that drops a role is refused`() throws {
        #expect(throws: TrustError.droppedFromSnapshot(role: "beta")) {
            try offering(["targets": 1], after: ["targets": 1, "beta": 1])
        }
    }

    @Test func `that keeps, raises and adds roles is taken`() throws {
        let trusted = try offering(["targets": 1, "production": 6, "beta": 1], after: ["targets": 1, "production": 5])
        #expect(trusted.snapshot?.files.count == 3)
    }

    @Test func `stored before a rotation no longer verifies, so its high versions do not stay in the way`() throws {
        let world = try World()
        var trusted = try world.withRoot()
        try trusted.updateRoot(try World.root(version: 2, online: .other).fileBytes)
        let fresh = try World.snapshot(
            version: 2,
            files: ["targets": RoleFile(version: 1, length: nil, sha256: nil)],
            signedBy: [.other]
        ).fileBytes
        _ = try trusted.updateTimestamp(
            try World.timestamp(snapshot: fresh, snapshotVersion: 2, signedBy: [.other]).fileBytes
        )
        let forwarded = try World.snapshot(
            version: 9_999,
            files: ["targets": RoleFile(version: 9_999, length: nil, sha256: nil)]
        )
        #expect(throws: TrustError.threshold(role: "snapshot", valid: 0, needed: 1)) {
            try trusted.updateSnapshot(forwarded.fileBytes, stored: true)
        }
        #expect(trusted.snapshot == nil)
        try trusted.updateSnapshot(fresh)
        #expect(throws: Never.self) { try trusted.checkSnapshotIsCurrent() }
    }
}

@Suite("A targets role")
struct TargetsRuleTests {
    @Test func `is taken, and then the channel's, and then its targets are known`() throws {
        let trusted = try World().withEverything()
        #expect(try trusted.target(.patchList(production), of: "production") == TargetFile(of: World.list))
    }

    @Test func `that the snapshot does not list is not asked for`() throws {
        let trusted = try World().withTargets()
        #expect(throws: TrustError.notInSnapshot(role: "beta")) { try trusted.file(of: "beta") }
        var other = trusted
        #expect(throws: TrustError.notInSnapshot(role: "dial")) {
            try other.updateTargets([], role: "dial", delegator: "targets")
        }
    }

    @Test func `of another length or digest than the snapshot names is refused before it is parsed`() throws {
        let world = try World()
        var trusted = try world.withSnapshot()
        #expect(throws: TrustError.wrongLength(name: "targets", found: 2, expected: world.targets.count)) {
            try trusted.updateTargets(Array("{}".utf8), role: "targets", delegator: "root")
        }
        #expect(throws: TrustError.wrongDigest(name: "targets", algorithm: "sha256")) {
            try trusted.updateTargets(world.targets.flippingBit(9), role: "targets", delegator: "root")
        }
    }

    @Test func `signed by another key is refused`() throws {
        let world = try World.naming(targets: try World.targets(signedBy: [.root, .online]))
        #expect(throws: TrustError.threshold(role: "targets", valid: 0, needed: 1)) { try world.withTargets() }
    }

    @Test func `of another version than the snapshot names is refused`() throws {
        let world = try World.naming(targets: try World.targets(version: 2), targetsVersion: 3)
        #expect(throws: TrustError.wrongVersion(role: "targets", offered: 2, expected: 3)) { try world.withTargets() }
    }

    @Test func `expired is refused`() throws {
        let world = try World.naming(targets: try World.targets(expires: World.now))
        #expect(throws: TrustError.expired(role: "targets", expires: World.now, at: World.now)) {
            try world.withTargets()
        }
    }

    @Test func `of a channel needs the keys of its delegation, as many as it says`() throws {
        let delegating = try World.targets(channel: try World.signers([.production, .second], 2))
        let alone = try World.naming(
            targets: delegating,
            channel: try World.channel(signedBy: [.production, .beta, .targets])
        )
        #expect(throws: TrustError.threshold(role: "production", valid: 1, needed: 2)) { try alone.withEverything() }
        let both = try World.naming(targets: delegating, channel: try World.channel(signedBy: [.production, .second]))
        #expect(throws: Never.self) { try both.withEverything() }
    }

    @Test func `of a channel is refused for its version and its expiry too`() throws {
        let older = try World.naming(channel: try World.channel(version: 1), channelVersion: 2)
        #expect(throws: TrustError.wrongVersion(role: "production", offered: 1, expected: 2)) {
            try older.withEverything()
        }
        let expired = try World.naming(channel: try World.channel(expires: World.now))
        #expect(throws: TrustError.expired(role: "production", expires: World.now, at: World.now)) {
            try expired.withEverything()
        }
    }

    @Test func `that nobody delegates to is refused`() throws {
        var trusted = try World().withSnapshot()
        let world = try World()
        #expect(throws: TrustError.notDelegated(role: "production")) {
            try trusted.updateTargets(world.channel, role: "production", delegator: "targets")
        }
        #expect(throws: TrustError.notDelegated(role: "beta")) {
            try world.withEverything().target(.patchList(production), of: "beta")
        }
    }

    @Test func `names the channels of the app where a channel is asked for that it does not have`() throws {
        let repository = try #require(try World().withTargets().repository)
        let typo = try #require(ChannelName("prodution"))
        #expect(throws: TrustError.noChannel("prodution", known: ["production"])) {
            try repository.refuseUnknown(typo)
        }
        #expect(throws: Never.self) { try repository.refuseUnknown(production) }
    }

    @Test func `is no other sort of role`() throws {
        let snapshot = try Envelope(role: "targets", signing: try World.snapshot(files: [:]).signed).signed(by: [
            .targets
        ])
        let world = try World.naming(targets: snapshot)
        #expect(throws: TrustError.malformed(FormatError("targets", field: "_type", rule: "must be targets"))) {
            try world.withTargets()
        }
    }

    @Test func `says nothing of a path that it was never given`() throws {
        let foreign: TargetPath = .patchList(named("beta"))
        let world = try World.naming(channel: try World.channel(targets: [foreign: TargetFile(of: World.list)]))
        #expect(throws: TrustError.outsideDelegation(role: "production", target: "beta/patchlist.json")) {
            try world.withEverything().target(foreign, of: "production")
        }
    }

    @Test func `says nothing of a target that it does not name`() throws {
        let manifest: TargetPath = .manifest(channel: production, patchID: web, version: named("1"))
        #expect(throws: TrustError.noTarget(role: "production", target: "production/web/1/manifest.json")) {
            try World().withEverything().target(manifest, of: "production")
        }
    }
}

@Suite("Metadata over its limit")
struct MetadataLimitTests {
    @Test func `is refused before it is parsed`() throws {
        func filled(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "["), count: count + 1) }
        #expect(throws: TrustError.malformed(FormatError("root", rule: "is over 512000 bytes"))) {
            try StepByStep(filled(Limits.root), at: World.now)
        }
        var trusted = try World().withRoot()
        #expect(throws: TrustError.malformed(FormatError("root", rule: "is over 512000 bytes"))) {
            try trusted.updateRoot(filled(Limits.root))
        }
        #expect(throws: TrustError.malformed(FormatError("timestamp", rule: "is over 16384 bytes"))) {
            try trusted.updateTimestamp(filled(Limits.timestamp))
        }
        _ = try trusted.updateTimestamp(
            try World.timestamp(file: RoleFile(version: 1, length: nil, sha256: nil)).fileBytes
        )
        #expect(throws: TrustError.malformed(FormatError("snapshot", rule: "is over 2000000 bytes"))) {
            try trusted.updateSnapshot(filled(Limits.snapshot))
        }
        try trusted.updateSnapshot(
            try World.snapshot(files: ["targets": RoleFile(version: 1, length: nil, sha256: nil)]).fileBytes
        )
        #expect(throws: TrustError.malformed(FormatError("targets", rule: "is over 5000000 bytes"))) {
            try trusted.updateTargets(filled(Limits.targetsRole), role: "targets", delegator: "root")
        }
    }

    @Test func `is refused when it holds more signatures than 64`() throws {
        let rows = (0...64).map { JSON.fields([("keyid", .text("\($0)")), ("sig", .text(""))]) }
        let bytes = JSON.fields([("signed", .fields([])), ("signatures", .array(rows))]).fileBytes
        #expect(throws: FormatError("root", field: "signatures", rule: "must hold at most 64 elements")) {
            try Envelope(bytes, role: "root", limit: Limits.root)
        }
    }
}
