package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// The expiry of the roles that people sign: root, targets, and the channels' roles.
package struct TrustStatus: Sendable {
    package let app: AppID
    package let roles: [RoleStatus]

    /// Reads only the role of each release and checks it against its delegation in targets.
    ///
    /// - Parameter releases: The current releases.
    /// - Throws: `.release` if a role claims keys of its channel but has no valid signature of them.
    package init(_ trust: ReleaseTrust, releases: [FilePath], files: any FileOperations) throws(SigningError) {
        app = trust.app
        var roles = [
            RoleStatus(role: "root", header: trust.root.header, quorum: nil),
            RoleStatus(role: "targets", header: trust.targets.header, quorum: nil),
        ]
        for folder in releases {
            let release: SignedRelease
            do throws(ReleaseError) {
                release = try SignedRelease(folder: folder, files: files)
            } catch { throw .release(folder, error) }
            guard release.header.app == trust.app else {
                throw .foreign(folder, found: "app \(release.header.app)", expected: "app \(trust.app)")
            }
            do throws(ReleaseError) {
                roles.append(try release.status(by: trust.targets))
            } catch { throw .release(folder, error) }
        }
        self.roles = roles
    }

    /// The roles that expire within a time or have expired.
    package func due(within: Duration, at time: UTCTime) -> [RoleExpiry] {
        roles.map(\.expiry).filter { $0.state(within: within, at: time) != .holds }
    }

    /// Roles that lack signatures.
    ///
    /// Devices reject them regardless of expiry.
    package var incomplete: [RoleStatus] { roles.filter { !$0.isComplete } }
}

/// The expiry of a role and the number of its signatures.
package struct RoleStatus: Sendable {
    package let expiry: RoleExpiry
    /// The valid signatures by current keys; nil for root and targets, which can be read only with a full quorum.
    package let quorum: VerifiedRelease.SignatureTally?

    init(role: String, header: RoleHeader, quorum: VerifiedRelease.SignatureTally?) {
        expiry = RoleExpiry(role: role, header: header, keeper: .holders)
        self.quorum = quorum
    }

    package var role: String { expiry.role }
    package var version: Int { expiry.version }
    package var isComplete: Bool { quorum?.isComplete ?? true }
}

extension SignedRelease {
    /// Too few signatures make the role incomplete.
    ///
    /// If it claims keys of the channel but no signature is valid, it is a forgery.
    fileprivate func status(by targets: TargetsRole) throws(ReleaseError) -> RoleStatus {
        let name = header.channel.text
        guard let delegation = targets.delegation(to: name) else { throw .trust(.notDelegated(role: name)) }
        let parsed: TargetsRole
        do throws(FormatError) { parsed = try TargetsRole(role, name: name) } catch { throw .format(error) }
        let (valid, needed) = (delegation.keys.validSignatures(on: role), delegation.keys.threshold)
        let isClaimed = role.signatures.contains { signature in
            SHA256Digest(hex: signature.keyID).map { delegation.keys.keys[$0] != nil } ?? false
        }
        guard valid > 0 || !isClaimed else { throw .trust(.threshold(role: name, valid: 0, needed: needed)) }
        return RoleStatus(
            role: parsed.name,
            header: parsed.header,
            quorum: VerifiedRelease.SignatureTally(valid: valid, needed: needed)
        )
    }
}
