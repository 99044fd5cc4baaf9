import FoundationEssentials
import Synchronization
import SystemPackage

/// One test's own temporary folder, with its own server folder and devices.
///
/// It is removed when the test is done with it.
struct World: Sendable {
    let shop: Workshop
    let folder: FilePath

    private static let count = Atomic(0)

    /// Waits for its turn, makes a world, and cleans up after `body`.
    static func with(_ body: @Sendable (World) async throws -> Void) async throws {
        let shop = try await Workshop.ready()
        await ConcurrencyLimiter.worlds.enter()
        let number = count.add(1, ordering: .relaxed).newValue
        let world = World(shop: shop, folder: Workshop.folder.appending("world\(number)"))
        do {
            try FileManager.default.createDirectory(atPath: world.folder.string, withIntermediateDirectories: true)
            try await body(world)
            world.remove()
            await ConcurrencyLimiter.worlds.leave()
        } catch {
            world.remove()
            await ConcurrencyLimiter.worlds.leave()
            throw error
        }
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: folder.string)
    }

    func path(_ name: String) -> FilePath { folder.appending(name) }
    var root: FilePath { shop.keys.appending("root.json") }

    /// A copy of a server's folder that may be altered.
    ///
    /// Without what SQLite has beside its records while another test's server reads them: it is gone when that one stops.
    func site(_ original: FilePath, as name: String = "site") async throws -> FilePath {
        let pack = "mkdir \"$2\" && tar -C \"$1\" --exclude='./records.sqlite-*' -cf - . | tar -C \"$2\" -xpf -"
        try await run(.system("sh"), ["-c", pack, "sh", original.string, path(name).string]).done()
        return path(name)
    }

    /// A copy of the device that runs release 1, asking `server`.
    func settledDevice(server: String, as name: String = "device") async throws -> Device {
        try await copy(shop.device1, to: path(name))
        let device = Device(store: path(name))
        try device.ask(server)
        return device
    }

    func newDevice(server: String, as name: String = "device") async throws -> Device {
        let device = Device(store: path(name))
        try await device.create(root: root, server: server)
        return device
    }

    /// A copy of the published tree of `site`, altered by whoever has all keys: see Judges/forge.py.
    func forged(_ edit: String, from site: FilePath? = nil, as name: String = "forged") async throws -> FilePath {
        let copy = try await self.site(site ?? shop.site2, as: name)
        let keys = [shop.keys.string, shop.otherKeys.string]
        try await run(
            .python,
            [Tool.script("forge.py"), copy.appending("tree").appending(Workshop.app).string] + keys + [edit]
        )
        .done()
        return copy
    }

    func sign(_ arguments: String...) async throws -> Outcome {
        try await run(.patchsign, arguments)
    }

    /// A new app's keys, unencrypted and of 2,048 bits, in `keys`.
    func makeKeys(_ keys: FilePath, of app: String = Workshop.app, _ options: [String] = []) async throws {
        try await run(
            .patchsign,
            ["init", "--app", app, "--keys", keys.string, "--unencrypted-keys", "--bits", "2048", "--no-recovery-key"]
                + options
        ).done()
    }

    /// The same for a channel that two people sign together.
    func makeTeamKeys(_ keys: FilePath) async throws {
        try await makeKeys(
            keys,
            ["--channel", "production", "--threshold", "production=2"]
                + ["alice", "bob"].flatMap { ["--holder", "production=\($0)"] }
        )
    }

    /// A server for the app of these keys, which offers nothing yet.
    func makeSite(_ site: FilePath, keys: FilePath) async throws {
        try await run(
            .patchsrv,
            ["init", "--data", site.string, "--trust", keys.string, "--online-key", "\(keys)/online.key"]
        ).done()
    }

    /// Signs a folder as the release after `previous`.
    func release(_ source: FilePath, to output: String, previous: FilePath? = nil, keys: FilePath? = nil) async throws
        -> Outcome
    {
        let previous = previous.map { ["--previous", $0.string] } ?? []
        let arguments = [
            "release", source.string, "--keys", (keys ?? shop.keys).string, "--output", path(output).string,
        ]
        return try await run(.patchsign, arguments + previous)
    }

    /// With fast forms, which is quick.
    ///
    /// - Parameter optimizing: makes small forms and packs too.
    func publish(_ release: FilePath, to site: FilePath, optimizing: Bool = false) async throws -> Outcome {
        let options = optimizing ? ["--optimize"] : []
        return try await run(.patchsrv, ["publish", release.string, "--data", site.string] + options)
    }

    /// Makes the small forms and packs of what was published or pushed to a site, or waits for a server that makes them.
    func optimize(_ site: FilePath) async throws {
        try await run(.patchsrv, ["optimize", "--data", site.string]).done()
    }
}

extension FilePath {
    /// The published tree of the tests' app below a server's folder.
    var tree: FilePath { appending("tree").appending(Workshop.app) }
}
