import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// A whole device under random lists, dials, pauses, head-counts, answers, parameters, channels, attacks, syncs, launches,
/// confirmations, roll backs, power cuts and clocks, and what must hold after each of them.
@Suite("A device under random events")
struct RandomLifeTests {
    @Test(arguments: [11, 12] as [UInt64])
    func `keeps its promises`(seed: UInt64) async throws {
        var life = try await RandomLife(seed: seed)
        for number in 1...120 {
            let before = try Before(life)
            let event = try await life.step()
            let comment: Comment = "seed \(seed), step \(number): \(event)"
            try life.expectWhole(comment)
            try life.expectNoLoss(since: before, by: event, comment)
            try life.expectOwnParameters(since: before, by: event, comment)
        }
        try expectNoFaults(life.world.device)
        #expect(life.questions.withLockedValue(\.self) > 1)
        for (what, least) in [
            ("synced", 20), ("staged", 8), ("confirmed", 3), ("stopped", 1), ("followed", 1),
        ] {
            #expect(life.shown[what, default: 0] >= least, "seed \(seed) shows little: \(life.shown)")
        }
    }

    /// What there was before an event.
    struct Before {
        let machine: SelectionMachine
        let channel: ChannelName
        let parameters: [ChannelName: [UInt8]]

        init(_ life: RandomLife) throws {
            machine = try life.world.machine
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

    /// Every selection that is kept, in every channel, is there byte for byte, and was signed once.
    fileprivate func expectWhole(_ comment: Comment) throws {
        var examination = Examination(store: world.store, records: VerifiedRecords(), shipped: VerifiedRecords())
        for channel in try world.store.channels() {
            for selection in try world.store.state(of: channel).machine.kept {
                #expect(selection.contents.isSubset(of: listed), comment)
                for patch in selection.patches { #expect(try examination.faults(of: patch) == [], comment) }
            }
        }
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
        if let good = old.good, new.good == nil { #expect(withdrawn(good), comment) }
        if let good = old.good, new.running == nil { #expect(withdrawn(good), comment) }
        guard event != .followed else { return }
        // A sync and what the release side does change nothing of what runs.
        switch event {
        case .published, .turned, .told, .attacked, .synced, .powerCut, .unblocked, .nothing, .passed:
            #expect(new.running?.contents == old.running?.contents, comment)
        case .launched, .switched, .confirmed, .timerEnded, .rolledBack, .followed, .wrongClock, .interrupted:
            break
        }
        // What differs from the confirmed selection runs on trial alone; only a person goes back further.
        if case .settled(let selection) = new, event != .rolledBack {
            switch old {
            case .settled(let good): #expect(selection.contents.isSubset(of: good.contents), comment)
            case .pending(let good, let next):
                let isRest = selection.contents.isSubset(of: next.contents) || event != .launched && event != .switched
                #expect(selection.contents.isSubset(of: good?.contents ?? []) && isRest, comment)
            case .trying(let good, let trial, _):
                let expected = event == .confirmed ? trial.contents : good?.contents
                #expect(selection.contents == expected, comment)
            case .empty: Issue.record("nothing was there to settle on; \(comment)")
            }
        }
        guard case .trying(_, let trial, _) = new, trial.contents != old.running?.contents else { return }
        guard case .pending(_, let next) = old else {
            if case .wrongClock = event { return }
            Issue.record("a trial of what did not wait; \(comment)")
            return
        }
        if case .wrongClock = event { return }
        #expect(trial.contents == next.contents, comment)
    }

    /// Of what was staged, everything new is listed, free, above what was there, and what rules, dial and places allow.
    func expectAllowed(_ next: Selection, over before: Selection?) throws {
        let comment: Comment = "seed \(seed), sync \(shown["synced"] ?? 0) of \(channel)"
        let said = said[channel] ?? Said()
        let state = try world.device.device.state()
        let time = try #require(state.lastSync?.at)
        func place(_ patch: InstalledPatch) -> Int? {
            said.offers.firstIndex { offer in
                offer.id == patch.patchID && offer.sha256 == patch.fingerprint.sha256
            }
        }
        for patch in next.patches where before?[patch.patchID]?.content != patch.content {
            #expect(state.machine.blocks.standing(of: patch.content, at: time) == .free, comment)
            let entry = try #require(place(patch).map { said.offers[$0] }, "\(patch.label) is not listed")
            for (id, digests) in entry.requires {
                #expect(next[id].map { digests.contains($0.fingerprint.sha256) } == true, comment)
            }
            #expect(entry.rules.condition != "region==us", comment)
            let row = said.rows[patch.content]
            #expect(row?.paused != true, "\(patch.label) is paused")
            let cohort = Cohort(salt: entry.salt, deviceID: SimulatedDevice.id).number
            #expect(min(entry.rules.rollout, row?.rollout ?? 10_000) > cohort, comment)
            if row?.headcount != nil { #expect(given.withLockedValue { $0.contains(patch.content) }, comment) }
            // Down only when the old version is withdrawn, or what that requires.
            if let old = before?[patch.patchID], let oldPlace = place(old), let newPlace = place(patch) {
                let lost = said.offers[oldPlace].requires.contains { id, digests in
                    before?[id].map { digests.contains($0.fingerprint.sha256) } == true
                        && next[id].map { digests.contains($0.fingerprint.sha256) } != true
                }
                #expect(newPlace < oldPlace || lost, comment)
            }
        }
        for old in before?.patches ?? [] where next[old.patchID] == nil {
            let isListed = place(old).map { said.offers[$0].requires.isEmpty } ?? false
            #expect(!isListed && old.channel == nil, "\(old.label) was taken away; \(comment)")
        }
    }

    /// A sync that came to its end leaves what is said now, or what was good before.
    func expectParameters(after report: SyncReport) throws {
        guard report.staleMirror == nil else { return }
        switch report.parameters {
        case .kept: break
        case .changed, .removed, .unchanged:
            #expect(try world.device.device.parameters().values == said[channel]?.parameters ?? [:])
        }
    }

    /// Versions that come, go and fail have nothing to do with parameters, nor has one channel with the other.
    fileprivate func expectOwnParameters(
        since before: RandomLifeTests.Before,
        by event: Event,
        _ comment: Comment
    ) throws {
        let stored = try storedParameters
        for channel in Self.channels where stored[channel] != before.parameters[channel] {
            #expect(event.hasSynced && channel == self.channel, comment)
        }
        for (channel, bytes) in stored {
            let parameters = try OnlineParameters(bytes)
            #expect(said[channel]?.everySaid.contains(parameters.values) == true, comment)
        }
    }
}

extension SimulatedPatch {
    /// Of a script.
    fileprivate var sha256: SHA256Digest? {
        if case .script(let bytes) = content { SHA256Digest(of: bytes) } else { nil }
    }
}
