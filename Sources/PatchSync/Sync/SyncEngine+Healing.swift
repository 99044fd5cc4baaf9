import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust

/// A sync also heals the selections that a device could go back to, in every channel.
extension SyncEngine {
    /// Heals files besides those of `plan`: of versions that a newer one will replace, of a trial's way back, and of
    /// patches that share a damaged file with a healed one.
    ///
    /// It stops nothing: a file that does not arrive now is a failure of this sync, and a task of the next.
    /// - Throws: `fetch(.cancelled)` alone.
    func healKept(
        beside plan: SyncPlan,
        list: VerifiedList,
        state: SelectionState,
        _ outcome: inout Download.Outcome
    ) async throws(SyncError) {
        guard plan.changes(state) || !outcome.healed.isEmpty else { return }
        let damaged = damaged(besides: outcome.ready)
        guard !damaged.isEmpty else { return }
        var download = download(of: plan.healing(damaged), list, after: outcome)
        do throws(SyncError) { outcome = try await download.run() } catch {
            if error == .fetch(.cancelled) { throw error }
            outcome = download.outcome
        }
    }

    /// Errors of the disk are left to the next sync.
    func damaged(besides whole: Set<PatchContent>) -> [InstalledPatch] {
        var seen = whole
        let states = ((try? store.channels()) ?? []).compactMap { try? store.state(of: $0) }
        let others = states.flatMap(\.machine.kept).flatMap(\.patches).filter { seen.insert($0.content).inserted }
        guard !others.isEmpty else { return [] }
        var check = IntegrityCheck(store: store, records: store.records())
        return others.filter { (try? check.faults(of: $0).isEmpty) == false }
    }
}

extension SyncPlan {
    /// Whether the selection to run changes from the one that has proved itself.
    func changes(_ state: SelectionState) -> Bool {
        guard case .settled(let selection) = state else { return true }
        return Set(wanted.map(\.patch.content)) != selection.contents
    }
}
