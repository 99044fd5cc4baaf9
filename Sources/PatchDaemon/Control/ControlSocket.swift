import Glibc
import PatchStore
import SystemPackage

/// A listening socket with a name in the file system, which goes when this does, unless another has its name by then.
///
/// Who may connect is what its folder's permissions say (unix(7)); it has 0660 itself.
@safe
struct ControlSocket: ~Copyable {
    /// Taken by ``FileServer``, which closes it.
    let descriptor: Int32
    private let path: FilePath
    private let identity: Identity

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// What ``sockaddr_un`` holds, with the zero byte at its end.
    static let longestPath = 107

    /// Makes the folder with 0750 where it is missing, and replaces a socket on which nobody answers.
    ///
    /// One process at a time does so in a folder; no symbolic link is followed at the path's end.
    init(_ path: FilePath) throws(ControlError) {
        let fresh = FilePath("\(path.string).new")
        guard fresh.string.utf8.count <= Self.longestPath else {
            throw .pathTooLong(path, limit: Self.longestPath - ".new".utf8.count)
        }
        let folder = path.removingLastComponent()
        let files = DiskFiles()
        do throws(FileError) {
            try files.makeDirectory(folder, permissions: FilePermissions(rawValue: 0o750))
        } catch { throw .file(error) }
        let lock = unsafe Glibc.open(folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        defer {
            // Not only closed: a child that was just forked has the folder open too.
            flock(lock, LOCK_UN)
            close(lock)
        }
        guard flock(lock, LOCK_EX) == 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        guard try Self.isFree(path) else { throw .answered(path) }
        do throws(FileError) {
            if try files.status(of: fresh) != nil { try files.remove(fresh) }
        } catch { throw .file(error) }
        let (descriptor, identity) = try Self.listen(fresh, named: path)
        // From here on everybody finds it, and somebody who listens behind it.
        do throws(FileError) { try files.rename(fresh, to: path) } catch {
            close(descriptor)
            throw .file(error)
        }
        (self.descriptor, self.path, self.identity) = (descriptor, path, identity)
    }

    deinit {
        if Self.identity(of: path) == identity { try? DiskFiles().remove(path) }
    }

    private static func isFree(_ path: FilePath) throws(ControlError) -> Bool {
        var found = stat()
        guard unsafe lstat(path.string, &found) == 0 else {
            guard errno == ENOENT else { throw .cannotListen(path, Errno(rawValue: errno)) }
            return true
        }
        guard found.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard client >= 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        defer { close(client) }
        // A full queue has somebody behind it.
        return unsafe withAddress(path) { unsafe connect(client, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    private static func listen(
        _ fresh: FilePath,
        named path: FilePath
    ) throws(ControlError) -> (descriptor: Int32, Identity) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        guard unsafe withAddress(fresh, { unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe chmod(fresh.string, 0o660) == 0, Glibc.listen(descriptor, 64) == 0,
            let identity = identity(of: fresh)
        else {
            let error = Errno(rawValue: errno)
            close(descriptor)
            throw .cannotListen(path, error)
        }
        return (descriptor, identity)
    }

    private static func identity(of path: FilePath) -> Identity? {
        var found = stat()
        guard unsafe lstat(path.string, &found) == 0 else { return nil }
        return Identity(device: found.st_dev, inode: found.st_ino)
    }

    private static func withAddress(
        _ path: FilePath,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (index, byte) in path.string.utf8.enumerated() { unsafe field[index] = byte }
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
