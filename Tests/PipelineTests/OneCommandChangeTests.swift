import Foundation
import Subprocess
import SystemPackage
import Testing

/// For whoever proposes and signs alone: `patchsign promote`, `rollback` and `withdraw`.
@Suite("A change by one command")
struct OneCommandChangeTests {
    @Test func `promotes with a share, goes back and withdraws by one command each`() async throws {
        try await World.with { world in
            let shop = try await Channels(in: world)
            try await serving(shop.site) { _, url in
                let at = ["--server", url, "--token-file", shop.token.string, "--keys", shop.keys.string, "--push"]
                let promote = ["promote", "--from", "beta", "--channel", "production"] + at
                try await expectNothingLeft(of: promote + ["--rollout", "web=10%"], in: shop, at: url)
                let unlisted = try await run(.patchsign, promote + ["--rollout", "wep=10%", "--yes"])
                #expect(unlisted.code == 3 && unlisted.errors.contains("wep"), "\(unlisted)")
                try await expectWaiting(after: promote, in: shop, at: url)
                try await expectNoSwap(of: promote, in: shop, at: url)
                let promoted = try await run(.patchsign, promote + ["--rollout", "web=10%", "--yes"])
                #expect(promoted.code == 0 && promoted.output.contains("published production 2"), "\(promoted)")
                #expect(promoted.output.contains("10% of devices"), "\(promoted)")
                let history = try await shop.ask("GET", "/channels/production/history", at: url)
                let again = try await run(.patchsign, promote + ["--rollout", "web=10%", "--yes"])
                #expect(
                    again.code == 0
                        && again.output.hasPrefix("nothing to do: production lists this already (release 2, ")
                )
                #expect(again.errors.contains("hint: `patchsign release renew` signs the same list again"), "\(again)")
                #expect(try await shop.ask("GET", "/channels/production/history", at: url) == history)
                #expect(try await shop.waiting(at: url).isEmpty)
                // The version before stays for the others, and no folder is left.
                let base = try await world.pulledBase(shop.keys, channel: "production", as: "one", at: url, shop.token)
                #expect(base.contains("web") && base.contains("2.0.0") && base.contains("1.0.0"), "\(base)")
                let dial = ["dial", "--data", shop.site.string, "--channel", "production", "--pause", "web@2.0.0"]
                try await run(.patchsrv, dial).done()
                let nowhere = try await run(
                    .patchsign,
                    ["rollback", "--to", "99", "--channel", "production", "--yes"] + at
                )
                #expect(
                    nowhere.code == 3
                        && nowhere.errors.contains(
                            "release 99 is not earlier than the current 2, or does not exist; older ones are 1\n"
                        ),
                    "\(nowhere)"
                )
                let unnamed = try await run(.patchsign, ["rollback", "--channel", "production", "--yes"] + at)
                let complete = (["rollback", "--to", "1", "--channel", "production", "--yes"] + at).joined(
                    separator: " "
                )
                #expect(
                    unnamed.code == 64
                        && unnamed.errors.hasSuffix(
                            "hint: release 1 has the list before that of 2: `patchsign \(complete)`\n"
                        ),
                    "\(unnamed)"
                )
                let back = try await run(
                    .patchsign,
                    ["rollback", "--to", "1", "--channel", "production", "--yes", "--json"] + at
                )
                let done = try back.json()
                #expect((done["pushed"] as? [String: Any])?["outcome"] as? String == "published", "\(back)")
                #expect((done["proposal"] as? String)?.count == 16, "\(back)")
                let lapses = (done["pushed"] as? [String: Any])?["lapses"] as? [[String: Any]]
                #expect(lapses?.map { $0["kind"] as? String } == ["forgotten"], "\(back)")
                let withdrawn = try await run(
                    .patchsign,
                    ["withdraw", "tip", "--channel", "production", "--yes", "--note", "nobody uses it"] + at
                )
                #expect(withdrawn.code == 0 && withdrawn.output.contains("published production 4"), "\(withdrawn)")
                let kept = ["--previous", world.path("one/base").string]
                let stale = try await run(.patchsign, ["withdraw", "fix"] + kept + at)
                #expect(stale.code == 8 && stale.errors.contains("based on 2, current is 4"), "\(stale)")
                let remake = "`patchsign withdraw fix --channel production --keys \(shop.keys) --push --server \(url) "
                #expect(stale.errors.contains(remake + "--token-file FILE` makes it again on that one\n"), "\(stale)")
                let first = try await world.release(world.shop.source(1), to: "forgotten", keys: shop.keys)
                #expect(first.code == 0, "\(first)")
                let forgotten = try await world.push(world.path("forgotten"), to: url, token: shop.token)
                let cause = "hint: tip 1 was withdrawn by release 4 or before: give it a new version in release.yaml"
                #expect(forgotten.code == 8 && forgotten.errors.contains(cause), "\(forgotten)")
            }
        }
    }

    @Test func `withdraws for good the version that a rollback left, once`() async throws {
        try await World.with { world in
            let shop = try await Channels(in: world)
            try await serving(shop.site) { _, url in
                let at = [
                    "--channel", "production", "--server", url, "--token-file", shop.token.string, "--keys",
                    shop.keys.string, "--push", "--yes",
                ]
                let promoted = try await run(.patchsign, ["promote", "--from", "beta"] + at).done()
                // The folder of a release that is only pushed is removed, so no line names it.
                #expect(promoted.output.contains(/(?m)^release 2 of \S+ production, until \S+Z$/), "\(promoted)")
                let back = try await run(.patchsign, ["rollback", "--to", "1"] + at).done()
                #expect(
                    back.errors.contains(
                        "hint: a later release may list web 2.0.0 again; `patchsign withdraw web@2.0.0 --channel production "
                            + "--keys \(shop.keys) --push --server \(url) --token-file FILE` makes its removal final\n"
                    ),
                    "\(back)"
                )
                let final = try await run(.patchsign, ["withdraw", "web@2.0.0"] + at).done()
                #expect(final.output.contains("- web 2.0.0, which is not listed any more, is withdrawn"), "\(final)")
                #expect(final.output.contains("published production 4"), "\(final)")
                let place = ["--channel", "production", "--data", shop.site.string]
                let shown = try await run(.patchsrv, ["history", "show", "4"] + place).done()
                let difference = "difference to release 3:\n  web 2.0.0 is withdrawn for good\n"
                #expect(shown.output.hasSuffix(difference), "\(shown)")
                let log = try await run(.patchsrv, ["audit", "list", "--data", shop.site.string]).done()
                #expect(log.output.contains("3 → 4: withdrawn web 2.0.0\n"), "\(log)")
                let again = try await run(.patchsign, ["withdraw", "web@2.0.0"] + at)
                let sentence = "nothing to do: web 2.0.0 is already withdrawn, since release 4 ("
                #expect(again.code == 0 && again.output.hasPrefix(sentence), "\(again)")
                // There is nothing to sign, so no terminal is needed.
                let unasked = try await run(.patchsign, ["withdraw", "web@2.0.0"] + at.dropLast())
                #expect(unasked.code == 0 && unasked.output.hasPrefix(sentence), "\(unasked)")
                let listed = try await run(.patchsign, ["rollback", "--to", "1"] + at.dropLast())
                #expect(
                    listed.code == 0 && listed.output.hasPrefix("nothing to do: production lists this"),
                    "\(listed)"
                )
                let unsigned = try await run(.patchsign, ["withdraw", "tip"] + at.dropLast())
                #expect(unsigned.code == 64 && unsigned.errors.contains("there is no terminal to ask"), "\(unsigned)")
                #expect(try await shop.waiting(at: url).isEmpty)
                let returning = try await run(.patchsign, ["promote", "--from", "beta", "--back"] + at)
                #expect(returning.code == 3 && returning.errors.contains("web 2.0.0 was withdrawn in list 4 ("))
                let never = try await run(.patchsign, ["withdraw", "web@9"] + at)
                #expect(never.code == 3 && never.errors.contains("web 9 is not listed"), "\(never)")
            }
        }
    }

    /// Nobody can be asked, or somebody says no: then no proposal waits, and nothing else is there either.
    private func expectNothingLeft(of change: [String], in shop: Channels, at url: String) async throws {
        let unasked = try await run(.patchsign, change)
        #expect(
            unasked.code == 64
                && unasked.errors
                    == "error: there is no terminal to ask whether to sign\nhint: --yes signs without asking\n",
            "\(unasked)"
        )
        let audit = try await run(.patchsrv, ["audit", "list", "--data", shop.site.string]).done().output
        #expect(!audit.contains("proposal."), "\(audit)")
        let binary = Tool.binaries.appending("patchsign").string
        for answer in ["n", "^C"] {
            let refused = try await run(.python, [Tool.script("answered.py"), answer, binary] + change)
            #expect(refused.code == 1 && refused.errors.contains("~ web goes from 1.0.0"), "\(refused)")
            #expect(
                refused.errors.hasSuffix(
                    "error: not signed\nhint: the proposal was withdrawn; nothing waits on the server\n"
                ),
                "\(refused)"
            )
            #expect(try await shop.waiting(at: url).isEmpty)
        }
    }

    /// A server that holds another change than it took: one's own is refused, and somebody else's is what was shown first.
    private func expectNoSwap(of change: [String], in shop: Channels, at url: String) async throws {
        let withdrawal = #"{"action":"withdraw","patchId":"tip"}"#
        let id = try await shop.propose(withdrawal, at: url)
        let held = [withdrawal, #"{"action":"promote","from":"beta"}"#]
        _ = try await running(.python, [Tool.script("swap.py"), url] + held) { server in
            let hostile = try await server.address()
            let pulled = try await shop.pull(id, to: "swapped", from: hostile)
            #expect(pulled.code == 0 && pulled.errors.contains(": production no longer lists tip\n"), "\(pulled)")
            #expect(
                pulled.output.contains("- tip 1 is withdrawn") && !pulled.output.contains("~ web goes"),
                "\(pulled)"
            )
            #expect(try await shop.ask("DELETE", "/channels/production/proposals/\(id)", at: url).hasSuffix("204"))
            let own = change.map { $0 == url ? hostile : $0 } + ["--rollout", "web=10%", "--yes"]
            let refused = try await run(.patchsign, own)
            let swap = "change.rollouts.web must be 10% and is left out"
            #expect(
                refused.code == 4
                    && refused.errors == """
                        error: the server's proposal is not the requested change: \(swap)
                        hint: nothing was signed; ask the server's operator why its change differs from the proposed one
                        hint: the proposal was withdrawn; nothing waits on the server

                        """,
                "\(refused)"
            )
            // Each command asked once.
            _ = try await server.line(with: "holds promote")
            #expect(await server.text.matches(of: /holds \w+/).map(\.0) == ["holds withdraw", "holds promote"])
        }
        #expect(try await shop.waiting(at: url).isEmpty)
    }

    /// What was signed and not taken is told with the whole command that makes it again.
    private func expectWaiting(after change: [String], in shop: Channels, at url: String) async throws {
        let uploads = shop.site.appending("uploads").string
        try? FileManager.default.removeItem(atPath: uploads)
        try write("no folder\n", to: shop.site.appending("uploads"))
        let untaken = try await run(.patchsign, change + ["--yes", "--retries", "0"])
        try FileManager.default.removeItem(atPath: uploads)
        let ids = try await shop.waiting(at: url)
        let id = try #require(ids.first)
        #expect(ids.count == 1 && untaken.code == 5, "\(untaken)")
        let rest = "--channel production --server \(url) --token-file FILE --keys \(shop.keys) --output work"
        #expect(
            untaken.errors.hasSuffix(
                """
                hint: the proposal \(id) waits: `patchsign pull --proposal \(id) \(rest)` makes its release again
                hint: `patchsrv proposal remove \(id) --channel production` withdraws it

                """
            ),
            "\(untaken)"
        )
        #expect(try await shop.ask("DELETE", "/channels/production/proposals/\(id)", at: url).hasSuffix("204"))
    }

    @Test(arguments: [
        ("0.1", "it names no patch; it must be PATCH=SHARE%, such as web=10%"),
        ("web=0.1", "0.1 is not a share: write 0.1% or 10%; it must be PATCH=SHARE%, such as web=10%"),
        ("web=10", "10 is not a share: write 10%; it must be PATCH=SHARE%, such as web=10%"),
        (
            "web=101%",
            "101% must be a share from 0% to 100% with at most two decimals; it must be PATCH=SHARE%, such as web=10%"
        ),
    ])
    func `is told what a share of devices must look like`(_ share: String, _ sentence: String) async throws {
        let command = ["promote", "--from", "beta", "--channel", "production", "--keys", "Keys", "--push"]
        let refused = try await run(.patchsign, command + ["--rollout", share])
        #expect(
            refused.code == 64 && refused.errors.contains("'--rollout <patch=share%>': \(sentence)\n"),
            "\(refused)"
        )
    }
}

extension World {
    /// `patchsign inspect` of what a channel publishes, fetched.
    fileprivate func pulledBase(
        _ keys: FilePath,
        channel: String,
        as folder: String,
        at url: String,
        _ token: FilePath
    ) async throws -> String {
        try await pull(to: folder, from: url, token: token, keys: keys, channel: channel, []).done()
        return try await sign("inspect", path(folder).appending("base").string).done().output
    }
}
