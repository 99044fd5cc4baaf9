import Glibc
package import SystemPackage

extension DiskFiles {
    package func space(at folder: FilePath) -> DiskSpace? { try? DiskSpace(at: folder) }

    /// The error that prevents hard links on the file system of a path; nil if they work, or if that is unknown.
    ///
    /// The path need not exist. FAT and exFAT also lack permissions. Creates a file next to the path and removes it again.
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

    /// Whether this process may create and rename files in a directory (access(2)).
    package func canWrite(in directory: FilePath) -> Bool {
        unsafe directory.withPlatformString { unsafe access($0, W_OK | X_OK) } == 0
    }

    /// Whether a directory is on a file system that is mounted read-only.
    package func isReadOnly(_ directory: FilePath) -> Bool {
        unsafe directory.withPlatformString { unsafe access($0, W_OK) == -1 && errno == EROFS }
    }
}
