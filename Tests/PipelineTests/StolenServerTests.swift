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
        var refusal: String?
        /// Why the last good parameters stay.
        var kept: String?
        /// Whether it is tried on a device that knows nothing yet, too.
        var hasNewcomer = false

        init(_ what: String, refusal: String? = nil, kept: String? = nil, hasNewcomer: Bool = false) {
            (self.what, self.refusal, self.kept, self.hasNewcomer) = (what, refusal, kept, hasNewcomer)
        }
    }

    /// In this order, because a device remembers the numbers that the one before named.
    private static let attacks = [
        Attack("bytes", hasNewcomer: true), Attack("dial", hasNewcomer: true),
        Attack("list of the dial", hasNewcomer: true),
        Attack(
            "parameters of another app",
            kept: "parameters: is for app com.example.other, not \(Workshop.app)"
        ),
        Attack("parameters without an end", kept: "larger than the allowed 65536 bytes"),
        Attack("parameters by another key", kept: "dial: 0 valid signatures of 1 needed"),
        Attack("parameters of before", refusal: "dial: version 4 is older than version 606, which is already trusted"),
        Attack("older", refusal: "production: version 2 is older than version 3, which is already trusted"),
        Attack("root", refusal: "root: 0 valid signatures of 1 needed"),
        Attack("nothing", refusal: "production: is missing from the snapshot, which listed it before"),
        Attack("list", refusal: "production: 0 valid signatures of 1 needed"),
    ]

    /// The release keys have signed a ceiling of nothing for release 2, which was published without one before.
    @Test(.timeLimit(.minutes(30)))
    func `makes no device take what release keys did not approve, go above a ceiling, or go back`() async throws {
        try await World.with { world in
            let site = try await world.forged("dial|0|0")
            for banner in ["Before", "Sale"] { try await world.tell(site, "banner=\(banner)").done() }
            let honest = world.path("honest")
            try await copy(site.tree, to: honest)
            let approved = try await world.approved()
            try await serving(site) { url in
                let old = try await world.settledDevice(server: url)
                try await old.sync().done()
                let before = try await StoreDigest(of: old.store).kept
                for (number, attack) in Self.attacks.enumerated() {
                    try await world.attack(site, attack.what, number + 1, honest: honest)
                    let sync = try await old.sync()
                    if let refusal = attack.refusal {
                        #expect(sync.code == 3 && sync.errors.contains(refusal), "\(attack.what): \(sync)")
                    } else {
                        #expect(sync.code == 0, "\(attack.what): \(sync)")
                    }
                    let kept = sync.errors.contains("the last good parameters stay")
                    #expect(kept == (attack.kept != nil), "\(attack.what): \(sync)")
                    #expect(sync.errors.contains(attack.kept ?? ""), "\(attack.what): \(sync)")
                    #expect(try await StoreDigest(of: old.store).kept == before, "\(attack.what): \(sync)")
                    guard attack.hasNewcomer else { continue }
                    let new = try await world.newDevice(server: url, as: "new\(number)")
                    let first = try await new.sync()
                    #expect(try await world.bytes(of: new).isSubset(of: approved), "\(attack.what): \(first)")
                    #expect(!first.output.contains(#/(fix +2|web +2\.0\.0) +Add/#), "\(attack.what): \(first)")
                }
                #expect(try await world.bytes(of: old).isSubset(of: approved))
                let reported = try await old("parameters", "--json").done()
                #expect(reported.output.contains(#""parameters":{"banner":"Sale"}"#), "\(reported)")
                try await old.expectWhole(1)
                try await old.serving { page in
                    let shown = try await page.release()
                    #expect(shown == 1)
                }
            }
        }
    }

    /// Some answers at a time, each for another patch, and why they are not followed.
    private static let lies: [(choices: [(patch: String, names: String)], said: [String])] = [
        (
            [("fix", "above"), ("web", "others"), ("tip", "foreign")],
            [
                "fix: the server's answer is not followed: it names a version that is not for this device: rolled out to 0 ",
                "web: the server's answer is not followed: it names a version that is not for this device: for devices with ",
                "tip: the server's answer is not followed: it names a version that is not listed",
            ]
        ),
        (
            [("fix", "older"), ("web", "counted"), ("tip", "evil"), ("theft", "evil")],
            [
                "fix: the server's answer is not followed: it names a version that is not newer than the installed one",
                "web: the server's answer is not followed: it names a version that is not listed",
                "tip: the server's answer is not followed: it names a version that is not listed",
                "theft: the server's answer is not followed: it names a version that is not listed",
            ]
        ),
    ]

    /// What a head-count holds back is the server's own word, so that is all that a lie about places lets in; it is listed,
    /// signed, and under its ceiling.
    @Test(.timeLimit(.minutes(30)))
    func `answers a device whatever it likes, and gives away no more than the places that it kept`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let digests = try await world.toLieAbout(in: site)
            try await world.withServer(of: site) { server in
                let old = try await world.settledDevice(server: server.url)
                try await old("set", "--user", "alice", "--answers").done()
                let honest = try await old.sync().done()
                #expect(honest.output.contains("tip 2: waits for a place: open to 0 devices"), "\(honest)")
                #expect(honest.output.contains("fix 2: rolled out to 0 of 10,000"), "\(honest)")
                let before = try await StoreDigest(of: old.store).kept
                for lie in Self.lies {
                    try server.answer(Self.answer(lie.choices, digests))
                    let sync = try await old.sync().done()
                    for words in lie.said { #expect(sync.output.contains(words), "\(sync)") }
                    #expect(sync.output.contains("0 files, 0 B received; nothing new"), "\(sync)")
                    #expect(try await StoreDigest(of: old.store).kept == before, "\(sync)")
                }

                let all = [("fix", "above"), ("tip", "counted"), ("web", "others")]
                try server.answer(Self.answer(all, places: all, digests))
                let sync = try await old.sync().done()
                #expect(sync.output.contains(#/tip +2 +another version, downloaded.* Update → UnInstall/#), "\(sync)")
                #expect(sync.output.contains("1 file, 11 B received; staged: it is mandatory"), "\(sync)")
                let counted = try #require(digests["counted"])
                let after = try await StoreDigest(of: old.store)
                #expect(after.objects.symmetricDifference(before.objects) == [counted])
                try await old.serving { page in
                    let shown = try await page.release()
                    #expect(shown == 1)
                    try await page.confirm()
                }
                try await old.expectWhole(1)

                let new = try await world.newDevice(server: server.url, as: "new")
                try await new("set", "--answers").done()
                let first = try await new.sync().done()
                for row in [#/fix +1 +new, .* Add → /#, #/tip +2 +new, .* Add → /#, #/web +1\.0\.0 +new, .* Add → /#] {
                    #expect(first.output.contains(row), "\(first)")
                }
                let taken = try await StoreDigest(of: new.store)
                #expect(taken.objects.subtracting(after.objects) == [] && taken.objects.contains(counted))
            }
        }
    }

    /// All of them forced.
    private static func answer(
        _ choices: [(patch: String, names: String)],
        places: [(String, String)] = [],
        _ digests: [String: String]
    ) -> String {
        func rows(_ named: [(String, String)], _ last: String) -> String {
            named.map { #"{"patchId":"\#($0.0)","sha256":"\#(digests[$0.1] ?? "")","\#(last)":true}"# }
                .joined(separator: ",")
        }
        return #"{"format":"patchline-answer-v1","choices":[\#(rows(choices, "forced"))],"#
            + #""places":[\#(rows(places, "place"))]}"#
    }

    @Test func `publishes nothing of its own over the API, with every right that its records can give`() async throws {
        try await World.with { world in
            let site = try await world.forged("dial|0|0")
            try await serving(site) { devices, url in
                let old = try await world.settledDevice(server: devices)
                try await old.sync().done()
                let before = try await StoreDigest(of: old.store).kept
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
                #expect(try await StoreDigest(of: old.store).kept == before)
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
        try await run(
            .python,
            [
                Tool.script("forge.py"), site.tree.string, keys, shop.otherKeys.string, "thief|\(what)|\(number)",
            ]
        ).done()
    }

    fileprivate func tell(_ site: FilePath, _ parameter: String) async throws -> Outcome {
        try await run(
            .patchsrv,
            ["parameters", "set", "--data", site.string, "--channel", "production", parameter]
        )
    }

    /// Has release keys sign what a server may lie about; see Judges/forge.py.
    ///
    /// - Returns: digests by what they are for this device.
    fileprivate func toLieAbout(in site: FilePath) async throws -> [String: String] {
        let forged = try await run(
            .python,
            [
                Tool.script("forge.py"), site.tree.string, shop.keys.string, shop.otherKeys.string, "to_lie_about",
            ]
        ).done()
        return try JSONDecoder().decode([String: String].self, from: Data(forged.output.utf8))
    }

    /// The SHA-256 of everything that the release keys have signed.
    fileprivate func approved() async throws -> Set<String> {
        var digests: Set<String> = []
        for number in 1...2 { digests.formUnion(try await Self.digests(below: shop.release(number))) }
        // The list of the forged ceiling is signed by the release key too.
        return digests.union(try await Self.digests(below: path("honest")))
    }

    /// The SHA-256 of all bytes that a device has to run, whatever their names say.
    fileprivate func bytes(of device: Device) async throws -> Set<String> {
        try await Self.digests(below: device.store.appending("objects"))
    }

    private static func digests(below folder: FilePath) async throws -> Set<String> {
        let script = "[ ! -d \"$1\" ] || find \"$1\" -type f -exec sha256sum {} +"
        let listing = try await run(.system("bash"), ["-ec", script, "-", folder.string]).done()
        return Set(listing.output.split(separator: "\n").map { String($0.prefix(64)) })
    }
}
