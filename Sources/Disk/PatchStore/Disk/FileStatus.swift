package import Linux
package import SystemPackage

extension FileIdentity {
    /// The number of files examined together.
    ///
    /// Their paths are in memory meanwhile, and there may be a hundred thousand.
    package static let batch = 4_096
}

/// The file or folder at a path.
///
/// A symbolic link is reported itself, not its target.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable {
        case file, directory, symbolicLink, other
    }

    package let identity: FileIdentity
    package let kind: Kind
    /// The number of the file's names.
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
    /// 0600: state, and downloads in progress.
    package static let privateFile = FilePermissions(rawValue: 0o600)
    /// 0700: every directory of a device's store.
    package static let privateDirectory = FilePermissions(rawValue: 0o700)
    /// 0444: an object, which never changes.
    package static let sealed = FilePermissions(rawValue: 0o444)
}
