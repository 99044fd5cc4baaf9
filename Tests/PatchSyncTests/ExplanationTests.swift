import DeviceTesting
import Foundation
import PatchChoice
import PatchFormat
@testable import PatchSync
import PatchTesting
import PatchCrypto
import PatchTrust
import Subprocess
import Testing

@Suite("The explanation of a choice")
struct ExplanationTests {
    private static let now = ManualClock.start
    private static let id = SimulatedDevice.id

    /// What each rule that says no would let the version pass with, as a person reads it.
    private func turns(
        _ rules: PatchRules,
        dial: [Dial.Row]? = nil,
        blocks: TrialBlocks = TrialBlocks(),
        transfers: TransferFailures = TransferFailures(),
        unfit: UnfitVersions = UnfitVersions(),
        platform: Platform? = nil,
        appVersion: String? = nil,
        user: String? = nil,
        data: [String: String] = [:]
    ) -> [String] {
        let context = EligibilityContext(
            device: DeviceFacts(
                deviceID: Self.id,
                appVersion: appVersion.flatMap { AppVersion($0) },
                user: user.flatMap { PatchFormat.UserID($0) },
                data: facts(data),
                platform: platform,
                time: Self.now
            ),
            dial: dial.map { Dial(app: name("app"), channel: name("production"), rows: $0) },
            blocks: blocks,
            transfers: transfers,
            unfit: unfit
        )
        let judgments = context.judgments(of: entry("fix", "2", rules: rules), over: nil)
        return judgments.filter { $0.obstacle != nil }.map { judgment in
            let turns = judgment.turns.map { $0.text { "\($0.since(Self.now).components.seconds) s" } }
            return "\(judgment.rule): \(turns.joined(separator: ", "))"
        }
    }

    private func row(rollout: Int = 10_000, paused: Bool = false, headcount: Int? = nil) -> Dial.Row {
        let fix = entry("fix", "2")
        return Dial.Row(
            patchID: fix.patchID,
            sha256: fix.fingerprint.sha256,
            rollout: rollout,
            paused: paused,
            reason: nil,
            headcount: headcount
        )
    }

    private func range(_ text: String) throws -> AppVersionRange { try #require(AppVersionRange(text)) }

    @Test(
        arguments: [
            (nil, "appVersion: app version >=2.1 <3 !=2.5"), ("2", "appVersion: app version >=2.1"),
            ("3.1", "appVersion: app version <3"), ("2.5.0", "appVersion: app version !=2.5"), ("2.4", nil),
        ] as [(String?, String?)]
    )
    func `names of an app version the comparators that do not hold`(has: String?, turn: String?) throws {
        let rules = PatchRules(appVersion: try range(">=2.1 <3 !=2.5"))
        #expect(turns(rules, appVersion: has) == [turn].compactMap(\.self))
    }

    @Test(
        arguments: [
            ([:], "condition: tester==1"), (["region": "eu"], "condition: level>=3"),
            (["region": "us", "level": "5"], "condition: region==eu"), (["tester": "1"], nil),
        ] as [([String: String], String?)]
    )
    func `names of a condition the group that lacks least, and of equals the first`(
        data: [String: String],
        turn: String?
    ) {
        let rules = PatchRules(condition: "region==eu&&level>=3||tester==1")
        #expect(turns(rules, data: data) == [turn].compactMap(\.self))
    }

    @Test func `names the ceiling, the dial or both, up to this device's own number`() {
        let number = Cohort(salt: entry("fix", "2").salt, deviceID: Self.id).number
        let least = Words.percent(number + 1)
        #expect(turns(PatchRules(rollout: number)) == ["rollout: signed rollout \(Words.percent(number)) → \(least)"])
        #expect(turns(PatchRules(rollout: number + 1)) == [])
        #expect(turns(.everyone, dial: [row(rollout: 2_500)]) == ["rollout: dial 25 % → \(least)"])
        #expect(
            turns(PatchRules(rollout: 105), dial: [row(rollout: 10)])
                == ["rollout: signed rollout 1.05 % → \(least), dial 0.1 % → \(least)"]
        )
    }

    @Test func `goes on behind the first rule that says no`() throws {
        let found = turns(
            PatchRules(
                appVersion: try range(">=9"),
                dial: .required,
                condition: "a=b",
                users: [SHA256Digest(of: [1])],
                unknown: ["moonPhase"]
            ),
            appVersion: "1"
        )
        #expect(
            found == [
                "appVersion: app version >=9", "knownRules: an engine that knows the rule moonPhase",
                "condition: a condition that can be read", "users: another user", "dial: a valid dial",
            ]
        )
        let paused = turns(.everyone, dial: [row(paused: true, headcount: 5)])
        #expect(paused == ["pause: resumed by its operator", "headcount: a place"])
    }

    @Test func `says what a version asks for, and what this device has of it`() throws {
        let fix = entry(
            "fix",
            "2",
            rules: PatchRules(appVersion: try range(">=2"), condition: "region==eu||tester==1", users: [])
        )
        var context = EligibilityContext(
            device: DeviceFacts(
                deviceID: Self.id,
                appVersion: AppVersion("2.1"),
                data: facts(["region": "eu"]),
                time: Self.now
            ),
            dial: Dial(app: name("app"), channel: name("production"), rows: [row(rollout: 9_900, headcount: 5)])
        )
        context.putOff = [fix.content: MeteredWait(cost: 48_294, left: 20_000)]
        let number = Words.grouped(Cohort(salt: fix.salt, deviceID: Self.id).number)
        let told = context.judgments(of: fix, over: nil).map { judgment in
            "\(judgment.rule) \(judgment.obstacle == nil): \(judgment.needs ?? "–") | \(judgment.has ?? "–")"
        }
        #expect(
            told == [
                "appVersion true: >=2 | 2.1", "condition true: region==eu||tester==1 | region=eu",
                "users false: 0 users | –", "network false: 48,294 bytes | 20,000 bytes left of its allowance",
                "pause true: – | not paused", "rollout true: signed 100 %, dial 99 % | number \(number) of 10,000",
                "headcount false: 5 places | –",
            ]
        )
    }

    @Test func `takes no fact of another device that it does not know`() throws {
        let facts = #"{"format":"patchline-facts-v1","deviceId":"\#(String(repeating: "0", count: 32))","aapp":1}"#
        let error = #expect(throws: FormatError.self) { try DescribedDevice(Array(facts.utf8), named: "facts.json") }
        #expect(
            error?.description.hasPrefix("facts.json: aapp is not a fact: must be one of allowance, appVersion,")
                == true
        )
    }

    @Test(
        arguments: [
            (Consent.ask, false, "consent false: approval | security"),
            (.ask, true, "consent true: approval | approved"),
            (.security, false, "consent true: security, or approval | security"), (.automatic, false, nil),
        ] as [(Consent, Bool, String?)]
    )
    func `says whether somebody must approve, and how`(consent: Consent, isApproved: Bool, told: String?) throws {
        let hole = try SecurityAdvisory(Fields(.fields([("text", .text("a hole"))]), of: "test"))
        let fix = entry("fix", "2", security: hole)
        var context = EligibilityContext(
            device: DeviceFacts(deviceID: Self.id, time: Self.now, consent: consent)
        )
        if isApproved { context.approved.add(fix.content, fix.version) }
        let found = context.judgments(of: fix, over: installed("fix 1")).first { $0.rule == .consent }
        let words = found.map { "consent \($0.obstacle == nil): \($0.needs ?? "–") | \($0.has ?? "–")" }
        #expect(words == told)
        #expect(found?.obstacle == nil || found?.turns.map { $0.text { _ in "" } } == ["`patchsync approve fix@2`"])
    }

    @Test func `says when what happened here is over`() throws {
        let fix = entry("fix", "2")
        var blocks = TrialBlocks()
        blocks.fail([installed("fix 2")], because: .timer, at: Self.now)
        #expect(turns(.everyone, blocks: blocks) == ["trials: in 3600 s"])
        blocks.fail([installed("fix 2")], because: .timer, at: Self.now)
        #expect(
            turns(.everyone, blocks: blocks) == ["trials: unblocked in 1209600 s, or by `patchsync unblock`"]
        )
        var transfers = TransferFailures()
        for _ in 0..<3 {
            transfers.fail(fix.content, version: fix.version, because: .content, movedForward: false, at: Self.now)
        }
        #expect(turns(.everyone, transfers: transfers) == ["transfers: in 3600 s"])
        var unfit = UnfitVersions()
        let platform = try #require(Platform(name: "ios", compatibility: "aa"))
        unfit.add(fix.content, .init(version: fix.version, platform: platform, needs: "bb"))
        #expect(turns(.everyone, unfit: unfit, platform: platform) == ["nativePart: native part bb"])
    }

    /// Another reader of the rules, in Python, is told what the engine is told, and comes to the same: of each version its
    /// outcome, the reason, the rules that say no, and what would turn them.
    @Test func `is the same to a second implementation, for thousands of devices`() async throws {
        var random = RandomExplanation(seed: 20)
        var lines: [UInt8] = []
        let rounds = Sweep.isFull ? 250 : 100
        for _ in 0..<rounds { lines += try random.next(devices: 40).canonicalBytes + [UInt8(ascii: "\n")] }
        let file = FileManager.default.temporaryDirectory.appending(path: "explained-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(lines).write(to: file)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "explain.py").path
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: [script, file.path],
            output: .string(limit: 20_000),
            error: .string(limit: 20_000)
        )
        #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
        // All of it occurred, the rarest reasons in ten thousand devices only.
        let told = Set(result.standardOutput.split(separator: "\n").map(String.init))
        let outcomes = ["installed", "taken", "replaced", "below"].map { "outcome \($0)" }
        let reasons = [
            "republished", "appVersion", "unknownRule", "condition", "users", "incompatible", "waiting", "blocked",
            "transferWaiting", "dialMissing", "paused", "rollout", "unapproved", "noPlace", "unmet", "breaks",
        ].map { "because \($0)" }
        let expected = outcomes + (Sweep.isFull ? reasons : []) + ["\(rounds * 40) devices"]
        #expect(told.isSuperset(of: expected), "\(told.sorted())")
    }
}
