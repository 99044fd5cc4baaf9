import SystemPackage
import Testing

@Suite("What verifying explains")
struct ExplainTests {
    @Test func `patchsign lists each check with its rule and the key by name, as lines and as rows`() async throws {
        try await World.with { world in
            let verify = ["verify", world.shop.release(2).string, "--keys", world.shop.keys.string]
            let lines = try await run(.patchsign, verify + ["--explain"]).done()
            #expect(
                lines.output.contains(
                    "✓ root: TUF 5.2: the trusted root is signed by a threshold of its own keys, by root key "
                ),
                "\(lines)"
            )
            let entry = "✓ fix 2: Formats: an entry key signed the list entry's statement, by entry key "
            #expect(lines.output.contains(entry), "\(lines)")
            let count = lines.output.components("✓ ")
            let rows = try await run(.patchsign, verify + ["--explain", "--json"]).done()
            #expect(rows.output.components("\"result\": \"holds\"") == count && count > 30, "\(rows)")
            #expect(rows.output.components("\"keyName\": \"entry\"") == 15, "\(rows)")
            let plain = try await run(.patchsign, verify).done()
            #expect(!plain.output.contains("✓"), "\(plain)")
            let misused = try await run(.patchsign, verify + ["--all"])
            #expect(misused.code == 64 && misused.errors.contains("--all needs --explain"), "\(misused)")
        }
    }

    @Test func `patchsync lists each check of what is installed, and names what does not hold`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:1")
            let verify = ["verify", "--store", device.store.string, "--entries", "--explain"]
            let whole = try await run(.patchsync, verify).done()
            let asset = "✓ web 1.0.0 index.html: Formats: an entry key signed the asset's statement, by key "
            #expect(whole.output.contains(asset) && !whole.output.contains("✗"), "\(whole)")
            let script =
                "f=$(readlink -f bundles/*/index.html); chmod u+w $f; printf 7 | dd of=$f conv=notrunc status=none"
            try await run(.system("bash"), ["-ec", script], in: device.store).done()
            let broken = try await run(.patchsync, verify)
            #expect(broken.code == 3, "\(broken)")
            #expect(broken.output.contains("✗ web 1.0.0 index.html: its md5 is not the listed one\n"), "\(broken)")
            let rows = try await run(.patchsync, verify + ["--json"])
            #expect(
                rows.output.contains("\"result\":\"web 1.0.0 index.html: its md5 is not the listed one\""),
                "\(rows)"
            )
        }
    }
}
