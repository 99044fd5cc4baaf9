import NIOConcurrencyHelpers
import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Fetch → verify → choose → download → stage.
///
/// It never touches running versions.
package struct SyncEngine: Sendable {
    package let store: DeviceStore
    package let configuration: DeviceConfiguration
    var sources: Sources
    package var deadlines = Deadlines()
    package var timing = RetryTiming()
    package var now: @Sendable () -> UTCTime
    /// The time is past this for certain, whatever the clock shows.
    package var build = Build.time
    package var report: @Sendable (SyncEvent) -> Void = { _ in }
    package var atCommitPoint: @Sendable (CommitPoint) -> Void = { _ in }
    /// A person approves of whatever this sync finds.
    package var approvesAll = false
    /// A person asked to retry versions that wait after their first failed trial.
    package var retryNow = false
    /// Whether a server is asked for all metadata in one answer first.
    package var express: Bool
    /// Whether other online parameters take effect with the offer that names them.
    var takesParameters = true
    /// How much may come of what is not mandatory, in bytes; nil where bytes cost nothing.
    package var allowance: Int?

    package init(
        store: DeviceStore,
        configuration: DeviceConfiguration,
        fetcher: any Fetcher,
        now: @escaping @Sendable () -> UTCTime
    ) {
        let source = Source(name: configuration.server.text, fetcher: fetcher)
        self.init(store: store, configuration: configuration, sources: [source], now: now)
    }

    /// - Parameter sources: the server and its mirrors in the order in which they are asked; at least one.
    package init(
        store: DeviceStore,
        configuration: DeviceConfiguration,
        sources: [Source],
        now: @escaping @Sendable () -> UTCTime
    ) {
        self.store = store
        self.configuration = configuration
        express = configuration.express
        allowance = configuration.network.meteredAllowance
        self.sources = Sources(sources)
        self.now = now
    }

    /// One sync: the channel's offer, the choice for this device, its bytes, and the pending selection.
    ///
    /// The caller holds the store's sync lock. Cancelling the task ends it with `fetch(.cancelled)`; received bytes
    /// stay.
    package func sync() async throws(SyncError) -> SyncReport {
        _ = (sources.takeFaults(), sources.takeTransferred())
        let states = NIOLockedValueBox<[PatchStates]>([])
        var engine = self
        engine.report = { [report] event in
            states.withLockedValue { $0.take(event) }
            report(event)
        }
        var done = try await inTime { [engine] () async throws(SyncError) in try await engine.syncNewest() }
        done.states = states.withLockedValue(\.self)
        return done
    }

    /// Ends what takes longer than a whole sync may.
    func inTime<Result: Sendable>(
        _ work: @escaping @Sendable () async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        guard let deadline = deadlines.sync else { return try await work() }
        return try await unless(.syncDeadline(seconds: Int(deadline.components.seconds)), work) {
            try? await timing.sleep(deadline)
        }
    }

    /// Repeats, up to a limit, when a newer list appears meanwhile.
    private func syncNewest() async throws(SyncError) -> SyncReport {
        let traffic = Traffic()
        var newerLists = 0
        while true {
            let offer = try await offer()
            do throws(SyncError) {
                let start = try await begin(offer)
                let bringing = Bringing(offer: offer, machine: start.machine, traffic: traffic)
                let (plan, outcome) =
                    newerLists < deadlines.newerLists
                    ? try await unlessNewer(bringing, under: start.context)
                    : try await bring(bringing, under: start.context)
                let staging = try await commit(outcome, plan: plan, list: offer.list, at: offer.time)
                return SyncReport(
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
                    noRoom: outcome.noRoomVersions,
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
                    stateFault: start.stateFault
                )
            } catch .fetch(.newerList) {
                newerLists += 1
            }
        }
    }

    /// The facts that an offer is judged by.
    private struct Start {
        let stateFault: StateFault?
        let machine: SelectionMachine
        let context: EligibilityContext
    }

    /// The subject of one download: an offer, for a device in this state.
    private struct Bringing {
        let offer: ChannelOffer
        let machine: SelectionMachine
        let traffic: Traffic
    }

    /// The device's facts and state, by the offer's time.
    private func begin(_ offer: ChannelOffer) async throws(SyncError) -> Start {
        // The first change writes a new state file.
        let stateFault = try store.stateFault(of: configuration.channel)
        let before = try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            state.machine.shortenBlocks(at: offer.time)
            state.transfers.shorten(at: offer.time)
            return state
        }
        return Start(stateFault: stateFault, machine: before.machine, context: try context(before, offer))
    }

    /// The facts by which versions are chosen, for a device in this state.
    func context(_ state: DeviceState, _ offer: ChannelOffer) throws(SyncError) -> EligibilityContext {
        let deviceID = try store.deviceID()
        var told = configuration
        if approvesAll { told.policy.consent = .automatic }
        let device = DeviceFacts(told, deviceID: deviceID, time: offer.time, retryNow: retryNow)
        var context = EligibilityContext(state, device: device, dial: offer.dial)
        context.answers.questionsLeft = Self.questions
        context.answers.wantsChoices = configuration.answers
        return context
    }

    /// - Throws: `fetch(.newerList)` as soon as this offer is no longer the newest.
    private func unlessNewer(
        _ bringing: Bringing,
        under context: EligibilityContext
    ) async throws(SyncError) -> (SyncPlan, Download.Outcome) {
        guard let interval = deadlines.newerList else { return try await bring(bringing, under: context) }
        return try await unless(.newerList) { () async throws(SyncError) in
            try await bring(bringing, under: context)
        } when: {
            while (try? await timing.sleep(interval)) != nil {
                guard let newer = await newerList(than: bringing.offer.list.roleVersion) else { continue }
                return report(.newerList(roleVersion: newer))
            }
        }
    }

    /// Chooses and downloads until every chosen version is complete: versions that do not fit this device or do not
    /// arrive are not chosen again in this sync, and neither are versions that require them.
    private func bring(
        _ bringing: Bringing,
        under context: EligibilityContext
    ) async throws(SyncError) -> (SyncPlan, Download.Outcome) {
        let (offer, machine, traffic) = (bringing.offer, bringing.machine, bringing.traffic)
        var context = context
        var outcome = Download.Outcome()
        var judge = MeteredJudge(allowance: allowance)
        while true {
            let plan = SyncPlan(list: offer.list, role: offer.role, machine: machine, under: context)
            // No place is taken for what waits; what the server chooses is asked first.
            let asksFirst = context.answers.wantsChoices && plan.question(for: nil) != nil
            let waiting = asksFirst ? [:] : try await waiting(in: plan, offer.list, outcome, by: &judge)
            if !waiting.isEmpty {
                context.putOff.merge(waiting) { $1 }
                outcome.putOff = judge.putOff
                continue
            }
            if let answers = try await answers(wantedBy: plan, &outcome) {
                context.answers = answers
                continue
            }
            try await recordApprovals(of: plan)
            if outcome.isComplete(for: plan) {
                defer { traffic.add(outcome) }
                try await healKept(beside: plan, list: offer.list, machine, &outcome)
                return (plan, outcome)
            }
            var download = download(of: plan, offer.list, after: outcome)
            do throws(SyncError) {
                outcome = try await download.run()
            } catch {
                if error.isNoSpace { download.giveBack() }
                traffic.add(download.outcome)
                try await recordTransfers(of: download.outcome, endedBy: error, plan: plan, offer)
                throw error
            }
            context.unfit.merge(outcome.unfit)
            context.notReceived.formUnion(outcome.transfers.notReceived)
            context.noRoom = outcome.noRoom
        }
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
        transfers.lacksRoom = { bytes in store.room(reserve: reserve)?.wait(for: bytes) }
        return transfers
    }

    /// - Parameter outcome: of this sync's earlier downloads.
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

    /// Counts a failure for each transfer in progress, because the way to the server broke, unless some of it arrived.
    private func recordTransfers(
        of outcome: Download.Outcome,
        endedBy error: SyncError,
        plan: SyncPlan,
        _ offer: ChannelOffer
    ) async throws(SyncError) {
        guard error.transferCause == .network else { return }
        var transfers = outcome.transfers
        transfers.breakOff(plan.wanted.filter(\.isNew).map(\.patch))
        try await store.changingState(of: configuration.channel) { [transfers] state throws(SyncError) in
            transfers.record(in: &state.transfers, at: offer.time)
        }
    }

    /// Saves the staged selection, against the present state.
    private func commit(
        _ outcome: Download.Outcome,
        plan: SyncPlan,
        list: VerifiedList,
        at time: UTCTime
    ) async throws(SyncError) -> SelectionMachine.Staging {
        atCommitPoint(.beforeState)
        let staging = try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            state.lastSync = .init(at: time, roleVersion: list.roleVersion)
            outcome.transfers.record(in: &state.transfers, at: time)
            let listed = Set(list.entries.map(\.content))
            state.transfers.keep(only: listed)
            state.putOff = PutOffVersions(outcome.putOff)
            state.noRoom = outcome.roomWaits
            state.approved.keep(only: listed)
            state.unfit.merge(outcome.unfit)
            state.unfit.keep(only: listed, for: configuration.platform)
            if !state.places.isEmpty {
                let deviceID = plan.context.device.deviceID
                state.places.formIntersection(list.entries.map { $0.placeName(of: deviceID) })
            }
            state.machine.withdraw(list.withdrawn)
            // A selection was confirmed, switched or rolled back meanwhile, or failed its trial, or the app is another
            // build, or other signatures are asked for: the next sync chooses again.
            let now = try store.configuration()
            guard state.machine.state.choiceBase == plan.base, state.machine.blocks == plan.context.blocks,
                now.channel == configuration.channel, now.isForSameApp(as: configuration),
                now.entrySignatures == configuration.entrySignatures,
                now.policy.consent == configuration.policy.consent
            else {
                return SelectionMachine.Staging.superseded
            }
            let next = Selection(
                number: state.lastSelection + 1,
                roleVersion: list.roleVersion,
                patches: plan.wanted.map(\.patch),
                entryKeys: list.entryKeys.merged(with: plan.rest?.entryKeys),
                activates: plan.activates,
                isMandatory: plan.isMandatory
            )
            var probe = state.machine
            if probe.stage(next) == .staged {
                do throws(SyncError) { try store.write(next, of: configuration.channel) } catch .unreadable(let why) {
                    return .refused(why)
                }
            }
            let before = state.machine.state
            let staging = state.machine.stage(next)
            state.endPostponement(ofNothingIn: before, at: time)
            state.machine.keepBlocks(listed: listed, at: time)
            if staging == .staged { state.lastSelection = next.number }
            if staging == .unchanged { state.machine.settleInChannel(next) }
            return staging
        }
        atCommitPoint(.afterState)
        return staging
    }
}
