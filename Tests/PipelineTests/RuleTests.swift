import SystemPackage
import Testing

/// Rules from the description to the device, by the programs.
@Suite("The rules as people use them")
struct RuleTests {
    @Test func `name users and conditions in the description, and gate the device that was told otherwise`()
        async throws
    {
        try await World.with { world in
            let source = world.path("source")
            try Source(2).put(in: source)
            let text = try read(source.appending("release.yaml"))
            try write(
                text.replacing("file: scripts/fix.js", with: "file: scripts/fix.js, rules: {users: [alice]}")
                    .replacing("index: index.html", with: "index: index.html, rules: {condition: region==eu&&ios<9}"),
                to: source.appending("release.yaml")
            )
            try await world.release(source, to: "release", previous: world.shop.release(1)).done()
            let site = try await world.site(world.shop.site1)
            try await world.publish(world.path("release"), to: site).done()
            try await world.withServer(of: site) { server in
                let device = try await world.settledDevice(server: server.url)
                let first = try await device.sync().done()
                #expect(first.output.contains("fix 2: for some users; none is set here"), "\(first)")
                #expect(
                    first.output.contains("web 2.0.0: for devices with region==eu&&ios<9; this one is not"),
                    "\(first)"
                )
                try await device.expectWhole(1)
                let set = try await device("set", "--user", "alice", "--data", "Region=eu", "--keep", "2", "--json")
                    .done()
                #expect(set.output.contains(#""data":{"region":"eu"},"#), "\(set)")
                #expect(set.output.contains(#""express":true,"host":"own","keep":2,"#), "\(set)")
                #expect(set.output.contains(#""user":"alice""#), "\(set)")
                let second = try await device.sync().done()
                #expect(second.output.contains("staged: it waits for the next launch"), "\(second)")
                let forgotten = try await device("set", "--unset", "region", "--user", "").done()
                #expect(
                    forgotten.output.contains("user: not set") && !forgotten.output.contains("region"),
                    "\(forgotten)"
                )
                try await device.serving { try await $0.confirm() }
                try await device.sync().done()
                try await device.expectWhole(2)
            }
        }
    }

    @Test(arguments: [
        (["--data", "region"], "--data must be KEY=VALUE"), (["--data", "a b=1"], "--data holds a key that must be"),
        (["--data", "a=(1)"], "--data of a must be"), (["--platform", "ios"], "go together"),
        (["--compatibility", "x"], "go together"), (["--keep", "11"], "--keep must be from 0 to 10"),
        (["--unset", "a b"], "--unset must be"), (["--app-version", "two"], "--app-version must be"),
    ])
    func `are told to the device in their grammar alone`(options: [String], error: String) async throws {
        let outcome = try await run(.patchsync, ["set", "--store", "nowhere"] + options)
        #expect(outcome.code == 64 && outcome.errors.contains(error), "\(outcome)")
    }

    @Test func `that no device could read are refused by the pipeline, with file and line`() async throws {
        try await World.with { world in
            let source = world.path("source")
            try Source(1).put(in: source)
            let text = try read(source.appending("release.yaml"))
            try write(
                text.replacing("file: scripts/tip.js", with: "file: scripts/tip.js, rules: {condition: region=eu}"),
                to: source.appending("release.yaml")
            )
            let outcome = try await world.release(source, to: "release")
            #expect(
                outcome.code == 4 && outcome.errors.contains("release.yaml:5")
                    && outcome.errors.contains("patches[1].rules.condition must be KEY==VALUE"),
                "\(outcome)"
            )
        }
    }

    /// P11.
    @Test func `are left out for a developer's own script, which is never mixed with a store`() async throws {
        try await World.with { world in
            let script = world.path("demo.js").string
            let missing = try await run(.patchsync, ["test-script", script])
            #expect(missing.code == 6 && missing.output.contains("FileNotExist"), "\(missing)")
            try write("hello();", to: world.path("demo.js"))
            let good = try await run(.patchsync, ["test-script", script, "--json"])
            #expect(good.code == 0 && good.output.contains(#""state":"Success""#), "\(good)")
            let mixed = try await run(.patchsync, ["test-script", script, "--store", world.path("device").string])
            #expect(mixed.code == 64 && mixed.errors.contains("never mixed"), "\(mixed)")
            let named = try await run(.patchsync, ["test-script", world.path("demo.txt").string])
            #expect(named.code == 64 && named.errors.contains("ends with .js"), "\(named)")
            try await run(.system("bash"), ["-c", #"printf '\xc3\x28' >demo.js"#], in: world.folder).done()
            let bad = try await run(.patchsync, ["test-script", script])
            #expect(bad.code == 4 && bad.output.contains("UnKnownError"), "\(bad)")
        }
    }
}
