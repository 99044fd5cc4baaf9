/// Which file a name led to, and in which state: equal means that nobody wrote to it, replaced it or linked it meanwhile.
///
/// What `FileIdentity` is to a store; this module knows no store.
///
/// The times are the kernel's, which move in steps of some milliseconds: two writes within one step look like one.
package struct FileStamp: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// Bytes.
    package let size: Int
    /// Last change of its bytes, in nanoseconds since 1970.
    package let modified: Int64
    /// Last change of anything about it, in nanoseconds since 1970; no program can set it back.
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}

/// The file that an answer is true of: where it was found, and in which state.
package struct FileOrigin: Equatable, Sendable {
    let path: String
    let stamp: FileStamp

    init(path: String, stamp: FileStamp) {
        self.path = path
        self.stamp = stamp
    }

    /// Of what `path` leads to now, itself no symlink; nil when there is nothing.
    package init?(at path: String) {
        guard let stamp = FileStamp(at: path) else { return nil }
        self.init(path: path, stamp: stamp)
    }

    /// Whether the file is still the very one, in the same state.
    package var isCurrent: Bool { FileStamp(at: path) == stamp }
}
