import Glibc
import SystemPackage

/// System calls with their errors as ``FileError``, and EINTR handled.
extension DiskFiles {
    static func open(
        _ path: FilePath,
        _ mode: FileDescriptor.AccessMode,
        _ options: FileDescriptor.OpenOptions,
        permissions: FilePermissions? = nil,
        during operation: FileError.Operation
    ) throws(FileError) -> OwnedDescriptor {
        precondition(path.isAbsolute, "not an absolute path: \(path)")
        do {
            let options = options.union([.noFollow, .closeOnExec])
            return OwnedDescriptor(try FileDescriptor.open(path, mode, options: options, permissions: permissions))
        } catch {
            throw fileError(error, operation, path)
        }
    }

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

    /// The size in bytes of an open file, which must be a regular one.
    static func regularFile(
        _ file: borrowing OwnedDescriptor,
        _ path: FilePath,
        during operation: FileError.Operation
    ) throws(FileError) -> Int {
        do {
            let stat = try file.descriptor.stat()
            guard stat.type == .regular else { throw FileError.notRegular(operation, path) }
            return Int(stat.size)
        } catch {
            throw fileError(error, operation, path)
        }
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

    /// Reads up to `chunk.count` bytes; 0 is the end.
    static func read(
        _ file: borrowing OwnedDescriptor,
        into chunk: inout [UInt8],
        _ path: FilePath
    ) throws(FileError) -> Int {
        let descriptor = file.descriptor
        do {
            return try unsafe chunk.withUnsafeMutableBytes { unsafe try descriptor.read(into: $0) }
        } catch {
            throw fileError(error, .read, path)
        }
    }

    static func setPermissions(
        _ permissions: FilePermissions,
        of file: borrowing OwnedDescriptor,
        _ path: FilePath
    ) throws(FileError) {
        let descriptor = file.descriptor.rawValue
        try retrying(.setPermissions, path) { fchmod(descriptor, mode_t(permissions.rawValue)) }
    }

    /// Makes `bytes` all that an open file holds. Not durable, and not in one step.
    static func overwrite(
        _ file: borrowing OwnedDescriptor,
        with bytes: [UInt8],
        _ path: FilePath
    ) throws(FileError) {
        do {
            try file.descriptor.resize(to: 0)
            try file.descriptor.writeAll(toAbsoluteOffset: 0, bytes)
        } catch {
            throw fileError(error, .lock, path)
        }
    }

    static func sync(_ file: borrowing OwnedDescriptor, _ path: FilePath) throws(FileError) {
        let descriptor = file.descriptor.rawValue
        try retrying(.sync, path) { fsync(descriptor) }
    }

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
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            guard name != Array(".".utf8), name != Array("..".utf8) else { continue }
            let component = unsafe (name + [0]).withUnsafeBytes {
                unsafe FilePath.Component(platformString: $0.assumingMemoryBound(to: CChar.self).baseAddress!)
            }
            if let component { names.append(component) }
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

    @discardableResult
    static func retrying(
        _ operation: FileError.Operation,
        _ path: FilePath,
        _ call: () -> CInt
    ) throws(FileError) -> CInt {
        while true {
            let result = call()
            guard result == -1 else { return result }
            let reason = Errno(rawValue: errno)
            guard reason == .interrupted else { throw FileError(reason, operation, path) }
        }
    }

    /// What SystemPackage throws is an `Errno`; what is a ``FileError`` already passes.
    static func fileError(
        _ error: any Error,
        _ operation: FileError.Operation,
        _ path: FilePath
    ) -> FileError {
        switch error {
        case let error as FileError: error
        case let errno as Errno: FileError(errno, operation, path)
        default: preconditionFailure("SystemPackage threw \(error)")
        }
    }
}
