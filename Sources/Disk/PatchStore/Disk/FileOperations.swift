package import Linux
package import SystemPackage

/// The durable operations on a disk; each says what is on the disk afterwards.
///
/// *Durable* means: still there after a power cut. Syncing a file makes its content and permissions durable; syncing
/// its directory makes its name durable. Anything not durable yet may survive a power cut whole, in part, or not at
/// all. When an operation throws, any part of it may have happened.
///
/// Paths are absolute. No operation follows a symbolic link in the last component of a path. Calls block.
package protocol FileOperations: Sendable {
    /// Opens a regular file to be read from its start to its end.
    ///
    /// - Throws: `tooLarge` when there are more than `limit` bytes, `notRegular` for all but a regular file.
    func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader

    /// The bytes of a regular file of at most `limit` bytes.
    ///
    /// - Throws: as ``open(_:limit:)`` and its reader.
    func read(_ path: FilePath, limit: Int) throws(FileError) -> [UInt8]

    /// The kind and size of `path` itself (lstat); nil when it does not exist.
    func status(of path: FilePath) throws(FileError) -> FileStatus?

    /// The identity of the regular file at each of these paths below `root`, as ``status(of:)`` gives it; nil where
    /// there is none.
    ///
    /// For checks of thousands of files.
    func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?]

    /// The names in a directory without `.` and `..`, sorted by their bytes.
    func list(_ directory: FilePath) throws(FileError) -> [String]

    /// The same as bytes, in any order: names that are not UTF-8 differ from those of ``list(_:)``.
    func nameBytes(in directory: FilePath) throws(FileError) -> [[UInt8]]

    /// Makes a new file with these bytes and exactly these permissions, whatever the umask.
    ///
    /// Afterwards: content and permissions are durable, the name is not. An error may leave a part of the file.
    /// - Throws: `exists` when `path` exists.
    func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError)

    /// Makes a new, empty file to append to. Afterwards: nothing is durable before ``FileWriter/finish()``.
    ///
    /// - Throws: `exists` when `path` exists.
    func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter

    /// Opens an existing regular file to append to, at its end.
    func append(to path: FilePath) throws(FileError) -> any FileWriter

    /// Renames `source` to `destination` in one step, replacing a file that has that name.
    ///
    /// Afterwards: both directories changed, neither durably. After a power cut the file may have the one name, the
    /// other, or both. When both already name one file, both stay (rename(2)).
    func rename(_ source: FilePath, to destination: FilePath) throws(FileError)

    /// Gives a regular file one more name. Afterwards: the name is not durable; the file's ``FileIdentity`` has
    /// changed.
    func link(_ source: FilePath, to destination: FilePath) throws(FileError)

    /// Removes a file or a symbolic link. Afterwards: the name may come back after a power cut.
    func remove(_ path: FilePath) throws(FileError)

    /// Removes `path` and everything below it; a missing path is no error. Not durable, and not in one step.
    func removeTree(_ path: FilePath) throws(FileError)

    /// Sets the permissions of a regular file. Afterwards: durable with the next sync of the file.
    func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError)

    /// Makes a directory and its missing parents with exactly these permissions; leaves existing ones unchanged.
    ///
    /// Afterwards: the name of every directory made is durable, and so is that of the deepest one that existed, because
    /// an interrupted call may have made it.
    func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError)

    /// Makes one directory in an existing one, with exactly these permissions; leaves an existing one unchanged.
    ///
    /// Afterwards: its name is not durable.
    func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError)

    /// Begins a batch of changes on the file system that holds `directory`; call it before the first of them.
    func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch

    /// Makes the names in `directory`, and the files that they lead to, durable.
    func syncDirectory(_ directory: FilePath) throws(FileError)

    /// The room on the file system of `folder`; nil if that is unknown.
    func space(at folder: FilePath) -> DiskSpace?
}

extension FileOperations {
    package func space(at folder: FilePath) -> DiskSpace? { nil }

    package func nameBytes(in directory: FilePath) throws(FileError) -> [[UInt8]] {
        try list(directory).map { Array($0.utf8) }
    }
}

/// A file that grows at its end.
///
/// It closes when the last reference goes. After an error it must not be used again; the file holds some prefix of the
/// appended bytes.
package protocol FileWriter: AnyObject {
    /// The file's size in bytes.
    var offset: Int { get }

    /// Afterwards: not durable.
    func append(_ bytes: [UInt8]) throws(FileError)

    /// Sets the permissions of the file. Afterwards: not durable.
    func setPermissions(_ permissions: FilePermissions) throws(FileError)

    /// Syncs and closes. Afterwards: content and permissions are durable, the name is not.
    func finish() throws(FileError)

    /// Closes. Afterwards: nothing is durable before a ``FileBatch/sync()``.
    func close() throws(FileError)
}

/// Many changes of one file system that become durable together, at the cost of one wait.
package protocol FileBatch: AnyObject, Sendable {
    /// Makes every content, permission and name changed on the file system by now, by any process, durable (syncfs(2)).
    /// When it throws, any part of these may be durable, and files written since the batch began may be damaged.
    ///
    /// Linux before 5.8 does not report a medium's errors here.
    func sync() throws(FileError)
}

/// A file that is read once, piece by piece.
///
/// It closes when the last reference goes.
package protocol FileReader: AnyObject {
    /// The next bytes, at most 256 KiB and never an empty piece; nil at the end.
    ///
    /// - Throws: `tooLarge` as soon as there are more bytes than the reader was opened for: the file may have grown.
    func next() throws(FileError) -> [UInt8]?
}

extension FileOperations {
    /// Hands the bytes of a regular file to `body`, at most 256 KiB at a time and never an empty piece.
    ///
    /// - Throws: `tooLarge` as soon as there are more than `limit` bytes, `notRegular` for all but a regular file, and
    ///   any error of `body`.
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

    /// The identity of the file at `path`; nil when there is none.
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

    /// Checks every component on the way to a folder, so that nothing is written behind a link in a folder's place.
    ///
    /// - Parameters:
    ///   - path: `root`, or below it.
    ///   - root: checked too; the folders above it are their owner's business.
    /// - Throws: `notDirectory` for the first that is neither missing nor a directory.
    package func checkFolders(to path: FilePath, from root: FilePath) throws(FileError) {
        var folder = root
        // By its text: see `at(_:)`.
        var rest = path.string.dropFirst(root.string.count).split(separator: "/")[...]
        while true {
            guard let status = try status(of: folder) else { return }
            guard status.kind == .directory else { throw .notDirectory(.makeDirectory, folder) }
            guard let next = rest.popFirst() else { return }
            folder = folder.at(String(next))
        }
    }

    /// Removes a file that may be missing.
    package func removeIfPresent(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try remove(path)
        } catch .notFound {
            return
        }
    }
}
