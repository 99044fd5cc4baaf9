import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage
import Testing

/// The mistakes that people make in `release.yaml`, and what each is told.
@Suite("A mistake in a description")
struct DescriptionMistakeTests {
    private static let right = """
        app: com.example.storefront
        channel: beta
        patches:
          - id: web
            kind: bundle
            version: 1.0.0
            folder: web
            index: index.html
            cacheable: ["app/*"]
          - id: fix
            kind: script
            version: "1"
            file: a.js
            rules:
              rollout: 10%

        """

    /// What is changed in the right one, and all that is said: of `FOLDER` for the described folder.
    private static let mistakes: [(what: String, from: String, to: String, reported: [String])] = [
        (
            "a key with a letter too few", "version: 1.0.0", "verison: 1.0.0",
            [
                "4: patches[0].version is missing",
                "6: patches[0].verison is not a known field; did you mean version? The fields are allow-secrets, cacheable, "
                    + "commit, compatibility, confirmed-by, exclude, folder, gateways, headers, id, include, index, keep, kind, "
                    + "links, requires, routes, routing, rules, security, source-maps, version",
            ]
        ),
        (
            "a gateway that is none", "version: 1.0.0", "version: 1.0.0\n    gateways: [meteor, pigeon]",
            ["7: patches[0].gateways[1] must be meteor"]
        ),
        (
            "a bundle that Meteor's clients cannot install", "version: 1.0.0",
            "version: 1.0.0\n    gateways: [meteor]",
            [
                "7: patches[0].gateways: Meteor's clients cannot install it: Couldn't load runtime config from index file"
            ]
        ),
        (
            "a bundle for Meteor's clients that requires a patch", "version: 1.0.0",
            "version: 1.0.0\n    gateways: [meteor]\n    requires: {fix: [\"1\"]}",
            [
                "7: patches[0].gateways: Meteor's clients cannot install it: it requires fix, which their format cannot express"
            ]
        ),
        (
            "a script for Meteor's clients", "file: a.js", "file: a.js\n    gateways: [meteor]",
            [
                "14: patches[1].gateways is not a known field; the fields are file, id, keep, kind, pages, requires, rules, runsIn, "
                    + "security, version"
            ]
        ),
        (
            "a rule with a letter too few", "rollout: 10%", "rolout: 10%",
            [
                "15: patches[1].rules.rolout is not a rule; did you mean rollout? The rules are appVersion, condition, dial, "
                    + "mandatory, rollout, runAtNextLaunch, users"
            ]
        ),
        (
            "a wrong indent", "\n    kind: bundle", "\n   kind: bundle",
            [
                "5: is not YAML: this line is indented differently from the list that it belongs to; each element begins "
                    + "with '- '"
            ]
        ),
        (
            "an indent that is no element's", "\n    kind: bundle", "\n kind: bundle",
            ["5: is not YAML: this line is indented differently from the lines around it, or lacks a key with ': '"]
        ),
        (
            "a tab", "\n    kind: bundle", "\n\tkind: bundle",
            ["5: is not YAML: this line has a tab; YAML is indented with spaces"]
        ),
        (
            "a value that needs quotes", "version: 1.0.0", "version: @1",
            ["6: is not YAML: a value here begins with a character that needs quotes, such as @, % or `"]
        ),
        ("a key twice", "channel: beta", "channel: beta\napp: b", ["3: has 'app' twice in one mapping"]),
        (
            "a key twice in a patch", "folder: web", "id: app\n    folder: web",
            ["7: has 'id' twice in one mapping"]
        ),
        (
            "a script that is not there", "a.js", "fix-taxx.js",
            ["13: patches[1].file: FOLDER/fix-taxx.js does not exist"]
        ),
        (
            "a folder that is not there", "folder: web", "folder: dist",
            ["7: patches[0].folder: FOLDER/dist does not exist"]
        ),
        ("an empty folder", "folder: web", "folder: empty", ["7: patches[0].folder: FOLDER/empty contains no file"]),
        ("a file for a folder", "folder: web", "folder: a.js", ["7: patches[0].folder: FOLDER/a.js is not a folder"]),
        (
            "an index that is not there", "index: index.html", "index: main.html",
            ["8: patches[0].index: main.html is not in FOLDER/web; it has index.html"]
        ),
        (
            "an id twice", "id: fix", "id: web",
            ["10: patches[1].id is listed twice; list each id once, with its newest version"]
        ),
        (
            "a version that YAML takes for a number", "version: 1.0.0", "version: 1.0",
            [
                "6: patches[0].version is not a whole number; if it is meant as text, put it in quotes: "
                    + "\"1.0\""
            ]
        ),
        (
            "a version with a space", "version: 1.0.0", "version: 1 0",
            ["6: patches[0].version must be 1 to 64 of A-Z a-z 0-9 . _ + - and not '.' or '..'"]
        ),
        (
            "a channel in capitals", "channel: beta", "channel: Production", ["2: channel \(ChannelName.rule)"]
        ),
        (
            "a channel that nobody signs", "channel: beta", "channel: staging",
            ["2: channel: com.example.storefront has no channel staging; it has beta, production"]
        ),
        (
            "another app", "app: com.example.storefront", "app: com.example.storefronts",
            ["1: app must be com.example.storefront, as KEYS/root.json has it"]
        ),
        (
            "more than all devices", "rollout: 10%", "rollout: 150%",
            [
                "15: patches[1].rules.rollout must be an integer from 0 to 10000, or a percentage of at most two "
                    + "decimals: 10% is 1000"
            ]
        ),
        (
            "a user who is no list", "rollout: 10%", "users: alice",
            ["15: patches[1].rules.users must be a list: [alice]"]
        ),
        (
            "a requirement that is no list", "file: a.js", "file: a.js\n    requires: {web: \"1.0.0\"}",
            ["14: patches[1].requires.web must be a list: [\"1.0.0\"]"]
        ),
        (
            "a requirement that is a list of nothing", "file: a.js", "file: a.js\n    requires: web",
            ["14: patches[1].requires must be a mapping, such as {fix: [\"2\"]}"]
        ),
        ("yes for true", "rollout: 10%", "mandatory: yes", ["15: patches[1].rules.mandatory must be true or false"]),
        (
            "security that is a flag", "file: a.js", "file: a.js\n    security: true",
            ["14: patches[1].security must be a mapping, such as {text: \"Names in a chat could run scripts.\"}"]
        ),
        (
            "a side that there is not", "file: a.js", "file: a.js\n    runsIn: worker",
            ["14: patches[1].runsIn must be host, page or both"]
        ),
        (
            "pages of no pages", "file: a.js", "file: a.js\n    pages: [/cart]",
            ["14: patches[1].pages is for scripts that run in pages: set runsIn to page or both"]
        ),
        (
            "pages that are no paths", "file: a.js", "file: a.js\n    runsIn: page\n    pages: [/, cart]",
            ["15: patches[1].pages[1] \(RoutePattern.rule)"]
        ),
        (
            "no page at all", "file: a.js", "file: a.js\n    runsIn: page\n    pages: []",
            ["15: patches[1].pages must hold a pattern; without it every page gets the script"]
        ),
        (
            "security without a text", "file: a.js", "file: a.js\n    security: {ur: https://a}",
            ["14: patches[1].security.ur is not a known field; did you mean url? The fields are text, url"]
        ),
        (
            "an advisory in the clear", "file: a.js", "file: a.js\n    security: {text: a, url: http://a}",
            ["14: patches[1].security.url \(SecurityAdvisory.urlRule)"]
        ),
        (
            "one equals sign", "rollout: 10%", "condition: region=eu",
            ["15: patches[1].rules.condition \(Condition.Problem.malformed("region=eu"))"]
        ),
        (
            "parentheses", "rollout: 10%", "condition: (region==eu)",
            ["15: patches[1].rules.condition must not contain parentheses; && binds tighter than ||"]
        ),
        (
            "a caret before a version", "rollout: 10%", "appVersion: ^2.1",
            ["15: patches[1].rules.appVersion \(AppVersionRange.rule)"]
        ),
        (
            "a route without a slash", "folder: web", "folder: web\n    routes: [cart]",
            ["8: patches[0].routes[0] \(RoutePattern.rule)"]
        ),
        (
            "many at once",
            "channel: beta\npatches:\n  - id: web\n    kind: bundle\n    version: 1.0.0\n    folder: web",
            "channel: Beta\npatches:\n  - id: we b\n    kind: bundle\n    version: 1.0\n    folder: ../web",
            [
                "2: channel \(ChannelName.rule)", "4: patches[0].id \(PatchID.rule)",
                "6: patches[0].version is not a whole number; if it is meant as text, put it in quotes: "
                    + "\"1.0\"",
                "7: patches[0].folder has a '.' or '..' segment",
            ]
        ),
        (
            "one in each of several patches", "folder: web\n    index: index.html", "folder: wep\n    keep: 101",
            [
                "8: patches[0].keep must be an integer from 0 to 100"
            ]
        ),
    ]

    private static func check(_ text: String, _ bench: Workbench) async throws -> ReleaseCheck {
        try bench.describe("v1")
        try bench.files.makeDirectory(bench.folder.appending("v1/empty"))
        try bench.files.replace("release.yaml", in: bench.folder.appending("v1"), with: Array(text.utf8))
        return try await ReleaseCheck(
            folder: bench.folder.appending("v1"),
            trust: try bench.trust,
            base: nil,
            files: bench.files
        ) { _, _ in { _ in } }
    }

    private static func words(_ errors: [DescriptionError], _ bench: Workbench) throws -> [String] {
        let folder = bench.folder.appending("v1").string
        let keys = try bench.trust.folder.string
        return errors.map {
            String($0.description.dropFirst("\(folder)/release.yaml:".count)).replacing(folder, with: "FOLDER")
                .replacing(keys, with: "KEYS")
        }
    }

    @Test func `is none in the description that the others are made from`() async throws {
        let bench = try Workbench()
        let check = try await Self.check(Self.right, bench)
        #expect(check.mistakes.isEmpty && check.warnings.isEmpty, "\(check)")
    }

    @Test(arguments: mistakes.map(\.what))
    func `is told with its line, its key and the way out, for`(_ what: String) async throws {
        let (_, from, to, reported) = try #require(Self.mistakes.first { $0.what == what })
        try #require(Self.right.contains(from))
        let bench = try Workbench()
        let text = Self.right.replacing(from, with: to, maxReplacements: 1)
        let check = try await Self.check(text, bench)
        #expect(try Self.words(check.mistakes, bench) == reported)
        // What makes a release says the first of them.
        let error = await #expect(throws: SigningError.self) { try await bench.release("v1", to: "out") }
        let first = try #require(check.mistakes.first)
        #expect(error?.description == first.description)
        #expect(try bench.files.list(bench.folder) == ["Keys", "v1"])
    }

    @Test(arguments: [
        (
            "cacheable: [\"app/*\"]", "cacheable: [\"ap/*\"]",
            "9: patches[0].cacheable[0] matches no file of web: ap/*; * stays within a folder"
        ),
        (
            "cacheable: [\"app/*\"]", "cacheable: [\"/app/*\"]",
            "9: patches[0].cacheable[0] matches no file of web: /app/*; paths begin without a slash"
        ),
        (
            "cacheable: [\"app/*\"]", "exclude: [\"*.map\", \"*.psd\"]",
            "9: patches[0].exclude[1] leaves out no file of web: *.psd"
        ),
        (
            "cacheable: [\"app/*\"]", "exclude: [\"*.map\", \"!*.psd\"]",
            "9: patches[0].exclude[1] adds no file of web: !*.psd"
        ),
        (
            "cacheable: [\"app/*\"]", "headers: {\"*.css\": {Link: x}}",
            "9: patches[0].headers.*.css matches no file of web; **/*.css is in every folder"
        ),
        (
            "cacheable: [\"app/*\"]", "headers: {\"*.wasm\": {Content-Encoding: br}}",
            "9: patches[0].headers.*.wasm matches no file of web; **/*.wasm is in every folder"
        ),
        (
            "cacheable: [\"app/*\"]", "headers: {\"app/*.js\": {Cache-Control: max-age=600}}",
            "9: patches[0].headers.app/*.js.Cache-Control "
                + "applies only to names that carry their content, such as main.3f9a1c07.js; sent with no-cache: app/main.js"
        ),
        (
            "file: a.js", "file: a.js\n    security: {text: a hole}\n    requires: {web: [\"1.0.0\"]}",
            "14: patches[1].security: devices that install only security versions wait for web 1.0.0"
        ),
        ("rollout: 10%", "rollout: 10", "15: patches[1].rules.rollout 10 is 0.1% of devices; 10% is a percentage"),
    ])
    func `that may be meant is a warning`(_ from: String, _ to: String, warning: String) async throws {
        try #require(Self.right.contains(from))
        let bench = try Workbench()
        let check = try await Self.check(Self.right.replacing(from, with: to), bench)
        #expect(check.mistakes.isEmpty)
        #expect(try Self.words(check.warnings, bench) == [warning])
        let made = try await bench.release("v1", to: "out", by: [.beta]).made
        #expect(
            try Self.words(made.warnings, bench)
                == (["rollout", "file"].contains(where: to.hasPrefix) ? [] : [warning])
        )
    }

    @Test func `against the release before is told with its key`() async throws {
        let bench = try Workbench()
        _ = try await Self.check(Self.right, bench)
        try await bench.release("v1", to: "one", by: [.beta])
        let base = try BaseRelease(
            folder: bench.folder.appending("one"),
            rootOfTrust: try bench.trust,
            files: bench.files
        )
        try bench.write("other();", to: "v1/b.js")
        for (from, to, reported) in [
            ("file: a.js", "file: b.js", "12: patches[1].version: fix 1 is published already with other content"),
            ("id: fix", "id: fox", "3: patches: the description lacks fix, which the base lists"),
        ] {
            try bench.files.replace(
                "release.yaml",
                in: bench.folder.appending("v1"),
                with: Array(Self.right.replacing(from, with: to).utf8)
            )
            let check = try await ReleaseCheck(
                folder: bench.folder.appending("v1"),
                trust: try bench.trust,
                base: base,
                files: bench.files
            ) { _, _ in { _ in } }
            #expect(try Self.words(check.mistakes, bench).first?.hasPrefix(reported) == true, "\(check.mistakes)")
        }
    }
}
