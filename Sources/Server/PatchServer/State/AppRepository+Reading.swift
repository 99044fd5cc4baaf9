package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The published lists, dials and parameters.
extension AppRepository {
    /// Changes with each publication, so that callers can cache data read from the tree.
    package func revision() throws(ServerError) -> StoredFile? { try storage.status(of: .timestamp) }

    /// When the newest timestamp was signed, as stated in it.
    package func signedAt() throws(ServerError) -> UTCTime? {
        try PublishedState(of: self).timestamp.signedAt
    }

    /// The channels in the root of trust, with releases or without.
    package func channelNames() throws(ServerError) -> [ChannelName] { try PublishedState(of: self).channelNames }

    /// - Throws: `noChannel` for one that the root of trust does not name.
    package func check(_ channel: ChannelName) throws(ServerError) {
        try PublishedState(of: self).check(channel)
    }

    /// - Throws: `tree` if a signature of any entry is not valid.
    func list(of channel: ChannelName, _ role: TargetsRole) throws(ServerError) -> VerifiedList {
        let (bytes, file) = try tree.target(.patchList(channel), of: role)
        do throws(TrustError) {
            let list = try VerifiedList(bytes, for: app, channel: channel, file: file, role: role)
            if let refused = list.refused.first { throw .entry(refused.fault) }
            return list
        } catch { throw .tree(app, error) }
    }

    /// The entries of each channel, verified.
    package func listedContents() throws(ServerError) -> [ChannelName: [PatchEntry]] {
        let state = try PublishedState(of: self)
        var listed: [ChannelName: [PatchEntry]] = [:]
        for (channel, published) in state.channels { listed[channel] = try list(of: channel, published.role).entries }
        return listed
    }

    /// The packages for JSPatch's clients in each channel, verified.
    package func gatewayPackages() throws(ServerError) -> [ChannelName: [GatewayPackages]] {
        let state = try PublishedState(of: self)
        var rows: [ChannelName: [GatewayPackages]] = [:]
        for (channel, published) in state.channels {
            rows[channel] = try list(of: channel, published.role).list.gateways
        }
        return rows
    }

    /// The channel's list, verified.
    func listed(of channel: ChannelName, in state: PublishedState) throws(ServerError) -> PatchList {
        try state.check(channel)
        guard let published = state.channels[channel] else { throw .dial(.unpublished(channel)) }
        return try list(of: channel, published.role).list
    }

    /// The channel's list, checked by its digest alone, which suffices to show an operator the former rows.
    func listed(in channel: ChannelName, _ state: PublishedState) -> [PatchEntry]? {
        guard let role = state.channels[channel]?.role, let list = try? tree.target(.patchList(channel), of: role).0
        else {
            return nil
        }
        return (try? ParsedPatchList(list))?.list.entries
    }

    func assets(of entry: PatchEntry, in channel: ChannelName, _ role: TargetsRole) throws(ServerError)
        -> [Asset]
    {
        let path = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
        let (bytes, _) = try tree.target(path, of: role)
        do throws(FormatError) {
            return try AssetManifest(bytes, named: path.text).assets
        } catch { throw .tree(app, .malformed(error)) }
    }

    /// The present state of a channel's dial.
    package func dial(of channel: ChannelName) throws(ServerError) -> DialState {
        let state = try PublishedState(of: self)
        let list = try listed(of: channel, in: state)
        return DialState(try dial(of: channel, in: state), version: state.dial.header.version, of: list)
    }

    func dial(of channel: ChannelName, in state: PublishedState) throws(ServerError) -> Dial {
        let (bytes, _) = try tree.target(.dial(channel), of: state.dial)
        do throws(FormatError) { return try Dial(bytes) } catch { throw .tree(app, .malformed(error)) }
    }

    /// A channel's list and its dial.
    package func offered(in channel: ChannelName) throws(ServerError) -> (list: PatchList, dial: Dial) {
        let state = try PublishedState(of: self)
        return (try listed(of: channel, in: state), try dial(of: channel, in: state))
    }

    /// The online parameters of a channel; empty for one that never had any.
    package func parameters(of channel: ChannelName) throws(ServerError) -> ParametersState {
        ParametersState(try parameters(of: channel, in: try PublishedState(of: self)))
    }

    func parameters(of channel: ChannelName, in state: PublishedState) throws(ServerError) -> OnlineParameters {
        try state.check(channel)
        guard state.channels[channel] != nil else { throw .parameters(.unpublished(channel)) }
        let path = TargetPath.parameters(channel)
        guard state.dial.targets[ExactString(path.text)] != nil else {
            return OnlineParameters(app: app, channel: channel)
        }
        let (bytes, _) = try tree.target(path, of: state.dial)
        do throws(FormatError) { return try OnlineParameters(bytes) } catch { throw .tree(app, .malformed(error)) }
    }

    /// A summary of an app's root of trust and its published channels, for the audit log.
    package func trustSummary() throws(ServerError) -> JSON {
        let state = try PublishedState(of: self)
        let channels = state.channels.sorted { $0.key < $1.key }.map { name, channel in
            JSON.fields([
                ("channel", .text(name.text)), ("roleVersion", .integer(channel.role.header.version)),
                ("identity", .text(channel.identity.hex)),
            ])
        }
        return .fields([
            ("root", .integer(state.root.header.version)), ("targets", .integer(state.targets.header.version)),
            ("targetsSHA256", (state.snapshot.files["targets"]?.sha256?.hex).map { .text($0) }),
            ("channels", .array(channels)),
        ])
    }
}
