package import PatchChoice
package import PatchFormat
import PatchStore
package import SystemPackage

/// A device's report: selections, states, failed and pending versions.
package struct StatusReport: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let patchID: PatchID
        package let kind: PatchKind
        package let version: VersionLabel
        package let state: PatchState
        /// The missing or wrong file, if any.
        package let fault: String?
        /// Whether it belongs to the pending selection, not to the active one.
        package let isPending: Bool
        /// The file of an intact script.
        package let file: FilePath?
        /// The place where a script runs.
        package var place = ScriptPlace.host
    }

    /// The prospects of a version that failed on this device or was rolled back by hand.
    package enum Retry: String, CaseIterable, Sendable {
        /// A sync installs it again after its wait.
        case waits
        /// Like ``waits``, but `sync --retry-failed` does not shorten the wait.
        case blocked
        /// The wait is over, and the next sync installs it.
        case free
        /// It is running on trial.
        case onTrial
        /// It is no longer in the list that was verified last.
        case notListed
    }

    package enum Phase: String, CaseIterable, Sendable {
        case empty, settled, pending, trying
    }

    package let phase: Phase
    package let rows: [Row]
    package let machine: SelectionMachine
    package let lastSync: DeviceState.LastSync?
    /// The last sync's failure, or nil if it succeeded.
    package var syncFailure: SyncFailure?
    /// When this report was created.
    package var time = UTCTime(seconds: 0)
    package let transfers: TransferFailures
    package let unfit: UnfitVersions
    /// Versions that wait for an unmetered network.
    package var putOff = DeferredVersions()
    /// Versions that the last sync did not download for lack of disk space, and that still do not fit.
    package var noRoom: [OversizedVersion] = []
    /// Why the pending selection must not start now.
    package var hold: ActivationHold?
    /// Why the time zone of the maintenance windows is unreadable.
    package var zoneFault: ZoneFault?
    /// The postponement of new versions, even if no version is pending.
    package var postponed: Postponement?
    /// Versions that wait for approval: the newest one of each patch.
    package var awaiting: [AwaitedVersion] = []
    /// Listed security fixes that are newer than the installed version.
    package var security: [AwaitedVersion] = []
    /// The decision for each patch, by the list and the dial that were verified last.
    package let decisions: [Decision]
    /// The prospects of each version that ``machine`` has a block for.
    package let retries: [PatchContent: Retry]
    /// Why the state was not read from `state.json`.
    package let fault: StateFault?
    /// The unreadable state that was set aside.
    package let damagedState: FilePath?

    /// A version that is running and will be removed at the next launch.
    package struct Leaving: Equatable, Sendable {
        package let patch: InstalledPatch
        /// Whether a list withdrew it by name.
        ///
        /// Otherwise its patch is no longer listed.
        package let isNamed: Bool
        /// Its replacement.
        package let next: InstalledPatch?
    }

    /// Withdrawn patches that are still running.
    package var leaving: [Leaving] {
        guard case .pending(let good?, let next) = machine.state else { return [] }
        return good.patches.compactMap { patch in
            let (after, isNamed) = (next[patch.patchID], machine.withdrawn.contains(patch.content))
            guard isNamed || after == nil else { return nil }
            return Leaving(patch: patch, isNamed: isNamed, next: after)
        }
    }

    /// Versions that are not eligible for this device now.
    ///
    /// Failed ones are reported separately.
    package var heldBack: [(decision: Decision, passed: Decision.PassedOver)] {
        decisions.flatMap { decision in
            decision.passedOver.filter { !$0.why.isDeviceHistory }.map { (decision, $0) }
        }
    }
}

extension Device {
    /// Reads state and disk, without network access.
    ///
    /// A file that is unchanged since it was verified is not hashed again.
    package func status() throws(SyncError) -> StatusReport {
        let state = try state()
        var check = IntegrityCheck(store: store, records: store.records())
        var rows: [StatusReport.Row] = []
        func add(_ patch: InstalledPatch, isPending: Bool) throws(SyncError) {
            let onDisk = try check.onDisk(patch)
            let stateNow = PatchState(
                wanted: patch.address,
                installed: patch.address,
                onDisk: onDisk,
                launch: isPending ? .notRunning : .running
            )
            rows.append(
                .init(
                    patchID: patch.patchID,
                    kind: patch.kind,
                    version: patch.version,
                    state: stateNow,
                    fault: onDisk.fault,
                    isPending: isPending,
                    file: onDisk == .intact ? store.file(of: patch) : nil,
                    place: patch.place
                )
            )
        }
        for (patch, isPending) in state.machine.state.shownPatches { try add(patch, isPending: isPending) }
        let listDecisions = listDecisions(state)
        return StatusReport(
            phase: state.machine.state.phase,
            rows: rows.sorted { ($0.patchID, $0.isPending ? 1 : 0) < ($1.patchID, $1.isPending ? 1 : 0) },
            machine: state.machine,
            lastSync: state.lastSync,
            syncFailure: store.syncFailure(of: configuration.channel),
            time: now(),
            transfers: state.transfers,
            unfit: state.unfit,
            putOff: state.putOff,
            noRoom: state.noRoom(store.room(reserve: configuration.reserve)),
            hold: hold(on: state),
            zoneFault: zoneFault,
            postponed: postponed(in: state).flatMap { $0.until > now() ? $0 : nil },
            awaiting: listDecisions?.awaiting ?? [],
            security: listDecisions?.security ?? [],
            decisions: listDecisions?.decisions ?? [],
            retries: state.machine.retries(at: now(), listed: listDecisions?.listed),
            fault: try store.stateFault(of: configuration.channel),
            damagedState: store.damagedState(of: configuration.channel)
        )
    }
}

extension SelectionMachine {
    /// - Parameter listed: The contents of the list, or nil if no list is known.
    fileprivate func retries(
        at time: UTCTime,
        listed: Set<PatchContent>?
    ) -> [PatchContent: StatusReport.Retry] {
        let tried: Set<PatchContent> = if case .trying(_, let trial, _) = state { trial.contents } else { [] }
        return Dictionary(
            uniqueKeysWithValues: blocks.blocks.keys.map { content in
                if tried.contains(content) { return (content, .onTrial) }
                if let listed, !listed.contains(content) { return (content, .notListed) }
                return switch blocks.status(of: content, at: time) {
                case .free: (content, .free)
                case .waiting: (content, .waits)
                case .blocked, .rolledBackByHand: (content, .blocked)
                }
            }
        )
    }
}

extension SelectionState {
    package var phase: StatusReport.Phase {
        switch self {
        case .empty: .empty
        case .settled: .settled
        case .pending: .pending
        case .trying: .trying
        }
    }
}
