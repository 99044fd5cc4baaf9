import Subprocess
import SystemPackage
import Testing

/// An operator says where the server is once, and does the same from any machine.
@Suite("An operator")
struct OperatorTests {
    private static let channel = ["--channel", "production"]

    @Test func `names the folder once, in the environment or in a file, for every command`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let file = world.path("patchsrv.yaml")
            try write("data: \(site)\noperators-port: 9464\n", to: file)
            let commands = [
                ["status"], ["list"], ["check"], ["refresh"], ["doctor"], ["audit", "list"], ["audit", "verify"],
                ["token", "list"], ["gc", "--dry-run"], ["dial"] + Self.channel, ["parameters", "show"] + Self.channel,
                ["history"] + Self.channel, ["answer", "list"] + Self.channel, ["draft"] + Self.channel,
                ["publish", world.shop.release(1).string],
            ]
            for command in commands {
                for environment: [Environment.Key: String?] in [
                    ["PATCHSRV_DATA": site.string], ["PATCHSRV_CONFIG": file.string],
                ] {
                    let done = try await run(.patchsrv, command, environment: environment)
                    // A doctor finds something on a machine without TLS and free ports.
                    #expect(done.code == 0 || command == ["doctor"] && done.code == 10, "\(done)")
                }
            }
            let named = try await run(.patchsrv, ["list", "--config", file.string])
            #expect(named.code == 0, "\(named)")
            let nearer = try await run(
                .patchsrv,
                ["list", "--data", world.path("nope").string],
                environment: ["PATCHSRV_DATA": site.string]
            )
            #expect(nearer.code == 6, "\(nearer)")
            let nowhere = try await run(.patchsrv, ["dial"] + Self.channel)
            #expect(nowhere.code == 64 && nowhere.errors.contains("--data is needed, or --server"), "\(nowhere)")
            let two = ["dial", "--data", site.string, "--server", "http://127.0.0.1:9"] + Self.channel
            #expect(try await run(.patchsrv, two).code == 64)
            try write("data: \(site)\nsever: x\n", to: file)
            let unknown = try await run(.patchsrv, ["status", "--config", file.string])
            #expect(unknown.code == 4 && unknown.errors.contains("did you mean server?"), "\(unknown)")
        }
    }

    @Test func `turns, tells, chooses and looks over HTTP with the commands that are for a folder`() async throws {
        try await ServiceFixture.with { fixture in
            let token = fixture.world.path("admin.token")
            try write(try await fixture.token("*=admin") + "\n", to: token)
            let here = ["--data", fixture.site.string]
            let there = ["--server", fixture.url, "--token-file", token.string]
            func remote(_ arguments: String...) async throws -> Outcome {
                try await run(.patchsrv, arguments + there).done()
            }
            let paused = try await remote(
                "dial",
                "--channel",
                "production",
                "--pause",
                "web@1.0.0",
                "--reason",
                "checkout errors"
            )
            #expect(paused.output.hasPrefix("dial updated (timestamp 3, until "), "\(paused)")
            let again = try await remote("dial", "--channel", "production", "--pause", "web")
            #expect(again.output.hasPrefix("already set; nothing was changed\n"), "\(again)")
            _ = try await remote("parameters", "set", "--channel", "production", "banner=Sale", "limit=20")
            let unset = try await remote("parameters", "unset", "--channel", "production", "limit")
            #expect(unset.output.contains("banner") && !unset.output.contains("limit"), "\(unset)")
            _ = try await remote("answer", "set", "--channel", "production", "--everyone", "--patch", "web", "--hold")
            _ = try await remote("history", "edit", "1", "--label", "first", "--channel", "production")

            let shown = try await remote("history", "show", "1", "--channel", "production")
            #expect(shown.output.contains("label: first\n"), "\(shown)")
            #expect(shown.output.contains("the first release of the channel in the history\n  + "), "\(shown)")

            let stale = try await run(
                .patchsrv,
                ["dial", "--rollout", "web=10%", "--expect", "1"] + Self.channel + there
            )
            #expect(stale.code == 8, "\(stale)")
            let unlisted = try await run(.patchsrv, ["dial", "--pause", "other"] + Self.channel + there)
            #expect(unlisted.code == 3 && unlisted.errors.contains("production does not list other"), "\(unlisted)")

            for command in [
                ["dial"] + Self.channel, ["parameters", "show"] + Self.channel, ["answer", "list"] + Self.channel,
                ["history"] + Self.channel, ["history", "show", "1"] + Self.channel, ["token", "list"],
                ["audit", "list"], ["audit", "export"],
                ["audit", "verify"],
            ] {
                for json in [[], ["--json"]] where command != ["audit", "export"] || json.isEmpty {
                    let (local, asked) = (
                        try await run(.patchsrv, command + json + here).done(),
                        try await run(.patchsrv, command + json + there).done()
                    )
                    #expect(Self.lines(of: local) == Self.lines(of: asked), "\(local)\n\(asked)")
                }
            }
            let log = try await remote("audit", "list")
            for words in [
                "web 1.0.0: 100% → paused at 100% (checkout errors)", "banner: nothing → Sale; limit: nothing → 20",
                "everyone web: nothing → hold", "label: nothing → first", "nothing → 1", "a test (*=admin)",
            ] {
                #expect(log.output.contains(words), "\(words): \(log)")
            }
            _ = try await remote("answer", "remove", "--channel", "production", "--everyone", "--patch", "web")

            try write(try await fixture.token("*=viewer"), to: token)
            let refused = try await run(.patchsrv, ["dial", "--resume", "web"] + Self.channel + there)
            #expect(refused.code == 3 && refused.errors.contains("this needs the role operator"), "\(refused)")
            #expect(refused.errors.contains("`patchsrv token new NAME --grant "), "\(refused)")
            #expect(try await remote("token", "list").output == "no token of an app that yours is admin of\n")
        }
    }

    /// A service writes the members of an object in another order.
    private static func lines(of outcome: Outcome) -> [String] {
        let lines = outcome.output.split(separator: "\n").map { String($0.hasSuffix(",") ? $0.dropLast() : $0) }
        return lines.first == "{" ? lines.sorted() : lines
    }

    @Test func `sees when a token was last used, and is warned of a grant for an app that is not there`() async throws {
        try await ServiceFixture.with { fixture in
            let here = ["--data", fixture.site.string]
            let typo = try await run(
                .patchsrv,
                ["token", "new", "CI", "--grant", "com.example.pipelines=publisher", "--json"] + here
            ).done()
            #expect(typo.errors.contains("warning: there is no app com.example.pipelines here"), "\(typo)")
            let secret = try #require(typo.output.firstMatch(of: #/"secret": "(plt_\w+)"/#))
            #expect(typo.output.contains(#""text": "\#(secret.1)""#), "\(typo)")
            let used = try await fixture.token("*=viewer")
            let before = try await run(.patchsrv, ["token", "list"] + here).done()
            #expect(before.output.split(separator: " never").count == 3, "\(before)")
            #expect(try await fixture.ask("GET", "/apps", token: used).0 == 200)
            let after = try await run(.patchsrv, ["token", "list", "--json"] + here).done()
            #expect(after.output.split(separator: "\"lastUsed\"").count == 2, "\(after)")
            let unknown = try await run(.patchsrv, ["token", "revoke", "zzz"] + here)
            #expect(unknown.code == 3 && unknown.errors.contains("there is no token zzz"), "\(unknown)")
        }
    }

    @Test func `is told by check of an audit log that somebody edited`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let whole = try await run(.patchsrv, ["check", "--data", site.string]).done()
            #expect(whole.output.contains("audit log: 2 entries, whole"), "\(whole)")
            let edit = """
                import sqlite3, sys
                records = sqlite3.connect(sys.argv[1])
                records.execute("UPDATE record SET value = replace(value, '\\"name\\":', '\\"nane\\":') "
                    "WHERE collection = 'audit'")
                records.commit()
                """
            try await run(.python, ["-c", edit, site.appending("records.sqlite").string]).done()
            let edited = try await run(.patchsrv, ["check", "--data", site.string])
            #expect(edited.code == 3 && edited.output.contains("✗ audit log: entry 1 was edited"), "\(edited)")
            let json = try await run(.patchsrv, ["check", "--json", "--data", site.string])
            #expect(json.code == 3 && json.output.contains(#""whole": false"#), "\(json)")
        }
    }

    @Test func `who publishes is told which version the dial still holds back`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await run(.patchsrv, ["dial", "--rollout", "web=10%", "--data", site.string] + Self.channel).done()
            let renewed = world.path("renewed")
            try await world.sign(
                "release",
                "renew",
                world.shop.release(1).string,
                "--keys",
                world.shop.keys.string,
                "--output",
                renewed.string
            ).done()
            let published = try await world.publish(renewed, to: site).done()
            #expect(published.output.contains("the dial holds web 1.0.0 at 10%; 100% are signed"), "\(published)")
            let shown = try await run(.patchsrv, ["history", "show", "2", "--data", site.string] + Self.channel).done()
            #expect(shown.output.contains("difference to release 1:\n  the same versions and shares\n"), "\(shown)")
        }
    }

    @Test func `is told in one document, and in plain words, what is wrong with a folder or an address`() async throws {
        try await World.with { world in
            let nope = try await run(.patchsrv, ["status", "--data", world.path("nope").string, "--json"])
            #expect(nope.code == 6 && nope.output.hasPrefix(#"{"error":"#), "\(nope)")
            #expect(!nope.output.contains("empty"), "\(nope)")
            let serve = ["serve", "--data", world.shop.site1.string, "--host", "300.1.1.1"] + anyPorts
            let host = try await run(.patchsrv, serve)
            #expect(host.code == 5 && host.errors.contains("cannot listen on port 0 of 300.1.1.1: "), "\(host)")
            #expect(!host.errors.contains("SocketAddressError"), "\(host)")
            let data = world.path("data")
            let refused = try await run(
                .patchsrv,
                [
                    "init", "--data", data.string, "--trust", world.shop.keys.string, "--online-key",
                    world.shop.otherKeys.appending("online.key").string,
                ]
            )
            #expect(refused.code == 3, "\(refused)")
            #expect(try await run(.system("ls"), [data.string]).code != 0)
        }
    }
}
