import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A sync also heals the selections that a device could go back to, in every channel.
extension SyncEngine {
    /// Heals files besides those of `plan`: of versions that a newer one will replace, of a trial's way back, and of
    /// patches that share a damaged file with a healed one.
    ///
    /// Versions that came without the signatures that are required now get them here, where the list still names them.
    /// Where bytes cost something, it is left for another network.
    ///
    /// It stops nothing: a file that does not arrive now is a failure of this sync, and a task of the next.
    /// - Throws: `fetch(.cancelled)` alone.
    func healKept(
        beside plan: SyncPlan,
        list: VerifiedList,
        _ machine: SelectionMachine,
        _ outcome: inout Download.Outcome
    ) async throws(SyncError) {
        guard allowance == nil else { return }
        let isDamageLikely = plan.changes(machine.state) || !outcome.healed.isEmpty
        let unchecked = unchecked(in: machine.kept, besides: plan, list)
        let damaged = isDamageLikely ? damaged(besides: outcome.ready.union(unchecked.map(\.content))) : []
        guard !damaged.isEmpty || !unchecked.isEmpty else { return }
        var download = download(of: plan.healing(damaged + unchecked), list, after: outcome)
        do throws(SyncError) { outcome = try await DownloadPlan().run(&download) } catch {
            if error == .fetch(.cancelled) { throw error }
            outcome = download.outcome
        }
    }

    /// Listed bundles of these selections whose own signatures were never checked.
    func unchecked(
        in selections: [Selection],
        besides plan: SyncPlan,
        _ list: VerifiedList
    ) -> [InstalledPatch] {
        guard configuration.entrySignatures == .required else { return [] }
        var seen = Set(plan.wanted.map(\.patch.content))
        let listed = Set(list.entries.map(\.content))
        return selections.flatMap(\.patches).filter { patch in
            guard let column = patch.column, listed.contains(patch.content) else { return false }
            return seen.insert(patch.content).inserted && !store.hasChecked(column, of: patch.fingerprint.sha256)
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
