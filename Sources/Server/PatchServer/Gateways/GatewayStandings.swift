import Gateways
package import PatchFormat
import PatchTrust

/// What the clients of other systems get of a channel, by its list and dial now.
package struct GatewayStandings: Equatable, Sendable {
    /// What Meteor's clients get.
    package enum Meteor: Equatable, Sendable {
        case gets(Label)
        /// Versions are switched on for them, and none is for every device.
        case nothing
    }

    /// Nil where no version is switched on for them.
    package let meteor: Meteor?
    /// What JSPatch's clients get.
    package var packages: [PackageStanding]

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
            let told = PackageSite.told(row.line, .everyone, in: files)
            return PackageStanding(row: row, told: told?.json, open: open?.version)
        }
    }

    package init(meteor: Meteor? = nil, packages: [PackageStanding] = []) {
        (self.meteor, self.packages) = (meteor, packages)
    }

    /// Adds what developers are told elsewhere to the lines of their own channel.
    mutating func told(_ developers: [DevelopersStanding]) {
        for index in packages.indices {
            packages[index].developers = developers.filter { $0.line == packages[index].row.line }
        }
    }

    /// Nil where there are no such clients.
    package var json: JSON? {
        let items = [meteor?.json].compactMap(\.self) + packages.map(\.json)
        return items.isEmpty ? nil : .array(items)
    }
}

extension GatewayStandings.Meteor {
    fileprivate var json: JSON {
        guard case .gets(let label) = self else { return .fields([("gateway", .text(Gateway.meteor.rawValue))]) }
        return .fields([
            ("gateway", .text(Gateway.meteor.rawValue)), ("patchId", .text(label.patchID.text)),
            ("version", .text(label.version.text)),
        ])
    }
}

/// What the platform's clients in development mode are told at another channel's place (J2).
package struct DevelopersStanding: Equatable, Sendable {
    package let channel: ChannelName
    package let line: GatewayPackages.Line
    /// The sync file.
    package let told: JSON
    /// The version of which they get nothing, because that channel gave its number to another package.
    package let taken: LoaderVersion?

    package init(channel: ChannelName, line: GatewayPackages.Line, told: JSON, taken: LoaderVersion?) {
        (self.channel, self.line, self.told, self.taken) = (channel, line, told, taken)
    }

    package var json: JSON {
        .fields([
            ("channel", .text(channel.text)), ("told", told), ("taken", taken.map { .integer($0.number) }),
        ])
    }

    /// Nil where they get what there is.
    package var warning: String? {
        taken.map {
            "developers at \(channel) get nothing of \(line) version \($0): "
                + "that channel gave the number to another package; release \(PackageSite.developers) with a higher after"
        }
    }
}

/// What JSPatch's clients get of a channel on one line, as an operator is shown it.
package struct PackageStanding: Equatable, Sendable {
    package let row: GatewayPackages
    /// What the sync file says now, as JSON; nil on a wire without one, or where it is switched off.
    package let told: JSON?
    /// The highest number that can be fetched now.
    package let open: LoaderVersion?
    package var counts: [PlatformCounts] = []
    /// Of a line of the developers' channel: what their clients are told at other channels' places.
    package var developers: [DevelopersStanding] = []

    package var json: JSON {
        .fields([
            ("gateway", .text(row.line.wire.gateway.rawValue)),
            ("appKey", row.line.wire.appKey.map { .text($0.text) }),
            ("appVersion", .text(row.line.appVersion.text)), ("on", .bool(row.isSwitchedOn)),
            ("latest", .integer(row.latest.number)), ("open", open.map { .integer($0.number) }),
            ("told", told), ("reports", counts.isEmpty ? nil : .array(counts.map(\.json))),
            ("developers", developers.isEmpty ? nil : .array(developers.map(\.json))),
        ])
    }
}
