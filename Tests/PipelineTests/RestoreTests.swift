import Foundation
import SystemPackage
import Testing

/// A server that comes back from a backup knows less than its devices.
@Suite("A server restored from a backup")
struct RestoreTests {
    private static let app = Workshop.app

    /// The device knows timestamp 4 and release 2; the backup has 2 and release 1.
    @Test func `goes on above every number that devices saw, and they take its next release`() async throws {
        try await World.with { world in
            let (device, backup) = try await Self.backedUp(in: world)
            let restored = world.path("restored")
            let restore = try await run(
                .patchsrv,
                ["restore", backup.string, "--data", restored.string, "--json"]
            ).done()
            #expect(restore.output.contains(#""timestamp": 1000003"#), "\(restore)")
            #expect(try await run(.patchsrv, ["check", "--data", restored.string]).code == 0)
            let log = try await run(.patchsrv, ["audit", "export", "--data", restored.string]).done()
            #expect(log.output.contains(#""action":"server.restore""#), "\(log)")
            try await serving(restored) { url in
                try device.ask(url)
                let behind = try await device.sync()
                #expect(
                    behind.code == 3
                        && behind.errors.contains(
                            "production: version 1 is older than version 2, which is already trusted"
                        ),
                    "\(behind)"
                )
                for number in [2, 3] {
                    try await world.publish(world.shop.release(number), to: restored).done()
                    let sync = try await device.sync(["--json"]).done()
                    #expect(sync.output.contains(#""roleVersion":\#(number)"#), "\(sync)")
                    #expect(!sync.output.contains("staleMirror"), "\(sync)")
                }
                try await device.expectWhole(3)
            }
        }
    }

    @Test func `says at once on a device that it is behind where it was put back without restore`() async throws {
        try await World.with { world in
            let (device, backup) = try await Self.backedUp(in: world)
            let old = world.path("old")
            try await copy(backup, to: old)
            try await serving(old) { url in
                try device.ask(url)
                let sync = try await device.sync()
                #expect(
                    sync.code == 0
                        && sync.output.contains(
                            "the server is behind: its timestamp is version 2, but version 4 is known and was kept"
                        ),
                    "\(sync)"
                )
            }
            let inPlace = try await run(
                .patchsrv,
                ["restore", "--in-place", "--data", old.string, "--above", "5000000"]
            )
            #expect(inPlace.code == 0 && inPlace.output.contains("timestamp 5000001"), "\(inPlace)")
            try await world.publish(world.shop.release(2), to: old).done()
            try await serving(old) { url in
                try device.ask(url)
                let sync = try await device.sync()
                #expect(sync.code == 0 && !sync.output.contains("behind"), "\(sync)")
            }
        }
    }

    @Test func `takes a release whose number leaves out those that were lost, and no other server does`() async throws {
        try await World.with { world in
            let (device, backup) = try await Self.backedUp(in: world)
            let restored = world.path("restored")
            try await run(.patchsrv, ["restore", backup.string, "--data", restored.string]).done()
            let renewed = world.path("renewed")
            try await world.sign(
                "release",
                "renew",
                world.shop.release(1).string,
                "--above",
                "2",
                "--keys",
                world.shop.keys.string,
                "--output",
                renewed.string
            ).done()
            let other = try await world.publish(renewed, to: try await world.site(world.shop.site1, as: "other"))
            #expect(other.code == 8 && other.errors.contains("based on 2, current is 1"), "\(other)")
            try await world.publish(renewed, to: restored).done()
            try await serving(restored) { url in
                try device.ask(url)
                let sync = try await device.sync(["--json"]).done()
                #expect(sync.output.contains(#""roleVersion":3"#), "\(sync)")
            }
        }
    }

    @Test func `is not half of it: a backup that lost something is refused, and one of something damaged says so`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let backup = world.path("backup")
            try await run(.patchsrv, ["backup", backup.string, "--data", site.string]).done()
            for (index, lost) in [
                "apps", "tree", "tree/\(Self.app)/metadata/timestamp.json", "records.sqlite",
            ].enumerated() {
                let part = world.path("part\(index)")
                try await copy(backup, to: part)
                try await run(.system("rm"), ["-r", part.appending(lost).string]).done()
                let data = world.path("data\(index)")
                let refused = try await run(.patchsrv, ["restore", part.string, "--data", data.string])
                #expect(refused.code == 4 && refused.errors.contains("is not a complete backup: "), "\(refused)")
                #expect(refused.errors.contains(index < 3 ? "\(Self.app)" : "records.sqlite"), "\(refused)")
                #expect(
                    !FileManager.default.fileExists(atPath: data.appending("apps").string)
                        && !FileManager.default.fileExists(atPath: data.appending("tree").string)
                )
            }
            let objects = try await run(
                .system("find"),
                [site.appending("tree/\(Self.app)/objects").string, "-type", "f"]
            ).done()
            try await run(.system("rm"), [String(try #require(objects.output.split(separator: "\n").first))]).done()
            let damaged = world.path("damaged")
            let copied = try await run(.patchsrv, ["backup", damaged.string, "--data", site.string])
            #expect(copied.code == 3 && copied.output.contains("missing"), "\(copied)")
            #expect(copied.errors.contains("the backed-up files are damaged: 1 fault"), "\(copied)")
            try await run(.system("rm"), [site.appending("tree/\(Self.app)/metadata/timestamp.json").string]).done()
            let none = world.path("none")
            let other = try await world.site(world.shop.site2, as: "other")
            try await run(
                .system("cp"),
                ["-r", site.appending("apps/\(Self.app)").string, other.appending("apps/com.example.lost").string]
            ).done()
            let lost = try await run(.patchsrv, ["backup", none.string, "--data", other.string])
            #expect(lost.code == 3 && lost.errors.contains("com.example.lost has lost its timestamp"), "\(lost)")
            #expect(!FileManager.default.fileExists(atPath: none.string))
        }
    }

    @Test func `is never put over another, and what was stopped half-way begins anew`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let backup = world.path("backup")
            let before = try await StoreDigest(of: site)
            for (arguments, code, error) in [
                (["backup", "\(world.folder)/nowhere/b", "--data", site.string], Int32(6), "there is no folder"),
                (["backup", backup.string, "--data", world.path("nope").string], 6, "there is no app in"),
                (["backup", site.appending("b").string, "--data", site.string], 64, "is inside the data folder"),
            ] {
                let refused = try await run(.patchsrv, arguments)
                #expect(refused.code == code && refused.errors.contains(error), "\(refused)")
            }
            try await run(.patchsrv, ["backup", backup.string, "--data", site.string]).done()
            let kept = try await StoreDigest(of: backup)
            for (arguments, code, error) in [
                (["backup", backup.string, "--data", site.string], Int32(8), "exists already"),
                (
                    ["backup", "\(backup)/apps/y", "--data", site.string], 64,
                    "/apps/y is inside the backup \(backup)\n"
                ),
                (
                    ["restore", backup.string, "--data", "\(backup)/in/side"], 64,
                    "side is inside the backup \(backup)\n"
                ),
                (["restore", backup.string, "--data", backup.string], 64, "error: \(backup) is a backup\n"),
                (["export", "\(backup)/tree/x", "--data", site.string], 64, "/x is inside the backup \(backup)\n"),
                (["restore", backup.string, "--data", site.string], 8, "there is a server in"),
                (["restore", world.shop.keys.string, "--data", world.path("new").string], 4, "is not a backup"),
            ] {
                let refused = try await run(.patchsrv, arguments)
                #expect(refused.code == code && refused.errors.contains(error), "\(refused)")
            }
            #expect(try await StoreDigest(of: site).installed == before.installed)
            #expect(try await StoreDigest(of: backup) == kept)

            let stopped = world.path("stopped")
            try await run(.system("mkdir"), ["-p", "\(stopped)/restoring/tree", "\(stopped)/apps/\(Self.app)"]).done()
            try await run(.system("bash"), ["-c", "rm -f \(backup)/tree/\(Self.app)/objects/*/*"]).done()
            let damaged = try await run(.patchsrv, ["restore", backup.string, "--data", stopped.string])
            #expect(damaged.code == 3 && damaged.output.contains(": missing: "), "\(damaged)")
            let made = try #require(try read(backup.appending("backup.json")).firstMatch(of: #/"made":"([^"]+)"/#))
            #expect(damaged.output.contains("restored \(Self.app), as it was at \(made.1): "), "\(damaged)")
            #expect(
                damaged.errors.contains("error: the restored files are damaged: ")
                    && damaged.errors.contains("hint: patchsrv check --repair repairs the files that it can verify"),
                "\(damaged)"
            )
            #expect(try await run(.system("ls"), [stopped.appending("restoring").string]).code != 0)
            let repaired = ["check", "--data", stopped.string, "--repair", "--from", site.appending("tree").string]
            try await run(.patchsrv, repaired).done()
        }
    }

    @Test func `has every record of its backup, and the audit log's head that the backup printed`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let backup = world.path("backup")
            let made = try await run(.patchsrv, ["backup", backup.string, "--data", site.string]).done()
            let head = try #require(
                made.output.firstMatch(of: /audit log: [0-9]+ entr[a-z]+, the newest has the hash [0-9a-f]{64}\n/)
            ).0
            let data = world.path("data")
            for (damage, words) in [
                (": > records.sqlite", "records.sqlite has 0 bytes, not "),
                ("ln -sf /dev/null records.sqlite", "records.sqlite is a link, not a file"),
                ("echo >> apps/\(Self.app)/labels.json", "apps/\(Self.app)/labels.json has "),
                (
                    #"sed -i 's/"hash":"../"hash":"zz/' backup.json"#, "backup.json"
                ),
                (
                    #"sed -i -E 's/"hash":"(.)(.)/"hash":"\2\1/;s/"number":[0-9]+/"number":7/' backup.json"#,
                    "the audit log of the backup does not end with the entry that backup.json names\n"
                        + "hint: name another backup; no app was restored"
                ),
            ] {
                let part = world.path("part")
                try await run(.system("rm"), ["-rf", part.string, data.string]).done()
                try await copy(backup, to: part)
                try await run(.system("bash"), ["-c", "cd \(part) && \(damage)"]).done()
                let refused = try await run(.patchsrv, ["restore", part.string, "--data", data.string])
                #expect(refused.code == 4 && refused.errors.contains(words), "\(damage): \(refused)")
                #expect(!FileManager.default.fileExists(atPath: data.appending("tree").string), "\(damage)")
            }
            let whole = try await run(.patchsrv, ["restore", backup.string, "--data", data.string]).done()
            #expect(whole.output.contains(head) && !whole.errors.contains("older patchsrv"), "\(whole)")

            // As an older patchsrv made it.
            let file = backup.appending("backup.json")
            let header = try JSONSerialization.jsonObject(with: Data(try read(file).utf8))
            var members = try #require(header as? [String: Any])
            for name in ["files", "audit"] { #expect(members.removeValue(forKey: name) != nil) }
            try JSONSerialization.data(withJSONObject: members).write(to: URL(filePath: file.string))
            let older = try await run(.patchsrv, ["restore", backup.string, "--data", world.path("older").string])
            #expect(
                older.code == 0
                    && older.errors.contains(
                        "warning: the backup is of an older patchsrv and has no digests: lost tokens, history or entries of "
                            + "the audit log would not be noticed\n"
                    ),
                "\(older)"
            )
        }
    }

    /// A device that synced after the backup was made of the server that it asked, while it was serving.
    private static func backedUp(in world: World) async throws -> (Device, backup: FilePath) {
        let site = try await world.site(world.shop.site1)
        let backup = world.path("backup")
        let device = try await world.settledDevice(server: "http://127.0.0.1:9")
        try await serving(site) { url in
            try await run(.patchsrv, ["backup", backup.string, "--data", site.string]).done()
            try await world.publish(world.shop.release(2), to: site).done()
            try await run(.patchsrv, ["refresh", "--data", site.string]).done()
            try device.ask(url)
            try await device.sync().done()
        }
        return (device, backup)
    }
}
