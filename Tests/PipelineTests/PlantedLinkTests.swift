import FoundationEssentials
import Glibc
import SystemPackage
import Testing

/// Somebody who may write where a command makes something puts a symbolic link in its way, to a folder of others' files.
@Suite("A symbolic link that another user planted")
struct PlantedLinkTests {
    private static let planted = "a symbolic link that another user made, so it is not followed"

    private struct Attack {
        let program: Tool
        let arguments: [String]
        /// Below the world's folder, and where it leads to from there.
        let link: String
        let target: String
        /// 0 where the link is taken away and the command goes on.
        var code: Int32 = 0
        var expected = ""

        /// Whether the command line names the link itself.
        var isNamed: Bool { arguments.contains(link) }
    }

    /// Tries one attack after the other, and looks each time at what the links lead to.
    private func attempt(_ attacks: [Attack], in world: World) async throws {
        let victim = world.path("victim")
        try write("mine", to: victim.appending("thesis.txt"))
        for attack in attacks {
            let link = world.path(attack.link)
            try FileManager.default.createDirectory(
                atPath: link.removingLastComponent().string,
                withIntermediateDirectories: true
            )
            try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: attack.target)
            // A link of root or of the folder's owner is theirs, and is followed where they name it.
            if getuid() == 0 { unsafe lchown(link.string, 65_534, 65_534) } else if attack.isNamed { continue }
            let outcome = try await run(attack.program, attack.arguments, in: world.folder)
            #expect(outcome.code == attack.code && outcome.text.contains(attack.expected), "\(attack.link): \(outcome)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: victim.string) == ["thesis.txt"], "\(attack)")
            #expect(try read(victim.appending("thesis.txt")) == "mine", "\(attack)")
            if attack.code != 0 {
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.string) == attack.target)
                try FileManager.default.removeItem(atPath: link.string)
            }
        }
    }

    @Test func `is followed by no command that makes keys`() async throws {
        try await World.with { world in
            let kind = ["--unencrypted-keys", "--bits", "2048"]
            let make = ["init", "--app", Workshop.app, "--keys", "keys"] + kind
            try await copy(world.shop.keys, to: world.path("team"))
            try await attempt(
                [
                    Attack(
                        program: .patchsign,
                        arguments: make,
                        link: "keys",
                        target: "victim",
                        code: 6,
                        expected: "/keys is \(Self.planted)"
                    ),
                    Attack(
                        program: .patchsign,
                        arguments: make,
                        link: "keys/online.key",
                        target: "../victim/new",
                        code: 8,
                        expected: "keys/online.key exists already"
                    ),
                    Attack(
                        program: .patchsign,
                        arguments: ["key", "new", "a", "--keys", "keys"] + kind,
                        link: "keys/.a.key.new",
                        target: "../victim/new"
                    ),
                    Attack(
                        program: .patchsign,
                        arguments: ["rotate", "entry", "--keys", "team"] + kind,
                        link: "team/retired",
                        target: "../victim",
                        code: 6,
                        expected: getuid() == 0
                            ? "team/retired is \(Self.planted)" : "team/retired: it is not in or not a directory"
                    ),
                ],
                in: world
            )
            // Nothing is lost: the same call makes the change once the link is gone.
            try await run(.patchsign, ["rotate", "entry", "--keys", "team"] + kind, in: world.folder).done()
            #expect(try FileManager.default.contentsOfDirectory(atPath: world.path("team/retired").string).count == 2)
        }
    }

    @Test func `is followed by no command that makes a folder or a copy`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let release = ["release", world.shop.source(1).string, "--keys", world.shop.keys.string, "--output", "out"]
            let embed = ["embed", world.shop.release(2).string, "--keys", world.shop.keys.string, "--output", "app"]
            let backup = ["backup", "copy", "--data", site.string]
            var attacks = [
                Attack(
                    program: .patchsign,
                    arguments: release,
                    link: "out",
                    target: "victim",
                    code: 8,
                    expected: "out exists already"
                ),
                Attack(program: .patchsign, arguments: release, link: ".out.new", target: "victim"),
                Attack(
                    program: .patchsign,
                    arguments: embed + ["--force"],
                    link: "app",
                    target: "victim",
                    code: 8,
                    expected: "app exists already"
                ),
                Attack(program: .patchsign, arguments: embed, link: ".app.new", target: "victim"),
                Attack(
                    program: .patchsrv,
                    arguments: backup,
                    link: "copy",
                    target: "victim/new",
                    code: 8,
                    expected: "copy exists already"
                ),
            ]
            for (number, name) in ["part", "part-journal", "part-wal", "part-shm"].enumerated() {
                attacks.append(
                    Attack(
                        program: .patchsrv,
                        arguments: ["backup", "copy\(number)", "--data", site.string],
                        link: "copy\(number).\(name)",
                        target: "victim/new"
                    )
                )
            }
            try await attempt(attacks, in: world)
            let token = try await world.token(for: site, role: "viewer")
            try await serving(site) { _, url in
                let pull = [
                    "pull", "--server", url, "--token-file", token.string, "--channel", "production", "--keys",
                    world.shop.keys.string, "--output", "pulled",
                ]
                try await attempt(
                    [
                        Attack(
                            program: .patchsign,
                            arguments: pull + ["--force"],
                            link: "pulled",
                            target: "victim",
                            code: 8,
                            expected: "pulled"
                        ),
                        Attack(program: .patchsign, arguments: pull, link: ".pulled.new", target: "victim"),
                    ],
                    in: world
                )
            }
        }
    }
}
