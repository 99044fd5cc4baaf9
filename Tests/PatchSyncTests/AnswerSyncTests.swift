import DeviceTesting
import NIOConcurrencyHelpers
@testable import PatchChoice
import PatchFetch
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// A device that has fix 1 and web 1, whose server offers three versions of the fix and answers questions.
private struct AnswerFixture {
    static let texts = ["1": "one;", "2": "two;", "3": "three;"]
    static let path = "api/v1/apps/app/channels/production/answer"

    var world: World
    let questions = NIOLockedValueBox<[DeviceQuestion]>([])

    static func fix(_ version: String, rules: PatchRules = .everyone) -> SimulatedPatch {
        .script("fix", version, texts[version] ?? version, rules: rules)
    }

    static func digest(_ version: String) -> SHA256Digest {
        SHA256Digest(of: Array((texts[version] ?? version).utf8))
    }

    init(asks: Bool = true, offering offered: [SimulatedPatch] = [fix("3"), fix("2"), fix("1")]) async throws {
        world = try await World.running([Self.fix("1")])
        if asks {
            try await world.setFacts { facts in
                facts.answers = .set(true)
                facts.user = UserID("alice").map { .set($0) } ?? .keep
            }
        }
        world.repository.publish(offered)
    }

    func answering(_ choices: [PatchID: DeviceAnswer.Choice] = [:], places: Bool = false) {
        answering { question in
            DeviceAnswer(
                places: question.places.map { .init(patchID: $0.patchID, sha256: $0.sha256, isGiven: places) },
                choices: choices
            ).json.fileBytes
        }
    }

    func answering(_ answer: @escaping @Sendable (DeviceQuestion) -> [UInt8]?) {
        world.repository.onQuestion { [questions] question in
            questions.withLockedValue { $0.append(question) }
            return answer(question)
        }
    }

    func headcount(_ version: String, _ count: Int) -> Dial.Row {
        Dial.Row(
            patchID: name("fix"),
            sha256: Self.digest(version),
            rollout: 10_000,
            paused: false,
            reason: nil,
            headcount: count
        )
    }

    /// The requests that are not for metadata.
    func takeRequests() -> [String] {
        world.repository.takeRequests().filter { !$0.hasPrefix("metadata/") }
    }

    var installed: String { get throws { try world.machine.state.running?.labels ?? "" } }

    var pending: String? {
        get throws {
            guard case .pending(_, let next) = try world.machine.state else { return nil }
            return next.labels
        }
    }
}

@Suite("A device that asks its server")
struct AnswerSyncTests {
    private let fix: PatchID = name("fix")

    @Test func `takes what was chosen for its user, and forced is switched to at once`() async throws {
        let fixture = try await AnswerFixture()
        fixture.answering([fix: .version(AnswerFixture.digest("2"), isForced: true)])
        let report = try await fixture.world.device.sync()
        #expect(World.words(report) == ["fix 3: the server chose 2", "+fix 2"])
        #expect(report.decisions.map(\.server) == [.forced] && report.activates == .atOnce)
        #expect(try fixture.pending == "fix 2")
        let question = try #require(fixture.questions.withLockedValue(\.self).first)
        #expect(
            question.user == UserID("alice")?.answerHash(in: fixture.world.repository.app) && question.places.isEmpty
        )
        try await fixture.world.device.launchAndConfirm()
        // It has what was chosen: the newer one is passed over still.
        #expect(try await fixture.world.device.sync().staging == .unchanged)
        #expect(try fixture.installed == "fix 2")
    }

    @Test func `and forced later starts what waits already`() async throws {
        let fixture = try await AnswerFixture()
        fixture.answering()
        #expect(try await fixture.world.device.sync().activates == .anyTime)
        fixture.answering([fix: .version(AnswerFixture.digest("3"), isForced: true)])
        #expect(try await fixture.world.device.sync().staging == .unchanged)
        guard case .pending(_, let next) = try fixture.world.machine.state else {
            Issue.record("nothing waits")
            return
        }
        #expect(next.activates == .atOnce)
    }

    @Test func `keeps what it has while it is held`() async throws {
        let fixture = try await AnswerFixture()
        fixture.answering([fix: .hold])
        let report = try await fixture.world.device.sync()
        #expect(World.words(report) == ["fix 3: held by the server", "fix 2: held by the server"])
        #expect(report.staging == .unchanged && report.isComplete)
        fixture.answering()
        #expect(try await fixture.world.device.sync().staging == .staged)
        #expect(try fixture.pending == "fix 3")
    }

    @Test func `asks nothing while there is nothing new, and nothing at all unless it was told to`() async throws {
        let silent = try await AnswerFixture(asks: false)
        silent.answering([fix: .hold])
        #expect(try await silent.world.device.sync().staging == .staged)
        #expect(silent.questions.withLockedValue(\.count) == 0)

        let fixture = try await AnswerFixture(offering: [AnswerFixture.fix("1")])
        fixture.answering([fix: .hold])
        try await fixture.world.device.sync()
        _ = fixture.world.repository.takeRequests()
        #expect(try await fixture.world.device.sync().staging == .unchanged)
        #expect(fixture.world.repository.takeRequests().count == 2 && fixture.questions.withLockedValue(\.count) == 0)
    }

    @Test func `takes a version with a head-count once it has a place, and remembers it`() async throws {
        let fixture = try await AnswerFixture(asks: false)
        fixture.world.repository.setDial([fixture.headcount("3", 1)])
        fixture.answering(places: true)
        #expect(World.words(try await fixture.world.device.sync()) == ["+fix 3"])
        let questions = fixture.questions.withLockedValue(\.self)
        #expect(
            questions.map(\.user) == [nil] && questions.map { $0.places.map(\.sha256) } == [[AnswerFixture.digest("3")]]
        )
        let place = try #require(questions.first?.places.first?.device)
        #expect(try fixture.world.device.device.state().places == [place])
        // What waits is chosen again, without a question.
        #expect(try await fixture.world.device.sync().staging == .unchanged)
        #expect(fixture.questions.withLockedValue(\.count) == 1)
        fixture.world.repository.publish([AnswerFixture.fix("1")])
        try await fixture.world.device.sync()
        #expect(try fixture.world.device.device.state().places == [], "it is not listed any more")
    }

    @Test func `takes the next version where it got no place, and asks for one in that`() async throws {
        let fixture = try await AnswerFixture(asks: false)
        fixture.world.repository.setDial([fixture.headcount("3", 1), fixture.headcount("2", 9)])
        fixture.answering { question in
            DeviceAnswer(
                places: question.places.map {
                    .init(patchID: $0.patchID, sha256: $0.sha256, isGiven: $0.sha256 == AnswerFixture.digest("2"))
                },
                choices: [:]
            ).json.fileBytes
        }
        let report = try await fixture.world.device.sync()
        #expect(World.words(report) == ["fix 3: waits for a place: open to 1 device", "+fix 2"])
        let asked = fixture.questions.withLockedValue(\.self).map { $0.places.map(\.sha256) }
        #expect(asked == [[AnswerFixture.digest("3")], [AnswerFixture.digest("2")]])
    }

    @Test func `asks for a place in the chosen version, and for no other once it is chosen`() async throws {
        let fixture = try await AnswerFixture()
        fixture.world.repository.setDial([fixture.headcount("2", 1)])
        fixture.answering([fix: .version(AnswerFixture.digest("2"), isForced: false)], places: true)
        #expect(World.words(try await fixture.world.device.sync()) == ["fix 3: the server chose 2", "+fix 2"])
        let questions = fixture.questions.withLockedValue(\.self)
        #expect(questions.map { $0.user != nil } == [true, false] && questions.map(\.places.count) == [0, 1])
    }

    /// Everything that a server without this, or without a way to it, may do.
    static let silences: [(String, SimulatedRepository.Fault)] = [
        ("a host of files alone", .notFound), ("one that takes no POST", .status(501)), ("in pain", .status(500)),
        ("asks to be left alone", .busy(60)), ("a time-out", .timesOut), ("a broken way", .connection),
        ("half an answer", .shortened(to: 20)), ("an answer that ends", .breaksOff(after: 20)),
        ("one without an end", .endless), ("a page", .replaced(Array("<html>".utf8))),
        ("another format", .replaced(Array(#"{"format":"x","places":[],"choices":[]}"#.utf8))),
        ("too large", .replaced([UInt8](repeating: 0x20, count: Limits.answer + 1))),
        (
            "two choices for one",
            .replaced(
                Array(
                    #"{"format":"patchline-answer-v1","places":[],"choices":[{"patchId":"fix","hold":true},{"patchId":"fix","hold":true}]}"#
                        .utf8
                )
            )
        ),
    ]

    @Test(arguments: silences.indices)
    func `without an answer waits with head-counts, and takes everything else as usual`(_ index: Int) async throws {
        let (what, fault) = Self.silences[index]
        let fixture = try await AnswerFixture()
        fixture.world.repository.setDial([fixture.headcount("3", 9)])
        fixture.answering([:], places: true)
        fixture.world.repository.fail(
            URLLayout.answer(fixture.world.repository.app, SimulatedRepository.production),
            with: fault
        )
        let report = try await fixture.world.device.sync()
        #expect(World.words(report) == ["fix 3: waits for a place: open to 9 devices", "+fix 2"], "\(what)")
        #expect(report.unanswered != nil && report.isComplete && report.staging == .staged, "\(what)")
        let asked = fixture.takeRequests().filter { $0.hasPrefix("api/") }
        #expect(asked.count == 1, "\(what)")
    }

    @Test func `asks the server alone, never a mirror`() async throws {
        var fixture = try await AnswerFixture()
        let mirror = fixture.world.repository.copy(clock: fixture.world.clock)
        fixture.world.device.mirrors = [Source(name: "http://mirror.test", fetcher: mirror)]
        fixture.world.repository.fail(URLLayout.timestamp, with: .connection)
        fixture.answering()
        try await fixture.world.device.sync()
        #expect(!mirror.takeRequests().contains { $0.hasPrefix("api/") })
        #expect(fixture.questions.withLockedValue(\.count) == 1)
    }
}

/// A server in a thief's hands answers what it likes; nothing of this needs a key.
@Suite("An answer cannot")
struct AnswerLimitTests {
    private let fix: PatchID = name("fix")

    /// What the device does although the server says `sha256`: words of the report, and why it was not followed.
    private func expect(
        _ fixture: AnswerFixture,
        choosing sha256: SHA256Digest,
        toReach words: [String],
        because why: IgnoredAnswer.Reason,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        fixture.answering([fix: .version(sha256, isForced: true)], places: true)
        let report = try await fixture.world.device.sync()
        #expect(World.words(report) == words, sourceLocation: location)
        #expect(report.ignoredAnswers == [IgnoredAnswer(patchID: fix, why: why)], sourceLocation: location)
        #expect(report.decisions.allSatisfy { $0.server == nil }, sourceLocation: location)
        #expect(report.activates != .atOnce, sourceLocation: location)
    }

    @Test func `bring what is not listed`() async throws {
        let fixture = try await AnswerFixture()
        try await expect(
            fixture,
            choosing: SHA256Digest(of: Array("evil;".utf8)),
            toReach: ["+fix 3"],
            because: .notListed
        )
        #expect(
            fixture.takeRequests().filter { $0.hasPrefix("objects/") } == [URLLayout.object(AnswerFixture.digest("3"))]
        )
    }

    @Test func `bring what another channel lists`() async throws {
        let fixture = try await AnswerFixture()
        let other = SimulatedPatch.script("fix", "9", "beta;")
        fixture.world.repository.publish([other], to: SimulatedRepository.beta)
        let digest = SHA256Digest(of: Array("beta;".utf8))
        try await expect(fixture, choosing: digest, toReach: ["+fix 3"], because: .notListed)
    }

    @Test func `move a device down`() async throws {
        let fixture = try await AnswerFixture()
        fixture.answering()
        try await fixture.world.device.sync()
        try await fixture.world.device.launchAndConfirm()
        #expect(try fixture.installed == "fix 3")
        fixture.world.repository.publish([AnswerFixture.fix("3"), AnswerFixture.fix("2")])
        fixture.answering([fix: .version(AnswerFixture.digest("2"), isForced: true)])
        #expect(try await fixture.world.device.sync().staging == .unchanged)
        #expect(try fixture.installed == "fix 3")
        #expect(fixture.questions.withLockedValue(\.count) == 1, "there was nothing to ask")
    }

    @Test func `bring back what failed its trials here`() async throws {
        let fixture = try await AnswerFixture()
        fixture.answering([fix: .version(AnswerFixture.digest("2"), isForced: false)])
        try await fixture.world.device.sync()
        _ = try await fixture.world.device.device.launch(limit: 1)
        _ = try await fixture.world.device.device.launch(limit: 1)
        #expect(try fixture.installed == "fix 1")
        let until = fixture.world.clock.now().adding(.hours(1))
        try await expect(
            fixture,
            choosing: AnswerFixture.digest("2"),
            toReach: ["+fix 3"],
            because: .notEligible(.waiting(until: until))
        )
    }

    @Test func `exceed a signed ceiling, nor the dial's share`() async throws {
        let closed = AnswerFixture.fix("2", rules: PatchRules(rollout: 0))
        let fixture = try await AnswerFixture(offering: [AnswerFixture.fix("3"), closed, AnswerFixture.fix("1")])
        let why = IgnoredAnswer.Reason.notEligible(.rollout(cohort: 4_274, effective: 0))
        try await expect(fixture, choosing: AnswerFixture.digest("2"), toReach: ["+fix 3"], because: why)
        fixture.world.repository.setDial([fixture.headcount("2", 9)])
        try await expect(fixture, choosing: AnswerFixture.digest("2"), toReach: ["+fix 3"], because: why)
    }

    @Test func `break a pause`() async throws {
        let fixture = try await AnswerFixture()
        let row = Dial.Row(
            patchID: fix,
            sha256: AnswerFixture.digest("2"),
            rollout: 10_000,
            paused: true,
            reason: "it crashes",
            headcount: 9
        )
        fixture.world.repository.setDial([row])
        try await expect(
            fixture,
            choosing: AnswerFixture.digest("2"),
            toReach: ["+fix 3"],
            because: .notEligible(.paused(reason: "it crashes"))
        )
    }

    @Test func `give a version to a user or an app that it is not for`() async throws {
        let rules = [
            PatchRules(users: []), PatchRules(appVersion: AppVersionRange(">=9")), PatchRules(condition: "a==b"),
        ]
        for rules in rules {
            let fixture = try await AnswerFixture(
                offering: [AnswerFixture.fix("3"), AnswerFixture.fix("2", rules: rules), AnswerFixture.fix("1")]
            )
            fixture.answering([fix: .version(AnswerFixture.digest("2"), isForced: true)])
            let report = try await fixture.world.device.sync()
            #expect(World.words(report) == ["+fix 3"] && report.ignoredAnswers.count == 1, "\(rules)")
        }
    }

    @Test func `keep what was withdrawn`() async throws {
        let fixture = try await AnswerFixture(offering: [.script("tip", "1", "tip;")])
        fixture.answering([fix: .hold])
        let report = try await fixture.world.device.sync()
        #expect(report.ignoredAnswers == [IgnoredAnswer(patchID: fix, why: .takesAway)])
        #expect(report.decisions.map(\.choice.content?.patchID.text) == [nil, "tip"])
    }

    @Test func `start inside a running app what must wait for a launch`() async throws {
        let fixture = try await AnswerFixture(
            offering: [AnswerFixture.fix("2", rules: PatchRules(runAtNextLaunch: true)), AnswerFixture.fix("1")]
        )
        fixture.answering([fix: .version(AnswerFixture.digest("2"), isForced: true)])
        #expect(try await fixture.world.device.sync().activates == .atNextLaunch)
    }

    @Test func `give a place that the device did not ask for, nor one in another version`() async throws {
        let fixture = try await AnswerFixture(asks: false)
        fixture.world.repository.setDial([fixture.headcount("3", 1)])
        fixture.answering { question in
            DeviceAnswer(
                places: [.init(patchID: name("fix"), sha256: AnswerFixture.digest("2"), isGiven: true)],
                choices: [:]
            ).json.fileBytes
        }
        #expect(World.words(try await fixture.world.device.sync()).last == "+fix 2")
        #expect(try fixture.world.device.device.state().places == [])
    }
}
