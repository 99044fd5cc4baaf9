import Gateways
package import PatchFormat
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// What is published now, verified down to each list; manifests and objects are for readers to verify.
    package func listing() throws(ServerError) -> AppListing {
        let state = try PublishedState(of: self)
        var channels: [AppListing.Channel] = []
        for (name, channel) in state.channels.sorted(by: { $0.key < $1.key }) {
            channels.append(try self.channel(name, channel.role, dial: try dial(of: name, in: state)))
        }
        if let index = channels.firstIndex(where: { $0.name.text == PackageSite.developers }) {
            channels[index].gateways.told(try developers(state))
        }
        var drafts: [AppListing.DraftRow] = []
        for delegation in state.targets.delegations {
            guard let channel = ChannelName(delegation.name) else { continue }
            for version in try tree.draftVersions(of: channel) {
                let draft = try readable(version, of: channel)
                drafts.append(
                    AppListing.DraftRow(
                        channel: channel,
                        version: version,
                        identity: draft?.identity,
                        valid: draft?.validSignatures(delegation) ?? 0,
                        needed: delegation.keys.threshold,
                        isCurrent: draft != nil && version == state.version(of: channel) + 1
                    )
                )
            }
        }
        return AppListing(app: app, roles: roles(of: state), channels: channels, drafts: drafts)
    }

    /// Those that the root of trust names, with releases or without.
    package func channelNames() throws(ServerError) -> [ChannelName] { try PublishedState(of: self).channelNames }

    /// - Throws: `noChannel` for one that the root of trust does not name.
    package func check(_ channel: ChannelName) throws(ServerError) {
        try PublishedState(of: self).check(channel)
    }

    /// A draft; nil for one that is damaged, which keeps nobody from what else there is.
    private func readable(_ version: Int, of channel: ChannelName) throws(ServerError) -> Draft? {
        do throws(ServerError) { return try tree.draft(of: channel, version: version) } catch .release { return nil }
    }

    private func roles(of state: PublishedState) -> [AppListing.Role] {
        let offline = [("root", state.root.header), ("targets", state.targets.header)]
        let channels = state.channels.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.role.header) }
        let online = [
            ("dial", state.dial.header), ("snapshot", state.snapshot.header), ("timestamp", state.timestamp.header),
        ]
        return (offline + channels + online).map { name, header in
            AppListing.Role(name: name, version: header.version, expires: header.expires)
        }
    }

    private func channel(_ name: ChannelName, _ role: TargetsRole, dial: Dial) throws(ServerError) -> AppListing.Channel
    {
        let list = try list(of: name, role)
        var patches: [AppListing.Patch] = []
        for entry in list.entries {
            let assets = entry.kind == .bundle ? try self.assets(of: entry, in: name, role) : []
            let size = entry.kind == .bundle ? assets.reduce(0) { $0 + $1.fingerprint.size } : entry.fingerprint.size
            patches.append(
                AppListing.Patch(
                    patchID: entry.patchID,
                    version: entry.version,
                    kind: entry.kind,
                    sha256: entry.fingerprint.sha256,
                    rollout: entry.rules.rollout,
                    dial: dial.row(entry.patchID, entry.fingerprint.sha256),
                    size: size,
                    assets: assets.count,
                    security: entry.security,
                    place: entry.place,
                    gateways: entry.gateways
                )
            )
        }
        return AppListing.Channel(
            name: name,
            version: role.header.version,
            published: list.list.published,
            patches: patches,
            gateways: GatewayStandings(list.entries, list.list.gateways, dial)
        )
    }

    /// - Throws: `tree` when a signature of any entry does not hold.
    func list(of channel: ChannelName, _ role: TargetsRole) throws(ServerError) -> VerifiedList {
        let (bytes, file) = try tree.target(.patchList(channel), of: role)
        do throws(TrustError) {
            let list = try VerifiedList(bytes, for: app, channel: channel, file: file, role: role)
            if let refused = list.refused.first { throw .entry(refused.fault) }
            return list
        } catch { throw .tree(app, error) }
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

    func dial(of channel: ChannelName, in state: PublishedState) throws(ServerError) -> Dial {
        let (bytes, _) = try tree.target(.dial(channel), of: state.dial)
        do throws(FormatError) { return try Dial(bytes) } catch { throw .tree(app, .malformed(error)) }
    }
}
