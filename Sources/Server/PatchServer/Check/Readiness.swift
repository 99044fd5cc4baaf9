import PatchCrypto
package import PatchFormat
package import PatchStore
package import PatchTrust

/// Whether the published metadata is valid now, and remains so for a while.
package struct Readiness: Equatable, Sendable {
    /// From good to bad.
    package enum Status: String, CaseIterable, Comparable, Sendable {
        case ready
        /// All is valid, but a role expires within the given time.
        case signSoon = "sign-soon"
        /// All is valid, but soon nothing can be published or signed for lack of disk space.
        case diskNearlyFull = "disk-nearly-full"
        /// All is valid, but the server has no passphrase for the online key, so it cannot sign again.
        case keyLocked = "key-locked"
        /// The server signs nothing, because its clock is certainly behind.
        case clockBehind = "clock-behind"
        /// A role has expired, so devices accept nothing new.
        case expired
        /// The published tree does not verify, so devices accept nothing from it.
        case unverified
        /// There is no app.
        case empty

        package static func < (left: Status, right: Status) -> Bool {
            allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
        }
    }

    /// The verification result of one app: when its roles expire, or why they do not verify.
    package enum Finding: Equatable, Sendable {
        case verified([RoleExpiry])
        case unverified(ServerError)
    }

    package struct App: Equatable, Sendable {
        package let app: AppID
        package let status: Status
        /// The roles that must be signed again, soonest first.
        package let due: [RoleExpiry]
        /// Why the tree does not verify, or why nothing is signed.
        package let fault: String?
        /// Set while the clock keeps the server from signing.
        package let clock: ClockBehind?
    }

    package let apps: [App]
    /// The resources that the disk is short of.
    package let lowResources: [LowResource]
    /// The worst status of all apps and the disk.
    package let status: Status

    /// - Parameters:
    ///   - within: how long before its expiry a role is reported; see ``RoleExpiry/state(within:at:)``.
    ///   - locked: apps whose online keys the server cannot open.
    ///   - behind: apps whose newest signature is later than the clock.
    package init(
        _ findings: [(app: AppID, finding: Finding)],
        within: Duration,
        lowResources: [LowResource] = [],
        locked: Set<AppID> = [],
        behind: [AppID: ClockBehind] = [:],
        at now: UTCTime
    ) {
        self.lowResources = lowResources
        apps = findings.map { app, finding in
            switch finding {
            case .unverified(let error):
                App(app: app, status: .unverified, due: [], fault: error.publicDescription, clock: nil)
            case .verified(let roles):
                App(app, roles, within: within, isLocked: locked.contains(app), behind: behind[app], at: now)
            }
        }
        let disk = lowResources.isEmpty ? Status.ready : .diskNearlyFull
        status = max(apps.map(\.status).max() ?? .empty, disk)
    }
}

extension Readiness.App {
    fileprivate init(
        _ app: AppID,
        _ roles: [RoleExpiry],
        within: Duration,
        isLocked: Bool,
        behind: ClockBehind?,
        at now: UTCTime
    ) {
        let due = roles.filter { $0.state(within: within, at: now) != .holds }
            .sorted { ($0.expires, $0.role) < ($1.expires, $1.role) }
        let isExpired = due.contains { $0.expires <= now }
        var status: Readiness.Status = isExpired ? .expired : due.isEmpty ? .ready : .signSoon
        if isLocked { status = max(status, .keyLocked) }
        if behind != nil { status = max(status, .clockBehind) }
        self.init(
            app: app,
            status: status,
            due: due,
            fault: isLocked ? "the server has no passphrase that opens the online key, so it signs nothing" : nil,
            clock: behind
        )
    }
}

extension Readiness {
    package var json: JSON {
        .fields([
            ("status", .text(status.rawValue)),
            ("short", lowResources.isEmpty ? nil : .array(lowResources.map { .text($0.rawValue) })),
            (
                "apps",
                .array(
                    apps.map { app in
                        .fields([
                            ("app", .text(app.app.text)), ("status", .text(app.status.rawValue)),
                            ("due", .array(app.due.map(\.json))),
                            ("error", (app.fault ?? app.clock.map { "\($0)" }).map { .text($0) }),
                        ])
                    }
                )
            ),
        ])
    }
}

extension RoleExpiry {
    fileprivate var json: JSON {
        .fields([
            ("role", .text(role)), ("version", .integer(version)), ("expires", .text(expires.description)),
            ("signedBy", .text(keeper.rawValue)),
        ])
    }
}

extension ServerError {
    /// A description for all clients of the server, without paths of its disk.
    fileprivate var publicDescription: String {
        if case .file = self { return "a file of the published tree cannot be read" }
        return description
    }
}

extension PublishedState {
    /// The expiry of each role: first those that key holders sign, then those that the server signs.
    package var expiries: [RoleExpiry] {
        let channels = channels.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.role.header) }
        let holders = [("root", root.header), ("targets", targets.header)] + channels
        let server = [("dial", dial.header), ("snapshot", snapshot.header), ("timestamp", timestamp.header)]
        return holders.map { RoleExpiry(role: $0.0, header: $0.1, keeper: .holders) }
            + server.map { RoleExpiry(role: $0.0, header: $0.1, keeper: .server) }
    }
}

/// A resource that a server's disk runs out of.
package enum LowResource: String, Sendable {
    /// Free bytes.
    case space
    /// Free files (inodes).
    case files

    /// The resources below the required minimum; empty if the free space is unknown.
    package static func of(_ disk: DiskSpace?, enough: DiskSpace) -> [LowResource] {
        guard let disk else { return [] }
        let isShortOfFiles = (disk.freeFiles ?? .max) < enough.freeFiles ?? 0
        return (disk.freeBytes < enough.freeBytes ? [.space] : []) + (isShortOfFiles ? [.files] : [])
    }
}
