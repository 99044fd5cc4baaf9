import FoundationEssentials
import SystemPackage
import Testing

@Suite("A package for JSPatch's loader, by command")
struct PackCommandTests {
    /// Scripts, and a key of openssl's.
    private static func prepare(_ world: World, bits: Int = 2_048, passphrase: String? = nil) async throws {
        try write("include('cart.js')\n", to: world.path("main.js"))
        try write("total()\n", to: world.path("cart.js"))
        let cipher = passphrase.map { ["-aes256", "-pass", "pass:\($0)"] } ?? []
        try await run(
            .system("openssl"),
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)", "-out", "jspatch.key"] + cipher,
            in: world.folder
        ).done()
    }

    private static func pack(_ world: World, _ arguments: String...) async throws -> Outcome {
        try await run(.patchsign, ["pack"] + arguments + ["--jspatch-key", "jspatch.key"], in: world.folder)
    }

    @Test(arguments: [(1_024, 128), (2_048, 256), (3_072, 384), (4_096, 512)])
    func `is what unzip and openssl take, with keys of every size`(_ bits: Int, _ bytes: Int) async throws {
        try await World.with { world in
            try await Self.prepare(world, bits: bits)
            let packed = try await Self.pack(world, "main.js", "cart.js", "-o", "v2").done()
            #expect(packed.output.hasPrefix("\(world.path("v2.zip")): 2 scripts, "), "\(packed)")
            #expect(packed.output.hasSuffix(" bytes; not marked with app version and number\n"), "\(packed)")
            let judge = """
                openssl pkey -in jspatch.key -pubout -out pub; unzip -q v2.zip; test "$(unzip -Z1 v2.zip | wc -l)" = 2
                test "$(stat -c %s key)" = \(bytes)
                test "$(openssl pkeyutl -verifyrecover -pubin -inkey pub -in key)" = "$(md5sum <script.zip | cut -c -32)"
                mkdir in; unzip -q script.zip -d in; cmp in/main.js main.js; cmp in/cart.js cart.js; ls in | wc -l
                """
            let judged = try await run(.system("sh"), ["-ec", judge], in: world.folder).done()
            #expect(judged.output == "2\n", "\(judged)")
            try await run(
                .patchsign,
                ["jspatch", "verify", "script.zip", "--signature", "key", "--public", "pub"],
                in: world.folder
            ).done()
        }
    }

    @Test func `is v1 unless it is named, says which version it is, and is the same each time`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            let packed = try await Self.pack(world, "main.js", "--app-version", "2.1").done()
            #expect(packed.output.hasPrefix("\(world.path("v1.zip")): 1 script, "), "\(packed)")
            #expect(packed.output.hasSuffix("; marked as version 1 for app version 2.1\n"), "\(packed)")
            try await run(.system("mkdir"), ["again"], in: world.folder).done()
            try await Self.pack(world, "main.js", "-o", "again/v1.zip", "--app-version", "2.1").done()
            try await run(.system("cmp"), ["v1.zip", "again/v1.zip"], in: world.folder).done()
            let record = "unzip -q v1.zip; unzip -p script.zip patchline.json"
            let read = try await run(.system("sh"), ["-ec", record], in: world.folder).done()
            #expect(read.output == #"{"appVersion":"2.1","version":1}"#, "\(read)")
        }
    }

    @Test func `opens the old key by its passphrase, for this use alone`() async throws {
        try await World.with { world in
            try await Self.prepare(world, bits: 1_024, passphrase: "old secret")
            try writeSecret("old secret\n", to: world.path("secret"))
            try await Self.pack(world, "main.js", "--passphrase-file", "secret").done()
            let closed = try await Self.pack(world, "main.js", "-o", "v2")
            #expect(closed.code == 3 && closed.errors.contains("jspatch.key is encrypted"), "\(closed)")
            let other = try await run(
                .patchsign,
                ["jspatch", "sign", "main.js", "--key", "jspatch.key", "--passphrase-file", "secret"],
                in: world.folder
            )
            #expect(other.code == 3 && other.errors.contains("RSA keys need at least 2,048"), "\(other)")
        }
    }

    @Test func `is not made of what makes none, and nothing is written`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            try await run(.system("mkdir"), ["a"], in: world.folder).done()
            for (name, text) in [("a/main.js", "x"), ("main.txt", "x"), ("v9.zip", "taken")] {
                try write(text, to: world.path(name))
            }
            try await run(.system("openssl"), ["genpkey", "-algorithm", "ed25519", "-out", "ed.key"], in: world.folder)
                .done()
            let entry = world.shop.keys.appending("entry.key").string
            for (arguments, code, text) in [
                (["cart.js"], 4, "v1.zip: no script is named main.js"),
                (["main.js", "a/main.js"], 4, "v1.zip: two scripts are named main.js"),
                (["main.js", "main.txt"], 4, "main.txt cannot be in a package: its name must end in .js"),
                (["main.js", "missing.js"], 6, "missing.js: it does not exist"),
                (["main.js", "-o", "v9"], 8, "v9.zip exists already"),
                (["main.js", "-o", "fix", "--app-version", "2.1"], 64, "the output is called vN, and N must be"),
                (["main.js", "-o", "v0", "--app-version", "2.1"], 64, "the output is called vN, and N must be"),
                (["main.js", "--app-version", "2.x"], 64, "--app-version must be integers joined by dots"),
            ] as [([String], Int32, String)] {
                let outcome = try await run(
                    .patchsign,
                    ["pack"] + arguments + ["--jspatch-key", "jspatch.key"],
                    in: world.folder
                )
                #expect(outcome.code == code && outcome.errors.contains(text), "\(outcome)")
            }
            for (key, code, text) in [
                ("ed.key", 4, "ed.key: the key is not RSA"), (entry, 3, "is also a key of entries; a key has one use"),
                ("none.key", 6, "none.key: it does not exist"),
            ] as [(String, Int32, String)] {
                let outcome = try await run(
                    .patchsign,
                    ["pack", "main.js", "--jspatch-key", key, "--keys", world.shop.keys.string],
                    in: world.folder
                )
                #expect(outcome.code == code && outcome.errors.contains(text), "\(outcome)")
            }
            let left = try await run(.system("sh"), ["-c", "ls *.zip; cat v9.zip; ls -A | grep new"], in: world.folder)
            #expect(left.output == "v9.zip\ntaken", "\(left)")
        }
    }
}
