package import PatchFormat

/// The roles that must be unexpired, and the time that they are compared with.
///
/// Every reader of metadata must name a rule, so that none is forgotten.
package enum ExpiryRule: Equatable, Sendable {
    /// Every role must be unexpired at this time: the rule for installing (TUF 5.3.10, 5.4.4, 5.5.6, 5.6.5).
    case everyRole(ReferenceTime)
    /// Timestamp and snapshot must be unexpired at this time. Roles that key holders sign may have expired: they are downloaded to
    /// be signed again.
    case onlineRoles(at: UTCTime)
    /// Every role may have expired.
    case noRole(because: Reason)

    /// Why expired roles are acceptable.
    package enum Reason: Sendable {
        /// A server reads its own tree, and must be able to sign expired roles again.
        case signsAgain
        /// The check of a whole tree verifies bytes independently of the time. `patchsrv doctor` and `/readyz` report expired
        /// roles.
        case judgesBytes
    }

    /// Returns the rule with the time of a newly verified timestamp, which replaces the time of an earlier one.
    func noting(signedAt: UTCTime?) -> ExpiryRule {
        switch self {
        case .everyRole(let time): .everyRole(time.noting(signedAt: signedAt))
        case .onlineRoles, .noRole: self
        }
    }

    func check(_ header: RoleHeader, role: String) throws(TrustError) {
        switch self {
        case .everyRole(let time): try time.check(header, role: role)
        case .onlineRoles(let time):
            guard ["timestamp", "snapshot"].contains(role), header.expires <= time else { return }
            throw .expired(role: role, expires: header.expires, at: time)
        case .noRole: return
        }
    }
}
