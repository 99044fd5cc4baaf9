import DeviceTesting
import NIOConcurrencyHelpers
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// A whole device, and what must hold after each event of its life.
///
/// Random lists of scripts and bundles, dials, pauses, head-counts, answers, parameters, channels, attacks, syncs, launches,
/// confirmations, roll backs, damaged files, builds of the app, power cuts and clocks. The app of every other life ships a version.
@Suite("A device under random events")
struct RandomLifeTests {
    @Test(arguments: [19, 26, 29] as [UInt64])
    func `keeps its promises`(seed: UInt64) async throws {
        var life = try await RandomLife(seed: seed)
        for number in 1...120 {
            let before = try Before(life)
            let event = try await life.step()
            let comment: Comment = "seed \(seed), step \(number): \(event)"
            if event.touchesDevice { try life.expectWhole(comment) }
            try life.expectNoLoss(since: before, by: event, comment)
            try life.expectNoOlderList(since: before, by: event, comment)
            try life.expectOwnParameters(since: before, by: event, comment)
        }
        try expectNoFaults(life.world.device)
        #expect(life.questions.withLockedValue(\.self) > 1)
        for (what, least) in [
            ("synced", 20), ("staged", 8), ("bundle staged", 4), ("confirmed", 3), ("by pack", 2),
            ("by two packs", seed == 19 ? 0 : 1),
            ("stopped", 1),
            ("followed", 1),
            ("damaged", 2), ("opened", 1), ("state lost", 1),
        ] {
            #expect(life.shown[what, default: 0] >= least, "seed \(seed) shows little: \(life.shown)")
        }
    }

    /// What there was before an event.
    struct Before {
        let machine: SelectionMachine
        let channel: ChannelName
        let parameters: [ChannelName: [UInt8]]
        let lists: [ChannelName: Int]
        /// What would run if the state were lost.
        let standby: Selection?

        init(_ life: RandomLife) throws {
            machine = try life.world.machine
            lists = try life.lists
            standby = try life.world.store.standby(of: life.channel)?.machine.state.running
            channel = life.channel
            parameters = try life.storedParameters
        }
    }
}

// MARK: What must hold

extension RandomLife {
    fileprivate var storedParameters: [ChannelName: [UInt8]] {
        get throws {
            var stored: [ChannelName: [UInt8]] = [:]
            for channel in Self.channels { stored[channel] = try world.store.parameters(of: channel) }
            return stored
        }
    }

    /// The role's version of the last list that each channel was synced with.
    fileprivate var lists: [ChannelName: Int] {
        get throws {
            var lists: [ChannelName: Int] = [:]
            for channel in Self.channels { lists[channel] = try world.store.state(of: channel).lastSync?.roleVersion }
            return lists
        }
    }

    /// Every selection that is kept, in every channel, is there byte for byte, and was signed once.
    fileprivate func expectWhole(_ comment: Comment) throws {
        let store = world.device.device.store
        var check = IntegrityCheck(store: store, records: VerifiedRecords(), shipped: VerifiedRecords())
        for channel in try store.channels() {
            for selection in try store.state(of: channel).machine.kept {
                #expect(selection.contents.isSubset(of: listed), comment)
                let faults = try selection.patches.flatMap { patch in
                    try check.faults(of: patch).map { "\(channel), \($0.file): \($0.wrong)" }
                }
                // What comes after it follows from it.
                try #require(faults == [], comment)
            }
        }
    }

    /// An older list never takes the place of a newer one.
    fileprivate func expectNoOlderList(
        since before: RandomLifeTests.Before,
        by event: Event,
        _ comment: Comment
    ) throws {
        // What is known of lists, though not of their roles, begins anew with what an app ships.
        guard event != .updated, event != .stateLost else { return }
        let lists = try lists
        for (channel, version) in before.lists { #expect(lists[channel, default: 0] >= version, comment) }
    }

    /// What proved itself is lost by withdrawal alone, and what runs is that, or a trial, or what was there before.
    fileprivate func expectNoLoss(
        since before: RandomLifeTests.Before,
        by event: Event,
        _ comment: Comment
    ) throws {
        let (old, new) = (before.machine.state, try world.machine.state)
        let withdrawn: (Selection) -> Bool = { good in
            guard case .pending(_, let next) = old else { return false }
            return good.patches.allSatisfy { next[$0.patchID] == nil }
        }
        if event == .stateLost {
            let expected = try before.standby ?? world.machine.embedded
            #expect(new.running?.contents == expected?.contents, comment)
            return
        }
        if let good = old.good, new.good == nil { #expect(withdrawn(good), comment) }
        if let good = old.good, new.running == nil { #expect(withdrawn(good), comment) }
        if before.machine.isUnproven, event.isLocal {
            #expect(new.running?.contents == old.running?.contents, "a first version was taken away; \(comment)")
            #expect(try world.machine.blocks == before.machine.blocks, comment)
        }
        switch event {
        case .followed: return
        // A trial that does not count makes room for what a sync stages.
        case .attacked, .synced, .powerCut, .damaged:
            if case .trying(let good, _, _) = old, !before.machine.isTrialRunning {
                if case .trying = new { break }
                #expect(new.good?.contents == good?.contents || new.isWithdrawal(of: old), comment)
                return
            }
            #expect(new.running?.contents == old.running?.contents, comment)
        // A sync and what the release side does change nothing of what runs.
        case .published, .turned, .told, .unblocked, .nothing, .passed, .opened:
            #expect(new.running?.contents == old.running?.contents, comment)
        case .updated:
            let machine = try world.machine
            let expected = Self.isEmbedded(seed) ? machine.embedded : old.good ?? old.running
            #expect(machine.blocks == TrialBlocks() && new.running?.contents == expected?.contents, comment)
            return
        case .rolledBack:
            #expect(new == before.machine.rolledBack, comment)
            return
        case .launched, .switched: try expectWithdrawn(since: before.machine, comment)
        case .confirmed, .timerEnded, .wrongClock, .interrupted, .stateLost: break
        }
        try expectProved(since: before.machine, new, by: event, comment)
    }

    /// What is taken back is nowhere that a device could go back to.
    private func expectWithdrawn(since before: SelectionMachine, _ comment: Comment) throws {
        let machine = try world.machine
        guard case .pending(_, let next) = before.state, machine.state.running?.contents == next.contents else {
            return
        }
        for selection in machine.earlier + [machine.embedded].compactMap(\.self) {
            #expect(selection.patches.allSatisfy { next[$0.patchID] != nil }, comment)
        }
    }

    /// What differs from the confirmed selection runs on trial alone; only a person goes back further.
    private func expectProved(
        since before: SelectionMachine,
        _ new: SelectionState,
        by event: Event,
        _ comment: Comment
    ) throws {
        let old = before.state
        if case .settled(let selection) = new {
            switch old {
            case .settled(let good): #expect(selection.contents.isSubset(of: good.contents), comment)
            case .pending(let good, let next):
                let isRest = selection.contents.isSubset(of: next.contents) || event != .launched && event != .switched
                #expect(selection.contents.isSubset(of: good?.contents ?? []) && isRest, comment)
            case .trying(let good, let trial, _):
                let expected = event == .confirmed ? trial : good ?? before.embedded
                #expect(selection.contents == expected?.contents, comment)
            case .empty: Issue.record("nothing was there to settle on; \(comment)")
            }
        }
        if case .wrongClock = event { return }
        guard case .trying(let good, let trial, _) = new, trial.contents != old.running?.contents else { return }
        guard case .pending(_, let next) = old else {
            Issue.record("a trial of what did not wait; \(comment)")
            return
        }
        #expect(trial.contents == next.contents, comment)
        for content in trial.contents.subtracting(good?.contents ?? []) {
            #expect(before.blocks.status(of: content, at: world.clock.now()) == .free, comment)
        }
    }

    /// Of what was staged, everything new is listed, free, above what was there, made for this native part, and what rules, dial
    /// and places allow.
    ///
    /// - Parameter isFresh: whether the dial is the one that the server says last.
    func expectAllowed(
        _ next: Selection,
        over before: Selection?,
        by report: SyncReport,
        isFresh: Bool
    ) throws {
        let comment: Comment = "seed \(seed), sync \(shown["synced"] ?? 0) of \(channel)"
        let publishedContents = publishedContents[channel] ?? PublishedContents()
        let offers = try #require(publishedContents.offers[report.roleVersion], comment)
        let state = try world.device.device.state()
        let time = try #require(state.lastSync?.at)
        func place(_ patch: InstalledPatch) -> Int? { offers.firstIndex { $0.content == patch.content } }
        // Down, or away, only when the old version is withdrawn, or one that it requires.
        func isLost(_ old: InstalledPatch, _ seen: Set<PatchID>) -> Bool {
            guard let place = place(old) else { return true }
            return offers[place].patch.requires.contains { id, digests in
                guard let had = before?[id], digests.contains(had.fingerprint.sha256), !seen.contains(id),
                    next[id].map({ digests.contains($0.fingerprint.sha256) }) != true
                else { return false }
                return isLost(had, seen.union([old.patchID]))
            }
        }
        for patch in next.patches where before?[patch.patchID]?.content != patch.content {
            #expect(state.machine.blocks.status(of: patch.content, at: time) == .free, comment)
            let newPlace = try #require(place(patch), "\(patch.label) is not listed; \(comment)")
            let offer = offers[newPlace].patch
            for (id, digests) in offer.requires {
                #expect(next[id].map { digests.contains($0.fingerprint.sha256) } == true, comment)
            }
            #expect(offer.rules.condition != "region==us", comment)
            #expect(patch.kind == .script || native.fits(offer.compatibility), "\(patch.label); \(comment)")
            let row = isFresh ? publishedContents.rows[patch.content] : nil
            #expect(row?.paused != true, "\(patch.label) is paused; \(comment)")
            let cohort = Cohort(salt: offer.salt, deviceID: SimulatedDevice.id).number
            #expect(min(offer.rules.rollout, row?.rollout ?? 10_000) > cohort, comment)
            if row?.headcount != nil { #expect(given.withLockedValue { $0.contains(patch.content) }, comment) }
            if let old = before?[patch.patchID], let oldPlace = place(old) {
                #expect(newPlace < oldPlace || isLost(old, []), "\(old.label) to \(patch.label); \(comment)")
            }
        }
        for old in before?.patches ?? [] where next[old.patchID] == nil {
            #expect(isLost(old, []) && old.channel == nil, "\(old.label) was taken away; \(comment)")
            let heldBack = offers.first { offer in
                offer.content.patchID == old.patchID && isFree(offer, state)
            }
            #expect(heldBack == nil, "\(old.label) was taken away for a dial's sake; \(comment)")
        }
    }

    /// Whether release keys let this device have it, and nothing has become of it here.
    private func isFree(_ offer: Offer, _ state: DeviceState) -> Bool {
        let cohort = Cohort(salt: offer.patch.salt, deviceID: SimulatedDevice.id).number
        return offer.patch.requires.isEmpty && offer.patch.rules.rollout > cohort
            && offer.patch.rules.condition != "region==us" && native.fits(offer.patch.compatibility)
            && state.machine.blocks.blocks[offer.content] == nil
    }

    /// A sync that came to its end leaves what is said now, or what was good before.
    func expectParameters(after report: SyncReport) throws {
        guard report.staleMirror == nil else { return }
        switch report.parameters {
        case .kept: break
        case .changed, .removed, .unchanged:
            #expect(try world.device.device.parameters().values == publishedContents[channel]?.parameters ?? [:])
        }
    }

    /// Versions that come, go and fail have nothing to do with parameters, nor has one channel with the other.
    fileprivate func expectOwnParameters(
        since before: RandomLifeTests.Before,
        by event: Event,
        _ comment: Comment
    ) throws {
        let stored = try storedParameters
        for channel in Self.channels where stored[channel] != before.parameters[channel] && event != .updated {
            #expect(event.hasSynced && channel == self.channel, comment)
        }
        for (channel, bytes) in stored {
            let parameters = try OnlineParameters(bytes)
            #expect(publishedContents[channel]?.everyPublished.contains(parameters.values) == true, comment)
        }
    }
}

extension RandomLife.Event {
    /// Whether nothing came from a server.
    fileprivate var isLocal: Bool {
        switch self {
        case .launched, .timerEnded, .interrupted, .rolledBack, .opened, .switched: true
        default: false
        }
    }
}

extension SelectionState {
    /// Whether the first version, which never proved itself, is to go with the next launch.
    fileprivate func isWithdrawal(of old: SelectionState) -> Bool {
        guard case .pending(let good?, let next) = self else { return false }
        return next.patches.isEmpty && good.contents == old.running?.contents
    }
}

extension SelectionMachine {
    /// What a person's roll back leaves.
    fileprivate var rolledBack: SelectionState {
        switch state {
        case .empty, .pending(nil, _): return state
        case .trying where isUnproven: return state
        case .trying(let good, _, _): return .resting(good ?? embedded)
        case .settled(let present), .pending(let present?, _):
            guard let target = previous ?? embedded, target.contents != present.contents else { return state }
            return .settled(target)
        }
    }
}
