import DeviceTesting
import PatchChoice
import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchDelta
@testable import PatchSync

/// So much that packs weigh less than their requests save.
private let large = ["large.js": noise(60_000, seed: 11)]
private let oldest = SimulatedPatch.bundle("web", "1.0.0", packedFiles1.merging(large) { $1 })
private let middleFiles = packedFiles1.merging(large) { $1 }.merging([
    "app/main.js": "console.log(1.5);", "app/middle.js": noise(500, seed: 7), "empty.txt": "",
]) { $1 }
private let middle = SimulatedPatch.bundle("web", "1.5.0", middleFiles)
private let newest = SimulatedPatch.bundle("web", "2.0.0", packedFiles2.merging(large) { $1 })

extension World {
    /// Runs 1.0.0, and is offered 2.0.0, to which packs lead through 1.5.0 alone.
    static func chained() async throws -> World { try World(copying: try await prepared.value) }

    private static let prepared = SharedFixture { try await chained(through: middle) }

    fileprivate static func chained(
        from first: SimulatedPatch = oldest,
        through middle: SimulatedPatch
    ) async throws -> World {
        let world = try await running([first])
        world.repository.publish([middle])
        world.repository.edit { $0.publishPacks(of: "web") }
        world.repository.publish([newest])
        world.repository.edit { $0.publishPacks(of: "web") }
        let direct = [try world.basePack(), try world.basePack(.signatures)]
        world.repository.edit { tree in
            for path in direct { tree.files[path] = nil }
            tree.publishPackIndex(of: "web")
        }
        return world
    }

    /// The same, whose first pack has these bytes, as the index says.
    fileprivate static func chained(firstPack bytes: [UInt8]) async throws -> World {
        let world = try await chained()
        let path = try world.first
        world.repository.edit { tree in
            tree.files[path] = bytes
            tree.publishPackIndex(of: "web")
        }
        return world
    }

    fileprivate var first: String { get throws { try basePack(to: "1.5.0") } }
    fileprivate var last: String { get throws { try basePack(from: "1.5.0") } }

    fileprivate func edit(_ change: @escaping @Sendable (inout PackIndex) -> Void) {
        repository.edit { $0.publishPackIndex(of: "web", editing: change) }
    }

    /// The bundle comes object by object, for this reason alone; nothing of the version between is left.
    fileprivate func expectWithout(
        _ why: [SyncError],
        after requests: [String],
        blames: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await device.sync()
        #expect(report.isComplete && report.packs == [], sourceLocation: location)
        #expect(report.mirrors.isEmpty != blames, sourceLocation: location)
        #expect(takeRefusals() == why, sourceLocation: location)
        #expect(bundleRequests() == ["pack", "index"] + requests + withoutPack, sourceLocation: location)
        try await expectChained(location: location)
    }

    /// The device has 2.0.0, whole, and nothing of the version between.
    fileprivate func expectChained(
        _ comment: Comment? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try disk.list(store.downloading) == [], comment, sourceLocation: location)
        let objects = Set(try store.objects.all())
        for text in ["console.log(1.5);", noise(500, seed: 7)] {
            #expect(!objects.contains(SHA256Digest(of: Array(text.utf8))), comment, sourceLocation: location)
        }
        try await expectUpdated(comment, location: location)
    }
}

private let firstName = "web 2.0.0 first pack of two, from 1.0.0"
private let lastName = "web 2.0.0 pack from 1.5.0"

/// A pack that is a head alone.
private func pack(withHead text: [UInt8]) throws -> [UInt8] {
    let world = SimulatedRepository(clock: ManualClock())
    world.publish([oldest])
    let base = try PackManifest(try #require(world.tree.bundles(of: "web")["1.0.0"]).manifest)
    let frame = try ZstandardPatch.frame(of: text, prefix: base.names.text, level: 3)
    try #require(frame.count < 128)
    return PackHead.name + [1] + [UInt8(frame.count)] + frame
}

@Suite("Two packs in a row")
struct ChainTests {
    @Test func `bring an update through a version that is not here, of which nothing stays`() async throws {
        let world = try await World.chained()
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && world.takeRefusals() == [])
        #expect(world.bundleRequests() == ["pack", "index", "pack", "pack", "sigs", "sigs"])
        // The manifest, the column, and the two contents.
        #expect(report.filesReceived == 4)
        let use = try #require(report.packs.first)
        #expect(use.base.text == "1.0.0" && use.through?.text == "1.5.0")
        let paths = [
            try world.first, try world.last, try world.basePack(to: "1.5.0", .signatures),
            try world.basePack(from: "1.5.0", .signatures),
        ]
        #expect(use.bytes == paths.reduce(0) { $0 + world.repository[$1].count })
        try await world.expectChained()
    }

    @Test func `bring it without signatures where the device does without`() async throws {
        var world = try await World.chained()
        try await world.store.changingConfiguration { $0.entrySignatures = .manifest }
        world.device.device = try world.device.device.reopened()
        #expect(try await world.device.sync().packs.count == 1)
        #expect(world.bundleRequests() == ["pack", "index", "pack", "pack"])
        try await world.expectChained()
    }

    @Test func `lead from a version that stays to go back to, and so does one`() async throws {
        let world = try await World.running([oldest])
        world.repository.publish([.bundle("web", "1.8.0", middleFiles.merging(["x.txt": noise(900, seed: 9)]) { $1 })])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.publish([newest])
        world.repository.edit { $0.publishPacks(of: "web") }
        let tried = try world.basePack(from: "1.8.0")
        world.repository.edit { tree in
            tree.files[tried] = nil
            tree.publishPackIndex(of: "web")
        }
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        #expect(report.packs.map(\.base.text) == ["1.0.0"] && report.packs.map(\.through) == [nil])
        #expect(world.bundleRequests() == ["pack", "index", "pack", "sigs"])
        try await world.expectUpdated()
    }

    @Test(arguments: [SimulatedRepository.Fault.notFound, .bitFlipped(at: 0.5), .endless])
    func `whose signatures are missing or wrong bring all else, and the column comes as a whole`(
        fault: SimulatedRepository.Fault
    ) async throws {
        for isFirst in [true, false] {
            let world = try await World.chained()
            let path =
                try isFirst ? world.basePack(to: "1.5.0", .signatures) : world.basePack(from: "1.5.0", .signatures)
            world.repository.fail(path, with: fault)
            let report = try await world.device.sync()
            #expect(report.isComplete && report.packs.count == 1)
            let asked = ["sigs"] + (isFirst ? [] : ["sigs"])
            #expect(world.bundleRequests() == ["pack", "index", "pack", "pack"] + asked + ["column"])
            try await world.expectChained()
        }
    }

    // MARK: What is refused

    @Test func `of which a server has no index, or one that nobody can read, are not asked for`() async throws {
        let none = try await World.chained()
        let path = URLLayout.packIndex(of: try #require(none.repository.tree.bundles(of: "web")["2.0.0"]).digest)
        for fault in [SimulatedRepository.Fault.notFound, .webPage, .timesOut, .endless] {
            let world = try World(copying: none)
            world.repository.fail(path, with: fault)
            try await world.expectWithout([], after: [])
        }
        let world = try World(copying: none)
        world.repository.fail(path, with: .replaced(Array("{}".utf8)))
        let error = FormatError("pack index", field: "format", rule: "must be a string")
        try await world.expectWithout([.format(error)], after: [])
    }

    @Test func `whose index names the new version itself, or goes in a circle, are not asked for`() async throws {
        let bundles = try await World.chained().repository.tree.bundles(of: "web")
        let (new, between) = (try #require(bundles["2.0.0"]).digest, try #require(bundles["1.5.0"]).digest)
        for base in [new, between] {
            let world = try await World.chained()
            world.edit { index in
                let row = index.from[0]
                let loop = PackIndex.Pack(base: base, size: 1)
                index = PackIndex(
                    whole: index.whole,
                    from: [PackIndex.Row(row.pack, manifest: row.manifest, column: row.column, from: [loop])]
                )
            }
            let rule = "must name each base once, and neither the manifest nor the base of the outer pack"
            try await world.expectWithout(
                [.format(FormatError("pack index", field: "from[0].from", rule: rule))],
                after: []
            )
        }
        let world = try await World.chained()
        world.edit { index in
            index = PackIndex(whole: nil, from: [PackIndex.Row(PackIndex.Pack(base: new, size: 1), manifest: 1)])
        }
        let rule = "must name each base once, and not the manifest itself"
        try await world.expectWithout([.format(FormatError("pack index", field: "from", rule: rule))], after: [])
    }

    @Test func `whose sizes are lies are read to what was said, and no further`() async throws {
        let world = try await World.chained()
        let (first, last) = (try world.first, try world.last)
        world.edit { index in index = index.with { ($0.0, PackIndex.Pack(base: $0.1.base, size: 10, signatures: nil)) }
        }
        try await world.expectWithout([.fetch(.tooLarge(first, limit: 10))], after: ["pack"])
        let other = try await World.chained()
        other.edit { index in index = index.with { (PackIndex.Pack(base: $0.0.base, size: 10), $0.1) } }
        try await other.expectWithout([.fetch(.tooLarge(last, limit: 10))], after: ["pack", "pack"])
        let heavy = try await World.chained()
        heavy.edit { index in index = index.with { ($0.0, PackIndex.Pack(base: $0.1.base, size: 1 << 30)) } }
        try await heavy.expectWithout([], after: [])
    }

    @Test func `whose manifest between has another size than was said are refused by their head`() async throws {
        let world = try await World.chained()
        world.edit { index in
            let row = index.from[0]
            index = PackIndex(
                whole: nil,
                from: [PackIndex.Row(row.pack, manifest: 40, column: row.column, from: row.from)]
            )
        }
        try await world.expectWithout([.pack(firstName, .head(.size))], after: ["pack"], blames: true)
    }

    @Test func `that the index names and nobody has are told of`() async throws {
        for path in [try await World.chained().first, try await World.chained().last] {
            let world = try await World.chained()
            world.repository.fail(path, with: .notFound)
            let asked = try path == world.first ? ["pack"] : ["pack", "pack"]
            try await world.expectWithout([.fetch(.notFound(path))], after: asked)
        }
    }

    @Test func `of which any byte is changed give the right bundle all the same, and the server is named`() async throws
    {
        let first = try await World.chained()
        for path in [try first.first, try first.last] {
            let pack = first.repository[path]
            for place in stride(from: 0, to: pack.count, by: Sweep.isFull ? 1 : 83) {
                let world = try World(copying: first)
                var damaged = pack
                damaged[place] ^= 0x41
                world.repository.fail(path, with: .replaced(damaged))
                let report = try await world.device.sync()
                #expect(report.isComplete, "\(path) byte \(place)")
                #expect(report.packs.count + report.mirrors.count == 1, "\(path) byte \(place)")
                try await world.expectChained("\(path) byte \(place)")
            }
        }
    }

    @Test func `of which one is of another base or leads elsewhere are refused`() async throws {
        let first = try await World.chained()
        let bundles = first.repository.tree.bundles(of: "web")
        let (one, two) = (try #require(bundles["1.0.0"]), try #require(bundles["2.0.0"]))
        let between = try #require(bundles["1.5.0"])
        let direct = try #require(first.repository.tree.pack(from: one, to: two)).pack
        let world = try await World.chained(firstPack: direct)
        let elsewhere = PackError.otherManifest(two.digest, asked: between.digest)
        try await world.expectWithout([.pack(firstName, elsewhere)], after: ["pack"], blames: true)

        let other = try World(copying: first)
        let last = try other.last
        other.repository.edit { tree in
            tree.files[last] = direct
            tree.publishPackIndex(of: "web")
        }
        let report = try await other.device.sync()
        #expect(report.isComplete && report.packs == [] && report.mirrors.count == 1)
        guard case .pack(lastName, _) = try #require(other.takeRefusals().first) else {
            Issue.record("another reason")
            return
        }
        try await other.expectChained()
    }

    @Test func `through a version whose paths leave their folder, or that has too many rows, are refused`() async throws
    {
        let header: [UInt8] = [2] + Array("{}".utf8)
        let cases: [([UInt8], PackError.HeadRule)] = [
            (header + [1] + Array("../../a\n".utf8), .rowLine), (header + [0xA1, 0x8D, 0x06], .rowCount),
        ]
        for (text, rule) in cases {
            let world = try await World.chained(firstPack: try pack(withHead: text))
            try await world.expectWithout([.pack(firstName, .head(rule))], after: ["pack"], blames: true)
        }
    }

    @Test func `through a version that claims to have far more than there is are refused before it is made`()
        async throws
    {
        let text = String(repeating: "0123456789abcdef", count: 65_536)
        let first = SimulatedPatch.bundle(
            "web",
            "1.0.0",
            packedFiles1.merging(large) { $1 }.merging(["big.bin": text]) { $1 }
        )
        let many = Dictionary(uniqueKeysWithValues: (0..<20).map { ("copies/\($0).bin", text) })
        let middle = SimulatedPatch.bundle("web", "1.5.0", middleFiles.merging(many) { $1 })
        let world = try await World.chained(from: first, through: middle)
        let total = middleFiles.merging(many) { $1 }.values.reduce(0) { $0 + $1.utf8.count }
        let error = SyncError.pack("\(firstName): manifest", .tooMuch(total, limit: PackLimits.held))
        try await world.expectWithout([error], after: ["pack"])
    }

    @Test func `through a version of another patch are refused`() async throws {
        let world = try await World.chained()
        world.repository.publish([newest, .bundle("docs", "1.5.0", middleFiles)])
        let tree = world.repository.tree
        let bundles = tree.bundles(of: "web")
        let (one, two) = (try #require(bundles["1.0.0"]), try #require(bundles["2.0.0"]))
        let docs = try #require(tree.bundles(of: "docs")["1.5.0"])
        let steps = [(docs, one), (two, docs)]
        let packs = try steps.map { new, base in
            (BasePack(manifest: new.digest, base: base.digest), try #require(tree.pack(from: base, to: new)).pack)
        }
        let index = PackIndex(
            whole: nil,
            from: [
                PackIndex.Row(
                    PackIndex.Pack(base: docs.digest, size: packs[1].1.count),
                    manifest: docs.manifest.count,
                    from: [PackIndex.Pack(base: one.digest, size: packs[0].1.count)]
                )
            ]
        )
        world.repository.publish([newest])
        world.repository.edit { tree in
            for (pack, bytes) in packs { tree.files[URLLayout.pack(pack, .pack)] = bytes }
            tree.files[URLLayout.packIndex(of: two.digest)] = index.json.fileBytes
        }
        let error = TrustError.foreign(
            document: "\(firstName): manifest",
            field: "patchId",
            found: "docs",
            expected: "web"
        )
        try await world.expectWithout([.trust(error)], after: ["pack"])
    }

    @Test func `write no more of the version between than twice what they lead from`() throws {
        let disk = FaultyFiles()
        let store = DeviceStore(root: "/store", files: disk, isShared: false)
        #expect(IntermediateContents.most(fromBaseOf: 0) == PackLimits.held)
        #expect(IntermediateContents.most(fromBaseOf: PackLimits.held) == 2 * PackLimits.held)
        var contents = try IntermediateContents(in: store, fromBaseOf: 0)
        let half = [UInt8](repeating: 7, count: PackLimits.held / 2)
        for _ in 0..<2 { try contents.take(.piece(half, row: 0), named: "pack") }
        #expect(throws: SyncError.pack("pack", .tooMuch(PackLimits.held + 1, limit: PackLimits.held))) {
            try contents.take(.piece([1], row: 0), named: "pack")
        }
    }

    // MARK: Stopped

    @Test func `that break off go on at the byte in the next sync`() async throws {
        let world = try await World.chained()
        let line = [try world.last] + world.repository.tree.files.keys.filter { $0.contains("/web/2.0.0/") }
        world.repository.fail(line[0], with: .breaksOff(after: 100))
        for path in line.dropFirst() { world.repository.fail(path, with: .connection) }
        await #expect(throws: SyncError.self) { try await world.device.sync() }
        #expect(world.bundleRequests() == ["pack", "index", "pack", "pack", "manifest"])
        for path in line { world.repository.repair(path) }
        let next = try world.continued(on: world.disk.crashed(.keep))
        #expect(try await next.device.sync().packs.count == 1)
        #expect(next.bundleRequests() == ["pack", "index", "pack from 100", "sigs", "sigs"])
        try await next.expectChained()
    }

    @Test func `that are stopped anywhere leave what was whole, and the next sync ends it`() async throws {
        let first = try await World.chained()
        let rehearsal = try World(copying: first)
        try await rehearsal.device.sync()
        for change in stride(from: 0, to: rehearsal.disk.changes, by: Sweep.isFull ? 1 : 11) {
            let world = try first.continued(on: first.disk.reopened(failingAtChange: change))
            _ = try? await world.device.sync()
            let next = try world.continued(on: world.disk.crashed(.keep))
            #expect(try next.machine.state.running?.labels == "web 1.0.0", "change \(change)")
            try expectNoFaults(next.device, "change \(change)")
            #expect(try await next.device.sync().isComplete, "change \(change)")
            try await next.expectChained("change \(change)")
        }
    }
}

extension PackIndex {
    /// The only row and the only pack to its base, changed.
    fileprivate func with(_ change: ((Pack, Pack)) -> (Pack, Pack)) -> PackIndex {
        let row = from[0]
        let (last, first) = change((row.pack, row.from[0]))
        return PackIndex(whole: whole, from: [Row(last, manifest: row.manifest, column: row.column, from: [first])])
    }
}
