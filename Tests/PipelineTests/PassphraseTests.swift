import Foundation
import Subprocess
import SystemPackage
import Testing

@Suite("A passphrase")
struct PassphraseTests {
    @Test func `is asked for twice on a terminal, and not shown`() async throws {
        try await World.with { world in
            let outcome = try await world.initialise(typing: ["correct horse", "correct horse"])
            #expect(outcome.code == 0, "\(outcome)")
            #expect(
                outcome.output.contains("Passphrase for the new keys, at least 8 characters: ")
                    && outcome.output.contains("Once more: "),
                "\(outcome)"
            )
            #expect(!outcome.output.contains("correct"), "\(outcome)")
            let key = try read(world.path("keys/production.key"))
            #expect(key.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
            let opened = try await run(
                .system("openssl"),
                [
                    "pkey", "-in", world.path("keys/production.key").string, "-passin", "pass:correct horse", "-noout",
                    "-check",
                ]
            )
            #expect(opened.code == 0, "\(opened)")
        }
    }

    @Test func `is asked for once where it opens all keys, and again after a wrong one`() async throws {
        try await World.with { world in
            let (keys, _) = try await world.encryptedKeys()
            let command = [
                Tool.binaries.appending("patchsign").string, "release", world.shop.source(1).string, "--keys",
                keys.string, "--output", world.path("out").string,
            ]
            let signed = try await run(
                .python,
                [Tool.script("prompt.py"), "wrong one", "right one", "--"] + command
            )
            #expect(signed.code == 0, "\(signed)")
            #expect(signed.output.components(separatedBy: "Passphrase for ").count == 3, "\(signed)")
            #expect(signed.output.contains("that does not open it; once more"), "\(signed)")

            let online = keys.appending("online.key").string
            let data = ["--data", world.path("data").string]
            let served = try await run(
                .python,
                [Tool.script("prompt.py"), "wrong one", "wrong two", "right one", "--"]
                    + [Tool.binaries.appending("patchsrv").string, "init", "--trust", keys.string] + data
                    + ["--online-key", online]
            )
            #expect(served.code == 0 && served.output.contains("that does not open it; once more"), "\(served)")
        }
    }

    @Test func `and the number of key holders are not asked for where the folder has keys`() async throws {
        try await World.with { world in
            let keys = world.shop.keys
            let program = Tool.binaries.appending("patchsign").string
            let command = [program, "init", "--app", Workshop.app, "--keys", keys.string]
            let refused = try await run(.python, [Tool.script("prompt.py"), "--"] + command)
            #expect(refused.code == 8 && refused.output.contains("root.key exists already"), "\(refused)")
            #expect(!refused.output.contains("How many people"), "\(refused)")
        }
    }

    @Test func `comes by a pipe, a FIFO or standard input, as a token does`() async throws {
        try await World.with { world in
            try write("right one\n", to: world.path("right"))
            let (site, source) = (world.path("site").string, world.shop.source(1).string)
            let script = """
                set -e
                cd "$1"; mkfifo fifo
                cat right | patchsign init --app \(Workshop.app) --keys keys --bits 2048 --passphrase-file -
                cat right >fifo & patchsign release \(source) --keys keys --output out --passphrase-file fifo
                patchsign release renew out --keys keys --output next --passphrase-file <(cat right)
                cat right | patchsrv init --data \(site) --trust keys --online-key keys/online.key --passphrase-file /dev/stdin
                patchsrv publish out --data \(site) --passphrase-file <(cat right)
                cat right >fifo & patchsrv serve --data \(site) --port 0 --operators-port 0 --passphrase-file fifo >log 2>&1 &
                server=$!
                until url=$(grep -o 'operators on http://[^ ]*' log); do kill -0 $server; done
                url=${url#operators on }
                patchsign push next --server "$url" --token-file <(patchsrv token new once --data \(site) --grant '*=publisher')
                patchsrv token new ci --data \(site) --grant '*=publisher' |
                    patchsign push next --server "$url" --token-file - --json
                kill $server
                wait $server
                """
            let outcome = try await run(
                .system("bash"),
                ["-c", script, "bash", world.folder.string],
                environment: ["PATH": "\(Tool.binaries):/usr/local/bin:/usr/bin:/bin"]
            )
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains("alreadyPublished"), "\(outcome)")
        }
    }

    @Test func `of a new key that is too short is refused with the rule`() async throws {
        try await World.with { world in
            try write("abc\n", to: world.path("short"))
            let refused = try await world.sign(
                "init",
                "--app",
                Workshop.app,
                "--keys",
                world.path("keys").string,
                "--passphrase-file",
                world.path("short").string
            )
            #expect(refused.code == 4, "\(refused)")
            #expect(refused.errors.contains("has 3 characters; that of a new key needs at least 8"), "\(refused)")
        }
    }

    @Test func `that is typed differently the second time makes no key`() async throws {
        try await World.with { world in
            let outcome = try await world.initialise(
                typing: ["correct horse", "battery staple", "short", "correct horse", "corect horse"]
            )
            #expect(outcome.output.contains("has 5 characters; that of a new key needs at least 8"), "\(outcome)")
            #expect(outcome.code == 1 && outcome.output.contains("the two passphrases are not the same"), "\(outcome)")
            #expect(try await run(.system("ls"), [world.path("keys").string]).output == "")
        }
    }

    @Test func `that is wrong opens no key for signing, and nothing is written`() async throws {
        try await World.with { world in
            let (keys, wrong) = try await world.encryptedKeys()
            let outcome = try await world.sign(
                "release",
                world.shop.source(1).string,
                "--keys",
                keys.string,
                "--output",
                world.path("out").string,
                "--passphrase-file",
                wrong.string
            )
            #expect(outcome.code == 3, "\(outcome)")
            #expect(outcome.errors.contains("does not open with this passphrase"), "\(outcome)")
            #expect(outcome.errors.contains("hint: nothing was signed"), "\(outcome)")
            #expect(try await run(.system("ls"), [world.path("out").string]).code != 0)
        }
    }

    @Test func `that is wrong, or missing without a terminal, publishes nothing`() async throws {
        try await World.with { world in
            let (keys, wrong) = try await world.encryptedKeys()
            let right = world.path("right").string
            let data = world.path("data")
            try await world.sign(
                "release",
                world.shop.source(1).string,
                "--keys",
                keys.string,
                "--output",
                world.path("out").string,
                "--passphrase-file",
                right
            ).done()
            try await run(
                .patchsrv,
                [
                    "init", "--data", data.string, "--trust", keys.string, "--online-key",
                    keys.appending("online.key").string,
                    "--passphrase-file", right,
                ]
            ).done()
            let before = try await StoreDigest(of: data)
            let publish = ["publish", world.path("out").string, "--data", data.string]
            let refused = try await run(.patchsrv, publish + ["--passphrase-file", wrong.string])
            #expect(refused.code == 3 && refused.errors.contains("does not open with this passphrase"), "\(refused)")
            let unasked = try await run(.patchsrv, publish)
            #expect(
                unasked.code == 64 && unasked.errors.contains("there is no terminal to ask for the passphrase"),
                "\(unasked)"
            )
            let cron = try await run(.patchsrv, ["refresh", "--data", data.string])
            #expect(cron.code == 64 && cron.errors.contains("hint: name it with --passphrase-file or in"), "\(cron)")
            _ = try await running(
                .patchsrv,
                ["serve", "--data", data.string, "--background-optimize", "off"] + anyPorts
            ) { server in
                _ = try await server.line(with: "over the API nothing is published")
                _ = try await server.address()
                let warnings = await server.text.split(separator: "\n").filter { $0.contains("online key") }
                #expect(warnings.count == 1, "\(warnings)")
            }
            let serve = ["serve", "--data", data.string, "--passphrase-file", wrong.string] + anyPorts
            let early = try await run(.patchsrv, serve)
            #expect(early.code == 3 && early.errors.contains("does not open with this passphrase"), "\(early)")
            #expect(try await StoreDigest(of: data) == before)
            try await run(.patchsrv, publish + ["--passphrase-file", right]).done()
        }
    }
}

extension PassphraseTests {
    @Test func `that is typed when the server starts lets the API publish, and who types none has devices served`()
        async throws
    {
        try await World.with { world in
            let (keys, _) = try await world.encryptedKeys()
            let (right, data, release) = (world.path("right").string, world.path("data"), world.path("out").string)
            try await world.sign(
                "release",
                world.shop.source(1).string,
                "--keys",
                keys.string,
                "--output",
                release,
                "--passphrase-file",
                right
            ).done()
            let initialized = try await run(
                .patchsrv,
                [
                    "init", "--data", data.string, "--trust", keys.string, "--online-key", "\(keys)/online.key",
                    "--passphrase-file", right,
                ]
            ).done()
            #expect(initialized.output.hasPrefix("initialized \(Workshop.app) in "), "\(initialized)")
            let token = try await run(
                .patchsrv,
                ["token", "new", "a test", "--grant", "*=publisher", "--data", data.string]
            ).done()
            let patchsign = Tool.binaries.appending("patchsign").string
            let push = "\(patchsign) push \(release) --server $OPERATORS"
            func serve(typing answers: [String], _ command: String) async throws -> Outcome {
                let patchsrv = Tool.binaries.appending("patchsrv").string
                return try await run(
                    .python,
                    [Tool.script("prompt.py")] + answers + [
                        "--", patchsrv, "serve", "--data", data.string,
                    ] + anyPorts,
                    environment: [
                        "THEN": command, "PATCHLINE_TOKEN": String(token.output.prefix { !$0.isWhitespace }),
                    ]
                )
            }
            let tree = "curl -sf -o /dev/null $URL/\(Workshop.app)/metadata/timestamp.json"
            let none = try await serve(typing: [""], "\(tree) && \(push)")
            #expect(none.code != 0 && none.output.contains("no passphrase that opens its online key"), "\(none)")
            #expect(none.output.split(separator: "over the API nothing is published").count == 2, "\(none)")
            let typed = try await serve(typing: ["wrong one", "right one"], push)
            #expect(typed.code == 0 && typed.output.contains("that does not open it; once more"), "\(typed)")
            #expect(typed.output.contains("published production 1"), "\(typed)")
            #expect(!typed.output.contains("nothing is published"), "\(typed)")
        }
    }
}

extension World {
    /// `patchsign init` on a terminal.
    fileprivate func initialise(typing answers: [String]) async throws -> Outcome {
        let patchsign = Tool.binaries.appending("patchsign").string
        let command = [
            patchsign, "init", "--app", Workshop.app, "--keys", path("keys").string, "--bits", "2048", "--recovery-key",
        ]
        return try await run(.python, [Tool.script("prompt.py")] + answers + ["--"] + command)
    }

    /// A new set of encrypted keys, its passphrase in `right`, and a file with another one.
    fileprivate func encryptedKeys() async throws -> (keys: FilePath, wrong: FilePath) {
        try write("right one\n", to: path("right"))
        try write("wrong one\n", to: path("wrong"))
        try await sign(
            "init",
            "--app",
            Workshop.app,
            "--keys",
            path("keys").string,
            "--bits",
            "2048",
            "--passphrase-file",
            path("right").string
        ).done()
        return (path("keys"), path("wrong"))
    }
}
