import SystemPackage
import Testing

/// Somebody shows a device what was true before, or what others say.
@Suite("Metadata that is older or another's")
struct OldMetadataTests {
    @Test func `from a server that was restored from a backup is passed over, and the newer release runs on`()
        async throws
    {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await world.withServer(of: world.shop.site2) { server in
                try device.ask(server.url)
                try await device.sync().done()
                try await device.serving { try await $0.confirm() }
            }
            try await world.withServer(of: world.shop.site1) { server in
                try device.ask(server.url)
                let before = try await StoreDigest(of: device.store)
                let sync = try await device.sync(["--json"])
                #expect(sync.code == 0 && sync.errors.isEmpty, "\(sync)")
                #expect(
                    sync.output.contains(#""staleMirror":{"known":3,"offered":2,"overdue":false}"#),
                    "\(sync)"
                )
                #expect(try await StoreDigest(of: device.store).installed == before.installed)
                try await device.expectWhole(2)
                let aDayLater = try await device.sync(at: "+25 hours")
                #expect(
                    aDayLater.code == 3
                        && aDayLater.errors.contains(
                            "warning: the server is behind: its timestamp is version 2, but version 3 is known and was kept"
                        ),
                    "\(aDayLater)"
                )
                try await device.expectWhole(2)
            }
        }
    }

    /// A stolen online key can name an older release of the channel, and no device that knows a newer one takes it.
    @Test func `signed by a stolen online key takes no release back`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await world.withServer(of: world.shop.site2) { server in
                try device.ask(server.url)
                try await device.sync().done()
            }
            try await world.withServer(of: try await world.forged("rolled_back_role")) { server in
                try device.ask(server.url)
                let before = try await StoreDigest(of: device.store)
                let refusal = try await device.sync()
                #expect(refusal.code == 3, "\(refusal)")
                #expect(
                    refusal.errors.contains("production: version 1 is older than version 2, which is already trusted"),
                    "\(refusal)"
                )
                #expect(try await StoreDigest(of: device.store).installed == before.installed)
            }
        }
    }

    @Test func `with a root that the present one did not sign is not followed`() async throws {
        try await World.with { world in
            try await world.withServer(of: try await world.forged("root_rotation_by_others")) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                let refusal = try await device.sync()
                #expect(
                    refusal.code == 3 && refusal.errors.contains("root: 0 valid signatures of 1 needed"),
                    "\(refusal)"
                )
                #expect(try await StoreDigest(of: device.store) == before)
            }
        }
    }

    @Test func `of another root of trust for the same app is refused from the first sync on`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = Device(store: world.path("device"))
                try await device.create(root: world.shop.otherKeys.appending("root.json"), server: server.url)
                let before = try await StoreDigest(of: device.store)
                let refusal = try await device.sync()
                #expect(
                    refusal.code == 3 && refusal.errors.contains("timestamp: 0 valid signatures of 1 needed"),
                    "\(refusal)"
                )
                #expect(try await StoreDigest(of: device.store) == before)
            }
        }
    }

    @Test func `with a label that came back with other bytes keeps what the device has`() async throws {
        try await World.with { world in
            let site = try await world.forged("republished", from: world.shop.site1)
            try await world.withServer(of: site) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                let refusal = try await device.sync()
                #expect(
                    refusal.output.contains(
                        "fix 1: is listed under a label that is installed with other bytes; refused"
                    ),
                    "\(refusal)"
                )
                #expect(refusal.code == 3, "\(refusal)")
                #expect(try await StoreDigest(of: device.store).installed == before.installed)
                try await device.expectWhole(1)
            }
        }
    }

    @Test func `is no root of trust: without a root from elsewhere there is no store`() async throws {
        try await World.with { world in
            let store = world.path("device")
            let without = try await run(
                .patchsync,
                ["init", "--store", store.string, "--server", "http://127.0.0.1:9"]
            )
            #expect(
                without.code == 64 && without.errors.contains("--root or --embedded is needed"),
                "\(without)"
            )
            let cases = [
                ("root_without_app", Int32(4), "names no app"),
                ("root_altered", 3, "root: 0 valid signatures of 1 needed"),
            ]
            for (edit, code, error) in cases {
                let root = try await world.forged(edit, as: edit).tree.appending("rogue.root.json")
                let refused = try await run(
                    .patchsync,
                    ["init", "--store", store.string, "--server", "http://127.0.0.1:9", "--root", root.string]
                )
                #expect(refused.code == code && refused.errors.contains(error), "\(refused)")
            }
            let folder = try await run(.system("ls"), [store.string])
            #expect(folder.code != 0, "a store was made: \(folder)")
        }
    }
}
