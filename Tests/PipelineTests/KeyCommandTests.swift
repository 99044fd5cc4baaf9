import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@Suite("The keys of a team")
struct KeyCommandTests {
    @Test func `are made, printed and listed`() async throws {
        try await World.with { world in
            let keys = world.path("keys").string
            try writeSecret("correct horse\n", to: world.path("secret"))
            let secret = ["--passphrase-file", world.path("secret").string]
            for kind in ["rsa", "ed25519", "p256"] {
                try await run(.patchsign, ["key", "new", kind, "--keys", keys, "--kind", kind] + secret).done()
            }
            let again = try await world.sign("key", "new", "rsa", "--keys", keys, "--unencrypted-keys")
            #expect(again.code == 8 && again.errors.contains("rsa.key exists already"), "\(again)")
            let printed = try await run(.patchsign, ["key", "public", "\(keys)/p256.key"] + secret)
            let expected = try await run(
                .system("openssl"),
                ["pkey", "-in", "\(keys)/p256.key", "-passin", "pass:correct horse", "-pubout"]
            )
            #expect(printed.output == expected.output && printed.code == 0, "\(printed)")
            let list = try await world.sign("key", "list", "--keys", keys, "--json").done()
            #expect(list.output.contains("\"RSA, 3072 bits\"") && list.output.contains("\"P-256\""), "\(list)")
            #expect(list.output.components(separatedBy: "\"encrypted\": true").count == 4, "\(list)")
            let shop = try await world.sign("key", "list", "--keys", world.shop.keys.string).done()
            let online = shop.output.split(separator: "\n").first { $0.hasPrefix("online.key") } ?? ""
            #expect(online.contains("snapshot, timestamp, dial") && online.hasSuffix("NOT encrypted"), "\(shop)")
        }
    }

    @Test func `on a token sign a release with the entries that the files make`() async throws {
        try await World.with { world in
            let token = try await SoftToken(in: world, keys: ["production", "entry"])
            let pin = ["--pin-file", token.pinFile.string, "--pkcs11-module", token.module.string]
            let make = ["release", world.shop.source(1).string, "--keys", world.shop.keys.string]
            let made = try await run(
                .patchsign,
                make + ["--output", world.path("out").string, "--key", token.uri("production")]
                    + ["--entry-key", token.uri("entry")] + pin,
                environment: token.environment
            )
            #expect(made.code == 0 && made.output.contains("1 of 1 signature"), "\(made)")
            #expect(!made.text.contains(SoftToken.pin), "\(made)")
            try await world.sign("verify", world.path("out").string, "--keys", world.shop.keys.string).done()
            let previous = ["--previous", world.path("out").string]
            let again = try await run(
                .patchsign,
                make + previous + ["--output", world.path("again").string],
                environment: token.environment
            )
            #expect(again.output.contains("entry signatures: 0 made"), "\(again)")
            let printed = try await run(
                .patchsign,
                ["key", "public", "\(token.uri("entry"))?module-path=\(token.module)"],
                environment: token.environment
            )
            #expect(try printed.output == read(world.shop.keys.appending("entry.pub")), "\(printed)")
        }
    }

    @Test func `on a token that cannot be used sign nothing, and the reason is said`() async throws {
        try await World.with { world in
            let token = try await SoftToken(in: world, keys: ["production"])
            let (keys, out) = (world.shop.keys.string, world.path("out").string)
            try write("0000\n", to: world.path("wrong"))
            let module = ["--pkcs11-module", token.module.string]
            let pin = ["--pin-file", token.pinFile.string]
            let wrong = ["--pin-file", world.path("wrong").string]
            let uri = token.uri("production")
            func refusal(_ key: String, _ options: [String], engines: String? = nil) async throws -> Outcome {
                var environment = token.environment
                environment["OPENSSL_ENGINES"] = engines
                let make = ["release", world.shop.source(1).string, "--keys", keys, "--output", out, "--key", key]
                return try await run(.patchsign, make + options, environment: environment)
            }
            for (outcome, code, text) in [
                (try await refusal(uri, module + wrong), 3, "\(uri) does not open with this PIN"),
                (try await refusal(uri, module), 3, "\(uri) needs the token's PIN\nhint: give it with --pin-file"),
                (try await refusal(uri, pin), 6, "\(uri) needs a PKCS#11 module\nhint: name it with --pkcs11-module"),
                (
                    try await refusal(uri, ["--pkcs11-module", "/nowhere.so"] + pin), 6,
                    "\(uri) needs /nowhere.so, which does not exist or is not a PKCS#11 module"
                ),
                (
                    try await refusal(uri, module + pin, engines: world.folder.string), 6,
                    "not installed\nhint: sudo apt-get install libengine-pkcs11-openssl"
                ),
                (
                    try await refusal("pkcs11:token=lost;object=production", module + pin), 3,
                    "is on token 'lost', which is not present; present: 'release'"
                ),
                (try await refusal(token.uri("lost"), module + pin), 3, "\(token.uri("lost")) is not on its token"),
                (
                    try await refusal("\(uri)?pin-value=\(SoftToken.pin)", module), 64,
                    "\(uri) must not contain pin-value; give the PIN with --pin-file or --pin-env"
                ),
            ] {
                #expect(outcome.code == Int32(code) && outcome.errors.contains(text), "\(outcome)")
                #expect(!outcome.text.contains(SoftToken.pin), "\(outcome)")
            }
            #expect(try await run(.system("ls"), [out]).code != 0)
        }
    }

    @Test func `behind a command are found beside the key files, and their errors go to the terminal`() async throws {
        try await World.with { world in
            let keys = world.path("keys")
            try await copy(world.shop.keys, to: keys)
            let script = Tool.repository.appending("Patches/signers/openssl-sign.sh")
            for name in ["production", "entry"] {
                let key = world.path("\(name).secret").string
                try FileManager.default.moveItem(atPath: keys.appending("\(name).key").string, toPath: key)
                try write(
                    "command: [\(script), \(key)]\npublic: \(name).pub\n",
                    to: keys.appending("\(name).signer")
                )
            }
            try await world.release(world.shop.source(1), to: "out", keys: keys).done()
            try await world.sign("verify", world.path("out").string, "--keys", keys.string).done()
            try write(
                "command: [sh, -c, 'echo no HSM today >&2; exit 7']\npublic: entry.pub\n",
                to: keys.appending("entry.signer")
            )
            let failed = try await world.release(world.shop.source(1), to: "failed", keys: keys)
            #expect(failed.code == 1, "\(failed)")
            #expect(failed.errors.contains("no HSM today\n"), "\(failed)")
            #expect(failed.errors.contains("entry.signer: its command ended with status 7"), "\(failed)")
            #expect(try await run(.system("ls"), [world.path("failed").string]).code != 0)
        }
    }
}

@Suite("The JSPatch forms")
struct JSPatchCommandTests {
    private static func key(in world: World) async throws -> String {
        let made = [
            "key", "new", "jspatch", "--keys", world.path("keys").string, "--unencrypted-keys", "--bits", "2048",
        ]
        try await run(.patchsign, made).done()
        return world.path("keys/jspatch").string
    }

    @Test(arguments: ["md5", "sha1"])
    func `of a file are those of openssl pkeyutl, raw and base64, and verify`(_ digest: String) async throws {
        try await World.with { world in
            let key = try await Self.key(in: world)
            let (file, raw, text) = (world.path("f.js"), world.path("raw").string, world.path("text").string)
            try write("main()\n", to: file)
            let options = ["jspatch", "sign", file.string, "--key", "\(key).key", "--digest", digest]
            try await run(.patchsign, options + ["--output", raw]).done()
            try await run(.patchsign, options + ["--output", text, "--base64"]).done()
            let judge = """
                printf %s $(\(digest)sum f.js | cut -d' ' -f1) > m
                openssl pkeyutl -sign -inkey "$1.key" -in m -out theirs && cmp theirs raw && base64 -w0 theirs > b
                echo >> b; cmp b text
                """
            try await run(.system("sh"), ["-ec", judge, "sh", key], in: world.folder).done()
            let check = ["jspatch", "verify", file.string, "--public", "\(key).pub", "--digest", digest]
            let holds = try await run(.patchsign, check + ["--signature", raw]).done()
            #expect(holds.output.hasPrefix("valid: \(digest) "), "\(holds)")
            try await run(.patchsign, check + ["--signature", text, "--base64"]).done()
            try write("main();\n", to: file)
            let refused = try await run(.patchsign, check + ["--signature", raw])
            #expect(refused.code == 3 && refused.errors.contains("the signature covers "), "\(refused)")
        }
    }

    @Test func `are refused a key that signs for a role`() async throws {
        try await World.with { world in
            let file = world.path("f.js").string
            try write("main()\n", to: world.path("f.js"))
            let key = world.shop.keys.appending("production.key").string
            let refused = try await world.sign("jspatch", "sign", file, "--key", key, "--keys", world.shop.keys.string)
            #expect(refused.code == 3 && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("is also a key of role production; a key has one use"), "\(refused)")
        }
    }

    @Test func `stand in a published list that other readers find whole`() async throws {
        try await World.with { world in
            let key = try await Self.key(in: world)
            let make = ["release", world.shop.source(1).string, "--keys", world.shop.keys.string]
            let out = world.path("out")
            let made = try await run(.patchsign, make + ["--output", out.string, "--jspatch-key", "\(key).key"]).done()
            #expect(made.output.contains("JSPatch signatures: "), "\(made)")
            let data = world.path("data")
            let online = world.shop.keys.appending("online.key").string
            try await run(
                .patchsrv,
                ["init", "--data", data.string, "--trust", world.shop.keys.string, "--online-key", online]
            ).done()
            try await world.publish(out, to: data).done()
            let judged = try await run(
                .python,
                [try Tool.checkTree.string, data.tree.string, world.root.string, "--channel", "production"]
            )
            #expect(judged.code == 0 && judged.output.contains("0 findings"), "\(judged)")
            let list = try read(out.appending("targets/production/patchlist.json"))
            #expect(list.contains("\"jspatch\":{\"keyid\":\""))
        }
    }
}
