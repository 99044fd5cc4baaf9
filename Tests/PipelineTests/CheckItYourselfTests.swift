import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// The page for reviewers: its blocks, as they stand there, in one shell.
@Suite("The page that checks a tree without Patchline")
struct CheckItYourselfTests {
    private static let page = Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/CheckItYourself.md")

    /// What stands between ```` ```sh ```` and ```` ``` ````.
    private static func blocks() throws -> String {
        let text = try String(contentsOfFile: page.string, encoding: .utf8)
        var lines: [Substring] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line {
            case "```sh": isInside = true
            case "```": isInside = false
            default: if isInside { lines.append(line) }
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func follow(
        _ site: FilePath,
        in world: World,
        patch: String = "fix",
        asset: String = "index.html"
    ) async throws -> Outcome {
        let script = try blocks()
        let folder = world.path("review")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return try await serving(site) { url in
            try await run(
                .system("bash"),
                ["-euo", "pipefail", "-c", script],
                environment: [
                    "server": url, "app": Workshop.app, "root": world.root.string, "patch": patch,
                    "bundle": "web", "asset": asset,
                ],
                in: folder
            )
        }
    }

    @Test func `verifies roles, an entry and an asset with openssl, jq and curl`() async throws {
        try await World.with { world in
            let review = try await Self.follow(world.shop.site2, in: world, asset: "app/main.js")
            #expect(review.code == 0, "\(review)")
            for role in ["root", "timestamp", "snapshot", "targets", "channel"] {
                #expect(review.output.contains("\(role).json: 1 of 1 signatures\n"), "\(review)")
            }
            #expect(review.output.contains("fix 2: Verified OK\n"), "\(review)")
            #expect(review.output.hasSuffix("web 2.0.0 app/main.js: Verified OK\n"), "\(review)")
        }
    }

    @Test func `follows the root of trust from the one that the app ships`() async throws {
        try await World.with { world in
            let review = try await Self.follow(try await Self.rotated(world).site, in: world)
            #expect(review.code == 0, "\(review)")
            // By the keys before it, and by its own.
            let twice = String(repeating: "2.root.json: 1 of 1 signatures\n", count: 2)
            #expect(review.output.contains("\nroot 2, until ") && review.output.contains(twice), "\(review)")
        }
    }

    @Test(arguments: ["index($id)", "index($id) | not"])
    func `ends at a root that only its own keys signed, or only those before it`(_ kept: String) async throws {
        try await World.with { world in
            let site = try await Self.rotated(world).site
            let filter =
                ".signed.roles.root.keyids as $own | .signatures |= map(select(.keyid as $id | $own | \(kept)))"
            let script = "jq '\(filter)' 2.root.json >half && mv -f half 2.root.json"
            try await run(.system("bash"), ["-ec", script], in: site.tree.appending("metadata")).done()
            let review = try await Self.follow(site, in: world)
            #expect(review.code != 0 && review.output.hasSuffix("2.root.json: 0 of 1 signatures\n"), "\(review)")
        }
    }

    /// A server whose root key was replaced.
    private static func rotated(_ world: World) async throws -> Drill {
        let drill = try await Drill(world)
        try await drill.sign("rotate", "root", "--unencrypted-keys", "--bits", "2048").done()
        try await drill.trust().done()
        return drill
    }

    @Test func `finds the first of many signatures`() async throws {
        try await World.with { world in
            let source = world.path("source")
            try Source(2).put(in: source)
            // Signatures of 256 bytes each: more than a pipe holds.
            for number in 0..<320 { try write("\(number)", to: source.appending("web/many/\(number).txt")) }
            let site = try await world.site(world.shop.site1)
            try await world.release(source, to: "many", previous: world.shop.release(1)).done()
            try await world.publish(world.path("many"), to: site).done()
            let review = try await Self.follow(site, in: world, asset: "app/main.js")
            #expect(review.code == 0, "\(review)")
            #expect(review.output.hasSuffix("web 2.0.0 app/main.js: Verified OK\n"), "\(review)")
        }
    }

    @Test(arguments: [
        ("nope", "index.html", "production lists no patch nope, but fix, tip, web\n"),
        ("fix", "nope.html", "web has no asset nope.html\n"),
    ])
    func `names a patch or an asset that there is not`(_ patch: String, _ asset: String, _ text: String) async throws {
        try await World.with { world in
            let review = try await Self.follow(world.shop.site1, in: world, patch: patch, asset: asset)
            #expect(review.code == 1 && review.errors == text, "\(review)")
        }
    }

    /// What only a signer can break, so that each check of the page has to find its own.
    @Test(arguments: [
        ("list_digest|md5", "fix 2: Verification failure"), ("list_signature", "fix 2: Verification failure"),
        ("asset_digest|md5", "web 2.0.0 app/main.js: Verification failure"),
        ("asset_signature", "web 2.0.0 app/main.js: Verification failure"),
    ])
    func `ends at an entry or asset that its own signature does not cover`(_ edit: String, _ line: String) async throws
    {
        try await World.with { world in
            let review = try await Self.follow(try await world.forged(edit), in: world, asset: "app/main.js")
            #expect(review.code != 0 && review.text.contains(line), "\(review)")
        }
    }

    @Test(arguments: [
        ("metadata/timestamp.json", "\"version\":", "timestamp.json: 0 of 1 signatures"),
        ("objects/*/$(sha256sum $SOURCE/scripts/fix.js | cut -c1-64)", "", "object has another"),
        ("targets/production/*.patchlist.json", "\"serial\":", "list.json is not what was signed"),
    ])
    func `ends at a byte that was changed`(_ file: String, behind text: String, _ line: String) async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            // A 7 in place of the byte behind `text`, or of the first one.
            let script = """
                for FILE in \(file); do
                    chmod u+w $FILE
                    at=$([ -z '\(text)' ] && echo 0 || grep -bo '\(text)' $FILE | head -n 1 | cut -d: -f1)
                    printf 7 | dd of=$FILE bs=1 seek=$((at + \(text.utf8.count))) conv=notrunc status=none
                done
                """
            try await run(
                .system("bash"),
                ["-ec", script],
                environment: ["SOURCE": world.shop.source(2).string],
                in: site.tree
            ).done()
            let review = try await Self.follow(site, in: world)
            #expect(review.code != 0 && review.text.contains(line), "\(review)")
        }
    }
}
