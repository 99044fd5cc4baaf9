import PatchFormat
import PatchCrypto
import PatchTrust

/// The roles that the online key signs, anew: dial, snapshot, timestamp.
struct FreshRoles: Sendable {
    /// How long snapshot and timestamp hold; a server signs them again every few hours.
    static let lifetime = Duration.days(7)
    /// How long a dial holds: no older one than the snapshot names is taken, so it may stay while it says what is true,
    /// and devices have a signature fewer to fetch.
    static let dialLifetime = Duration.days(14)

    /// Who signs what, from the verified root and targets roles.
    struct Signers: Sendable {
        let key: OnlineKey
        let root: RootRole
        let dial: RoleKeys
    }

    /// The versions they get.
    struct Versions: Equatable, Sendable {
        let dial: Int
        let snapshot: Int
        let timestamp: Int
    }

    let signers: Signers
    /// The next ones; a role that stays keeps its own.
    let next: Versions
    let now: UTCTime
    /// What is published, and stays where it says the same and holds long enough; nil where it is signed anew.
    var currentDial: CurrentDial?
    /// How long all of them hold, where somebody asked for that.
    var validity: Duration?

    /// Adds snapshot and timestamp to a plan, and the dial where it does not stay.
    ///
    /// - Parameters:
    ///   - dials: by target path, the dial of every published channel.
    ///   - files: what the snapshot says of every other role.
    /// - Returns: the versions that are published then.
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
    /// The time to sign with: the clock, or the time of the newest signature if the clock was set back by seconds since.
    ///
    /// - Parameter signedAt: When the newest timestamp was signed; nil if a clock behind it is accepted.
    /// - Throws: `clockBehind`; also for a clock behind the program's build.
    func signingTime(after signedAt: UTCTime?, at clock: UTCTime) throws(ServerError) -> UTCTime {
        if let behind = ClockBehind(clock: clock, signedAt: signedAt, build: build) { throw .clockBehind(behind) }
        return signedAt.map { max($0, clock) } ?? clock
    }
}

/// The dial's role as it is published, for whoever would sign it anew.
struct CurrentDial: Sendable {
    let file: RoleFile
    let expires: UTCTime
    let targets: [TargetPath: TargetFile]

    /// Nil where it says something else, or ends before a snapshot that is signed now.
    func file(saying targets: [TargetPath: TargetFile], at now: UTCTime) -> RoleFile? {
        expires >= now.adding(FreshRoles.lifetime) && targets == self.targets ? file : nil
    }
}

extension PublishedState {
    /// Nil where it must not stay: whoever saw a tree that was exported knows a higher number.
    func currentDial(unused used: UsedVersions) throws(ServerError) -> CurrentDial? {
        let header = dial.header
        guard used.isAboveExported(dial: header.version), let file = snapshot.files["dial"] else { return nil }
        return CurrentDial(file: file, expires: header.expires, targets: try dials())
    }

    /// The next versions, past whatever an interrupted publish left behind.
    ///
    /// - Parameter restarting: whether readers forget the versions of these roles (TUF 5.3.11).
    /// - Throws: `exhausted` when there is no next one.
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

    /// What the snapshot says of every role but the dial.
    var otherFiles: [String: RoleFile] {
        Dictionary(snapshot.files.filter { $0.key != "dial" }.map { ($0.key.text, $0.value) }) { first, _ in first }
    }

    /// The dial's targets, as its role names them.
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

    /// Refuses to sign what devices would not accept, because root or targets have ended.
    func checkHolds(at now: UTCTime) throws(ServerError) {
        for (role, header) in [("root", root.header), ("targets", targets.header)] where header.expires <= now {
            throw .ended(role: role, expires: header.expires, at: now)
        }
    }
}
