import DeviceTesting
@testable import PatchChoice
import PatchCrypto
import PatchTrust
import PatchFormat
@testable import PatchSync
import PatchTesting
import Testing

/// A device under 6,000 random events for each seed, and what must hold after each of them.
@Suite("The machine of selections under random events")
struct RandomEventTests {
    private struct Walk {
        var machine = SelectionMachine()
        var generator: SeededGenerator
        var time = ManualClock.start
        var tokens: [LaunchToken] = []
        var staged: Set<PatchContent> = []
        var withdrawn: Set<PatchID> = []
        var hasConfirmed = false
        var count = 0

        init(seed: UInt64) {
            generator = SeededGenerator(state: seed)
        }

        mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

        mutating func newToken() -> LaunchToken {
            let token = LaunchToken(random: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
            tokens.append(token)
            return token
        }

        /// Mostly the last launch, sometimes an older one.
        mutating func someToken() -> LaunchToken {
            guard !tokens.isEmpty else { return newToken() }
            return pick(4) > 0 ? tokens[tokens.count - 1] : tokens[pick(tokens.count)]
        }
    }

    private static let versions = ["fix", "web", "banner"].map { id in (0..<6).map { installed("\(id) \($0)") } }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `holds its promises`(seed: UInt64) throws {
        var walk = Walk(seed: seed)
        for step in 1...6_000 {
            walk.count = step
            let before = walk.machine
            walk.time = walk.time.adding(.minutes(walk.pick(90)))
            let activation = stepOnce(&walk)
            try check(walk, before, activation)
        }
        #expect(walk.hasConfirmed)
    }

    private func stepOnce(_ walk: inout Walk) -> SelectionMachine.Activation? {
        switch walk.pick(12) {
        case 0...3: stage(&walk)
        case 4...5: return walk.machine.launch(token: walk.newToken(), at: walk.time)
        case 6: return walk.machine.switchToPending(token: walk.newToken())
        case 7, 8:
            if case .confirmed = walk.machine.confirm(walk.someToken()) { walk.hasConfirmed = true }
        case 9: return walk.machine.timerEnded(walk.someToken(), at: walk.time)
        case 10: walk.machine.stoppedCleanly(walk.someToken())
        default:
            if walk.pick(5) == 0 { return walk.machine.rollBack(at: walk.time) }
            // Its files were altered.
            if case .trying = walk.machine.state, !walk.machine.isUnproven { return walk.machine.interruptTrial() }
        }
        return nil
    }

    /// What a sync does: chooses from what runs, of versions that are free now; sometimes a patch is withdrawn.
    private func stage(_ walk: inout Walk) {
        var patches: [InstalledPatch] = []
        for versions in Self.versions {
            if walk.pick(25) == 0 { continue }
            let wanted = versions[walk.pick(versions.count)]
            let isFree = walk.machine.blocks.status(of: wanted.content, at: walk.time) == .free
            let taken = isFree ? wanted : walk.machine.state.running?[wanted.patchID]
            if let taken { patches.append(taken) }
        }
        let next = selection(of: patches, number: walk.count)
        if walk.machine.stage(next) == .staged { walk.staged.formUnion(next.contents) }
    }

    private func check(_ walk: Walk, _ before: SelectionMachine, _ activation: SelectionMachine.Activation?) throws {
        let machine = walk.machine
        let comment: Comment = "step \(walk.count)"
        // A confirmed selection is lost by withdrawal of all of it alone.
        if let good = before.state.confirmed, machine.state.confirmed == nil {
            guard case .tryOut(let next, _) = activation else {
                guard case .run(let next, _) = activation, next.patches.isEmpty else {
                    Issue.record("nothing confirmed is left; \(comment)")
                    return
                }
                return
            }
            #expect(good.patches.allSatisfy { next[$0.patchID] == nil }, comment)
        }
        // What was never staged never runs, and what runs is never empty-handed.
        for selection in machine.kept {
            #expect(selection.contents.isSubset(of: walk.staged), comment)
            #expect(!selection.patches.isEmpty || machine.state.waits(for: selection), comment)
        }
        switch activation {
        case .tryOut(let trial, let token)?:
            let new = trial.contents.subtracting(before.state.confirmed?.contents ?? [])
            if case .pending = before.state {
                for content in new { #expect(before.blocks.status(of: content, at: walk.time) == .free, comment) }
            }
            guard case .trying(_, trial, let launch) = machine.state else {
                Issue.record("is tried and not in trial; \(comment)")
                return
            }
            #expect(
                launch.token == token && launch.launches >= 1
                    && (launch.launches <= SelectionMachine.defaultLaunchLimit || machine.isUnproven),
                comment
            )
        case .rolledBack(let good, let bad)?:
            #expect(machine.state.running == good, comment)
            for content in bad.contents.subtracting(good?.contents ?? []) {
                #expect(machine.blocks.status(of: content, at: walk.time) != .free, comment)
            }
        case .interrupted(let good, let trial)?:
            #expect(machine.state.running == good && machine.blocks == before.blocks, comment)
            #expect(machine.state == .pending(good: good, next: trial.activating(.atNextLaunch)), comment)
        case .run(let selection, _)?:
            #expect(machine.state.running == (selection.patches.isEmpty ? nil : selection), comment)
        case .unproven?: #expect(machine == before && machine.isUnproven, comment)
        case .nothing?: #expect(machine.state == .empty, comment)
        case nil: break
        }
        if walk.count.isMultiple(of: 100) {
            var state = DeviceState()
            state.machine = machine
            #expect(try state.reread().machine == machine, comment)
        }
    }
}

extension SelectionState {
    /// What runs or would run if the trial failed now.
    fileprivate var confirmed: Selection? {
        switch self {
        case .empty: nil
        case .settled(let selection): selection
        case .pending(let good, _), .trying(let good, _, _): good
        }
    }

    fileprivate func waits(for selection: Selection) -> Bool {
        guard case .pending(_, selection) = self else { return false }
        return true
    }
}
