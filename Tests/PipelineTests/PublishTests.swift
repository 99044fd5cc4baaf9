import Subprocess
import SystemPackage
import Testing

/// What `patchsrv publish` refuses, with the published tree unchanged.
@Suite("A release that is published")
struct PublishTests {
    @Test(arguments: [
        (
            "objects/*/$(sha256sum $SOURCE/scripts/fix.js | cut -c1-64)", Int32(3),
            "fix 2: the md5 does not match its entry"
        ),
        (
            "objects/*/$(sha256sum $SOURCE/web/app/main.js | cut -c1-64)", 3,
            "web 2.0.0 app/main.js: the md5 does not match its entry"
        ),
        ("targets/production/patchlist.json", 3, "production/patchlist.json: its sha256 is not the signed one"),
        (
            "targets/production/web/2.0.0/manifest.json", 3,
            "production/web/2.0.0/manifest.json: its sha256 is not the signed one"
        ),
        (
            "targets/production/web/2.0.0/manifest.sigs", 3,
            "production/web/2.0.0/manifest.sigs: its sha256 is not the signed one"
        ),
    ])
    func `is refused by name when a bit of it is flipped`(_ file: String, _ code: Int32, _ error: String) async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let release = world.path("release")
            try await copy(world.shop.release(2), to: release)
            let flip = """
                FILE=$(echo \(file)); chmod u+w $FILE; byte=$(od -An -tu1 -j 9 -N 1 $FILE)
                printf "\\\\x$(printf %02x $((byte ^ 1)))" | dd of=$FILE bs=1 seek=9 conv=notrunc status=none
                """
            try await run(
                .system("bash"),
                ["-ec", flip],
                environment: ["SOURCE": world.shop.source(2).string],
                in: release
            ).done()
            let before = try await StoreDigest(of: site)
            let refused = try await world.publish(release, to: site)
            #expect(refused.code == code && refused.errors.contains(error), "\(refused)")
            #expect(try await StoreDigest(of: site) == before)
            let offline = try await world.sign("verify", release.string, "--keys", world.shop.keys.string)
            #expect(offline.code == code && offline.text.contains(error), "\(offline)")
        }
    }

    @Test func `must be signed by the keys of this server's root of trust`() async throws {
        try await World.with { world in
            try await world.release(world.shop.source(1), to: "foreign", keys: world.shop.otherKeys).done()
            // It is a first release, so it fits a server without any.
            try await run(
                .patchsrv,
                [
                    "init", "--data", world.path("empty").string, "--trust", world.shop.keys.string,
                    "--online-key", world.shop.keys.appending("online.key").string,
                ]
            ).done()
            let before = try await StoreDigest(of: world.path("empty"))
            let refused = try await world.publish(world.path("foreign"), to: world.path("empty"))
            #expect(
                refused.code == 3 && refused.errors.contains("production: 0 valid signatures of 1 needed"),
                "\(refused)"
            )
            #expect(try await StoreDigest(of: world.path("empty")) == before)
            let offline = try await world.sign("verify", world.path("foreign").string, "--keys", world.shop.keys.string)
            #expect(offline.code == 3, "\(offline)")
        }
    }

    @Test func `needs the online key, and changes nothing without it`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let key = site.appending("apps").appending(Workshop.app).appending("online.key")
            let before = try await StoreDigest(of: site)
            let publish = ["publish", world.shop.release(2).string, "--data", site.string]
            try await run(.system("mv"), [key.string, world.path("kept.key").string]).done()
            let missing = try await run(.patchsrv, publish)
            #expect(missing.code == 6 && missing.errors.contains("online.key: it does not exist"), "\(missing)")
            try await run(.system("cp"), [world.shop.otherKeys.appending("online.key").string, key.string]).done()
            let other = try await run(.patchsrv, publish)
            #expect(other.code == 3 && other.errors.contains("this key is not the online key"), "\(other)")
            try write("nothing like a key\n", to: key)
            let damaged = try await run(.patchsrv, publish)
            #expect(damaged.code == 4 && damaged.errors.contains("online.key is not a PEM key"), "\(damaged)")
            try await run(.system("mv"), [world.path("kept.key").string, key.string]).done()
            #expect(try await StoreDigest(of: site) == before)
            try await world.publish(world.shop.release(2), to: site).done()
        }
    }

    @Test func `cannot bring a label back with other bytes, however it was signed`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            try await world.publish(world.shop.release(3), to: site).done()
            try await copy(world.shop.source(3), to: world.path("source"))
            try write("// other bytes\n", to: world.path("source/scripts/fix.js"))
            let description = world.path("source/release.yaml")
            try write(try read(description).replacing(#"version: "3""#, with: #"version: "1""#), to: description)
            // patchsign sees the base alone, which does not list it any more.
            try await world.release(world.path("source"), to: "again", previous: world.shop.release(3)).done()
            let before = try await StoreDigest(of: site)
            let refused = try await world.publish(world.path("again"), to: site)
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.errors.contains("fix 1: this label is already known with other bytes"), "\(refused)")
            #expect(try await StoreDigest(of: site) == before)
        }
    }

    @Test func `cannot bring a withdrawn label back with other bytes either, which patchsign itself refuses`()
        async throws
    {
        try await World.with { world in
            try await world.sign(
                "withdraw",
                "fix",
                "--previous",
                world.shop.release(1).string,
                "--keys",
                world.shop.keys.string,
                "--output",
                world.path("without").string
            ).done()
            try await copy(world.shop.source(1), to: world.path("source"))
            try write("// other bytes\n", to: world.path("source/scripts/fix.js"))
            let refused = try await world.release(world.path("source"), to: "again", previous: world.path("without"))
            let sentence = "error: fix 1 is published already with other content (it was withdrawn in list 2)\n"
            #expect(refused.code == 3 && refused.errors.contains(sentence), "\(refused)")
        }
    }

    @Test func `by the second of two pipelines from one base is a conflict`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await world.release(world.shop.source(3), to: "second", previous: world.shop.release(1)).done()
            try await world.publish(world.shop.release(2), to: site).done()
            let before = try await StoreDigest(of: site)
            let refused = try await world.publish(world.path("second"), to: site)
            #expect(refused.code == 8 && refused.errors.contains("production: based on 1, current is 2"), "\(refused)")
            #expect(try await StoreDigest(of: site) == before)
            let again = try await world.publish(world.shop.release(2), to: site)
            #expect(again.code == 0, "what is published already may be published again: \(again)")
        }
    }

    /// Of release 1, with one signature of two; it is shown, given up, and handed in again.
    private func expectDraft(in site: FilePath) async throws {
        func draft(_ verb: String...) async throws -> Outcome {
            try await run(.patchsrv, ["draft"] + verb + ["--channel", "production", "--data", site.string])
        }
        let listed = try await draft("list").done()
        #expect(listed.output.contains(#/production +1 +1 of 2 +[0-9a-f]{12}/#), "\(listed)")
        let shown = try await draft("show", "1").done()
        #expect(
            shown.output.hasPrefix(
                "\(Workshop.app) production 1, a draft\nmade as the first release\n1 of 2 signatures, by "
            ),
            "\(shown)"
        )
        #expect(shown.output.contains("\n  + web 1.0.0 is new, for 100%\nnext: patchsign pull "), "\(shown)")
        let json = try await draft("show", "1", "--json").done().json()
        #expect(json["signatures"] as? Int == 1 && (json["signers"] as? [String])?.first?.count == 64, "\(json)")
        #expect(json["current"] as? Bool == true && (json["difference"] as? [String])?.count == 3, "\(json)")

        let role = site.appending("drafts/\(Workshop.app)/production/1/role.json")
        try write("{", to: role)
        let damaged = try await draft("list").done()
        #expect(damaged.output.contains(#/production +1 +0 of 2 +- +cannot be read/#), "\(damaged)")
        #expect(try await draft("show", "1").code == 4)
        let gone = try await draft("remove", "1").done()
        #expect(gone.output == "removed the draft production 1\n", "\(gone)")
        for verb in ["show", "remove"] {
            let none = try await draft(verb, "1")
            #expect(none.code == 3 && none.errors.contains("error: production has no draft 1\nhint: "), "\(none)")
        }
        let audit = try await run(.patchsrv, ["audit", "list", "--data", site.string]).done()
        #expect(audit.output.contains(#/draft\.remove +com\.example\.pipeline +production/#), "\(audit)")
        let unknown = try await run(.patchsrv, ["draft", "--channel", "nosuch", "--data", site.string, "--json"])
        #expect(unknown.code == 3 && unknown.errors.contains("\(Workshop.app) has no channel nosuch"), "\(unknown)")
    }

    @Test func `by one of two key holders is a draft, and another draft of its version is a conflict`() async throws {
        try await World.with { world in
            let keys = world.path("keys")
            try await world.makeTeamKeys(keys)
            let site = world.path("site")
            try await world.makeSite(site, keys: keys)
            for (holder, number) in [("alice", 1), ("bob", 2)] {
                try await world.sign(
                    "release",
                    world.shop.source(number).string,
                    "--keys",
                    keys.string,
                    "--output",
                    world.path(holder).string,
                    "--key",
                    keys.appending("production-\(holder).key").string
                ).done()
            }
            let draft = try await world.publish(world.path("alice"), to: site)
            #expect(draft.code == 0 && draft.output.contains("1 of 2"), "\(draft)")
            let before = try await StoreDigest(of: site)
            let refused = try await world.publish(world.path("bob"), to: site)
            #expect(refused.code == 8, "\(refused)")
            #expect(
                refused.errors.contains("production: version 1 is drafted already with other content"),
                "\(refused)"
            )
            #expect(try await StoreDigest(of: site) == before)
            let served = try await world.judge(site, root: keys.appending("root.json"))
            #expect(!served.output.contains("entries; "), "a draft is never served: \(served)")
            try await expectDraft(in: site)
            try await world.publish(world.path("alice"), to: site).done()
            try await world.sign(
                "release",
                "sign",
                world.path("alice").string,
                "--keys",
                keys.string,
                "--yes",
                "--key",
                keys.appending("production-bob.key").string
            ).done()
            let complete = try await world.publish(world.path("alice"), to: site)
            #expect(complete.code == 0 && complete.output.contains("published production 1"), "\(complete)")
            let judge = try await world.judge(site, root: keys.appending("root.json"))
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
        }
    }
}
