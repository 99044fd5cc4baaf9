package import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

extension Device {
    /// The decisions of the list for this device, and the listed contents.
    struct ListDecisions {
        let decisions: [Decision]
        let entries: [PatchEntry]

        var listed: Set<PatchContent> { Set(entries.map(\.content)) }
        var awaiting: [AwaitedVersion] { AwaitedVersion.all(decisions, of: entries) }
    }

    /// The decision for each patch, by the list and the dial that this device verified last, without network access.
    ///
    /// These are the decisions of a sync whose server does not answer. Nil if the stored documents are inconsistent, which the next
    /// sync resolves.
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

    /// Why each listed version is or is not eligible for a device, by the list and the dial that this one verified last,
    /// without network access.
    ///
    /// - Parameters:
    ///   - other: The device, or nil for this one.
    ///   - time: The time of the decision, or nil for now.
    /// - Returns: nil before the first sync.
    /// - Throws: An error if the stored documents are unreadable or inconsistent.
    package func explanation(of other: DescribedDevice? = nil, at time: UTCTime? = nil) throws(SyncError)
        -> Explanation?
    {
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
            // The last sync's cost is compared with the present setting.
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
    private func noRoom(_ state: DeviceState) -> [PatchContent: SpaceShortage] {
        let versions = state.noRoom(store.room(reserve: configuration.reserve))
        return Dictionary(versions.map { ($0.content, $0.wait) }) { first, _ in first }
    }

    /// The facts that ``explanation(of:at:)`` needs about this device.
    package func describedDevice() throws(SyncError) -> DescribedDevice {
        DescribedDevice(configuration, deviceID: try store.deviceID(), state: try state())
    }

    /// A stored role, which was verified when it was downloaded.
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

    /// The stored dial, or nil if its role does not list it or has expired.
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
    /// Includes the outcomes of versions on this device and the device's places.
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
