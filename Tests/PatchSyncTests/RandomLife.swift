import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// A device, its server, and whoever attacks it: what may happen, by dice.
struct RandomLife {
    /// One thing that happened.
    enum Event: Equatable {
        case published, turned, told, attacked, synced, powerCut, launched, switched, confirmed, timerEnded, rolledBack
        case followed, unblocked, interrupted
        /// The clock was wrong for a sync and a launch.
        case wrongClock(hours: Int)
        case passed(hours: Int)
        case nothing

        /// Whether a sync ran, to its end or not.
        var hasSynced: Bool {
            switch self {
            case .synced, .powerCut, .wrongClock, .attacked: true
            default: false
            }
        }
    }

    /// What a channel says now.
    struct Said {
        /// In list order, what nobody signed left out.
        var offers: [SimulatedPatch] = []
        var rows: [PatchContent: Dial.Row] = [:]
        var parameters: [ParameterName: ParameterValue] = [:]
        /// Every value that was ever published.
        var everySaid: [[ParameterName: ParameterValue]] = [[:]]
    }

    static let channels = [SimulatedRepository.production, SimulatedRepository.beta]
    static let ids = ["banner", "fix", "tip", "web"]
    private static let versions = 4

    let seed: UInt64
    var generator: SeededGenerator
    var world: World
    var said: [ChannelName: Said] = [:]
    /// What was ever listed and signed.
    var listed: Set<PatchContent> = []
    var tokens: [LaunchToken] = []
    /// Places that the server gave, by content.
    let given = NIOLockedValueBox<Set<PatchContent>>([])
    let questions = NIOLockedValueBox(0)
    var shown: [String: Int] = [:]

    init(seed: UInt64) async throws {
        self.seed = seed
        generator = SeededGenerator(state: seed)
        world = try World([])
        try await world.tell { facts in
            facts.answers = .set(true)
            facts.user = UserID("alice").map { .set($0) } ?? .keep
            guard let region = ConditionKey("region"), let europe = ConditionValue("eu") else { return }
            facts.data[region] = .set(europe)
        }
        for channel in Self.channels { publish(in: channel) }
    }

    mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    private mutating func element<Value>(_ values: [Value]) -> Value { values[pick(values.count)] }
    mutating func count(_ what: String) { shown[what, default: 0] += 1 }

    var channel: ChannelName { world.device.device.configuration.channel }

    mutating func step() async throws -> Event {
        switch pick(32) {
        case 0...2:
            publish(in: element(Self.channels))
            return .published
        case 3, 4:
            turnDial(of: channel)
            return .turned
        case 5:
            tellParameters(in: element(Self.channels))
            return .told
        case 6: return try await attack()
        case 7...12:
            try await sync()
            return .synced
        case 13, 14:
            try await stopInSync()
            return .powerCut
        case 15...18:
            try await launch()
            return .launched
        case 19:
            if case .tryOut(_, let token) = try? await world.device.device.switchToPending() { tokens.append(token) }
            return .switched
        case 20...23:
            guard let token = tokens.last else { return .nothing }
            if case .confirmed = try await world.device.device.confirm(token) { count("confirmed") }
            return .confirmed
        case 24:
            guard let token = tokens.last else { return .nothing }
            _ = try await world.device.device.timerEnded(token)
            return .timerEnded
        case 25: return try await wrongClock()
        case 26:
            guard pick(3) == 0 else { return .nothing }
            if (try? await world.device.device.rollBack()) != nil { count("rolled back") }
            return .rolledBack
        case 27:
            guard pick(4) == 0 else { return .nothing }
            _ = try await world.device.device.forgetFailures()
            return .unblocked
        case 28: return try await follow()
        case 29: return try await damageTrial()
        default:
            let hours = element([1, 2, 30, 24 * 20])
            world.clock.advance(by: .hours(hours))
            for channel in Self.channels { publish(in: channel) }
            return .passed(hours: hours)
        }
    }

    // MARK: The release side and the server

    static func content(_ id: String, _ version: Int, _ channel: ChannelName) -> PatchContent {
        PatchContent(patchID: name(id), sha256: SHA256Digest(of: Array(text(id, version, channel).utf8)))
    }

    /// The first two versions are the same in both channels, as after a promotion.
    private static func text(_ id: String, _ version: Int, _ channel: ChannelName) -> String {
        "\(id)(\(version));" + (version > 2 ? "// \(channel)" : "")
    }

    private mutating func publish(in channel: ChannelName) {
        var rows: [SimulatedPatch] = []
        for id in Self.ids where pick(12) > 0 {
            for version in (1...Self.versions).reversed() where pick(3) > 0 {
                rows.append(patch(id, version, channel))
                listed.insert(Self.content(id, version, channel))
            }
        }
        said[channel, default: Said()].offers = rows
        world.repository.publish(rows, to: channel)
        signDial()
    }

    private mutating func patch(_ id: String, _ version: Int, _ channel: ChannelName) -> SimulatedPatch {
        var patch = SimulatedPatch.script(id, "\(version)", Self.text(id, version, channel))
        if pick(4) == 0 { patch.rules.rollout = pick(10_000) }
        if pick(6) == 0 { patch.rules.condition = element(["region==eu", "region==us"]) }
        if pick(8) == 0 { patch.rules.dial = .required }
        patch.rules.runAtNextLaunch = pick(6) == 0
        patch.rules.mandatory = pick(6) == 0
        let other = element(Self.ids)
        if pick(3) == 0, other != id {
            patch.requires = [
                name(other): [pick(4) + 1, pick(4) + 1].map { Self.content(other, $0, channel).sha256 }
            ]
        }
        return patch
    }

    private mutating func turnDial(of channel: ChannelName) {
        var rows: [PatchContent: Dial.Row] = [:]
        for id in Self.ids {
            let content = Self.content(id, pick(Self.versions) + 1, channel)
            rows[content] = Dial.Row(
                patchID: content.patchID,
                sha256: content.sha256,
                rollout: pick(3) == 0 ? pick(10_001) : 10_000,
                paused: pick(3) == 0,
                reason: nil,
                headcount: pick(3) == 0 ? pick(100) : nil
            )
        }
        said[channel, default: Said()].rows = rows
        signDial()
    }

    /// Signed anew with every list: what one says is as fresh as the other.
    private func signDial() {
        let said = said
        world.repository.edit { tree in
            tree.publishDial(
                said.map { Dial(app: tree.app, channel: $0, rows: $1.rows.sorted { $0.key < $1.key }.map(\.value)) }
            )
            tree.publishSnapshot()
        }
    }

    private mutating func tellParameters(in channel: ChannelName) {
        let text: ParameterName = name("text")
        let isGone = pick(5) == 0
        let value = ParameterValue.text(ExactString("\(channel) \(pick(1_000))"))
        let values = isGone ? [:] : [text: value]
        said[channel, default: Said()].parameters = values
        said[channel, default: Said()].everySaid.append(values)
        world.repository.setParameters(
            isGone ? nil : Dictionary(uniqueKeysWithValues: values.map { ($0.key.text, $0.value) }),
            of: channel
        )
    }

    /// What the server says to a question: anything.
    private mutating func prepareAnswer() {
        let (kind, givesPlaces) = (pick(6), pick(2) == 0)
        var choices: [PatchID: DeviceAnswer.Choice] = [:]
        for id in Self.ids where pick(3) == 0 {
            let content = Self.content(id, pick(Self.versions + 2), element(Self.channels))
            choices[name(id)] = pick(4) == 0 ? .hold : .version(content.sha256, isForced: pick(3) == 0)
        }
        world.repository.onQuestion { [given, questions, choices] question in
            questions.withLockedValue { $0 += 1 }
            switch kind {
            case 0: return nil
            case 1: return Array("no answer".utf8)
            default: break
            }
            if givesPlaces {
                given.withLockedValue { given in
                    for place in question.places { given.insert(.init(patchID: place.patchID, sha256: place.sha256)) }
                }
            }
            return DeviceAnswer(
                places: question.places.map { .init(patchID: $0.patchID, sha256: $0.sha256, isGiven: givesPlaces) },
                choices: choices
            ).json.fileBytes
        }
    }

    /// Somebody without the channel's keys has the server for a while, or is between it and the device.
    private mutating func attack() async throws -> Event {
        let channel = channel
        let honest = said[channel]?.offers ?? []
        let evil = Self.ids.map { SimulatedPatch.script($0, "9", "evil(\($0));") }
        let kind = pick(3)
        switch kind {
        // With a stolen role key and no entry key: the list is taken, and no evil entry of it.
        case 0: world.repository.publish(evil.map { $0.with { $0.key = .other } } + honest, to: channel)
        // With a stolen entry key and no role key.
        case 1:
            world.repository.edit { tree in
                tree.impostors[channel.text] = [.other]
                tree.publishChannel(channel, evil + honest)
                tree.publishSnapshot()
            }
        // Other bytes under the names of objects.
        default:
            for id in Self.ids {
                for version in 1...Self.versions {
                    let path = URLLayout.object(Self.content(id, version, channel).sha256)
                    world.repository.fail(path, with: .replaced(Array("evil(\(id));".utf8)))
                }
            }
        }
        if kind == 0 { signDial() }
        try await sync(isHonest: kind == 0)
        count("attack \(kind)")
        world.repository.edit { $0.impostors = [:] }
        for path in world.repository.tree.files.keys { world.repository.repair(path) }
        for id in Self.ids {
            for version in 1...Self.versions {
                world.repository.repair(URLLayout.object(Self.content(id, version, channel).sha256))
            }
        }
        publish(in: channel)
        return .attacked
    }

    // MARK: The device

    /// Sometimes an object cannot be had.
    private mutating func sync(isHonest: Bool = true) async throws {
        prepareAnswer()
        let path = URLLayout.object(
            Self.content(element(Self.ids), pick(Self.versions) + 1, channel).sha256
        )
        if isHonest, pick(3) == 0 {
            world.repository.fail(path, with: pick(2) == 0 ? .notFound : .connection)
        }
        defer { if isHonest { world.repository.repair(path) } }
        let before = try world.machine.state.running
        guard let report = try? await world.device.sync() else { return }
        count("synced")
        try expectParameters(after: report)
        guard report.staging == .staged, case .pending(_, let next) = try world.machine.state else { return }
        count("staged")
        try expectAllowed(next, over: before)
    }

    /// The power goes at a random change of the disk, in a sync.
    private mutating func stopInSync() async throws {
        prepareAnswer()
        let disk = world.disk.reopened(failingAtChange: pick(25) + 1)
        let device = try world.device.reopened(on: disk)
        if (try? await device.sync()) == nil { count("stopped") }
        world = try world.continued(on: disk.reopened())
    }

    private mutating func launch() async throws {
        if case .tryOut(_, let token) = try await world.device.device.launch() { tokens.append(token) }
    }

    /// By hours, by years, back to 1970; to both sides.
    private mutating func wrongClock() async throws -> Event {
        let now = world.clock.now()
        let hours = element([3, -3, 24 * 800, -24 * 800, -now.seconds / 3_600])
        world.clock.advance(by: .hours(hours))
        defer { world.clock.advance(by: .hours(-hours)) }
        try await sync()
        try await launch()
        return .wrongClock(hours: hours)
    }

    /// A file of what is on trial is altered until its time is over: that is no failure of its version.
    private mutating func damageTrial() async throws -> Event {
        let before = try world.machine
        guard case .trying(let good, let trial, let launch) = before.state,
            let patch = trial.patches.first(where: { good?[$0.patchID]?.content != $0.content })
        else { return .nothing }
        let path = world.store.objects.path(of: patch.fingerprint.sha256)
        let bytes = try world.disk.read(path, limit: 1_000)
        try world.disk.overwrite(path, with: Array("altered".utf8))
        _ = try await world.device.device.timerEnded(launch.token)
        #expect(try world.machine.blocks == before.blocks, "nothing failed")
        try world.disk.overwrite(path, with: bytes)
        count("interrupted")
        return .interrupted
    }

    private mutating func follow() async throws -> Event {
        let other = Self.channels.first { $0 != channel } ?? channel
        let before = try world.store.state(of: channel)
        guard let device = try? await world.device.device.following(channel: other) else { return .nothing }
        #expect(try world.store.state(of: channel) == before, "the way back")
        world.device.device = device
        count("followed")
        return .followed
    }
}
