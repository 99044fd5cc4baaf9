import Glibc
import SystemPackage

/// System calls that report errors as ``FileError`` and repeat after EINTR.
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

    /// Reads at most `count` bytes; none at the end.
    static func read(
        _ file: borrowing OwnedDescriptor,
        upTo count: Int,
        _ path: FilePath
    ) throws(FileError) -> [UInt8] {
        let descriptor = file.descriptor
        do {
            return try unsafe [UInt8](unsafeUninitializedCapacity: count) { space, initialized in
                initialized = unsafe try descriptor.read(into: UnsafeMutableRawBufferPointer(space))
            }
        } catch {
            throw fileError(error, .read, path)
        }
    }

    static func setPermissions(
        _ permissions: FilePermissions,
        of file: FileDescriptor,
        _ path: FilePath
    ) throws(FileError) {
        try retrying(.setPermissions, path) { fchmod(file.rawValue, mode_t(permissions.rawValue)) }
    }

    /// Replaces the content of an open file with `bytes`, neither durably nor atomically.
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

    /// Converts an error of SystemPackage, an `Errno`, and returns a ``FileError`` unchanged.
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
