import FoundationEssentials
import SystemPackage
import Testing

/// The objects of a bundle that travel together.
@Suite("A bundle's pack")
struct PackTests {
    @Test func `brings a first sync in one request, and is what curl and its manifest say`() async throws {
        let fixture = try await DownloadFixture.ready()
        try await World.with { world in
            let log = world.path("access.log")
            try await serving(fixture.site(1), ["--access-log", log.string]) { url in
                let device = try await world.newDevice(server: url)
                try await device.sync().done()
                try await device.switchAndConfirm()
                #expect(try await device.runningRelease() == 1)
                let lines = try await eventually("the log of the sync") {
                    let lines = try read(log).split(separator: "\n").map(String.init)
                    return lines.contains { $0.contains("/packs/") } ? lines : nil
                }
                let packs = lines.filter { $0.contains("/packs/") }
                #expect(packs.count == 1 && packs.allSatisfy { $0.contains("/full.pack\" 200 ") }, "\(packs)")
                // The script, and what stands alone.
                #expect(lines.count { $0.contains("/objects/") } < 8, "\(lines)")

                let path = try #require(packs.first?.firstMatch(of: #/GET (\/[^ "]+)/#)?.1)
                try await run(
                    .system("curl"),
                    ["-sS", "-f", "-o", world.path("pack").string, "\(url)\(path)"]
                ).done()
                let digest = try #require(path.split(separator: "/").dropLast().last)
                let judged = try await run(
                    .python,
                    [
                        "-c", Self.judge, fixture.site(1).appending("tree").string, String(digest),
                        world.path("pack").string,
                    ]
                ).done()
                #expect(judged.output == "the same")
            }
        }
    }

    /// The version before runs, and its pack is there.
    @Test func `from a base costs what a dry run said before, to the byte, and what runs says nothing of that`()
        async throws
    {
        try await World.with { world in
            try await serving(try await world.site(world.shop.site2)) { url in
                let device = try await world.settledDevice(server: url)
                let before = try await device("status").output
                let look = try await device.sync(["--json", "--dry-run"]).done().output
                #expect(look.contains(#""from":"1.0.0""#) && look.contains(#""exact":true,"#), "\(look)")
                let bytes = try #require(look.firstMatch(of: #/^\{"bytes":(\d+),/#)?.1)
                let reported = try await device.sync(["--dry-run"]).done()
                #expect(
                    reported.output.contains("by a pack from 1.0.0")
                        && reported.output.hasSuffix("nothing was changed\n")
                )
                #expect(try await device("status").output == before)
                let sync = try await device.sync(["--json"]).done().output
                #expect(sync.contains(#""transferred":\#(bytes)"#), "\(bytes): \(sync)")
            }
        }
    }

    /// Joins the objects of a manifest.
    private static let judge = """
        import glob, json, sys
        tree, digest, pack = sys.argv[1:]
        manifest, = glob.glob(f'{tree}/*/targets/*/*/*/{digest}.manifest.json')
        objects = glob.glob(f'{tree}/*/objects')[0]
        rows = json.load(open(manifest))['assets']
        data = b''.join(open(f"{objects}/{row['sha256'][:2]}/{row['sha256']}", 'rb').read() for row in rows)
        print('the same' if data and data == open(pack, 'rb').read() else 'another', end='')
        """

    /// In each of these ways, for packs alone.
    @Test(arguments: ["404", "500", "redirect", "truncated", "short", "longer", "oversized", "endless", "flipped"])
    func `that a server has wrong costs time and nothing else`(mode: String) async throws {
        let fixture = try await DownloadFixture.ready()
        try await World.with { world in
            try await world.withServer(of: fixture.site(2)) { server in
                let device = try await world.newDevice(server: server.url)
                try server.turn(mode, for: "/packs/")
                try await device.sync().done()
                #expect(try await server.requests(from: 0).contains { $0.contains("/packs/") })
                try await device.switchAndConfirm()
                #expect(try await device.runningRelease() == 2)
                try await device.expectWhole(2)
            }
        }
    }
}
