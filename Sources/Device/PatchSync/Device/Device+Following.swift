import PatchChoice
package import PatchFormat

/// Changes the channel or server of an existing store (E4, J10).
extension Device {
    /// Follows another channel, another server, or both, from now on.
    ///
    /// The active version keeps running until a version of the new channel is confirmed. The old channel's versions stay for a
    /// return. A channel that this store has synced before continues from its last state. Whether the new channel exists is
    /// found out by the next sync. Trust is kept for any server: role versions never decrease.
    ///
    /// - Returns: the device with its new configuration.
    /// - Throws: `.trialRunning` if no version was ever confirmed and the new channel would begin without a version.
    package func following(channel: ChannelName? = nil, server: ServerURL? = nil) async throws(SyncError) -> Device {
        try await store.changingConfiguration { configuration throws(SyncError) in
            let old = configuration.channel
            if let channel, channel != old {
                // Saved before the configuration, so that the configuration never names a channel without a state.
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
    /// Whether this channel was never synced, so that it only has the versions taken over from another channel.
    var isUntouched: Bool {
        guard lastSync == nil else { return false }
        return switch machine.state {
        case .empty: true
        case .settled(let selection): !selection.isFromThisChannel
        case .pending, .trying: false
        }
    }

    /// Makes the device's present selection the confirmed one of a channel that was synced but has no confirmed version yet.
    ///
    /// A pure function.
    mutating func adopt(_ beginning: DeviceState) {
        guard let good = beginning.machine.state.good, machine.adopt(good, embedded: beginning.machine.embedded) else {
            return
        }
        lastSelection = max(lastSelection, good.number)
    }

    /// The first state of `channel` on a device that followed `other` so far.
    ///
    /// The selection confirmed there becomes the confirmed one here, with the name of its channel.
    ///
    /// A pure function.
    func beginning(in channel: ChannelName, from other: ChannelName) throws(SyncError) -> DeviceState {
        if case .trying(nil, _, _) = machine.state, machine.embedded == nil { throw .trialRunning }
        let embedded = machine.embedded?.recorded(in: channel, from: other)
        let good =
            machine.state.good.flatMap { machine.withoutWithdrawn($0) }?.recorded(in: channel, from: other) ?? embedded
        var state = DeviceState()
        state.lastSelection = good?.number ?? 0
        state.machine = SelectionMachine(state: .resting(good), embedded: embedded)
        return state
    }
}
