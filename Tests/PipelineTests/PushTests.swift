import Foundation
import Subprocess
import SystemPackage
import Testing

/// `patchsign push` to a real `patchsrv serve`.
@Suite("A release that is pushed")
struct PushTests {
    private static let app = "com.example.storefront"

    @Test func `goes up once, and then only what changed does`() async throws {
        try await World.with { world in
            let shop = try await Storefront(in: world)
            try await serving(shop.site) { _, url in
                let first = try await shop.push(shop.release(1), to: url).json()
                #expect(first["outcome"] as? String == "published")
                let again = try await shop.push(shop.release(1), to: url).json()
                #expect(again["outcome"] as? String == "alreadyPublished" && again["sentBytes"] as? Int == 0)
                let second = try await shop.push(shop.release(2), to: url).json()
                #expect(second["outcome"] as? String == "published")
                let bytes = try shop.bytesOnly(in: 2, not: 1)
                // The release that it was made from lies beside it, so its bundle goes up as a pack.
                #expect(second["sentPacks"] as? Int == 1)
                #expect((second["sentBytes"] as? Int).map { 0 < $0 && $0 < bytes } == true)
            }
        }
    }

    @Test func `goes up in parts where the release before it is not at hand`() async throws {
        try await World.with { world in
            let shop = try await Storefront(in: world)
            try await serving(shop.site) { _, url in
                _ = try await shop.push(shop.release(1), to: url).json()
                let elsewhere = world.path("elsewhere")
                try FileManager.default.createDirectory(atPath: elsewhere.string, withIntermediateDirectories: true)
                try await copy(shop.release(2), to: elsewhere.appending("v2"))
                let second = try await shop.push(world.path("elsewhere/v2"), to: url).json()
                let bytes = try shop.bytesOnly(in: 2, not: 1)
                #expect(second["outcome"] as? String == "published" && second["sentPacks"] as? Int == 0)
                #expect(second["sentBytes"] as? Int == bytes)
                #expect((second["travelledBytes"] as? Int).map { 0 < $0 && $0 < bytes } == true)
            }
        }
    }

    @Test func `goes up as a pack from what the server has, and in parts where that fails`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            try await world.release(world.shop.source(3), to: "third", previous: world.shop.release(2)).done()
            try await serving(site) { _, url in
                let second = try await world.push(
                    world.shop.release(2),
                    to: url,
                    token: token,
                    from: world.shop.release(1)
                )
                let pushed = try second.json()
                #expect(pushed["sentPacks"] as? Int == 1 && !second.errors.contains("warning"), "\(second)")
                try await world.optimize(site)
                let costs = try await run(
                    .patchsrv,
                    ["packs", "--data", site.string, "--channel", "production", "--json"]
                ).json()
                let row = try #require(
                    (costs["updates"] as? [[String: Any]])?.first { $0["base"] as? String == "1.0.0" }
                )
                let pack = try #require(row["packBytes"] as? Int),
                    signatures = try #require(row["signatureBytes"] as? Int)
                // Besides, the list and a script went up.
                let sent = try #require(pushed["sentBytes"] as? Int), parts = try #require(pushed["sentParts"] as? Int)
                let list = try Data(
                    contentsOf: URL(filePath: "\(world.shop.release(2))/targets/production/patchlist.json")
                )
                #expect(parts == 3 && (0..<100).contains(sent - pack - signatures - list.count), "\(second), \(costs)")

                try await run(.system("find"), ["\(site.tree)/objects", "-type", "f", "-delete"]).done()
                let third = try await world.push(
                    world.path("third"),
                    to: url,
                    token: token,
                    from: world.shop.release(2)
                )
                let last = try third.json()
                #expect(last["outcome"] as? String == "published" && last["sentPacks"] as? Int == 0, "\(third)")
                #expect(third.errors.contains("warning: the server rejected a pack: the content "), "\(third)")
                #expect(third.errors.contains(" is missing or has the wrong size; its parts are sent\n"), "\(third)")
            }
            let judge = try await world.judge(site)
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
        }
    }

    @Test func `goes on at the byte where it was killed, also after a restart of the server`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let whole = try await world.site(world.shop.site1, as: "whole")
            let token = try await world.token(for: site)
            let other = try await world.token(for: whole, as: "other.token")
            try await copy(world.shop.source(2), to: world.path("source"))
            try writeLarge(to: world.path("source/web/app/large.js"))
            try write("", to: world.path("source/web/app/empty.js"))
            try await world.release(world.path("source"), to: "large", previous: world.shop.release(1)).done()
            let fresh = try await serving(whole) { _, url in
                try await world.push(world.path("large"), to: url, token: other).json()["sentBytes"] as? Int
            }
            try await serving(site) { _, url in
                let port = try #require(url.split(separator: ":").last)
                _ = try await running(.python, [Tool.script("stall.py"), "\(port)", "1000000"]) { relay in
                    let arguments = World.pushing(world.path("large"), to: try await relay.address(), token: token)
                    _ = try await running(.patchsign, arguments) { push in
                        _ = try await relay.line(with: "stalled")
                        try await push.kill()
                    }
                }
            }
            let arrived = try await run(
                .system("bash"),
                ["-c", "cat \(site)/uploads/*/*/blobs/* | wc -c"]
            ).done().output
            let there = try #require(Int(arrived.filter(\.isNumber)))
            #expect(there > 20_000 && there < 1_000_000, "of the large one some: \(there)")
            try await serving(site) { _, url in
                let resumed = try await world.push(world.path("large"), to: url, token: token).json()
                #expect(resumed["outcome"] as? String == "published")
                #expect((resumed["sentBytes"] as? Int).map { $0 + there } == fresh)
            }
            let judge = try await world.judge(site)
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(site)/uploads/\(Workshop.app)").isEmpty)
        }
    }

    @Test func `from an outdated base is refused, and changes nothing`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let token = try await world.token(for: site)
            try await world.release(world.shop.source(3), to: "late", previous: world.shop.release(1)).done()
            let before = try await StoreDigest(of: site.tree)
            try await serving(site) { _, url in
                let refused = try await world.push(world.path("late"), to: url, token: token)
                #expect(refused.code == 8, "\(refused)")
                #expect(refused.errors.contains("error: production: based on 1, current is 2"), "\(refused)")
            }
            #expect(try await StoreDigest(of: site.tree) == before)
        }
    }

    @Test func `needs a token of its channel`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            func token(_ name: String, _ more: String...) async throws -> Outcome {
                try await run(
                    .patchsrv,
                    ["token", "new", name, "--output", world.path("\(name).token").string, "--data", site.string] + more
                )
            }
            let allowed = "it may publish only in \(Workshop.app)/production; --grant gives other rights"
            let made = try await token("ci").done()
            #expect(
                made.output.isEmpty && made.errors.contains(allowed),
                "\(made)"
            )
            let file = world.path("ci.token")
            let mode = try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let again = try await token("ci")
            #expect(
                again.code == 8 && again.errors.contains("ci.token exists already; a secret is never replaced"),
                "\(again)"
            )
            #expect(again.errors.contains("name another file with --output, or remove that one"), "\(again)")
            try FileManager.default.removeItem(atPath: file.string)
            let doubled = try await token("ci")
            #expect(doubled.code == 8 && doubled.errors.contains("a valid token is called ci already"), "\(doubled)")
            #expect(!FileManager.default.fileExists(atPath: file.string))
            #expect(
                doubled.errors.contains("hint: choose another name, or revoke that one first: `patchsrv token revoke "),
                "\(doubled)"
            )
            let misspelt = try await token("other", "--for", "gamma")
            #expect(
                misspelt.code == 64
                    && misspelt.errors.contains(
                        "\(Workshop.app) has no channel gamma; name one with --for: beta, production"
                    ),
                "\(misspelt)"
            )
            try await run(.patchsrv, ["token", "revoke", "ci", "--data", site.string]).done()
            let twice = try await run(.patchsrv, ["token", "revoke", "ci", "--data", site.string]).done()
            #expect(
                twice.output.contains(#/^[0-9a-f]{16}, ci, was revoked before, at \S+Z; nothing was changed\n$/#),
                "\(twice)"
            )
            try await token("ci").done()
            try await token("beta", "--for", "beta").done()
            try await serving(site) { _, url in
                let refused = try await world.push(world.shop.release(2), to: url, token: world.path("beta.token"))
                #expect(refused.code == 3, "\(refused)")
                #expect(
                    refused.errors.contains("this needs the role publisher on \(Workshop.app)/production"),
                    "\(refused)"
                )
                try await world.push(world.shop.release(2), to: url, token: file).done()
            }
            let listed = try await run(.patchsrv, ["token", "list", "--unused", "30d", "--data", site.string]).done()
            #expect(listed.output == "every valid token was used in that time\n", "\(listed)")
        }
    }

    @Test func `needs a token that holds, and neither prints it nor sends it in the clear`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            let secret = try read(token).trimmingCharacters(in: .whitespacesAndNewlines)
            let viewer = try await world.token(for: site, as: "viewer.token", role: "viewer")
            try write("plt_0000000000000000_" + String(repeating: "0", count: 64), to: world.path("wrong.token"))
            try write("hello\n", to: world.path("no.token"))
            let release = world.shop.release(2)
            try await serving(site) { devices, url in
                let wrong = try await world.push(release, to: url, token: world.path("wrong.token"))
                #expect(wrong.code == 3 && wrong.errors.contains("this server does not know the token"), "\(wrong)")
                let weak = try await world.push(release, to: url, token: viewer)
                #expect(weak.code == 3 && weak.errors.contains("this needs the role publisher"), "\(weak)")
                let none = try await world.push(release, to: url, token: world.path("no.token"))
                #expect(none.code == 4 && !none.text.contains("hello"), "\(none)")
                let devices = try await world.push(release, to: devices, token: viewer)
                #expect(
                    devices.code == 3
                        && devices.errors.hasSuffix(
                            """
                            error: the server answered 404
                            hint: use the operators' port, not the devices': patchsrv serve prints it, 8081 by default

                            """
                        ),
                    "\(devices)"
                )
                let device = try await world.newDevice(server: url)
                let lost = try await device.sync()
                #expect(
                    lost.code == 3
                        && lost.errors.hasSuffix(
                            "(default: 8080; the operators' port has no tree), and that `patchsrv init` was run.\n"
                        ),
                    "\(lost)"
                )
                let missing = try await run(.patchsign, ["push", release.string, "--server", url])
                #expect(missing.code == 64 && missing.errors.contains("there is no token"), "\(missing)")
                let given = try await run(
                    .patchsign,
                    ["push", release.string, "--server", url],
                    environment: ["PATCHLINE_TOKEN": secret]
                )
                #expect(given.code == 0 && !given.text.contains(secret), "\(given)")
            }
            let clear = try await world.push(release, to: "http://patches.example.com", token: token)
            #expect(
                clear.code == 3 && clear.errors.contains("the connection to patches.example.com has no TLS"),
                "\(clear)"
            )
            let nobody = try await world.push(release, to: "http://127.0.0.1:1", token: token, retries: 0)
            #expect(nobody.code == 5 && nobody.errors.contains("127.0.0.1"), "\(nobody)")
        }
    }
}

/// The sample shop's releases 1 and 2, signed, and a server for it.
private struct Storefront: Sendable {
    private let world: World
    let site: FilePath
    private let token: FilePath

    init(in world: World) async throws {
        self.world = world
        site = world.path("site")
        let keys = world.path("keys")
        try await world.makeKeys(keys, of: "com.example.storefront")
        try await world.makeSite(site, keys: keys)
        for number in 1...2 {
            try await world.release(
                Tool.repository.appending("Patches/storefront/v\(number)"),
                to: "v\(number)",
                previous: number > 1 ? world.path("v\(number - 1)") : nil,
                keys: keys
            ).done()
        }
        token = try await world.token(for: site, app: "com.example.storefront")
    }

    func release(_ number: Int) -> FilePath { world.path("v\(number)") }

    func push(_ release: FilePath, to url: String) async throws -> Outcome {
        try await world.push(release, to: url, token: token)
    }

    /// Bytes of all targets and objects of one release that the other does not have under the same name.
    func bytesOnly(in number: Int, not other: Int) throws -> Int {
        let old = try Self.files(of: release(other)), new = try Self.files(of: release(number))
        return new.filter { old[$0.key] != $0.value }.values.reduce(0) { $0 + $1.count }
    }

    private static func files(of release: FilePath) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for part in ["targets", "objects"] {
            let root = release.appending(part).string
            for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
                guard let bytes = FileManager.default.contents(atPath: "\(root)/\(name)") else { continue }
                files["\(part)/\(name)"] = bytes
            }
        }
        return files
    }
}

extension World {
    /// The file of a new token.
    func token(
        for site: FilePath,
        as name: String = "token",
        app: String = Workshop.app,
        role: String = "publisher"
    ) async throws -> FilePath {
        let made = try await run(.patchsrv, ["token", "new", name, "--grant", "\(app)=\(role)", "--data", site.string])
        try writeSecret(try made.done().output, to: path(name))
        return path(name)
    }

    static func pushing(_ release: FilePath, to url: String, token: FilePath, retries: Int = 3) -> [String] {
        ["push", release.string, "--server", url, "--token-file", token.string, "--retries", "\(retries)", "--json"]
    }

    /// - Parameter base: an earlier release, of which the server has something.
    func push(
        _ release: FilePath,
        to url: String,
        token: FilePath,
        retries: Int = 3,
        from base: FilePath? = nil
    ) async throws -> Outcome {
        let options = base.map { ["--previous", $0.string] } ?? []
        return try await run(.patchsign, Self.pushing(release, to: url, token: token, retries: retries) + options)
    }
}

extension Outcome {
    /// What it printed, as an object.
    func json() throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(try done().output.utf8)) as? [String: Any],
            "\(self)"
        )
    }
}
