package import PatchFormat
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// The longest that anybody's root of trust holds.
    package static let longestExport = Duration.days(365)

    /// Signs the roles of a tree that is to be exported.
    ///
    /// The caller holds the lock. Afterwards: the numbers are durably given away; nothing of the served tree changed.
    ///
    /// - Parameter validity: how long they hold; not past the end of root or targets, for nothing holds without those.
    /// - Throws: `ended` when root or targets have.
    package func ownRoles(
        holding validity: Duration,
        signing key: OnlineKey,
        at now: UTCTime
    ) throws(ServerError) -> OwnRoles {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        let now = try folder.signingTime(after: state.timestamp.signedAt, at: now)
        var expires = now.adding(min(validity, Self.longestExport))
        for (role, header) in [("root", state.root.header), ("targets", state.targets.header)] {
            guard header.expires > now else { throw .ended(role: role, expires: header.expires, at: now) }
            expires = min(expires, header.expires)
        }
        let versions = try state.nextVersions(unused: try tree.usedVersions())
        var record = try tree.versionRecord()
        record.exported = versions
        try tree.keep(record)
        var plan = PublicationPlan()
        _ = try FreshRoles(
            signers: state.signers(key),
            next: versions,
            now: now,
            validity: .seconds(expires.seconds - now.seconds)
        ).add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        return OwnRoles(plan: plan, state: state, versions: versions, expires: expires)
    }
}
