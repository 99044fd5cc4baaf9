import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// What a release's scripts are, before a key signs them.
@Suite("A script that is to be signed")
struct ScriptCheckTests {
    private static let description = """
        app: com.example.pipeline
        channel: production
        hosts: [host.json]
        patches:
          - id: fix
            kind: script
            version: "1"
            file: fix.js
          - id: banner
            kind: script
            version: "1"
            file: banner.js
            runsIn: page
        """
    private static let interface =
        #"{"format":"patchline-host-v1","types":[{"name":"Cart","methods":[],"statics":[]}]}"#

    private func folder(in world: World, fix: String) throws -> FilePath {
        let folder = world.path("source")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        try write(Self.description, to: folder.appending("release.yaml"))
        try write(Self.interface, to: folder.appending("host.json"))
        try write(fix, to: folder.appending("fix.js"))
        // What a page has no host knows.
        try write("require('Banner').show()", to: folder.appending("banner.js"))
        return folder
    }

    @Test func `is refused by line and column where it is no program, and nothing is signed`() async throws {
        try await World.with { world in
            let source = try folder(in: world, fix: "var a = 1;\nvar b = = 2;\n")
            let error =
                "\(source)/release.yaml:8: patches[0].file: \(source)/fix.js:2:9: SyntaxError: Unexpected token '='"
            let refused = try await world.release(source, to: "v1.release")
            #expect(refused.code == 4 && refused.errors.contains("error: \(error)\n"), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: world.path("v1.release").string))
            let check = try await world.sign("release", "--check", source.string)
            #expect(check.code == 4 && check.output.contains("error: \(error)\n"), "\(check)")
        }
    }

    @Test func `is warned of names that no host knows, unless it is for pages`() async throws {
        try await World.with { world in
            let source = try folder(in: world, fix: "defineClass('Cart', {\n  totl() { return 1 }\n})")
            let warning =
                "release.yaml:8: patches[0].file: \(source)/fix.js: line 2: Cart of the host has no 'totl': it is a new method\n"
            let made = try await world.release(source, to: "v1.release")
            #expect(made.code == 0 && made.errors.contains("warning: \(source)/\(warning)"), "\(made)")
            #expect(!made.errors.contains("Banner"))
        }
    }

    @Test func `is refused with an interface that is none`() async throws {
        try await World.with { world in
            let source = try folder(in: world, fix: "1")
            try write("{}", to: source.appending("host.json"))
            let refused = try await world.sign("release", "--check", source.string)
            let error = "release.yaml:3: hosts[0]: \(source)/host.json: format is not patchline-host-v1\n"
            #expect(refused.code == 4 && refused.output.contains(error), "\(refused)")
            try write(
                Self.description.replacing("host.json", with: "../host.json"),
                to: source.appending("release.yaml")
            )
            let outside = try await world.sign("release", "--check", source.string)
            #expect(outside.code == 4 && outside.output.contains("hosts[0] has a '.' or '..' segment"), "\(outside)")
        }
    }

    /// Where patchscript is in neither place; the program itself lies alone there.
    @Test func `is signed unparsed, and said to be, where nothing is there that could`() async throws {
        try await World.with { world in
            let source = try folder(in: world, fix: "var b = = 2;\n")
            let alone = world.path("alone")
            try FileManager.default.createDirectory(atPath: alone.string, withIntermediateDirectories: true)
            try await run(.system("cp"), [Tool.binaries.appending("patchsign").string, alone.string]).done()
            let command = "exec \"$0\" release --check \"$1\""
            let program = alone.appending("patchsign").string
            let check = try await run(
                .system("sh"),
                ["-c", command, program, source.string],
                environment: ["PATH": alone.string]
            )
            let warning =
                "release.yaml:4: patches: no script was parsed: patchscript is neither beside patchsign nor in PATH\n"
            #expect(check.code == 0 && check.output.contains(warning), "\(check)")
            // One that gives no answer stops nothing either.
            try write("#!/bin/sh\nenv >\"$0.env\"\nexit 3\n", to: alone.appending("patchscript"))
            try await run(.system("chmod"), ["+x", alone.appending("patchscript").string]).done()
            let failing = try await run(
                .system("sh"),
                ["-c", command, program, source.string],
                environment: ["RELEASE_PASSPHRASE": "hunter2"]
            )
            let trouble = "release.yaml:4: patches: patchscript parsed no script: it ended with status 3\n"
            #expect(failing.code == 0 && failing.output.contains(trouble), "\(failing)")
            let reported = try read(alone.appending("patchscript.env"))
            #expect(
                reported.contains("PATH=") && !reported.contains("hunter2"),
                "no passphrase is told to it: \(reported)"
            )
        }
    }
}

/// P11 on a device: what whoever works on an app tries there.
@Suite("A store in debug mode")
struct DebugStoreTests {
    private static let fix = "defineClass('CartController', { total() { return self.ORIGtotal() - 1 } })"

    @Test func `alone runs local scripts`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let before = try await StoreDigest(of: device.store)
            try write(Self.fix, to: world.path("demo.js"))
            let file = world.path("demo.js").string
            let refused = try await device("eval", file)
            let error =
                "error: \(device.store) is not in debug mode: it runs only scripts that its release key signed\n"
            #expect(refused.code == 3 && refused.errors.hasPrefix(error), "\(refused)")
            let console = try await device("console")
            #expect(console.code == 3 && console.errors.hasPrefix(error), "\(console)")
            let set = try await device("set", "--debug")
            #expect(
                set.code == 0
                    && set.output.contains(
                        "debug mode: local scripts may be run (`patchsync eval`, `patchsync console`)\n"
                    ),
                "\(set)"
            )
            let run = try await device("eval", file)
            #expect(
                run.code == 0 && run.output == "\(file): Success\ntotal: 1799 with it, 1800 without it\n",
                "\(run)"
            )
            try await device("set", "--no-debug").done()
            let again = try await device("eval", file)
            #expect(again.code == 3, "\(again)")
            #expect(try await StoreDigest(of: device.store).installed == before.installed)
        }
    }

    @Test func `has a console beside the scripts that it runs`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await device("set", "--debug").done()
            let lines = #"printf '1 + 1\nnew (require("CartController"))().total()\n' | "$0" console --store "$1""#
            let program = Tool.binaries.appending("patchsync").string
            let said = try await run(.system("bash"), ["-c", lines, program, device.store.string])
            #expect(said.code == 0 && said.output == "2\n1800\n", "\(said)")
        }
    }

    @Test func `prints how its scripts do while it serves, in words and as JSON`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let arguments = ["serve", "--store", device.store.string, "--port", "0", "--no-sync", "--scripts"]
            let (_, words) = try await running(.patchsync, arguments) { program in
                try await program.line(with: "tip    1        Success")
            }
            #expect(words.output.contains("scripts on the sample host:\nPATCH  VERSION  STATE    WHY\n"), "\(words)")
            let (_, json) = try await running(.patchsync, arguments + ["--json"]) { program in
                try await program.line(with: #""event":"scripts""#)
            }
            let states =
                #""patches":[{"patchId":"fix","state":"Success","version":"1"},{"patchId":"tip","state":"Success","version":"1"}]"#
            #expect(json.output.contains(states), "\(json)")
        }
    }
}
