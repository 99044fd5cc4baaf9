import DeviceTesting
import NIOConcurrencyHelpers
@testable import PatchChoice
import PatchFormat
import PatchTesting

@testable import PatchSync

/// A device, its server, and whoever attacks it: what may happen, by dice.
struct RandomLife {
    /// One thing that happened.
    enum Event: Equatable {
        case published, turned, told, attacked, synced, powerCut, launched, switched, confirmed, timerEnded, rolledBack
        case followed, unblocked, interrupted, damaged, updated, opened
        /// `state.json` was damaged, and read.
        case stateLost
        /// The clock was wrong for a sync and a launch.
        case wrongClock(seconds: Int)
        case passed(hours: Int)
        case nothing

        var touchesDevice: Bool {
            switch self {
            case .published, .turned, .told, .passed, .nothing: false
            default: true
            }
        }

        /// Whether a sync ran, to its end or not.
        var hasSynced: Bool {
            switch self {
            case .synced, .powerCut, .wrongClock, .attacked, .damaged: true
            default: false
            }
        }
    }

    let seed: UInt64
    var generator: SeededGenerator
    var world: World
    var publishedContents: [ChannelName: PublishedContents] = [:]
    /// What was ever listed and signed.
    var listed: Set<PatchContent> = []
    /// All that there were.
    var timestamps: [[UInt8]] = []
    var tokens: [LaunchToken] = []
    /// The app's own part.
    var native = Self.native(1)
    var build = 1
    /// Places that the server gave, by content.
    let given = NIOLockedValueBox<Set<PatchContent>>([])
    let questions = NIOLockedValueBox(0)
    var shown: [String: Int] = [:]

    /// Whether the app of this life ships a version.
    static func isEmbedded(_ seed: UInt64) -> Bool { seed.isMultiple(of: 2) }

    init(seed: UInt64) async throws {
        self.seed = seed
        generator = SeededGenerator(state: seed)
        let shipped = ["banner", "docs", "web"].map { Self.item($0, 1, SimulatedRepository.production) }
        world = Self.isEmbedded(seed) ? try World(shipped.map(\.patch), embedded: EmbeddedWorld.folder) : try World([])
        // Every other life asks for all metadata in one answer.
        world.device.express = (seed / 2).isMultiple(of: 2)
        world.repository.edit { $0.makesDifferences = (seed / 4).isMultiple(of: 2) }
        listed = Set(shipped.map(\.content))
        // Of some files the server has this form, of some the other.
        world.repository.compress { path in
            switch (seed &+ UInt64(path.utf8.count)) % 3 {
            case 0: nil
            case 1: .zstandard
            default: .gzip
            }
        }
        try await world.setFacts { [native] facts in
            facts.answers = .set(true)
            facts.platform = .set(native)
            facts.user = UserID("alice").map { .set($0) } ?? .keep
            guard let region = ConditionKey("region"), let europe = ConditionValue("eu") else { return }
            facts.data[region] = .set(europe)
        }
        world.device = try await world.device.opened(appBuild: "\(build)").0
        for channel in Self.channels { publish(in: channel) }
    }

    mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    mutating func element<Value>(_ values: [Value]) -> Value { values[pick(values.count)] }
    mutating func count(_ what: String) { shown[what, default: 0] += 1 }

    var channel: ChannelName { world.device.device.configuration.channel }

    mutating func step() async throws -> Event {
        switch pick(44) {
        case 40: return try await loseState()
        case 41...43: return try await openPage()
        case 0...2:
            publish(in: element(Self.channels))
            return .published
        case 3, 4:
            turnDial(of: channel)
            return .turned
        case 5:
            tellParameters(in: element(Self.channels))
            return .told
        case 6, 7: return try await attack()
        case 8...13:
            try await sync()
            return .synced
        case 14, 15:
            try await stopInSync()
            return .powerCut
        case 16...20:
            try await launch()
            return .launched
        case 21:
            if case .tryOut(_, let token) = try? await world.device.device.switchToPending() { tokens.append(token) }
            return .switched
        case 22...28: return try await confirm()
        case 29:
            guard let token = tokens.last else { return .nothing }
            _ = try await world.device.device.timerEnded(token)
            return .timerEnded
        case 30: return try await wrongClock()
        case 31:
            guard pick(3) > 0 else { return .nothing }
            if (try? await world.device.device.rollBack()) != nil { count("rolled back") }
            return .rolledBack
        case 32:
            guard pick(4) == 0 else { return .nothing }
            _ = try await world.device.device.forgetFailures()
            return .unblocked
        case 33: return try await follow()
        case 34: return try await damageTrial()
        case 35, 36: return try await damageRunning()
        case 37:
            guard pick(3) == 0 else { return .nothing }
            return try await update()
        default: return passTime()
        }
    }

    private mutating func confirm() async throws -> Event {
        guard let token = tokens.last else { return .nothing }
        if case .confirmed = try await world.device.device.confirm(token) { count("confirmed") }
        return .confirmed
    }

    private mutating func passTime() -> Event {
        let hours = element([1, 2, 30, 24 * 20])
        world.clock.advance(by: .hours(hours))
        for channel in Self.channels { publish(in: channel) }
        return .passed(hours: hours)
    }
}
