import Foundation
import Subprocess
import SystemPackage
import Testing

/// `patchsign release --server`: no folder of an earlier release is kept anywhere.
@Suite("A release that is made from what a server publishes")
struct PublishedBaseTests {
    @Test func `is the next one after a promotion, a rollback or a withdrawal by others`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let token = try await world.token(for: site)
            try await serving(site) { _, url in
                let at = ["--server", url, "--token-file", token.string]
                let keys = ["--keys", world.shop.keys.string]
                try await run(
                    .patchsign,
                    ["rollback", "--to", "1", "--channel", "production", "--push", "--yes"] + keys + at
                ).done()
                let made = try await Self.release(3, "three", in: world, at)
                #expect(made.code == 0, "\(made)")
                #expect(made.errors.contains("made from release 3 of production, which \(url) publishes\n"), "\(made)")
                #expect(
                    made.output.contains("~ web goes from 1.0.0") && made.output.contains("= tip 1 stays"),
                    "\(made)"
                )
                let pushed = try await world.push(world.path("three"), to: url, token: token).json()
                #expect(pushed["outcome"] as? String == "published" && pushed["roleVersion"] as? Int == 4, "\(pushed)")
                let checked = try await run(
                    .patchsign,
                    ["release", "--check", world.shop.source(3).string] + keys + at
                )
                #expect(checked.code == 0 && checked.output.hasSuffix("no mistakes\n"), "\(checked)")
            }
        }
    }

    @Test func `needs no token on the devices' port, and is told to name one of them`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let token = try await world.token(for: site)
            try await serving(site) { devices, url in
                let open = try await Self.release(3, "open", in: world, ["--server", devices])
                #expect(
                    open.errors.contains("made from release 2 of production, which \(devices) publishes\n"),
                    "\(open)"
                )
                // A token is there for the push, and the devices' port has no use for it.
                let both = try await Self.release(
                    3,
                    "both",
                    in: world,
                    ["--server", devices, "--token-file", token.string]
                )
                #expect(open.code == 0 && both.code == 0, "\(open), \(both)")
                let named = try await run(
                    .patchsign,
                    Self.making(3, "named", in: world, []),
                    environment: ["PATCHLINE_SERVER": devices]
                )
                #expect(named.code == 0 && named.errors.contains("made from release 2 of production"), "\(named)")
                let closed = try await Self.release(3, "closed", in: world, ["--server", url, "--retries", "0"])
                #expect(
                    closed.code == 3
                        && closed.errors.hasSuffix(
                            """
                            error: \(url) publishes no \(Workshop.app)
                            hint: name the devices' address; the operators' port needs a token: --token-file FILE

                            """
                        ),
                    "\(closed)"
                )
                let twice = try await Self.release(
                    3,
                    "twice",
                    in: world,
                    ["--server", devices, "--previous", world.shop.release(2).string]
                )
                #expect(twice.code == 64 && twice.errors.contains("give one of --previous and --server"), "\(twice)")
            }
        }
    }

    /// Roles, the list, and manifest and signatures of each bundle; no script and no file of a bundle.
    @Test func `fetches documents alone, also from a static host`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let folder = site.appending("tree").string
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
            _ = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                let made = try await Self.release(3, "three", in: world, ["--server", "http://127.0.0.1:\(port)"])
                #expect(made.code == 0, "\(made)")
                let requests = await host.text
                let paths = requests.matches(of: #/"GET (\S+) /#).map { String($0.1) }
                // Root 2, which is not there; timestamp, snapshot, targets; the channel and the one before; its list; each
                // bundle's manifest and signatures.
                #expect(paths.count == 11 && !paths.contains { $0.contains("/objects/") }, "\(requests)")
            }
            // What was carried over verifies, and devices get the whole of it.
            try await world.publish(world.path("three"), to: site).done()
            let judge = try await world.judge(site)
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
        }
    }

    @Test func `is the first where nothing was published, and signed again without a folder`() async throws {
        try await World.with { world in
            let site = world.path("site")
            try await world.makeSite(site, keys: world.shop.keys)
            let token = try await world.token(for: site)
            try await serving(site) { _, url in
                let at = ["--server", url, "--token-file", token.string]
                let renewing = [
                    "release", "renew", "--channel", "production", "--keys", world.shop.keys.string, "--output",
                ]
                let nothing = try await run(.patchsign, renewing + [world.path("nothing").string] + at)
                #expect(
                    nothing.code == 4 && nothing.errors.hasPrefix("error: production has no release to sign again\n"),
                    "\(nothing)"
                )
                let first = try await Self.release(1, "first", in: world, at)
                #expect(first.code == 0, "\(first)")
                #expect(first.errors.contains("production has no release on \(url): this is its first\n"), "\(first)")
                try await world.push(world.path("first"), to: url, token: token).done()
                try await run(.patchsign, renewing + [world.path("renewed").string] + at).done()
                let pushed = try await world.push(world.path("renewed"), to: url, token: token).json()
                #expect(pushed["outcome"] as? String == "published" && pushed["roleVersion"] as? Int == 2, "\(pushed)")
            }
        }
    }

    /// A server that shows an older state than this machine has seen is refused, as `pull` and devices refuse it.
    @Test func `is refused where the server shows an older state than before`() async throws {
        try await World.with { world in
            let (old, new) = (try await world.site(world.shop.site1), try await world.site(world.shop.site2, as: "new"))
            let memory: [Environment.Key: String?] = ["XDG_STATE_HOME": world.path("state").string]
            let tree = world.path("tree")
            try await copy(new.appending("tree"), to: tree)
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tree.string]
            _ = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                let at = ["--server", "http://127.0.0.1:\(port)"]
                try await run(.patchsign, Self.making(3, "a", in: world, at), environment: memory).done()
                try await run(.system("rm"), ["-r", tree.appending(Workshop.app).string]).done()
                try await copy(old.appending("tree").appending(Workshop.app), to: tree.appending(Workshop.app))
                let refused = try await run(.patchsign, Self.making(3, "b", in: world, at), environment: memory)
                #expect(refused.code == 3 && refused.errors.contains("--server-restored accepts"), "\(refused)")
                let restored = Self.making(3, "c", in: world, at + ["--server-restored"])
                let accepted = try await run(.patchsign, restored, environment: memory)
                #expect(
                    accepted.code == 0 && accepted.errors.contains("made from release 1 of production"),
                    "\(accepted)"
                )
            }
        }
    }

    private static func making(_ number: Int, _ output: String, in world: World, _ options: [String]) -> [String] {
        [
            "release", world.shop.source(number).string, "--keys", world.shop.keys.string, "--output",
            world.path(output).string,
        ] + options
    }

    private static func release(
        _ number: Int,
        _ output: String,
        in world: World,
        _ options: [String]
    ) async throws -> Outcome {
        try await run(.patchsign, making(number, output, in: world, options))
    }
}
