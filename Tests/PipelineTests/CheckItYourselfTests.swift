import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// The page for reviewers: its blocks, as they stand there, in one shell.
@Suite("The page that checks a tree without Patchline")
struct CheckItYourselfTests {
    private static let page = Tool.repository.appending("Sources/Patchline/Patchline.docc/CheckItYourself.md")

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

    private static func follow(_ site: FilePath, in world: World, asset: String = "index.html") async throws -> Outcome
    {
        let script = try blocks()
        let folder = world.path("review")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return try await serving(site) { url in
            try await run(
                .system("bash"),
                ["-euo", "pipefail", "-c", script],
                environment: [
                    "server": url, "app": Workshop.app, "root": world.root.string, "patch": "fix", "bundle": "web",
                    "asset": asset,
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
