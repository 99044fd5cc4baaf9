import PatchFormat
import PatchCrypto
import PatchTrust

/// Signs the online key's roles again: dial, snapshot, timestamp.
struct FreshRoles: Sendable {
    /// The validity of snapshot and timestamp; a server signs them again every few hours.
    static let lifetime = Duration.days(7)
    /// The validity of a dial.
    ///
    /// Devices reject a dial older than the snapshot's, so an unchanged one may stay, which saves devices a download.
    static let dialLifetime = Duration.days(14)

    /// The online key and its roles, from the verified root and targets roles.
    struct Signers: Sendable {
        let key: OnlineKey
        let root: RootRole
        let dial: RoleKeys
    }

    /// The versions of the roles.
    struct Versions: Equatable, Sendable {
        let dial: Int
        let snapshot: Int
        let timestamp: Int
    }

    let signers: Signers
    /// The next versions; an unchanged role keeps its own.
    let next: Versions
    let now: UTCTime
    /// The published dial, which stays if its content is unchanged and it is valid long enough; nil to sign it again.
    var currentDial: CurrentDial?
    /// A requested validity of all roles, if any.
    var validity: Duration?

    /// Adds snapshot and timestamp to a plan, and the dial if it changes.
    ///
    /// - Parameters:
    ///   - dials: by target path, the dial of every published channel.
    ///   - files: the snapshot's rows of all other roles.
    /// - Returns: the versions that are then published.
    func add(to plan: inout PublicationPlan, dials: [TargetPath: TargetFile], files: [String: RoleFile])
        throws(ServerError) -> Versions
    {
        let expires = now.adding(validity ?? Self.lifetime)
        let dial =
            if let kept = currentDial?.file(saying: dials, at: now) { kept } else { try signed(dials, in: &plan) }
        var files = files
        files["dial"] = dial
        let snapshot = try signers.key.sign(
            RoleDocument.snapshot(app: app, version: next.snapshot, expires: expires, files: files),
            for: signers.root.keys(of: "snapshot")
        ).fileBytes
        plan.write(snapshot, to: .tree(.role("snapshot", version: next.snapshot)), in: .snapshot)

        let timestamp = try signers.key.sign(
            RoleDocument.timestamp(
                app: app,
                version: next.timestamp,
                expires: expires,
                snapshot: RoleFile(of: snapshot, version: next.snapshot),
                signedAt: now
            ),
            for: signers.root.keys(of: "timestamp")
        ).fileBytes
        plan.write(timestamp, to: .tree(.timestamp), in: .timestamp)
        return Versions(dial: dial.version, snapshot: next.snapshot, timestamp: next.timestamp)
    }

    private var app: AppID? { signers.root.app }

    private func signed(_ dials: [TargetPath: TargetFile], in plan: inout PublicationPlan) throws(ServerError)
        -> RoleFile
    {
        let expires = now.adding(validity ?? Self.dialLifetime)
        let dial = try signers.key.sign(
            RoleDocument.delegated("dial", app: app, version: next.dial, expires: expires, targets: dials),
            for: signers.dial
        ).fileBytes
        plan.write(dial, to: .tree(.role("dial", version: next.dial)), in: .dial)
        return RoleFile(of: dial, version: next.dial)
    }
}

extension FreshRoles {
    /// The next online roles over a state, which keep the published dial if it is unchanged.
    ///
    /// - Parameter acceptsClock: See ``RefreshRoles``.
    /// - Throws: `clockBehind`, before anything is signed or written.
    init(
        over state: PublishedState,
        of tree: AppTree,
        signing key: OnlineKey,
        at clock: UTCTime,
        acceptingClock acceptsClock: Bool = false
    ) throws(ServerError) {
        let now = try tree.folder.signingTime(
            after: acceptsClock ? nil : state.timestamp.signedAt,
            at: clock
        )
        let used = try tree.usedVersions()
        self.init(
            signers: state.signers(key),
            next: try state.nextVersions(unused: used),
            now: now,
            currentDial: acceptsClock ? nil : try state.currentDial(unused: used)
        )
    }
}

extension ServerFolder {
    /// The time to sign with: the clock, or the time of the newest signature if the clock was set back a few seconds since.
    ///
    /// - Parameter signedAt: When the newest timestamp was signed; nil if a clock behind it is accepted.
    /// - Throws: `clockBehind`; also for a clock behind the program's build.
    func signingTime(after signedAt: UTCTime?, at clock: UTCTime) throws(ServerError) -> UTCTime {
        if let behind = ClockBehind(clock: clock, signedAt: signedAt, build: build) { throw .clockBehind(behind) }
        return signedAt.map { max($0, clock) } ?? clock
    }
}

/// The published dial role, which may be kept instead of signed again.
struct CurrentDial: Sendable {
    let file: RoleFile
    let expires: UTCTime
    let targets: [TargetPath: TargetFile]

    /// The published file, or nil if its content differs or it expires before a snapshot signed now.
    func file(saying targets: [TargetPath: TargetFile], at now: UTCTime) -> RoleFile? {
        expires >= now.adding(FreshRoles.lifetime) && targets == self.targets ? file : nil
    }
}

extension PublishedState {
    /// The published dial role, or nil if it must be signed again: devices that saw an exported tree know a higher version.
    func currentDial(unused used: UsedVersions) throws(ServerError) -> CurrentDial? {
        let header = dial.header
        guard used.isAboveExported(dial: header.version), let file = snapshot.files["dial"] else { return nil }
        return CurrentDial(file: file, expires: header.expires, targets: try dials())
    }

    /// The next versions, above those of an interrupted publish.
    ///
    /// - Parameter restarting: whether readers forget the versions of these roles (TUF 5.3.11).
    /// - Throws: `exhausted` if there is no next version.
    func nextVersions(unused used: UsedVersions, restarting: Bool = false) throws(ServerError) -> FreshRoles.Versions {
        func known(_ role: String, _ version: Int?) throws(ServerError) -> Int {
            guard let version else { throw .exhausted(app, role: role) }
            return version
        }
        return FreshRoles.Versions(
            dial: try known("dial", used.nextDial(after: dial.header.version, restarting: restarting)),
            snapshot: try known("snapshot", used.nextSnapshot(after: snapshot.header.version, restarting: restarting)),
            timestamp: try known(
                "timestamp",
                used.nextTimestamp(after: timestamp.header.version, restarting: restarting)
            )
        )
    }

    func signers(_ key: OnlineKey) -> FreshRoles.Signers {
        FreshRoles.Signers(key: key, root: root, dial: dialDelegation.keys)
    }

    /// The snapshot's rows of every role but the dial.
    var otherFiles: [String: RoleFile] {
        Dictionary(snapshot.files.filter { $0.key != "dial" }.map { ($0.key.text, $0.value) }) { first, _ in first }
    }

    /// The targets of the dial role.
    func dials() throws(ServerError) -> [TargetPath: TargetFile] {
        var dials: [TargetPath: TargetFile] = [:]
        for (name, file) in dial.targets {
            guard let path = TargetPath(name.text) else {
                let error = FormatError("dial", field: "signed.targets.\(name)", rule: TargetPath.rule)
                throw .tree(app, .malformed(error))
            }
            dials[path] = file
        }
        return dials
    }

    /// Throws if root or targets have expired, because devices would reject the signed roles.
    func checkHolds(at now: UTCTime) throws(ServerError) {
        for (role, header) in [("root", root.header), ("targets", targets.header)] where header.expires <= now {
            throw .ended(role: role, expires: header.expires, at: now)
        }
    }
}
