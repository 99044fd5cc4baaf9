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
            try await serving(shop.site) { url in
                let at = ["--server", url, "--token-file", shop.token.string, "--keys", shop.keys.string, "--push"]
                let promote = ["promote", "--from", "beta", "--channel", "production"] + at
                let unsure = try await run(.patchsign, promote + ["--rollout", "web=10%"])
                #expect(unsure.code == 64 && unsure.errors.contains("patchsign pull --proposal "), "\(unsure)")
                let unlisted = try await run(.patchsign, promote + ["--rollout", "wep=10%", "--yes"])
                #expect(unlisted.code == 3 && unlisted.errors.contains("wep"), "\(unlisted)")
                let promoted = try await run(.patchsign, promote + ["--rollout", "web=10%", "--yes"])
                #expect(promoted.code == 0 && promoted.output.contains("published production 2"), "\(promoted)")
                #expect(promoted.output.contains("10% of devices"), "\(promoted)")
                // The version before stays for the others, and no folder is left.
                let base = try await world.pulledBase(shop.keys, channel: "production", as: "one", at: url, shop.token)
                #expect(base.contains("web") && base.contains("2.0.0") && base.contains("1.0.0"), "\(base)")
                let back = try await run(
                    .patchsign,
                    ["rollback", "--to", "1", "--channel", "production", "--yes", "--json"] + at
                )
                let done = try back.json()
                #expect((done["pushed"] as? [String: Any])?["outcome"] as? String == "published", "\(back)")
                #expect((done["proposal"] as? String)?.count == 16, "\(back)")
                let withdrawn = try await run(
                    .patchsign,
                    ["withdraw", "tip", "--channel", "production", "--yes", "--note", "nobody uses it"] + at
                )
                #expect(withdrawn.code == 0 && withdrawn.output.contains("published production 4"), "\(withdrawn)")
                let kept = ["--previous", world.path("one/base").string]
                let stale = try await run(.patchsign, ["withdraw", "fix"] + kept + at)
                #expect(stale.code == 8 && stale.errors.contains("based on 2, current is 4"), "\(stale)")
                let first = try await world.release(world.shop.source(1), to: "forgotten", keys: shop.keys)
                #expect(first.code == 0, "\(first)")
                let forgotten = try await world.push(world.path("forgotten"), to: url, token: shop.token)
                #expect(forgotten.code == 8 && forgotten.errors.contains("made without --previous"), "\(forgotten)")
            }
        }
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
