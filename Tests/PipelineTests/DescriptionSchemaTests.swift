import Foundation
import SystemPackage
import Testing

/// The JSON schema of `release.yaml` and the program that reads it, side by side.
@Suite("The schema of release.yaml")
struct DescriptionSchemaTests {
    /// JSON is YAML, so both read the same file; what is changed in a description that both take.
    private static let cases: [(what: String, from: String, to: String, isTaken: Bool)] = [
        ("nothing", "\"web\"", "\"web\"", true),
        ("everything", "\"folder\": \"web\"", every, true),
        ("an unknown key", "\"folder\"", "\"x\": 1, \"folder\"", false),
        ("a key of the other kind", "\"folder\"", "\"file\": \"a.js\", \"folder\"", false),
        ("no folder", "\"folder\": \"web\", ", "", false),
        ("no kind", "\"kind\": \"bundle\", ", "", false),
        ("another kind", "\"bundle\"", "\"zip\"", false),
        ("no app", "\"app\": \"\(Workshop.app)\", ", "", false),
        ("a channel that is a role", "production", "root", false),
        ("a channel in capitals", "production", "Production", false),
        ("a version that is a number", "\"1.0.0\"", "1", false),
        ("a version with a space", "\"1.0.0\"", "\"1 0\"", false),
        ("an id of dots", "\"web\", \"kind\"", "\"..\", \"kind\"", false),
        ("a folder above", "\"folder\": \"web\"", "\"folder\": \"../web\"", false),
        ("an absolute folder", "\"folder\": \"web\"", "\"folder\": \"/web\"", false),
        ("a share", "\"keep\": 1", "\"rules\": {\"rollout\": \"12.5%\"}", true),
        ("too great a share", "\"keep\": 1", "\"rules\": {\"rollout\": \"101%\"}", false),
        ("a share of three decimals", "\"keep\": 1", "\"rules\": {\"rollout\": \"1.001%\"}", false),
        ("ten-thousandths", "\"keep\": 1", "\"rules\": {\"rollout\": 2500}", true),
        ("too many ten-thousandths", "\"keep\": 1", "\"rules\": {\"rollout\": 10001}", false),
        ("an unknown rule", "\"keep\": 1", "\"rules\": {\"rolout\": 1}", false),
        ("rules that are a list", "\"keep\": 1", "\"rules\": []", false),
        ("users that are no list", "\"keep\": 1", "\"rules\": {\"users\": \"alice\"}", false),
        ("a caret before a version", "\"keep\": 1", "\"rules\": {\"appVersion\": \"^2.1\"}", false),
        ("parentheses", "\"keep\": 1", "\"rules\": {\"condition\": \"(a==b)\"}", false),
        ("another dial", "\"keep\": 1", "\"rules\": {\"dial\": \"maybe\"}", false),
        ("text for true", "\"keep\": 1", "\"rules\": {\"mandatory\": \"yes\"}", false),
        (
            "a script of pages", "\"file\": \"a.js\"",
            "\"file\": \"a.js\", \"runsIn\": \"both\", \"pages\": [\"/cart\", \"/item/*\"]", true
        ),
        ("a side that there is not", "\"file\": \"a.js\"", "\"file\": \"a.js\", \"runsIn\": \"worker\"", false),
        (
            "pages of the program", "\"file\": \"a.js\"",
            "\"file\": \"a.js\", \"runsIn\": \"host\", \"pages\": [\"/cart\"]", false
        ),
        ("pages alone", "\"file\": \"a.js\"", "\"file\": \"a.js\", \"pages\": [\"/cart\"]", false),
        ("no page at all", "\"file\": \"a.js\"", "\"file\": \"a.js\", \"runsIn\": \"page\", \"pages\": []", false),
        (
            "pages without a slash", "\"file\": \"a.js\"",
            "\"file\": \"a.js\", \"runsIn\": \"page\", \"pages\": [\"cart\"]", false
        ),
        ("a bundle of pages", "\"keep\": 1", "\"runsIn\": \"page\"", false),
        ("security without a text", "\"keep\": 1", "\"security\": {}", false),
        ("security in two lines", "\"keep\": 1", "\"security\": {\"text\": \"a\\nb\"}", false),
        ("an advisory in the clear", "\"keep\": 1", "\"security\": {\"text\": \"a\", \"url\": \"http://a\"}", false),
        ("too many kept", "\"keep\": 1", "\"keep\": 101", false),
        ("a requirement of nothing", "\"keep\": 1", "\"requires\": {\"fix\": []}", false),
        ("a requirement that is no list", "\"keep\": 1", "\"requires\": {\"fix\": \"1\"}", false),
        ("a routing of another kind", "\"keep\": 1", "\"routing\": \"spa\"", false),
        ("a header that is a list", "\"keep\": 1", "\"headers\": {\"**\": [\"Link\"]}", false),
        ("a route without a slash", "\"keep\": 1", "\"routes\": [\"cart\"]", false),
        ("an exclusion of two stars", "\"keep\": 1", "\"exclude\": [\"**/x\"]", false),
        ("a compatibility that is a list", "\"keep\": 1", "\"compatibility\": [\"ios\"]", false),
        ("patches that are a mapping", "\"patches\": [", "\"patches\": {}, \"x\": [", false),
    ]

    private static let right = """
        {"app": "\(Workshop.app)", "channel": "production", "patches": [
        {"id": "web", "kind": "bundle", "version": "1.0.0", "folder": "web", "keep": 1},
        {"id": "fix", "kind": "script", "version": "1", "file": "a.js"}]}
        """
    private static let every = """
        "folder": "web", "index": "index.html", "routes": ["/", "/item/*", "/docs/**"], "cacheable": ["*.html"],
        "routing": "site", "headers": {"**": {"Referrer-Policy": "same-origin"}, "*.html": {"Cache-Control": "no-store"}},
        "exclude": ["*.tmp", "!.env"], "include": [".config/*"], "links": "follow", "source-maps": "leave-out", "confirmed-by": "program", "allow-secrets": ["demo.pem"], "commit": "4f2a", "compatibility": {"ios": "2b0c"}, "requires": {"fix": ["1"]},
        "rules": {"rollout": "100%", "appVersion": ">=2.1 <3 !=2.4", "condition": "region==eu&&a==1||b==2", "dial": "required",
        "users": ["alice"], "mandatory": true, "runAtNextLaunch": false},
        "security": {"text": "Names could run scripts.", "url": "https://example.com/7"}
        """

    /// Of a check that found mistakes too.
    private static func parsed(_ outcome: Outcome) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(json as? [String: Any], "\(outcome)")
    }

    @Test func `is the published one, and says of each description what the program says`() async throws {
        try await World.with { world in
            let printed = try await world.sign("release", "--schema").done().output
            #expect(printed == (try read(Tool.repository.appending("Patches/release.schema.json"))))
            try write(printed, to: world.path("schema.json"))
            try write("<p>shop</p>", to: world.path("source/web/index.html"))
            try write("a();", to: world.path("source/a.js"))
            var files: [String] = []
            var verdicts: [Bool] = []
            for (index, (what, from, to, _)) in Self.cases.enumerated() {
                try #require(Self.right.contains(from), "\(what)")
                let text = Self.right.replacing(from, with: to, maxReplacements: 1)
                try write(text, to: world.path("source/release.yaml"))
                try write(text, to: world.path("\(index).json"))
                files.append(world.path("\(index).json").string)
                let checked = try await world.sign("release", "--check", world.path("source").string, "--json")
                let report = try Self.parsed(checked)
                #expect(checked.code == (report["ok"] as? Bool == true ? 0 : 4), "\(what): \(checked)")
                verdicts.append(checked.code == 0)
            }
            let judged = try await run(
                .python,
                [Tool.script("description_schema.py"), world.path("schema.json").string] + files
            ).done()
            let lines = judged.output.split(separator: "\n")
            #expect(lines.count == Self.cases.count)
            for ((what, _, _, isTaken), (line, verdict)) in zip(Self.cases, zip(lines, verdicts)) {
                #expect(verdict == isTaken && (line == "ok") == isTaken, "\(what): \(line), \(verdict)")
            }
        }
    }

    @Test func `is joined by a command that names every mistake with line and key, and writes nothing`() async throws {
        try await World.with { world in
            let source = world.path("source")
            try await copy(world.shop.source(1), to: source)
            let right = try await world.sign("release", "--check", source.string, "--keys", world.shop.keys.string)
            #expect(right.code == 0 && right.output.hasSuffix("no mistakes\n"), "\(right)")
            try write(
                """
                app: \(Workshop.app)
                channel: staging
                patches:
                  - {id: fix, kind: script, version: "1", file: scripts/fixx.js}
                  - {id: web, kind: bundle, version: 1.0, folder: web, cacheable: ["js/*"]}
                  - {id: tip, kind: script, version: "1", file: scripts/tip.js, rules: {rollout: 5}}

                """,
                to: source.appending("release.yaml")
            )
            let check = ["release", "--check", source.string, "--keys", world.shop.keys.string]
            let reported = try await run(.patchsign, check)
            #expect(reported.code == 4 && reported.output.hasSuffix("3 mistakes, 1 warning\n"), "\(reported)")
            let found = try Self.parsed(try await run(.patchsign, check + ["--json"]))
            let mistakes = try #require(found["mistakes"] as? [[String: Any]])
            #expect(mistakes.map { $0["line"] as? Int } == [2, 4, 5])
            #expect(
                mistakes.map { $0["key"] as? String } == ["channel", "patches[0].file", "patches[1].version"]
            )
            #expect((found["warnings"] as? [[String: Any]])?.first?["key"] as? String == "patches[2].rules.rollout")
            let made = try await world.release(source, to: "out")
            #expect(made.code == 4 && !FileManager.default.fileExists(atPath: world.path("out").string), "\(made)")
        }
    }

    @Test func `judges what a version requires as the release would be judged, and says what it cannot`() async throws {
        try await World.with { world in
            let source = world.path("source")
            try await copy(world.shop.source(2), to: source)
            let description = source.appending("release.yaml")
            let text = try read(description)
            let check = ["release", "--check", source.string, "--keys", world.shop.keys.string]
            // Of web 1.0.0 the release before may tell, of tip 9 none can: tip keeps no other version.
            let both = text.replacing(
                "file: scripts/fix.js",
                with: "file: scripts/fix.js, requires: {web: [1.0.0], tip: [\"9\"]}"
            )
            .replacing("file: scripts/tip.js", with: "file: scripts/tip.js, keep: 0")
            try write(both, to: description)
            let reported = try await run(.patchsign, check)
            #expect(
                reported.code == 4
                    && reported.output.hasSuffix(
                        """
                        : patches[0].requires: fix 2 requires a version of tip that this release does not list
                        warning: \(description):4: patches[0].requires: fix 2 requires a version of web that this release does \
                        not list, unless the release before it lists one that stays
                        1 mistake; 1 requirement not judged: name the release that is published now with --server or \
                        --previous (a first release is refused)

                        """
                    ),
                "\(reported)"
            )
            try write(both.replacing(", tip: [\"9\"]", with: ""), to: description)
            let open = try await run(.patchsign, check).done()
            #expect(open.output.contains("no mistakes; 1 requirement not judged: name the release"), "\(open)")
            let found = try Self.parsed(try await run(.patchsign, check + ["--json"]))
            #expect(found["ok"] as? Bool == true && (found["notJudged"] as? [Any])?.count == 1, "\(found)")
            let first = try await world.release(source, to: "first")
            #expect(first.code == 4 && first.errors.contains("fix 2 requires a version of web"), "\(first)")
            let previous = ["--previous", world.shop.release(1).string]
            #expect(try await run(.patchsign, check + previous).done().output.hasSuffix("no mistakes\n"))
            try await world.release(source, to: "two", previous: world.shop.release(1)).done()

            let renewed = try await world.release(source, to: "three", previous: world.path("two")).done()
            let nothingNew =
                "warning: it lists the same as the release before it; only its version and expiry are new\n"
            #expect(renewed.errors.hasSuffix(nothingNew), "\(renewed)")

            // What is left behind by a withdrawal is said where it is read.
            let four = world.path("four").string
            let withdrawn = try await world.sign(
                "withdraw",
                "web",
                "--version",
                "1.0.0",
                "--previous",
                world.path("two").string,
                "--keys",
                world.shop.keys.string,
                "--output",
                four
            ).done()
            #expect(
                withdrawn.errors.hasSuffix(
                    """
                    warning: no further device can install fix 2: it requires web in a version that is not listed
                    hint: make a release in which they require listed versions, or withdraw them too

                    """
                ),
                "\(withdrawn)"
            )
            try await world.sign("verify", four, "--keys", world.shop.keys.string).done()
        }
    }
}
