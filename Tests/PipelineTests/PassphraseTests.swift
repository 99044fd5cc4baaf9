import SystemPackage
import Testing

@Suite("A passphrase")
struct PassphraseTests {
    @Test func `is asked for twice on a terminal, and not shown`() async throws {
        try await World.with { world in
            let outcome = try await world.initialise(typing: ["correct horse", "correct horse"])
            #expect(outcome.code == 0, "\(outcome)")
            #expect(
                outcome.output.contains("Passphrase for the new keys: ") && outcome.output.contains("Once more: "),
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

    @Test func `that is typed differently the second time makes no key`() async throws {
        try await World.with { world in
            let outcome = try await world.initialise(typing: ["correct horse", "battery"])
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
                unasked.code == 1 && unasked.errors.contains("there is no terminal to ask for the passphrase"),
                "\(unasked)"
            )
            let cron = try await run(.patchsrv, ["refresh", "--data", data.string])
            #expect(cron.code == 1 && cron.errors.contains("hint: name it with --passphrase-file or in"), "\(cron)")
            _ = try await running(.patchsrv, ["serve", "--data", data.string, "--port", "0"]) { server in
                _ = try await server.line(with: "publishes nothing and turns no dial and no parameters")
                _ = try await server.address()
            }
            let serve = ["serve", "--data", data.string, "--port", "0", "--passphrase-file", wrong.string]
            let early = try await run(.patchsrv, serve)
            #expect(early.code == 3 && early.errors.contains("does not open with this passphrase"), "\(early)")
            #expect(try await StoreDigest(of: data) == before)
            try await run(.patchsrv, publish + ["--passphrase-file", right]).done()
        }
    }
}

extension World {
    /// `patchsign init` on a terminal.
    fileprivate func initialise(typing answers: [String]) async throws -> Outcome {
        let patchsign = Tool.binaries.appending("patchsign").string
        let command = [patchsign, "init", "--app", Workshop.app, "--keys", path("keys").string, "--bits", "2048"]
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
