import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// To the letter: md5, sha1 and an RSA signature on every entry, verifiable with openssl and coreutils alone, and one
/// flipped bit refuses exactly that entry.
@Suite("The entries of a published tree")
struct EntryTests {
    @Test func `verify with openssl and coreutils alone, every one of them`() async throws {
        try await World.with { world in
            let shell = try await world.entries(of: world.shop.site2)
            #expect(shell.code == 0, "\(shell)")
            #expect(shell.output.hasSuffix("15 good, 0 wrong\n"), "\(shell)")
            let names = [
                "fix 2", "fix 1", "tip 1", "web 2.0.0", "web 1.0.0", "web 2.0.0 app/main.js", "web 1.0.0 index.html",
            ]
            for name in names { #expect(shell.output.contains("ok \(name)\n"), "\(shell)") }
            let judge = try await world.judge(world.shop.site2)
            #expect(judge.code == 0 && judge.output.contains("5 entries, 10 assets"), "\(judge)")
        }
    }

    /// One bit, behind the back of `patchsrv`.
    struct Flip: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Below the published tree; a shell pattern.
        let file: String
        /// Which byte.
        let offset: String
        /// The one line of the shell judge.
        let shell: String
        let judge: String
        let device: String
        /// A manifest is an entry's file, and its rows are entries.
        var wrong = 1
    }

    @Test(arguments: [
        Flip(
            testDescription: "a script",
            file: "objects/*/$(sha256sum $SOURCE2/scripts/fix.js | cut -c1-64)",
            offset: "4",
            shell: "WRONG fix 2: md5 sha1 sha256\n",
            judge: "fix 2: md5 is ",
            device: "failed: fix 2: fix 2: the md5 does not match its entry"
        ),
        Flip(
            testDescription: "an asset",
            file: "objects/*/$(sha256sum $SOURCE2/web/app/main.js | cut -c1-64)",
            offset: "4",
            shell: "WRONG web 2.0.0 app/main.js: md5 sha1 sha256\n",
            judge: "web 2.0.0 app/main.js: md5 is ",
            device: "failed: web 2.0.0: web 2.0.0 app/main.js: the md5 does not match its entry"
        ),
        Flip(
            testDescription: "a digest in a manifest",
            file: "targets/production/web/2.0.0/*.manifest.json",
            offset: "$(grep -bo '\"path\":\"app/main.js\"' $FILE | cut -d: -f1) + 35",
            shell: "WRONG web 2.0.0: md5 sha1 sha256\n",
            judge: "production/web/2.0.0/manifest.json: bytes are not those the role names",
            device: "failed: web 2.0.0: web 2.0.0 manifest: the md5 does not match its entry",
            wrong: 2
        ),
        Flip(
            testDescription: "a signature in a column",
            file: "targets/production/web/2.0.0/*.manifest.sigs",
            offset: "46 + 256 + 9",
            shell: "WRONG web 2.0.0 app/release2.js: signature\n",
            judge: "production/web/2.0.0/manifest.sigs: bytes are not those the role names",
            device: "failed: web 2.0.0: web 2.0.0 manifest.sigs: the sha256 does not match its entry"
        ),
    ])
    func `are refused one by one, by name, when a bit of the tree is flipped`(_ flip: Flip) async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let script = """
                FILE=$(echo \(flip.file)); at=$((\(flip.offset))); chmod u+w $FILE
                # Devices take a compressed form first, which is whole.
                rm -f $FILE.zst $FILE.gz
                # So is what comes by a pack from the version before.
                find packs -name 'from-*' -delete
                byte=$(od -An -tu1 -j $at -N 1 $FILE)
                printf "\\\\x$(printf %02x $((byte ^ 1)))" | dd of=$FILE bs=1 seek=$at conv=notrunc status=none
                """
            try await run(
                .system("bash"),
                ["-ec", script],
                environment: ["SOURCE2": world.shop.source(2).string],
                in: site.tree
            ).done()
            try await expect(flip, of: site, world)
        }
    }

    private func expect(_ flip: Flip, of site: FilePath, _ world: World) async throws {
        let shell = try await world.entries(of: site)
        #expect(shell.code == 1 && shell.output.contains(flip.shell), "\(shell)")
        #expect(shell.output.hasSuffix(" \(flip.wrong) wrong\n"), "\(shell)")
        let judge = try await world.judge(site)
        #expect(judge.code == 1 && judge.output.contains(flip.judge), "\(judge)")
        try await serving(site) { url in
            let device = try await world.settledDevice(server: url)
            let refusal = try await device.sync()
            #expect(refusal.code == 3 && refusal.text.contains(flip.device), "\(refusal)")
            #expect(refusal.errors.components("failed: ") == 1, "\(refusal)")
            try await device.expectWhole(1)
        }
    }

    /// What only a signer can break: the role is signed again over the broken entry, so the entry's own signature decides.
    @Test(arguments: [
        ("list_digest|md5", "WRONG fix 2: md5 signature\n"),
        ("list_digest|sha1", "WRONG fix 2: sha1 signature\n"),
        ("list_signature", "WRONG fix 2: signature\n"),
        ("list_keyid", "WRONG fix 2: signature\n"),
        ("asset_digest|md5", "WRONG web 2.0.0 app/main.js: md5 signature\n"),
        ("asset_signature", "WRONG web 2.0.0 app/main.js: signature\n"),
    ])
    func `are refused by the shell too when the role vouches for the break`(_ edit: String, _ line: String) async throws
    {
        try await World.with { world in
            let shell = try await world.entries(of: try await world.forged(edit))
            #expect(
                shell.code == 1 && shell.output.contains(line) && shell.output.hasSuffix("14 good, 1 wrong\n"),
                "\(shell)"
            )
        }
    }
}

extension World {
    /// Judges/entries.sh over a server's folder.
    func entries(of site: FilePath) async throws -> Outcome {
        try await run(.system("bash"), [Tool.script("entries.sh"), site.tree.string, "production"])
    }
}

extension String {
    /// How often `part` stands in it.
    func components(_ part: String) -> Int {
        ranges(of: part).count
    }
}
