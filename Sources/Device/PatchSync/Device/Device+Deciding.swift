package import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

/// The decisions of a device's owner or user: which versions may be installed, and when they may start.
extension Device {
    /// The versions that only wait for approval: the newest one of each patch.
    ///
    /// Uses the list and the dial that this device verified last, without network access.
    package func awaiting() throws(SyncError) -> [AwaitedVersion] {
        guard configuration.policy.consent != .automatic else { return [] }
        return listDecisions(try state())?.awaiting ?? []
    }

    /// The outcome of an approval.
    package enum Approval: Equatable, Sendable {
        /// The approved versions with those that they require. Empty if no version waited.
        case approved([AwaitedVersion])
        /// The list does not contain the version.
        case notListed
    }

    /// Approves the waiting versions and the versions that they require.
    ///
    /// - Parameters:
    ///   - id: The only patch to approve, or nil for all.
    ///   - version: The version to approve, even if other rules still exclude it.
    package func approve(_ id: PatchID? = nil, _ version: VersionLabel? = nil) async throws(SyncError) -> Approval {
        guard let known = listDecisions(try state()) else { return .notListed }
        var wanted = known.awaiting.filter { id == nil || $0.content.patchID == id }
        if let id {
            let listed = known.entries.filter { $0.patchID == id && (version == nil || $0.version == version) }
            guard let first = listed.first else { return .notListed }
            if version != nil { wanted = [AwaitedVersion(first)] }
        }
        let all = AwaitedVersion.withRequired(wanted, known.decisions, of: known.entries)
        guard !all.isEmpty else { return .approved([]) }
        try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            for one in all { state.approved.add(one.content, one.version) }
        }
        return .approved(all)
    }

    /// Postpones the start of new versions.
    ///
    /// - Returns: The end of the postponement, which may be earlier than requested, or nil if the owner's limit is reached.
    package func postpone(for duration: Duration) async throws(SyncError) -> UTCTime? {
        let (time, limit) = (now(), configuration.policy.postponeLimit)
        return try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            let isPending = if case .pending = state.machine.state { true } else { false }
            guard
                let next = Postponement(
                    duration,
                    after: state.postponed,
                    isPending: isPending,
                    at: time,
                    limit: limit
                )
            else { return nil }
            state.postponed = next
            return next.until
        }
    }

    /// - Returns: whether a postponement was active.
    package func endPostponement() async throws(SyncError) -> Bool {
        let time = now()
        return try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            defer { state.postponed?.end(at: time) }
            return state.postponed.map { $0.until > time } ?? false
        }
    }

    /// Why the pending selection must not start now.
    ///
    /// It may start by itself when this ends.
    package func activationHold() throws(SyncError) -> ActivationHold? { hold(on: try state()) }

    /// - Parameter time: The time to check, or nil for now.
    package func hold(on state: DeviceState, at time: UTCTime? = nil) -> ActivationHold? {
        let windows = configuration.policy.windows
        // Only pending versions wait for windows, and only windows need the zone's file.
        let clock = windows.windows.isEmpty ? nil : try? zones.rules(of: windows.zone)
        return state.machine.hold(postponed(in: state), windows, by: clock, at: time ?? now())
    }

    /// Why the time zone of the maintenance windows is unreadable, or nil if it is readable or there are no windows.
    package var zoneFault: ZoneFault? {
        let windows = configuration.policy.windows
        guard !windows.windows.isEmpty else { return nil }
        do throws(ZoneFault) { _ = try zones.rules(of: windows.zone) } catch { return error }
        return nil
    }

    /// The postponement, shortened to the owner's present limit, which may have been reduced since.
    func postponed(in state: DeviceState) -> Postponement? {
        var postponed = state.postponed
        postponed?.shorten(to: configuration.policy.postponeLimit, at: now())
        return postponed
    }
}

extension DeviceState {
    /// Removes the postponement once the pending selection has started.
    ///
    /// The next one can be postponed again in full.
    mutating func endPostponement(after before: SelectionState) {
        guard case .pending = before else { return }
        if case .pending = machine.state { return }
        postponed = nil
    }

    /// Removes a postponement that expired while no selection was pending.
    ///
    /// The next pending selection can be postponed again in full.
    mutating func endPostponement(ofNothingIn before: SelectionState, at time: UTCTime) {
        if case .pending = before { return }
        if let postponed, postponed.until <= time { self.postponed = nil }
    }
}

extension Device.ListDecisions {
    /// Listed security fixes above the device's present version.
    var security: [AwaitedVersion] {
        let by = Dictionary(decisions.map { ($0.patchID, $0) }) { first, _ in first }
        var seen: Set<PatchID> = []
        return entries.compactMap { entry in
            guard !seen.contains(entry.patchID) else { return nil }
            if by[entry.patchID]?.choice.current == entry.content {
                seen.insert(entry.patchID)
                return nil
            }
            return entry.security == nil ? nil : AwaitedVersion(entry)
        }
    }
}

extension Choice {
    /// The device's present content.
    fileprivate var current: PatchContent? {
        switch self {
        case .take(_, over: let current): current?.content
        case .keep(let patch), .withdraw(let patch, for: _): patch.content
        case .none: nil
        }
    }
}

/// Versions whose failures a device has forgotten, by id.
package struct ForgottenFailures: Equatable, Sendable {
    /// Versions that the next sync may install.
    package let labels: [Label]
    /// Versions that are no longer listed.
    ///
    /// They were withdrawn, and no sync installs them.
    package let unlisted: [Label]

    init(_ forgotten: [Label], unlisted gone: Set<Label>) {
        let all = Set(forgotten).sorted { ($0.patchID, $0.version.text) < ($1.patchID, $1.version.text) }
        labels = all.filter { !gone.contains($0) }
        unlisted = all.filter { gone.contains($0) }
    }
}
