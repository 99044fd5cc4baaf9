import PatchChoice
import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@testable import PatchSync

@Suite("An installed bundle's index")
struct InstalledIndexTests {
    private func installed() async throws -> (World, FilePath, FilePath) {
        let world = try await World.running()
        let web = try #require(try world.machine.state.running?[name("web")])
        let digest = web.fingerprint.sha256
        return (world, world.store.indexes.appending(digest.hex), world.store.bundle(digest))
    }

    @Test func `is there once the bundle is staged, and goes with it`() async throws {
        let (world, first, _) = try await installed()
        #expect(try world.disk.status(of: first) != nil)
        for number in 2...3 {
            world.repository.publish([
                SampleApp.fix1, SampleApp.banner1, .bundle("web", "\(number)", ["index.html": "<p>\(number)</p>"]),
            ])
            try await world.device.sync()
            try await world.device.launchAndConfirm()
        }
        #expect(try world.disk.status(of: first) == nil)
        #expect(try world.disk.list(world.store.indexes).count == 2)
    }

    @Test func `is made again when it is missing, altered or of another manifest`() async throws {
        let (world, path, _) = try await installed()
        let whole = try world.disk.read(path, limit: 1_000_000)
        var altered = whole
        altered[40] ^= 1
        for bytes in [nil, [], altered, Array(whole.dropLast())] as [[UInt8]?] {
            try world.disk.remove(path)
            if let bytes { try world.disk.write(bytes, to: path) }
            #expect(try await world.device.sync().staging == .unchanged)
            #expect(try world.disk.read(path, limit: 1_000_000) == whole)
        }
    }

    @Test func `lets a sync with nothing new write nothing`() async throws {
        let (world, path, _) = try await installed()
        world.repository.setDial([])
        try await world.device.sync()
        let root = world.store.root
        let files = [path, root.appending("verified"), root.pushing("channels/production/dial.json")]
        let before = try files.map { try world.disk.identity(of: $0) }
        try await world.device.sync()
        #expect(try files.map { try world.disk.identity(of: $0) } == before)
    }

    @Test func `hides nothing: a file that is missing, altered or another is found by the next sync`() async throws {
        let (world, _, folder) = try await installed()
        let path = folder.appending("index.html")
        let damages: [() throws -> Void] = [
            { try world.disk.remove(path) },
            { try world.disk.overwrite(path, with: try world.disk.read(path, limit: 1_000)) },
            { try world.disk.overwrite(path, with: [1]) },
            {
                try world.disk.remove(path)
                try world.disk.write([2], to: path)
            },
            {
                try world.disk.remove(path)
                try world.disk.makeSymbolicLink(path, to: folder.appending("app/main.js"))
            },
        ]
        for (number, damage) in damages.enumerated() {
            try damage()
            let healed = try await world.device.sync().healed
            // Its own bytes written again are looked at, and are no damage.
            #expect(healed.isEmpty == (number == 1), "damage \(number)")
            try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
            #expect(try await world.device.sync().healed == [])
        }
    }
}
