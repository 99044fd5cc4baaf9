import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A release description")
struct DescriptionTests {
    private func read(_ text: String) throws(DescriptionError) -> ReleaseDescription {
        try ReleaseDescription(Array(text.utf8))
    }

    private static let top = "app: com.example.a\nchannel: production\n"

    @Test func `is read with its defaults`() throws {
        let text = Self.top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js}\n"
        let patch = try #require(try read(text).patches.first)
        #expect(patch.label == label("a", "1"))
        #expect(patch.content == .script(file: try AssetPath("a.js")))
        #expect(patch.rules == .everyone)
        #expect(patch.keep == 1)
        #expect(patch.requires.isEmpty)
    }

    private static func rollout(_ text: String) -> String {
        top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, rules: {rollout: \(text)}}\n"
    }

    @Test(arguments: [
        ("10%", 1_000), ("100%", 10_000), ("0%", 0), ("0.25%", 25), ("2.5%", 250), ("\"33.33%\"", 3_333),
        ("2500", 2_500),
    ])
    func `takes a rollout as a percentage or as ten-thousandths`(text: String, rollout: Int) throws {
        #expect(try read(Self.rollout(text)).patches.first?.rules.rollout == rollout)
    }

    @Test(arguments: ["101%", "10.001%", "-1%", "\"%\"", "ten", "1e1%", "10 %", ".5%"])
    func `says what a rollout may be`(text: String) {
        let rule = "must be an integer from 0 to 10000, or a percentage of at most two decimals: 10% is 1000"
        #expect(throws: DescriptionError("release.yaml", line: 4, field: "patches[0].rules.rollout", rule: rule)) {
            try read(Self.rollout(text))
        }
    }

    @Test func `is read with everything in it`() throws {
        let digest = String(repeating: "ab", count: 32)
        let text =
            Self.top + """
                patches:
                - id: web
                  kind: bundle
                  version: 1.4.2
                  folder: build/web
                  index: app.html
                  routes: ["/", "/item/*"]
                  cacheable: ["app/*"]
                  commit: "123456"
                  compatibility: {ios: "9"}
                  keep: 3
                  requires: {fix: ["2", \(digest)]}
                  rules: {rollout: 2500, appVersion: ">=2.1 <3", dial: required, condition: region==eu, users: [\(digest)],
                    mandatory: true, runAtNextLaunch: true}
                """
        let patch = try #require(try read(text).patches.first)
        guard case .bundle(let bundle) = patch.content else { throw DescriptionError("test", rule: "is no bundle") }
        #expect(bundle.folder.text == "build/web")
        #expect(bundle.index.text == "app.html")
        #expect(bundle.routes?.map(\.text) == ["/", "/item/*"])
        #expect(bundle.cacheable == ["app/*"])
        #expect(bundle.commit == "123456")
        #expect(bundle.compatibility == ["ios": "9"])
        #expect(patch.keep == 3)
        let content = try #require(SHA256Digest(hex: digest))
        #expect(patch.requires == [named("fix"): [.version(named("2")), .content(content)]])
        #expect(patch.rules.rollout == 2500)
        #expect(patch.rules.appVersion?.text == ">=2.1 <3")
        #expect(patch.rules.dial == .required)
        #expect(patch.rules.users == [content])
        #expect(patch.rules.mandatory && patch.rules.runAtNextLaunch)
    }

    @Test func `may name users by their ids, which a release holds as hashes alone`() throws {
        let digest = String(repeating: "a1", count: 32)
        let text =
            Self.top
            + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, rules: {users: [alice, \(digest)]}}\n"
        let patch = try #require(try read(text).patches.first)
        #expect(patch.users.map(\.text) == ["alice"])
        let content = try #require(SHA256Digest(hex: digest))
        #expect(patch.rules.users == [content])
        let fingerprint = Fingerprint(of: Array("a();".utf8))
        let row = try ReleaseDraft([.init(patch, fingerprint: fingerprint)], base: nil).rows[0]
        #expect(row.rules.users == [content, SHA256Digest(of: row.salt + Array("alice".utf8))])
    }

    private static let one = "- {id: a, kind: script, version: \"1\", file: a.js}\n"
    private static let known = "file, id, keep, kind, pages, requires, rules, runsIn, security, version"

    private static let bad: [(what: String, text: String, line: Int?, field: String, rule: String)] = [
        ("nothing", "", nil, "", "is empty"),
        ("a list", "- a", 1, "", "must be an object"),
        ("broken YAML", "app: [", 2, "", "is not YAML: did not find expected node content"),
        ("a key twice", "app: a\napp: b\n", 2, "", "has 'app' twice in one mapping"),
        (
            "an unknown key", top + "patches: []\nextra: 1\n", 4, "extra",
            "is not a known field; the fields are app, channel, hosts, jspatch, patches"
        ),
        ("no app", "channel: production\npatches: []\n", 1, "app", "is missing"),
        ("no patches", top, 1, "patches", "is missing"),
        ("a role as channel", "app: a\nchannel: root\npatches: []\n", 2, "channel", ChannelName.rule),
        (
            "an unknown key in a patch",
            top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, folder: b}\n", 4,
            "patches[0].folder", "is not a known field; the fields are \(known)"
        ),
        (
            "an id twice", top + "patches:\n" + one + one, 5, "patches[1].id",
            "is listed twice; list each id once, with its newest version"
        ),
        (
            "two bundles for Meteor's clients",
            top + "patches:\n"
                + ["a", "b"].map { "- {id: \($0), kind: bundle, version: \"1\", folder: w, gateways: [meteor]}\n" }
                .joined(), 5,
            "patches[1].gateways", "has meteor, like a; only one patch of a channel may have it"
        ),
        (
            "an unknown kind", top + "patches:\n- {id: a, kind: zip, version: \"1\", file: a.js}\n", 4,
            "patches[0].kind",
            "must be script or bundle"
        ),
        (
            "a version that is a number", top + "patches:\n- {id: a, kind: script, version: 3, file: a.js}\n", 4,
            "patches[0].version", "is a number; put it in quotes: \"3\""
        ),
        (
            "the least number there is",
            top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, keep: -9223372036854775808}\n", 4,
            "patches[0].keep", "is too large a number"
        ),
        (
            "a version that is a fraction", top + "patches:\n- {id: a, kind: script, version: 1.10, file: a.js}\n", 4,
            "patches[0].version",
            "is not a whole number; if it is meant as text, put it in quotes: \"1.10\""
        ),
        (
            "a commit that looks like a number",
            top + "patches:\n- {id: a, kind: bundle, version: \"1\", folder: a, commit: 12e4}\n",
            4, "patches[0].commit",
            "is not a whole number; if it is meant as text, put it in quotes: \"12e4\""
        ),
        (
            "an id with a slash", top + "patches:\n- {id: a/b, kind: script, version: \"1\", file: a.js}\n", 4,
            "patches[0].id",
            PatchID.rule
        ),
        (
            "a file outside", top + "patches:\n- {id: a, kind: script, version: \"1\", file: ../a.js}\n", 4,
            "patches[0].file",
            "has a '.' or '..' segment"
        ),
        (
            "an absolute folder", top + "patches:\n- {id: a, kind: bundle, version: \"1\", folder: /etc}\n", 4,
            "patches[0].folder", "is absolute"
        ),
        (
            "a route without a slash",
            top + "patches:\n- {id: a, kind: bundle, version: \"1\", folder: a, routes: [cart]}\n", 4,
            "patches[0].routes[0]", RoutePattern.rule
        ),
        (
            "a rollout over all",
            top + "patches:\n- id: a\n  kind: script\n  version: \"1\"\n  file: a.js\n  rules:\n    rollout: 10001\n",
            9, "patches[0].rules.rollout",
            "must be an integer from 0 to 10000, or a percentage of at most two decimals: 10% is 1000"
        ),
        (
            "a rule nobody knows",
            top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, rules: {rolout: 1}}\n", 4,
            "patches[0].rules.rolout",
            "is not a rule; did you mean rollout? The rules are appVersion, condition, dial, mandatory, rollout, "
                + "runAtNextLaunch, users"
        ),
        (
            "a condition that no device can read",
            top
                + "patches:\n- id: a\n  kind: script\n  version: \"1\"\n  file: a.js\n  rules:\n    condition: region=eu\n",
            9, "patches[0].rules.condition", "\(Condition.Problem.malformed("region=eu"))"
        ),
        (
            "a user that is no id",
            top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, rules: {users: [alice, \"\"]}}\n", 4,
            "patches[0].rules.users[1]", UserID.rule
        ),
        (
            "yes as a boolean",
            top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, rules: {mandatory: yes}}\n", 4,
            "patches[0].rules.mandatory", "must be true or false"
        ),
        (
            "a requirement of nothing",
            top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, requires: {b: []}}\n", 4,
            "patches[0].requires.b", "must not be empty"
        ),
        (
            "a negative keep", top + "patches:\n- {id: a, kind: script, version: \"1\", file: a.js, keep: -1}\n", 4,
            "patches[0].keep", "must be an integer from 0 to 100"
        ),
        (
            "a tag", top + "patches:\n- {id: a, kind: script, version: !!str 1, file: a.js}\n", 4, "patches[0].version",
            "has a YAML tag; write plain values"
        ),
    ]

    @Test(arguments: bad.map(\.what))
    func `is refused for`(_ what: String) throws {
        let (_, text, line, field, rule) = try #require(Self.bad.first { $0.what == what })
        let error = #expect(throws: DescriptionError.self) { try read(text) }
        #expect(error == DescriptionError("release.yaml", line: line, field: field, rule: rule))
    }

    @Test func `that grows without end through aliases is refused`() throws {
        var text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for (name, inner) in zip("bcdefg", "abcdef") {
            text += "\(name): &\(name) [" + Array(repeating: "*\(inner)", count: 10).joined(separator: ", ") + "]\n"
        }
        let error = #expect(throws: DescriptionError.self) { try read(text) }
        #expect(error?.rule == "is nested too deep or too large")
    }
}
