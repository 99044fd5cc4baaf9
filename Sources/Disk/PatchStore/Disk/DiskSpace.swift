import Glibc
package import SystemPackage

/// What is left on the file system of a folder, for those who are not root.
package struct DiskSpace: Equatable, Sendable {
    package let freeBytes: Int
    /// Of all files together, and of what is free; nil where nobody asked.
    package let totalBytes: Int?
    /// Files that can still be made; nil where the file system does not count them (btrfs).
    package let freeFiles: Int?

    package init(freeBytes: Int, totalBytes: Int? = nil, freeFiles: Int?) {
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
        self.freeFiles = freeFiles
    }

    /// - Throws: `failed`, or `notFound` where there is no such folder.
    package init(at folder: FilePath) throws(FileError) {
        var facts = statvfs()
        guard unsafe folder.withPlatformString({ unsafe statvfs($0, &facts) }) == 0 else {
            throw FileError(Errno(rawValue: errno), .inspect, folder)
        }
        freeBytes = Int(clamping: facts.f_bavail).multipliedClamping(by: Int(clamping: facts.f_frsize))
        totalBytes = Int(clamping: facts.f_blocks).multipliedClamping(by: Int(clamping: facts.f_frsize))
        freeFiles = facts.f_files == 0 ? nil : Int(clamping: facts.f_favail)
    }
}

extension Int {
    fileprivate func multipliedClamping(by other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
