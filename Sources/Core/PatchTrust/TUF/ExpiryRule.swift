package import PatchFormat

/// Which roles must not have expired, and at what time: every reader of metadata names a rule, so that none forgets.
package enum ExpiryRule: Equatable, Sendable {
    /// Every role must hold at this time: the rule for installing (TUF 5.3.10, 5.4.4, 5.5.6, 5.6.5).
    case everyRole(ReferenceTime)
    /// Timestamp and snapshot must hold at this time. Roles that people sign may have expired: they are fetched to be
    /// signed again.
    case onlineRoles(at: UTCTime)
    /// No role needs to hold.
    case noRole(because: Reason)

    /// Why expired roles do no harm.
    package enum Reason: Sendable {
        /// A server reads its own tree, and must be able to sign expired roles again.
        case signsAgain
        /// The check of a whole tree judges bytes, whatever the time: expired roles are no fault of theirs, and `patchsrv doctor`
        /// and `/readyz` report them.
        case judgesBytes
    }

    /// The rule with the time of a newly verified timestamp, in place of an earlier one's.
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
