import Glibc
package import SystemPackage

/// How much room the file system of a path has for those who are not root.
package struct DiskSpace: Equatable, Sendable {
    /// In bytes.
    package let free: Int
    package let total: Int
    /// How many more files fit; nil where the file system has no limit of its own.
    package let freeFiles: Int?

    package init(free: Int, total: Int, freeFiles: Int?) {
        self.free = free
        self.total = total
        self.freeFiles = freeFiles
    }
}

extension DiskFiles {
    /// What statvfs(3) says.
    package func space(at path: FilePath) throws(FileError) -> DiskSpace {
        var found = statvfs()
        try Self.retrying(.inspect, path) { unsafe path.withPlatformString { unsafe statvfs($0, &found) } }
        return DiskSpace(
            free: Int(found.f_bavail) * Int(found.f_frsize),
            total: Int(found.f_blocks) * Int(found.f_frsize),
            freeFiles: found.f_files == 0 ? nil : Int(found.f_favail)
        )
    }

    /// Whether this process may make and rename files in a directory (access(2)).
    package func canWrite(in directory: FilePath) -> Bool {
        unsafe directory.withPlatformString { unsafe access($0, W_OK | X_OK) } == 0
    }
}
