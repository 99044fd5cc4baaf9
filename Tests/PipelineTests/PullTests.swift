import Foundation
import Subprocess
import SystemPackage
import Testing

/// `patchsign pull`, `release sign` and `push` between key holders who never meet.
@Suite("A draft that is pulled")
struct PullTests {
    @Test func `is signed without its objects, pushed back, and reaches a device`() async throws {
        try await World.with { world in
            let team = try await Team(in: world)
            try await serving(team.site) { devices, url in
                // The first release: nobody has published anything before.
                try await team.make(1, by: "alice").done()
                let draft = try await team.push("release1", to: url)
                #expect(draft.json["outcome"] as? String == "drafted" && draft.json["signatures"] as? Int == 1)
                let pulled = try await team.pull(to: "pulled1", from: url)
                #expect(pulled.code == 0 && pulled.output.contains("+ web 1.0.0 is new (bundle, 5 files"), "\(pulled)")
                #expect(pulled.output.contains("production: 1 of 2 signatures"), "\(pulled)")
                #expect(!FileManager.default.fileExists(atPath: world.path("pulled1/release/objects").string))
                let signed = try await team.sign("pulled1/release", by: "bob")
                #expect(signed.code == 0 && signed.output.contains("7 objects were not looked at"), "\(signed)")
                #expect(signed.output.contains("production: 2 of 2 signatures"), "\(signed)")
                let published = try await team.push("pulled1/release", to: url)
                #expect(published.json["outcome"] as? String == "published")
                // Of the role alone something is new, and that is no part.
                #expect(published.json["sentBytes"] as? Int == 0)

                // The second one is made from a pulled base, and shown against it.
                let base = try await team.pull(to: "pulled2", from: url)
                #expect(base.code == 0 && base.output.contains("no draft waits"), "\(base)")
                try await team.make(2, by: "bob", previous: "pulled2/base").done()
                #expect(try await team.push("release2", to: url).json["outcome"] as? String == "drafted")
                let second = try await team.pull(to: "pulled3", from: url)
                #expect(second.output.contains("~ web goes from 1.0.0"), "\(second)")
                let (release, previous) = (world.path("pulled3/release"), world.path("pulled3/base"))
                #expect(
                    second.output.contains("next: patchsign release sign \(release) --keys ")
                        && second.output.contains(" --key FILE --previous \(previous)\n")
                        && second.output.hasSuffix("patchsign push \(release) --server \(url) --token-file FILE\n"),
                    "\(second)"
                )
                let agreed = try await team.sign("pulled3/release", by: "alice", previous: "pulled3/base")
                #expect(agreed.code == 0 && agreed.output.contains("~ fix goes from 1"), "\(agreed)")
                #expect(try await team.push("pulled3/release", to: url).json["outcome"] as? String == "published")

                let device = Device(store: world.path("device"))
                try await device.create(root: team.keys.appending("root.json"), server: devices)
                try await device.sync().done()
                try await device.expectWhole(2)
            }
            let judge = try await world.judge(team.site, root: team.keys.appending("root.json"))
            #expect(judge.code == 0 && judge.output.hasSuffix("; 0 findings\n"), "\(judge)")
        }
    }

    @Test func `is what was published, byte for byte, but for its objects`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let token = try await world.token(for: site, role: "viewer")
            try await serving(site) { _, url in
                try await world.pull(to: "pulled", from: url, token: token).done()
                for part in ["role.json", "targets"] {
                    try await run(
                        .system("diff"),
                        ["-r", "\(world.path("pulled/base"))/\(part)", "\(world.shop.release(2))/\(part)"]
                    ).done()
                }
                let verified = try await world.sign(
                    "verify",
                    world.path("pulled/base").string,
                    "--keys",
                    world.shop.keys.string
                )
                #expect(verified.code == 0 && verified.output.contains("objects were not looked at"), "\(verified)")
                let again = try await world.pull(to: "pulled", from: url, token: token)
                #expect(again.code == 8 && again.errors.contains("exists already"), "\(again)")
                let foreign = try await world.pull(to: "foreign", from: url, token: token, keys: world.shop.otherKeys)
                let refusal = "1 differs from yours; the token was not sent"
                #expect(foreign.code == 3 && foreign.errors.contains(refusal), "\(foreign)")
                #expect(!FileManager.default.fileExists(atPath: world.path("foreign").string))
            }
        }
    }

    @Test func `cannot be published without the objects that the server lacks`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            try await copy(world.shop.release(2), to: world.path("partial"))
            try await run(.system("rm"), ["-rf", world.path("partial/objects").string]).done()
            let before = try await StoreDigest(of: site.tree)
            let header = world.path("partial/release.json")
            let whole = try await world.sign("verify", world.path("partial").string, "--keys", world.shop.keys.string)
            #expect(whole.code == 3 && whole.errors.contains("is missing from the release"), "\(whole)")
            let text = try read(header)
            try write(text.replacing("\"channel\"", with: "\"objects\":\"partial\",\"channel\""), to: header)
            try await serving(site) { _, url in
                let refused = try await world.push(world.path("partial"), to: url, token: token)
                #expect(refused.code == 3 && refused.errors.contains("and so does this release"), "\(refused)")
            }
            #expect(try await StoreDigest(of: site.tree) == before)
        }
    }
}

/// Two holders of one channel's keys, a threshold of two, and a server.
private struct Team: Sendable {
    private let world: World
    private let token: FilePath
    let keys: FilePath
    let site: FilePath

    init(in world: World) async throws {
        self.world = world
        keys = world.path("keys")
        site = world.path("site")
        try await world.makeTeamKeys(keys)
        try await world.makeSite(site, keys: keys)
        token = try await world.token(for: site)
    }

    func make(_ number: Int, by holder: String, previous: String? = nil) async throws -> Outcome {
        let previous = previous.map { ["--previous", world.path($0).string] } ?? []
        return try await run(
            .patchsign,
            [
                "release", world.shop.source(number).string, "--keys", keys.string, "--output",
                world.path("release\(number)").string, "--key", "\(keys)/production-\(holder).key",
            ] + previous
        )
    }

    func pull(to folder: String, from url: String) async throws -> Outcome {
        try await world.pull(to: folder, from: url, token: token, keys: keys)
    }

    func sign(_ release: String, by holder: String, previous: String? = nil) async throws -> Outcome {
        let previous = previous.map { ["--previous", world.path($0).string] } ?? []
        return try await run(
            .patchsign,
            [
                "release", "sign", world.path(release).string, "--keys", keys.string, "--yes", "--key",
                "\(keys)/production-\(holder).key",
            ] + previous
        )
    }

    func push(_ release: String, to url: String) async throws -> (outcome: Outcome, json: [String: Any]) {
        let outcome = try await world.push(world.path(release), to: url, token: token)
        return (outcome, try outcome.json())
    }
}

extension World {
    func pull(
        to folder: String,
        from url: String,
        token: FilePath,
        keys: FilePath? = nil,
        channel: String = "production",
        _ options: [String] = []
    ) async throws -> Outcome {
        let arguments = [
            "pull", "--server", url, "--token-file", token.string, "--channel", channel, "--keys",
            (keys ?? shop.keys).string, "--output", path(folder).string, "--retries", "0",
        ]
        return try await run(.patchsign, arguments + options)
    }
}
