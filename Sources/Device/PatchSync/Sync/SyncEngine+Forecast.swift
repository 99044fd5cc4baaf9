import PatchChoice
import PatchFormat
import PatchCrypto
import PatchTrust

/// Computes the downloads of a sync and their cost, without performing the sync.
extension SyncEngine {
    /// The channel's offer, the choice for this device, and the cost of the missing files.
    ///
    /// Verified metadata, list and dial are stored as in a sync, because trust never moves back. Selections, failures, places,
    /// online parameters and objects are unchanged. The server is not asked for places or the user's assignments, because the
    /// question would take a place.
    ///
    /// The caller holds the store's sync lock.
    package func forecast() async throws(SyncError) -> SyncForecast {
        _ = sources.takeFaults()
        let count = ByteCount()
        var engine = self
        engine.sources = Sources(sources.inOrder.map { $0.counted(by: count) })
        engine.takesParameters = false
        return try await engine.withinDeadline { [engine] () async throws(SyncError) in
            try await engine.forecast(counting: count)
        }
    }

    private func forecast(counting count: ByteCount) async throws(SyncError) -> SyncForecast {
        let offer = try await refresh()
        var state = try store.state(of: configuration.channel)
        state.machine.shortenBlocks(at: offer.time)
        state.transfers.shorten(at: offer.time)
        var context = try context(state, offer)
        var judge = MeteredJudge(allowance: allowance)
        var plan = SyncPlan(list: offer.list, role: offer.role, machine: state.machine, under: context)
        var put: [SyncForecast.Row] = []
        while true {
            let waiting = try await waiting(in: plan, offer.list, by: &judge)
            guard !waiting.isEmpty else { break }
            put += plan.wanted.compactMap { wanted in
                guard waiting[wanted.patch.content] != nil else { return nil }
                return judge.costs[wanted.patch.content].map { SyncForecast.Row(wanted, .putOff, $0) }
            }
            context.putOff.merge(waiting) { $1 }
            plan = SyncPlan(list: offer.list, role: offer.role, machine: state.machine, under: context)
        }
        let (rows, noRoom) = try await rows(of: plan, offer.list, state.machine)
        var forecast = SyncForecast(
            roleVersion: offer.list.roleVersion,
            decisions: plan.decisions,
            refused: offer.list.refused,
            staleMirror: offer.staleMirror,
            keptEmbedded: plan.keptEmbedded,
            mirrors: sources.takeFaults(),
            ignoredAnswers: plan.ignoredAnswers,
            isUnasked: plan.question(for: nil) != nil,
            isTrial: plan.isTrial,
            metadata: count.bytes,
            rows: rows.filter { row in row.task != .keep || !put.contains { $0.patchID == row.patchID } } + put
        )
        forecast.putOff = judge.putOff
        forecast.noRoom = noRoom
        return forecast
    }

    /// The rows in the order of a sync's downloads.
    ///
    /// Additional repairs are last.
    private func rows(
        of plan: SyncPlan,
        _ list: VerifiedList,
        _ machine: SelectionMachine
    ) async throws(SyncError) -> ([SyncForecast.Row], [OversizedVersion]) {
        var appraisal = appraisal(of: plan, list)
        var rows: [SyncForecast.Row] = []
        var noRoom: [OversizedVersion] = []
        let room = store.room(reserve: configuration.reserve)
        var promised = 0
        for wanted in plan.wanted {
            if let room, wanted.isNew, let needs = try await appraisal.room(for: wanted) {
                if let wait = room.wait(for: promised + needs) {
                    let own = SpaceShortage(needs: needs, free: wait.free - promised, reserve: wait.reserve)
                    noRoom.append(OversizedVersion(content: wanted.patch.content, label: wanted.patch.label, wait: own))
                } else {
                    promised += needs
                }
            }
            let cost = try await appraisal.cost(of: wanted)
            let task: SyncForecast.Task = wanted.isNew ? .take : cost == nil ? .keep : .heal
            rows.append(SyncForecast.Row(wanted, task, cost ?? .nothing))
        }
        guard allowance == nil else { return (rows, noRoom) }
        let isDamageLikely = plan.changes(machine.state) || rows.contains { $0.task == .heal }
        let unchecked = unchecked(in: machine.kept, besides: plan, list)
        let seen = Set((plan.wanted.map(\.patch) + unchecked).map(\.content))
        let damaged = isDamageLikely ? damaged(besides: seen) : []
        for wanted in plan.healing(damaged + unchecked).wanted {
            guard let cost = try await appraisal.cost(of: wanted) else { continue }
            rows.append(SyncForecast.Row(wanted, .heal, cost))
        }
        return (rows, noRoom)
    }
}

extension SyncForecast.Row {
    fileprivate init(_ wanted: SyncPlan.Wanted, _ task: SyncForecast.Task, _ cost: TransferCost) {
        self.init(
            patchID: wanted.patch.patchID,
            kind: wanted.patch.kind,
            version: wanted.patch.version,
            current: wanted.current?.version,
            task: task,
            cost: cost
        )
    }
}
