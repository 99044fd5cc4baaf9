package import PatchFormat
import PatchTrust

/// Dial, snapshot and timestamp that an exported tree alone has: they hold as long as somebody asked, not seven days.
///
/// They say what the served ones say. Their numbers follow the served ones and are given away for good, before anything
/// is signed: the server's next ones are higher, so a device that saw the exported tree goes on with the server, and one
/// number never has two contents. Until the server signs its next ones, such a device takes it for a mirror that lags.
package struct OwnRoles: Sendable {
    let plan: PublicationPlan
    let state: PublishedState
    let versions: FreshRoles.Versions
    package let expires: UTCTime

    /// What the audit log says of them.
    package var json: JSON {
        .fields([
            ("timestamp", .integer(versions.timestamp)), ("snapshot", .integer(versions.snapshot)),
            ("dial", .integer(versions.dial)), ("expires", .text(expires.description)),
        ])
    }
}

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
        var expires = now.adding(min(validity, Self.longestExport))
        for (role, header) in [("root", state.root.header), ("targets", state.targets.header)] {
            guard header.expires > now else { throw .ended(role: role, expires: header.expires, at: now) }
            expires = min(expires, header.expires)
        }
        let versions = try state.nextVersions(unused: try usedVersions())
        var record = try versionRecord()
        record.exported = versions
        try keep(record)
        var plan = PublicationPlan()
        try FreshRoles(
            signers: state.signers(key),
            versions: versions,
            now: now,
            validity: .seconds(expires.seconds - now.seconds)
        ).add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        return OwnRoles(plan: plan, state: state, versions: versions, expires: expires)
    }
}
