import PatchChoice
package import PatchFormat

/// Another channel or server, without a new store (E4, J10).
extension Device {
    /// Follows another channel, another server, or both, from now on.
    ///
    /// What runs keeps running until the new channel has something confirmed. What the old one has stays for the way back.
    /// A channel that this store has synced before goes on where it was. Whether the new channel exists, the next sync
    /// sees. Trust stays, whatever the server: roles never go back.
    ///
    /// - Returns: the device as it is configured then.
    /// - Throws: `.trialRunning` when nothing was ever confirmed and the new channel would begin with nothing.
    package func following(channel: ChannelName? = nil, server: ServerURL? = nil) async throws(SyncError) -> Device {
        try await store.changingConfiguration { configuration throws(SyncError) in
            let old = configuration.channel
            if let channel, channel != old {
                // Before the configuration names it, so that it never names a channel without a state.
                var state = try store.state(of: channel)
                let beginning = try store.state(of: old).beginning(in: channel, from: old)
                if state.isUntouched { state = beginning } else { state.adopt(beginning) }
                try store.save(state, of: channel)
            }
            if let channel { configuration.channel = channel }
            if let server { configuration.server = server }
        }
        return try reopened()
    }
}

extension DeviceState {
    /// Whether nothing ever came of this channel: it has no more than what another left it to begin with.
    var isUntouched: Bool {
        guard lastSync == nil else { return false }
        return switch machine.state {
        case .empty: true
        case .settled(let selection): !selection.isOfThisChannel
        case .pending, .trying: false
        }
    }

    /// A channel that was synced and in which nothing proved itself yet: what the device comes with is the good selection.
    ///
    /// Pure.
    mutating func adopt(_ beginning: DeviceState) {
        guard let good = beginning.machine.state.good, machine.adopt(good, embedded: beginning.machine.embedded) else {
            return
        }
        lastSelection = max(lastSelection, good.number)
    }

    /// The first state of `channel` on a device that followed `other` so far: what proved itself there, with the name of
    /// its channel, is the good selection here.
    ///
    /// Pure.
    func beginning(in channel: ChannelName, from other: ChannelName) throws(SyncError) -> DeviceState {
        if case .trying(nil, _, _) = machine.state, machine.embedded == nil { throw .trialRunning }
        let embedded = machine.embedded?.told(in: channel, from: other)
        let good =
            machine.state.good.flatMap { machine.withoutWithdrawn($0) }?.told(in: channel, from: other) ?? embedded
        var state = DeviceState()
        state.lastSelection = good?.number ?? 0
        state.machine = SelectionMachine(state: .resting(good), embedded: embedded)
        return state
    }
}
