import NIOConcurrencyHelpers
import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Downloads the metadata, verifies it, chooses the versions for this device, downloads them, and stages them.
///
/// Running versions are never changed.
package struct SyncEngine: Sendable {
    package let store: DeviceStore
    package let configuration: DeviceConfiguration
    var sources: Sources
    package var deadlines = Deadlines()
    package var timing = RetryTiming()
    package var now: @Sendable () -> UTCTime
    /// The present time is certainly later than this, regardless of the clock.
    package var build = Build.time
    package var report: @Sendable (SyncEvent) -> Void = { _ in }
    package var atCommitPoint: @Sendable (CommitPoint) -> Void = { _ in }
    /// Whether a person approves all versions that this sync finds.
    package var approvesAll = false
    /// Whether a person asked to retry versions that wait after their first failed trial.
    package var retryNow = false
    /// Whether all metadata is first requested in one answer.
    package var express: Bool
    /// Whether changed online parameters take effect together with the offer that lists them.
    var takesParameters = true
    /// The bytes that may be spent on versions that are not mandatory, or nil on an unmetered network.
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

    /// - Parameter sources: The server and its mirrors, in the order in which they are asked. At least one.
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

    /// Performs one sync: the channel's offer, the choice for this device, the downloads, and the pending selection.
    ///
    /// The caller holds the store's sync lock. Cancelling the task ends it with `fetch(.cancelled)`. Received bytes stay on disk.
    package func sync() async throws(SyncError) -> SyncReport {
        _ = (sources.takeFaults(), sources.takeTransferred())
        let states = NIOLockedValueBox<[PatchStates]>([])
        var engine = self
        engine.report = { [report] event in
            states.withLockedValue { $0.take(event) }
            report(event)
        }
        var done = try await withinDeadline { [engine] () async throws(SyncError) in try await engine.syncNewest() }
        done.states = states.withLockedValue(\.self)
        return done
    }

    /// Ends `work` when the time limit of a whole sync has passed.
    func withinDeadline<Result: Sendable>(
        _ work: @escaping @Sendable () async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        guard let deadline = deadlines.sync else { return try await work() }
        return try await unless(.syncDeadline(seconds: Int(deadline.components.seconds)), work) {
            try? await timing.sleep(deadline)
        }
    }

    /// Refreshes, chooses, downloads and commits.
    ///
    /// Repeats all of it, up to a limit, if a newer list appears meanwhile.
    private func syncNewest() async throws(SyncError) -> SyncReport {
        let traffic = Traffic()
        var newerLists = 0
        while true {
            let offer = try await refresh()
            do throws(SyncError) {
                let device = try await prepare(offer)
                let isWatched = newerLists < deadlines.newerLists
                let done = try await whileOfferIsNewest(offer, isWatched: isWatched) { () async throws(SyncError) in
                    var job = DownloadJob(offer, device, allowance: allowance, traffic: traffic)
                    var plan = try await choose(for: &job)
                    while !job.outcome.isComplete(for: plan) {
                        try await download(plan, for: &job)
                        plan = try await choose(for: &job)
                    }
                    return try await finish(plan, of: &job)
                }
                let staging = try await commit(done, of: offer)
                return SyncReport(offer, device, done, staging: staging, traffic: traffic, sources)
            } catch .fetch(.newerList) {
                newerLists += 1
            }
        }
    }

    /// The device's facts and state at the offer's time.
    private func prepare(_ offer: ChannelOffer) async throws(SyncError) -> DeviceSnapshot {
        // Read first, because the first change writes a new state file.
        let stateFault = try store.stateFault(of: configuration.channel)
        let before = try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            state.machine.shortenBlocks(at: offer.time)
            state.transfers.shorten(at: offer.time)
            return state
        }
        let context = try context(before, offer)
        return DeviceSnapshot(stateFault: stateFault, machine: before.machine, context: context)
    }

    /// The facts that decide which versions are eligible, for a device in this state.
    func context(_ state: DeviceState, _ offer: ChannelOffer) throws(SyncError) -> EligibilityContext {
        let deviceID = try store.deviceID()
        var effective = configuration
        if approvesAll { effective.policy.consent = .automatic }
        let device = DeviceFacts(effective, deviceID: deviceID, time: offer.time, retryNow: retryNow)
        var context = EligibilityContext(state, device: device, dial: offer.dial)
        context.answers.questionsLeft = Self.questions
        context.answers.needsChoices = configuration.answers
        return context
    }

    /// Runs `work` for as long as the offer is the newest one.
    ///
    /// - Parameter isWatched: Whether to check for newer offers.
    /// - Throws: `fetch(.newerList)` as soon as a newer offer exists.
    private func whileOfferIsNewest<Result: Sendable>(
        _ offer: ChannelOffer,
        isWatched: Bool,
        _ work: @escaping @Sendable () async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        guard isWatched, let interval = deadlines.newerList else { return try await work() }
        return try await unless(.newerList, work) {
            while (try? await timing.sleep(interval)) != nil {
                guard let newer = await newerList(than: offer.list.roleVersion) else { continue }
                return report(.newerList(roleVersion: newer))
            }
        }
    }

    /// Stores the staged selection, checked against the present state.
    private func commit(
        _ done: DownloadJob.Result,
        of offer: ChannelOffer
    ) async throws(SyncError) -> SelectionMachine.Staging {
        let (plan, outcome, list, time) = (done.plan, done.outcome, offer.list, offer.time)
        atCommitPoint(.beforeState)
        let staging = try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            state.lastSync = .init(at: time, roleVersion: list.roleVersion)
            outcome.transfers.record(in: &state.transfers, at: time)
            let listed = Set(list.entries.map(\.content))
            state.transfers.keep(only: listed)
            state.putOff = DeferredVersions(outcome.putOff)
            state.noRoom = outcome.spaceShortages
            state.approved.keep(only: listed)
            state.unfit.merge(outcome.unfit)
            state.unfit.keep(only: listed, for: configuration.platform)
            if !state.places.isEmpty {
                let deviceID = plan.context.device.deviceID
                state.places.formIntersection(list.entries.map { $0.placeName(of: deviceID) })
            }
            state.machine.withdraw(list.withdrawn)
            // Meanwhile a selection was confirmed, switched, rolled back or failed its trial, the app has another build, or the
            // required signatures changed: the next sync chooses again.
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
