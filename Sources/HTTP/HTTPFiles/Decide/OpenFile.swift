import Linux
import Glibc
import NIOCore
import NIOPosix
import SystemPackage

/// Why a file could not be opened or read.
enum OpenFileError: Error, Equatable, Sendable {
    /// The file does not exist or is never served: a symlink, a folder, a device, a path outside its root.
    case notFound
    case failed(Errno)
    /// The file became shorter while it was read.
    case shrank
}

extension OpenFileError: CustomStringConvertible {
    var description: String {
        switch self {
        case .notFound: "it does not exist, or is not a regular file below its folder"
        case .failed(let error): "\(error)"
        case .shrank: "it became shorter while it was read"
        }
    }
}

/// A regular file that is opened once.
///
/// The measured file is the one that is read, regardless of later changes to its name.
///
/// This file is the module's disk adapter. It is a class because the reading thread shares the descriptor with the waiting
/// connection; the last reference closes it.
final class OpenFile: Sendable {
    /// The identity at the time of opening.
    let identity: FileIdentity
    /// The size in bytes at the time of opening.
    var size: Int { identity.size }
    /// The last modification, since 1970.
    var modified: Duration { .nanoseconds(identity.modified) }

    private let descriptor: FileDescriptor
    /// Ends with the last reader.
    private let lease: Lease?

    /// Opens `path`.
    ///
    /// With a `root`, it is opened name by name below it, without following symlinks.
    ///
    /// Without a root, only the last name must not be a symlink. The caller is responsible for the folders before it.
    init(_ path: FilePath, below root: FilePath?, lease: Lease? = nil) throws(OpenFileError) {
        let descriptor =
            if let root {
                try Self.open(path, below: root)
            } else {
                try Self.open(path.string, in: AT_FDCWD, as: .file)
            }
        var facts = stat()
        guard unsafe fstat(descriptor.rawValue, &facts) == 0 else {
            let reason = Errno(rawValue: errno)
            try? descriptor.close()
            throw .failed(reason)
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            try? descriptor.close()
            throw .notFound
        }
        identity = FileIdentity(facts)
        self.descriptor = descriptor
        self.lease = lease
    }

    deinit {
        try? descriptor.close()
    }

    /// The file's present identity, or nil if the system cannot read it.
    var currentIdentity: FileIdentity? {
        var facts = stat()
        return unsafe fstat(descriptor.rawValue, &facts) == 0 ? FileIdentity(facts) : nil
    }

    /// The handle for `sendfile`.
    ///
    /// This object keeps the ownership of the descriptor: take it back from the handle, and never close the handle.
    var handle: NIOFileHandle { NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor.rawValue) }

    /// Reads exactly the bytes of `range` into one buffer that begins with `prefix`.
    ///
    /// - Throws: ``OpenFileError/shrank`` if the file ends before the range does.
    func read(_ range: Range<Int>, after prefix: ByteBuffer) throws(OpenFileError) -> ByteBuffer {
        var buffer = prefix
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = range.upperBound - offset
            let count: Int
            do {
                count = try unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { space in
                    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: space[..<wanted])
                    return try unsafe descriptor.read(fromAbsoluteOffset: Int64(offset), into: target)
                }
            } catch {
                throw .failed(error as? Errno ?? .ioError)
            }
            if count == 0 { throw .shrank }
            offset += count
        }
        return buffer
    }

    // NIOCore has a protocol of this name, deprecated.
    private typealias FileDescriptor = SystemPackage.FileDescriptor

    private enum Kind {
        case folder
        case file

        /// O_NONBLOCK: opening a named pipe must not wait for its other end.
        var flags: CInt {
            switch self {
            case .folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            case .file: O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC
            }
        }
    }

    private static func open(_ path: FilePath, below root: FilePath) throws(OpenFileError) -> FileDescriptor {
        guard let names = names(of: path, below: root), let last = names.last else { throw .notFound }
        // The root itself is the operator's and may be a symlink: "/." lets it be followed.
        var folder = try open(root.string + "/.", in: AT_FDCWD, as: .folder)
        defer { try? folder.close() }
        for name in names.dropLast() {
            let next = try open(String(name), in: folder.rawValue, as: .folder)
            try? folder.close()
            folder = next
        }
        return try open(String(last), in: folder.rawValue, as: .file)
    }

    /// Returns the names that lead from `root` to `path`, or nil if the path is not below the root or contains a special name.
    ///
    /// Computed from text, because each use of a `FilePath`'s components takes milliseconds in a debug build.
    private static func names(of path: FilePath, below root: FilePath) -> [Substring]? {
        let (path, root) = (path.string, root.string)
        let prefix = root.isEmpty || root == "/" ? root : root + "/"
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        let names = path.utf8.dropFirst(prefix.utf8.count).split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        guard names.allSatisfy({ !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }) else {
            return nil
        }
        return names.map { Substring($0) }
    }

    private static func open(_ name: String, in folder: CInt, as kind: Kind) throws(OpenFileError) -> FileDescriptor {
        while true {
            let descriptor = unsafe openat(folder, name, kind.flags)
            if descriptor >= 0 { return FileDescriptor(rawValue: descriptor) }
            switch Errno(rawValue: errno) {
            case .interrupted: continue
            // ELOOP: a symlink. ENOTDIR: a file or a symlink where a folder should be. ENXIO: a socket.
            case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong,
                .noSuchAddressOrDevice:
                throw .notFound
            case let other: throw .failed(other)
            }
        }
    }
}

/// The number of files and sockets that this process may open (getrlimit(2)).
enum DescriptorLimit {
    /// Raises the limit as far as possible without privileges, up to `wanted`.
    ///
    /// Returns the limit, or nil if it cannot be read.
    ///
    /// Many systems start a program with a limit of 1024 and allow more.
    static func raised(to wanted: Int) -> Int? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return nil }
        guard limit.rlim_cur < wanted else { return Int(clamping: limit.rlim_cur) }
        var more = limit
        more.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
        return Int(clamping: unsafe setrlimit(resource, &more) == 0 ? more.rlim_cur : limit.rlim_cur)
    }

    /// The number of connections that leaves half of all descriptors for files, upstreams and other uses.
    ///
    /// Otherwise a client could open idle connections until the process cannot open a file.
    static func connections(atMost wanted: Int, of descriptors: Int?) -> Int {
        max(1, min(wanted, (descriptors ?? .max) / 2))
    }
}
