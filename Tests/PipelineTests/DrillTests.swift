import SystemPackage
import Testing

/// Keys that live and die, each ceremony as its people would hold it, with a device that follows by itself (X2).
@Suite("A key drill")
struct DrillTests {
    private static let retired =
        "- production: retired for good; devices on it install nothing new, and its name cannot be used again"

    @Test func `replaces online, root and targets keys, and a device three roots behind catches up`() async throws {
        try await World.with { world in
            let drill = try await Drill(world)
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            // Of another kind: root, snapshot, timestamp and dial name it, and devices take it.
            try await drill.sign("rotate", "online", "--unencrypted-keys", "--kind", "ed25519").done()
            try await drill.trust("--online-key", drill.keys.appending("online.key").string).done()
            for name in ["root", "targets"] {
                try await drill.sign("rotate", name, "--unencrypted-keys", "--bits", "2048").done()
            }
            try await drill.trust().done()
            try await world.publish(world.shop.release(2), to: drill.site).done()
            try await drill.expectTaken(2, by: device)
            #expect(try await drill.roots(of: device) == ["2.root.json", "3.root.json", "4.root.json"])
        }
    }

    @Test func `that lacks a holder exits with 9, and so does the same call again`() async throws {
        try await World.with { world in
            let keys = world.path("keys")
            try await run(
                .patchsign,
                [
                    "init", "--app", Workshop.app, "--keys", keys.string, "--unencrypted-keys", "--bits", "2048",
                    "--holder", "root=alice", "--holder", "root=bob", "--threshold", "root=2",
                ]
            ).done()
            try await run(.system("rm"), [keys.appending("root-bob.key").string]).done()
            for _ in 0..<2 {
                let waits = try await run(
                    .patchsign,
                    ["rotate", "online", "--keys", keys.string, "--unencrypted-keys", "--bits", "2048"]
                )
                #expect(waits.code == 9 && waits.output.contains("waits for the other holders"), "\(waits)")
            }
        }
    }

    @Test func `replaces a lost root key by the other two of three, each on a machine of their own`() async throws {
        try await World.with { world in
            let keys = world.path("keys")
            let holders = ["alice", "bob", "carol"].flatMap { ["--holder", "root=\($0)"] }
            try await run(
                .patchsign,
                ["init", "--app", Workshop.app, "--keys", keys.string, "--unencrypted-keys", "--bits", "2048"] + holders
                    + ["--threshold", "root=2"]
            ).done()
            let drill = try await Drill(world, keys: keys)
            let device = Device(store: world.path("device"))
            try await serving(drill.site) { url in
                try await device.create(root: keys.appending("root.json"), server: url)
                try await device.sync().done()
            }
            try await run(
                .patchsign,
                ["key", "new", "dave", "--keys", world.path("dave").string, "--unencrypted-keys"]
            )
            .done()
            let draft = world.path("trust.draft")
            try await drill.sign(
                "root",
                "draft",
                "--output",
                draft.string,
                "--remove-key",
                "root=\(keys.appending("root-carol.pub"))",
                "--add-key",
                "root=\(world.path("dave").appending("dave.pub"))"
            ).done()
            var signed: [FilePath] = []
            for holder in ["alice", "bob"] {
                let machine = world.path(holder)
                try await copy(keys, to: machine)
                for other in ["alice", "bob", "carol"] where other != holder {
                    try await run(.system("rm"), [machine.appending("root-\(other).key").string]).done()
                }
                let mine = machine.appending("trust.draft")
                try await copy(draft, to: mine)
                let key = machine.appending("root-\(holder).key").string
                try await run(
                    .patchsign,
                    ["root", "sign", mine.string, "--keys", machine.string, "--key", key, "--yes"]
                ).done()
                signed.append(mine)
            }
            let early = try await run(.patchsign, ["root", "publish", signed[0].string, "--keys", keys.string])
            #expect(early.code == 3 && early.errors.contains("1 of 2"), "\(early)")
            try await run(.patchsign, ["root", "merge", signed[0].string, signed[1].string, "--keys", keys.string])
                .done()
            try await run(.patchsign, ["root", "publish", signed[0].string, "--keys", keys.string]).done()
            try await drill.trust().done()
            try await drill.release(2)
            try await drill.expectTaken(2, by: device)
            #expect(try await drill.roots(of: device) == ["2.root.json"])
        }
    }

    @Test func `gives a new channel two holders, and a device on it takes what both signed`() async throws {
        try await World.with { world in
            let drill = try await Drill(world)
            var names: [String] = []
            for name in ["canary-ada", "canary-bob"] {
                try await drill.sign("key", "new", name, "--unencrypted-keys").done()
                names += ["--add-key", drill.keys.appending("\(name).pub").string]
            }
            try await drill.sign(["delegate", "canary", "--threshold", "2"] + names).done()
            try await drill.trust().done()
            let source = world.path("canary")
            try await copy(world.shop.source(2), to: source)
            let text = try read(source.appending("release.yaml"))
            try write(
                text.replacing("channel: production", with: "channel: canary"),
                to: source.appending("release.yaml")
            )
            let release = world.path("canary.release")
            func key(_ name: String) -> [String] { ["--key", drill.keys.appending("\(name).key").string] }
            try await drill.sign(["release", source.string, "--output", release.string] + key("canary-ada")).done()
            let draft = try await world.publish(release, to: drill.site)
            #expect(draft.code == 0 && draft.output.contains("1 of 2"), "\(draft)")
            try await drill.sign(["release", "sign", release.string, "--yes"] + key("canary-bob")).done()
            try await world.publish(release, to: drill.site).done()
            let device = Device(store: world.path("canary-device"))
            try await serving(drill.site) { url in
                try await device("init", "--root", world.root.string, "--server", url, "--channel", "canary").done()
                try await device.sync().done()
            }
            try await device.expectWhole(2)
        }
    }

    @Test
    func `ends a channel for good: the server watches it no more, and a device on it keeps what it has and says so`()
        async throws
    {
        try await World.with { world in
            let drill = try await Drill(world)
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let ended = try await drill.sign("delegate", "production", "--retire").done()
            #expect(ended.output.contains(Self.retired), "\(ended)")
            let taken = try await drill.trust().done()
            #expect(taken.output.contains("  retired production, which was at 1"), "\(taken)")
            let status = try await run(.patchsrv, ["status", "--within", "30d", "--data", drill.site.string, "--json"])
            #expect(!status.output.contains(#""role": "production""#), "\(status)")
            let release = try await world.publish(world.shop.release(2), to: drill.site)
            #expect(release.code == 3, "\(release)")
            try await run(.patchsrv, ["gc", "--data", drill.site.string, "--keep", "0", "--protect", "0h"]).done()
            try await run(.patchsrv, ["check", "--data", drill.site.string]).done()
            try await run(.patchsrv, ["export", world.path("www").string, "--data", drill.site.string]).done()
            let again = try await drill.sign("delegate", "production", "--add-key", "beta.pub")
            #expect(again.code == 64 && again.errors.contains("channel production is retired"), "\(again)")
            let last = try await drill.sign("delegate", "beta", "--retire")
            #expect(last.code == 64 && last.errors.contains("beta is the only channel"), "\(last)")

            try await serving(drill.site) { url in
                try device.ask(url)
                let sync = try await device.sync()
                #expect(sync.code == 3 && sync.errors.contains("production: this channel is retired"), "\(sync)")
                #expect(sync.errors.contains("patchsync switch --channel NAME"), "\(sync)")
            }
            try await device.expectWhole(1)
            let state = try await device("status")
            #expect(state.output.contains("the channel is retired"), "\(state)")
        }
    }

    @Test func `replaces the entry key with the next release`() async throws {
        try await World.with { world in
            let drill = try await Drill(world)
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let old = try read(drill.keys.appending("entry.pub"))
            try await drill.sign("rotate", "entry", "--unencrypted-keys", "--bits", "2048").done()
            #expect(try read(drill.keys.appending("entry.pub")) != old)
            try await drill.release(2)
            try await drill.expectTaken(2, by: device)
            let list = try await run(
                .system("bash"),
                ["-c", "cat \(drill.site.tree)/metadata/2.production.json"]
            ).done()
            let lines = old.split(separator: "\n")
            #expect(!list.output.contains(lines[1]), "the old entry key is still listed")
        }
    }

    @Test(arguments: [("fast_forward", []), ("bad_release", ["--above", "3"])])
    func `takes a channel back from a thief, also when it was raised to the highest version`(
        edit: String,
        above: [String]
    ) async throws {
        try await World.with { world in
            let stolen = try await world.forged(edit)
            let drill = try await Drill(world, site: stolen)
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            // He has release and online key: the device takes what he signed. That is what the drill is for.
            try await serving(drill.site) { url in
                try device.ask(url)
                let sync = try await device.sync()
                #expect(
                    sync.output.contains(#/fix +6\.6\.6 +another version, downloaded.* Update → UnInstall/#),
                    "\(sync)"
                )
            }
            try await drill.sign("rotate", "production", "--unencrypted-keys", "--bits", "2048").done()
            try await drill.sign("rotate", "online", "--unencrypted-keys", "--bits", "2048").done()
            let renewed = world.path("renewed")
            let renew = ["release", "renew", world.shop.release(2).string, "--output", renewed.string]
            let refused = try await drill.sign(renew)
            #expect(refused.code == 3 && refused.errors.contains("--base-quorum-lost"), "\(refused)")
            try await drill.sign(renew + ["--base-quorum-lost"] + above).done()
            try await drill.trust(
                "--online-key",
                drill.keys.appending("online.key").string,
                "--release",
                renewed.string
            ).done()
            try await drill.expectTaken(2, by: device)
            let status = try await device("status")
            #expect(!status.output.contains("6.6.6"), "\(status)")
            let judge = try await world.judge(drill.site)
            #expect(judge.code == 0, "\(judge)")

            // His key signs nothing any more, for devices old and new.
            let again = try await world.forged("list_field|version|\"7\"", from: drill.site, as: "again")
            try await serving(again) { url in
                try device.ask(url)
                let sync = try await device.sync()
                #expect(sync.code == 3 && sync.errors.contains("0 valid signatures of 1 needed"), "\(sync)")
                let new = try await world.newDevice(server: url, as: "new")
                let first = try await new.sync()
                #expect(first.code == 3 && first.errors.contains("0 valid signatures of 1 needed"), "\(first)")
            }
        }
    }

    @Test func `says in time what must be signed, to cron and to whoever asks the server`() async throws {
        try await World.with { world in
            let keys = world.shop.keys.string
            let release = world.shop.release(2).string
            let calm = try await run(.patchsign, ["status", "--keys", keys, release, "--within", "30d"])
            #expect(calm.code == 0, "\(calm)")
            let due = try await run(.patchsign, ["status", "--keys", keys, release, "--within", "91d"])
            #expect(due.code == 10 && due.output.contains(#/production +2 +.* ends in/#), "\(due)")
            for (within, code, status) in [("30d", Int32(0), "200"), ("91d", 10, "503")] {
                let data = world.shop.site2.string
                let asked = try await run(.patchsrv, ["status", "--data", data, "--within", within])
                #expect(asked.code == code, "\(asked)")
                try await serving(world.shop.site2, ["--ready-within", within, "--refresh-every", "off"]) { _, url in
                    let ready = try await run(.system("curl"), ["-sS", "-w", "%{http_code}", "\(url)/readyz"])
                    #expect(ready.output.hasSuffix(status), "\(ready)")
                    #expect(ready.output.contains(#""role":"production""#) == (code == 10), "\(ready)")
                }
            }
        }
    }
}

/// Keys and a server's folder that a drill may change.
struct Drill: Sendable {
    let world: World
    let keys: FilePath
    let site: FilePath
    /// The root that devices start from.
    let anchor: FilePath

    /// The workshop's keys, and its server with release 1.
    init(_ world: World, site: FilePath? = nil) async throws {
        self.world = world
        anchor = world.root
        keys = world.path("keys")
        try await copy(world.shop.keys, to: keys)
        self.site = try await world.site(site ?? world.shop.site1, as: "drill")
    }

    /// Other keys, and a new server with release 1 by them.
    init(_ world: World, keys: FilePath) async throws {
        (self.world, self.keys, site) = (world, keys, world.path("drill"))
        anchor = world.path("anchor.json")
        try await copy(keys.appending("root.json"), to: anchor)
        try await run(
            .patchsrv,
            [
                "init", "--data", site.string, "--trust", keys.string, "--online-key",
                keys.appending("online.key").string,
            ]
        ).done()
        try await release(1)
    }

    func sign(_ arguments: String...) async throws -> Outcome {
        try await sign(arguments)
    }

    func sign(_ arguments: [String]) async throws -> Outcome {
        try await run(.patchsign, arguments + ["--keys", keys.string])
    }

    func trust(_ options: String...) async throws -> Outcome {
        try await run(.patchsrv, ["trust", "--data", site.string, "--trust", keys.string] + options)
    }

    /// Signs the workshop's source of that number and publishes it.
    func release(_ number: Int) async throws {
        let release = world.path("drill.release\(number)")
        let before = world.path("drill.release\(number - 1)")
        let exists = try await run(.system("test"), ["-e", before.string]).code == 0
        let previous = number == 1 ? [] : ["--previous", (exists ? before : world.shop.release(number - 1)).string]
        try await sign(["release", world.shop.source(number).string, "--output", release.string] + previous).done()
        try await world.publish(release, to: site).done()
    }

    /// The device, which knows nothing of the drill, syncs and has this release; the Python judge finds nothing either.
    func expectTaken(_ number: Int, by device: Device, location: SourceLocation = #_sourceLocation) async throws {
        try await serving(site) { url in
            try device.ask(url)
            let sync = try await device.sync()
            #expect(sync.code == 0, "\(sync)", sourceLocation: location)
        }
        try await device.serving { try await $0.confirm() }
        try await device.expectWhole(number, location: location)
        let judge = try await world.judge(site, root: anchor)
        #expect(judge.code == 0, "\(judge)", sourceLocation: location)
    }

    /// The roots that a device followed.
    func roots(of device: Device) async throws -> [String] {
        let folder = device.store.appending("trust/root_history")
        return try await run(.system("ls"), [folder.string]).done().output.split(separator: "\n").map(String.init)
            .sorted()
    }
}
