package import PatchFormat

/// The period in which devices accept a release: until its channel's role, root or targets expire.
package struct ReleaseExpiry: Equatable, Sendable {
    /// How long before its expiry a role causes a warning.
    package static let margin = Duration.days(7)

    package struct Role: Hashable, Sendable {
        package let name: String
        package let expires: UTCTime

        package init(_ name: String, expires: UTCTime) {
            (self.name, self.expires) = (name, expires)
        }
    }

    /// A role that expires sooner than expected.
    ///
    /// The release can still be used now.
    package enum Warning: Hashable, Sendable {
        /// Expires within ``margin``.
        case endsSoon(Role)
        /// Root or targets expire before the release does.
        case endsBefore(Role, release: Role)

        package var role: Role {
            switch self {
            case .endsSoon(let role), .endsBefore(let role, _): role
            }
        }
    }

    /// The channel's role.
    package let release: Role
    /// Root and targets.
    package let trust: [Role]

    package init(release: Role, root: UTCTime, targets: UTCTime) {
        self.release = release
        trust = [Role("root", expires: root), Role("targets", expires: targets)]
    }

    /// The first role that has expired, which makes devices reject the release.
    package func expired(at now: UTCTime) -> Role? { (trust + [release]).first { $0.expires <= now } }

    package func warnings(at now: UTCTime) -> [Warning] {
        (trust + [release]).compactMap { role in
            if role.expires <= now.adding(Self.margin) { return .endsSoon(role) }
            return role != release && role.expires < release.expires ? .endsBefore(role, release: release) : nil
        }
    }
}

extension ReleaseExpiry.Warning: CustomStringConvertible {
    package var description: String {
        switch self {
        case .endsSoon(let role): "\(role.name) expires soon, at \(role.expires); \(role.renewal)"
        case .endsBefore(let role, let release):
            "\(role.name) expires at \(role.expires), before \(release.name) (\(release.expires)): devices take nothing after "
                + "that; \(role.renewal)"
        }
    }
}

extension ReleaseExpiry.Role {
    /// The warning for a key holder before signing a draft of this role, or nil if it is valid for longer than
    /// ``ReleaseExpiry/margin``.
    package func draftWarning(at now: UTCTime) -> String? {
        let remedy = "`patchsign root draft` makes it again, with a new expiry"
        if expires <= now { return "the draft's \(name) expired at \(expires): devices reject it; \(remedy)" }
        guard expires <= now.adding(ReleaseExpiry.margin) else { return nil }
        return "the draft's \(name) expires soon, at \(expires); \(remedy)"
    }

    /// The command that signs the role again.
    package var renewal: String {
        ["root", "targets"].contains(name)
            ? "`patchsign root draft` starts its renewal" : "`patchsign release renew` signs the release again"
    }
}
