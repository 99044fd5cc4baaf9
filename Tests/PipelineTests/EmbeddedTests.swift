import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// The real programs, from the release to a page that a device serves from what its app ships.
@Suite("An app that ships a version", .timeLimit(.minutes(30)))
struct EmbeddedTests {
    /// Every file of a folder with its digest, mode and count of names.
    private func contents(of folder: FilePath) async throws -> String {
        try await run(
            .system("bash"),
            [
                "-c",
                "find . -type f | LC_ALL=C sort | while read -r f; do sha256sum \"$f\"; stat -c '%a %h' \"$f\"; done",
            ],
            in: folder
        ).done().output
    }

    private func embed(_ world: World, release: Int, build: String) async throws -> FilePath {
        let app = world.path("app")
        try await world.sign(
            "embed",
            world.shop.release(release).string,
            "--keys",
            world.shop.keys.string,
            "--output",
            app.string,
            "--app-build",
            build
        ).done()
        return app
    }

    private func device(_ world: World, app: FilePath, server: String) async throws -> Device {
        let device = Device(store: world.path("device"))
        try await device("init", "--embedded", app.string, "--server", server).done()
        return device
    }

    private func log(_ world: World) throws -> [String] {
        try read(world.path("access.log")).split(separator: "\n").map(String.init)
    }

    @Test func `may move: set tells where it lies now, and without it nothing is served`() async throws {
        try await World.with { world in
            let app = try await embed(world, release: 1, build: "1")
            let device = try await device(world, app: app, server: "http://127.0.0.1:9")
            let moved = world.path("moved")
            try FileManager.default.moveItem(atPath: app.string, toPath: moved.string)
            #expect(try await device("verify", "--entries").code == 3)
            let set = try await device("set", "--embedded", moved.string, "--json").done()
            #expect(set.output.contains("\"embedded\":\"\(moved)\""), "\(set)")
            try await device.serving { page in try await page.expect(release: 1) }
            try await device.expectWhole(1)
        }
    }

    @Test func `may be made of a release that leaves files out, with what was published`() async throws {
        try await World.with { world in
            let release = world.path("release")
            let remove = "cp -r \"$0\" \"$1\" && find \"$1/objects\" -type f | LC_ALL=C sort | head -n 1 | xargs rm"
            let shipped = world.shop.release(2).string
            try await run(.system("bash"), ["-c", remove, shipped, release.string]).done()
            let arguments = [
                release.string, "--keys", world.shop.keys.string, "--output", world.path("app").string,
            ]
            let alone = try await run(.patchsign, ["embed"] + arguments)
            #expect(alone.code == 3 && alone.errors.contains("--from"), "\(alone)")
            #expect(!FileManager.default.fileExists(atPath: world.path("app").string))
            let tree = world.shop.site2.appending("tree/\(Workshop.app)").string
            try await run(.patchsign, ["embed"] + arguments + ["--from", tree]).done()
            let device = try await device(world, app: world.path("app"), server: "http://127.0.0.1:9")
            try await device.serving { page in try await page.expect(release: 2) }
            try await device.expectWhole(2)
        }
    }

    @Test func `serves it offline, takes only what changed, and nothing on the way back`() async throws {
        try await World.with { world in
            let app = try await embed(world, release: 1, build: "1")
            let before = try await contents(of: app)
            let site = try await world.site(world.shop.site1)
            // Nobody listens there yet.
            let device = try await device(world, app: app, server: "http://127.0.0.1:9")
            try await device.serving { page in try await page.expect(release: 1) }
            #expect(try await device.sync().code == 5)
            try await device.expectWhole(1)

            let folder = site.appending("tree").string
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
            let host = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                try await device("switch", "--server", "http://127.0.0.1:\(port)").done()
                // The list that the app was made of is not newer than it.
                let same = try await device.sync().done()
                #expect(
                    same.output.contains("the app embeds release 1, the server lists 1: nothing was installed"),
                    "\(same)"
                )
                try await world.publish(world.shop.release(2), to: site).done()
                try await world.optimize(site)
                try await device.sync().done()
                try await device.serving { page in
                    try await page.expect(release: 2)
                    try await page.confirm()
                }
                try await device.expectWhole(2)
                let objects = await host.text.split(separator: "\n").compactMap {
                    $0.firstMatch(of: #/GET \S*\/objects\/..\/([0-9a-f]{64})/#).map { String($0.1) }
                }
                // The script; the bundle's new files come in a pack from the version that the app ships.
                #expect(objects.count == 1, "\(objects)")
                #expect(await host.text.components("/from-") == 1, "the pack with its signatures")
                // What was downloaded has two names, its object and its place in the bundle.
                let links = try await run(
                    .system("bash"),
                    ["-c", "find bundles -type f -printf '%n %f\\n' | LC_ALL=C sort"],
                    in: device.store
                ).done().output
                #expect(links == "2 index.html\n2 main.js\n2 release2.js\n", "\(links)")

                try await device("rollback").done()
                try await device.serving { page in try await page.expect(release: 1) }
                try await device.expectWhole(1)
            }
            #expect(host.1.wasTerminated, "\(host.1)")
            #expect(host.1.output.components("/objects/") == 1, "nothing on the way back")
            #expect(try await contents(of: app) == before)
        }
    }

    @Test func `runs what its next build ships`() async throws {
        try await World.with { world in
            let app = try await embed(world, release: 1, build: "1")
            try await serving(world.shop.site2) { url in
                let device = try await device(world, app: app, server: url)
                try await device.sync().done()
                try await device.serving { page in
                    try await page.expect(release: 2)
                    try await page.confirm()
                }
                let id = try read(device.store.appending("device.json"))
                _ = try await embed(world, release: 3, build: "2")
                let mismatch = try await device("sync", "--app-build", "9")
                #expect(mismatch.code == 3 && mismatch.errors.contains("build 9"), "\(mismatch)")
                let status = try await device("status")
                #expect(status.errors.contains("new build of the app"), "\(status)")
                #expect(status.output.contains("runs the embedded versions (release 3)"), "\(status)")
                try await device.expectWhole(3)
                // The server is still at release 2.
                try await device.sync().done()
                try await device.serving { page in try await page.expect(release: 3) }
                #expect(try read(device.store.appending("device.json")) == id)
                let json = try await device("status", "--json").done().output
                #expect(json.contains("\"appBuild\":\"2\"") && json.contains("\"running\":true"), "\(json)")
            }
        }
    }

    @Test func `follows another channel while it serves, and comes back`() async throws {
        try await World.with { world in
            let app = try await embed(world, release: 1, build: "1")
            let site = try await world.site(world.shop.site1)
            try Source(2).put(in: world.path("dev"))
            let description = world.path("dev").appending("release.yaml")
            try write(
                try read(description).replacing("channel: production", with: "channel: beta"),
                to: description
            )
            try await world.release(world.path("dev"), to: "dev.release").done()
            try await world.publish(world.path("dev.release"), to: site).done()
            try await serving(site) { url in
                let device = try await device(world, app: app, server: url)
                try await device.serving { page in
                    try await page.expect(release: 1)
                    try await device("switch", "--channel", "beta").done()
                    _ = try await page.program.line(with: "follows channel beta")
                    try await device.sync().done()
                    try await page.expect(release: 1)
                    try await device("switch").done()
                    _ = try await eventually("release 2") { try await page.release() == 2 ? true : nil }
                    try await page.confirm()
                    try await device("switch", "--channel", "production").done()
                    _ = try await eventually("release 1") { try await page.release() == 1 ? true : nil }
                    let missing = try await device("switch", "--channel", "nightly").done()
                    #expect(missing.output.contains("follows channel nightly"))
                    let sync = try await device.sync()
                    #expect(sync.code == 3 && sync.errors.contains("patchsync switch --channel"), "\(sync)")
                    try await page.expect(release: 1)
                }
                try await device("switch", "--channel", "beta").done()
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `is refused when somebody altered what it ships`() async throws {
        try await World.with { world in
            let app = try await embed(world, release: 1, build: "1")
            let file = app.appending("bundles/web/app/main.js")
            try await run(.system("chmod"), ["644", file.string]).done()
            try write("console.log('release X');\n", to: file)
            let device = Device(store: world.path("device"))
            let refused = try await device("init", "--embedded", app.string, "--server", "http://127.0.0.1:9")
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.errors.contains("web 1.0.0 app/main.js: the md5 does not match its entry"), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: device.store.string))
        }
    }
}

/// A store is a folder: people copy it.
@Suite("A store that was copied", .timeLimit(.minutes(30)))
struct CopiedStoreTests {
    @Test func `has another id on another machine, and is hashed again`() async throws {
        try await World.with { world in
            try await serving(world.shop.site1) { url in
                let device = try await world.settledDevice(server: url, as: "first")
                let home = try await run(
                    .patchsync,
                    ["status", "--store", device.store.string],
                    environment: ["PATCHSYNC_MACHINE": "home"]
                ).done()
                #expect(home.output.contains("Success"))
                let id = try read(device.store.appending("device.json"))
                try await copy(device.store, to: world.path("device"))
                let moved = Device(store: world.path("device"))
                // Other bytes of the same size under the old times: the old records would let it pass.
                try await run(
                    .system("bash"),
                    [
                        "-c",
                        """
                        f=$(find bundles -name main.js); touch -r "$f" ref; chmod 644 "$f"
                        sed -i 's/release 1/release X/' "$f"; chmod 444 "$f"; touch -r ref "$f"; rm ref
                        """,
                    ],
                    in: moved.store
                ).done()
                let status = try await run(
                    .patchsync,
                    ["status", "--store", moved.store.string],
                    environment: ["PATCHSYNC_MACHINE": "elsewhere"]
                ).done()
                #expect(status.output.contains("web 1.0.0 app/main.js: md5 is not the listed one"), "\(status)")
                #expect(try read(moved.store.appending("device.json")) != id)
                #expect(try read(device.store.appending("device.json")) == id)
                try await moved.sync().done()
                try await moved.expectWhole(1)
                try await moved.serving { page in try await page.expect(release: 1) }
            }
        }
    }
}
