import NIOConcurrencyHelpers
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The device's facts and state when a download begins.
struct DeviceSnapshot: Sendable {
    let stateFault: StateFault?
    let machine: SelectionMachine
    let context: EligibilityContext
}

/// A download of one offer, for a device in one state.
///
/// Versions that are incompatible with this device or cannot be downloaded are added to its facts. The next choice then leaves them
/// out, along with the versions that require them.
struct DownloadJob {
    struct Result: Sendable {
        let plan: SyncPlan
        let outcome: Download.Outcome
    }

    let offer: SyncEngine.ChannelOffer
    let machine: SelectionMachine
    let traffic: Traffic
    var context: EligibilityContext
    var judge: MeteredJudge
    var outcome = Download.Outcome()

    init(_ offer: SyncEngine.ChannelOffer, _ device: DeviceSnapshot, allowance: Int?, traffic: Traffic) {
        (self.offer, self.traffic) = (offer, traffic)
        (machine, context) = (device.machine, device.context)
        judge = MeteredJudge(allowance: allowance)
    }
}

/// Counts the files and bytes of a sync, including those for lists that a newer one replaced.
final class Traffic: Sendable {
    private let state = NIOLockedValueBox((files: 0, bytes: 0))

    var files: Int { state.withLockedValue(\.files) }
    var bytes: Int { state.withLockedValue(\.bytes) }

    func add(_ outcome: Download.Outcome) {
        state.withLockedValue { state in
            state.files += outcome.filesReceived
            state.bytes += outcome.bytesReceived
        }
    }
}

extension SyncEngine {
    /// The versions for this device that may be downloaded now.
    ///
    /// The server is asked if the choice depends on its answers. Versions that must wait for an unmetered network are left out.
    func choose(for job: inout DownloadJob) async throws(SyncError) -> SyncPlan {
        while true {
            let offer = job.offer
            let plan = SyncPlan(list: offer.list, role: offer.role, machine: job.machine, under: job.context)
            // No place is requested for a version that must wait, so the server is asked for the user's assignments first.
            let requestsChoicesFirst = job.context.answers.needsChoices && plan.question(for: nil) != nil
            let waiting =
                requestsChoicesFirst ? [:] : try await waiting(in: plan, offer.list, job.outcome, by: &job.judge)
            if !waiting.isEmpty {
                job.context.putOff.merge(waiting) { $1 }
                job.outcome.putOff = job.judge.putOff
                continue
            }
            if let answers = try await answers(wantedBy: plan, &job.outcome) {
                job.context.answers = answers
                continue
            }
            try await recordApprovals(of: plan)
            return plan
        }
    }

    /// Downloads the files of a plan.
    func download(_ plan: SyncPlan, for job: inout DownloadJob) async throws(SyncError) {
        var download = download(of: plan, job.offer.list, after: job.outcome)
        do throws(SyncError) {
            job.outcome = try await DownloadPlan().run(&download)
        } catch {
            if error.isNoSpace { download.removePartialFiles() }
            job.traffic.add(download.outcome)
            try await recordTransfers(of: download.outcome, endedBy: error, plan: plan, at: job.offer.time)
            throw error
        }
        job.context.unfit.merge(job.outcome.unfit)
        job.context.notReceived.formUnion(job.outcome.transfers.notReceived)
        job.context.noRoom = job.outcome.noRoom
    }

    /// Repairs files of other versions than those of the plan.
    func finish(_ plan: SyncPlan, of job: inout DownloadJob) async throws(SyncError) -> DownloadJob.Result {
        defer { job.traffic.add(job.outcome) }
        try await healKept(beside: plan, list: job.offer.list, job.machine, &job.outcome)
        return DownloadJob.Result(plan: plan, outcome: job.outcome)
    }

    /// Records a person's approval of all versions that this plan takes, even if the download is interrupted.
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

    var transfers: Transfers {
        var transfers = Transfers(
            sources: sources,
            objects: store.objects,
            deadlines: deadlines,
            timing: timing,
            report: report
        )
        let (store, reserve) = (store, configuration.reserve)
        transfers.spaceShortage = { bytes in store.room(reserve: reserve)?.wait(for: bytes) }
        return transfers
    }

    /// - Parameter outcome: The outcome of this sync's earlier downloads.
    func download(of plan: SyncPlan, _ list: VerifiedList, after outcome: Download.Outcome) -> Download {
        Download(
            of: plan,
            list,
            checking: configuration.entrySignatures,
            into: store,
            by: transfers,
            after: outcome,
            atCommitPoint: atCommitPoint
        )
    }

    /// Counts a failure for each transfer in progress, because the connection to the server was lost, unless some bytes of it
    /// arrived.
    private func recordTransfers(
        of outcome: Download.Outcome,
        endedBy error: SyncError,
        plan: SyncPlan,
        at time: UTCTime
    ) async throws(SyncError) {
        guard error.transferCause == .network else { return }
        var transfers = outcome.transfers
        transfers.breakOff(plan.wanted.filter(\.isNew).map(\.patch))
        try await store.changingState(of: configuration.channel) { [transfers] state throws(SyncError) in
            transfers.record(in: &state.transfers, at: time)
        }
    }
}

extension SyncReport {
    init(
        _ offer: SyncEngine.ChannelOffer,
        _ device: DeviceSnapshot,
        _ done: DownloadJob.Result,
        staging: SelectionMachine.Staging,
        traffic: Traffic,
        _ sources: Sources
    ) {
        let (plan, outcome) = (done.plan, done.outcome)
        self.init(
            roleVersion: offer.list.roleVersion,
            decisions: plan.decisions,
            refused: offer.list.refused,
            failures: outcome.failures,
            filesReceived: traffic.files,
            bytesReceived: traffic.bytes,
            bytesTransferred: sources.takeTransferred(),
            checkedSignatures: outcome.checkedSignatures,
            packs: outcome.packs,
            putOff: outcome.putOff,
            noRoom: outcome.oversizedVersions,
            awaiting: AwaitedVersion.all(plan.decisions, of: offer.list.entries),
            healed: outcome.healed,
            staging: staging,
            activates: plan.activates,
            staleMirror: offer.staleMirror,
            keptEmbedded: plan.keptEmbedded,
            mirrors: sources.takeFaults(),
            unanswered: outcome.unanswered,
            ignoredAnswers: plan.ignoredAnswers,
            parameters: offer.parameters,
            asked: plan.asked(offer.list.entries),
            stateFault: device.stateFault
        )
    }
}
