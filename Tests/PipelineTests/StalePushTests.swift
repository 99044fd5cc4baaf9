import Foundation
import Subprocess
import SystemPackage
import Testing

/// A push that comes too late: its hint names the command that works, which is pasted here.
@Suite("The hint of a stale push")
struct StalePushTests {
    @Test func `makes the release again on the current one`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, releases: 2)
            try await world.release(world.shop.source(3), to: "late", previous: world.shop.release(1)).done()
            try await serving(desk.site) { _, url in
                let refused = try await desk.refused("late", at: url)
                #expect(
                    refused.errors.hasSuffix(
                        """
                        hint: it was made from release 1, and 2 is current: `patchsign release FOLDER --keys DIR --output NEW \
                        --server \(url) --token-file FILE` makes it again on that one

                        """
                    ),
                    "\(refused)"
                )
                let made = try await desk.paste(refused, folder: world.shop.source(3), output: "again")
                let base = "made from release 2 of production, which \(url) publishes\n"
                #expect(made.code == 0 && made.errors.contains(base), "\(made)")
                #expect(try await desk.push("again", at: url) == "published")
            }
        }
    }

    @Test func `makes a first release again where the channel has one`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, releases: 1)
            try await world.release(world.shop.source(3), to: "first").done()
            try await serving(desk.site) { _, url in
                let refused = try await desk.refused("first", at: url)
                #expect(
                    refused.errors.contains("hint: it was made as the channel's first release, and 1 is current: "),
                    "\(refused)"
                )
                try await desk.paste(refused, folder: world.shop.source(3), output: "again").done()
                #expect(try await desk.push("again", at: url) == "published")
            }
        }
    }

    @Test func `of what another pipeline published says that nothing is left to do`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, releases: 1)
            for name in ["mine", "theirs"] {
                try await world.release(world.shop.source(2), to: name, previous: world.shop.release(1)).done()
            }
            try await serving(desk.site) { _, url in
                #expect(try await desk.push("theirs", at: url) == "published")
                let refused = try await desk.refused("mine", at: url)
                #expect(refused.errors.contains("hint: nothing to do: release 2 lists the same; "), "\(refused)")
                try await desk.paste(refused, output: "renewed").done()
                #expect(try await desk.push("renewed", at: url) == "published")
            }
        }
    }

    @Test func `of other content under one name asks for a new version`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, releases: 1)
            let source = world.path("mine-source")
            try await copy(world.shop.source(2), to: source)
            try write("<!doctype html><title>mine</title>\n", to: source.appending("web/index.html"))
            try await world.release(world.shop.source(2), to: "theirs", previous: world.shop.release(1)).done()
            try await world.release(source, to: "mine", previous: world.shop.release(1)).done()
            try await serving(desk.site) { _, url in
                #expect(try await desk.push("theirs", at: url) == "published")
                let refused = try await desk.refused("mine", at: url)
                #expect(
                    refused.errors.contains(
                        "hint: release 2 has web 2.0.0 with other content: give it a new version in release.yaml, then `"
                    ),
                    "\(refused)"
                )
                let description = source.appending("release.yaml")
                try write(try read(description).replacing("version: 2.0.0", with: "version: 2.0.1"), to: description)
                try await desk.paste(refused, folder: source, output: "again").done()
                #expect(try await desk.push("again", at: url) == "published")
            }
        }
    }

    @Test func `of a version that was withdrawn since asks for a new one`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, releases: 2)
            try await world.release(world.shop.source(2), to: "same", previous: world.shop.release(2)).done()
            try await serving(desk.site) { _, url in
                try await desk.sign(
                    ["withdraw", "web", "--version", "2.0.0", "--channel", "production", "--push", "--yes"],
                    at: url
                ).done()
                let refused = try await desk.refused("same", at: url)
                #expect(
                    refused.errors.contains(
                        "hint: web 2.0.0 was withdrawn by release 3 or before: give it a new version in release.yaml, then `"
                    ),
                    "\(refused)"
                )
                try await desk.paste(refused, folder: world.shop.source(3), output: "again").done()
                #expect(try await desk.push("again", at: url) == "published")
            }
        }
    }

    @Test func `of a release whose base lacks signatures completes that one first`() async throws {
        try await World.with { world in
            let desk = try await Desk(team: world)
            // Complete on this machine; the server has one signature of it.
            try await desk.make(1, "one", by: ["alice"]).done()
            try await copy(world.path("one"), to: world.path("complete"))
            try await desk.complete("complete").done()
            try await desk.make(2, "two", by: ["alice", "bob"], ["--previous", world.path("complete").string]).done()
            try await serving(desk.site) { _, url in
                #expect(try await desk.push("one", at: url) == "drafted")
                let refused = try await desk.refused("two", at: url)
                #expect(
                    refused.errors.contains("hint: it was made from release 1, which waits for signatures (1 of 2): `"),
                    "\(refused)"
                )
                try await desk.publishDraft(after: refused, at: url)
                #expect(try await desk.push("two", at: url) == "published")
            }
        }
    }

    @Test func `of a release behind a colleague's draft completes that draft, or gives it up`() async throws {
        try await World.with { world in
            let desk = try await Desk(team: world)
            try await desk.make(1, "theirs", by: ["alice"]).done()
            try await desk.make(2, "mine", by: ["bob"]).done()
            try await serving(desk.site) { _, url in
                #expect(try await desk.push("theirs", at: url) == "drafted")
                let refused = try await desk.refused("mine", at: url)
                let remove = "patchsrv draft remove 1 --channel production --server \(url) --token-file FILE"
                let given = "hint: `\(remove)` removes it\n"
                #expect(refused.errors.hasSuffix(given), "\(refused)")
                // A release that is made now would wait behind it as well.
                let made = try await desk.make(2, "next", by: ["bob"], desk.at(url))
                #expect(
                    made.code == 8
                        && made.errors.hasPrefix(
                            "error: production has a draft: release 1 waits for signatures (1 of 2)\nhint: `patchsign pull "
                        ) && made.errors.hasSuffix(given),
                    "\(made)"
                )
                try await desk.publishDraft(after: refused, at: url)
                try await desk.make(2, "next", by: ["alice", "bob"], desk.at(url)).done()
                #expect(try await desk.push("next", at: url) == "published")
            }
        }
    }
}

/// A release engineer's folder, with a server.
private struct Desk: Sendable {
    private let world: World
    private let keys: FilePath
    private let token: FilePath
    let site: FilePath

    init(in world: World, releases: Int) async throws {
        self.world = world
        keys = world.shop.keys
        site = try await world.site(releases == 1 ? world.shop.site1 : world.shop.site2)
        token = try await world.token(for: site)
    }

    /// A server without a release, for two holders of one channel's keys.
    init(team world: World) async throws {
        self.world = world
        (keys, site) = (world.path("keys"), world.path("site"))
        try await world.makeTeamKeys(keys)
        try await world.makeSite(site, keys: keys)
        token = try await world.token(for: site)
    }

    func at(_ url: String) -> [String] { ["--server", url, "--token-file", token.string] }

    func sign(_ command: [String], at url: String) async throws -> Outcome {
        try await run(.patchsign, command + ["--keys", keys.string] + at(url))
    }

    func make(_ number: Int, _ output: String, by holders: [String], _ options: [String] = []) async throws -> Outcome {
        let signing = holders.flatMap { ["--key", "\(self.keys)/production-\($0).key"] }
        return try await run(
            .patchsign,
            [
                "release", world.shop.source(number).string, "--keys", self.keys.string, "--output",
                world.path(output).string,
            ] + signing + options
        )
    }

    /// Bob signs.
    func complete(_ release: String, _ options: [String] = []) async throws -> Outcome {
        let bob = ["--key", "\(keys)/production-bob.key", "--yes"]
        return try await run(
            .patchsign,
            ["release", "sign", world.path(release).string, "--keys", keys.string] + bob + options
        )
    }

    /// - Returns: what became of it.
    func push(_ release: String, at url: String) async throws -> String {
        let pushed = try await world.push(world.path(release), to: url, token: token).json()
        return pushed["outcome"] as? String ?? ""
    }

    func refused(_ release: String, at url: String) async throws -> Outcome {
        let outcome = try await world.push(world.path(release), to: url, token: token)
        #expect(outcome.code == 8, "\(outcome)")
        return outcome
    }

    /// Runs the command of a hint, its placeholders replaced by what they stand for here.
    @discardableResult
    func paste(_ refused: Outcome, folder: FilePath? = nil, output: String = "work") async throws -> Outcome {
        let hint = try #require(refused.errors.firstRange(of: "hint: ")?.upperBound)
        let command = try #require(refused.errors[hint...].firstMatch(of: /`(patchsign [^`]+)`/)?.1)
        let words = [
            (" FOLDER", " \(folder?.string ?? "FOLDER")"), (" DIR", " \(keys)"), (" NEW", " \(world.path(output))"),
            (" FILE", " \(token)"), (" work ", " \(world.path("work")) "),
        ]
        let text = words.reduce(String(command)) { $0.replacing($1.0, with: $1.1) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await run(.system("bash"), ["-c", text], environment: ["PATH": "\(Tool.binaries):\(path)"])
    }

    /// Fetches the draft by the command of a hint; Bob signs it against what the server publishes, and pushes it.
    func publishDraft(after refused: Outcome, at url: String) async throws {
        try await paste(refused).done()
        try await complete("work/release", at(url)).done()
        #expect(try await push("work/release", at: url) == "published")
    }
}
