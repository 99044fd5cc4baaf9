import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// What `patchsign` refuses to make a release of; nothing stands at its output then.
@Suite("A folder that is to become a release")
struct ReleaseInputTests {
    @Test(arguments: [
        (
            "ln -s /etc/passwd web/app/secret", 4,
            "web/app/secret is a symbolic link; a release contains only files and folders"
        ),
        ("ln -s ../scripts web/scripts", 4, "web/scripts is a symbolic link"),
        ("rm scripts/fix.js; ln -s tip.js scripts/fix.js", 4, "scripts/fix.js is a symbolic link"),
        ("mkfifo web/app/pipe", 4, "web/app/pipe is neither a file nor a folder"),
        (#"touch "web/app/a\\b""#, 4, "its path in the bundle has a backslash"),
        (#"touch web/app/$'esc\x1b[2J'"#, 4, "its path in the bundle has a control character"),
        (#"touch web/app/$'nel\xc2\x85'"#, 4, "its path in the bundle has a control character"),
        (#"touch web/app/$'a\xcc\x8a'"#, 4, "its path in the bundle is not in Unicode normal form C"),
        (#"touch web/app/$'\xff'"#, 4, "contains a name that is not UTF-8"),
        ("touch web/app/MAIN.js", 4, "app/main.js equals app/MAIN.js after case folding"),
        ("mkdir web/__patchline; touch web/__patchline/confirm", 4, "paths below __patchline/ belong to the device"),
        ("rm web/index.html", 4, "index"),
        ("rm -r web", 4, "web does not exist"),
        ("rm scripts/fix.js", 4, "scripts/fix.js does not exist"),
        ("mv release.yaml release.yml", 6, "hint: there is release.yml: call it release.yaml"),
        (
            "sed -i 's,^channel: .*,channel: staging,' release.yaml", 4,
            "has no channel staging; it has beta, production"
        ),
        ("sed -i 's,kind,kin,; s,^app,ap,' release.yaml", 4, "hint: also "),
        (#"printf '\xff' > scripts/fix.js"#, 4, "is not UTF-8; a script is text"),
        ("sed -i 's,scripts/fix.js,../fix.js,' release.yaml", 4, "patches[0].file"),
        ("sed -i 's,scripts/fix.js,/etc/passwd,' release.yaml", 4, "patches[0].file"),
        ("sed -i 's,index: index.html,index: ../index.html,' release.yaml", 4, "patches[2].index"),
        ("sed -i 's,^app: .*,app: a/b,' release.yaml", 4, "release.yaml:1: app "),
        ("echo 'sped: 1' >> release.yaml", 4, "sped"),
        ("rm release.yaml", 6, "release.yaml: it does not exist"),
    ])
    func `is refused by name when a path, link or field is not allowed`(_ alter: String, _ code: Int32, _ error: String)
        async throws
    {
        try await World.with { world in
            let source = world.path("source")
            try await copy(world.shop.source(1), to: source)
            try await run(.system("bash"), ["-ec", alter], in: source).done()
            let refused = try await world.release(source, to: "out")
            #expect(refused.code == code && refused.errors.contains(error), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: world.path("out").string))
        }
    }

    @Test func `needs its keys to be there and to be readable`() async throws {
        try await World.with { world in
            try await copy(world.shop.keys, to: world.path("keys"))
            let key = world.path("keys/production.key")
            let arguments = [
                "release", world.shop.source(1).string, "--keys", world.path("keys").string, "--output",
                world.path("out").string,
            ]
            try await run(.system("chmod"), ["000", key.string]).done()
            // A superuser reads whatever it likes unless this capability is taken away.
            let isRoot = try await run(.system("id"), ["-u"]).output == "0\n"
            let withoutPrivilege = ["--bounding-set", "-dac_override,-dac_read_search"]
            let patchsign = Tool.binaries.appending("patchsign").string
            let unreadable =
                isRoot
                ? try await run(.system("setpriv"), withoutPrivilege + [patchsign] + arguments)
                : try await run(.patchsign, arguments)
            #expect(
                unreadable.code == 6 && unreadable.errors.contains("production.key: permission denied"),
                "\(unreadable)"
            )
            try await run(.system("rm"), ["-f", key.string]).done()
            let missing = try await run(.patchsign, arguments)
            #expect(missing.code == 6 && missing.errors.contains("there is no production.key in"), "\(missing)")
            try write("nothing like a key\n", to: key)
            let damaged = try await run(.patchsign, arguments)
            #expect(damaged.code == 4 && damaged.errors.contains("production.key is not a PEM key"), "\(damaged)")
            try await run(.system("cp"), [world.shop.otherKeys.appending("production.key").string, key.string]).done()
            try await run(.system("chmod"), ["600", key.string]).done()
            let foreign = try await run(.patchsign, arguments)
            #expect(foreign.code == 3 && foreign.errors.contains("may not sign for role production"), "\(foreign)")
            #expect(!FileManager.default.fileExists(atPath: world.path("out").string))
        }
    }

    @Test func `cannot publish a label again with other bytes`() async throws {
        try await World.with { world in
            let source = world.path("source")
            try await copy(world.shop.source(1), to: source)
            try write("// other bytes\n", to: source.appending("scripts").appending("fix.js"))
            let refused = try await world.release(source, to: "out", previous: world.shop.release(1))
            #expect(
                refused.code == 3 && refused.errors.contains("fix 1 is published already with other content"),
                "\(refused)"
            )
            #expect(!FileManager.default.fileExists(atPath: world.path("out").string))
        }
    }
}
