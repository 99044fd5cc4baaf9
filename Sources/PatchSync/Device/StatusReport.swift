package import PatchFormat
import PatchStore
package import SystemPackage

/// What a device would say of itself: selections, states, what failed, what waits.
package struct StatusReport: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let patchID: PatchID
        package let kind: PatchKind
        package let version: VersionLabel
        package let state: PatchState
        /// The file that is wrong, if one is.
        package let fault: String?
        /// Whether it belongs to the selection that waits, not to the one that runs.
        package let isPending: Bool
    }

    package enum Phase: String, Sendable {
        case empty, settled, pending, trying
    }

    package let phase: Phase
    package let rows: [Row]
    package let machine: SelectionMachine
    package let lastSync: DeviceState.LastSync?
    package let transfers: TransferFailures
    package let unfit: UnfitVersions
    /// What the list and the dial, as last verified, make of each patch.
    package let decisions: [Decision]
    /// Why the state is not that of `state.json`.
    package let fault: StateFault?
    /// A state that nobody could read, and that was put by.
    package let damagedState: FilePath?
}

extension Device {
    /// Looks at state and disk, no network.
    ///
    /// What has not changed since it was verified is not hashed again.
    package func status() throws(SyncError) -> StatusReport {
        let state = try state()
        var examination = Examination(store: store, records: store.records())
        var rows: [StatusReport.Row] = []
        func add(_ patch: InstalledPatch, isPending: Bool) throws(SyncError) {
            let onDisk = try examination.onDisk(patch)
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
                    isPending: isPending
                )
            )
        }
        let running = state.machine.state.running
        for patch in running?.patches ?? [] { try add(patch, isPending: false) }
        if case .pending(_, let next) = state.machine.state {
            for patch in next.patches where running?[patch.patchID]?.content != patch.content {
                try add(patch, isPending: true)
            }
        }
        return StatusReport(
            phase: state.machine.state.phase,
            rows: rows.sorted { ($0.patchID, $0.isPending ? 1 : 0) < ($1.patchID, $1.isPending ? 1 : 0) },
            machine: state.machine,
            lastSync: state.lastSync,
            transfers: state.transfers,
            unfit: state.unfit,
            decisions: standing(state),
            fault: try store.stateFault(of: configuration.channel),
            damagedState: store.damagedState(of: configuration.channel)
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
