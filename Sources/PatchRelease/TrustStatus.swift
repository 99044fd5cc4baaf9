package import PatchFormat
package import PatchStore
package import PatchTrust
import ReleaseFolder
package import SystemPackage

/// Until when everything holds that people sign: root, targets, and the channels' roles.
package struct TrustStatus: Sendable {
    package let app: AppID
    package let roles: [RoleExpiry]

    /// - Parameter releases: the current ones; read, not verified.
    package init(_ trust: RootOfTrust, releases: [FilePath], files: any FileOperations) throws(SigningError) {
        app = trust.app
        var roles = [
            RoleExpiry(role: "root", header: trust.root.header, keeper: .holders),
            RoleExpiry(role: "targets", header: trust.targets.header, keeper: .holders),
        ]
        for folder in releases {
            let release: SignedRelease
            let role: TargetsRole
            do throws(ReleaseError) {
                release = try SignedRelease(folder: folder, files: files)
                role = try release.parsedRole()
            } catch { throw .release(folder, error) }
            guard release.header.app == trust.app else {
                throw .foreign(folder, found: "app \(release.header.app)", expected: "app \(trust.app)")
            }
            roles.append(RoleExpiry(role: role.name, header: role.header, keeper: .holders))
        }
        self.roles = roles
    }

    /// What must be signed again within a time, or should have been.
    package func due(within: Duration, at time: UTCTime) -> [RoleExpiry] {
        roles.filter { $0.state(within: within, at: time) != .holds }
    }
}

extension SignedRelease {
    fileprivate func parsedRole() throws(ReleaseError) -> TargetsRole {
        do throws(FormatError) {
            return try TargetsRole(role, name: header.channel.text)
        } catch { throw .format(error) }
    }
}
