package import SystemPackage

/// A failed file operation, named by the caller's options.
///
/// An operation on two paths names the destination, or the source if that is missing.
package enum FileError: Error, Equatable, Sendable {
    /// The operation that failed.
    package enum Operation: String, Sendable {
        case append, create, inspect, link, list, lock, makeDirectory, read, remove, rename, setPermissions, sync, write
        case watch
    }

    case notFound(Operation, FilePath)
    /// The path of a new file exists already.
    case exists(Operation, FilePath)
    /// No space, no inodes or no quota left.
    case noSpace(Operation, FilePath)
    /// The file system is mounted read-only.
    case readOnly(Operation, FilePath)
    case permission(Operation, FilePath)
    /// The file exceeds the reader's `limit` in bytes.
    case tooLarge(FilePath, limit: Int)
    /// A symbolic link, directory, pipe or device in place of a file.
    case notRegular(Operation, FilePath)
    /// The path exists but is not a directory.
    case notDirectory(Operation, FilePath)
    /// No hard link can be made: the paths are on different file systems, links are not supported, or the file has too many.
    case cannotLink(FilePath, Errno)
    /// All other errors, mostly of the hardware.
    case io(Operation, FilePath, Errno)

    /// link(2) returns EPERM if the file system has no hard links.
    private static let noHardLink: [Errno] = [.improperLink, .tooManyLinks, .notPermitted, .notSupported]

    /// The errors of inotify(7) at one of its limits.
    private static let watchLimits: [Errno] = [.noSpace, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory]

    package init(_ errno: Errno, _ operation: Operation, _ path: FilePath) {
        switch errno {
        // inotify_add_watch(2) returns ENOSPC at its limit.
        case _ where operation == .watch: self = .io(.watch, path, errno)
        case _ where operation == .link && Self.noHardLink.contains(errno): self = .cannotLink(path, errno)
        case .noSuchFileOrDirectory: self = .notFound(operation, path)
        case .fileExists, .directoryNotEmpty: self = .exists(operation, path)
        case .noSpace, .diskQuotaExceeded: self = .noSpace(operation, path)
        case .readOnlyFileSystem: self = .readOnly(operation, path)
        case .permissionDenied, .notPermitted: self = .permission(operation, path)
        // O_NOFOLLOW returns ELOOP for a symbolic link (open(2)).
        case .tooManySymbolicLinkLevels, .isDirectory: self = .notRegular(operation, path)
        case .notDirectory: self = .notDirectory(operation, path)
        default: self = .io(operation, path, errno)
        }
    }
}

extension FileError: CustomStringConvertible {
    package var description: String {
        switch self {
        // Searched only when an error is printed, because most missing files are not an error for their caller.
        case .notFound(let operation, let path) where BrokenLink(onTheWayTo: path) != nil,
            .notRegular(let operation, let path) where BrokenLink(onTheWayTo: path) != nil,
            .notDirectory(let operation, let path) where BrokenLink(onTheWayTo: path) != nil,
            .exists(let operation, let path) where BrokenLink(onTheWayTo: path) != nil:
            "\(operation.phrase) \(path): \(BrokenLink(onTheWayTo: path)?.description ?? "")"
        case .notFound(let operation, let path): "\(operation.phrase) \(path): it does not exist"
        case .exists(let operation, let path): "\(operation.phrase) \(path): it already exists"
        case .noSpace(let operation, let path): "\(operation.phrase) \(path): the disk is full"
        case .readOnly(let operation, let path): "\(operation.phrase) \(path): the file system is read-only"
        case .permission(let operation, let path): "\(operation.phrase) \(path): permission denied"
        case .tooLarge(let path, let limit): "cannot read \(path): it is larger than \(limit) bytes"
        case .notRegular(let operation, let path): "\(operation.phrase) \(path): it is not a regular file"
        case .notDirectory(let operation, let path): "\(operation.phrase) \(path): it is not in or not a directory"
        case .cannotLink(let path, let errno): "cannot make the hard link \(path): \(errno)"
        case .io(.watch, let path, let errno) where FileError.watchLimits.contains(errno):
            "cannot watch \(path) for changes: \(errno) (sysctl fs.inotify)"
        case .io(.watch, let path, let errno): "cannot watch \(path) for changes: \(errno)"
        case .io(let operation, let path, let errno): "\(operation.phrase) \(path): \(errno)"
        }
    }
}

extension FileError.Operation {
    fileprivate var phrase: String {
        switch self {
        case .append: "cannot append to"
        case .create, .write: "cannot write"
        case .inspect: "cannot look at"
        case .link: "cannot make the hard link"
        case .list: "cannot list"
        case .lock: "cannot lock"
        case .makeDirectory: "cannot make the directory"
        case .read: "cannot read"
        case .remove: "cannot remove"
        case .rename: "cannot rename to"
        case .setPermissions: "cannot set the permissions of"
        case .sync: "cannot make durable"
        case .watch: "cannot watch"
        }
    }
}
