import Glibc
import SystemPackage

/// Directories by descriptor, so that none can be exchanged for a symbolic link between two calls.
extension DiskFiles {
    static func openDirectory(
        _ path: FilePath,
        during operation: FileError.Operation
    ) throws(FileError) -> OwnedDescriptor {
        try open(path, .readOnly, [.directory], during: operation)
    }

    static func openDirectory(
        _ name: FilePath.Component,
        in directory: borrowing OwnedDescriptor,
        _ path: FilePath
    ) throws(FileError) -> OwnedDescriptor {
        let parent = directory.descriptor.rawValue
        let descriptor = try retrying(.remove, path) {
            unsafe name.withPlatformString {
                unsafe openat(parent, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
        }
        return OwnedDescriptor(FileDescriptor(rawValue: descriptor))
    }

    /// The names in an open directory without `.` and `..`.
    static func names(
        in directory: borrowing OwnedDescriptor,
        _ path: FilePath,
        during operation: FileError.Operation
    ) throws(FileError) -> [FilePath.Component] {
        // closedir(3) closes what fdopendir(3) was given, so it is given a descriptor of its own.
        let parent = directory.descriptor.rawValue
        let own = try retrying(operation, path) { unsafe openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = unsafe fdopendir(own) else { throw FileError(Errno(rawValue: errno), operation, path) }
        defer { unsafe closedir(stream) }
        var names: [FilePath.Component] = []
        while true {
            // Only errno tells the end from an error (readdir(3)).
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe $0.bindMemory(to: CChar.self).baseAddress.flatMap {
                    unsafe FilePath.Component(platformString: $0)
                }
            }
            if let name, name.kind == .regular { names.append(name) }
        }
        guard errno == 0 else { throw FileError(Errno(rawValue: errno), operation, path) }
        return names
    }

    static func unlink(
        _ name: FilePath.Component,
        in directory: borrowing OwnedDescriptor,
        _ path: FilePath,
        flags: CInt
    ) throws(FileError) {
        let parent = directory.descriptor.rawValue
        try retrying(.remove, path) { unsafe name.withPlatformString { unsafe unlinkat(parent, $0, flags) } }
    }

    static func isDirectory(_ path: FilePath) throws(FileError) -> Bool {
        do {
            guard try path.stat().type == .directory else { throw FileError.notDirectory(.makeDirectory, path) }
            return true
        } catch Errno.noSuchFileOrDirectory {
            return false
        } catch {
            throw fileError(error, .makeDirectory, path)
        }
    }
}
