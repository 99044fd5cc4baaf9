import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// What a device's commands say and refuse, tried as whoever builds on them does.
@Suite("The device's commands")
struct DeviceCommandTests {
    @Test(arguments: [
        (["--bundle", "typo"], "no bundle typo is installed; there is web"),
        (["--www", "/nope"], "--www: /nope is not a folder, or does not exist"),
        (["--local-files", "/etc/passwd"], "--local-files: /etc/passwd is not a folder, or does not exist"),
        (["--uploads", "/etc/passwd"], "--uploads: /etc/passwd is not a folder, or does not exist"),
        (["--proxy", "api=http://127.0.0.1:1"], "can never match: every path begins with '/'"),
    ])
    func `refuse what serve would ask for in vain`(options: [String], sentence: String) async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let arguments = ["serve", "--store", device.store.string, "--port", "0", "--no-sync"] + options
            let serve = try await run(.patchsync, arguments)
            #expect(serve.code == 64 && serve.errors.contains(sentence), "\(serve)")
        }
    }

    @Test(arguments: ["--www", "--local-files", "--uploads"])
    func `serve no folder that is the store, lies in it or holds it`(option: String) async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            for folder in [device.store, device.store.appending("objects"), world.folder] {
                let arguments = [
                    "serve", "--store", device.store.string, "--port", "0", "--no-sync", option, folder.string,
                ]
                let serve = try await run(.patchsync, arguments)
                #expect(serve.code == 64, "\(serve)")
                #expect(
                    serve.errors.contains("\(option): \(folder) is the store, is inside it or contains it"),
                    "\(serve)"
                )
                #expect(serve.errors.contains("a client with the access token could read or change the store."))
            }
        }
    }

    @Test func `confirm a launch by the line that serve, switch and status print, and nothing on a settled store`()
        async throws
    {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url, as: "device of bob's")
                try await device.sync().done()
                let switched = try await device("switch").done().output
                let log = try await device("log").done().output
                #expect(log.contains("  serving  serving fix 2, tip 1, web 2.0.0, on trial\n"), "\(log)")
                let status = try await device("status").done().output
                let line = try #require(switched.firstMatch(of: #/confirm: (echo .*)\n/#)?.1)
                #expect(line.contains(#"--store '\#(world.folder)/device of bob'\''s' --launch-file -"#), "\(line)")
                #expect(status.contains("(confirm: \(line))"), "\(status)")
                for word in ["confirmed: fix 2", "was confirmed before: fix 2"] {
                    let pasted = try await run(
                        .system("sh"),
                        ["-c", String(line)],
                        environment: ["PATH": "\(Tool.binaries):/usr/bin:/bin"]
                    )
                    #expect(pasted.code == 0 && pasted.output.contains(word), "\(pasted)")
                }
                let late = try await device("confirm", "--launch", String(repeating: "0", count: 32))
                #expect(
                    late.code == 3 && late.errors.contains("nothing is on trial, so nothing was confirmed"),
                    "\(late)"
                )
            }
        }
    }

    @Test func `know of the program that serves the store, and name what was not found`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await device.serving { page in
                let port = try #require(page.url.split(separator: ":").last.map(String.init))
                let second = try await device("serve", "--port", port, "--no-sync")
                #expect(second.code == 7, "\(second)")
                let expected = #/error: `patchsync serve` or `patchsync run` .+ already: process (\d+), port (\d+)\n/#
                let found = try #require(second.errors.firstMatch(of: expected), "\(second)")
                #expect(found.2 == port && FileManager.default.fileExists(atPath: "/proc/\(found.1)/exe"))
                #expect(second.errors.hasSuffix("hint: open the URL that it printed, or stop it first.\n"), "\(second)")
                let shared = try await device("set", "--no-own-host").done()
                #expect(
                    shared.output.contains(
                        "pages: on 127.0.0.1, whose cookies every port of this machine receives; from the next start of `patchsync "
                            + "serve` on (process \(found.1) keeps its settings)\n"
                    ),
                    "\(shared)"
                )
                let other = try await page.get("/", "-H", "Host: evil.example")
                #expect(
                    other.status == 421
                        && other.body.contains(
                            "This app is served only under its own host name, to protect it from pages of other "
                                + "sites: open the URL that its server printed."
                        ),
                    "\(other)"
                )
                #expect(try await page.get("/").status == 200)
            }
            let shared = try await device("set").done()
            #expect(shared.output.contains("receives\n") && !shared.output.contains("next start"), "\(shared)")
            let before = try await StoreDigest(of: device.store)
            let missing = world.path("missing")
            let embedded = try await device("set", "--embedded", missing.string)
            #expect(
                embedded.code == 6
                    && embedded.errors == """
                        error: --embedded: \(missing) is not a folder of `patchsign embed`: there is no embedded.json in it
                        hint: nothing was changed; name the folder that ships with the app.

                        """,
                "\(embedded)"
            )
            try await world.makeKeys(world.path("keys"), of: "com.example.other")
            let root = world.path("keys/root.json").string
            let other = try await device("init", "--root", root, "--server", "http://127.0.0.1:9")
            #expect(
                other.code == 8
                    && other.errors.hasSuffix(
                        "hint: nothing was changed; a store belongs to one app: name another folder with --store, or the "
                            + "root of trust of \(Workshop.app) with --root.\n"
                    ),
                "\(other)"
            )
            #expect(try await StoreDigest(of: device.store) == before)
            let unset = try await device(
                "set",
                "--data",
                "region=eu",
                "--unset",
                "nothere",
                "--no-express",
                "--entry-signatures",
                "manifest",
                "--json"
            ).done()
            #expect(
                unset.errors == "warning: --unset nothere: nothing was set under this key; no data is set\n",
                "\(unset)"
            )
            #expect(unset.output.contains(#""entrySignatures":"manifest","express":false"#), "\(unset)")
            let verified = try await device("verify", "--entries").done()
            #expect(
                verified.output == """
                    web 1.0.0: the signatures of its entries were not checked (--entry-signatures manifest)
                    3 patches, 8 files, 3 signatures; 0 faults

                    """,
                "\(verified)"
            )
        }
    }

    @Test func `name the file of each script, and serve gives it to pages under its digest`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let sync = try await device.sync(["--json"]).done().output
                let waiting = try #require(Self.file(of: "fix", "2", in: sync))
                #expect(try read(waiting) == "// the fix of release 2\n")
                let status = try await device("status", "--json").done().output
                #expect(Self.file(of: "fix", "2", in: status) == waiting)
                let running = try #require(Self.file(of: "fix", "1", in: status))
                #expect(Self.file(of: "web", "1.0.0", in: status) == nil)
                try await device.serving { page in
                    let answer = try await page.get("/__patchline/scripts/fix.js", "-D", "-")
                    let digest = waiting.lastComponent?.string ?? ""
                    #expect(answer.status == 200 && answer.body.hasSuffix("// the fix of release 2\n"), "\(answer)")
                    #expect(answer.body.lowercased().contains("etag: \"\(digest)\""), "\(answer)")
                    try await page.confirm()
                }
                try await run(.system("chmod"), ["u+w", running.string]).done()
                try write("// evil\n", to: waiting.removingLastComponent().appending("unused"))
                try await run(.system("chmod"), ["u+w", waiting.string]).done()
                try write("// evil\n", to: waiting)
                try await device.serving { page in
                    let (altered, whole) = (
                        try await page.get("/__patchline/scripts/fix.js"),
                        try await page.get("/__patchline/scripts/tip.js")
                    )
                    #expect(altered.status == 503 && whole.status == 200, "\(altered)")
                }
                let damaged = try await device("status", "--json").done().output
                #expect(Self.file(of: "fix", "2", in: damaged) == nil && Self.file(of: "tip", "1", in: damaged) != nil)
            }
        }
    }

    /// Of the row of this patch, where it names one.
    static func file(of patch: String, _ version: String, in json: String) -> FilePath? {
        for row in json.split(separator: "{") where row.contains(#""patchId":"\#(patch)""#) {
            guard row.contains(#""version":"\#(version)""#), let file = row.firstMatch(of: #/"file":"([^"]*)"/#)?.1
            else { continue }
            return FilePath(String(file).replacing("\\/", with: "/"))
        }
        return nil
    }
}
