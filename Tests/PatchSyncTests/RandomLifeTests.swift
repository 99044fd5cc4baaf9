import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// A whole device under random lists, dials, syncs, launches, confirmations, power cuts and clocks, and what must hold
/// after each of them.
@Suite("A device under random events")
struct RandomLifeTests {
    private static let ids = ["banner", "fix", "tip"]

    private struct Life {
        let seed: UInt64
        var generator: SeededGenerator
        var world: World
        /// What was ever listed and signed.
        var listed: Set<PatchContent> = []
        var tokens: [LaunchToken] = []
        var syncs = 0
        var staged = 0
        var confirmed = 0
        var stopped = 0

        init(seed: UInt64) throws {
            self.seed = seed
            generator = SeededGenerator(state: seed)
            world = try World([])
        }

        mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    }

    @Test(arguments: [11, 12] as [UInt64])
    func `keeps its promises`(seed: UInt64) async throws {
        var life = try Life(seed: seed)
        publish(&life)
        for step in 1...100 {
            let before = try life.world.machine
            let what = try await stepOnce(&life)
            let comment: Comment = "seed \(seed), step \(step): \(what)"
            try check(life, before, isRollBack: what == "roll back", comment)
        }
        #expect(
            life.syncs > 20 && life.staged > 5 && life.confirmed > 2 && life.stopped > 0,
            "seed \(seed) shows little"
        )
    }

    // MARK: Events

    private func stepOnce(_ life: inout Life) async throws -> String {
        let device = life.world.device.device
        switch life.pick(20) {
        case 0...2:
            publish(&life)
            return "list"
        case 3:
            turnDial(&life)
            return "dial"
        case 4...7:
            try await sync(&life)
            return "sync"
        case 8, 9:
            try await stopInSync(&life)
            return "power cut"
        case 10...12:
            if case .tryOut(_, let token) = try await device.launch() { life.tokens.append(token) }
            return "launch"
        case 13:
            if case .tryOut(_, let token) = try? await device.switchToPending() { life.tokens.append(token) }
            return "switch"
        case 14...16:
            guard let token = life.tokens.last else { return "no launch" }
            if case .confirmed = try await device.confirm(token) { life.confirmed += 1 }
            return "confirm"
        case 17:
            guard let token = life.tokens.last else { return "no launch" }
            _ = try await device.timerEnded(token)
            return "timer"
        case 18:
            guard life.pick(4) == 0 else { return try await wrongClock(&life) }
            _ = try? await device.rollBack()
            return "roll back"
        default:
            let hours = [1, 2, 30, 24 * 20][life.pick(4)]
            life.world.clock.advance(by: .hours(hours))
            publish(&life)
            return "\(hours) hours"
        }
    }

    /// The clock is wrong for the time of a sync and a launch: by hours, by years, to both sides.
    private func wrongClock(_ life: inout Life) async throws -> String {
        let hours = [3, -3, 24 * 800, -24 * 800][life.pick(4)]
        life.world.clock.advance(by: .hours(hours))
        defer { life.world.clock.advance(by: .hours(-hours)) }
        try await sync(&life)
        if case .tryOut(_, let token) = try await life.world.device.device.launch() { life.tokens.append(token) }
        return "a clock wrong by \(hours) hours"
    }

    private func publish(_ life: inout Life) {
        var rows: [SimulatedPatch] = []
        for id in Self.ids where life.pick(12) > 0 {
            for version in (1...4).reversed() where life.pick(3) > 0 {
                var patch = SimulatedPatch.script(id, "\(version)", Self.text(id, version))
                if life.pick(4) == 0 { patch.rules.rollout = life.pick(10_000) }
                patch.rules.runAtNextLaunch = life.pick(6) == 0
                patch.rules.mandatory = life.pick(6) == 0
                let other = Self.ids[life.pick(Self.ids.count)]
                if life.pick(3) == 0, other != id {
                    patch.requires = [name(other): [life.pick(4) + 1, life.pick(4) + 1].map { Self.digest(other, $0) }]
                }
                rows.append(patch)
                life.listed.insert(PatchContent(patchID: name(id), sha256: Self.digest(id, version)))
            }
        }
        life.world.repository.publish(rows)
    }

    private static func text(_ id: String, _ version: Int) -> String { "\(id)(\(version));" }

    private static func digest(_ id: String, _ version: Int) -> SHA256Digest {
        SHA256Digest(of: Array(text(id, version).utf8))
    }

    private func turnDial(_ life: inout Life) {
        let rows = Self.ids.map { id in
            Dial.Row(
                patchID: name(id),
                sha256: Self.digest(id, life.pick(4) + 1),
                rollout: life.pick(10_001),
                paused: life.pick(3) == 0,
                reason: nil
            )
        }
        life.world.repository.setDial(rows)
    }

    /// Sometimes an object cannot be had.
    private func sync(_ life: inout Life) async throws {
        let path = URLLayout.object(Self.digest(Self.ids[life.pick(3)], life.pick(4) + 1))
        if life.pick(3) == 0 { life.world.repository.fail(path, with: life.pick(2) == 0 ? .notFound : .connection) }
        defer { life.world.repository.repair(path) }
        let before = try life.world.machine.state.running
        guard let report = try? await life.world.device.sync() else { return }
        life.syncs += 1
        guard report.staging == .staged, case .pending(_, let next) = try life.world.machine.state else { return }
        life.staged += 1
        try checkStaged(next, over: before, life)
    }

    /// The power goes at a random change of the disk, in a sync.
    private func stopInSync(_ life: inout Life) async throws {
        let disk = life.world.disk.reopened(failingAtChange: life.pick(15) + 1)
        let device = try life.world.device.reopened(on: disk)
        if (try? await device.sync()) == nil { life.stopped += 1 }
        life.world = try life.world.continued(on: disk.reopened())
    }

    // MARK: What must hold

    private func checkStaged(_ next: Selection, over before: Selection?, _ life: Life) throws {
        let comment: Comment = "seed \(life.seed), sync \(life.syncs)"
        let offers = life.world.repository.tree.offers[SimulatedRepository.production] ?? []
        let state = try life.world.device.device.state()
        let time = try #require(state.lastSync?.at)
        func place(_ patch: InstalledPatch) -> Int? {
            offers.firstIndex { $0.id == patch.patchID && $0.version == patch.version }
        }
        for patch in next.patches where before?[patch.patchID]?.content != patch.content {
            // Nothing blocked, nothing that waits.
            #expect(state.machine.blocks.standing(of: patch.content, at: time) == .free, comment)
            // It is listed now, and what it requires is there.
            let entry = try #require(place(patch).map { offers[$0] }, comment)
            for (id, digests) in entry.requires {
                #expect(next[id].map { digests.contains($0.fingerprint.sha256) } == true, comment)
            }
            // Down only when the old version is withdrawn, or what that requires.
            if let old = before?[patch.patchID], let oldPlace = place(old), let newPlace = place(patch) {
                let lost = offers[oldPlace].requires.contains { id, digests in
                    before?[id].map { digests.contains($0.fingerprint.sha256) } == true
                        && next[id].map { digests.contains($0.fingerprint.sha256) } != true
                }
                #expect(newPlace < oldPlace || lost, comment)
            }
        }
    }

    private func check(_ life: Life, _ before: SelectionMachine, isRollBack: Bool, _ comment: Comment) throws {
        let machine = try life.world.machine
        // A complete selection is there once one was confirmed, unless all of it was withdrawn.
        let faults = try life.world.device.device.verifyInstalled(signatures: false).faults
        #expect(faults == [], comment)
        if let good = before.confirmed, machine.confirmed == nil {
            let offers = machine.state.running
            #expect(good.patches.allSatisfy { offers?[$0.patchID] == nil } || offers != nil, comment)
        }
        // What was never listed and signed never appears.
        for selection in machine.kept { #expect(selection.contents.isSubset(of: life.listed), comment) }
        // What differs from the confirmed selection runs on trial alone.
        if case .settled(let selection) = machine.state, case .settled(let old) = before.state, !isRollBack {
            #expect(selection.contents.isSubset(of: old.contents), comment)
        }
    }
}

extension SelectionMachine {
    /// What runs or would run if the trial failed now.
    fileprivate var confirmed: Selection? {
        switch state {
        case .empty: nil
        case .settled(let selection): selection
        case .pending(let good, _), .trying(let good, _, _): good
        }
    }
}
