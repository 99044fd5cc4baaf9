import Foundation
import SystemPackage
import Testing

@Suite("The command lines")
struct CommandTests {
    static let programs: [(tool: Tool, name: String)] = [
        (.patchsign, "patchsign"), (.patchsrv, "patchsrv"), (.patchsync, "patchsync"),
    ]

    /// A way to make a program end with each code that its help speaks of.
    ///
    /// Codes that need two processes are seen in the tests of what they mean.
    @Test(arguments: [
        (0, ["init", "--keys", "MISSING", "--app", "a", "--unencrypted-keys", "--bits", "1024"], Int32(64)),
        (0, ["verify", "RELEASE2", "--keys", "KEYS"], 0),
        (0, ["verify", "RELEASE2", "--keys", "OTHERKEYS"], 3),
        (0, ["inspect", "BADRELEASE"], 4),
        (0, ["inspect", "MISSING"], 3),
        (0, ["release", "MISSING", "--keys", "KEYS", "--output", "MISSING"], 6),
        (0, ["init", "--keys", "KEYS", "--app", "a", "--unencrypted-keys"], 8),
        (1, ["list", "--data", "SITE"], 0),
        (1, ["publish", "RELEASE1", "--data", "EMPTY"], 3),
        (1, ["publish", "BADRELEASE", "--data", "SITE"], 4),
        (1, ["init", "--data", "MISSING", "--trust", "MISSING", "--online-key", "MISSING"], 6),
        (1, ["publish", "RELEASE3", "--data", "SITE"], 8),
        (1, ["publish", "--data", "SITE"], 64),
        (2, ["status", "--store", "STORE"], 0),
        (2, ["switch", "--store", "STORE"], 1),
        (2, ["confirm", "--store", "STORE", "--launch", "x"], 4), (2, ["confirm", "--store", "STORE"], 64),
        (2, ["confirm", "--store", "STORE", "--launch", "x", "--launch-file", "-"], 64),
        (2, ["confirm", "--store", "STORE", "--launch-file", "MISSING"], 6),
        (2, ["set", "--store", "STORE", "--user-file", "MISSING"], 6),
        (2, ["set", "--store", "STORE", "--user", "a", "--user-file", "MISSING"], 64),
        (2, ["set", "--store", "STORE", "--user-file", "-", "--data-file", "-"], 64),
        (2, ["sync", "--store", "STORE", "--retries", "0"], 5),
        (2, ["status", "--store", "MISSING"], 6),
        (2, ["sync", "--store", "STORE", "--no-such-option"], 64),
    ])
    func `end with the code that their help documents`(_ index: Int, _ arguments: [String], _ code: Int32) async throws
    {
        try await World.with { world in
            let places = try await world.places()
            let outcome = try await run(Self.programs[index].tool, arguments.map { places[$0] ?? $0 })
            #expect(outcome.code == code, "\(outcome)")
            let help = try Transcripts.text("TranscriptTests/Transcripts/\(Self.programs[index].name)-help")
            let codes = help.components(separatedAt: "\nEXIT CODES\n", after: true).components(separatedAt: "\n\n")
            #expect(codes.contains(try Regex("(?m)^  \(code) ")), "\(codes)")
            if code != 0 { #expect(outcome.errors.contains("error: "), "\(outcome)") }
        }
    }

    @Test func `say of what is no release what it is, and what was meant`() async throws {
        try await World.with { world in
            let (keys, source) = (world.shop.keys, world.shop.source(1))
            try await copy(world.shop.release(1), to: world.path("pulled"))
            let pulled = world.path("work")
            try FileManager.default.createDirectory(atPath: pulled.string, withIntermediateDirectories: true)
            try await copy(world.shop.release(1), to: pulled.appending("release"))
            let wanted = "name the folder that `patchsign release` or `patchsign pull` wrote"
            let (file, none) = (keys.appending("root.json"), "there is no release.json in it")
            for (path, code, message, hint) in [
                (world.path("missing"), Int32(3), "there is no folder \(world.path("missing"))", wanted),
                (file, 6, "\(file) is a file, and a signed release is a folder", wanted),
                (keys, 3, "\(keys) is not a release folder: \(none)", "it is a folder of keys: name it with --keys"),
                (
                    source, 3, "\(source) is not a release folder: \(none)",
                    "it is a folder to make a release of: patchsign release \(source) --keys DIR --output NEW"
                ),
                (
                    pulled, 3, "\(pulled) is not a release folder: \(none)",
                    "`patchsign pull` wrote it: the release in it is \(pulled)/release"
                ),
                (world.folder, 3, "\(world.folder) is not a release folder: \(none)", wanted),
            ] {
                let refused = try await world.sign("inspect", path.string)
                #expect(refused.code == code && refused.errors == "error: \(message)\nhint: \(hint)\n", "\(refused)")
            }
            for command in [["verify", "--keys", keys.string], ["push", "--server", "http://127.0.0.1:9"]] {
                let refused = try await run(.patchsign, command + [world.path("missing").string])
                #expect(refused.code == 3 && refused.errors.contains("there is no folder "), "\(refused)")
            }
        }
    }

    @Test(arguments: [
        (["sync", "--retries", "-1"], "--retries must not be negative, but is -1", nil as String?),
        (
            ["switch", "--channel", "-x"], "--channel has no value: -x after it looks like an option",
            "if it is the value, write --channel=-x"
        ),
        (["sync", "--frob"], "Unknown option '--frob'", nil),
        (["syncc"], "patchsync has no command syncc", "did you mean"),
    ])
    func `tell people and scripts what was not understood`(_ words: [String], _ message: String, _ hint: String?)
        async throws
    {
        let reported = try await run(.patchsync, words)
        #expect(
            reported.code == 64 && reported.output.isEmpty && reported.errors.contains("error: \(message)"),
            "\(reported)"
        )
        let outcome = try await run(.patchsync, words + ["--json"])
        #expect(outcome.code == 64 && outcome.errors.contains("error: \(message)"), "\(outcome)")
        let line = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let error = try #require(line?["error"] as? [String: Any], "\(outcome)")
        #expect(error["kind"] as? String == "usage" && error["exitCode"] as? Int == 64)
        #expect((error["message"] as? String)?.hasPrefix(message) == true, "\(outcome)")
        #expect((error["hint"] as? String)?.hasPrefix(hint ?? "") ?? (hint == nil), "\(outcome)")
    }

    @Test func `print JSON that another program reads`() async throws {
        try await World.with { world in
            let keys = world.path("keys").string
            try await world.expectJSON(
                world.sign(
                    "init",
                    "--app",
                    Workshop.app,
                    "--keys",
                    keys,
                    "--unencrypted-keys",
                    "--bits",
                    "2048",
                    "--json"
                ).done()
            )
            let source = world.shop.source(1).string
            let (one, two) = (world.path("one").string, world.path("two").string)
            try await world.expectJSON(world.sign("release", source, "--keys", keys, "--output", one, "--json").done())
            try await world.expectJSON(
                world.sign("withdraw", "tip", "--previous", one, "--keys", keys, "--output", two, "--json").done()
            )
            try await world.expectJSON(world.sign("inspect", two, "--previous", one, "--json").done())
            try await world.expectJSON(world.sign("verify", two, "--keys", keys, "--json").done())

            let site = try await world.site(world.shop.site1)
            try await world.expectJSON(
                run(.patchsrv, ["publish", world.shop.release(2).string, "--data", site.string, "--json"]).done()
            )
            try await world.expectJSON(run(.patchsrv, ["list", "--data", site.string, "--json"]).done())
            let conflict = try await run(.patchsrv, ["publish", one, "--data", site.string, "--json"])
            #expect(conflict.code == 8 || conflict.code == 3, "\(conflict)")
            try await world.expectJSON(conflict)

            try await world.withServer(of: site) { server in
                let device = Device(store: world.path("device"))
                try await world.expectJSON(
                    device("init", "--root", world.root.string, "--server", server.url, "--json").done()
                )
                try await world.expectJSON(device.sync(["--json"]).done())
                try await world.expectJSON(device("status", "--json").done())
                try await world.expectJSON(device("verify", "--entries", "--json").done())
                try await world.expectJSON(device("switch", "--json").done())
                let status = try await device("status")
                let token = try #require(status.output.firstMatch(of: #/echo ([0-9a-f]{32}) /#)?.1)
                try await world.expectJSON(device("confirm", "--launch", String(token), "--json").done())
                let refused = try await device("confirm", "--launch", String(repeating: "0", count: 32), "--json")
                try await world.expectJSON(refused)
                let arguments = ["serve", "--store", device.store.string, "--port", "0", "--json"]
                let serve = try await running(.patchsync, arguments) {
                    _ = try await $0.line(with: #""event":"listening""#)
                }
                try await world.expectJSON(serve.1.done(), lines: true)
                try server.turn("flipped", for: "timestamp")
                let failed = try await device.sync(["--json"])
                #expect(failed.code == 3, "\(failed)")
                try await world.expectJSON(failed)
            }
            let settled = try await world.settledDevice(server: "http://127.0.0.1:9", as: "settled")
            try await world.expectJSON(settled("rollback", "--json"))
        }
    }
}

extension World {
    /// Standard output is JSON to Python's reader, or with `lines` each line of it.
    fileprivate func expectJSON(_ outcome: Outcome, lines: Bool = false) async throws {
        #expect(!outcome.output.isEmpty, "\(outcome)")
        try write(outcome.output, to: path("out.json"))
        let reader = ["-m", "json.tool"] + (lines ? ["--json-lines"] : []) + [path("out.json").string]
        let read = try await run(.python, reader)
        #expect(read.code == 0, "\(outcome)\n\(read)")
    }

    /// What the tables of command lines call by a name.
    fileprivate func places() async throws -> [String: String] {
        try await run(
            .patchsrv,
            [
                "init", "--data", path("empty").string, "--trust", shop.otherKeys.string, "--online-key",
                shop.otherKeys.appending("online.key").string,
            ]
        ).done()
        try await copy(shop.release(2), to: path("bad"))
        try await run(.system("bash"), ["-c", "chmod u+w release.json && echo '{]' >release.json"], in: path("bad"))
            .done()
        return [
            "RELEASE1": shop.release(1).string, "RELEASE2": shop.release(2).string, "RELEASE3": shop.release(3).string,
            "BADRELEASE": path("bad").string,
            "KEYS": shop.keys.string, "OTHERKEYS": shop.otherKeys.string, "SITE": try await site(shop.site1).string,
            "EMPTY": path("empty").string, "STORE": try await settledDevice(server: "http://127.0.0.1:9").store.string,
            "MISSING": path("missing").string,
        ]
    }
}

extension String {
    /// What stands before the first of these marks, or after it; all of it without one.
    fileprivate func components(separatedAt marks: String..., after: Bool = false) -> String {
        guard let mark = marks.compactMap({ ranges(of: $0).first }).min(by: { $0.lowerBound < $1.lowerBound }) else {
            return self
        }
        return String(after ? self[mark.upperBound...] : self[..<mark.lowerBound])
    }
}
