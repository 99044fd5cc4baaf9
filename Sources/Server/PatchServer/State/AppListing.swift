import Gateways
package import PatchFormat
import PatchCrypto
import PatchTrust

/// An app's state for operators: published versions, drafts, and the expiry of its roles.
package struct AppListing: Equatable, Sendable {
    package struct Role: Equatable, Sendable {
        package let name: String
        package let version: Int
        package let expires: UTCTime
    }

    package struct Patch: Equatable, Sendable {
        package let patchID: PatchID
        package let version: VersionLabel
        package let kind: PatchKind
        package let sha256: SHA256Digest
        /// The signed ceiling, in devices of 10,000.
        package let rollout: Int
        /// The dial's row, if any.
        package let dial: Dial.Row?
        /// The size of the script, or of all assets together, in bytes.
        package let size: Int
        package let assets: Int
        /// Set for a version that fixes a security vulnerability.
        package var security: SecurityAdvisory?
        package var place = ScriptPlace.host
        package var gateways: [Gateway] = []
    }

    package struct Channel: Equatable, Sendable {
        package let name: ChannelName
        package let version: Int
        package let published: UTCTime
        package let patches: [Patch]
        package var gateways = GatewayVersions()
    }

    package struct DraftRow: Equatable, Sendable {
        package let channel: ChannelName
        package let version: Int
        /// Nil for an unreadable draft.
        package let identity: SHA256Digest?
        package let valid: Int
        package let needed: Int
        /// Whether the channel is still at the version that the draft was made from.
        package let isCurrent: Bool
    }

    package let app: AppID
    /// The roles, in the order root, targets, channels by name, dial, snapshot, timestamp.
    package let roles: [Role]
    package let channels: [Channel]
    package let drafts: [DraftRow]
}

extension AppListing {
    /// The published state, verified down to each list; readers verify manifests and objects.
    package init(of repository: AppRepository) throws(ServerError) {
        let state = try PublishedState(of: repository)
        var channels: [Channel] = []
        for (name, channel) in state.channels.sorted(by: { $0.key < $1.key }) {
            channels.append(try Channel(name, channel.role, dial: try repository.dial(of: name, in: state), repository))
        }
        if let index = channels.firstIndex(where: { $0.name.text == PackageSite.developers }) {
            channels[index].gateways.add(try PublishedSites(of: state, in: repository).developers())
        }
        var drafts: [DraftRow] = []
        for delegation in state.targets.delegations {
            guard let channel = ChannelName(delegation.name) else { continue }
            for version in try repository.tree.draftVersions(of: channel) {
                let draft = try repository.tree.readableDraft(of: channel, version: version)
                drafts.append(
                    DraftRow(
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
        self.init(app: repository.app, roles: Self.roles(of: state), channels: channels, drafts: drafts)
    }

    private static func roles(of state: PublishedState) -> [Role] {
        let offline = [("root", state.root.header), ("targets", state.targets.header)]
        let channels = state.channels.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.role.header) }
        let online = [
            ("dial", state.dial.header), ("snapshot", state.snapshot.header), ("timestamp", state.timestamp.header),
        ]
        return (offline + channels + online).map { name, header in
            Role(name: name, version: header.version, expires: header.expires)
        }
    }
}

extension AppListing.Channel {
    fileprivate init(
        _ name: ChannelName,
        _ role: TargetsRole,
        dial: Dial,
        _ repository: AppRepository
    ) throws(ServerError) {
        let list = try repository.list(of: name, role)
        var patches: [AppListing.Patch] = []
        for entry in list.entries {
            let assets = entry.kind == .bundle ? try repository.assets(of: entry, in: name, role) : []
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
        self.init(
            name: name,
            version: role.header.version,
            published: list.list.published,
            patches: patches,
            gateways: GatewayVersions(list.entries, list.list.gateways, dial)
        )
    }
}

extension AppTree {
    /// A draft; nil for a damaged one, so that the others are still listed.
    fileprivate func readableDraft(of channel: ChannelName, version: Int) throws(ServerError) -> Draft? {
        do throws(ServerError) { return try draft(of: channel, version: version) } catch .release { return nil }
    }
}

extension AppListing {
    /// Whether it has a line whose clients report.
    package var takesReports: Bool {
        channels.contains { $0.gateways.packages.contains { $0.row.line.wire.gateway == .platform } }
    }

    /// - Parameter counts: the devices' reports, by channel.
    package func counting(_ counts: [ChannelName: [PlatformCounts]]) -> AppListing {
        let channels = channels.map { channel in
            var channel = channel
            for (index, line) in channel.gateways.packages.enumerated() {
                channel.gateways.packages[index].counts =
                    counts[channel.name]?.filter { $0.line == line.row.line } ?? []
            }
            return channel
        }
        return AppListing(app: app, roles: roles, channels: channels, drafts: drafts)
    }

    package var json: JSON {
        .fields([
            ("app", .text(app.text)),
            (
                "roles",
                .array(
                    roles.map {
                        .fields([
                            ("role", .text($0.name)), ("version", .integer($0.version)),
                            ("expires", .text($0.expires.description)),
                        ])
                    }
                )
            ),
            ("channels", .array(channels.map(\.json))), ("drafts", .array(drafts.map(\.json))),
        ])
    }
}

extension AppListing.Channel {
    fileprivate var json: JSON {
        .fields([
            ("channel", .text(name.text)), ("roleVersion", .integer(version)),
            ("published", .text(published.description)),
            ("patches", .array(patches.map(\.json))),
            ("gateways", gateways.json),
        ])
    }
}

extension AppListing.Patch {
    fileprivate var json: JSON {
        let members: [(String, JSON?)] = [
            ("patchId", .text(patchID.text)), ("version", .text(version.text)), ("kind", .text(kind.rawValue)),
            ("sha256", .text(sha256.hex)), ("rollout", .integer(rollout)),
            (
                "dial",
                dial.map {
                    .fields([
                        ("rollout", .integer($0.rollout)), ("paused", .bool($0.paused)),
                        ("headcount", $0.headcount.map { .integer($0) }), ("reason", $0.reason.map { .text($0) }),
                    ])
                }
            ), ("size", .integer(size)), ("assets", kind == .bundle ? .integer(assets) : nil),
            ("security", security?.json), ("gateways", gateways.json),
        ]
        return .fields(members + place.members)
    }
}

extension AppListing.DraftRow {
    package var json: JSON {
        .fields([
            ("channel", .text(channel.text)), ("roleVersion", .integer(version)),
            ("identity", (identity?.hex).map { .text($0) }), ("damaged", identity == nil ? .bool(true) : nil),
            ("signatures", .integer(valid)), ("threshold", .integer(needed)), ("current", .bool(isCurrent)),
        ])
    }
}
