import PatchChoice

extension SyncEngine {
    /// A person approves of all that this plan takes, also where its download breaks off.
    func recordApprovals(of plan: SyncPlan) async throws(SyncError) {
        let new = plan.wanted.filter(\.isNew).map(\.patch)
        guard approvesAll, configuration.policy.consent != .automatic, !new.isEmpty else { return }
        let approved = try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            let approved = new.filter { !state.approved.contains($0.content) }
            for patch in approved { state.approved.add(patch.content, patch.version) }
            return approved.map(\.label)
        }
        if !approved.isEmpty { report(.approved(approved)) }
    }
}
