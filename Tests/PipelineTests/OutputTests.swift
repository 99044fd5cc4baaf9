import FoundationEssentials
import SystemPackage
import Testing

/// What `--output` and `--force` of `patchsign` may touch.
@Suite("A folder that is named as output")
struct OutputTests {
    /// Each with what it is told: the source, the keys, somebody's photos, the folders around them, the base.
    private static let forced: [(output: String, expected: String)] = [
        ("source", "is, contains or is inside the source folder"),
        ("source/web", "is, contains or is inside the source folder"),
        ("keys", "is, contains or is inside the folder of --keys"),
        ("base", "is, contains or is inside the release that"),
        (".", "is, contains or is inside the source folder"), ("photos", "has no release.json of a release"),
        ("link", "is, contains or is inside the folder of --keys"),
        ("next", "contains thesis.txt, which patchsign did not write"),
    ]

    @Test(arguments: forced.indices)
    func `is never replaced by force where patchsign did not make it`(_ index: Int) async throws {
        try await World.with { world in
            let (output, expected) = Self.forced[index]
            try await copy(world.shop.source(2), to: world.path("source"))
            try await copy(world.shop.keys, to: world.path("keys"))
            try await copy(world.shop.release(1), to: world.path("base"))
            try await copy(world.shop.release(2), to: world.path("next"))
            try write("mine", to: world.path("photos/a.jpg"))
            try write("mine", to: world.path("next/thesis.txt"))
            try await run(.system("ln"), ["-s", "keys", world.path("link").string]).done()
            func everything() async throws -> String {
                let all = try await run(
                    .system("sh"),
                    ["-c", "find . -exec stat -c '%n %i %s' {} + | sort"],
                    in: world.folder
                )
                return all.output
            }
            let before = try await everything()
            let arguments = [
                "release", "source", "--keys", "keys", "--previous", "base", "--output", output, "--force",
            ]
            let refused = try await run(.patchsign, arguments, in: world.folder)
            #expect(refused.code == 8 && refused.errors.contains(expected), "\(refused)")
            #expect(try await everything() == before)
        }
    }

    @Test func `is replaced by force where it is a release that patchsign made`() async throws {
        try await World.with { world in
            try await copy(world.shop.release(1), to: world.path("out"))
            let release = [
                "release", world.shop.source(2).string, "--keys", world.shop.keys.string, "--previous",
                world.shop.release(1).string, "--output", world.path("out").string, "--force",
            ]
            try await run(.patchsign, release).done()
            #expect(try await run(.patchsign, ["inspect", world.path("out").string]).output.contains("2.0.0"))
        }
    }
}

@Suite("The same folder and version on a second channel")
struct SecondChannelTests {
    @Test func `is the same manifest, and is published there a minute later`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let source = world.path("source")
            try await copy(world.shop.source(1), to: source)
            try await run(.system("sed"), ["-i", "s/^channel: .*/channel: beta/", "release.yaml"], in: source).done()
            // A clock that is a minute ahead stands for the person who takes a minute.
            let release = [
                "-f", "+1m", Tool.binaries.appending("patchsign").string, "release", source.string, "--keys",
                world.shop.keys.string, "--output", world.path("beta").string,
            ]
            try await run(.system("faketime"), release).done()
            let published = try await run(.patchsrv, ["publish", world.path("beta").string, "--data", site.string])
            #expect(published.code == 0, "\(published)")
        }
    }
}
