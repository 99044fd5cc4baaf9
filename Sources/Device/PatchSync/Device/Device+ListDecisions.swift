package import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

extension Device {
    /// The decisions of the list for this device, and the contents that it lists.
    struct ListDecisions {
        let decisions: [Decision]
        let entries: [PatchEntry]

        var listed: Set<PatchContent> { Set(entries.map(\.content)) }
        var awaiting: [AwaitedVersion] { AwaitedVersion.all(decisions, of: entries) }
    }

    /// The decision for each patch, by the list and the dial that this device verified last; no network.
    ///
    /// As a sync decides when its server does not answer. Nil where the documents kept do not fit together: that is the
    /// next sync's business.
    func listDecisions(_ state: DeviceState) -> ListDecisions? {
        guard let role = try? kept(configuration.channel.text), let list = try? list(of: role),
            let deviceID = try? store.deviceID()
        else { return nil }
        let facts = DeviceFacts(configuration, deviceID: deviceID, time: now(), retryNow: false)
        var context = EligibilityContext(state, device: facts, dial: dial(at: facts.time))
        context.noRoom = noRoom(state)
        let plan = SyncPlan(list: list, role: role, machine: state.machine, under: context)
        return ListDecisions(decisions: plan.decisions, entries: list.entries)
    }

    /// Why each listed version is or is not for a device, by the list and the dial that this one verified last; no network.
    ///
    /// - Parameters:
    ///   - other: the device; nil for this one.
    ///   - time: as if it were then; nil for now.
    /// - Returns: nil before the first sync.
    /// - Throws: where what is kept cannot be read, or does not fit together.
    package func explanation(of other: ToldDevice? = nil, at time: UTCTime? = nil) throws(SyncError) -> Explanation? {
        guard let role = try kept(configuration.channel.text), let list = try list(of: role) else { return nil }
        let time = time ?? now()
        let state: DeviceState
        var hold: ActivationHold?
        let facts: DeviceFacts
        if let other {
            state = try other.state(under: list.entries, roleVersion: list.roleVersion)
            facts = other.facts(at: time)
        } else {
            state = try self.state()
            hold = self.hold(on: state, at: time)
            facts = DeviceFacts(configuration, deviceID: try store.deviceID(), time: time, retryNow: false)
        }
        var context = EligibilityContext(state, device: facts, dial: dial(at: time))
        let network = other?.network ?? configuration.network
        for (content, row) in state.putOff.rows {
            // Its cost is as the last sync saw it, the setting as it is.
            guard let allowance = network.meteredAllowance, row.bytes.map({ $0 > allowance }) ?? true else { continue }
            context.putOff[content] = MeteredWait(cost: row.bytes, left: allowance)
        }
        if other == nil { context.noRoom = noRoom(state) }
        return Explanation(
            list: list,
            plan: SyncPlan(list: list, role: role, machine: state.machine, under: context),
            hold: hold
        )
    }

    /// Versions that did not fit on the disk, and still do not.
    private func noRoom(_ state: DeviceState) -> [PatchContent: RoomWait] {
        let versions = state.noRoom(store.room(reserve: configuration.reserve))
        return Dictionary(versions.map { ($0.content, $0.wait) }) { first, _ in first }
    }

    /// What ``explanation(of:at:)`` would have to be told of this device.
    package func told() throws(SyncError) -> ToldDevice {
        ToldDevice(configuration, deviceID: try store.deviceID(), state: try state())
    }

    /// A role as it was verified when it came.
    private func kept(_ name: String) throws(SyncError) -> TargetsRole? {
        guard let bytes = try store.trust.metadata(name) else { return nil }
        do throws(FormatError) {
            return try TargetsRole(Envelope(bytes, role: name, limit: Limits.targetsRole), name: name)
        } catch { throw .format(error) }
    }

    private func list(of role: TargetsRole) throws(SyncError) -> VerifiedList? {
        let (app, channel) = (configuration.app, configuration.channel)
        guard let bytes = try store.patchList(of: channel) else { return nil }
        do throws(TrustError) {
            guard let file = role.targets[ExactString(TargetPath.patchList(channel).text)] else { return nil }
            return try VerifiedList(bytes, for: app, channel: channel, file: file, role: role)
        } catch { throw .trust(error) }
    }

    /// Nil without one that its role names and that has not expired.
    private func dial(at time: UTCTime) -> Dial? {
        let (app, channel) = (configuration.app, configuration.channel)
        guard let role = try? kept("dial"), role.header.expires > time,
            let file = role.targets[ExactString(TargetPath.dial(channel).text)],
            let bytes = try? store.dial(of: channel), file.matches(bytes), let dial = try? Dial(bytes),
            dial.app == app, dial.channel == channel
        else { return nil }
        return dial
    }
}

extension EligibilityContext {
    /// With what became of versions here before, and the places that this device has.
    init(_ state: DeviceState, device: DeviceFacts, dial: Dial?) {
        self.init(
            device: device,
            dial: dial,
            blocks: state.machine.blocks,
            transfers: state.transfers,
            unfit: state.unfit
        )
        answers = ServerAnswers(places: state.places)
        approved = state.approved
    }
}
