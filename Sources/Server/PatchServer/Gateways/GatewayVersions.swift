import Gateways
package import PatchFormat
import PatchTrust

/// The versions that other systems' clients receive from a channel, by its current list and dial.
package struct GatewayVersions: Equatable, Sendable {
    /// The version that Meteor's clients receive.
    package enum Meteor: Equatable, Sendable {
        case gets(Label)
        /// Versions are switched on for them, but none is for every device.
        case nothing
    }

    /// Nil if no version is switched on for Meteor's clients.
    package let meteor: Meteor?
    /// The packages that JSPatch's clients receive.
    package var packages: [PackageOffer]

    init(_ entries: [PatchEntry], _ packages: [GatewayPackages], _ dial: Dial) {
        let isOn = entries.contains { $0.gateways.contains(.meteor) }
        let entry = GatewayChoice.entry(for: .meteor, among: entries, dial: dial)
        meteor = entry.map { .gets($0.label) } ?? (isOn ? .nothing : nil)
        let sites = [Gateway.loader, .platform].compactMap {
            PackageSite($0, of: packages, among: entries, dial: dial)
        }
        self.packages = packages.map { row in
            let files = sites.first { $0.gateway == row.line.wire.gateway }?.files ?? [:]
            let open = row.packages.first { files[row.line.path($0.version)] != nil }
            let syncFile = PackageSite.syncFile(row.line, .everyone, in: files)
            return PackageOffer(row: row, syncFile: syncFile?.json, open: open?.version)
        }
    }

    package init(meteor: Meteor? = nil, packages: [PackageOffer] = []) {
        (self.meteor, self.packages) = (meteor, packages)
    }

    /// Adds the answers that developers receive for other channels to the lines of their own channel.
    mutating func add(_ developers: [DeveloperSyncFile]) {
        for index in packages.indices {
            packages[index].developers = developers.filter { $0.line == packages[index].row.line }
        }
    }

    /// Nil if the channel has no such clients.
    package var json: JSON? {
        let items = [meteor?.json].compactMap(\.self) + packages.map(\.json)
        return items.isEmpty ? nil : .array(items)
    }
}

extension GatewayVersions.Meteor {
    fileprivate var json: JSON {
        guard case .gets(let label) = self else { return .fields([("gateway", .text(Gateway.meteor.rawValue))]) }
        return .fields([
            ("gateway", .text(Gateway.meteor.rawValue)), ("patchId", .text(label.patchID.text)),
            ("version", .text(label.version.text)),
        ])
    }
}

/// The answer that the platform's clients in development mode receive for another channel (J2).
package struct DeveloperSyncFile: Equatable, Sendable {
    package let channel: ChannelName
    package let line: GatewayPackages.Line
    /// The sync file.
    package let syncFile: JSON
    /// The version that they do not receive, because that channel used its number for another package.
    package let taken: LoaderVersion?

    package init(channel: ChannelName, line: GatewayPackages.Line, syncFile: JSON, taken: LoaderVersion?) {
        (self.channel, self.line, self.syncFile, self.taken) = (channel, line, syncFile, taken)
    }

    package var json: JSON {
        .fields([
            ("channel", .text(channel.text)), ("told", syncFile), ("taken", taken.map { .integer($0.number) }),
        ])
    }

    /// Nil if they receive the newest version.
    package var warning: String? {
        taken.map {
            "developers at \(channel) do not get \(line) version \($0): "
                + "that channel used the number for another package; release \(PackageSite.developers) with a higher after"
        }
    }
}

/// The packages that JSPatch's clients receive from a channel on one line, for operators.
package struct PackageOffer: Equatable, Sendable {
    package let row: GatewayPackages
    /// The current sync file as JSON; nil on a wire without one, or if the line is switched off.
    package let syncFile: JSON?
    /// The highest version that can be downloaded now.
    package let open: LoaderVersion?
    package var counts: [PlatformCounts] = []
    /// For a line of the developers' channel: the answers that their clients receive for other channels.
    package var developers: [DeveloperSyncFile] = []

    package var json: JSON {
        .fields([
            ("gateway", .text(row.line.wire.gateway.rawValue)),
            ("appKey", row.line.wire.appKey.map { .text($0.text) }),
            ("appVersion", .text(row.line.appVersion.text)), ("on", .bool(row.isSwitchedOn)),
            ("latest", .integer(row.latest.number)), ("open", open.map { .integer($0.number) }),
            ("told", syncFile), ("reports", counts.isEmpty ? nil : .array(counts.map(\.json))),
            ("developers", developers.isEmpty ? nil : .array(developers.map(\.json))),
        ])
    }
}
