import PatchFormat
import PatchTrust
import ReleaseTree

/// The roles that the online key signs, anew: dial, snapshot, timestamp.
struct FreshRoles: Sendable {
    /// How long each of them holds; a server signs them again every few hours.
    static let lifetime = Duration.days(7)

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
    let versions: Versions
    let now: UTCTime
    /// How long they hold.
    var validity = FreshRoles.lifetime

    /// Adds the three roles to a plan.
    ///
    /// - Parameters:
    ///   - dials: by target path, the dial of every published channel.
    ///   - files: what the snapshot says of every other role.
    func add(to plan: inout PublicationPlan, dials: [TargetPath: TargetFile], files: [String: RoleFile])
        throws(ServerError)
    {
        let expires = now.adding(validity)
        let dial = try signers.key.sign(
            RoleDocument.delegated("dial", version: versions.dial, expires: expires, targets: dials),
            for: signers.dial
        ).fileBytes
        plan.write(dial, to: .tree(.role("dial", version: versions.dial)), in: .dial)

        var files = files
        files["dial"] = RoleFile(of: dial, version: versions.dial)
        let snapshot = try signers.key.sign(
            RoleDocument.snapshot(version: versions.snapshot, expires: expires, files: files),
            for: signers.root.keys(of: "snapshot")
        ).fileBytes
        plan.write(snapshot, to: .tree(.role("snapshot", version: versions.snapshot)), in: .snapshot)

        let timestamp = try signers.key.sign(
            RoleDocument.timestamp(
                version: versions.timestamp,
                expires: expires,
                snapshot: RoleFile(of: snapshot, version: versions.snapshot),
                signedAt: now
            ),
            for: signers.root.keys(of: "timestamp")
        ).fileBytes
        plan.write(timestamp, to: .tree(.timestamp), in: .timestamp)
    }
}

extension PublishedState {
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
        Dictionary(uniqueKeysWithValues: snapshot.files.filter { $0.key != "dial" }.map { ($0.key.text, $0.value) })
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
}
