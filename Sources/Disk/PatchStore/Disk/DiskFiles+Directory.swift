import Glibc
import SystemPackage

/// Works on directories by descriptor, so that none can be replaced by a symbolic link between two calls.
extension DiskFiles {
    static func openDirectory(
        _ path: FilePath,
        during operation: FileError.Operation
    ) throws(FileError) -> OwnedDescriptor {
        try open(path, .readOnly, [.directory], during: operation)
    }

    static func openDirectory(
        _ name: DirectoryName,
        in directory: borrowing OwnedDescriptor,
        _ path: FilePath
    ) throws(FileError) -> OwnedDescriptor {
        let parent = directory.descriptor.rawValue
        let descriptor = try retrying(.remove, path) {
            unsafe openat(parent, name.bytes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        return OwnedDescriptor(FileDescriptor(rawValue: descriptor))
    }

    /// The names in an open directory without `.` and `..`.
    static func names(
        in directory: borrowing OwnedDescriptor,
        _ path: FilePath,
        during operation: FileError.Operation
    ) throws(FileError) -> [DirectoryName] {
        // closedir(3) closes the descriptor given to fdopendir(3), so it receives a separate one.
        let parent = directory.descriptor.rawValue
        let own = try retrying(operation, path) { unsafe openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = unsafe fdopendir(own) else { throw FileError(Errno(rawValue: errno), operation, path) }
        defer { unsafe closedir(stream) }
        var names: [DirectoryName] = []
        while true {
            // Only errno distinguishes the end from an error (readdir(3)).
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe DirectoryName($0) }
            if !name.isDots { names.append(name) }
        }
        guard errno == 0 else { throw FileError(Errno(rawValue: errno), operation, path) }
        return names
    }

    static func unlink(
        _ name: DirectoryName,
        in directory: borrowing OwnedDescriptor,
        _ path: FilePath,
        flags: CInt
    ) throws(FileError) {
        let parent = directory.descriptor.rawValue
        try retrying(.remove, path) { unsafe unlinkat(parent, name.bytes, flags) }
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

/// The name of an entry as the kernel stores it: any bytes except slash and NUL, UTF-8 or not.
struct DirectoryName {
    /// The bytes, with a NUL at the end.
    let bytes: [CChar]

    /// - Parameter field: `d_name` of readdir(3), which ends with a NUL.
    init(_ field: UnsafeRawBufferPointer) {
        bytes = unsafe field.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
    }

    var isDots: Bool { text == "." || text == ".." }

    /// The bytes without the NUL.
    ///
    /// They are UTF-8, unless another program chose otherwise.
    var utf8: [UInt8] { bytes.dropLast().map { UInt8(bitPattern: $0) } }

    /// The text for display, and for names that this program has chosen.
    var text: String { String(decoding: utf8, as: UTF8.self) }
}
