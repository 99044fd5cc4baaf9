package import PatchFormat

/// Which roles must not have ended, and at what time: whoever reads metadata names one, so that none forgets to ask.
package enum ExpiryRule: Equatable, Sendable {
    /// Every role holds at this time: the rule of who installs (TUF 5.3.10, 5.4.4, 5.5.6, 5.6.5).
    case everyRole(ReferenceTime)
    /// Timestamp and snapshot hold at this time. What people sign may have ended: it is fetched to be signed again.
    case onlineRoles(at: UTCTime)
    /// No role needs to hold.
    case noRole(because: Reason)

    /// Why nobody is harmed by a role that has ended.
    package enum Reason: Sendable {
        /// A server reads its own tree, and must be able to sign again what has ended.
        case signsAgain
        /// The look at a whole tree names the roles that have ended beside its other findings.
        case reportsExpiry
    }

    /// What a verified timestamp says of the time counts from now on, and what an earlier one said does not.
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
