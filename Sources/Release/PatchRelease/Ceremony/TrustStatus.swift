package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Until when everything holds that people sign: root, targets, and the channels' roles.
package struct TrustStatus: Sendable {
    package let app: AppID
    package let roles: [RoleStatus]

    /// Reads of a release no more than its role, and checks that by what targets says of its channel.
    ///
    /// - Parameter releases: the current ones.
    /// - Throws: `.release` for a role that no key of its channel signed as it is: nothing in it can be believed.
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

    /// What must be signed again within a time, or should have been.
    package func due(within: Duration, at time: UTCTime) -> [RoleExpiry] {
        roles.map(\.expiry).filter { $0.state(within: within, at: time) != .holds }
    }

    /// What devices take no longer, or not yet, whatever its expiry.
    package var incomplete: [RoleStatus] { roles.filter { !$0.isComplete } }
}

/// A role's end, and how far its signatures have come.
package struct RoleStatus: Sendable {
    package let expiry: RoleExpiry
    /// By keys that may sign now; nil for root and targets, which are not read without all of theirs.
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
    /// Few signatures make it incomplete; one that does not hold, where none does, makes it somebody's forgery.
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
