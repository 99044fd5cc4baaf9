import SystemPackage

/// Appends to an open file on the real disk.
final class DiskWriter: FileWriter {
    private let path: FilePath
    /// Nil after the file is finished.
    private var file: OwnedDescriptor?
    private(set) var offset: Int
    private let operation: FileError.Operation

    init(
        creating path: FilePath,
        permissions: FilePermissions,
        during operation: FileError.Operation
    ) throws(FileError) {
        let file = try DiskFiles.open(
            path,
            .writeOnly,
            [.create, .exclusiveCreate],
            permissions: permissions,
            during: operation
        )
        // open(2) applies the umask to the requested permissions.
        try DiskFiles.setPermissions(permissions, of: file.descriptor, path)
        self.path = path
        self.file = consume file
        self.operation = operation
        offset = 0
    }

    init(reopening path: FilePath) throws(FileError) {
        let file = try DiskFiles.open(path, .writeOnly, [.append, .nonBlocking], during: .append)
        offset = try DiskFiles.regularFile(file, path, during: .append)
        self.path = path
        self.file = consume file
        operation = .append
    }

    func append(_ bytes: [UInt8]) throws(FileError) {
        guard let descriptor = file?.descriptor else { preconditionFailure("append to a finished file") }
        do {
            // Repeats short and interrupted writes.
            try descriptor.writeAll(bytes)
        } catch {
            throw DiskFiles.fileError(error, operation, path)
        }
        offset += bytes.count
    }

    func setPermissions(_ permissions: FilePermissions) throws(FileError) {
        guard let descriptor = file?.descriptor else { preconditionFailure("permissions of a finished file") }
        try DiskFiles.setPermissions(permissions, of: descriptor, path)
    }

    func finish() throws(FileError) {
        guard let file = file.take() else { preconditionFailure("a file was finished twice") }
        try DiskFiles.sync(file, path)
    }

    func close() throws(FileError) {
        guard let file = file.take() else { preconditionFailure("a file was finished twice") }
        // Some network file systems report a full disk only at close.
        do { try file.close() } catch { throw DiskFiles.fileError(error, operation, path) }
    }
}
