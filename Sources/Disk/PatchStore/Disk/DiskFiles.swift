import Linux
import Glibc
package import SystemPackage

/// The real disk.
///
/// This folder contains all `unsafe` code of the module.
package struct DiskFiles: FileOperations {
    package init() {}

    package func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader {
        try DiskReader(path, limit: limit)
    }

    package func read(_ path: FilePath, limit: Int) throws(FileError) -> [UInt8] {
        try DiskReader(path, limit: limit).all()
    }

    package func status(of path: FilePath) throws(FileError) -> FileStatus? {
        do {
            return FileStatus(try path.stat(followTargetSymlink: false))
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            throw Self.fileError(error, .inspect, path)
        }
    }

    package func list(_ directory: FilePath) throws(FileError) -> [String] {
        let open = try Self.openDirectory(directory, during: .list)
        let names = try Self.names(in: open, directory, during: .list)
        return names.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    package func nameBytes(in directory: FilePath) throws(FileError) -> [[UInt8]] {
        let open = try Self.openDirectory(directory, during: .list)
        return try Self.names(in: open, directory, during: .list).map(\.utf8)
    }

    package func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError) {
        let writer = try DiskWriter(creating: path, permissions: permissions, during: .write)
        try writer.append(bytes)
        try writer.finish()
    }

    package func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter {
        try DiskWriter(creating: path, permissions: permissions, during: .create)
    }

    package func append(to path: FilePath) throws(FileError) -> any FileWriter {
        try DiskWriter(reopening: path)
    }

    package func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError) {
        // Opened first, because chmod(2) follows symbolic links.
        let file = try Self.open(path, .readOnly, [.nonBlocking], during: .setPermissions)
        _ = try Self.regularFile(file, path, during: .setPermissions)
        try Self.setPermissions(permissions, of: file.descriptor, path)
    }

    package func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch {
        try DiskBatch(on: directory)
    }

    package func syncDirectory(_ directory: FilePath) throws(FileError) {
        let open = try Self.openDirectory(directory, during: .sync)
        do throws(FileError) {
            try Self.sync(open, directory)
        } catch .io(_, _, .invalidArgument) {
            // Some FUSE and network file systems do not support this sync, and nothing else can be done.
            return
        }
    }
}

extension FileStatus {
    fileprivate init(_ stat: Stat) {
        let kind: Kind =
            switch stat.type {
            case .regular: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            default: .other
            }
        self.init(
            identity: FileIdentity(
                device: UInt64(truncatingIfNeeded: stat.deviceID.rawValue),
                inode: UInt64(truncatingIfNeeded: stat.inode.rawValue),
                size: Int(stat.size),
                modified: stat.st_mtim,
                changed: stat.st_ctim
            ),
            kind: kind,
            linkCount: stat.linkCount,
            permissions: stat.permissions
        )
    }
}
