import PatchChoice

extension SyncEngine {
    /// A person approves of all that this plan takes, also where its download breaks off.
    func recordApprovals(of plan: SyncPlan) async throws(SyncError) {
        let new = plan.wanted.filter(\.isNew).map(\.patch)
        guard approvesAll, configuration.policy.consent != .automatic, !new.isEmpty else { return }
        try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            for patch in new { state.approved.add(patch.content, patch.version) }
        }
    }
}
