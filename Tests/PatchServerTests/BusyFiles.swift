import NIOConcurrencyHelpers
import PatchStore
import SystemPackage

/// A disk on which somebody else gets a word in, once: just before a file is opened or a folder is listed.
final class BusyFiles: FileOperations {
    enum Moment: Equatable, Sendable {
        case opening(FilePath)
        case listing(FilePath)

        /// Below the folder of an app's tree.
        enum Kind: Sendable {
            case opening(String)
            case listing(String)

            func moment(in tree: FilePath) -> Moment {
                switch self {
                case .opening(let name): .opening(tree.appending(name))
                case .listing(let name): .listing(tree.appending(name))
                }
            }
        }
    }

    private let disk: any FileOperations
    private let moment: Moment
    private let work: NIOLockedValueBox<(@Sendable () throws -> Void)?>

    init(_ disk: any FileOperations, before moment: Moment, _ work: @escaping @Sendable () throws -> Void) {
        self.disk = disk
        self.moment = moment
        self.work = NIOLockedValueBox(work)
    }

    var wasBusy: Bool { work.withLockedValue { $0 == nil } }

    private func reached(_ moment: Moment) throws(FileError) {
        guard moment == self.moment else { return }
        let work = work.withLockedValue { work in
            defer { work = nil }
            return work
        }
        do { try work?() } catch { throw .io(.read, FilePath("\(error)"), .ioError) }
    }

    func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader {
        try reached(.opening(path))
        return try disk.open(path, limit: limit)
    }

    func list(_ directory: FilePath) throws(FileError) -> [String] {
        try reached(.listing(directory))
        return try disk.list(directory)
    }

    func status(of path: FilePath) throws(FileError) -> FileStatus? { try disk.status(of: path) }

    func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?] {
        try disk.identities(of: paths, below: root)
    }

    func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError) {
        try disk.write(bytes, to: path, permissions: permissions)
    }

    func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter {
        try disk.create(path, permissions: permissions)
    }

    func append(to path: FilePath) throws(FileError) -> any FileWriter { try disk.append(to: path) }

    func rename(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try disk.rename(source, to: destination)
    }

    func link(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try disk.link(source, to: destination)
    }

    func remove(_ path: FilePath) throws(FileError) { try disk.remove(path) }
    func removeTree(_ path: FilePath) throws(FileError) { try disk.removeTree(path) }

    func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError) {
        try disk.setPermissions(permissions, of: path)
    }

    func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try disk.makeDirectory(path, permissions: permissions)
    }

    func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try disk.addDirectory(path, permissions: permissions)
    }

    func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch { try disk.beginBatch(on: directory) }
    func syncDirectory(_ directory: FilePath) throws(FileError) { try disk.syncDirectory(directory) }
}
