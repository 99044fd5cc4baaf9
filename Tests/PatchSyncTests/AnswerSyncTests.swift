import DeviceTesting
import NIOConcurrencyHelpers
@testable import PatchChoice
import PatchFetch
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// A device that has fix 1 and web 1, whose server offers three versions of the fix and answers questions.
private struct AnswerYard {
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
            try await world.tell { facts in
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
        let yard = try await AnswerYard()
        yard.answering([fix: .version(AnswerYard.digest("2"), isForced: true)])
        let report = try await yard.world.device.sync()
        #expect(World.words(report) == ["fix 3: the server chose 2", "+fix 2"])
        #expect(report.decisions.map(\.server) == [.forced] && report.activates == .atOnce)
        #expect(try yard.pending == "fix 2")
        let question = try #require(yard.questions.withLockedValue(\.self).first)
        #expect(question.user == UserID("alice")?.answerHash(in: yard.world.repository.app) && question.places.isEmpty)
        try await yard.world.device.launchAndConfirm()
        // It has what was chosen: the newer one is passed over still.
        #expect(try await yard.world.device.sync().staging == .unchanged)
        #expect(try yard.installed == "fix 2")
    }

    @Test func `and forced later starts what waits already`() async throws {
        let yard = try await AnswerYard()
        yard.answering()
        #expect(try await yard.world.device.sync().activates == .anyTime)
        yard.answering([fix: .version(AnswerYard.digest("3"), isForced: true)])
        #expect(try await yard.world.device.sync().staging == .unchanged)
        guard case .pending(_, let next) = try yard.world.machine.state else {
            Issue.record("nothing waits")
            return
        }
        #expect(next.activates == .atOnce)
    }

    @Test func `keeps what it has while it is held`() async throws {
        let yard = try await AnswerYard()
        yard.answering([fix: .hold])
        let report = try await yard.world.device.sync()
        #expect(World.words(report) == ["fix 3: held by the server", "fix 2: held by the server"])
        #expect(report.staging == .unchanged && report.isComplete)
        yard.answering()
        #expect(try await yard.world.device.sync().staging == .staged)
        #expect(try yard.pending == "fix 3")
    }

    @Test func `asks nothing while there is nothing new, and nothing at all unless it was told to`() async throws {
        let silent = try await AnswerYard(asks: false)
        silent.answering([fix: .hold])
        #expect(try await silent.world.device.sync().staging == .staged)
        #expect(silent.questions.withLockedValue(\.count) == 0)

        let yard = try await AnswerYard(offering: [AnswerYard.fix("1")])
        yard.answering([fix: .hold])
        try await yard.world.device.sync()
        _ = yard.world.repository.takeRequests()
        #expect(try await yard.world.device.sync().staging == .unchanged)
        #expect(yard.world.repository.takeRequests().count == 2 && yard.questions.withLockedValue(\.count) == 0)
    }

    @Test func `takes a version with a head-count once it has a place, and remembers it`() async throws {
        let yard = try await AnswerYard(asks: false)
        yard.world.repository.setDial([yard.headcount("3", 1)])
        yard.answering(places: true)
        #expect(World.words(try await yard.world.device.sync()) == ["+fix 3"])
        let questions = yard.questions.withLockedValue(\.self)
        #expect(
            questions.map(\.user) == [nil] && questions.map { $0.places.map(\.sha256) } == [[AnswerYard.digest("3")]]
        )
        let place = try #require(questions.first?.places.first?.device)
        #expect(try yard.world.device.device.state().places == [place])
        // What waits is chosen again, without a question.
        #expect(try await yard.world.device.sync().staging == .unchanged)
        #expect(yard.questions.withLockedValue(\.count) == 1)
        yard.world.repository.publish([AnswerYard.fix("1")])
        try await yard.world.device.sync()
        #expect(try yard.world.device.device.state().places == [], "it is not listed any more")
    }

    @Test func `takes the next version where it got no place, and asks for one in that`() async throws {
        let yard = try await AnswerYard(asks: false)
        yard.world.repository.setDial([yard.headcount("3", 1), yard.headcount("2", 9)])
        yard.answering { question in
            DeviceAnswer(
                places: question.places.map {
                    .init(patchID: $0.patchID, sha256: $0.sha256, isGiven: $0.sha256 == AnswerYard.digest("2"))
                },
                choices: [:]
            ).json.fileBytes
        }
        let report = try await yard.world.device.sync()
        #expect(World.words(report) == ["fix 3: waits for a place: open to 1 device", "+fix 2"])
        let asked = yard.questions.withLockedValue(\.self).map { $0.places.map(\.sha256) }
        #expect(asked == [[AnswerYard.digest("3")], [AnswerYard.digest("2")]])
    }

    @Test func `asks for a place in the chosen version, and for no other once it is chosen`() async throws {
        let yard = try await AnswerYard()
        yard.world.repository.setDial([yard.headcount("2", 1)])
        yard.answering([fix: .version(AnswerYard.digest("2"), isForced: false)], places: true)
        #expect(World.words(try await yard.world.device.sync()) == ["fix 3: the server chose 2", "+fix 2"])
        let questions = yard.questions.withLockedValue(\.self)
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
        let yard = try await AnswerYard()
        yard.world.repository.setDial([yard.headcount("3", 9)])
        yard.answering([:], places: true)
        yard.world.repository.fail(
            URLLayout.answer(yard.world.repository.app, SimulatedRepository.production),
            with: fault
        )
        let report = try await yard.world.device.sync()
        #expect(World.words(report) == ["fix 3: waits for a place: open to 9 devices", "+fix 2"], "\(what)")
        #expect(report.unanswered != nil && report.isComplete && report.staging == .staged, "\(what)")
        let asked = yard.takeRequests().filter { $0.hasPrefix("api/") }
        #expect(asked.count == 1, "\(what)")
    }

    @Test func `asks the server alone, never a mirror`() async throws {
        var yard = try await AnswerYard()
        let mirror = yard.world.repository.copy(clock: yard.world.clock)
        yard.world.device.mirrors = [Source(name: "http://mirror.test", fetcher: mirror)]
        yard.world.repository.fail(URLLayout.timestamp, with: .connection)
        yard.answering()
        try await yard.world.device.sync()
        #expect(!mirror.takeRequests().contains { $0.hasPrefix("api/") })
        #expect(yard.questions.withLockedValue(\.count) == 1)
    }
}

/// A server in a thief's hands answers what it likes; nothing of this needs a key.
@Suite("An answer cannot")
struct AnswerLimitTests {
    private let fix: PatchID = name("fix")

    /// What the device does although the server says `sha256`: words of the report, and why it was not followed.
    private func expect(
        _ yard: AnswerYard,
        choosing sha256: SHA256Digest,
        toComeTo words: [String],
        because why: IgnoredAnswer.Why,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        yard.answering([fix: .version(sha256, isForced: true)], places: true)
        let report = try await yard.world.device.sync()
        #expect(World.words(report) == words, sourceLocation: location)
        #expect(report.ignoredAnswers == [IgnoredAnswer(patchID: fix, why: why)], sourceLocation: location)
        #expect(report.decisions.allSatisfy { $0.server == nil }, sourceLocation: location)
        #expect(report.activates != .atOnce, sourceLocation: location)
    }

    @Test func `bring what is not listed`() async throws {
        let yard = try await AnswerYard()
        try await expect(
            yard,
            choosing: SHA256Digest(of: Array("evil;".utf8)),
            toComeTo: ["+fix 3"],
            because: .notListed
        )
        #expect(yard.takeRequests().filter { $0.hasPrefix("objects/") } == [URLLayout.object(AnswerYard.digest("3"))])
    }

    @Test func `bring what another channel lists`() async throws {
        let yard = try await AnswerYard()
        let other = SimulatedPatch.script("fix", "9", "beta;")
        yard.world.repository.publish([other], to: SimulatedRepository.beta)
        let digest = SHA256Digest(of: Array("beta;".utf8))
        try await expect(yard, choosing: digest, toComeTo: ["+fix 3"], because: .notListed)
    }

    @Test func `move a device down`() async throws {
        let yard = try await AnswerYard()
        yard.answering()
        try await yard.world.device.sync()
        try await yard.world.device.launchAndConfirm()
        #expect(try yard.installed == "fix 3")
        yard.world.repository.publish([AnswerYard.fix("3"), AnswerYard.fix("2")])
        yard.answering([fix: .version(AnswerYard.digest("2"), isForced: true)])
        #expect(try await yard.world.device.sync().staging == .unchanged)
        #expect(try yard.installed == "fix 3")
        #expect(yard.questions.withLockedValue(\.count) == 1, "there was nothing to ask")
    }

    @Test func `bring back what failed its trials here`() async throws {
        let yard = try await AnswerYard()
        yard.answering([fix: .version(AnswerYard.digest("2"), isForced: false)])
        try await yard.world.device.sync()
        _ = try await yard.world.device.device.launch(limit: 1)
        _ = try await yard.world.device.device.launch(limit: 1)
        #expect(try yard.installed == "fix 1")
        let until = yard.world.clock.now().adding(.hours(1))
        try await expect(
            yard,
            choosing: AnswerYard.digest("2"),
            toComeTo: ["+fix 3"],
            because: .notEligible(.waiting(until: until))
        )
    }

    @Test func `exceed a signed ceiling, nor the dial's share`() async throws {
        let closed = AnswerYard.fix("2", rules: PatchRules(rollout: 0))
        let yard = try await AnswerYard(offering: [AnswerYard.fix("3"), closed, AnswerYard.fix("1")])
        let why = IgnoredAnswer.Why.notEligible(.rollout(cohort: 4_274, effective: 0))
        try await expect(yard, choosing: AnswerYard.digest("2"), toComeTo: ["+fix 3"], because: why)
        yard.world.repository.setDial([yard.headcount("2", 9)])
        try await expect(yard, choosing: AnswerYard.digest("2"), toComeTo: ["+fix 3"], because: why)
    }

    @Test func `break a pause`() async throws {
        let yard = try await AnswerYard()
        let row = Dial.Row(
            patchID: fix,
            sha256: AnswerYard.digest("2"),
            rollout: 10_000,
            paused: true,
            reason: "it crashes",
            headcount: 9
        )
        yard.world.repository.setDial([row])
        try await expect(
            yard,
            choosing: AnswerYard.digest("2"),
            toComeTo: ["+fix 3"],
            because: .notEligible(.paused(reason: "it crashes"))
        )
    }

    @Test func `give a version to a user or an app that it is not for`() async throws {
        let rules = [
            PatchRules(users: []), PatchRules(appVersion: AppVersionRange(">=9")), PatchRules(condition: "a==b"),
        ]
        for rules in rules {
            let yard = try await AnswerYard(
                offering: [AnswerYard.fix("3"), AnswerYard.fix("2", rules: rules), AnswerYard.fix("1")]
            )
            yard.answering([fix: .version(AnswerYard.digest("2"), isForced: true)])
            let report = try await yard.world.device.sync()
            #expect(World.words(report) == ["+fix 3"] && report.ignoredAnswers.count == 1, "\(rules)")
        }
    }

    @Test func `keep what was withdrawn`() async throws {
        let yard = try await AnswerYard(offering: [.script("tip", "1", "tip;")])
        yard.answering([fix: .hold])
        let report = try await yard.world.device.sync()
        #expect(report.ignoredAnswers == [IgnoredAnswer(patchID: fix, why: .takesAway)])
        #expect(report.decisions.map(\.choice.content?.patchID.text) == [nil, "tip"])
    }

    @Test func `start inside a running app what must wait for a launch`() async throws {
        let yard = try await AnswerYard(
            offering: [AnswerYard.fix("2", rules: PatchRules(runAtNextLaunch: true)), AnswerYard.fix("1")]
        )
        yard.answering([fix: .version(AnswerYard.digest("2"), isForced: true)])
        #expect(try await yard.world.device.sync().activates == .atNextLaunch)
    }

    @Test func `give a place that the device did not ask for, nor one in another version`() async throws {
        let yard = try await AnswerYard(asks: false)
        yard.world.repository.setDial([yard.headcount("3", 1)])
        yard.answering { question in
            DeviceAnswer(
                places: [.init(patchID: name("fix"), sha256: AnswerYard.digest("2"), isGiven: true)],
                choices: [:]
            ).json.fileBytes
        }
        #expect(World.words(try await yard.world.device.sync()).last == "+fix 2")
        #expect(try yard.world.device.device.state().places == [])
    }
}
