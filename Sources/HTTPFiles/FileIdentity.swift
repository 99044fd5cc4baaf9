/// Which file a name led to, and in which state: equal means that nobody wrote to it, replaced it or linked it meanwhile.
///
/// The times are the kernel's, which move in steps of some milliseconds: two writes within one step look like one.
struct FileIdentity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
    /// Bytes.
    let size: Int
    /// Last modification, since 1970.
    let modified: Duration
    /// Last change of anything about it, since 1970; no program can set it back.
    let changed: Duration
}
