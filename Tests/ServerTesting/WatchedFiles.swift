package import Linux
import NIOConcurrencyHelpers
package import PatchStore
package import SystemPackage

/// A disk of which a test is told just before each file is opened to be read and each folder is listed, and may hold the
/// reader up there.
package struct WatchedFiles: FileOperations {
    package enum Moment: Equatable, Sendable {
        case opening(FilePath)
        case listing(FilePath)
    }

    private let disk: any FileOperations
    private let reached: @Sendable (Moment) -> Void

    package init(_ disk: any FileOperations = DiskFiles(), _ reached: @escaping @Sendable (Moment) -> Void) {
        self.disk = disk
        self.reached = reached
    }

    package func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader {
        reached(.opening(path))
        return try disk.open(path, limit: limit)
    }

    package func list(_ directory: FilePath) throws(FileError) -> [String] {
        reached(.listing(directory))
        return try disk.list(directory)
    }

    package func status(of path: FilePath) throws(FileError) -> FileStatus? { try disk.status(of: path) }

    package func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?] {
        try disk.identities(of: paths, below: root)
    }

    package func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError) {
        try disk.write(bytes, to: path, permissions: permissions)
    }

    package func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter {
        try disk.create(path, permissions: permissions)
    }

    package func append(to path: FilePath) throws(FileError) -> any FileWriter { try disk.append(to: path) }

    package func rename(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try disk.rename(source, to: destination)
    }

    package func link(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try disk.link(source, to: destination)
    }

    package func remove(_ path: FilePath) throws(FileError) { try disk.remove(path) }
    package func removeTree(_ path: FilePath) throws(FileError) { try disk.removeTree(path) }

    package func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError) {
        try disk.setPermissions(permissions, of: path)
    }

    package func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try disk.makeDirectory(path, permissions: permissions)
    }

    package func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try disk.addDirectory(path, permissions: permissions)
    }

    package func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch {
        try disk.beginBatch(on: directory)
    }
    package func syncDirectory(_ directory: FilePath) throws(FileError) { try disk.syncDirectory(directory) }
}

/// Somebody else who gets a word in, once, just before a moment of a watched disk.
package final class Interruption: Sendable {
    private let moment: WatchedFiles.Moment
    private let work: NIOLockedValueBox<(@Sendable () throws -> Void)?>
    private let failure = NIOLockedValueBox<(any Error)?>(nil)

    package init(before moment: WatchedFiles.Moment, _ work: @escaping @Sendable () throws -> Void) {
        self.moment = moment
        self.work = NIOLockedValueBox(work)
    }

    /// Whether the moment came, and the word was said without an error.
    package var happened: Bool {
        get throws {
            if let error = failure.withLockedValue({ $0 }) { throw error }
            return work.withLockedValue { $0 == nil }
        }
    }

    package func watch(_ disk: any FileOperations) -> WatchedFiles {
        WatchedFiles(disk) { [self] reached in
            guard reached == moment else { return }
            let work = work.withLockedValue { work in
                defer { work = nil }
                return work
            }
            do { try work?() } catch { failure.withLockedValue { $0 = error } }
        }
    }
}
