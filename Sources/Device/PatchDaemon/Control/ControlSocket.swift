import Glibc
import PatchStore
import SystemPackage

/// A listening socket with a name in the file system.
///
/// When it is released, the name is removed, unless it belongs to another socket by then.
///
/// The permissions of the folder determine which users may connect (unix(7)). The socket itself has mode 0660.
final class ControlSocket: Sendable {
    /// The descriptor.
    ///
    /// ``FileServer`` takes it over and closes it.
    let descriptor: Int32
    let path: FilePath
    private let identity: Identity
    /// An open descriptor of the socket's name, which prevents reuse of the inode number.
    private let inode: Int32

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// The longest path in `sockaddr_un`, without the terminating zero byte.
    static let longestPath = 107

    /// Creates the folder with mode 0750 if it is missing, and replaces a socket without a listener.
    ///
    /// Never blocks. Links in the folder's path are followed. A link in place of the socket is not.
    ///
    /// - Throws: `locked` while another process creates the socket. Try again then.
    init(_ named: FilePath) throws(ControlError) {
        let path = FilePath(replacing: named.string)
        guard path.string.utf8.count <= Self.longestPath else {
            throw .pathTooLong(path, limit: Self.longestPath)
        }
        let files = DiskFiles()
        do throws(FileError) {
            try files.makeDirectory(path.removingLastComponent(), permissions: FilePermissions(rawValue: 0o750))
        } catch { throw .file(error) }
        let lock = try SocketLock(path)
        switch try Self.owner(of: path) {
        case .none: break
        case .abandoned: do throws(FileError) { try files.remove(path) } catch { throw .file(error) }
        case .answering: throw .answered(path)
        }
        (descriptor, identity) = try Self.listen(path)
        self.path = path
        inode = unsafe Glibc.open(path.string, Self.onlyName | O_NOFOLLOW | O_CLOEXEC)
        withExtendedLifetime(lock) {}
    }

    deinit {
        if exists { try? DiskFiles().remove(path) }
        if inode >= 0 { close(inode) }
    }

    /// O_PATH (open(2)), which opens the name of a socket without connecting to it.
    private static let onlyName: Int32 = 0o10_000_000

    /// Whether the name still belongs to this socket.
    var exists: Bool { Self.identity(of: path) == identity }

    private enum Owner {
        case none, abandoned, answering
    }

    private static func owner(of path: FilePath) throws(ControlError) -> Owner {
        var found = stat()
        guard unsafe lstat(path.string, &found) == 0 else {
            guard errno == ENOENT else { throw .cannotListen(path, Errno(rawValue: errno)) }
            return .none
        }
        guard found.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
        // Non-blocking, because connecting to a listener that does not accept would block indefinitely.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let client = socket(AF_UNIX, Int32(type), 0)
        guard client >= 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        defer { close(client) }
        // Every other error, for example EAGAIN of a full queue, means that a process listens.
        let isRefused = unsafe withAddress(path) { unsafe connect(client, $0, $1) } != 0 && errno == ECONNREFUSED
        return isRefused ? .abandoned : .answering
    }

    private static func listen(_ path: FilePath) throws(ControlError) -> (descriptor: Int32, Identity) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        // The socket is bound under its final name: systemd-tmpfiles compares names with /proc/net/unix, which keeps the name of
        // bind(2), and removes a renamed socket as dead. The mode is set before, so that no other user can connect between the two
        // calls, and again after, because bind(2) applies the umask.
        guard fchmod(descriptor, 0o660) == 0,
            unsafe withAddress(path, { unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe chmod(path.string, 0o660) == 0, Glibc.listen(descriptor, 64) == 0,
            let identity = identity(of: path)
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

/// Allows one process at a time to create the socket of a path.
///
/// `PATH.lock` is a file of mode 0600, because every user who may read the folder could lock the folder itself.
struct SocketLock: ~Copyable {
    private let descriptor: Int32

    /// - Throws: `locked` while another process has the lock.
    init(_ socket: FilePath) throws(ControlError) {
        let path = FilePath("\(socket.string).lock")
        // Non-blocking, because a pipe in its place has no reader.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let descriptor = unsafe Glibc.open(path.string, flags, 0o600)
        guard descriptor >= 0 else { throw .cannotListen(path, Errno(rawValue: errno)) }
        var (opened, named) = (stat(), stat())
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = Errno(rawValue: errno)
            close(descriptor)
            throw error == .wouldBlock ? .locked(path) : .cannotListen(path, error)
        }
        // A lock on a file that was removed in the meantime does not exclude other processes.
        guard unsafe fstat(descriptor, &opened) == 0, unsafe lstat(path.string, &named) == 0,
            opened.st_dev == named.st_dev, opened.st_ino == named.st_ino
        else {
            close(descriptor)
            throw .locked(path)
        }
        self.descriptor = descriptor
    }

    deinit {
        // Closing is not enough: a child that was just forked has the file open as well.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
