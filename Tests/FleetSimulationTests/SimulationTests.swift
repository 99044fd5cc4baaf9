import DeviceTesting
import PatchChoice
import PatchFormat
import PatchCrypto
import Testing

@testable import FleetSimulation
@testable import PatchSync

@Suite("A simulated fleet")
struct SimulationTests {
    private static let time = UTCTime(seconds: 1_795_161_600)

    private static func fleet(_ text: String) throws -> Fleet { try Fleet(Array(text.utf8), named: "fleet.yaml") }

    private static let mixed = """
        devices:
          - {share: 50%, appVersion: 2.1, data: {region: eu}, installed: {web: "1", fix: "1"}}
          - {share: 30%, appVersion: "1.9", installed: {web: "1", old: "7"}}
          - share: 15%
            appVersion: 2.1
            consent: security
            installed: {web: "1"}
            platform: {name: ios, compatibility: 5e5e}
            user: alice
          - share: 5%
        """

    private static func entries() throws -> [PatchEntry] {
        let hole = try SecurityAdvisory(Fields(.fields([("text", .text("a hole"))]), of: "test"))
        let web3 = entry(
            "web",
            "3",
            rules: PatchRules(rollout: 4_000, appVersion: AppVersionRange(">=2")),
            salt: 3,
            requires: [name("fix"): [entry("fix", "2").fingerprint.sha256]]
        )
        return [
            web3, entry("web", "2", rules: PatchRules(rollout: 7_000), salt: 2, security: hole), entry("web", "1"),
            entry("fix", "2", rules: PatchRules(condition: "region==eu")), entry("fix", "1"),
        ]
    }

    private static func simulation(_ fleet: Fleet, dial: Dial? = nil, seed: UInt64 = 1) throws -> Simulation {
        Simulation(try entries(), dial: dial, fleet: fleet, seed: seed, time: time)
    }

    @Test func `has as many devices of each kind as its shares say, in whole ones`() throws {
        let shares = [3_333, 3_333, 3_334].map { Fleet.Kind(share: $0) }
        #expect(Fleet(shares).counts(of: 10) == [3, 3, 4])
        #expect(Fleet(shares).counts(of: 2) == [1, 0, 1])
        #expect(try Self.fleet(Self.mixed).counts(of: 1_000_000) == [500_000, 300_000, 150_000, 50_000])
    }

    @Test func `comes to the same table for the same seed, and says why each device gets what it gets`() async throws {
        let simulation = try Self.simulation(try Self.fleet(Self.mixed))
        let result = await simulation.run(devices: 1_000)
        let reported = result.rows.map { row in
            let counts = row.outcomes.merging(row.reasons.map { ("- \($0.key)", $0.value) }) { first, _ in first }
            return "\(row.label): "
                + counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
        #expect(
            reported == [
                "web 3: - appVersion 350, - rollout 384, - unapproved 61, passedOver 795, taken 205",
                "web 2: - rollout 226, below 205, passedOver 226, taken 569",
                "web 1: below 36, installed 212, replaced 738, taken 14",
                "fix 2: - condition 500, passedOver 500, taken 500",
                "fix 1: - unapproved 150, passedOver 150, replaced 500, taken 350",
            ]
        )
        let patches = result.patches.map { patch in
            let after = SimulationResult.Patch.ordered(patch.after).map { "\($0.version?.text ?? "-") \($0.devices)" }
            return "\(patch.id): " + after.joined(separator: ", ")
        }
        #expect(patches == ["fix: 2 500, 1 350, - 150", "old: - 1000", "web: 2 569, 1 226, 3 205"])
        #expect(result == (await simulation.run(devices: 1_000)))
        #expect(result != (await (try Self.simulation(try Self.fleet(Self.mixed), seed: 2)).run(devices: 1_000)))
        #expect(
            result.bars(width: 10).prefix(6) == [
                "fix", "  before  1        █████ 50 %", "          nothing  █████ 50 %",
                "  after   2        █████ 50 %",
                "          1        ███▌ 35 %", "          nothing  █▌ 15 %",
            ]
        )
    }

    /// Device by device, by the facts that `patchsync explain --as` reads.
    @Test func `is the sum of what explain says of each of its devices`() async throws {
        let fleet = try Self.fleet(Self.mixed)
        let entries = try Self.entries()
        let dial = Dial(
            app: name("app"),
            channel: name("production"),
            rows: [
                Dial.Row(
                    patchID: name("web"),
                    sha256: entries[0].fingerprint.sha256,
                    rollout: 2_500,
                    paused: false,
                    reason: nil
                )
            ]
        )
        let simulation = try Self.simulation(fleet, dial: dial, seed: 7)
        let result = await simulation.run(devices: 400)
        var outcomes = entries.map { _ in [String: Int]() }
        var index = 0
        for (kind, count) in fleet.counts(of: 400).enumerated() {
            for device in index..<(index + count) {
                let reported = try DescribedDevice(
                    Self.facts(fleet.kinds[kind], simulation.deviceID(device)).canonicalBytes,
                    named: "facts"
                )
                let state = try reported.state(under: entries + [entry("old", "7")], roleVersion: 1)
                let context = EligibilityContext(state, device: reported.facts(at: Self.time), dial: dial)
                let choice = ListChoice(entries, withdrawn: [:], machine: state.machine, under: context)
                let explained = Explanation(
                    entries,
                    roleVersion: 1,
                    decisions: choice.decisions,
                    base: choice.base,
                    under: choice.context
                )
                for (place, version) in explained.versions.enumerated() {
                    outcomes[place][version.outcome.code, default: 0] += 1
                }
                let own = simulation.explanation(ofDevice: device, of: kind)
                #expect(own.versions.map(\.outcome) == explained.versions.map(\.outcome))
            }
            index += count
        }
        #expect(result.rows.map(\.outcomes) == outcomes)
    }

    private static func facts(_ kind: Fleet.Kind, _ id: [UInt8]) -> JSON {
        let data = kind.data.sorted { $0.key < $1.key }.map { ($0.key.text, Optional(JSON.text($0.value.text))) }
        return .fields([
            ("format", .text(DescribedDevice.format)), ("deviceId", .text(Hex.text(id))),
            ("appVersion", kind.appVersion.map { .text($0.text) }), ("user", kind.user.map { .text($0.text) }),
            ("data", data.isEmpty ? nil : .fields(data)), ("platform", kind.platform?.json),
            ("consent", kind.consent == .automatic ? nil : .text(kind.consent.rawValue)),
            (
                "installed",
                .array(
                    kind.installed.sorted { $0.key < $1.key }.map {
                        .fields([("patchId", .text($0.key.text)), ("version", .text($0.value.text))])
                    }
                )
            ),
        ])
    }

    @Test func `gives places to so many devices, and the others what they had`() async throws {
        let entries = [entry("web", "2"), entry("web", "1")]
        let row = Dial.Row(
            patchID: name("web"),
            sha256: entries[0].fingerprint.sha256,
            rollout: 10_000,
            paused: false,
            reason: nil,
            headcount: 30
        )
        let fleet = try Self.fleet("devices: [{share: 100%, installed: {web: '1'}}]")
        let simulation = Simulation(
            entries,
            dial: Dial(app: name("app"), channel: name("production"), rows: [row]),
            fleet: fleet,
            seed: 1,
            time: Self.time
        )
        let result = await simulation.run(devices: 100)
        #expect(result.rows[0].takers == 30 && result.rows[0].reasons == ["noPlace": 70])
        #expect(result.rows[1].keepers == 70 && result.percent(1) == "1 %" && result.percent(0) == "0 %")
        #expect(
            result.svg == """
                <svg xmlns="http://www.w3.org/2000/svg" width="776" height="136" font-family="sans-serif" font-size="12">
                <title>100 devices, seed 1</title>
                <style>.name{font-weight:bold}</style>
                <text x="8" y="40" class="name">web</text>
                <text x="8" y="65">before</text>
                <rect x="120" y="48" width="640" height="24" fill="#7fb3d5">
                <title>1 100 %: 100 devices</title></rect>
                <text x="124" y="65">1 100 %</text>
                <text x="8" y="97">after</text>
                <rect x="120" y="80" width="448" height="24" fill="#7fb3d5">
                <title>1 70 %: 70 devices</title></rect>
                <text x="124" y="97">1 70 %</text>
                <rect x="568" y="80" width="192" height="24" fill="#82c99d">
                <title>2 30 %: 30 devices</title></rect>
                <text x="572" y="97">2 30 %</text>
                </svg>

                """
        )
    }

    @Test(arguments: [
        ("- a", "fleet.yaml:1: must be a mapping: name: value"), ("", "fleet.yaml: is empty"),
        ("device: []", "fleet.yaml:1: device is not a known field; did you mean devices? The fields are devices"),
        (
            "devices:\n  - {share: 60%}\n  - {share: 50%}",
            "fleet.yaml:2: devices must have shares of 100% in total, not 110 %"
        ),
        ("devices: []", "fleet.yaml:1: devices must be a list of 1 to 1,000 kinds"),
        ("devices:\n  - {}", "fleet.yaml:2: devices[0].share is missing"),
        (
            "devices:\n  - share: 60",
            "fleet.yaml:2: devices[0].share must be a share from 0% to 100% with at most two decimals"
        ),
        ("devices:\n  - share: 100%\n    appVersion: x", "fleet.yaml:3: devices[0].appVersion \(AppVersion.rule)"),
        (
            "devices:\n  - share: 100%\n    consent: never",
            "fleet.yaml:3: devices[0].consent must be automatic, security or ask"
        ),
        (
            "devices:\n  - share: 100%\n    instaled: {}",
            "fleet.yaml:3: devices[0].instaled is not a known field; did you mean installed? The fields are share, appVersion, user, data, platform, consent, installed"
        ),
        (
            "devices:\n  - share: 100%\n    installed: {web: 1 0}",
            "fleet.yaml:3: devices[0].installed.web \(VersionLabel.rule)"
        ),
        (
            "devices:\n  - share: 100%\n    platform: {name: ios}",
            "fleet.yaml:3: devices[0].platform must have name and compatibility: \(Platform.rule)"
        ),
        ("devices: [{share: 100%, share: 0%}]", "fleet.yaml:1: sets 'share' twice"),
    ])
    func `is refused with file, line and key`(text: String, message: String) {
        let error = #expect(throws: FleetError.self) { try Self.fleet(text) }
        #expect(error?.description == message)
    }
}
