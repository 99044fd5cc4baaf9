import Foundation
import Subprocess
import SystemPackage
import Testing

/// A change that is proposed on the server, and made and signed by whoever has the keys.
@Suite("A proposed change")
struct ProposalTests {
    @Test func `promotes a release to another channel with every bundle's bytes as they are`() async throws {
        try await World.with { world in
            let shop = try await Channels(in: world)
            try await serving(shop.site) { devices, url in
                let id = try await shop.propose(#"{"action":"promote","from":"beta","note":"as tested"}"#, at: url)
                let pulled = try await shop.pull(id, to: "work", from: url)
                #expect(
                    pulled.code == 0 && pulled.errors.contains("production lists the versions of beta (as tested)"),
                    "\(pulled)"
                )
                #expect(pulled.output.contains("~ web goes from 1.0.0"), "\(pulled)")
                #expect(pulled.output.contains("entry signatures: 2 made, 3 kept"), "\(pulled)")
                let files = ["web/2.0.0/manifest.json", "web/2.0.0/manifest.sigs"]
                for file in files {
                    try await run(
                        .system("cmp"),
                        [
                            "\(world.path("beta2"))/targets/beta/\(file)",
                            "\(world.path("work"))/release/targets/production/\(file)",
                        ]
                    ).done()
                }
                #expect(try await shop.push("work/release", to: url)["outcome"] as? String == "published")
                let done = try await shop.show(id, at: url)
                #expect(done["state"] as? String == "done" && done["publishedAs"] as? Int == 2)
                let late = try await run(
                    .patchsrv,
                    ["proposal", "remove", id, "--channel", "production", "--data", shop.site.string]
                )
                #expect(late.code == 8 && late.errors.contains("the proposal was published"), "\(late)")
                let again = try await shop.pull(id, to: "again", from: url)
                #expect(again.code == 8 && again.errors.contains("is done already"), "\(again)")

                let device = Device(store: world.path("device"))
                try await device.create(root: shop.keys.appending("root.json"), server: devices)
                try await device.sync().done()
                try await device.expectWhole(2)
            }
            let judge = try await world.judge(shop.site, root: shop.keys.appending("root.json"))
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
        }
    }

    @Test func `edits rules, rolls back and withdraws, each as one more release`() async throws {
        try await World.with { world in
            let shop = try await Channels(in: world)
            try await serving(shop.site) { _, url in
                let cases = [
                    (
                        ["--rules", world.path("rules.json").string],
                        "~ web 2.0.0: rules go from everyone to 25% of devices, if region==eu"
                    ),
                    (["--roll-back-to", "1"], "~ web goes from 2.0.0"),
                    (
                        ["--withdraw", "tip", "--note", "nobody uses it"],
                        "- tip 1 is withdrawn; devices that run it remove it"
                    ),
                ]
                try write(
                    #"{"patchId":"web","version":"2.0.0","rollout":2500,"condition":"region==eu"}"#,
                    to: world.path("rules.json")
                )
                for (number, (options, words)) in cases.enumerated() {
                    let made = try await shop.commandedProposal(options, channel: "beta", at: url).done()
                    let id = String(made.output.prefix { $0 != "\n" })
                    let pulled = try await shop.pull(id, channel: "beta", to: "work\(number)", from: url)
                    #expect(pulled.code == 0 && pulled.output.contains(words), "\(pulled)")
                    let pushed = try await shop.push("work\(number)/release", to: url)
                    #expect(pushed["outcome"] as? String == "published" && pushed["roleVersion"] as? Int == number + 3)
                }
                let first = try await world.sign("inspect", world.path("beta1").string, "--json").json()
                let last = try await world.sign("inspect", world.path("work1/release").string, "--json").json()
                #expect(last["patches"] as? NSArray == first["patches"] as? NSArray)
            }
            let judge = try await world.judge(shop.site, root: shop.keys.appending("root.json"))
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
        }
    }

    @Test func `must make sense, needs a publisher, and is forgotten with nothing signed`() async throws {
        try await World.with { world in
            let shop = try await Channels(in: world)
            try await serving(shop.site) { _, url in
                for (change, status, detail) in [
                    (#"{"action":"promote","from":"production"}"#, "422", "cannot be promoted to itself"),
                    (
                        #"{"action":"rollback","to":1}"#, "422",
                        "release 1 is not earlier than the current 1, or does not exist"
                    ),
                    (#"{"action":"withdraw","patchId":"nothing"}"#, "422", "nothing is not listed"),
                    (#"{"action":"rules","patchId":"web","version":"9","rollout":1}"#, "422", "web 9 is not listed"),
                    (
                        #"{"action":"rules","patchId":"web","version":"1.0.0","rollout":10001}"#, "400",
                        "rollout must be"
                    ),
                    (#"{"action":"rules","patchId":"web","version":"1.0.0","condition":"=="}"#, "400", "condition"),
                    (#"{"action":"sell"}"#, "400", "must be promote, rollback, withdraw or rules"),
                ] {
                    let answer = try await shop.ask("POST", "/channels/production/proposals", body: change, at: url)
                    #expect(answer.hasSuffix(status) && answer.contains(detail), "\(change): \(answer)")
                }
                for (options, code, error) in [
                    (["--promote-from", "production"], Int32(3), "cannot be promoted to itself"),
                    (["--withdraw", "web@9"], 3, "web 9 is not listed"), (["--roll-back-to", "0"], 4, "to must be"),
                    (["--withdraw", "a/b"], 64, "must be PATCH or PATCH@VERSION"),
                    (["--rules", "nothing.json"], 6, "does not exist"),
                    ([], 64, "is needed"), (["--roll-back-to", "1", "--withdraw", "web"], 64, "is needed"),
                ] {
                    let refused = try await shop.commandedProposal(options, at: url)
                    #expect(refused.code == code && refused.errors.contains(error), "\(refused)")
                }
                let large = #"{"action":"promote","from":"\#(String(repeating: "x", count: 65_536))"}"#
                let tooLarge = try await shop.ask("POST", "/channels/production/proposals", body: large, at: url)
                #expect(tooLarge.hasSuffix("413") && tooLarge.contains("at most 65536 bytes"), "\(tooLarge)")
                let weak = try await shop.ask(
                    "POST",
                    "/channels/production/proposals",
                    body: #"{"action":"promote","from":"beta"}"#,
                    at: url,
                    token: shop.viewer
                )
                #expect(weak.hasSuffix("403"), "\(weak)")
                let id = try await shop.propose(#"{"action":"promote","from":"beta"}"#, at: url)
                let second = try await shop.propose(#"{"action":"promote","from":"beta"}"#, at: url)
                let page = try await shop.ask("GET", "/channels/production/proposals?limit=1", at: url)
                let ids = [id, second].sorted()
                #expect(page.contains(#""next":"\#(ids[0])""#) && !page.contains(ids[1]), "\(page)")
                let rest = try await shop.ask("GET", "/channels/production/proposals?after=\(ids[0])", at: url)
                #expect(rest.contains(ids[1]) && !rest.contains(ids[0]) && !rest.contains("next"), "\(rest)")
                try await expectWaiting(second, beside: id, in: shop)
                let unasked = try await world.pull(
                    to: "work",
                    from: url,
                    token: shop.viewer,
                    keys: shop.keys,
                    ["--proposal", id]
                )
                #expect(unasked.code == 64 && unasked.errors.contains("there is no terminal to ask"), "\(unasked)")
                #expect(!FileManager.default.fileExists(atPath: world.path("work").string))
                let gone = try await shop.ask("DELETE", "/channels/production/proposals/\(id)", at: url)
                #expect(gone.hasSuffix("204"), "\(gone)")
                let missing = try await shop.pull(id, to: "work", from: url)
                #expect(missing.code == 3 && missing.errors.contains("there is no such proposal"), "\(missing)")
            }
            let audit = try await run(.patchsrv, ["audit", "list", "--data", shop.site.string]).done().output
            #expect(audit.contains("proposal.create"), "\(audit)")
            #expect(audit.matches(of: /proposal\.remove/).count == 2, "\(audit)")
        }
    }

    /// Two proposals wait; the first of these is withdrawn by command, beside a server that runs.
    private func expectWaiting(_ id: String, beside other: String, in shop: Channels) async throws {
        func proposal(_ verb: String...) async throws -> Outcome {
            try await run(.patchsrv, ["proposal"] + verb + ["--channel", "production", "--data", shop.site.string])
        }
        let listed = try await proposal("list").done()
        for id in [id, other] {
            #expect(
                listed.output.contains(try Regex("\(id) .* open +production lists the versions of beta")),
                "\(listed)"
            )
        }
        let shown = try await proposal("show", id).done()
        #expect(shown.output.hasPrefix("\(id): production lists the versions of beta\nproposed by "), "\(shown)")
        #expect(shown.output.contains("\n  ~ web 2.0.0 is listed, and 1.0.0 is first now\n"), "\(shown)")
        #expect(shown.output.hasSuffix("next: patchsign pull --proposal \(id) --channel production\n"), "\(shown)")
        let json = try await proposal("show", id, "--json").done().json()
        #expect(json["id"] as? String == id && json["state"] as? String == "open", "\(json)")
        let gone = try await proposal("remove", id).done()
        #expect(gone.output == "withdrew \(id): production lists the versions of beta\n", "\(gone)")
        for verb in ["show", "remove"] {
            let none = try await proposal(verb, id)
            #expect(none.code == 3 && none.errors.contains("error: there is no such proposal\nhint: "), "\(none)")
        }
        let left = try await proposal("list", "--all", "--json").done()
        #expect(left.output.contains(other) && !left.output.contains(id), "\(left)")
        let odd = try await proposal("show", "x")
        #expect(odd.code == 64 && odd.errors.contains("'x' is invalid for '<id>': must be"), "\(odd)")
    }
}

/// An app with two channels: production has release 1, beta releases 1 and 2.
struct Channels: Sendable {
    private let world: World
    let token: FilePath
    let viewer: FilePath
    let keys: FilePath
    let site: FilePath

    init(in world: World) async throws {
        self.world = world
        keys = world.path("keys")
        site = world.path("site")
        try await world.makeKeys(keys, ["--channel", "production", "--channel", "beta"])
        try await world.makeSite(site, keys: keys)
        token = try await world.token(for: site)
        viewer = try await world.token(for: site, as: "viewer.token", role: "viewer")
        for (channel, number) in [("production", 1), ("beta", 1), ("beta", 2)] {
            let source = world.path("source-\(channel)\(number)")
            try await copy(world.shop.source(number), to: source)
            let description = source.appending("release.yaml")
            try write(
                try read(description).replacing("channel: production", with: "channel: \(channel)"),
                to: description
            )
            // Made at one time, so that both channels' manifests of one label are the same.
            try await world.sign(
                [
                    "release", source.string, "--keys", keys.string, "--output",
                    world.path("\(channel)\(number)").string, "--at", "2026-01-01T00:00:0\(number)Z",
                    "--expires", "3650d",
                ] + (number > 1 ? ["--previous", world.path("\(channel)1").string] : [])
            ).done()
            try await world.publish(world.path("\(channel)\(number)"), to: site).done()
        }
    }

    func ask(
        _ method: String,
        _ path: String,
        body: String? = nil,
        at url: String,
        token: FilePath? = nil
    ) async throws -> String {
        let secret = try read(token ?? self.token).trimmingCharacters(in: .whitespacesAndNewlines)
        let data = body.map { ["-H", "Content-Type: application/json", "-d", $0] } ?? []
        return try await run(
            .system("curl"),
            [
                "-sS", "-w", "%{http_code}", "-X", method, "-H", "Authorization: Bearer \(secret)",
                "\(url)/api/v1/apps/\(Workshop.app)\(path)",
            ] + data
        ).done().output
    }

    /// - Returns: its id.
    func propose(_ change: String, channel: String = "production", at url: String) async throws -> String {
        let answer = try await ask("POST", "/channels/\(channel)/proposals", body: change, at: url)
        let json = try JSONSerialization.jsonObject(with: Data(answer.dropLast(3).utf8)) as? [String: Any]
        return try #require(json?["id"] as? String, "\(answer)")
    }

    /// The same by `patchsign propose`.
    func commandedProposal(
        _ options: [String],
        channel: String = "production",
        at url: String
    ) async throws -> Outcome {
        try await run(
            .patchsign,
            [
                "propose", "--channel", channel, "--server", url, "--token-file", token.string,
                "--retries", "0",
            ] + options,
            in: world.folder
        )
    }

    /// The ids of those that wait in production.
    func waiting(at url: String) async throws -> [String] {
        let answer = try await ask("GET", "/channels/production/proposals", at: url)
        let json = try JSONSerialization.jsonObject(with: Data(answer.dropLast(3).utf8)) as? [String: Any]
        let proposals = try #require(json?["proposals"] as? [[String: Any]], "\(answer)")
        return proposals.filter { $0["state"] as? String == "open" }.compactMap { $0["id"] as? String }
    }

    func show(_ id: String, at url: String) async throws -> [String: Any] {
        let answer = try await ask("GET", "/channels/production/proposals/\(id)", at: url)
        let json = try JSONSerialization.jsonObject(with: Data(answer.dropLast(3).utf8)) as? [String: Any]
        return try #require(json, "\(answer)")
    }

    func pull(
        _ id: String,
        channel: String = "production",
        to folder: String,
        from url: String
    ) async throws -> Outcome {
        try await world.pull(
            to: folder,
            from: url,
            token: token,
            keys: keys,
            channel: channel,
            ["--proposal", id, "--yes"]
        )
    }

    func push(_ release: String, to url: String) async throws -> [String: Any] {
        try await world.push(world.path(release), to: url, token: token).json()
    }
}

extension World {
    fileprivate func sign(_ arguments: [String]) async throws -> Outcome {
        try await run(.patchsign, arguments)
    }
}
