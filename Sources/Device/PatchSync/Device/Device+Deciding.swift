package import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

/// What people decide on a device: what may come, and when it may start.
extension Device {
    /// The versions that wait for somebody's approval alone, of each patch the newest.
    ///
    /// By the list and the dial that this device verified last; no network.
    package func awaiting() throws(SyncError) -> [AwaitedVersion] {
        guard configuration.policy.consent != .automatic else { return [] }
        return listDecisions(try state())?.awaiting ?? []
    }

    /// The outcome of an approval.
    package enum Approval: Equatable, Sendable {
        /// What somebody may take from now on, with what it requires; none where nothing waited.
        case approved([AwaitedVersion])
        /// The list has no such version.
        case notListed
    }

    /// Approves of what waits, with what that requires.
    ///
    /// - Parameters:
    ///   - id: of this patch alone; nil for all.
    ///   - version: this one, also where something else still stands in its way.
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

    /// Puts off the start of whatever is new.
    ///
    /// - Returns: until when, which may be earlier than asked for; nil where the owner's limit is reached.
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

    /// - Returns: whether there was a postponement.
    package func endPostponement() async throws(SyncError) -> Bool {
        let time = now()
        return try await store.changingState(of: configuration.channel) { state throws(SyncError) in
            defer { state.postponed?.end(at: time) }
            return state.postponed.map { $0.until > time } ?? false
        }
    }

    /// What keeps the pending selection from starting now; it may start by itself at the end of it.
    package func activationHold() throws(SyncError) -> ActivationHold? { hold(on: try state()) }

    /// - Parameter time: nil for now.
    package func hold(on state: DeviceState, at time: UTCTime? = nil) -> ActivationHold? {
        let windows = configuration.policy.windows
        // Only pending versions have hours, and only hours need the zone's file.
        let clock = windows.windows.isEmpty ? nil : try? zones.rules(of: windows.zone)
        return state.machine.hold(postponed(in: state), windows, by: clock, at: time ?? now())
    }

    /// Why the time zone of the maintenance windows cannot be read; nil if it can, or if there are no windows.
    package var zoneFault: ZoneFault? {
        let windows = configuration.policy.windows
        guard !windows.windows.isEmpty else { return nil }
        do throws(ZoneFault) { _ = try zones.rules(of: windows.zone) } catch { return error }
        return nil
    }

    /// For as long as the owner allows now, which may be less than when somebody postponed.
    func postponed(in state: DeviceState) -> Postponement? {
        var postponed = state.postponed
        postponed?.shorten(to: configuration.policy.postponeLimit, at: now())
        return postponed
    }
}

extension DeviceState {
    /// What waited has started: the next is postponed anew.
    mutating func endPostponement(after before: SelectionState) {
        guard case .pending = before else { return }
        if case .pending = machine.state { return }
        postponed = nil
    }

    /// A row that was over while nothing waited has ended: what begins to wait now may be put off anew.
    mutating func endPostponement(ofNothingIn before: SelectionState, at time: UTCTime) {
        if case .pending = before { return }
        if let postponed, postponed.until <= time { self.postponed = nil }
    }
}

extension Device.ListDecisions {
    /// Listed versions that close a security hole, above what stays or is taken.
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
    /// What the device has now.
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
    /// The next sync may install them.
    package let labels: [Label]
    /// The list does not name them any more: they were withdrawn, and no sync installs them.
    package let unlisted: [Label]

    init(_ forgotten: [Label], unlisted gone: Set<Label>) {
        let all = Set(forgotten).sorted { ($0.patchID, $0.version.text) < ($1.patchID, $1.version.text) }
        labels = all.filter { !gone.contains($0) }
        unlisted = all.filter { gone.contains($0) }
    }
}
