import FoundationEssentials
import PatchTesting
import SystemPackage
import Testing

/// Four releases of a bundle of some 350 kB, each with a third of it changed, published one after the other, and a store
/// that runs each; made once in a process.
///
/// What changes of `files` stands apart in the manifest and travels file by file; of `packed` it stands together, and
/// travels as a part of the pack.
struct DownloadFixture: Sendable {
    static let releases = 4
    static let files = 12
    static let packed = 27

    private let world: World

    private static let making = SharedFixture {
        let fixture = DownloadFixture(
            world: World(shop: try await Workshop.ready(), folder: Workshop.folder.appending("yard"))
        )
        try await fixture.make()
        try await fixture.settle()
        return fixture
    }

    static func ready() async throws -> DownloadFixture {
        try await making.value
    }

    /// Every third file changes with each release.
    private static func text(of file: Int, in release: Int) -> String {
        String(repeating: "file \(file) of edition \((release + file) / 3);\n", count: 100 + 175 * file)
    }

    /// Nine neighbours change with each release.
    private static func text(ofPacked file: Int, in release: Int) -> String {
        String(repeating: "packed file \(file) of edition \((release + file / 9) / 3);\n", count: 20 + 5 * file)
    }

    private static func texts(in release: Int) -> [String: String] {
        var texts: [String: String] = [:]
        for file in 0..<files { texts["files/\(file).txt"] = text(of: file, in: release) }
        for file in 0..<packed { texts["packed/\(file + 10).txt"] = text(ofPacked: file, in: release) }
        return texts
    }

    /// Bytes of the files of a release that the one before does not hold.
    static func news(of release: Int) -> Int {
        let old = texts(in: release - 1)
        return texts(in: release).filter { old[$0.key] != $0.value }.reduce(0) { $0 + $1.value.utf8.count }
    }

    func site(_ release: Int) -> FilePath { world.path("site\(release)") }
    func settled(_ release: Int) -> FilePath { world.path("settled\(release)") }

    /// A copy of the store that runs a release, asking `server`.
    func device(
        running release: Int,
        asking server: HostileServer,
        in world: World,
        as name: String = "device"
    ) async throws -> Device {
        let device = Device(store: world.path(name))
        try await copy(settled(release), to: device.store)
        try device.ask(server.url)
        return device
    }

    private func make() async throws {
        for number in 1...Self.releases {
            try await sign(number)
            if number == 1 {
                try await run(
                    .patchsrv,
                    [
                        "init", "--data", site(1).string, "--trust", world.shop.keys.string, "--online-key",
                        world.shop.keys.appending("online.key").string,
                    ]
                ).done()
            } else {
                try await copy(site(number - 1), to: site(number))
            }
            try await world.publish(world.path("release\(number)"), to: site(number), optimizing: true).done()
        }
    }

    private func sign(_ number: Int) async throws {
        let source = world.path("source\(number)")
        try Source(number).put(in: source)
        for (name, text) in Self.texts(in: number) { try write(text, to: source.appending("web/\(name)")) }
        let previous = number == 1 ? nil : world.path("release\(number - 1)")
        try await world.release(source, to: "release\(number)", previous: previous).done()
    }

    private func settle() async throws {
        let device = Device(store: world.path("settling"))
        for number in 1..<Self.releases {
            try await serving(site(number)) { url in
                if number == 1 {
                    try await device.create(root: world.root, server: url)
                } else {
                    try device.ask(url)
                }
                try await device.sync().done()
            }
            try await device.switchAndConfirm()
            try await copy(device.store, to: settled(number))
        }
    }
}

extension Device {
    func switchAndConfirm() async throws {
        let switched = try await self("switch", "--json").done().output
        let token = try #require(switched.firstMatch(of: #/[0-9a-f]{32}/#).map { String($0.0) })
        try await self("confirm", "--launch", token).done()
    }
}
