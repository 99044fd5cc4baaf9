package import Glibc

/// Which file this is and whether it was written since: what stat(2) says that changes whenever the content does.
///
/// Any write changes `modified` and `changed`; `changed` cannot be set by a program. Adding or removing a hard link,
/// renaming, and setting permissions change `changed` too, so an identity is taken after all of those. Equal
/// identities say that nobody wrote; they do not say that the medium still holds what was written. Before Linux 6.13
/// times advance by the tick (1 to 10 ms), and a write within the tick of the look before it may go unseen.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// In bytes.
    package let size: Int
    /// Last change of its bytes, in nanoseconds since 1970.
    package let modified: Int64
    /// Last change of anything about it, in nanoseconds since 1970.
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    package init(device: UInt64, inode: UInt64, size: Int, modified: timespec, changed: timespec) {
        self.init(
            device: device,
            inode: inode,
            size: size,
            modified: Self.nanoseconds(modified),
            changed: Self.nanoseconds(changed)
        )
    }

    package init(_ facts: stat) {
        self.init(
            device: UInt64(facts.st_dev),
            inode: UInt64(facts.st_ino),
            size: Int(facts.st_size),
            modified: facts.st_mtim,
            changed: facts.st_ctim
        )
    }

    /// Of what `path` leads to now, itself no symlink; nil when there is nothing.
    package init?(at path: String) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// Wraps beyond the year 2262, which a file's date may lie in: these are compared, and at most written as a date.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
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
