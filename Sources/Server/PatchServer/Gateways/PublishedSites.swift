import Gateways
import PatchFormat
import PatchCrypto
import PatchTrust

/// The content that other systems' clients receive from an app's channels, by the current lists and dials.
struct PublishedSites {
    private let state: PublishedState
    private let repository: AppRepository

    init(of state: PublishedState, in repository: AppRepository) {
        (self.state, self.repository) = (state, repository)
    }

    /// The site that Meteor's clients receive from each channel, by the current list and dial.
    ///
    /// Channels without content for them are left out. Verified as far as a server can: roles, lists and manifests, and the index
    /// page, from which their version is derived.
    func meteor() throws(ServerError) -> [ChannelName: MeteorSite] {
        var sites: [ChannelName: MeteorSite] = [:]
        for (channel, published) in state.channels {
            let entries = try repository.list(of: channel, published.role).entries
            guard entries.contains(where: { $0.gateways.contains(.meteor) }) else { continue }
            let dial = try repository.dial(of: channel, in: state)
            guard let entry = GatewayChoice.entry(for: .meteor, among: entries, dial: dial) else { continue }
            sites[channel] = try site(of: entry, in: channel, published)
        }
        return sites
    }

    /// The packages that JSPatch's clients receive from each channel, by the current list and dial.
    ///
    /// Channels that never had any are left out.
    func packages() throws(ServerError) -> [ChannelName: [PackageSite]] {
        var sites: [ChannelName: [PackageSite]] = [:]
        for (channel, published) in state.channels {
            let verified = try repository.list(of: channel, published.role)
            guard !verified.list.gateways.isEmpty else { continue }
            let dial = try repository.dial(of: channel, in: state)
            sites[channel] = [Gateway.loader, .platform].compactMap {
                PackageSite($0, of: verified.list.gateways, among: verified.entries, dial: dial)
            }
        }
        let developers = sites.first { $0.key.text == PackageSite.developers }?.value.first { $0.gateway == .platform }
        guard let developers else { return sites }
        for (channel, own) in sites where channel.text != PackageSite.developers {
            sites[channel] = own.map { $0.gateway == .platform ? $0.with(developers: developers) : $0 }
        }
        return sites
    }

    /// The site of a bundle, or nil if it cannot be a Meteor site; `patchsign` never signs such a bundle.
    private func site(
        of entry: PatchEntry,
        in channel: ChannelName,
        _ published: PublishedState.Channel
    ) throws(ServerError) -> MeteorSite? {
        let path = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
        let (bytes, _) = try repository.tree.target(path, of: published.role)
        let bundle: AssetManifest
        do throws(FormatError) { bundle = try AssetManifest(bytes, named: path.text) } catch {
            throw .tree(repository.app, .malformed(error))
        }
        guard let index = bundle[bundle.index], index.fingerprint.size <= Limits.meteorIndexPage else { return nil }
        let digest = index.fingerprint.sha256
        let page = try repository.tree.read(.object(digest), limit: Limits.meteorIndexPage)
        guard SHA256Digest(of: page) == digest else {
            throw .tree(repository.app, .wrongDigest(name: digest.hex, algorithm: "sha256"))
        }
        return try? MeteorSite(bundle, page: page)
    }

    /// The answers that developers receive for each other channel.
    func developers() throws(ServerError) -> [DeveloperSyncFile] {
        guard let own = ChannelName(PackageSite.developers), let published = state.channels[own] else { return [] }
        let rows = try repository.list(of: own, published.role).list.gateways.filter {
            $0.line.wire.gateway == .platform && $0.isSwitchedOn
        }
        guard !rows.isEmpty else { return [] }
        var syncFiles: [DeveloperSyncFile] = []
        let sites = try packages().sorted { $0.key < $1.key }
        let theirs = sites.first { $0.key == own }?.value.first { $0.gateway == .platform }?.files ?? [:]
        for (channel, sites) in sites where channel != own {
            guard let files = sites.first(where: { $0.gateway == .platform })?.files else { continue }
            for row in rows {
                guard let syncFile = PackageSite.syncFile(row.line, .developers, in: files) else { continue }
                let path = syncFile.version.map(row.line.path)
                let isTaken = path.map { files[$0] != theirs[$0] } ?? false
                syncFiles.append(
                    DeveloperSyncFile(
                        channel: channel,
                        line: row.line,
                        syncFile: syncFile.json,
                        taken: isTaken ? syncFile.version : nil
                    )
                )
            }
        }
        return syncFiles
    }
}
