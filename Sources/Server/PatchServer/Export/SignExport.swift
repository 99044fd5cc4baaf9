package import PatchFormat
import PatchCrypto
import PatchTrust

/// The dial, snapshot and timestamp of an exported tree.
///
/// They are valid for the requested time instead of seven days. They have the content of the served ones. Their versions follow the
/// served ones and are reserved before anything is signed: the server's next ones are higher. A device that saw the exported tree
/// can continue with the server, and no version has two contents. Until the server signs its next ones, such a device treats it as
/// a mirror that lags.
package struct OwnRoles: Sendable {
    let plan: PublicationPlan
    let state: PublishedState
    let versions: FreshRoles.Versions
    package let expires: UTCTime

    /// The versions and expiry for the audit log.
    package var json: JSON {
        .fields([
            ("timestamp", .integer(versions.timestamp)), ("snapshot", .integer(versions.snapshot)),
            ("dial", .integer(versions.dial)), ("expires", .text(expires.description)),
        ])
    }
}

/// Signs the roles of a tree for export.
///
/// The caller holds the lock. Afterwards: the versions are durably reserved; the served tree is unchanged.
package struct SignExport: Sendable {
    /// The longest validity of a root of trust.
    package static let longest = Duration.days(365)

    private let repository: AppRepository
    private let validity: Duration
    private let key: OnlineKey
    private let clock: UTCTime

    /// - Parameter validity: how long they are valid; at most until root or targets expire, which they depend on.
    package init(of repository: AppRepository, holding validity: Duration, signing key: OnlineKey, at clock: UTCTime) {
        (self.repository, self.validity, self.key, self.clock) = (repository, validity, key, clock)
    }

    /// - Throws: `ended` if root or targets have expired.
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
