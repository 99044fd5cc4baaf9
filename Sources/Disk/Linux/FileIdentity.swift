package import Glibc

/// Identifies a file and its state by the stat(2) fields that change whenever its content does.
///
/// Any write changes `modified` and `changed`; programs cannot set `changed`. Adding or removing a hard link, renaming, and
/// setting permissions change `changed` too, so an identity is read after all of these. Equal identities show that nothing was
/// written, but not that the medium still returns the written bytes. Before Linux 6.13, times advance by the tick (1 to 10 ms),
/// so a write within the same tick as the previous read of the identity may be missed.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// The size in bytes.
    package let size: Int
    /// The last change of its bytes, in nanoseconds since 1970.
    package let modified: Int64
    /// The last change of the bytes or any attribute, in nanoseconds since 1970.
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

    /// The identity of the file at `path`, which is not followed if it is a symbolic link; nil if it does not exist.
    package init?(at path: String) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// Wraps for dates after the year 2262, which a file may have.
    ///
    /// Times are only compared, or written as dates.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Whether both are the same file, regardless of changes in between.
    package func isSameFile(as other: FileIdentity) -> Bool {
        device == other.device && inode == other.inode
    }

    /// Whether only links, names or permissions have changed since `earlier`.
    ///
    /// A write sets `modified`, so the content is that of `earlier`.
    package func hasContent(of earlier: FileIdentity) -> Bool {
        isSameFile(as: earlier) && size == earlier.size && modified == earlier.modified
    }
}
