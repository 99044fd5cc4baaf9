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

extension DiskFiles {
    /// Why the file system of a path, existing or not, cannot make hard links; nil if it can, or if that is unknown.
    ///
    /// FAT and exFAT keep no permissions either. Makes a file beside the path and removes it again.
    package func linkFault(at path: FilePath) -> FileError? {
        var folder = path
        while folder != "/", (try? status(of: folder)) == nil { folder = folder.parent }
        let (file, link) = (folder.at(".patchline-\(getpid()).probe"), folder.at(".patchline-\(getpid()).link"))
        let descriptor = unsafe file.withPlatformString {
            unsafe Glibc.open($0, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0o600)
        }
        guard descriptor >= 0 else { return nil }
        close(descriptor)
        defer { try? remove(file) }
        do throws(FileError) { try self.link(file, to: link) } catch .cannotLink(_, let errno) {
            return .cannotLink(path, errno)
        } catch { return nil }
        try? remove(link)
        return nil
    }

    /// Whether this process may make and rename files in a directory (access(2)).
    package func canWrite(in directory: FilePath) -> Bool {
        unsafe directory.withPlatformString { unsafe access($0, W_OK | X_OK) } == 0
    }
}

extension Int {
    fileprivate func multipliedClamping(by other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
