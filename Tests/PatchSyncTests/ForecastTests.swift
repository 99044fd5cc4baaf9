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

@testable import PatchSync

/// Ten files, of which none is in another version.
private let manyFiles = Dictionary(
    uniqueKeysWithValues: (0..<10).map { ($0 == 0 ? "index.html" : "a\($0).js", noise(900, seed: 40 + $0)) }
)

@Suite("A look at what a sync costs")
struct ForecastTests {
    /// Where a device may stand, and what it then says of the bundle and of the scripts.
    enum Situation: String, CaseIterable {
        case packOfAnIndex, packWithoutIndex, packThatStandsHalf, packBesideItsSignatures
        case packWithSignatures, packWithSignaturesThatStandsHalf
        case chainOfTwo
        case script, compressedScript, damagedFile, missingScript, staged, upToDate
        case objectsAfterABreak, wholePackAfterABreak

        func world() async throws -> World {
            switch self {
            case .packOfAnIndex:
                let world = try await World.updating()
                world.repository.edit { $0.publishPackIndex(of: "web") }
                return world
            case .chainOfTwo: return try await World.chained()
            case .packWithoutIndex: return try await World.updating()
            case .packWithSignatures:
                let world = try await World.updating()
                world.repository.edit {
                    $0.publishPackIndex(of: "web")
                    $0.publishSignedPacks()
                }
                return world
            case .packThatStandsHalf, .packWithSignaturesThatStandsHalf:
                let world = try await World.updating()
                let isSigned = self == .packWithSignaturesThatStandsHalf
                if isSigned { world.repository.edit { $0.publishSignedPacks() } }
                let line =
                    [try world.basePack(isSigned ? .signed : .pack)]
                    + world.repository.tree.files.keys.filter { $0.contains("/web/2.0.0/") }
                world.repository.fail(line[0], with: .breaksOff(after: isSigned ? 900 : 300))
                for path in line.dropFirst() { world.repository.fail(path, with: .connection) }
                await #expect(throws: SyncError.self) { try await world.device.sync() }
                line.forEach(world.repository.repair)
                return world
            case .packBesideItsSignatures:
                let world = try await World.updating()
                world.repository.edit { $0.publishPackIndex(of: "web") }
                world.repository.fail(try world.basePack(.signatures), with: .notFound)
                return world
            case .script, .compressedScript:
                let world = try await World.running()
                if self == .compressedScript { world.repository.compress { _ in .zstandard } }
                let fix = SimulatedPatch.script("fix-cart-total", "2", "cart.total = 2;\n\(noise(4_000))")
                world.repository.publish([fix, SampleApp.banner1, SampleApp.web1])
                return world
            case .damagedFile:
                let world = try await World.running()
                let main = SHA256Digest(of: Array("console.log(1);".utf8))
                try world.disk.remove(world.store.objects.path(of: main))
                try world.disk.remove(world.store.bundle(try world.web().fingerprint.sha256).at("app/main.js"))
                return world
            case .missingScript:
                let world = try await World.running()
                let fix = SHA256Digest(of: Array("cart.total = 1;".utf8))
                try world.disk.remove(world.store.objects.path(of: fix))
                return world
            case .staged:
                let world = try await World.updating()
                try await world.device.sync()
                return world
            case .upToDate: return try await World.running()
            case .objectsAfterABreak:
                let world = try await World.running([packedWeb1])
                world.repository.publish([packedWeb2])
                world.repository.fail(object(noise(800, seed: 3)), with: .notFound)
                try await world.device.sync()
                world.repository.repair(object(noise(800, seed: 3)))
                return world
            case .wholePackAfterABreak:
                let world = try World([.bundle("web", "1.0.0", manyFiles)])
                let bundle = try #require(world.repository.tree.bundles(of: "web")["1.0.0"])
                let paths = manyFiles.values.map { object($0) } + [URLLayout.fullPack(of: bundle.digest)]
                for path in paths { world.repository.fail(path, with: .notFound) }
                try await world.device.sync()
                paths.forEach(world.repository.repair)
                return world
            }
        }

        var way: TransferCost.Way? {
            switch self {
            case .packOfAnIndex, .packWithoutIndex, .packThatStandsHalf: .packs(from: name("1.0.0"), count: 1)
            case .packWithSignatures, .packWithSignaturesThatStandsHalf: .packs(from: name("1.0.0"), count: 1)
            case .chainOfTwo: .packs(from: name("1.0.0"), count: 2)
            case .packBesideItsSignatures: .packs(from: name("1.0.0"), count: 1)
            case .script, .compressedScript, .missingScript: .file
            case .damagedFile, .objectsAfterABreak: .singleObjects
            case .staged, .upToDate: nil
            case .wholePackAfterABreak: .wholePack
            }
        }
    }

    @Test(arguments: Situation.allCases)
    func `tells the bytes that the sync after it fetches, where it says that it knows`(
        situation: Situation
    ) async throws {
        let world = try await situation.world()
        world.clock.advance(by: .days(1))
        _ = world.repository.takeRequests()
        let forecast = try await world.device.forecast()
        let asked = world.repository.takeRequests()
        #expect(asked.allSatisfy { !$0.hasPrefix("objects/") || $0.hasSuffix(" head") }, "\(asked)")
        #expect(asked.allSatisfy { !$0.contains("/from-") || $0.hasSuffix(" head") }, "\(asked)")
        #expect(Set(forecast.rows.map(\.cost.way)).subtracting([.nothing]).first == situation.way)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        // What stands half is asked for with what its server calls it, which may be another by then.
        #expect(forecast.size.isExact == !situation.rawValue.hasSuffix("StandsHalf"))
        guard situation != .packBesideItsSignatures else { return }
        #expect(forecast.size.bytes == report.bytesTransferred)
        #expect((report.bytesTransferred == 0) == (situation.way == nil))
    }

    @Test func `says of a new bundle the most that it can cost, for only its manifest tells what is missing`()
        async throws
    {
        let world = try World([packedWeb2])
        let forecast = try await world.device.forecast()
        let bundle = try #require(world.repository.tree.bundles(of: "web")["2.0.0"])
        let whole = world.repository[URLLayout.fullPack(of: bundle.digest)].count
        let row = try #require(forecast.rows.first)
        #expect(row.cost.way == .open && row.task == .take && row.current == nil)
        #expect(row.cost.size == .about(bundle.manifest.count + bundle.column.count + whole))
        #expect(try await world.device.sync().bytesTransferred <= bundle.manifest.count + bundle.column.count + whole)
    }

    @Test func `does not guess what no server says`() async throws {
        let world = try World([packedWeb2])
        let bundle = try #require(world.repository.tree.bundles(of: "web")["2.0.0"])
        world.repository.fail(URLLayout.fullPack(of: bundle.digest), with: .notFound)
        let forecast = try await world.device.forecast()
        #expect(forecast.rows.map(\.cost.size) == [.unknown] && forecast.size == .unknown)
        #expect(forecast.rows.map(\.cost.saved) == [nil] && forecast.saved == 0)
    }

    @Test func `counts the metadata that came, and what is saved against the whole`() async throws {
        let world = try await World.updating()
        world.repository.edit { $0.publishPackIndex(of: "web") }
        let before = world.repository.bytesSent
        let forecast = try await world.device.forecast()
        #expect(forecast.metadata == world.repository.bytesSent - before && forecast.metadata > 0)
        let row = try #require(forecast.rows.first)
        let bundle = try #require(world.repository.tree.bundles(of: "web")["2.0.0"])
        let whole = world.repository[URLLayout.fullPack(of: bundle.digest)].count
        #expect(row.cost.whole == .about(bundle.manifest.count * 27 / 100 + bundle.column.count + whole))
        #expect(forecast.saved == (row.cost.whole?.bytes ?? 0) - (row.cost.size.bytes ?? 0))
        #expect(forecast.roleVersion == 2 && row.current?.text == "1.0.0" && row.version.text == "2.0.0")
    }

    @Test func `goes on without an index that is none, and asks for the pack's length`() async throws {
        let world = try await World.updating()
        let bundle = try #require(world.repository.tree.bundles(of: "web")["2.0.0"])
        let length = try world.repository[world.basePack()].count + world.repository[world.basePack(.signatures)].count
        for fault in [SimulatedRepository.Fault.replaced(Array("{}".utf8)), .endless, .webPage, .timesOut] {
            world.repository.fail(URLLayout.packIndex(of: bundle.digest), with: fault)
            #expect(try await world.device.forecast().size == .exactly(length))
        }
    }

    @Test func `changes nothing on the disk but what is verified of the channel`() async throws {
        let world = try await World.updating()
        world.repository.edit { $0.publishPackIndex(of: "web") }
        world.repository.setDial([])
        world.repository.setParameters(["color": .text("red")])
        let before = try world.files()
        _ = try await world.device.forecast()
        let after = try world.files()
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        let root = "\(world.store.root)/"
        #expect(
            changed.map { String($0.dropFirst(root.count)) }.sorted() == [
                "channels/production/dial.json", "channels/production/patchlist.json", "trust/dial.json",
                "trust/production.json", "trust/snapshot.json", "trust/timestamp.json",
            ]
        )
        #expect(try world.status() == ["web 1.0.0 Success"])
    }

    @Test func `takes no place, and says that a sync asks for one`() async throws {
        let world = try World([SampleApp.fix1])
        world.repository.onQuestion { _ in
            Issue.record("the server was asked")
            return nil
        }
        world.repository.setDial([
            Dial.Row(
                patchID: SampleApp.fix1.id,
                sha256: SHA256Digest(of: Array("cart.total = 1;".utf8)),
                rollout: 10_000,
                paused: false,
                reason: nil,
                headcount: 3
            )
        ])
        let forecast = try await world.device.forecast()
        #expect(forecast.isUnasked && forecast.rows.map(\.task) == [.take])
    }
}

extension World {
    fileprivate func web() throws -> InstalledPatch {
        try #require(machine.state.running?.patches.first { $0.patchID.text == "web" })
    }
}
