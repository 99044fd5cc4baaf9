import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A sync also repairs the selections that a rollback could activate, in all channels.
extension SyncEngine {
    /// Repairs files of other versions than those of `plan`: versions that a newer one will replace, a trial's rollback target, and
    /// patches that share a damaged file with a repaired one.
    ///
    /// Versions that were installed without the signatures that are required now get them here, if they are still listed.
    /// On a metered network all of this is deferred.
    ///
    /// A file that cannot be downloaded now counts as a failure of this sync, and the next sync tries again.
    ///
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

    /// The damaged patches of all channels.
    ///
    /// Disk errors are left to the next sync.
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
    /// Whether the selection to run differs from the confirmed one.
    func changes(_ state: SelectionState) -> Bool {
        guard case .settled(let selection) = state else { return true }
        return Set(wanted.map(\.patch.content)) != selection.contents
    }
}
