import Foundation
import Subprocess
import SystemPackage
import Testing

@Suite("A quick start")
struct QuickstartTests {
    private static let page = "<!doctype html><html><head></head><body>one</body></html>"

    /// A web app in `dist`, and the arguments of a quick start of it in `shop`.
    private func prepare(_ world: World) throws -> [String] {
        try write(Self.page, to: world.path("dist/index.html"))
        try writeSecret("correct horse\n", to: world.path("pass"))
        return [
            "quickstart", world.path("dist").string, "--into", world.path("shop").string, "--app", Workshop.app,
            "--passphrase-file", world.path("pass").string,
        ]
    }

    @Test func `makes keys, a release and a server, from which a device installs by the printed commands`() async throws
    {
        try await World.with { world in
            let arguments = try prepare(world) + anyPorts
            let (_, outcome) = try await running(.patchsrv, arguments) { server in
                let url = try await server.address()
                let line = try await server.line(with: "patchsync init --store device")
                #expect(
                    line
                        == "  patchsync init --store device --root \(world.path("shop/keys/root.json")) --server \(url)"
                )
                _ = try await server.line(
                    with: "devices ask \(url). On this machine, a device is two commands:"
                )
                let port = try #require(url.split(separator: ":").last).trimmingCharacters(in: ["/"])
                let again = try await run(.patchsrv, Array(arguments.prefix(8)) + ["--port", port])
                #expect(
                    again.code == 7
                        && again.errors.contains(
                            "hint: a server serves \(world.path("shop")) already: the same command with --no-serve publishes to it"
                        ),
                    "\(again)"
                )
                let device = Device(store: world.path("device"))
                try await device.create(root: world.path("shop/keys/root.json"), server: url)
                try await device.sync().done()
                let status = try await run(.patchsync, ["status", "--store", device.store.string])
                #expect(status.output.contains("web"), "\(status)")
            }
            try outcome.done()
            #expect(outcome.output.contains("1. move \(world.path("shop"))/keys/root-recovery.key"), "\(outcome)")
            // What is private is encrypted, its owner's alone, or kept from git.
            for key in ["root", "root-recovery", "targets", "production", "online", "entry"] {
                let text = try read(world.path("shop/keys/\(key).key"))
                #expect(text.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "\(key)")
            }
            let modes = try await run(
                .system("stat"),
                ["-c", "%a", world.path("shop/online.pass").string, world.path("shop/keys/root.key").string]
            )
            #expect(modes.output == "600\n600\n")
            #expect(try read(world.path("shop/.gitignore")).contains("/server/\n*.key\n*.pass\n"))
            #expect(try read(world.path("shop/keys/.gitignore")).contains("*.key\n"))
        }
    }

    @Test func `begins nothing while its port is in use, and prints its result as JSON`() async throws {
        try await World.with { world in
            let arguments = try prepare(world)
            let site = try await world.site(world.shop.site1)
            try await serving(site) { url in
                let port = try #require(url.split(separator: ":").last).trimmingCharacters(in: ["/"])
                let busy = try await run(.patchsrv, arguments + ["--port", port])
                #expect(busy.code == 7 && busy.errors.contains("port \(port) of 127.0.0.1 is in use"), "\(busy)")
                #expect(!FileManager.default.fileExists(atPath: world.path("shop").string))
            }
            let made = try await run(.patchsrv, arguments + ["--no-serve", "--json"]).done()
            #expect(made.output.split(separator: "\n").count == 1, "\(made)")
            let document = try made.json()
            #expect(document["release"] as? Int == 1 && document["channel"] as? String == "production", "\(made)")
            #expect(made.errors.contains("as release 1, in "), "\(made)")
        }
    }

    @Test func `goes on: what is unchanged is not signed again, and a change is the next release`() async throws {
        try await World.with { world in
            let arguments = try prepare(world) + ["--no-serve"]
            func published() async throws -> String {
                let data = ["--data", world.path("shop/server").string, "--json"]
                return try await run(.patchsrv, ["list"] + data).done().output
            }
            try await run(.patchsrv, arguments).done()
            let first = try await published()
            // Nobody is asked for a passphrase where nothing is signed.
            let again = try await run(.patchsrv, Array(arguments.dropLast(3)) + ["--no-serve"]).done()
            #expect(again.output.contains("has not changed since release 1"), "\(again)")
            #expect(try await published() == first)
            try write(Self.page.replacing("one", with: "two"), to: world.path("dist/index.html"))
            let changed = try await run(.patchsrv, arguments).done()
            #expect(changed.output.contains("as release 2, in \(world.path("shop"))/releases/2"), "\(changed)")
            #expect(try await published() != first)
            // A run that was stopped between signing and publishing goes on there.
            try write(Self.page.replacing("one", with: "three"), to: world.path("dist/index.html"))
            let shop = world.path("shop")
            try await run(
                .patchsign,
                [
                    "release", world.path("dist").string, "--keys", "\(shop)/keys", "--previous", "\(shop)/releases/2",
                    "--output", "\(shop)/releases/3", "--passphrase-file", world.path("pass").string,
                ]
            ).done()
            let resumed = try await run(.patchsrv, arguments).done()
            #expect(resumed.output.contains("published production 3"), "\(resumed)")
            // Another run works there.
            let program = Tool.binaries.appending("patchsrv").string
            let busy = try await run(.system("flock"), ["\(shop)/.quickstart", program] + arguments)
            #expect(busy.code == 7, "\(busy)")
            #expect(busy.errors.contains("error: another quickstart works in \(shop)\n"), "\(busy)")
            #expect(busy.errors.contains("hint: wait until it serves, or name another place with --into\n"), "\(busy)")
            // An app keeps its id.
            let other = arguments.map { $0 == Workshop.app ? "com.example.other" : $0 }
            let foreign = try await run(.patchsrv, other)
            #expect(foreign.code == 8 && foreign.errors.contains("an app keeps its id"), "\(foreign)")
            // Mistakes are found before a passphrase is asked for.
            try write(read(FilePath("\(shop)/keys/root.key")), to: world.path("dist/a.txt"))
            let refused = try await run(.patchsrv, arguments)
            #expect(refused.code == 4, "\(refused)")
            #expect(refused.errors.contains("\(world.path("dist")) cannot be released"), "\(refused)")
            #expect(refused.errors.contains("run the same quickstart again"), "\(refused)")
        }
    }

    @Test func `makes nothing of a folder without a page, and nothing that would publish its keys`() async throws {
        try await World.with { world in
            let arguments = try prepare(world)
            try FileManager.default.createDirectory(
                atPath: world.path("empty").string,
                withIntermediateDirectories: true
            )
            let empty = try await run(.patchsrv, ["quickstart", world.path("empty").string] + arguments.dropFirst(2))
            #expect(empty.code == 6, "\(empty)")
            #expect(empty.errors.contains("there is neither index.html nor release.yaml in \(world.path("empty"))"))
            let inside = try await run(
                .patchsrv,
                ["quickstart", world.path("dist").string, "--into", world.path("dist/patchline").string]
            )
            #expect(inside.code == 64, "\(inside)")
            #expect(inside.errors.contains("and its keys would be published with it"), "\(inside)")
            #expect(!FileManager.default.fileExists(atPath: world.path("shop").string))
            #expect(!FileManager.default.fileExists(atPath: world.path("dist/patchline").string))
            let nobody = try await run(
                .system("setsid"),
                ["-w", Tool.binaries.appending("patchsrv").string] + arguments.dropLast(2)
            )
            #expect(nobody.code == 64, "\(nobody)")
            #expect(nobody.errors.contains("give it with --passphrase-file or --passphrase-env"), "\(nobody)")
        }
    }
}

@Suite("A folder with a web app alone")
struct BareFolderReleaseTests {
    private static let page = "<!doctype html><html><head></head><body>one</body></html>"

    @Test func `is released, and says what was decided`() async throws {
        try await World.with { world in
            try write(Self.page, to: world.path("shop/dist/index.html"))
            try write(#"{"version": "1.4.0"}"#, to: world.path("shop/package.json"))
            let make = ["release", world.path("shop/dist").string, "--keys", world.shop.keys.string]
            let first = try await run(.patchsign, make + ["--output", world.path("one").string]).done()
            let lines = first.output.split(separator: "\n").prefix(2).map(String.init)
            #expect(
                lines == [
                    "\(world.path("shop/dist")) has no release.yaml: web 1.4.0 (from package.json), channel production "
                        + "(the default channel)",
                    "`patchsign describe \(world.path("shop/dist")) --app \(Workshop.app)` writes one, for rules, scripts and "
                        + "files to leave out",
                ]
            )
            let next = make + ["--previous", world.path("one").string]
            let same = try await run(.patchsign, next + ["--output", world.path("two").string, "--if-changed"]).done()
            #expect(same.output.contains("nothing changed since release 1, \(world.path("one")); nothing was written"))
            #expect(!FileManager.default.fileExists(atPath: world.path("two").string))
            let unchanged = try await run(.patchsign, next + ["--check", "--json"]).done()
            #expect(unchanged.output.contains("\"changed\": false"), "\(unchanged)")
            try write(Self.page.replacing("one", with: "two"), to: world.path("shop/dist/index.html"))
            let changed = try await run(
                .patchsign,
                next + ["--output", world.path("two").string, "--if-changed", "--at", "2026-11-28T08:00:00Z", "--json"]
            ).done()
            #expect(changed.output.contains("\"version\": \"2026.1128.800\""), "\(changed)")
            #expect(changed.output.contains("\"versionFrom\": \"date\""), "\(changed)")
            let named = try await run(
                .patchsign,
                make + ["--output", world.path("three").string, "--channel", "beta", "--version", "9"]
            ).done()
            #expect(named.output.contains("web 9, channel beta"), "\(named)")
        }
    }

    @Test func `is described for what comes next, and never over what is there`() async throws {
        try await World.with { world in
            try write(Self.page, to: world.path("shop/dist/index.html"))
            try write("SECRET=1", to: world.path("shop/dist/.env"))
            let describe = ["describe", world.path("shop/dist").string, "--keys", world.shop.keys.string]
            let described = try await run(.patchsign, describe).done()
            #expect(described.output.contains("wrote \(world.path("shop"))/release.yaml: web "), "\(described)")
            #expect(described.output.contains("left out by default: .env"), "\(described)")
            let text = try read(world.path("shop/release.yaml"))
            #expect(text.contains("folder: \"dist\"") && text.contains("routing: app"), "\(text)")
            try await world.sign("release", "--check", world.path("shop").string, "--keys", world.shop.keys.string)
                .done()
            let again = try await run(.patchsign, describe)
            #expect(again.code == 8 && again.errors.contains("release.yaml exists already"), "\(again)")
            let bare = try await world.sign(
                "release",
                world.path("shop/dist").string,
                "--keys",
                world.shop.keys.string,
                "--output",
                world.path("one").string
            )
            #expect(bare.code == 6, "\(bare)")
            #expect(bare.errors.contains("release.yaml describes it; name \(world.path("shop"))"), "\(bare)")
            let written = try await world.sign(
                "release",
                world.path("shop").string,
                "--keys",
                world.shop.keys.string,
                "--output",
                world.path("one").string,
                "--version",
                "3"
            )
            #expect(written.code == 64 && written.errors.contains("names channel and version"), "\(written)")
            let nothing = try await world.sign("describe", world.shop.keys.string, "--app", Workshop.app)
            #expect(nothing.code == 4 && nothing.errors.contains("there is no index.html in "), "\(nothing)")
            let elsewhere = try await run(.patchsign, describe + ["--output", world.path("other/release.yaml").string])
            #expect(elsewhere.code == 64 && elsewhere.errors.contains(" is not below "), "\(elsewhere)")
        }
    }

    @Test func `wants a channel where an app has several and none is called production`() async throws {
        try await World.with { world in
            let keys = world.path("keys")
            try await world.makeKeys(keys, ["--channel", "stable", "--channel", "beta"])
            try write(Self.page, to: world.path("dist/index.html"))
            let refused = try await world.sign(
                "release",
                world.path("dist").string,
                "--keys",
                keys.string,
                "--output",
                world.path("one").string
            )
            #expect(refused.code == 64, "\(refused)")
            #expect(refused.errors.contains("has several channels: beta, stable"), "\(refused)")
            #expect(refused.errors.contains("--channel names the one that this release is for"), "\(refused)")
        }
    }
}

@Suite("Keys that survive people")
struct KeptKeysTests {
    @Test func `have a second key of root, which replaces the first when that is lost`() async throws {
        try await World.with { world in
            let keys = world.path("keys").string
            let made = try await world.sign(
                "init",
                "--app",
                Workshop.app,
                "--keys",
                keys,
                "--unencrypted-keys",
                "--bits",
                "2048"
            ).done()
            #expect(
                made.output.contains(
                    "move \(keys)/root-recovery.key to another medium at another place now, with its passphrase:\n"
                        + "  if root.key is lost, it signs a new root; if both are lost, no device accepts a new root, "
                        + "and the app ends\n"
                ),
                "\(made)"
            )
            try await run(.system("rm"), ["\(keys)/root.key"]).done()
            let status = try await world.sign("status", "--keys", keys, "--json").done()
            #expect(status.output.contains("\"root-recovery\"") && status.output.contains("\"missing\""), "\(status)")
            let rotated = try await world.sign("rotate", "root", "--keys", keys, "--unencrypted-keys", "--bits", "2048")
            #expect(rotated.code == 0 && rotated.output.contains("published: root 2"), "\(rotated)")
        }
    }

    @Test func `say so where there is one key of root, and when it is gone`() async throws {
        try await World.with { world in
            let keys = world.path("keys").string
            let made = try await world.sign(
                "init",
                "--app",
                Workshop.app,
                "--keys",
                keys,
                "--unencrypted-keys",
                "--bits",
                "2048",
                "--no-recovery-key"
            ).done()
            let lost = "no device accepts a new root, and the app ends; keep a copy"
            #expect(made.output.contains("root has one key: if root.key is lost, \(lost)"), "\(made)")
            try await run(.system("rm"), ["\(keys)/root.key"]).done()
            let status = try await world.sign("status", "--keys", keys).done()
            #expect(status.output.contains("root: root.key, the only key of root, is not here"), "\(status)")
            #expect(status.output.contains("root: there is no spare key: if one is lost, no device accepts a new root"))
            let refused = try await world.sign("rotate", "root", "--keys", keys, "--unencrypted-keys", "--bits", "2048")
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.errors.contains("root.key, the only key of root, is not here"), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: "\(keys)/trust.draft"))
            #expect(!FileManager.default.fileExists(atPath: "\(keys)/root.next.key"))
            // A draft that somebody else can sign still waits.
            let online = try await world.sign(
                "rotate",
                "online",
                "--keys",
                keys,
                "--unencrypted-keys",
                "--bits",
                "2048"
            )
            #expect(online.code == 9, "\(online)")
            #expect(online.output.contains("root.key, the only key of root, is not here"), "\(online)")
        }
    }

    @Test func `are found in the folder of --keys by their name`() async throws {
        try await World.with { world in
            let keys = world.path("team").string
            try await world.makeTeamKeys(world.path("team"))
            let make = [
                "release", world.shop.source(1).string, "--keys", keys, "--output", world.path("out").string, "--key",
            ]
            try await run(.patchsign, make + ["production-alice.key"], in: world.folder).done()
            let sign = ["release", "sign", world.path("out").string, "--keys", keys, "--yes", "--key"]
            let missing = try await run(.patchsign, sign + ["carol.key"], in: world.folder)
            #expect(missing.code == 6, "\(missing)")
            #expect(
                missing.errors.contains(
                    "cannot read \(world.path("carol.key")): it does not exist, nor does \(keys)/carol.key"
                ),
                "\(missing)"
            )
            #expect(missing.errors.contains("`patchsign key list --keys \(keys)` lists the keys of that folder"))
            let signed = try await run(.patchsign, sign + ["production-bob"], in: world.folder).done()
            #expect(signed.output.contains("2 of 2 signatures"), "\(signed)")
        }
    }
}
