import DeviceTesting
import PatchChoice
import PatchDelta
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

extension World {
    /// The same as ``updating()``, from a server that has packs and their signatures in one as well.
    fileprivate static func updatingBySigned() async throws -> World {
        let world = try await updating()
        world.repository.edit { $0.publishSignedPacks() }
        return world
    }

    fileprivate func signed() throws -> String { try basePack(.signed) }

    /// What stands before the pack.
    fileprivate func front() throws -> Int {
        let signatures = try #require(repository.tree.files[try basePack(.signatures)])
        return BasePack.front(signatures).count
    }

    fileprivate func replaceSigned(by bytes: [UInt8]) throws {
        let path = try signed()
        repository.edit { $0.files[path] = bytes }
    }
}

@Suite("A pack with its signatures in one")
struct SignedPackTests {
    @Test func `brings all that an update needs by one request`() async throws {
        let world = try await World.updatingBySigned()
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.packs.count == 1)
        #expect(world.bundleRequests() == ["signed"])
        #expect(try report.packs[0].bytes == #require(world.repository.tree.files[try world.signed()]).count)
        try await world.expectUpdated()
    }

    @Test func `is not asked for where signatures are not`() async throws {
        var world = try await World.updatingBySigned()
        try await world.store.changingConfiguration { $0.entrySignatures = .manifest }
        world.device.device = try world.device.device.reopened()
        _ = try await world.device.sync()
        #expect(world.bundleRequests() == ["pack"])
    }

    @Test(arguments: [1, 100, 800])
    func `goes on at the byte in the same sync, as soon as its signatures are here`(count: Int) async throws {
        var world = try await World.updatingBySigned()
        _ = world.retries(1)
        let mirror = world.mirror()
        let front = try world.front()
        world.repository.fail(try world.signed(), with: .breaksOff(after: count))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.packs.count == 1)
        #expect(mirror.takeRequests() == [try world.signed() + (count > front ? " from \(count)" : "")])
        try await world.expectUpdated()
    }

    @Test func `goes on at the byte after a restart, and starts again where only the pack is wanted then`() async throws
    {
        for wantsSignatures in [true, false] {
            let world = try await World.updatingBySigned()
            let line = [try world.signed()] + world.repository.tree.files.keys.filter { $0.contains("/web/2.0.0/") }
            let count = try world.front() + 50
            world.repository.fail(line[0], with: .breaksOff(after: count))
            for path in line.dropFirst() { world.repository.fail(path, with: .connection) }
            await #expect(throws: SyncError.self) { try await world.device.sync() }
            _ = world.bundleRequests()
            for path in line { world.repository.repair(path) }
            if !wantsSignatures { try await world.store.changingConfiguration { $0.entrySignatures = .manifest } }
            let next = try world.continued(on: world.disk.crashed(.keep))
            #expect(try await next.device.sync().packs.count == 1)
            #expect(next.bundleRequests() == [wantsSignatures ? "signed from \(count)" : "pack"])
            #expect(try next.parts == [])
        }
    }

    @Test func `whose signatures are not those brings its contents, and they come by themselves`() async throws {
        let world = try await World.updatingBySigned()
        let path = try world.signed()
        world.repository.edit { $0.files[path]?[BasePack.frontCount + 3] ^= 1 }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.packs.count == 1)
        #expect(world.bundleRequests() == ["signed", "sigs"])
        #expect(world.takeRefusals() == [.pack("web 2.0.0 pack from 1.0.0", .signatures(.column))])
        try await world.expectUpdated()
    }

    /// Nothing of it is held that is more than a column may be.
    @Test func `that says of more signatures than there are rows is given up at once`() async throws {
        let world = try await World.updatingBySigned()
        try world.replaceSigned(by: [0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 5_000))
        let report = try await world.device.sync()
        let wrong = SyncError.pack("web 2.0.0 pack from 1.0.0", .signatures(.length))
        #expect(
            report.isComplete
                && report.mirrors == [MirrorFault(server: SimulatedDevice.server.text, wrong: .lied(wrong))]
        )
        #expect(world.bundleRequests() == ["signed"] + withoutPack)
        try await world.expectUpdated()
    }

    @Test(arguments: [0, 3, 4, 700])
    func `that ends early is given up`(count: Int) async throws {
        let world = try await World.updatingBySigned()
        let whole = try #require(world.repository.tree.files[try world.signed()])
        try world.replaceSigned(by: Array(whole.prefix(count)))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.packs.isEmpty && report.mirrors.count == 1)
        #expect(world.bundleRequests() == ["signed"] + withoutPack)
        try await world.expectUpdated()
    }

    @Test func `that is another pack is given up, and nothing of it stays`() async throws {
        let world = try await World.updatingBySigned()
        let signatures = try #require(world.repository.tree.files[try world.basePack(.signatures)])
        try world.replaceSigned(by: BasePack.front(signatures) + Array("PLP\u{1} no pack".utf8))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.packs.isEmpty && report.mirrors.count == 1)
        try await world.expectUpdated()
    }
}
