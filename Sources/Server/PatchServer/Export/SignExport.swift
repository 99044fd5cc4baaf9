package import PatchFormat
import PatchCrypto
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

/// Signs the roles of a tree that is to be exported.
///
/// The caller holds the lock. Afterwards: the numbers are durably given away; nothing of the served tree changed.
package struct SignExport: Sendable {
    /// The longest that anybody's root of trust holds.
    package static let longest = Duration.days(365)

    private let repository: AppRepository
    private let validity: Duration
    private let key: OnlineKey
    private let clock: UTCTime

    /// - Parameter validity: how long they hold; not past the end of root or targets, for nothing holds without those.
    package init(of repository: AppRepository, holding validity: Duration, signing key: OnlineKey, at clock: UTCTime) {
        (self.repository, self.validity, self.key, self.clock) = (repository, validity, key, clock)
    }

    /// - Throws: `ended` when root or targets have.
    package func run() throws(ServerError) -> OwnRoles {
        let tree = repository.tree
        let state = try PublishedState(of: repository)
        try repository.checkOnlineKey(key, in: state)
        let now = try repository.folder.signingTime(after: state.timestamp.signedAt, at: clock)
        let expires = try expiry(under: state, at: now)
        let versions = try state.nextVersions(unused: try tree.usedVersions())
        var record = try tree.versionRecord()
        record.exported = versions
        try tree.keep(record)
        let fresh = FreshRoles(
            signers: state.signers(key),
            next: versions,
            now: now,
            validity: .seconds(expires.seconds - now.seconds)
        )
        var plan = PublicationPlan()
        _ = try fresh.add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        return OwnRoles(plan: plan, state: state, versions: versions, expires: expires)
    }

    private func expiry(under state: PublishedState, at now: UTCTime) throws(ServerError) -> UTCTime {
        var expires = now.adding(min(validity, Self.longest))
        for (role, header) in [("root", state.root.header), ("targets", state.targets.header)] {
            guard header.expires > now else { throw .ended(role: role, expires: header.expires, at: now) }
            expires = min(expires, header.expires)
        }
        return expires
    }
}
