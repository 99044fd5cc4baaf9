/// Which file it is and when it last changed: equal stamps mean that nobody has written to it in between.
package struct FileStamp: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// Bytes.
    package let size: Int
    /// Last change of its bytes, in nanoseconds since 1970.
    package let modified: Int64
    /// Last change of its bytes, name count or rights, in nanoseconds since 1970.
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}
