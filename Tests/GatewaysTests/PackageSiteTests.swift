import Gateways
import PatchFormat
import PatchCrypto
import Testing

@Suite("What JSPatch's clients get of a channel")
struct PackageSiteTests {
    private func entry(_ id: String, _ text: String, _ change: (inout PatchRules) -> Void = { _ in }) throws
        -> PatchEntry
    {
        var rules = PatchRules.everyone
        change(&rules)
        let fingerprint = Fingerprint(of: Array(text.utf8))
        return PatchEntry(
            patchID: try #require(PatchID(id)),
            kind: .script,
            version: try #require(VersionLabel("1")),
            url: "",
            fingerprint: fingerprint,
            signature: EntrySignature(keyID: fingerprint.sha256, bytes: []),
            salt: [],
            rules: rules
        )
    }

    private func line(_ wire: GatewayPackages.Wire) throws -> GatewayPackages.Line {
        .init(wire, try #require(AppVersion("2.1")))
    }

    private func package(_ version: Int, _ text: String) throws -> GatewayPackages.Package {
        .init(
            version: try .tests(version),
            fingerprint: Fingerprint(of: Array("package \(version) of \(text)".utf8)),
            contents: [.main: Fingerprint(of: Array(text.utf8)).sha256]
        )
    }

    private func dial(_ row: (of: PatchEntry, rollout: Int, paused: Bool, headcount: Int?)? = nil) throws -> Dial {
        let rows = row.map {
            Dial.Row(
                patchID: $0.of.patchID,
                sha256: $0.of.fingerprint.sha256,
                rollout: $0.rollout,
                paused: $0.paused,
                reason: nil,
                headcount: $0.headcount
            )
        }
        return Dial(
            app: try #require(AppID("app")),
            channel: try #require(ChannelName("beta")),
            rows: rows.map { [$0] } ?? []
        )
    }

    private var platform: GatewayPackages.Wire {
        get throws { .platform(try #require(PlatformAppKey("k1"))) }
    }

    private func row(
        _ wire: GatewayPackages.Wire,
        latest: Int = 2,
        _ packages: [GatewayPackages.Package]
    ) throws -> GatewayPackages {
        GatewayPackages(
            line: try line(wire),
            latest: try .tests(latest),
            scripts: [.main: try #require(PatchID("fix"))],
            packages: packages
        )
    }

    /// What the sync file says while one entry is so.
    private func syncFile(
        _ entry: PatchEntry,
        _ row: (rollout: Int, paused: Bool, headcount: Int?) = (10_000, false, nil)
    ) throws -> String {
        let list = try self.row(platform, [package(2, "fix")])
        let dial = try dial((entry, row.rollout, row.paused, row.headcount))
        let site = try #require(PackageSite(.platform, of: [list], among: [entry], dial: dial))
        guard case .syncFile(let file)? = site.files["k1/2.1"] else { return "none" }
        return String(decoding: file.bytes, as: UTF8.self)
    }

    @Test func `stands at the paths that they ask for, the platform's sync file among them`() throws {
        let entries = [try entry("fix", "fix"), try entry("fix", "old")]
        let packages = [try package(2, "fix"), try package(1, "old")]
        let rows = [try row(.loader, packages), try row(platform, packages)]
        let loader = try #require(PackageSite(.loader, of: rows, among: entries, dial: dial()))
        #expect(loader.files.keys.sorted() == ["2.1/v1.zip", "2.1/v2.zip"])
        #expect(loader.files["2.1/v2.zip"] == .package(packages[0].fingerprint))
        let platform = try #require(PackageSite(.platform, of: rows, among: entries, dial: dial()))
        #expect(platform.files.keys.sorted() == ["k1/2.1", "k1/2.1/file1", "k1/2.1/file2"])
        #expect(try PackageSite(.platform, of: [rows[0]], among: entries, dial: dial()) == nil)
    }

    @Test func `holds what developers' clients ask for too, beside what everyone gets`() throws {
        let entries = [try entry("fix", "fix"), try entry("fix", "old"), try entry("fix", "try")]
        func site(_ packages: [GatewayPackages.Package]) throws -> PackageSite {
            let latest = try #require(packages.first).version.number
            let rows = [try row(platform, latest: latest, packages)]
            return try #require(PackageSite(.platform, of: rows, among: entries, dial: dial()))
        }
        func syncFile(_ site: PackageSite, _ path: String) -> String {
            guard case .syncFile(let file)? = site.files[path] else { return "none" }
            return String(decoding: file.bytes, as: UTF8.self)
        }
        let everyone = try site([package(2, "fix"), package(1, "old")])
        let apart = try everyone.with(developers: site([package(1_001, "try")]))
        #expect(
            apart.files.keys.sorted() == ["dev/k1/2.1", "k1/2.1", "k1/2.1/file1", "k1/2.1/file1001", "k1/2.1/file2"]
        )
        #expect(syncFile(apart, "dev/k1/2.1") == #"{"v":1001}"# && syncFile(apart, "k1/2.1") == #"{"v":2}"#)
        // One number, two packages: everyone's is there.
        let mixed = try everyone.with(developers: site([package(2, "try")]))
        #expect(syncFile(mixed, "dev/k1/2.1") == #"{"p":true,"v":2}"#)
        #expect(mixed.files["k1/2.1/file2"] == everyone.files["k1/2.1/file2"])
        // Everyone's is withdrawn, and a client that was told of it asks for it still.
        let gone = try #require(
            PackageSite(.platform, of: [row(platform, [package(2, "gone")])], among: entries, dial: dial())
        )
        let left = try gone.with(developers: site([package(2, "try")]))
        #expect(left.files["k1/2.1/file2"] == nil)
        #expect(syncFile(left, "dev/k1/2.1") == #"{"p":true,"v":2}"# && syncFile(left, "k1/2.1") == #"{"e":1}"#)
        // The same package in both.
        let same = try everyone.with(developers: site([package(2, "fix")]))
        #expect(syncFile(same, "dev/k1/2.1") == #"{"v":2}"#)
    }

    @Test func `holds no package of which something is listed no more`() throws {
        let rows = [try row(.loader, [package(2, "fix"), package(1, "old")])]
        let site = try #require(PackageSite(.loader, of: rows, among: [entry("fix", "old")], dial: dial()))
        #expect(Array(site.files.keys) == ["2.1/v1.zip"])
    }

    @Test func `waits on the loader's wire until every device may take it`() throws {
        let rows = [try row(.loader, [package(2, "fix")])]
        func names(_ entry: PatchEntry, _ dial: Dial) throws -> Int {
            try #require(PackageSite(.loader, of: rows, among: [entry], dial: dial)).files.count
        }
        let open = try entry("fix", "fix") { $0.appVersion = AppVersionRange(">=2 <3") }
        #expect(try names(open, dial()) == 1)
        #expect(try names(open, dial((open, 9_999, false, nil))) == 0)
        #expect(try names(open, dial((open, 10_000, true, nil))) == 0)
        #expect(try names(open, dial((open, 10_000, false, 5))) == 0)
        for closed in [
            try entry("fix", "fix") { $0.rollout = 9_999 }, try entry("fix", "fix") { $0.condition = "a==1" },
            try entry("fix", "fix") { $0.users = [] }, try entry("fix", "fix") { $0.unknown = ["moon"] },
            try entry("fix", "fix") { $0.appVersion = AppVersionRange(">=3") },
        ] { #expect(try names(closed, dial()) == 0, "\(closed.rules)") }
    }

    @Test func `is told by tenths, condition and pause, and paused where the wire cannot say it`() throws {
        let open = try entry("fix", "fix")
        #expect(try syncFile(open) == #"{"v":2}"#)
        #expect(try syncFile(open, (4_999, false, nil)) == #"{"g":4,"v":2}"#)
        #expect(try syncFile(open, (999, false, nil)) == #"{"p":true,"v":2}"#, "0 tenths are everyone to some clients")
        #expect(try syncFile(open, (10_000, true, nil)) == #"{"p":true,"v":2}"#)
        #expect(try syncFile(open, (10_000, false, 5)) == #"{"p":true,"v":2}"#)
        #expect(try syncFile(entry("fix", "fix") { $0.rollout = 3_000 }, (5_000, false, nil)) == #"{"g":3,"v":2}"#)
        let ruled = try entry("fix", "fix") { ($0.condition, $0.runAtNextLaunch) = ("ios>=9.0", true) }
        #expect(try syncFile(ruled) == #"{"c":"ios>=9.0","r":true,"v":2}"#)
        #expect(
            try syncFile(ruled, (5_000, false, nil)) == #"{"p":true,"r":true,"v":2}"#,
            "clients that know of a share look at no condition"
        )
        #expect(try syncFile(entry("fix", "fix") { $0.users = [] }) == #"{"p":true,"v":2}"#)
        #expect(try syncFile(entry("fix", "fix") { $0.unknown = ["moon"] }) == #"{"p":true,"v":2}"#)
        #expect(try syncFile(entry("fix", "fix") { $0.appVersion = AppVersionRange(">=3") }) == #"{"p":true,"v":2}"#)
    }

    @Test func `is deleted where the newest package is gone, and nothing where it is switched off`() throws {
        let gone = try row(platform, latest: 3, [package(2, "fix")])
        let site = try #require(PackageSite(.platform, of: [gone], among: [entry("fix", "fix")], dial: dial()))
        guard case .syncFile(let file)? = site.files["k1/2.1"] else {
            Issue.record("there is a sync file")
            return
        }
        #expect(String(decoding: file.bytes, as: UTF8.self) == #"{"e":1}"#, "no number goes down")
        let off = GatewayPackages(line: gone.line, latest: gone.latest, scripts: [:], packages: [])
        #expect(try PackageSite(.platform, of: [off], among: [], dial: dial())?.files == [:])
    }
}
