package import Linux
package import SystemPackage

/// The durable operations on a disk.
///
/// Each one documents the state of the disk afterwards. *Durable* means: preserved after a power failure. Syncing a file makes
/// its content and permissions durable; syncing its directory makes its name durable. Anything that is not durable yet may
/// survive a power failure completely, in part, or not at all. When an operation throws, any part of it may have happened.
///
/// Paths are absolute. No operation follows a symbolic link in the last component of a path. Calls block.
package protocol FileOperations: Sendable {
    /// Opens a regular file for reading from start to end.
    ///
    /// - Throws: `tooLarge` if the file has more than `limit` bytes, `notRegular` if it is not a regular file.
    func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader

    /// The bytes of a regular file of at most `limit` bytes.
    ///
    /// - Throws: the errors of ``open(_:limit:)`` and its reader.
    func read(_ path: FilePath, limit: Int) throws(FileError) -> [UInt8]

    /// The kind and size of `path` itself (lstat); nil if it does not exist.
    func status(of path: FilePath) throws(FileError) -> FileStatus?

    /// The identities of the regular files at these paths below `root`, as ``status(of:)`` returns them; nil for each missing
    /// file.
    ///
    /// Made for checks of thousands of files.
    func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?]

    /// The names in a directory without `.` and `..`, sorted by their bytes.
    func list(_ directory: FilePath) throws(FileError) -> [String]

    /// The names as bytes, in any order. Names that are not UTF-8 differ from those of ``list(_:)``.
    func nameBytes(in directory: FilePath) throws(FileError) -> [[UInt8]]

    /// Creates a file with these bytes and exactly these permissions, regardless of the umask.
    ///
    /// Afterwards content and permissions are durable, the name is not. After an error, a part of the file may remain.
    /// - Throws: `exists` if `path` exists.
    func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError)

    /// Creates an empty file to append to. Nothing is durable before ``FileWriter/finish()``.
    ///
    /// - Throws: `exists` if `path` exists.
    func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter

    /// Opens an existing regular file for appending.
    func append(to path: FilePath) throws(FileError) -> any FileWriter

    /// Renames `source` to `destination` atomically, replacing a file of that name.
    ///
    /// Afterwards both directories have changed, but not durably. After a power failure the file may have either name, or both.
    /// If both names already refer to one file, both remain (rename(2)).
    func rename(_ source: FilePath, to destination: FilePath) throws(FileError)

    /// Adds a name to a regular file.
    ///
    /// Afterwards the name is not durable, and the file's ``FileIdentity`` has changed.
    func link(_ source: FilePath, to destination: FilePath) throws(FileError)

    /// Removes a file or a symbolic link. Its name may reappear after a power failure.
    func remove(_ path: FilePath) throws(FileError)

    /// Removes `path` and everything below it, neither durably nor atomically. A missing path is not an error.
    func removeTree(_ path: FilePath) throws(FileError)

    /// Sets the permissions of a regular file. They are durable after the next sync of the file.
    func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError)

    /// Creates a directory and its missing parents with exactly these permissions. Existing directories are unchanged.
    ///
    /// Afterwards the name of every created directory is durable. So is the name of the deepest existing one, because an
    /// interrupted call may have created it.
    func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError)

    /// Creates one directory in an existing one, with exactly these permissions. An existing directory is unchanged.
    ///
    /// Afterwards its name is not durable.
    func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError)

    /// Begins a batch of changes on the file system of `directory`. Must be called before the first change.
    func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch

    /// Makes the names in `directory`, and the files they refer to, durable.
    func syncDirectory(_ directory: FilePath) throws(FileError)

    /// The space on the file system of `folder`; nil if unknown.
    func space(at folder: FilePath) -> DiskSpace?
}

extension FileOperations {
    package func space(at folder: FilePath) -> DiskSpace? { nil }

    package func nameBytes(in directory: FilePath) throws(FileError) -> [[UInt8]] {
        try list(directory).map { Array($0.utf8) }
    }
}

/// A file that is appended to.
///
/// It is closed when the last reference is released. After an error it must not be used again; the file then contains a prefix of
/// the appended bytes.
package protocol FileWriter: AnyObject {
    /// The file's size in bytes.
    var offset: Int { get }

    /// Appends bytes, not durably.
    func append(_ bytes: [UInt8]) throws(FileError)

    /// Sets the permissions of the file, not durably.
    func setPermissions(_ permissions: FilePermissions) throws(FileError)

    /// Syncs and closes the file. Afterwards content and permissions are durable, the name is not.
    func finish() throws(FileError)

    /// Closes the file. Nothing is durable before a ``FileBatch/sync()``.
    func close() throws(FileError)
}

/// Many changes of one file system that become durable together, with a single wait.
package protocol FileBatch: AnyObject, Sendable {
    /// Makes all changes of contents, permissions and names on the file system durable, including those of other processes
    /// (syncfs(2)).
    ///
    /// If it throws, any part of these may be durable, and files written since the batch began may be damaged. Linux before 5.8
    /// does not report a medium's errors here.
    func sync() throws(FileError)
}

/// A file that is read once, piece by piece.
///
/// It is closed when the last reference is released.
package protocol FileReader: AnyObject {
    /// The next bytes, at most 256 KiB and never an empty piece; nil at the end.
    ///
    /// - Throws: `tooLarge` when there are more bytes than the reader was opened for, because the file may have grown.
    func next() throws(FileError) -> [UInt8]?
}

extension FileOperations {
    /// Passes the bytes of a regular file to `body`, at most 256 KiB at a time and never an empty piece.
    ///
    /// - Throws: `tooLarge` when there are more than `limit` bytes, `notRegular` if it is not a regular file, and any error of
    ///   `body`.
    package func readChunks(
        _ path: FilePath,
        limit: Int,
        _ body: ([UInt8]) throws(FileError) -> Void
    ) throws(FileError) {
        let reader = try open(path, limit: limit)
        while let chunk = try reader.next() { try body(chunk) }
    }

    package func read(_ path: FilePath, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        try readChunks(path, limit: limit) { bytes += $0 }
        return bytes
    }

    package func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?] {
        var found: [FileIdentity?] = []
        found.reserveCapacity(paths.count)
        for path in paths {
            let status = try status(of: root.at(path))
            found.append(status?.kind == .file ? status?.identity : nil)
        }
        return found
    }

    /// The identity of the file at `path`; nil if it does not exist.
    package func identity(of path: FilePath) throws(FileError) -> FileIdentity? {
        try status(of: path)?.identity
    }

    package func write(_ bytes: [UInt8], to path: FilePath) throws(FileError) {
        try write(bytes, to: path, permissions: .privateFile)
    }

    package func makeDirectory(_ path: FilePath) throws(FileError) {
        try makeDirectory(path, permissions: .privateDirectory)
    }

    package func addDirectory(_ path: FilePath) throws(FileError) {
        try addDirectory(path, permissions: .privateDirectory)
    }

    /// Checks every component of the path to a folder, so that nothing is written behind a link in place of a folder.
    ///
    /// - Parameters:
    ///   - path: `root` or a path below it.
    ///   - root: Checked too. Its parent folders are not checked: their owner may have linked them.
    /// - Throws: `notDirectory` for the first component that exists but is not a directory.
    package func checkFolders(to path: FilePath, from root: FilePath) throws(FileError) {
        var folder = root
        // Compares the text: see `at(_:)`.
        var rest = path.string.dropFirst(root.string.count).split(separator: "/")[...]
        while true {
            guard let status = try status(of: folder) else { return }
            guard status.kind == .directory else { throw .notDirectory(.makeDirectory, folder) }
            guard let next = rest.popFirst() else { return }
            folder = folder.at(String(next))
        }
    }

    /// Removes a file if it exists.
    package func removeIfPresent(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try remove(path)
        } catch .notFound {
            return
        }
    }
}
