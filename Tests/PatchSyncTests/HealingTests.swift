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

@Suite("A damaged installation")
struct HealingTests {
    private let first = "banner 1, fix-cart-total 1, web 1.0.0"

    enum Damage: CaseIterable {
        case removed, altered, rotten, emptied, symbolicLink

        func happen(to path: FilePath, on disk: FaultyFiles) throws {
            switch self {
            case .removed: try disk.remove(path)
            case .altered:
                try disk.overwrite(
                    path,
                    with: [UInt8](repeating: 0x2A, count: try disk.read(path, limit: 10_000).count)
                )
            case .rotten: try disk.rot(path)
            case .emptied: try disk.overwrite(path, with: [])
            case .symbolicLink:
                try disk.remove(path)
                try disk.makeSymbolicLink(path, to: "/etc/passwd")
            }
        }

        /// How it shows; a medium that rots is noticed only by who reads everything again.
        func status(of file: String) -> (String, String) {
            switch self {
            case .removed: ("FileNotExist", "\(file) is missing")
            case .altered: ("FileNotMatch", "\(file): md5 is not the listed one")
            case .emptied: ("FileNotMatch", "\(file): size is not the listed one")
            case .symbolicLink: ("FileNotMatch", "\(file): kind is not the listed one")
            case .rotten: ("Success", "")
            }
        }
    }

    @Test func `is healed also while a newer version of it cannot be fetched`() async throws {
        let world = try await World.running()
        let digest = SHA256Digest(of: Array("console.log(1);".utf8))
        try world.disk.overwrite(world.store.objects.path(of: digest), with: [1])
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web2])
        let missing = SHA256Digest(of: Array("console.log(2);".utf8))
        world.repository.fail(URLLayout.object(missing), with: .notFound)
        // The list offers the old one's file no more, and the server has it still.
        let report = try await world.device.sync()
        #expect(report.failures.map(\.version.text) == ["2.0.0"])
        #expect(report.healed.map(\.description) == ["web 1.0.0"])
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test func `is healed also where a newer version is to take its place`() async throws {
        let world = try await World.running()
        let gone = SHA256Digest(of: Array("console.log(1);".utf8))
        try world.disk.overwrite(world.store.objects.path(of: gone), with: [1])
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web2])
        let report = try await world.device.sync()
        #expect(report.staging == .staged && report.isComplete)
        #expect(report.healed.map(\.description) == ["web 1.0.0"])
        try world.expectWhole(first)
    }

    @Test func `is healed also where it is withdrawn, for it runs until the next launch`() async throws {
        let world = try await World.running()
        try world.disk.remove(try Part.asset.path(in: world))
        world.repository.withdraw("web")
        #expect(try await world.device.sync().healed.map(\.description) == ["web 1.0.0"])
        try world.expectWhole(first)
    }

    @Test func `is healed in every selection that shares the file, so that a roll back needs no network`() async throws
    {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        guard case .tryOut(let trial, let token) = try await world.device.device.launch() else {
            Issue.record("the second release should be on trial")
            return
        }
        let shared = SHA256Digest(of: Array("<p>one</p>".utf8))
        let web = try #require(trial[name("web")])
        try world.disk.overwrite(world.store.bundle(web.fingerprint.sha256).appending("index.html"), with: [1])
        let report = try await world.device.sync()
        #expect(Set(report.healed.map(\.description)) == ["web 1.0.0", "web 2.0.0"])
        #expect(world.repository.takeRequests().count { $0 == URLLayout.object(shared) } == 1)
        _ = try await world.device.device.timerEnded(token)
        try world.expectWhole(first)
    }

    @Test func `that cannot be healed holds up no newer version`() async throws {
        let world = try await World.running()
        let gone = SHA256Digest(of: Array("console.log(1);".utf8))
        try world.disk.remove(try Part.asset.path(in: world))
        try world.disk.remove(world.store.objects.path(of: gone))
        world.repository.publish(SampleApp.second)
        world.repository.fail(URLLayout.object(gone), with: .connection)
        let report = try await world.device.sync()
        #expect(report.staging == .staged)
        try await world.device.launchAndConfirm()
        #expect(try world.machine.state.running?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
    }

    enum Part: CaseIterable {
        case script, asset, manifest

        var file: String {
            switch self {
            case .script: "fix-cart-total 1"
            case .asset: "web 1.0.0 app/main.js"
            case .manifest: "web 1.0.0 manifest"
            }
        }

        func path(in world: World) throws -> FilePath {
            let web = try #require(try world.machine.state.running?[name("web")])
            switch self {
            case .script: return world.store.root.appending(FilePath(object("cart.total = 1;")).components)
            case .asset: return world.store.bundle(web.fingerprint.sha256).appending("app").appending("main.js")
            case .manifest: return world.store.objects.path(of: web.fingerprint.sha256)
            }
        }
    }

    @Test(arguments: Part.allCases, Damage.allCases)
    func `is shown by file, and whole again after the next sync`(part: Part, damage: Damage) async throws {
        let world = try await World.running()
        try damage.happen(to: try part.path(in: world), on: world.disk)
        let device = try world.device.reopened(on: world.disk.reopened())
        var (state, fault) = damage.status(of: part.file)
        if part == .manifest, damage == .rotten {
            // It is read at every look, for the names of its assets.
            (state, fault) = ("UnKnownError", "\(part.file) cannot be read")
        }
        let id = part.file.split(separator: " ")[0]
        let row = try #require(try device.device.status().rows.first { $0.patchID.text == id })
        #expect(row.state.name == state)
        #expect(row.fault ?? "" == fault)
        guard damage != .rotten else {
            #expect(
                try device.device.verifyInstalled(signatures: false).faults == [
                    "\(part.file): its md5 is not the listed one"
                ]
            )
            return
        }

        let report = try await device.sync()
        #expect(report.isComplete)
        let healed = part.file.split(separator: " ").prefix(2).joined(separator: " ")
        #expect(report.healed.map(\.description) == [healed])
        #expect(report.staging == .unchanged)
        try expectNoFaults(device)
        #expect(try device.device.state().machine.state.running?.labels == first)
    }

    @Test func `asks the server for the one file, and keeps the damaged one aside`() async throws {
        let world = try await World.running()
        let path = try Part.asset.path(in: world)
        let bad = [UInt8](repeating: 0x2A, count: 15)
        try world.disk.overwrite(path, with: bad)
        try await world.device.sync()
        #expect(
            world.repository.takeRequests() == [
                "metadata/2.root.json", "metadata/timestamp.json", object("console.log(1);"),
            ]
        )
        let quarantined = world.store.objects.quarantined.appending(String(object("console.log(1);").suffix(64)))
        #expect(try world.disk.read(quarantined, limit: 100) == bad)
    }

    @Test func `needs no network where the object is still there`() async throws {
        let world = try await World.running()
        try world.disk.remove(try Part.asset.path(in: world))
        let report = try await world.device.sync()
        #expect(report.filesReceived == 0 && report.healed.map(\.description) == ["web 1.0.0"])
        try world.expectWhole(first)
    }

    @Test func `is mended where the whole folder of a bundle is gone`() async throws {
        let world = try await World.running()
        try world.disk.removeTree(try Part.asset.path(in: world).removingLastComponent().removingLastComponent())
        let report = try await world.device.sync()
        #expect(report.filesReceived == 0 && report.healed.map(\.description) == ["web 1.0.0"])
        try world.expectWhole(first)
    }

    @Test(arguments: [Damage.removed, .altered, .emptied])
    func `has its signatures again after the next sync`(damage: Damage) async throws {
        let world = try await World.running()
        let column = try #require(try world.machine.state.running?[name("web")]?.column)
        try damage.happen(to: world.store.objects.path(of: column), on: world.disk)
        #expect(try world.device.device.verifyInstalled(signatures: true).faults.count == 1)
        #expect(try world.status().contains("web 1.0.0 Success"), "nothing that runs is missing")
        try await world.device.sync()
        try world.expectWhole(first)
    }

    @Test func `stays what it is while the server has not the file, and heals when it has`() async throws {
        let world = try await World.running()
        try world.disk.remove(try Part.script.path(in: world))
        world.repository.fail(object("cart.total = 1;"), with: .notFound)
        let report = try await world.device.sync()
        #expect(
            report.failures == [
                PatchFailure(
                    patchID: name("fix-cart-total"),
                    version: name("1"),
                    error: .fetch(.notFound(object("cart.total = 1;")))
                )
            ]
        )
        #expect(try world.status().contains("fix-cart-total 1 FileNotExist: fix-cart-total 1 is missing"))
        world.repository.repair(object("cart.total = 1;"))
        #expect(try await world.device.sync().isComplete)
        try world.expectWhole(first)
    }
}
