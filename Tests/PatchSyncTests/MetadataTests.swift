import PatchChoice
import DeviceTesting
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

@Suite("A sync of metadata")
struct MetadataTests {
    private let first = "banner 1, fix-cart-total 1, web 1.0.0"

    /// A sync throws exactly this, and what runs, its objects and the state of the device are what they were.
    private func expect(
        _ error: SyncError,
        from world: World,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try world.files()
        await #expect(throws: error, sourceLocation: location) { try await world.device.sync() }
        let after = try world.files()
        for part in ["objects/", "bundles/", "channels/", "Downloading/", "PartialDownload/"] {
            let prefix = "/store/\(part)"
            #expect(
                after.filter { $0.key.hasPrefix(prefix) } == before.filter { $0.key.hasPrefix(prefix) },
                "\(part) changed",
                sourceLocation: location
            )
        }
        #expect(try world.machine.state.running?.labels == first, sourceLocation: location)
        let offline = try world.device.reopened(on: world.disk.crashed(.lose))
        if try offline.device.state().machine.state.phase == .settled {
            #expect(try await offline.launchAndConfirm()?.labels == first, sourceLocation: location)
        }
        try expectNoFaults(offline, sourceLocation: location)
    }

    // MARK: Roots

    @Test func `follows a chain of roots, and keeps every one of them`() async throws {
        let world = try await World.running()
        world.repository.rotateRoot()
        world.repository.rotateRoot(to: .other)
        world.repository.rotateRoot(online: .second)
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        let requests = world.repository.takeRequests()
        #expect(
            requests.prefix(5) == [
                "metadata/2.root.json", "metadata/3.root.json", "metadata/4.root.json", "metadata/5.root.json",
                "metadata/timestamp.json",
            ]
        )
        #expect(try world.disk.list("/store/trust/root_history") == ["2.root.json", "3.root.json", "4.root.json"])
        #expect(
            try world.disk.read("/store/trust/root.json", limit: 100_000) == world.repository["metadata/4.root.json"]
        )
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `takes no root that the old keys did not sign`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.keys["root"] = [.other]
            tree.publishRoot()
        }
        try await expect(.trust(.threshold(role: "root", valid: 0, needed: 1)), from: world)
        #expect(try world.disk.read("/store/trust/root.json", limit: 100_000) == world.repository.root)
    }

    @Test func `leaves nothing of a refused walk behind, so the honest server is followed at once`() async throws {
        let world = try await World.running()
        var honest: SimulatedTree?
        // Timestamp and snapshot verify and are far ahead: those of another app with the same online key.
        world.repository.edit { tree in
            honest = tree
            tree.impostors["targets"] = [.other]
            for _ in 0..<5 {
                tree.publishTargets()
                tree.publishSnapshot()
            }
        }
        let paths = ["timestamp.json", "snapshot.json", "targets.json"].map { FilePath("/store/trust/\($0)") }
        let before = try paths.map { try world.disk.read($0, limit: 100_000) }
        try await expect(.trust(.threshold(role: "targets", valid: 0, needed: 1)), from: world)
        #expect(try paths.map { try world.disk.read($0, limit: 100_000) } == before)

        let saved = try #require(honest)
        world.repository.edit { $0 = saved }
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `takes no root that its own keys did not sign`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.keys["root"] = [.other]
            tree.impostors["root"] = [.root]
            tree.publishRoot()
        }
        try await expect(.trust(.threshold(role: "root", valid: 0, needed: 1)), from: world)
    }

    @Test func `takes no root of another version than the next`() async throws {
        let world = try await World.running()
        world.repository.rotateRoot()
        world.repository.rotateRoot()
        world.repository.fail("metadata/2.root.json", with: .replaced(world.repository["metadata/3.root.json"]))
        try await expect(.trust(.wrongVersion(role: "root", offered: 3, expected: 2)), from: world)
    }

    @Test func `takes no root of another app`() async throws {
        let world = try await World.running()
        world.repository.edit { $0.publishRoot(app: name("com.example.other")) }
        try await expect(
            .trust(
                .foreign(document: "root", field: "app", found: "com.example.other", expected: "com.example.storefront")
            ),
            from: world
        )
    }

    @Test func `stops at more new roots than its limit`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            for _ in 0...Limits.rootRotations { tree.publishRoot() }
        }
        try await expect(.trust(.tooManyRoots(limit: 256)), from: world)
        #expect(world.repository.takeRequests().count == 257)
        // What was followed counts: the next sync gets to the end.
        #expect(try await world.device.sync().isComplete)
    }

    @Test func `recovers from a fast-forward attack when the online key is replaced`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            for role in ["snapshot", "timestamp"] { tree.versions[role] = 1_000 }
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().isComplete)
        world.repository.edit { tree in
            for role in ["snapshot", "timestamp"] { tree.versions[role] = 10 }
            tree.publishSnapshot()
        }
        let behind = try #require(try await world.device.sync().staleMirror)
        #expect(behind.offered == 11 && behind.known == 1_001)
        world.repository.rotateRoot(online: .other)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.staleMirror == nil)
    }

    // MARK: Expiry

    @Test(arguments: ["root", "targets", "production", "snapshot", "timestamp"])
    func `takes nothing new from an expired role`(role: String) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        world.repository.expire(role)
        let expired = SyncError.trust(
            .expired(role: role, expires: world.clock.now().adding(.seconds(-1)), at: world.clock.now())
        )
        try await expect(expired, from: world)
        world.repository.edit { tree in
            tree.lifetimes[role] = .days(1)
            switch role {
            case "root": tree.publishRoot()
            case "targets": tree.publishTargets()
            case "production": tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            default: break
            }
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test(arguments: [(Duration.days(7) - .seconds(1), true), (.days(7), false)])
    func `takes a role until the second at which it expires`(after: Duration, isTaken: Bool) async throws {
        let world = try await World.running()
        world.clock.advance(by: after)
        let isFresh = (try? await world.device.sync()) != nil
        #expect(isFresh == isTaken)
    }

    @Test func `goes by the newest verified timestamp where the clock is behind`() async throws {
        let world = try await World.running()
        world.clock.advance(by: .days(-1_000))
        #expect(try await world.device.sync().isComplete)
        #expect(try world.device.device.state().lastSync?.at == ManualClock.start)
    }

    @Test func `does without a dial that has expired`() async throws {
        let rules = PatchRules(dial: .required)
        let world = try World([.script("fix", "1", "1;", rules: rules)])
        world.repository.expire("dial")
        let report = try await world.device.sync()
        #expect(report.decisions.map(\.choice) == [.none])
        #expect(report.decisions.flatMap(\.passedOver).map(\.why) == [.dialMissing])
        world.repository.edit { $0.lifetimes["dial"] = .days(7) }
        world.repository.setDial([])
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `goes by the dial of its own channel alone`() async throws {
        let world = try World([SampleApp.fix1])
        let row = Dial.Row(
            patchID: name("fix-cart-total"),
            sha256: SHA256Digest(of: Array("cart.total = 1;".utf8)),
            rollout: 10_000,
            paused: true,
            reason: nil
        )
        world.repository.edit { tree in
            tree.publishDial([Dial(app: tree.app, channel: SimulatedRepository.beta, rows: [row])])
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().staging == .staged)
        world.repository.setDial([row])
        #expect(try await world.device.sync().staging == .unstaged)
    }

    // MARK: Going back, and mixing

    /// A running world whose server offers timestamp 2 where 3 is known, both signed now.
    private func behind() async throws -> World {
        let world = try await World.running()
        let old = world.repository[URLLayout.timestamp]
        world.repository.edit { $0.publishSnapshot() }
        try await world.device.sync()
        world.repository.fail(URLLayout.timestamp, with: .replaced(old))
        return world
    }

    @Test(arguments: [(Duration.seconds(0), false), (.days(1), false), (.days(1) + .seconds(1), true)])
    func `takes no older timestamp, goes on with what is known and says so after a day`(
        later: Duration,
        isOverdue: Bool
    ) async throws {
        let world = try await behind()
        let stored = try world.files(below: "trust")
        world.clock.advance(by: later)
        let report = try await world.device.sync()
        let known = StaleMirror(offered: 2, known: 3, signedAt: ManualClock.start, clock: world.clock.now())
        #expect(report.staleMirror == known)
        #expect(known.isOverdue == isOverdue)
        #expect(report.isComplete && report.staging == .unchanged)
        #expect(try world.files(below: "trust") == stored)
        world.repository.repair(URLLayout.timestamp)
        #expect(try await world.device.sync().staleMirror == nil)
    }

    @Test func `keeps no timestamp from after the end of root`() async throws {
        let world = try await World.running()
        let now = world.clock.now()
        world.repository.edit { tree in
            tree.time = now.adding(.days(400))
            tree.publishSnapshot()
        }
        let stored = try world.files(below: "trust")
        let error = TrustError.clockBehind(
            role: "root",
            expires: ManualClock.start.adding(.days(365)),
            clock: now,
            atLeast: now.adding(.days(400))
        )
        try await expect(.trust(error), from: world)
        #expect(try world.files(below: "trust") == stored)
    }

    @Test func `forgets a date in the future with the next timestamp`() async throws {
        let world = try await World.running()
        let now = world.clock.now()
        world.repository.edit { tree in
            tree.time = now.adding(.days(200))
            tree.publishSnapshot()
        }
        let error = TrustError.clockBehind(
            role: "production",
            expires: ManualClock.start.adding(.days(90)),
            clock: now,
            atLeast: now.adding(.days(200))
        )
        try await expect(.trust(error), from: world)
        world.repository.edit { tree in
            tree.time = now
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().isComplete)
    }

    @Test func `takes no older timestamp either when the known one has expired`() async throws {
        let world = try await behind()
        world.clock.advance(by: .days(7))
        let expired = TrustError.clockAheadOrStale(
            role: "timestamp",
            expires: world.clock.now(),
            clock: world.clock.now()
        )
        try await expect(.trust(expired), from: world)
    }

    @Test func `takes no newer timestamp of an older snapshot`() async throws {
        let world = try await World.running()
        let old = RoleFile(of: world.repository["metadata/2.snapshot.json"], version: 2)
        world.repository.edit { $0.publishSnapshot() }
        try await world.device.sync()
        world.repository.edit { $0.publishTimestamp(of: old) }
        try await expect(.trust(.rolledBack(role: "snapshot", offered: 2, trusted: 3)), from: world)
    }

    @Test func `takes no snapshot in which a role went back`() async throws {
        let world = try await World.running()
        let old = try #require(world.repository.tree.snapshot["production"])
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        world.repository.edit { tree in
            tree.snapshot["production"] = old
            tree.publishSnapshot()
        }
        try await expect(.trust(.rolledBack(role: "production", offered: 1, trusted: 2)), from: world)
    }

    @Test func `takes no snapshot from which a role is gone`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.snapshot["production"] = nil
            tree.publishSnapshot()
        }
        try await expect(.trust(.droppedFromSnapshot(role: "production")), from: world)
    }

    @Test func `mixes no role of one state with a snapshot of another`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        world.repository.fail(
            "metadata/2.production.json",
            with: .replaced(world.repository["metadata/1.production.json"])
        )
        let (old, new) = (
            world.repository["metadata/1.production.json"], world.repository["metadata/2.production.json"]
        )
        // The same length or not, its digest is another.
        let error: TrustError =
            old.count == new.count
            ? .wrongDigest(name: "production", algorithm: "sha256")
            : .wrongLength(name: "production", found: old.count, expected: new.count)
        if old.count > new.count {
            try await expect(.fetch(.tooLarge("metadata/2.production.json", limit: new.count)), from: world)
        } else {
            try await expect(.trust(error), from: world)
        }
    }

    // MARK: Wrong keys

    @Test(arguments: ["targets", "production", "snapshot", "timestamp"])
    func `takes no role that other keys signed`(role: String) async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.impostors[role] = [.other]
            tree.publishTargets()
            tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            tree.publishSnapshot()
        }
        try await expect(.trust(.threshold(role: role, valid: 0, needed: 1)), from: world)
    }

    @Test func `takes no role with fewer signatures than its threshold`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.keys["production"] = [.production, .second]
            tree.thresholds["production"] = 2
            tree.publishTargets()
            tree.impostors["production"] = [.production, .other]
            tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            tree.publishSnapshot()
        }
        try await expect(.trust(.threshold(role: "production", valid: 1, needed: 2)), from: world)
        world.repository.edit { tree in
            tree.impostors["production"] = nil
            tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().staging == .staged)
    }

    // MARK: Broken answers

    static let documents = [
        "metadata/timestamp.json", "metadata/3.snapshot.json", "metadata/2.targets.json", "metadata/2.production.json",
    ]

    /// A world whose next sync asks for all of ``documents``.
    private func changed() async throws -> World {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.publishTargets()
            tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            tree.publishSnapshot()
        }
        return world
    }

    private func role(at path: String) -> String {
        String(path.split(separator: "/")[1].split(separator: ".").dropLast().last ?? "")
    }

    @Test(arguments: documents)
    func `takes no role with one bit flipped`(path: String) async throws {
        let world = try await changed()
        world.repository.fail(path, with: .bitFlipped(at: 0.5))
        let before = try world.files()
        let error = await #expect(throws: SyncError.self) { try await world.device.sync() }
        if path == URLLayout.timestamp {
            guard case .trust = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        } else {
            #expect(error == .trust(.wrongDigest(name: role(at: path), algorithm: "sha256")))
        }
        #expect(try world.files(below: "channels") == before.filter { $0.key.hasPrefix("/store/channels/") })
        world.repository.repair(path)
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test(arguments: 0..<24)
    func `takes no timestamp with a bit flipped anywhere in it`(part: Int) async throws {
        let world = try await World.running()
        world.repository.edit { $0.publishSnapshot() }
        let stored = try world.disk.read("/store/trust/timestamp.json", limit: 10_000)
        world.repository.fail(URLLayout.timestamp, with: .bitFlipped(at: Double(part) / 24))
        let error = await #expect(throws: SyncError.self) { try await world.device.sync() }
        guard case .trust = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try world.disk.read("/store/trust/timestamp.json", limit: 10_000) == stored)
    }

    @Test(arguments: documents)
    func `takes no role that was cut short`(path: String) async throws {
        let world = try await changed()
        world.repository.fail(path, with: .shortened(to: 100))
        let size = world.repository[path].count
        let error: TrustError =
            path == URLLayout.timestamp
            ? .malformed(FormatError("timestamp", rule: "ends before the value is complete (byte 100)"))
            : .wrongLength(name: role(at: path), found: 100, expected: size)
        let thrown = await #expect(throws: SyncError.self) { try await world.device.sync() }
        if path == URLLayout.timestamp {
            guard case .trust(.malformed(let format)) = thrown, format.document == "timestamp" else {
                Issue.record("\(String(describing: thrown))")
                return
            }
        } else {
            #expect(thrown == .trust(error))
        }
    }

    @Test(arguments: documents)
    func `reads no more of an endless role than it may have`(path: String) async throws {
        let world = try await changed()
        world.repository.fail(path, with: .endless)
        let limit = path == URLLayout.timestamp ? Limits.timestamp : world.repository[path].count
        let sent = world.repository.bytesSent
        try await expect(.fetch(.tooLarge(path, limit: limit)), from: world)
        #expect(world.repository.bytesSent - sent < 100_000)
    }

    @Test func `reads no more of an endless root than its limit`() async throws {
        let world = try await World.running()
        world.repository.fail("metadata/2.root.json", with: .endless)
        try await expect(.fetch(.tooLarge("metadata/2.root.json", limit: Limits.root)), from: world)
    }

    @Test(arguments: documents + ["metadata/2.root.json"])
    func `passes on why an answer did not come`(path: String) async throws {
        let world = try await changed()
        let faults: [(SimulatedRepository.Fault, FetchError)] = [
            (.status(500), .status(path, code: 500)), (.timesOut, .timedOut(path)),
            (.connection, .connection(path, reason: "unplugged")), (.breaksOff(after: 50), .short(path)),
        ]
        for (fault, error) in faults {
            world.repository.fail(path, with: fault)
            try await expect(.fetch(error), from: world)
        }
        if path != "metadata/2.root.json" {
            world.repository.fail(path, with: .notFound)
            try await expect(.fetch(.notFound(path)), from: world)
        }
        world.repository.repair(path)
        #expect(try await world.device.sync().staging == .staged)
    }

    // MARK: The list

    /// A world whose next sync asks for a new list; its path.
    private func newList() async throws -> (World, String) {
        let world = try await World.running()
        let known = Set(world.repository.tree.files.keys)
        world.repository.publish(SampleApp.second)
        let path = world.repository.tree.files.keys.first { $0.hasSuffix(".patchlist.json") && !known.contains($0) }
        return (world, try #require(path))
    }

    @Test func `takes no list with one bit flipped, cut short or without an end`() async throws {
        let (world, path) = try await newList()
        let size = world.repository[path].count
        let faults: [(SimulatedRepository.Fault, SyncError)] = [
            (.bitFlipped(at: 0.5), .trust(.wrongDigest(name: "production/patchlist.json", algorithm: "sha256"))),
            (.shortened(to: 9), .trust(.wrongLength(name: "production/patchlist.json", found: 9, expected: size))),
            (.endless, .fetch(.tooLarge(path, limit: size))), (.notFound, .fetch(.notFound(path))),
        ]
        for (fault, error) in faults {
            world.repository.fail(path, with: fault)
            try await expect(error, from: world)
        }
    }

    @Test(arguments: [
        ("com.example.storefront", "com.example.other", "app"),
        ("\"channel\":\"production\"", "\"channel\":\"beta\"", "channel"),
    ])
    func `takes no list of another app or channel, even when the role vouches for it`(
        old: String,
        new: String,
        field: String
    ) async throws {
        let world = try await World.running()
        world.repository.publish([]) { $0.replace(old, with: new, in: .patchList(SimulatedRepository.production)) }
        let (found, expected) =
            field == "app" ? ("com.example.other", "com.example.storefront") : ("beta", "production")
        try await expect(
            .trust(.foreign(document: "production/patchlist.json", field: field, found: found, expected: expected)),
            from: world
        )
    }

    @Test func `refuses the whole list when its head is malformed`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second) {
            $0.replace("\"serial\":2", with: "\"serial\":-2", in: .patchList(SimulatedRepository.production))
        }
        try await expect(
            .trust(
                .malformed(
                    FormatError(
                        "production/patchlist.json",
                        field: "serial",
                        rule: "must be an integer from 0 to 9007199254740991"
                    )
                )
            ),
            from: world
        )
    }
}

extension [TargetPath: [UInt8]] {
    /// What a hostile pipeline does to a document; it must have been there.
    mutating func replace(_ old: String, with new: String, in path: TargetPath) {
        let text = String(decoding: self[path] ?? [], as: UTF8.self)
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "\(old) is not in \(path): \(text)")
        self[path] = Array(parts.joined(separator: new).utf8)
    }
}
