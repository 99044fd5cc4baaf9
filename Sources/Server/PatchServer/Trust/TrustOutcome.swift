package import PatchFormat

/// The outcome of accepting a newer root of trust.
package enum TrustOutcome: Equatable, Sendable {
    case updated(TrustPublication)
    /// The tree has all of it already; missing or damaged files were restored.
    case alreadyCurrent(root: Int, targets: Int, TreeChange)
}

/// A root of trust that devices follow from now on.
package struct TrustPublication: Equatable, Sendable {
    package struct ChannelChange: Hashable, Sendable, CustomStringConvertible {
        package let channel: ChannelName
        package let version: Int

        package var description: String { "\(channel) \(version)" }
    }

    /// A dial that the previous online key signed, and that the new one signs unchanged.
    package struct CarriedDial: Equatable, Sendable {
        package let channel: ChannelName
        /// Nil if it cannot be read; readers reject it too.
        package let rows: [Dial.Row]?

        package var paused: Int? { rows?.count(where: \.paused) }
    }

    /// Online parameters that the previous online key signed, and that the new one signs unchanged.
    package struct CarriedParameters: Equatable, Sendable {
        package let channel: ChannelName
        /// The number of parameters; nil if they cannot be read.
        package let count: Int?
    }

    package let root: Int
    /// The newest root in the tree before the change.
    package let previousRoot: Int
    package let targets: Int
    /// Whether readers forget the known versions of roles.
    package let restartsVersions: Bool
    package let published: [ChannelChange]
    /// Channels that stay published unchanged.
    package let carriedOver: [ChannelChange]
    /// Dials with rows of channels that were published before; an attacker with the online key may have made them.
    package let carriedDials: [CarriedDial]
    /// Parameters of the same channels, if they have any.
    package let carriedParameters: [CarriedParameters]
    package let dropped: [ChannelChange]
    /// Retired channels, with their last version.
    package let retired: [ChannelChange]
    package let change: TreeChange
    package let roles: RefreshedVersions

    static func changes(_ versions: [ChannelName: Int]) -> [ChannelChange] {
        versions.sorted { $0.key < $1.key }.map { ChannelChange(channel: $0.key, version: $0.value) }
    }
}

extension TrustOutcome {
    /// The result for scripts and the API.
    package func json(app: AppID) -> JSON {
        switch self {
        case .updated(let done):
            .fields([
                ("outcome", .text("updated")), ("app", .text(app.text)), ("root", .integer(done.root)),
                ("previousRoot", .integer(done.previousRoot)), ("targets", .integer(done.targets)),
                ("restartsVersions", .bool(done.restartsVersions)),
                ("published", .array(done.published.map(\.json))),
                ("carriedOver", .array(done.carriedOver.map(\.json))),
                ("carriedDials", .array(done.carriedDials.map(\.json))),
                ("carriedParameters", .array(done.carriedParameters.map(\.json))),
                ("dropped", .array(done.dropped.map(\.json))),
                ("retired", done.retired.isEmpty ? nil : .array(done.retired.map(\.json))),
                ("filesWritten", .integer(done.change.files)), ("bytesWritten", .integer(done.change.bytes)),
                ("snapshot", .integer(done.roles.snapshot)), ("timestamp", .integer(done.roles.timestamp)),
                ("dial", .integer(done.roles.dial)), ("expires", .text(done.roles.expires.description)),
            ])
        case .alreadyCurrent(let root, let targets, let change):
            .fields([
                ("outcome", .text("alreadyCurrent")), ("app", .text(app.text)), ("root", .integer(root)),
                ("targets", .integer(targets)), ("filesWritten", .integer(change.files)),
            ])
        }
    }
}

extension TrustPublication.ChannelChange {
    fileprivate var json: JSON {
        .fields([("channel", .text(channel.text)), ("roleVersion", .integer(version))])
    }
}

extension TrustPublication.CarriedDial {
    fileprivate var json: JSON {
        .fields([
            ("channel", .text(channel.text)), ("rows", (rows?.count).map { .integer($0) }),
            ("paused", paused.map { .integer($0) }),
        ])
    }
}

extension TrustPublication.CarriedParameters {
    fileprivate var json: JSON {
        .fields([("channel", .text(channel.text)), ("count", count.map { .integer($0) })])
    }
}
