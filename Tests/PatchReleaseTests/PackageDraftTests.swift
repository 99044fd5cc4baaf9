import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("The packages of a release for JSPatch's clients")
struct PackageDraftTests {
    private static func draft(_ versions: [(id: String, version: String, rules: PatchRules)]) throws -> ReleaseDraft {
        let described = try versions.map { row in
            let patch = DescribedPatch(
                patchID: named(row.id),
                version: named(row.version),
                content: .script(file: try AssetPath("a.js")),
                rules: row.rules,
                requires: [:],
                keep: 0
            )
            let bytes = Array("\(row.id) \(row.version)".utf8)
            return ReleaseDraft.Described(patch, fingerprint: Fingerprint(of: bytes))
        }
        return try ReleaseDraft(described, base: nil)
    }

    private static func line(_ wire: GatewayPackages.Wire = .loader) throws -> GatewayPackages.Line {
        .init(wire, try #require(AppVersion("2.1")))
    }

    private static func described(
        _ wires: [GatewayPackages.Wire] = [.loader],
        main: String = "fix",
        after: Int = 0
    ) throws -> DescribedPackages {
        DescribedPackages(
            scripts: [.main: named(main)],
            appVersions: [try #require(AppVersion("2.1"))],
            wires: wires,
            after: after
        )
    }

    private static func version(_ number: Int) throws -> LoaderVersion { try #require(LoaderVersion(number)) }

    /// What a release before it has.
    private static func base(latest: Int, _ packages: [(Int, String)], on: Bool = true) throws -> GatewayPackages {
        GatewayPackages(
            line: try line(),
            latest: try version(latest),
            scripts: on ? [.main: named("fix")] : [:],
            packages: try packages.map { number, content in
                .init(
                    version: try version(number),
                    fingerprint: Fingerprint(of: [UInt8(number)]),
                    contents: [.main: Fingerprint(of: Array(content.utf8)).sha256]
                )
            }
        )
    }

    private static func problem(_ rules: PatchRules = .everyone, _ described: DescribedPackages) throws -> String {
        do throws(PackageDraft.Problem) {
            let list: [PackageDraft.Listed]
            do { list = try draft([("fix", "1", rules)]).listed } catch { return "\(error)" }
            _ = try PackageDraft(described, list: list, over: [])
            return "none"
        } catch { return "\(error.field) \(error.rule)" }
    }

    @Test func `are of no more lines than a list may have, with those that had numbers before`() throws {
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        let before = try (0..<200).map { number in
            GatewayPackages(
                line: .init(.loader, try #require(AppVersion("1.\(number)"))),
                latest: try Self.version(1),
                scripts: [:],
                packages: []
            )
        }
        let full = try PackageDraft(Self.described(), list: list, over: Array(before.dropLast()))
        #expect(full.rows.count == 200)
        let problem = #expect(throws: PackageDraft.Problem.self) {
            try PackageDraft(Self.described(), list: list, over: before)
        }
        #expect(problem?.field == "jspatch.appVersions")
        #expect(problem?.rule == "makes more than 200 lines, including those with earlier numbers")
    }

    @Test func `begin at 1, or above what the server before gave out`() throws {
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        for (after, first) in [(0, 1), (7, 8)] {
            let draft = try PackageDraft(Self.described(after: after), list: list, over: [])
            #expect(try draft.rows.map(\.new?.version) == [Self.version(first)])
            #expect(draft.rows.first?.new?.need == .described)
        }
    }

    @Test func `are packed anew above what the server before gave out, where that is more than is here`() throws {
        let base = [try Self.base(latest: 8, [(8, "fix 1")])]
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        for (after, next) in [(7, nil), (8, nil), (20, 21)] {
            let row = try #require(try PackageDraft(Self.described(after: after), list: list, over: base).rows.first)
            #expect(try row.new?.version == next.map(Self.version), "\(after)")
            #expect(row.kept.map(\.version.number) == [8])
        }
    }

    @Test func `stay while their scripts do, and have the next number when one changes`() throws {
        let base = [try Self.base(latest: 3, [(3, "fix 1")])]
        let same = try PackageDraft(
            Self.described(),
            list: Self.draft([("fix", "1", .everyone)]).listed,
            over: base
        )
        #expect(same.rows.map(\.new) == [nil] && same.rows.map(\.kept) == [base[0].packages])
        let next = try PackageDraft(
            Self.described(after: 1),
            list: Self.draft([("fix", "2", .everyone)]).listed,
            over: base
        )
        #expect(try next.rows.map(\.new?.version) == [Self.version(4)])
        #expect(next.rows.map(\.kept) == [[]], "fix 1 is listed no more")
        let back = [try Self.base(latest: 4, [(3, "fix 1")])]
        let again = try PackageDraft(Self.described(), list: Self.draft([("fix", "1", .everyone)]).listed, over: back)
        #expect(try again.rows.map(\.new?.version) == [Self.version(5)], "3 was followed by 4: nothing goes down")
    }

    @Test func `keep their numbers while they are switched off`() throws {
        let base = [try Self.base(latest: 3, [(3, "fix 1")])]
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        let off = try #require(try PackageDraft(nil, list: list, over: base).rows.first)
        #expect(off.before == 3 && off.scripts.isEmpty && off.kept.isEmpty && off.new == nil)
        let on = try PackageDraft(Self.described(), list: list, over: [Self.base(latest: 3, [], on: false)])
        #expect(try on.rows.map(\.new?.version) == [Self.version(4)])
    }

    @Test func `are carried by releases that describe nothing, and made anew only if the keys are there`() throws {
        let base = [try Self.base(latest: 3, [(3, "fix 2"), (2, "fix 1")])]
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        let row = try #require(PackageDraft(carrying: base, list: list).rows.first)
        #expect(try row.new?.version == Self.version(4))
        #expect(row.new?.need == .ifPossible && row.kept.map(\.version.number) == [2])
        let gone = try #require(PackageDraft(carrying: base, list: []).rows.first)
        #expect(gone.new == nil && gone.kept.isEmpty && gone.before == 3)
    }

    @Test func `go over to another channel as they are, where their number is free there`() throws {
        let source = [try Self.base(latest: 7, [(7, "fix 1")])]
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        let free = try #require(PackageDraft(carrying: [], promoting: source, list: list).rows.first)
        #expect(free.new == nil && free.kept == source[0].packages && free.before == 7)
        let taken = [try Self.base(latest: 9, [(9, "fix 0")])]
        let row = try #require(PackageDraft(carrying: taken, promoting: source, list: list).rows.first)
        #expect(try row.new?.version == Self.version(10))
    }

    @Test func `of the platform's developers never take their numbers to another channel`() throws {
        let platform = try Self.line(.platform(named("0a1b")))
        let fix = [ScriptName.main: Fingerprint(of: Array("fix 1".utf8)).sha256]
        let source = GatewayPackages(
            line: platform,
            latest: try Self.version(1001),
            scripts: [.main: named("fix")],
            packages: [.init(version: try Self.version(1001), fingerprint: Fingerprint(of: [1]), contents: fix)]
        )
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        for (channel, next) in [("dev", 1), ("beta", nil)] {
            let draft = PackageDraft(carrying: [], promoting: [source], of: named(channel), list: list, .carried)
            let row = try #require(draft.rows.first)
            #expect(try row.new?.version == next.map(Self.version), "\(channel)")
            #expect(row.kept == (next == nil ? source.packages : []))
        }
    }

    @Test func `of which nobody gets anything before every device does are doubted`() throws {
        let doubt = """
            names fix 1, whose rules have a condition and a share: \
            the platform's clients install it only when every device may
            """
        for (rules, warnings) in [
            (PatchRules(rollout: 5_000, condition: "a==1"), [doubt]), (PatchRules(condition: "a==1"), []),
            (PatchRules(rollout: 5_000), []),
        ] {
            let described = try Self.described([.platform(named("0a1b"))])
            let draft = try PackageDraft(described, list: Self.draft([("fix", "1", rules)]).listed, over: [])
            #expect(draft.warnings.map(\.rule) == warnings)
            #expect(draft.warnings.allSatisfy { $0.field == "jspatch.scripts.main.js" })
        }
    }

    @Test func `of the platform have no name that their archive cannot hold`() throws {
        let list = try Self.draft([("fix", "1", .everyone)]).listed
        func problem(_ length: Int, _ wire: GatewayPackages.Wire) throws -> String? {
            let name = try #require(ScriptName(String(repeating: "a", count: length - 3) + ".js"))
            let described = DescribedPackages(
                scripts: [.main: named("fix"), name: named("fix")],
                appVersions: [try #require(AppVersion("2.1"))],
                wires: [wire]
            )
            do throws(PackageDraft.Problem) { _ = try PackageDraft(described, list: list, over: []) } catch {
                return error.rule
            }
            return nil
        }
        #expect(try problem(100, .platform(named("0a1b"))) == nil)
        #expect(try problem(101, .loader) == nil)
        let rule = "is over 100 bytes, the limit of the platform's packages"
        #expect(try problem(101, .platform(named("0a1b"))) == rule)
    }

    @Test func `are refused by the field for what no wire of theirs can carry`() throws {
        let field = "jspatch.scripts.main.js"
        #expect(try Self.problem(.everyone, Self.described()) == "none")
        #expect(
            try Self.problem(.everyone, Self.described(main: "other"))
                == "\(field) names other, which is not listed"
        )
        for (rules, rule) in [
            (
                PatchRules(appVersion: AppVersionRange(">=3")),
                "names fix 1, whose rules leave app version 2.1 out"
            ),
            (PatchRules(users: []), "names fix 1, whose rules name users; JSPatch's clients do not support users"),
            (
                PatchRules(condition: "a==1"),
                "names fix 1, whose rules have a condition; JSPatch's loader does not support conditions"
            ),
        ] { #expect(try Self.problem(rules, Self.described()) == "\(field) \(rule)") }
        let platform = try Self.described([.platform(named("0a1b"))])
        #expect(try Self.problem(PatchRules(condition: "a==1"), platform) == "none")
        #expect(
            try Self.problem(.everyone, Self.described(after: 999_999_999))
                == "jspatch has used every number of loader 2.1"
        )
    }

    @Test func `are refused for a bundle, a script of pages, and one that requires what is not in the package`() throws
    {
        func rule(kind: PatchKind = .script, place: ScriptPlace = .host, requires: Set<PatchID> = []) throws -> String?
        {
            let listed = PackageDraft.Listed(
                label("fix", "1"),
                kind: kind,
                sha256: Fingerprint(of: []).sha256,
                rules: .everyone,
                requires: requires,
                place: place
            )
            do throws(PackageDraft.Problem) {
                let described: DescribedPackages
                do { described = try Self.described() } catch { return "\(error)" }
                _ = try PackageDraft(described, list: [listed], over: [])
                return nil
            } catch { return error.rule }
        }
        #expect(try rule(requires: [named("fix")]) == nil)
        #expect(try rule(kind: .bundle) == "names fix 1, which is a bundle")
        #expect(try rule(place: ScriptPlace(.page)) == "names fix 1, which runs in pages")
        #expect(
            try rule(requires: [named("web")]) == "names fix 1, which requires web, but the package does not contain it"
        )
    }

    @Test func `are described in release.yaml, and what is none is named by its field`() throws {
        let top = """
            app: com.example.a
            channel: production
            patches:
            - {id: fix, kind: script, version: "1", file: a.js}

            """
        func read(_ jspatch: String) throws(DescriptionError) -> DescribedPackages? {
            try ReleaseDescription(Array("\(top)jspatch: \(jspatch)\n".utf8)).jspatch
        }
        let good = #"scripts: {main.js: fix}, appVersions: ["2.1"]"#
        #expect(
            try read("{\(good), loader: true, platform: 0a1b, after: 7}")
                == Self.described([.loader, .platform(named("0a1b"))], after: 7)
        )
        #expect(try ReleaseDescription(Array(top.utf8)).jspatch == nil)
        let many = (0...1_000).map { "s\($0).js: fix" }.joined(separator: ", ")
        for (text, field, rule) in [
            (
                "loader", "jspatch",
                #"must be a mapping, such as {scripts: {main.js: fix}, appVersions: ["2.1"], loader: true}"#
            ),
            ("{\(good)}", "jspatch", "must have loader: true, or the app's key as platform"),
            ("{\(good), loader: false}", "jspatch", "must have loader: true, or the app's key as platform"),
            ("{\(good), platform: a-b}", "jspatch.platform", "must be 1 to 64 of A-Z a-z 0-9"),
            (
                #"{scripts: {cart.js: fix}, appVersions: ["2.1"], loader: true}"#, "jspatch.scripts",
                "must have main.js, the script that runs"
            ),
            (
                "{scripts: {\(many)}, appVersions: [\"2.1\"], loader: true}", "jspatch.scripts",
                "must have at most 1000 members"
            ),
            (
                #"{scripts: {main.txt: fix}, appVersions: ["2.1"], loader: true}"#, "jspatch.scripts.main.txt",
                "must end in .js and hold no slash"
            ),
            (
                #"{scripts: {main.js: fix}, appVersions: ["2.1", "2.1"], loader: true}"#, "jspatch.appVersions[1]",
                "is given twice"
            ),
            (
                #"{scripts: {main.js: fix}, appVersions: ["x"], loader: true}"#, "jspatch.appVersions[0]",
                AppVersion.rule
            ),
            (
                "{scripts: {main.js: fix}, appVersions: [], loader: true}", "jspatch.appVersions",
                "must not be empty"
            ),
        ] as [(String, String, String)] {
            let expected = DescriptionError("release.yaml", line: 5, field: field, rule: rule)
            #expect(throws: expected, "\(text.prefix(60))") { try read(text) }
        }
    }

    @Test func `are told to whoever signs them, with what their wires cannot carry`() throws {
        let one = try Self.base(latest: 1, [(1, "fix 1")])
        let two = try Self.base(latest: 2, [(2, "fix 2"), (1, "fix 1")])
        let gone = try Self.base(latest: 2, [(1, "fix 1")])
        let off = try Self.base(latest: 2, [], on: false)
        func words(_ before: GatewayPackages?, _ after: GatewayPackages) -> [String] {
            PackageChange.all(from: before.map { [$0] } ?? [], to: [after]).map(\.words)
        }
        #expect(
            words(nil, one) == [
                "~ loader 2.1: JSPatch's loader gives its clients main.js of fix as version 1, "
                    + "once every device may install it; "
                    + "the format has a signature over an MD5, but no roles, expiry, rollout, conditions or rollback"
            ]
        )
        #expect(words(one, two) == ["~ loader 2.1: version 2 follows 1, with main.js of fix"])
        #expect(words(two, two) == [] && words(gone, gone) == [])
        #expect(words(two, gone) == ["- loader 2.1: version 2 is no longer offered; clients that have it keep it"])
        #expect(words(two, off) == ["~ loader 2.1: its clients get no more versions and keep theirs"])
        #expect(words(off, off) == [])
        let platform = GatewayPackages(
            line: try Self.line(.platform(named("0a1b"))),
            latest: one.latest,
            scripts: one.scripts,
            packages: one.packages
        )
        #expect(
            words(nil, platform) == [
                "~ platform 0a1b 2.1: JSPatch's platform gives its clients main.js of fix as version 1, "
                    + "for the tenths of devices that list and dial allow; "
                    + "the format has a signature over an MD5 and an unsigned sync file, but no roles, "
                    + "expiry, head-counts, users or rollback"
            ]
        )
    }
}
