import PatchChoice
import PatchFormat
import PatchCrypto
import PatchTrust

/// Decides which versions of a sync wait for an unmetered network.
struct MeteredJudge {
    /// The bytes that may be spent on this network, or nil if it is unmetered and no version waits.
    let allowance: Int?
    /// The estimated cost of each version, computed once per sync, so that all decisions use the same estimate.
    private(set) var costs: [PatchContent: TransferCost] = [:]
    /// The deferred versions, in the order of the decisions.
    private(set) var putOff: [DeferredVersion] = []

    init(allowance: Int?) {
        self.allowance = allowance
    }

    /// Returns the versions of the plan that must wait, or an empty dictionary if the whole plan may be downloaded.
    ///
    /// - Parameter ready: Contents that are already downloaded. They never wait.
    mutating func judge(
        _ plan: SyncPlan,
        _ list: VerifiedList,
        ready: Set<PatchContent>,
        _ appraisal: inout Appraisal
    ) async throws(SyncError) -> [PatchContent: MeteredWait] {
        guard let allowance else { return [:] }
        let entries = Dictionary(list.entries.map { ($0.content, $0) }) { first, _ in first }
        var candidates: [MeteredChoice.Candidate] = []
        for wanted in plan.wanted {
            let content = wanted.patch.content
            if costs[content] == nil { costs[content] = try await appraisal.cost(of: wanted) ?? .nothing }
            let entry = wanted.isNew ? entries[content] : nil
            candidates.append(
                MeteredChoice.Candidate(
                    patchID: content.patchID,
                    bytes: costs[content]?.size.bytes,
                    // Repairs of the active version are always downloaded.
                    isMandatory: !wanted.isNew || ready.contains(content) || entry?.rules.mandatory == true,
                    requires: Set(entry.map { Array($0.requires.keys) } ?? [])
                )
            )
        }
        let choice = MeteredChoice(candidates, allowance: allowance)
        var waiting: [PatchContent: MeteredWait] = [:]
        for wanted in plan.wanted {
            guard let wait = choice.waiting[wanted.patch.patchID],
                !putOff.contains(where: { $0.content == wanted.patch.content })
            else { continue }
            waiting[wanted.patch.content] = wait
            putOff.append(
                DeferredVersion(
                    content: wanted.patch.content,
                    version: wanted.patch.version,
                    size: costs[wanted.patch.content]?.size ?? .unknown,
                    wait: wait
                )
            )
        }
        return waiting
    }
}

extension SyncEngine {
    /// Reports and returns the versions of the plan that must wait on the present network, or an empty dictionary if none must.
    ///
    /// - Parameter outcome: The outcome of this sync's downloads so far.
    func waiting(
        in plan: SyncPlan,
        _ list: VerifiedList,
        _ outcome: Download.Outcome = Download.Outcome(),
        by judge: inout MeteredJudge
    ) async throws(SyncError) -> [PatchContent: MeteredWait] {
        guard judge.allowance != nil, !outcome.isComplete(for: plan) else { return [:] }
        let before = judge.putOff.count
        var appraisal = appraisal(of: plan, list)
        let waiting = try await judge.judge(plan, list, ready: outcome.ready, &appraisal)
        for putOff in judge.putOff.dropFirst(before) {
            guard let wanted = plan.wanted.first(where: { $0.patch.content == putOff.content }) else { continue }
            // The version is listed and not on disk. It stays so until it is downloaded.
            let state = PatchState(
                wanted: wanted.patch.address,
                installed: wanted.current?.address,
                onDisk: .absent,
                launch: .notRunning
            )
            report(.state(putOff.content.patchID, putOff.version, state, fault: nil))
            report(.putOff(putOff))
        }
        return waiting
    }

    func appraisal(of plan: SyncPlan, _ list: VerifiedList) -> Appraisal {
        Appraisal(of: plan, list, checking: configuration.entrySignatures, in: store, by: transfers)
    }
}

extension DeferredVersions {
    init(_ versions: [DeferredVersion]) {
        self.init()
        for version in versions { add(version.content, Row(version: version.version, bytes: version.size.bytes)) }
    }
}
