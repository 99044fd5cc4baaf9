import Glibc
package import SystemPackage

/// The space on the file system of a folder that is available to users other than root.
package struct DiskSpace: Equatable, Sendable {
    package let freeBytes: Int
    /// The size of all files and the free space together; nil if not requested.
    package let totalBytes: Int?
    /// The number of files that can still be created; nil if the file system does not count them (btrfs).
    package let freeFiles: Int?

    package init(freeBytes: Int, totalBytes: Int? = nil, freeFiles: Int?) {
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
        self.freeFiles = freeFiles
    }

    /// - Throws: `failed`, or `notFound` if the folder does not exist.
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
