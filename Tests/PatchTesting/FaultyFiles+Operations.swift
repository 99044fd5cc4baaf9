import Linux
import NIOConcurrencyHelpers
package import PatchStore
package import SystemPackage

extension FaultyFiles {
    package func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader {
        let bytes = try withDisk { disk throws(FileError) in
            guard path != disk.unreadable else { throw .io(.read, path, .tooManyOpenFiles) }
            let inode = try disk.file(path, .read)
            guard let node = disk.nodes[inode], node.permissions & 0o400 != 0 else { throw .permission(.read, path) }
            return node.content.bytes ?? []
        }
        guard bytes.count <= limit else { throw .tooLarge(path, limit: limit) }
        return FaultyReader(bytes)
    }

    package func status(of path: FilePath) throws(FileError) -> FileStatus? {
        try withDisk { disk throws(FileError) in
            guard let inode = try disk.find(path, .inspect), let node = disk.nodes[inode] else { return nil }
            return FileStatus(inode: inode, node)
        }
    }

    package func list(_ directory: FilePath) throws(FileError) -> [String] {
        try withDisk { disk throws(FileError) in
            guard let names = disk.nodes[try disk.existing(directory, .list)]?.content.names else {
                throw .notDirectory(.list, directory)
            }
            return names.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    package func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError) {
        let writer = try create(path, permissions, during: .write)
        try writer.append(bytes)
        try writer.finish()
    }

    package func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter {
        try create(path, permissions, during: .create)
    }

    private func create(
        _ path: FilePath,
        _ permissions: FilePermissions,
        during operation: FileError.Operation
    ) throws(FileError) -> FaultyWriter {
        let inode = try withDisk { disk throws(FileError) in
            try disk.make(.file([]), path, operation, permissions: permissions.rawValue)
        }
        return FaultyWriter(files: self, inode: inode, path: path, operation: operation, offset: 0)
    }

    package func append(to path: FilePath) throws(FileError) -> any FileWriter {
        let (inode, size) = try withDisk { disk throws(FileError) in
            let inode = try disk.file(path, .append)
            guard let node = disk.nodes[inode], node.permissions & 0o200 != 0 else { throw .permission(.append, path) }
            return (inode, node.content.bytes?.count ?? 0)
        }
        return FaultyWriter(files: self, inode: inode, path: path, operation: .append, offset: size)
    }

    package func rename(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in try disk.rename(source, destination) }
    }

    package func link(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in try disk.link(source, destination) }
    }

    package func remove(_ path: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in try disk.remove(path) }
    }

    package func removeTree(_ path: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in try disk.removeTree(path) }
    }

    package func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in
            try disk.setPermissions(permissions, of: try disk.file(path, .setPermissions), path)
        }
    }

    package func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try withDisk { disk throws(FileError) in
            try disk.makeDirectory(path, permissions: permissions.rawValue)
        }
    }

    package func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try withDisk { disk throws(FileError) in
            if let there = try disk.find(path, .makeDirectory) {
                guard disk.nodes[there]?.content.names != nil else { throw .notDirectory(.makeDirectory, path) }
                return
            }
            _ = try disk.make(.directory([:]), path, .makeDirectory, permissions: permissions.rawValue)
        }
    }

    package func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch {
        try withDisk { disk throws(FileError) in
            guard disk.nodes[try disk.existing(directory, .sync)]?.content.names != nil else {
                throw .notDirectory(.sync, directory)
            }
        }
        return FaultyBatch(files: self, directory: directory)
    }

    package func syncDirectory(_ directory: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in try disk.syncDirectory(directory) }
    }
}

/// The bytes that a file had when it was opened.
private final class FaultyReader: FileReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(262_144) }
        return Array(rest.prefix(262_144))
    }
}

extension FileStatus {
    fileprivate init(inode: Int, _ node: FaultyDisk.Node) {
        let kind: Kind =
            switch node.content {
            case .file: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            }
        self.init(
            identity: FileIdentity(
                device: 1,
                inode: UInt64(inode),
                size: node.content.bytes?.count ?? 0,
                modified: node.modified,
                changed: node.changed
            ),
            kind: kind,
            linkCount: node.links,
            permissions: FilePermissions(rawValue: node.permissions)
        )
    }
}
