import FoundationEssentials
import SystemPackage
import Testing

/// Somebody has the whole server: every file of it, its records, its API, and the online key (X1).
@Suite("A stolen server")
struct StolenServerTests {
    /// What is done to the published tree with the online key alone, and what a device says of it.
    private struct Attack {
        let what: String
        /// Nil where there is nothing to say: the device takes the metadata, and nothing else.
        let refusal: String?

        init(_ what: String, _ refusal: String? = nil) {
            (self.what, self.refusal) = (what, refusal)
        }
    }

    /// In this order, because a device remembers the numbers that the one before named.
    private static let attacks = [
        Attack("bytes"), Attack("dial"), Attack("list of the dial"),
        Attack("older", "production: version 2 is older than version 3, which is already trusted"),
        Attack("root", "root: 0 valid signatures of 1 needed"),
        Attack("nothing", "production: was in the snapshot before and is gone"),
        Attack("list", "production: 0 valid signatures of 1 needed"),
    ]

    /// The release keys have signed a ceiling of nothing for release 2, which was published without one before.
    @Test(.timeLimit(.minutes(10)))
    func `makes no device take what release keys did not approve, go above a ceiling, or go back`() async throws {
        try await World.with { world in
            let site = try await world.forged("dial|0|0")
            let honest = world.path("honest")
            try await copy(site.tree, to: honest)
            let approved = try await world.approved()
            try await serving(site) { url in
                let old = try await world.settledDevice(server: url)
                try await old.sync().done()
                let before = try await StoreDigest(of: old.store)
                for (number, attack) in Self.attacks.enumerated() {
                    try await world.attack(site, attack.what, number + 1, honest: honest)
                    let sync = try await old.sync()
                    if let refusal = attack.refusal {
                        #expect(sync.code == 3 && sync.errors.contains(refusal), "\(attack.what): \(sync)")
                    } else {
                        #expect(sync.code == 0, "\(attack.what): \(sync)")
                    }
                    #expect(
                        try await StoreDigest(of: old.store).installed == before.installed,
                        "\(attack.what): \(sync)"
                    )

                    let new = try await world.newDevice(server: url, as: "new\(number)")
                    let first = try await new.sync()
                    #expect(try await world.objects(of: new).isSubset(of: approved), "\(attack.what): \(first)")
                    #expect(!first.output.contains(#/(fix +2|web +2\.0\.0) +Add/#), "\(attack.what): \(first)")
                }
                #expect(try await world.objects(of: old).isSubset(of: approved))
                try await old.expectWhole(1)
                try await old.serving { page in
                    let shown = try await page.release()
                    #expect(shown == 1)
                }
            }
        }
    }

    @Test func `publishes nothing of its own over the API, with every right that its records can give`() async throws {
        try await World.with { world in
            let site = try await world.forged("dial|0|0")
            try await serving(site) { url in
                let old = try await world.settledDevice(server: url)
                try await old.sync().done()
                let before = try await StoreDigest(of: old.store)
                let made = try await run(
                    .patchsrv,
                    ["token", "new", "a thief", "--grant", "*=admin", "--data", site.string]
                ).done()
                let token = String(made.output.prefix { !$0.isWhitespace })
                let own = try await world.release(world.shop.source(2), to: "own", keys: world.shop.otherKeys)
                try own.done()
                let pushed = try await run(
                    .python,
                    [Tool.script("push.py"), url, token, world.path("own").string]
                )
                #expect(pushed.output.hasPrefix("422 ") && pushed.output.contains("0 valid signatures"), "\(pushed)")

                let dial = ["dial", "--rollout", "web=100%", "--app", Workshop.app, "--channel", "production"]
                let turned = try await run(.patchsrv, dial + ["--data", site.string])
                #expect(turned.code != 0 && turned.errors.contains("ceiling"), "\(turned)")
                try await old.sync().done()
                #expect(try await StoreDigest(of: old.store).installed == before.installed)
            }
        }
    }
}

extension World {
    /// Puts the tree back as it was, and alters it with the server's own key.
    fileprivate func attack(_ site: FilePath, _ what: String, _ number: Int, honest: FilePath) async throws {
        try await run(
            .system("bash"),
            ["-ec", "rm -rf \"$1\"; cp -a \"$2\" \"$1\"", "-", site.tree.string, honest.string]
        )
        .done()
        let keys = site.appending("apps").appending(Workshop.app).string
        try await run(.python, [Tool.script("forge.py"), site.tree.string, keys, keys, "thief|\(what)|\(number)"])
            .done()
    }

    /// The SHA-256 of everything that the release keys have signed.
    fileprivate func approved() async throws -> Set<String> {
        var digests: Set<String> = []
        for number in 1...2 { digests.formUnion(try await Self.digests(below: shop.release(number))) }
        // The list of the forged ceiling is signed by the release key too.
        return digests.union(try await Self.digests(below: path("honest")))
    }

    fileprivate func objects(of device: Device) async throws -> Set<String> {
        try await Self.digests(below: device.store.appending("objects"))
    }

    private static func digests(below folder: FilePath) async throws -> Set<String> {
        let script = "[ ! -d \"$1\" ] || find \"$1\" -type f -exec sha256sum {} +"
        let listing = try await run(.system("bash"), ["-ec", script, "-", folder.string]).done()
        return Set(listing.output.split(separator: "\n").map { String($0.prefix(64)) })
    }
}
