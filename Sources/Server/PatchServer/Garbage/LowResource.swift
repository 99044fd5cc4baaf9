package import PatchStore

/// What a server's disk is running out of.
package enum LowResource: String, Sendable {
    /// Bytes.
    case space
    /// Files that it can hold (inodes).
    case files

    /// What is below what must be free; nothing where nobody can say what is.
    package static func of(_ disk: DiskSpace?, enough: DiskSpace) -> [LowResource] {
        guard let disk else { return [] }
        let isShortOfFiles = (disk.freeFiles ?? .max) < enough.freeFiles ?? 0
        return (disk.freeBytes < enough.freeBytes ? [.space] : []) + (isShortOfFiles ? [.files] : [])
    }
}
