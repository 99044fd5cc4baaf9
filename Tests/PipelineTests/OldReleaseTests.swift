import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// What the thief of a server and of its online key can show release engineers.
@Suite("A server that shows an old release")
struct OldReleaseTests {
    /// `pull` with a memory of its own.
    private func pull(
        _ world: World,
        _ folder: String,
        _ url: String,
        _ token: FilePath,
        _ options: [String] = [],
        state: String = "state"
    ) async throws -> Outcome {
        try await run(
            .patchsign,
            [
                "pull", "--server", url, "--token-file", token.string, "--channel", "production", "--keys",
                world.shop.keys.string, "--output", world.path(folder).string,
            ] + options,
            environment: ["XDG_STATE_HOME": world.path(state).string]
        )
    }

    @Test func `is found out by those who saw a newer one, until they say that it was restored`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let token = try await world.token(for: site)
            let old = try await world.site(world.shop.site1, as: "old")
            // With the online key alone he signs as many timestamps as he likes.
            for _ in 0..<6 { try await run(.patchsrv, ["refresh", "--data", old.string]).done() }
            try await serving(site) { _, url in
                try await pull(world, "one", url, token).done()
                let file = world.path("state/patchline/\(Workshop.app).json")
                let seen = try read(file)
                #expect(seen.contains("patchline-seen-v1"))
                let swap = "rm -r \"$2/tree\" && cp -a \"$1/tree\" \"$2/tree\""
                try await run(.system("sh"), ["-c", swap, "sh", old.string, site.string]).done()

                let refused = try await pull(world, "two", url, token)
                #expect(refused.code == 3, "\(refused)")
                #expect(
                    refused.errors
                        == "error: the server's published metadata does not verify: production: version 1 is older than version 2, "
                        + "which is already trusted\nhint: devices refuse it too; the online key may be stolen. If the server "
                        + "was restored from a backup, --server-restored accepts its present state\n"
                )
                #expect(!FileManager.default.fileExists(atPath: world.path("two").string))
                #expect(try read(file) == seen)
                // Who never saw the newer one is taken in, as a new device is.
                try await pull(world, "new", url, token, state: "other").done()

                try await pull(world, "three", url, token, ["--server-restored"]).done()
                try await pull(world, "four", url, token).done()
            }
        }
    }

    @Test func `is remembered by nobody where nothing can be written, which is said, and a damaged memory counts`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            try await serving(site) { _, url in
                let reported = "warning: the state of \(url) is not remembered, so an older state will not be noticed: "
                for (folder, environment) in [
                    ("a", ["XDG_STATE_HOME": "/proc/patchline"]), ("b", ["XDG_STATE_HOME": "relative", "HOME": nil]),
                ] as [(String, [Environment.Key: String?])] {
                    let done = try await run(
                        .patchsign,
                        [
                            "pull", "--server", url, "--token-file", token.string, "--channel", "production", "--keys",
                            world.shop.keys.string, "--output", world.path(folder).string,
                        ],
                        environment: environment
                    )
                    #expect(done.code == 0 && done.errors.hasPrefix(reported), "\(done)")
                    let without = "neither XDG_STATE_HOME nor HOME names a folder\n"
                    #expect(done.errors.contains(without) == (folder == "b"), "\(done)")
                }
                let file = world.path("state/patchline/\(Workshop.app).json")
                try FileManager.default.createDirectory(
                    atPath: file.removingLastComponent().string,
                    withIntermediateDirectories: true
                )
                try FileManager.default.createDirectory(atPath: file.string, withIntermediateDirectories: false)
                let unreadable = try await pull(world, "c", url, token)
                #expect(unreadable.code == 6, "\(unreadable)")
                #expect(unreadable.errors.hasSuffix("hint: XDG_STATE_HOME names another folder\n"), "\(unreadable)")
                try FileManager.default.removeItem(atPath: file.string)
                try write("{", to: file)
                let damaged = try await pull(world, "c", url, token)
                #expect(damaged.code == 4 && damaged.errors.contains("\(file) is damaged: "), "\(damaged)")
                let hint =
                    "hint: it contains the last known state of \(url); --server-restored replaces it with the present state"
                #expect(damaged.errors.contains(hint), "\(damaged)")
                #expect(!FileManager.default.fileExists(atPath: world.path("c").string))
                try await pull(world, "d", url, token, ["--server-restored"]).done()
            }
        }
    }
}

@Suite("A release that has expired")
struct ExpiredReleaseTests {
    @Test func `is not signed without a word, and one about to expire is told`() async throws {
        try await World.with { world in
            func make(_ name: String, _ options: [String]) async throws -> Outcome {
                try await run(
                    .patchsign,
                    [
                        "release", world.shop.source(1).string, "--keys", world.shop.keys.string, "--output",
                        world.path(name).string,
                    ] + options
                )
            }
            let old = try await make("old", ["--at", "2026-01-01T00:00:00Z"])
            #expect(old.code == 3, "\(old)")
            #expect(old.errors.contains("error: production expired at 2026-04-01T00:00:00Z, and it is past "), "\(old)")
            let allowance = "--allow-expired signs it all the same, to make an old release again"
            #expect(old.errors.contains(allowance), "\(old)")
            #expect(!FileManager.default.fileExists(atPath: world.path("old").string))
            try await make("old", ["--at", "2026-01-01T00:00:00Z", "--allow-expired"]).done()

            // A server takes it neither, and another holder's signature comes too late.
            let empty = world.path("empty")
            try await world.makeSite(empty, keys: world.shop.keys)
            let late = try await world.publish(world.path("old"), to: empty)
            #expect(late.code == 3 && late.errors.contains("expired at 2026-04-01T00:00:00Z"), "\(late)")
            let hint = "hint: nothing was published; `patchsign release renew` makes it again"
            #expect(late.errors.contains(hint), "\(late)")
            let signed = try await world.sign(
                "release",
                "sign",
                world.path("old").string,
                "--keys",
                world.shop.keys.string,
                "--key",
                "\(world.shop.keys)/production.key",
                "--yes"
            )
            #expect(signed.code == 3 && signed.errors.contains("no device installs the release"), "\(signed)")

            let soon = try await make("soon", ["--expires", "2d"])
            #expect(soon.code == 0, "\(soon)")
            #expect(soon.errors.contains("warning: production expires soon, at "), "\(soon)")
            let published = try await world.publish(world.path("soon"), to: empty)
            let warning = "warning: production expires soon, at "
            #expect(published.code == 0 && published.errors.contains(warning), "\(published)")
            let longer = try await make("longer", ["--expires", "3650d"])
            #expect(longer.errors.contains("warning: targets expires at "), "\(longer)")
            #expect(longer.errors.contains("devices take nothing after that; `patchsign root draft`"), "\(longer)")
        }
    }
}
