import PatchStore
import SystemPackage

/// A real disk of which a test sees each file that is opened to be read, and may hold the reader up there.
struct WatchedFiles: FileOperations {
    private let disk = DiskFiles()
    private let opening: @Sendable (FilePath) -> Void

    init(_ opening: @escaping @Sendable (FilePath) -> Void) {
        self.opening = opening
    }

    func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader {
        opening(path)
        return try disk.open(path, limit: limit)
    }

    func status(of path: FilePath) throws(FileError) -> FileStatus? { try disk.status(of: path) }

    func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?] {
        try disk.identities(of: paths, below: root)
    }

    func list(_ directory: FilePath) throws(FileError) -> [String] { try disk.list(directory) }

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
