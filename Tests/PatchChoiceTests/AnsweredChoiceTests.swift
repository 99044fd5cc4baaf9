import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

/// Rows J6 and E8.
@Suite("A choice that the server has a part in")
struct AnsweredChoiceTests {
    private static let closed = PatchRules(rollout: 0)

    /// `fix 2`, which requires `web 2`.
    private static func row(_ label: String, _ requires: String..., rules: PatchRules = .everyone) -> PatchEntry {
        let parts = label.split(separator: " ").map(String.init)
        var needs: [PatchID: [SHA256Digest]] = [:]
        for other in requires.map(installed) { needs[other.patchID, default: []].append(other.fingerprint.sha256) }
        return entry(parts[0], parts[1], rules: rules, requires: needs)
    }

    private static func chosen(_ label: String, isForced: Bool = false) -> DeviceAnswer.Choice {
        .version(installed(label).fingerprint.sha256, isForced: isForced)
    }

    private static func decide(
        _ rows: [PatchEntry],
        having current: [String] = [],
        _ choices: [String: DeviceAnswer.Choice] = [:],
        dial: [Dial.Row]? = nil,
        editing edit: (inout EligibilityContext) -> Void = { _ in }
    ) -> AnsweredChoice {
        var context = EligibilityContext(
            device: DeviceFacts(deviceID: SimulatedDevice.id, time: ManualClock.start),
            dial: dial.map { Dial(app: name("app"), channel: name("production"), rows: $0) }
        )
        context.answers.choices = Dictionary(uniqueKeysWithValues: choices.map { (name($0.key), $0.value) })
        edit(&context)
        let current = current.map(installed)
        let candidates = Set(rows.map(\.patchID)).union(current.map(\.patchID)).sorted().map { id in
            Candidates(
                id,
                versions: rows.filter { $0.patchID == id },
                current: current.first { $0.patchID == id },
                under: context
            )
        }
        return AnsweredChoice(candidates, under: context)
    }

    /// `+fix 2!`: newly taken, `!` forced, `*` chosen.
    private static func summary(_ choice: AnsweredChoice) -> String {
        choice.decisions.compactMap { decision in
            let mark = decision.server.map { $0 == .forced ? "!" : "*" } ?? ""
            return switch decision.choice {
            case .take(let entry, over: _): "+\(entry.patchID) \(entry.version)\(mark)"
            case .keep(let patch): "\(patch.label)"
            case .withdraw(let patch, for: _): "-\(patch.label)"
            case .none: nil
            }
        }.joined(separator: ", ")
    }

    private static let three = [row("fix 3"), row("fix 2"), row("fix 1")]

    /// What is listed, what the device has, what the server says, what comes of it, and why its word is not followed.
    private static let table:
        [(
            what: String, listed: [PatchEntry], has: [String], says: [String: DeviceAnswer.Choice], result: String,
            ignored: IgnoredAnswer.Reason?
        )] = [
            ("a chosen version in place of the first", three, ["fix 1"], ["fix": chosen("fix 2")], "+fix 2*", nil),
            ("the first itself", three, ["fix 1"], ["fix": chosen("fix 3", isForced: true)], "+fix 3!", nil),
            ("on a new device too", three, [], ["fix": chosen("fix 1")], "+fix 1*", nil),
            ("what it has stays the chosen one", three, ["fix 2"], ["fix": chosen("fix 2")], "fix 2", nil),
            ("held", three, ["fix 1"], ["fix": .hold], "fix 1", nil),
            ("held with nothing", three, [], ["fix": .hold], "", nil),
            ("for another patch alone", three + [row("web 1")], ["fix 1"], ["web": .hold], "+fix 3", nil),
            ("not below what it has", three, ["fix 2"], ["fix": chosen("fix 1")], "+fix 3", .notAbove),
            (
                "not what nobody lists", three, ["fix 1"], ["fix": chosen("fix 9")], "+fix 3", .notListed
            ),
            ("not a patch that nobody lists", three, ["fix 1"], ["other": .hold], "+fix 3", .notListed),
            (
                "not past a signed ceiling", [row("fix 3"), row("fix 2", rules: closed), row("fix 1")], ["fix 1"],
                ["fix": chosen("fix 2")], "+fix 3", .notEligible(.rollout(cohort: 4_274, effective: 0))
            ),
            (
                "not a choice among unknown heights", [row("fix 3"), row("fix 1")], ["fix 2"],
                ["fix": chosen("fix 1")], "+fix 3", .notAbove
            ),
            ("held, though that is not listed any more", [row("fix 3")], ["fix 2"], ["fix": .hold], "fix 2", nil),
            ("a hold of what is withdrawn", [row("web 1")], ["fix 2"], ["fix": .hold], "-fix 2, +web 1", .takesAway),
            (
                "a hold moves what belongs together",
                [row("fix 2", "web 2"), row("fix 1"), row("web 2"), row("web 1")],
                ["fix 1", "web 1"], ["web": .hold], "fix 1, web 1", nil
            ),
            (
                "a version that needs what it does not get",
                [row("fix 3"), row("fix 2", "web 2"), row("fix 1"), row("web 2", rules: closed), row("web 1")],
                ["fix 1", "web 1"], ["fix": chosen("fix 2")], "+fix 3, web 1",
                .notEligible(.unmet(requires: name("web"), because: .rollout(cohort: 4_274, effective: 0)))
            ),
        ]

    @Test(arguments: table.indices)
    func `follows it among what the device may have, and to nothing else`(_ index: Int) {
        let row = Self.table[index]
        let choice = Self.decide(row.listed, having: row.has, row.says)
        #expect(Self.summary(choice) == row.result, "\(row.what)")
        #expect(choice.ignored.map(\.why) == (row.ignored.map { [$0] } ?? []), "\(row.what)")
    }

    /// A device always has a version of its app to run; a script that it has not got may wait.
    @Test(arguments: [([], "+web 1", [IgnoredAnswer.Reason.nothingToHold]), (["web 0"], "web 0", [])])
    func `holds what there is of a bundle, and lets a device that has nothing of it take the first`(
        _ has: [String],
        _ result: String,
        _ ignored: [IgnoredAnswer.Reason]
    ) {
        let row = Self.row("web 1")
        let bundle = PatchEntry(
            patchID: row.patchID,
            kind: .bundle,
            version: row.version,
            url: row.url,
            fingerprint: row.fingerprint,
            signature: row.signature,
            salt: row.salt,
            rules: row.rules
        )
        let choice = Self.decide([bundle], having: has, ["web": .hold])
        #expect(Self.summary(choice) == result && choice.ignored.map(\.why) == ignored)
    }

    @Test func `says what was passed over for its sake`() {
        let chosen = Self.decide(Self.three, having: ["fix 1"], ["fix": Self.chosen("fix 2")])
        #expect(chosen.decisions.first?.passedOver == [.init(version: name("3"), why: .notChosen(name("2")))])
        let held = Self.decide(Self.three, having: ["fix 2"], ["fix": .hold])
        #expect(held.decisions.first?.passedOver.map(\.why.description) == ["held by the server"])
    }

    @Test func `takes no other version where the chosen one did not come`() {
        let choice = Self.decide(Self.three, having: ["fix 1"], ["fix": Self.chosen("fix 2")]) {
            $0.notReceived = [installed("fix 2").content]
        }
        #expect(Self.summary(choice) == "fix 1" && choice.ignored.isEmpty)
    }

    private static func counted(_ label: String, _ headcount: Int?, rollout: Int = 10_000) -> Dial.Row {
        Dial.Row(
            patchID: installed(label).patchID,
            sha256: installed(label).fingerprint.sha256,
            rollout: rollout,
            paused: false,
            reason: nil,
            headcount: headcount
        )
    }

    private static let place = row("fix 2").placeName(of: SimulatedDevice.id)

    /// Whether a place is given or denied, how often the server may still be asked, and what comes of it.
    @Test(
        arguments: [
            (false, false, 0, "+fix 1"), (true, false, 0, "+fix 2"), (false, false, 1, "+fix 2"),
            (false, true, 1, "+fix 1"), (true, false, 1, "+fix 2"),
        ]
    )
    func `needs a place for a version with a head-count, given or still to be asked for`(
        isGiven: Bool,
        isDenied: Bool,
        questions: Int,
        result: String
    ) {
        let dial = [Self.counted("fix 2", 5)]
        let choice = Self.decide([Self.row("fix 2"), Self.row("fix 1")], dial: dial) { context in
            if isGiven { context.answers.places = [Self.place] }
            if isDenied { context.answers.denied = [Self.place] }
            context.answers.questionsLeft = questions
        }
        #expect(Self.summary(choice) == result)
        if result == "+fix 1" {
            let why = choice.decisions.first?.passedOver.map(\.why)
            #expect(why == [.noPlace(headcount: 5)])
            #expect(why?.first?.description == "waits for a place: open to 5 devices")
        }
    }

    @Test func `keeps a version with a head-count that it has, and goes by its share first`() {
        let dial = [Self.counted("fix 2", 0)]
        #expect(Self.summary(Self.decide([Self.row("fix 2")], having: ["fix 2"], dial: dial)) == "fix 2")
        let shut = Self.decide([Self.row("fix 2")], dial: [Self.counted("fix 2", 5, rollout: 0)]) {
            $0.answers.questionsLeft = 1
        }
        #expect(shut.decisions.first?.passedOver.map(\.why) == [.rollout(cohort: 4_274, effective: 0)])
    }
}
