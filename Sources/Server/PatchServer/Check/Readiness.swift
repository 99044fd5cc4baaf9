import PatchCrypto
package import PatchFormat
package import PatchStore
package import PatchTrust

/// Whether what a server offers holds now, and goes on to hold for a while.
package struct Readiness: Equatable, Sendable {
    /// From good to bad.
    package enum Status: String, CaseIterable, Comparable, Sendable {
        case ready
        /// Nothing is wrong yet; a role ends within the time that was asked for.
        case signSoon = "sign-soon"
        /// Nothing is wrong yet; soon nothing more can be published, and nothing be signed again.
        case diskNearlyFull = "disk-nearly-full"
        /// Nothing is wrong yet; the server has no passphrase for the online key, so it signs nothing again.
        case keyLocked = "key-locked"
        /// The server signs nothing, because its clock shows a time that is certainly past.
        case clockBehind = "clock-behind"
        /// Devices take nothing new.
        case expired
        /// The published tree does not verify, so devices take nothing from it.
        case unverified
        /// There is no app.
        case empty

        package static func < (left: Status, right: Status) -> Bool {
            allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
        }
    }

    /// What is known of one app: until when its roles hold, or why nobody can say.
    package enum Finding: Equatable, Sendable {
        case verified([RoleExpiry])
        case unverified(ServerError)
    }

    package struct App: Equatable, Sendable {
        package let app: AppID
        package let status: Status
        /// What has to be signed again, soonest first.
        package let due: [RoleExpiry]
        /// Why the tree does not verify, or nothing is signed.
        package let fault: String?
        /// Set while the clock keeps the server from signing.
        package let clock: ClockBehind?
    }

    package let apps: [App]
    /// What the disk is short of.
    package let lowResources: [LowResource]
    /// The worst of all apps and the disk.
    package let status: Status

    /// - Parameters:
    ///   - within: how long before its end a role is reported; see ``RoleExpiry/state(within:at:)``.
    ///   - locked: whose online keys the server cannot open.
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
    /// For everybody who can ask the server: without the places of its disk.
    fileprivate var publicDescription: String {
        if case .file = self { return "a file of the published tree cannot be read" }
        return description
    }
}

extension PublishedState {
    /// Until when each role holds: those that people sign, then those that the server signs.
    package var expiries: [RoleExpiry] {
        let channels = channels.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.role.header) }
        let holders = [("root", root.header), ("targets", targets.header)] + channels
        let server = [("dial", dial.header), ("snapshot", snapshot.header), ("timestamp", timestamp.header)]
        return holders.map { RoleExpiry(role: $0.0, header: $0.1, keeper: .holders) }
            + server.map { RoleExpiry(role: $0.0, header: $0.1, keeper: .server) }
    }
}

/// What a server's disk is running out of.
package enum LowResource: String, Sendable {
    /// Bytes.
    case space
    /// Files that it can hold (inodes).
    case files

    /// What is below what must be free; nothing where nobody can say what is.
    package static func of(_ disk: DiskSpace?, enough: DiskSpace) -> [LowResource] {
        guard let disk else { return [] }
        let isShortOfFiles = (disk.freeFiles ?? .max) < enough.freeFiles ?? 0
        return (disk.freeBytes < enough.freeBytes ? [.space] : []) + (isShortOfFiles ? [.files] : [])
    }
}
