import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust

/// A sync looks after more than what it chose: what a device would go back to is whole too, in every channel.
extension SyncEngine {
    /// Mends what is kept besides what `plan` is about: what a newer version is to replace, what a trial would fall back to, and
    /// what shares a damaged file with something that was healed.
    ///
    /// It stops nothing: what does not come now is looked for by the next sync, and is among the failures.
    /// - Throws: `fetch(.cancelled)` alone.
    func mendKept(
        beside plan: SyncPlan,
        list: VerifiedList,
        state: SelectionState,
        _ outcome: inout Download.Outcome
    ) async throws(SyncError) {
        guard plan.changes(state) || !outcome.healed.isEmpty else { return }
        let damaged = damaged(besides: outcome.ready)
        guard !damaged.isEmpty else { return }
        var download = download(of: plan.mending(damaged), list, after: outcome)
        do throws(SyncError) { outcome = try await download.run() } catch {
            if error == .fetch(.cancelled) { throw error }
            outcome = download.outcome
        }
    }

    /// What cannot be looked at now is for the next sync.
    private func damaged(besides whole: Set<PatchContent>) -> [InstalledPatch] {
        var seen = whole
        let states = ((try? store.channels()) ?? []).compactMap { try? store.state(of: $0) }
        let others = states.flatMap(\.machine.kept).flatMap(\.patches).filter { seen.insert($0.content).inserted }
        guard !others.isEmpty else { return [] }
        var check = IntegrityCheck(store: store, records: store.records())
        return others.filter { (try? check.faults(of: $0).isEmpty) == false }
    }
}

extension SyncPlan {
    /// Whether something else is to run than what has proved itself.
    fileprivate func changes(_ state: SelectionState) -> Bool {
        guard case .settled(let selection) = state else { return true }
        return Set(wanted.map(\.patch.content)) != selection.contents
    }
}
