package import SystemPackage

/// Which file this is and whether it was written since: what stat(2) says that changes whenever the content does.
///
/// Any write changes `modified` and `changed`; `changed` cannot be set by a program. Adding or removing a hard link,
/// renaming, and setting permissions change `changed` too, so an identity is taken after all of those. Equal
/// identities say that nobody wrote; they do not say that the medium still holds what was written. Before Linux 6.13
/// times advance by the tick (1 to 10 ms), and a write within the tick of the look before it may go unseen.
package struct FileIdentity: Hashable, Sendable {
    /// So many are looked at together where there may be a hundred thousand: their paths are in memory meanwhile.
    package static let batch = 4_096

    package let device: UInt64
    package let inode: UInt64
    /// In bytes.
    package let size: Int
    /// Nanoseconds since 1970.
    package let modified: Int64
    /// Nanoseconds since 1970.
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// Whether both are the same file, whatever was done to it in between.
    package func isSameFile(as other: FileIdentity) -> Bool {
        device == other.device && inode == other.inode
    }

    /// Whether nothing but a link, a name or the permissions changed from `earlier` to now.
    ///
    /// A write sets `modified`, so the content is that of `earlier`.
    package func hasContent(of earlier: FileIdentity) -> Bool {
        isSameFile(as: earlier) && size == earlier.size && modified == earlier.modified
    }
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
