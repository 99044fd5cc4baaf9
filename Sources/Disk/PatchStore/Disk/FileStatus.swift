package import Linux
package import SystemPackage

extension FileIdentity {
    /// So many are looked at together where there may be a hundred thousand: their paths are in memory meanwhile.
    package static let batch = 4_096
}

/// What stands at a path; a symbolic link is itself, not what it leads to.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable {
        case file, directory, symbolicLink, other
    }

    package let identity: FileIdentity
    package let kind: Kind
    /// How many names the file has.
    package let linkCount: Int
    package let permissions: FilePermissions

    package init(identity: FileIdentity, kind: Kind, linkCount: Int, permissions: FilePermissions) {
        self.identity = identity
        self.kind = kind
        self.linkCount = linkCount
        self.permissions = permissions
    }
}

extension FilePermissions {
    /// 0600: state, and downloads under way.
    package static let privateFile = FilePermissions(rawValue: 0o600)
    /// 0700: every directory of a device's store.
    package static let privateDirectory = FilePermissions(rawValue: 0o700)
    /// 0444: an object, which is never written again.
    package static let sealed = FilePermissions(rawValue: 0o444)
}
