import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@Suite("The choice of a version")
struct ChoiceTests {
    private static let now = ManualClock.start
    private let id: PatchID = name("fix")

    private func decide(
        _ versions: [PatchEntry],
        current: String? = nil,
        hasRefused: Bool = false,
        withdrawal: Candidates.Withdrawal? = nil,
        namesWithdrawn: Bool = false,
        dial: [Dial.Row]? = nil,
        blocks: TrialBlocks = TrialBlocks(),
        transfers: TransferFailures = TransferFailures(),
        unfit: UnfitVersions = UnfitVersions(),
        notReceived: Set<PatchContent> = [],
        appVersion: String? = nil,
        user: String? = nil,
        data: [String: String] = [:],
        platform: Platform? = nil,
        at time: UTCTime = now,
        retryNow: Bool = false
    ) -> Decision {
        var context = EligibilityContext(
            device: DeviceFacts(
                deviceID: SimulatedDevice.id,
                appVersion: appVersion.flatMap { AppVersion($0) },
                user: user.flatMap { UserID($0) },
                data: facts(data),
                platform: platform,
                time: time,
                retryNow: retryNow
            ),
            dial: dial.map { Dial(app: name("app"), channel: name("production"), rows: $0) },
            blocks: blocks,
            transfers: transfers,
            unfit: unfit
        )
        context.notReceived = notReceived
        return Candidates(
            id,
            versions: versions,
            hasRefused: hasRefused,
            current: current.map { installed("fix \($0)") },
            withdrawal: withdrawal,
            namesWithdrawn: namesWithdrawn,
            under: context
        ).decision
    }

    private func row(_ entry: PatchEntry, rollout: Int = 10_000, paused: Bool = false, reason: String? = nil)
        -> Dial.Row
    {
        Dial.Row(
            patchID: entry.patchID,
            sha256: entry.fingerprint.sha256,
            rollout: rollout,
            paused: paused,
            reason: reason
        )
    }

    private let closed = PatchRules(rollout: 0)

    // MARK: Which of the listed versions

    /// What the device has, what is listed with its rollout, what is chosen.
    @Test(
        arguments: [
            (nil, [], "none"),
            (nil, [("2", 10_000), ("1", 10_000)], "take 2"),
            (nil, [("2", 0), ("1", 10_000)], "take 1"),
            (nil, [("2", 0), ("1", 0)], "none"),
            ("1", [("3", 10_000), ("2", 10_000), ("1", 10_000)], "take 3"),
            ("1", [("3", 0), ("2", 10_000), ("1", 10_000)], "take 2"),
            ("1", [("3", 0), ("2", 0), ("1", 0)], "keep 1"),
            ("2", [("2", 10_000), ("1", 10_000)], "keep 2"),
            ("2", [("2", 0), ("1", 10_000)], "keep 2"),
            ("2", [("3", 0), ("1", 10_000)], "take 1"),
            ("2", [("3", 0)], "withdraw 2"),
            ("2", [], "withdraw 2"),
        ] as [(String?, [(String, Int)], String)]
    )
    func `is the first eligible one above what the device has, and else what it has while that is listed`(
        current: String?,
        listed: [(String, Int)],
        choice: String
    ) {
        let versions = listed.map { entry("fix", $0.0, rules: PatchRules(rollout: $0.1)) }
        let found =
            switch decide(versions, current: current).choice {
            case .take(let entry, let over):
                "take \(entry.version)" + (over?.version.text == current ? "" : " over something else")
            case .keep(let patch): "keep \(patch.version)"
            case .none: "none"
            case .withdraw(let patch, for: let before):
                "withdraw \(patch.version)" + (before.map { " for \($0.version)" } ?? "")
            }
        #expect(found == choice)
    }

    /// Whether it is blocked, refused or held back: what else would keep the old one.
    @Test func `of a version withdrawn by name is never to keep it`() {
        let next = entry("fix", "3")
        let blocks = TrialBlocks([
            next.content: .init(version: next.version, failures: 2, until: Self.now.adding(.hours(1)), reason: .timer)
        ])
        let (none, before) = (Candidates.Withdrawal(before: nil), Candidates.Withdrawal(before: installed("fix 1")))
        #expect(decide([next], current: "2", blocks: blocks).choice == .keep(installed("fix 2")), "not named")
        #expect(decide([next], current: "2", withdrawal: before).choice == .take(next, over: installed("fix 2")))
        let goesBack = Choice.withdraw(installed("fix 2"), for: installed("fix 1"))
        #expect(decide([next], current: "2", withdrawal: before, blocks: blocks).choice == goesBack)
        #expect(decide([], current: "2", hasRefused: true, withdrawal: before).choice == goesBack)
        #expect(decide([next], current: "2", withdrawal: before, dial: [row(next, paused: true)]).choice == goesBack)
        #expect(decide([next], current: "2", withdrawal: none, blocks: blocks).choice == .withdraw(installed("fix 2")))
        #expect(
            decide([], current: "2", withdrawal: before).choice == .withdraw(installed("fix 2")),
            "of a patch that is not listed at all nothing stays"
        )
    }

    @Test func `of a version withdrawn by name waits for a successor that did not come, where there is nothing else`() {
        let next = entry("fix", "3")
        let (none, before) = (Candidates.Withdrawal(before: nil), Candidates.Withdrawal(before: installed("fix 1")))
        let slow: Set = [next.content]
        #expect(decide([next], current: "2", withdrawal: none, notReceived: slow).choice == .keep(installed("fix 2")))
        #expect(
            decide([next], current: "2", withdrawal: before, notReceived: slow).choice
                == .withdraw(installed("fix 2"), for: installed("fix 1"))
        )
    }

    /// A device that went back to a version is not robbed of it by the same list.
    @Test func `keeps what is not listed where the list names what goes, whatever keeps the device from the rest`() {
        let closed = entry("fix", "3", rules: closed)
        #expect(decide([closed], current: "1").choice == .withdraw(installed("fix 1")))
        #expect(decide([closed], current: "1", namesWithdrawn: true).choice == .keep(installed("fix 1")))
        #expect(decide([], current: "1", namesWithdrawn: true).choice == .withdraw(installed("fix 1")))
        let open = entry("fix", "2")
        #expect(
            decide([closed, open], current: "1", namesWithdrawn: true).choice == .take(open, over: installed("fix 1"))
        )
        let other = entry("fix", "1", rules: PatchRules(appVersion: AppVersionRange(">=9")))
        #expect(
            decide([closed, other], current: "1", namesWithdrawn: true, appVersion: "3").choice
                == .withdraw(installed("fix 1")),
            "its own row says that it is not for this app"
        )
    }

    @Test func `names every version that was passed over, in list order`() {
        let decision = decide([
            entry("fix", "3", rules: closed), entry("fix", "2", rules: .init(rollout: 1)), entry("fix", "1"),
        ])
        #expect(decision.patchID == id)
        #expect(
            decision.passedOver == [
                .init(version: name("3"), why: .rollout(cohort: 4_274, effective: 0)),
                .init(version: name("2"), why: .rollout(cohort: 4_274, effective: 1)),
            ]
        )
    }

    @Test func `never looks below what the device has`() {
        let decision = decide([entry("fix", "2"), entry("fix", "1")], current: "2")
        #expect(decision.choice == .keep(installed("fix 2")))
        #expect(decision.passedOver.isEmpty)
    }

    @Test func `concludes nothing from an absence when an entry of this id was refused`() {
        #expect(decide([], current: "2", hasRefused: true).choice == .keep(installed("fix 2")))
        #expect(
            decide([entry("fix", "3", rules: closed)], current: "2", hasRefused: true).choice
                == .keep(installed("fix 2"))
        )
        #expect(decide([], hasRefused: true).choice == .none)
    }

    @Test func `still takes a newer version that holds when another entry was refused`() {
        let newer = entry("fix", "3")
        #expect(decide([newer], current: "2", hasRefused: true).choice == .take(newer, over: installed("fix 2")))
    }

    // MARK: What keeps a version from a device

    @Test(
        arguments: [
            (PatchRules(rollout: 4_274), NotEligible.rollout(cohort: 4_274, effective: 4_274)),
            (PatchRules(rollout: 4_275), nil),
            (PatchRules(appVersion: AppVersionRange(">=2.1 <3")), .appVersion(needs: ">=2.1 <3", has: "3.0")),
            (PatchRules(appVersion: AppVersionRange(">=2.1 <=3")), nil),
            (PatchRules(condition: "region==eu"), .condition("region==eu")),
            (PatchRules(condition: "region!=eu"), .condition("region!=eu")),
            (PatchRules(condition: "ispad==0"), nil),
            (PatchRules(condition: "region=eu"), .malformedCondition(.malformed("region=eu"))),
            (PatchRules(users: []), .users(isKnown: false)),
            (PatchRules(unknown: ["moonPhase"]), .unknownRule("moonPhase")),
            (PatchRules(dial: .required), .dialMissing),
            (PatchRules(mandatory: true, runAtNextLaunch: true), nil),
        ] as [(PatchRules, NotEligible?)]
    )
    func `is refused by the first rule that this device breaks or cannot judge`(rules: PatchRules, why: NotEligible?) {
        let decision = decide([entry("fix", "1", rules: rules)], appVersion: "3.0")
        #expect(decision.passedOver.first?.why == why)
        #expect(decision.choice == (why == nil ? .take(entry("fix", "1", rules: rules), over: nil) : .none))
    }

    /// J7: a rule that a user's data meets.
    @Test func `is made for devices with the right data, whatever the letters' case of a key`() {
        let version = entry("fix", "1", rules: PatchRules(condition: "region==eu&amp;&amp;isMale==1"))
        #expect(decide([version], data: ["Region": "eu", "ismale": "1"]).choice == .take(version, over: nil))
        #expect(decide([version], data: ["Region": "eu"]).choice == .none)
    }

    /// J8: rollout and condition are both read.
    @Test(arguments: [(0, "eu", false), (10_000, "us", false), (10_000, "eu", true)])
    func `is refused by the rollout and by the condition, each by itself`(rollout: Int, region: String, isTaken: Bool) {
        let version = entry("fix", "1", rules: PatchRules(rollout: rollout, condition: "region==eu"))
        #expect(decide([version], data: ["region": region]).choice == (isTaken ? .take(version, over: nil) : .none))
    }

    /// J8: what the original calls `cv`.
    @Test func `falls to the next listed version when a condition is missed, or stays`() {
        let versions = [entry("fix", "3", rules: PatchRules(condition: "region==eu")), entry("fix", "2")]
        #expect(decide(versions).choice == .take(versions[1], over: nil))
        #expect(decide(versions, current: "2").choice == .keep(installed("fix 2")))
    }

    /// Computed with Python's hashlib over sixteen bytes 7 and "alice".
    @Test func `is for the users whose salted hash is listed, and for nobody else`() throws {
        let alice = try #require(
            SHA256Digest(hex: "7d565507bd4c9662056b44ba917d1ecce992d1871a86b97f7e3a512f250633e8")
        )
        let version = entry("fix", "1", rules: PatchRules(users: [alice]))
        #expect(decide([version], user: "alice").choice == .take(version, over: nil))
        #expect(decide([version], user: "bob").passedOver.map(\.why) == [.users(isKnown: true)])
        #expect(decide([version]).passedOver.map(\.why) == [.users(isKnown: false)])
        let salted = entry("fix", "1", rules: PatchRules(users: [alice]), salt: 8)
        #expect(decide([salted], user: "alice").passedOver.map(\.why) == [.users(isKnown: true)])
    }

    @Test func `of an app version rule asks for an app version`() {
        let rules = PatchRules(appVersion: AppVersionRange("!=1"))
        #expect(
            decide([entry("fix", "1", rules: rules)]).passedOver.map(\.why) == [.appVersion(needs: "!=1", has: nil)]
        )
    }

    @Test func `leaves a version that is not listed for this app version any more`() {
        let old = entry("fix", "1", rules: PatchRules(appVersion: AppVersionRange("<3")))
        #expect(decide([old], current: "1", appVersion: "2").choice == .keep(installed("fix 1")))
        #expect(decide([old], current: "1", appVersion: "3").choice == .withdraw(installed("fix 1")))
    }

    @Test func `refuses a label that is installed with other bytes`() {
        let other = entry("fix", "1", bytes: "other bytes")
        let decision = decide([other], current: "1")
        #expect(decision.passedOver.map(\.why) == [.republished])
        #expect(decision.choice == .keep(installed("fix 1")))
        let newer = entry("fix", "2")
        #expect(decide([newer, other], current: "1").choice == .take(newer, over: installed("fix 1")))
    }

    // MARK: The dial

    @Test(
        arguments: [
            (10_000, 10_000, nil), (4_275, 10_000, nil), (10_000, 4_275, nil), (4_274, 10_000, 4_274),
            (10_000, 4_274, 4_274),
            (0, 10_000, 0), (10_000, 0, 0), (5, 2, 2), (2, 5, 2),
        ] as [(Int, Int, Int?)]
    )
    func `goes by the smaller of ceiling and dial`(ceiling: Int, dial: Int, effective: Int?) {
        let version = entry("fix", "1", rules: PatchRules(rollout: ceiling))
        let decision = decide([version], dial: [row(version, rollout: dial)])
        #expect(decision.passedOver.map(\.why) == effective.map { [.rollout(cohort: 4_274, effective: $0)] } ?? [])
    }

    @Test func `passes over what the dial pauses, and says why`() {
        let version = entry("fix", "1")
        let decision = decide([version], dial: [row(version, paused: true, reason: "crashes")])
        #expect(decision.passedOver.map(\.why) == [.paused(reason: "crashes")])
        #expect(decision.choice == .none)
    }

    @Test func `needs a valid dial where the entry says so, and then no row in it`() {
        let version = entry("fix", "1", rules: PatchRules(dial: .required))
        #expect(decide([version]).passedOver.map(\.why) == [.dialMissing])
        #expect(decide([version], dial: []).choice == .take(version, over: nil))
    }

    @Test func `takes no notice of a dial's row for other bytes`() {
        let version = entry("fix", "1")
        #expect(decide([version], dial: [row(entry("fix", "2"), paused: true)]).choice == .take(version, over: nil))
    }

    @Test(arguments: [
        PatchRules(rollout: 0), PatchRules(condition: "x==1"), PatchRules(condition: "x="), PatchRules(users: []),
        PatchRules(unknown: ["x"]), PatchRules(dial: .required),
    ])
    func `never moves a device down by a rule`(rules: PatchRules) {
        let listed = [entry("fix", "2", rules: rules), entry("fix", "1")]
        #expect(decide(listed, current: "2").choice == .keep(installed("fix 2")))
    }

    @Test func `never moves a device down by the dial`() {
        let listed = [entry("fix", "2"), entry("fix", "1")]
        #expect(
            decide(listed, current: "2", dial: [row(listed[0], rollout: 0, paused: true)]).choice
                == .keep(installed("fix 2"))
        )
    }

    // MARK: What failed here

    private func failed(_ times: Int, because reason: TrialBlocks.Reason = .timer) -> TrialBlocks {
        var blocks = TrialBlocks()
        for _ in 0..<times { blocks.fail([installed("fix 2")], because: reason, at: Self.now) }
        return blocks
    }

    @Test(
        arguments: [
            (0, 0, false, nil),
            (1, 0, false, .waiting(until: now.adding(.hours(1)))),
            (1, 3_599, false, .waiting(until: now.adding(.hours(1)))),
            (1, 3_600, false, nil), (1, 0, true, nil),
            (2, 3_600, false, .blocked(until: now.adding(.days(14)))),
            (2, 0, true, .blocked(until: now.adding(.days(14)))),
            (2, 14 * 86_400 - 1, false, .blocked(until: now.adding(.days(14)))), (2, 14 * 86_400, false, nil),
        ] as [(Int, Int, Bool, NotEligible?)]
    )
    func `waits an hour after one failed trial and fourteen days after two`(
        failures: Int,
        secondsLater: Int,
        retryNow: Bool,
        why: NotEligible?
    ) {
        let versions = [entry("fix", "2"), entry("fix", "1")]
        let decision = decide(
            versions,
            current: "1",
            blocks: failed(failures),
            at: Self.now.adding(.seconds(secondsLater)),
            retryNow: retryNow
        )
        #expect(decision.passedOver.first?.why == why)
        #expect(
            decision.choice == (why == nil ? .take(versions[0], over: installed("fix 1")) : .keep(installed("fix 1")))
        )
    }

    @Test(arguments: [1, 2])
    func `keeps what runs when the version that took its place in the list failed here`(failures: Int) {
        #expect(decide([entry("fix", "2")], current: "1", blocks: failed(failures)).choice == .keep(installed("fix 1")))
    }

    // MARK: What could not be fetched, and what does not fit

    private func lost(_ times: Int, because cause: TransferFailures.Cause = .content) -> TransferFailures {
        var transfers = TransferFailures()
        for _ in 0..<times {
            transfers.fail(
                installed("fix 2").content,
                version: name("2"),
                because: cause,
                movedForward: false,
                at: Self.now
            )
        }
        return transfers
    }

    @Test(
        arguments: [
            (2, 0, false, nil), (3, 0, false, .transferWaiting(failures: 3, until: now.adding(.hours(1)))),
            (3, 0, true, nil), (3, 3_600, false, nil),
        ] as [(Int, Int, Bool, NotEligible?)]
    )
    func `waits after three failed transfers, and keeps what runs`(
        failures: Int,
        secondsLater: Int,
        retryNow: Bool,
        why: NotEligible?
    ) {
        let version = entry("fix", "2")
        let decision = decide(
            [version],
            current: "1",
            transfers: lost(failures),
            at: Self.now.adding(.seconds(secondsLater)),
            retryNow: retryNow
        )
        #expect(decision.passedOver.first?.why == why)
        #expect(decision.choice == (why == nil ? .take(version, over: installed("fix 1")) : .keep(installed("fix 1"))))
    }

    /// P7: a patch that fails keeps its version, also where a listed one lies between.
    @Test func `stays what it was when the version chosen did not come`() {
        let versions = [entry("fix", "4", rules: closed), entry("fix", "3"), entry("fix", "2"), entry("fix", "1")]
        let decision = decide(versions, current: "1", notReceived: [versions[1].content])
        #expect(decision.choice == .keep(installed("fix 1")))
        #expect(decision.passedOver.map(\.why) == [.rollout(cohort: 4_274, effective: 0), .notReceived])
        #expect(decide([versions[1]], notReceived: [versions[1].content]).choice == .none)
    }

    @Test func `falls to the next version when a manifest showed another native part, for that native part`() throws {
        let old = try #require(Platform(name: "ios", compatibility: "old"))
        let new = try #require(Platform(name: "ios", compatibility: "new"))
        let versions = [entry("fix", "3"), entry("fix", "2")]
        var unfit = UnfitVersions()
        unfit.add(versions[0].content, .init(version: name("3"), platform: old, needs: "new"))
        let decision = decide(versions, current: "1", unfit: unfit, platform: old)
        #expect(decision.choice == .take(versions[1], over: installed("fix 1")))
        #expect(decision.passedOver.map(\.why) == [.incompatible(old)])
        #expect(decide(versions, current: "1", unfit: unfit, platform: new).choice.content == versions[0].content)
        #expect(decide(versions, current: "1", unfit: unfit).choice.content == versions[0].content)
        #expect(decide([versions[0]], current: "1", unfit: unfit, platform: old).choice == .keep(installed("fix 1")))
    }

    @Test func `blocks what a person rolled back at once`() {
        let decision = decide([entry("fix", "2")], blocks: failed(1, because: .person), retryNow: true)
        #expect(decision.passedOver.map(\.why) == [.rolledBackByHand(until: Self.now.adding(.days(14)))])
    }
}

@Suite("The cohorts of 10,000 devices")
struct CohortTests {
    private static let devices: [[UInt8]] = {
        var generator = SeededGenerator(state: 2_026)
        return (0..<10_000).map { _ in (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) } }
    }()
    private static let cohorts = numbers(salt: 7)

    private static func numbers(salt: UInt8) -> [Int] {
        devices.map { Cohort(salt: [UInt8](repeating: salt, count: 16), deviceID: $0).number }
    }

    /// Computed with Python's hashlib.
    @Test func `are SHA-256 of salt and id mod 10,000`() {
        #expect(Cohort(salt: [UInt8](repeating: 7, count: 16), deviceID: SimulatedDevice.id).number == 4_274)
    }

    @Test(arguments: [100, 1_000, 2_500, 5_000, 7_500, 9_900])
    func `hold the rollout within a point and a half`(rollout: Int) {
        let share = Self.cohorts.count { rollout > $0 }
        #expect(abs(share - rollout) <= 150, "\(share) of 10,000 at \(rollout)")
    }

    @Test func `hold nobody at 0 and everybody at 10,000`() {
        #expect(Self.cohorts.allSatisfy { (0..<10_000).contains($0) })
    }

    @Test func `lose nobody when a rollout is raised`() {
        let versions = [0, 500, 2_500, 6_000, 10_000].map { entry("fix", "1", rules: PatchRules(rollout: $0)) }
        for device in Self.devices.prefix(300) {
            let context = EligibilityContext(device: DeviceFacts(deviceID: device, time: ManualClock.start))
            let taken = versions.map { version in
                Candidates(name("fix"), versions: [version], current: nil, under: context).choice != .none
            }
            #expect(taken == taken.sorted { !$0 && $1 }, "was in and fell out")
        }
    }

    @Test func `of two releases are independent`() {
        let other = Self.numbers(salt: 8)
        let both = zip(Self.cohorts, other).count { $0 < 2_500 && $1 < 2_500 }
        // A quarter of a quarter, with five standard deviations to each side.
        #expect(abs(both - 625) < 125, "\(both)")
    }
}
