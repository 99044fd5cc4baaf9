import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

/// `requires`: patches move together or not at all.
@Suite("The choice over all patches")
struct JointChoiceTests {
    private static let closed = PatchRules(rollout: 0)

    /// `fix 2`, which requires `web 2`: `row("fix 2", "web 2")`.
    private static func row(_ label: String, _ requires: String..., rules: PatchRules = .everyone) -> PatchEntry {
        let parts = label.split(separator: " ").map(String.init)
        var needs: [PatchID: [SHA256Digest]] = [:]
        for other in requires.map(installed) { needs[other.patchID, default: []].append(other.fingerprint.sha256) }
        return entry(parts[0], parts[1], rules: rules, requires: needs)
    }

    private static func decide(
        _ rows: [PatchEntry],
        having current: [String],
        refusing refused: Set<String> = [],
        blocks: TrialBlocks = TrialBlocks()
    ) -> [Decision] {
        let context = EligibilityContext(
            device: DeviceFacts(deviceID: SimulatedDevice.id, time: ManualClock.start),
            blocks: blocks
        )
        let current = current.map(installed)
        let ids = Set(rows.map(\.patchID)).union(current.map(\.patchID)).sorted()
        let candidates = ids.map { id in
            Candidates(
                id,
                versions: rows.filter { $0.patchID == id },
                hasRefused: refused.contains(id.text),
                current: current.first { $0.patchID == id },
                under: context
            )
        }
        return JointChoice(candidates, under: context).decisions
    }

    private static func summary(_ decisions: [Decision]) -> String {
        decisions.compactMap { decision in
            switch decision.choice {
            case .take(let entry, over: _): "+\(entry.patchID) \(entry.version)"
            case .keep(let patch): "\(patch.label)"
            case .withdraw(let patch, for: _): "-\(patch.label)"
            case .none: nil
            }
        }.joined(separator: ", ")
    }

    @Test(arguments: [
        ["fix 2", "web 2"], ["fix 2", "tip 2", "web 2"],
    ])
    func `leaves what a device has where the dial pauses what its successor requires`(_ chain: [String]) {
        let rows = zip(chain, chain.dropFirst()).map { Self.row($0, $1) } + [Self.row(chain.last ?? "")]
        let pause = Dial.Row(
            patchID: name("web"),
            sha256: installed("web 2").fingerprint.sha256,
            rollout: 10_000,
            paused: true,
            reason: nil
        )
        for (dial, expected) in [
            ([pause], "fix 1"), ([], chain.map { "+\($0)" }.joined(separator: ", ")),
        ] {
            let context = EligibilityContext(
                device: DeviceFacts(deviceID: SimulatedDevice.id, time: ManualClock.start),
                dial: Dial(app: name("app"), channel: name("production"), rows: dial)
            )
            let candidates = rows.map { row in
                Candidates(
                    row.patchID,
                    versions: [row],
                    current: row.patchID.text == "fix" ? installed("fix 1") : nil,
                    under: context
                )
            }
            #expect(Self.summary(JointChoice(candidates, under: context).decisions) == expected)
        }
    }

    /// What is listed, what the device has, what it is to have: `+` taken, `-` withdrawn.
    private static let table: [(what: String, listed: [PatchEntry], has: [String], result: String)] = [
        (
            "both move", [row("fix 2", "web 2"), row("fix 1"), row("web 2"), row("web 1")], ["fix 1", "web 1"],
            "+fix 2, +web 2"
        ),
        (
            "they require each other, and both move",
            [row("fix 2", "web 2"), row("fix 1"), row("web 2", "fix 2"), row("web 1")], ["fix 1", "web 1"],
            "+fix 2, +web 2"
        ),
        (
            "they require each other, and one may not move",
            [row("fix 2", "web 2"), row("fix 1"), row("web 2", "fix 2", rules: closed), row("web 1")],
            ["fix 1", "web 1"], "fix 1, web 1"
        ),
        (
            "the requirement may not move, and nothing is taken on its account",
            [row("fix 2", "web 2"), row("web 2", rules: closed)], [], ""
        ),
        (
            "the requirement is kept", [row("fix 2", "web 1"), row("fix 1"), row("web 1")], ["fix 1", "web 1"],
            "+fix 2, web 1"
        ),
        (
            "one of several will do", [row("fix 2", "web 1", "web 2"), row("fix 1"), row("web 1")], ["fix 1", "web 1"],
            "+fix 2, web 1"
        ),
        (
            "the next version of its id is looked at",
            [
                row("fix 3", "web 3"), row("fix 2", "web 2"), row("fix 1"), row("web 3", rules: closed), row("web 2"),
                row("web 1"),
            ],
            ["fix 1", "web 1"], "+fix 2, +web 2"
        ),
        (
            "a newer partner that stands is not given up",
            [row("fix 2", "web 2"), row("fix 1"), row("web 3"), row("web 2")],
            ["fix 1", "web 1"], "fix 1, +web 3"
        ),
        (
            "a newer partner that cannot stand itself makes room",
            [row("fix 2", "web 2"), row("fix 1"), row("web 3", "tip 9"), row("web 2"), row("web 1")],
            ["fix 1", "web 1"], "+fix 2, +web 2"
        ),
        (
            "a chain falls as a whole",
            [
                row("a 2", "b 2"), row("a 1"), row("b 2", "c 2"), row("b 1"), row("c 2", "d 2"), row("c 1"),
                row("d 2", rules: closed), row("d 1"),
            ],
            ["a 1", "b 1", "c 1", "d 1"], "a 1, b 1, c 1, d 1"
        ),
        (
            "a ring moves as a whole",
            [row("a 2", "b 2"), row("b 2", "c 2"), row("c 2", "a 2")], ["a 1", "b 1", "c 1"], "+a 2, +b 2, +c 2"
        ),
        (
            "an installed patch holds on to what it requires",
            [row("fix 1", "web 1"), row("web 2"), row("web 1")], ["fix 1", "web 1"], "fix 1, web 1"
        ),
        (
            "an installed patch lets go of what it requires when it moves itself",
            [row("fix 2"), row("fix 1", "web 1"), row("web 2"), row("web 1")], ["fix 1", "web 1"], "+fix 2, +web 2"
        ),
        (
            "an installed patch takes any of those that it requires",
            [row("fix 1", "web 1", "web 2"), row("web 2"), row("web 1")], ["fix 1", "web 1"], "fix 1, +web 2"
        ),
        (
            "the mover falls to the next version that does not break the installed one",
            [row("fix 1", "web 1", "web 2"), row("web 3"), row("web 2"), row("web 1")], ["fix 1", "web 1"],
            "fix 1, +web 2"
        ),
        (
            "a withdrawn requirement takes along what requires it",
            [row("fix 1", "web 1")], ["fix 1", "web 1"], "-fix 1, -web 1"
        ),
        (
            "a withdrawn requirement leads to the version that does without",
            [row("fix 2", "web 1"), row("fix 1")], ["fix 2", "web 1"], "+fix 1, -web 1"
        ),
        (
            "a requirement that is not listed any more is replaced all the same",
            [row("fix 1", "web 1"), row("web 2")], ["fix 1", "web 1"], "-fix 1, +web 2"
        ),
        (
            "what was never met takes nothing away",
            [row("fix 1", "web 2"), row("web 2", rules: closed), row("web 1")],
            ["fix 1", "web 1"], "fix 1, web 1"
        ),
        ("a patch that requires an id that is nowhere is not taken", [row("fix 1", "web 1")], [], ""),
        ("a patch that requires another version of itself is not taken", [row("fix 2", "fix 1")], [], ""),
    ]

    @Test(arguments: table.map { ($0.what, $0.listed, $0.has, $0.result) })
    func `lets patches that require one another move together or not at all`(
        what: String,
        listed: [PatchEntry],
        has: [String],
        result: String
    ) {
        #expect(Self.summary(Self.decide(listed, having: has)) == result, "\(what)")
    }

    @Test func `names what is missing, and why that is not there`() {
        let rows = [Self.row("fix 2", "web 2"), Self.row("web 2", rules: Self.closed)]
        let decisions = Self.decide(rows, having: [])
        let why = NotEligible.unmet(requires: name("web"), because: .rollout(cohort: 4_274, effective: 0))
        #expect(decisions[0].passedOver == [.init(version: name("2"), why: why)])
    }

    @Test func `names the installed patch that holds a mover back`() {
        let rows = [Self.row("fix 1", "web 1"), Self.row("web 2"), Self.row("web 1")]
        let decisions = Self.decide(rows, having: ["fix 1", "web 1"])
        #expect(decisions[1].passedOver == [.init(version: name("2"), why: .breaks(installed("fix 1").label))])
        #expect(NotEligible.breaks(installed("fix 1").label).description == "would break a requirement of fix 1")
    }

    /// The old version of a list that has replaced it stays while what took its place waits for a partner that failed here.
    @Test func `keeps what runs when the partner of what took its place failed here`() {
        var blocks = TrialBlocks()
        blocks.fail([installed("fix 2")], because: .timer, at: ManualClock.start)
        let rows = [Self.row("fix 2"), Self.row("fix 1"), Self.row("web 2", "fix 2")]
        #expect(Self.summary(Self.decide(rows, having: ["fix 1", "web 1"], blocks: blocks)) == "fix 1, web 1")
    }

    @Test func `concludes nothing from the absence of a requirement whose entry was refused`() {
        let rows = [Self.row("fix 1", "web 1")]
        #expect(Self.summary(Self.decide(rows, having: ["fix 1", "web 1"], refusing: ["web"])) == "fix 1, web 1")
    }

    /// Lists of five ids with four versions each, rules and requirements at random: 600 of them.
    @Test func `leaves nobody without what it requires, whatever is listed`() {
        let seed: UInt64 = 4_711
        var generator = SeededGenerator(state: seed)
        func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
        let ids = ["a", "b", "c", "d", "e"]
        for round in 0..<600 {
            var rows: [PatchEntry] = []
            for id in ids {
                for version in (1...4).reversed() where pick(5) > 0 {
                    let other = ids[pick(ids.count)]
                    let needs =
                        pick(2) == 0 && other != id ? ["\(other) \(pick(4) + 1)", "\(other) \(pick(4) + 1)"] : []
                    var digests: [PatchID: [SHA256Digest]] = [:]
                    for need in needs.map(installed) {
                        digests[need.patchID, default: []].append(need.fingerprint.sha256)
                    }
                    let rules = pick(4) == 0 ? Self.closed : .everyone
                    rows.append(entry(id, "\(version)", rules: rules, requires: digests))
                }
            }
            let current = ids.filter { _ in pick(3) > 0 }.map { "\($0) \(pick(4) + 1)" }
            let decisions = Self.decide(rows, having: current)
            check(decisions, rows: rows, current: current.map(installed), "seed \(seed), round \(round)")
            #expect(Self.decide(rows, having: current) == decisions, "the same facts, another choice; round \(round)")
        }
    }

    private func check(_ decisions: [Decision], rows: [PatchEntry], current: [InstalledPatch], _ comment: Comment) {
        let picked = Dictionary(uniqueKeysWithValues: decisions.map { ($0.patchID, $0.choice.content) })
        func isMet(_ requires: [PatchID: [SHA256Digest]], by has: (PatchID) -> SHA256Digest?) -> [PatchID] {
            requires.filter { id, digests in has(id).map { !digests.contains($0) } ?? true }.map(\.key)
        }
        for decision in decisions {
            switch decision.choice {
            case .take(let entry, over: _):
                #expect(isMet(entry.requires) { picked[$0]??.sha256 } == [], comment)
            case .keep(let patch):
                guard let row = rows.first(where: { $0.content == patch.content }) else { continue }
                let before = isMet(row.requires) { id in current.first { $0.patchID == id }?.fingerprint.sha256 }
                let after = isMet(row.requires) { picked[$0]??.sha256 }
                #expect(Set(after).isSubset(of: before), comment)
            case .withdraw(let patch, for: _):
                let isListed = rows.contains { $0.content == patch.content }
                let lost = decision.passedOver.contains { if case .unmet = $0.why { true } else { false } }
                #expect(!isListed || lost, comment)
            case .none: break
            }
        }
    }
}
