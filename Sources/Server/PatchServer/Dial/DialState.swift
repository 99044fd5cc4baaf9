package import PatchFormat

/// The effect of a channel's dial on each listed version.
package struct DialState: Equatable, Sendable {
    package struct Version: Equatable, Sendable {
        package let patchID: PatchID
        package let version: VersionLabel
        package let kind: PatchKind
        package let sha256: SHA256Digest
        /// The share that the release keys signed, in devices of 10,000.
        package let ceiling: Int
        /// The dial's row, if any.
        package let row: Dial.Row?
        /// The gateways whose clients cannot install it: Meteor's and JSPatch's (`loader 2.1`) while it has a headcount, as their
        /// devices cannot be counted.
        package var closedFor: [String] = []
        /// How many devices have a place, if counted; the tree does not contain this.
        package var placesTaken: Int?

        package var isPaused: Bool { row?.paused == true }
        /// The dial's share, in devices of 10,000; the maximum if unrestricted.
        package var share: Int { row?.rollout ?? Dial.everyDevice }
        /// The share of devices that may install it, in devices of 10,000.
        ///
        /// No device installs a paused version, regardless of this value.
        package var effective: Int { min(ceiling, row?.rollout ?? ceiling) }
        /// Whether fewer devices may install it than the release keys signed for.
        package var isHeldBack: Bool { isPaused || effective < ceiling || row?.headcount != nil }

        /// `the dial holds web 1.3.0 at 10%; 100% are signed`.
        package var holdWords: String {
            if isPaused { return "the dial pauses \(patchID) \(version)" }
            let places = row?.headcount.map { " in \(Words.count($0, "place"))" } ?? ""
            return
                "the dial holds \(patchID) \(version) at \(RolloutShare(effective))\(places); \(RolloutShare(ceiling)) are signed"
        }
    }

    package let app: AppID
    package let channel: ChannelName
    /// The version of the dial role, which every change and every refresh raises.
    package let version: Int
    /// The versions in list order.
    package private(set) var versions: [Version]
    package let gateways: GatewayVersions

    package var hasHeadcounts: Bool { versions.contains { $0.row?.headcount != nil } }

    /// Adds the number of taken places to each version that has a headcount.
    package func counting(_ taken: (PatchID, SHA256Digest) -> Int) -> DialState {
        var state = self
        for (index, version) in versions.enumerated() where version.row?.headcount != nil {
            state.versions[index].placesTaken = taken(version.patchID, version.sha256)
        }
        return state
    }

    init(_ dial: Dial, version: Int, of list: PatchList) {
        self.init(dial, version: version, of: list.entries, list.gateways)
    }

    /// - Parameter packages: may be empty if the caller does not need the gateways' state.
    init(_ dial: Dial, version: Int, of entries: [PatchEntry], _ packages: [GatewayPackages] = []) {
        app = dial.app
        channel = dial.channel
        self.version = version
        gateways = GatewayVersions(entries, packages, dial)
        versions = entries.map { entry in
            let row = dial.row(entry.patchID, entry.fingerprint.sha256)
            return Version(
                patchID: entry.patchID,
                version: entry.version,
                kind: entry.kind,
                sha256: entry.fingerprint.sha256,
                ceiling: entry.rules.rollout,
                row: row,
                closedFor: row?.headcount == nil ? [] : Self.wires(of: entry, packages)
            )
        }
    }

    /// The gateways that offer an entry to clients of other systems.
    private static func wires(of entry: PatchEntry, _ packages: [GatewayPackages]) -> [String] {
        let lines = packages.filter { $0.newest?.contents.values.contains(entry.fingerprint.sha256) ?? false }
        return (entry.gateways.contains(.meteor) ? [Gateway.meteor.rawValue] : []) + lines.map { "\($0.line)" }
    }

    package var json: JSON {
        .fields([
            ("app", .text(app.text)), ("channel", .text(channel.text)), ("dialVersion", .integer(version)),
            ("versions", .array(versions.map(\.json))), ("gateways", gateways.json),
        ])
    }
}

extension DialState.Version {
    var json: JSON {
        .fields([
            ("patchId", .text(patchID.text)), ("version", .text(version.text)), ("kind", .text(kind.rawValue)),
            ("sha256", .text(sha256.hex)), ("ceiling", .integer(ceiling)),
            ("rollout", (row?.rollout).map { .integer($0) }), ("effective", .integer(effective)),
            ("paused", .bool(isPaused)), ("reason", row?.reason.map { .text($0) }),
            ("headcount", (row?.headcount).map { .integer($0) }), ("places", placesTaken.map { .integer($0) }),
            ("closedFor", closedFor.isEmpty ? nil : .array(closedFor.map { .text($0) })),
        ])
    }
}

/// The outcome of an operator's changes.
package enum DialOutcome: Equatable, Sendable {
    case turned(DialState, RefreshedVersions)
    /// The dial already had all changes; nothing was signed.
    case unchanged(DialState)

    package var state: DialState {
        switch self {
        case .turned(let state, _), .unchanged(let state): state
        }
    }

    package func with(_ state: DialState) -> DialOutcome {
        switch self {
        case .turned(_, let roles): .turned(state, roles)
        case .unchanged: .unchanged(state)
        }
    }
}

extension DialOutcome {
    /// The result for scripts and the API.
    package var json: JSON {
        guard var members = state.json.object else { return state.json }
        switch self {
        case .turned(_, let roles):
            members["outcome"] = .text("turned")
            members["timestamp"] = .integer(roles.timestamp)
            members["snapshot"] = .integer(roles.snapshot)
            members["expires"] = .text(roles.expires.description)
        case .unchanged: members["outcome"] = .text("unchanged")
        }
        return .object(members)
    }
}
