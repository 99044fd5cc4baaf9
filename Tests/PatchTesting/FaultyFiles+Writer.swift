import PatchStore
import SystemPackage

/// One open file on a ``FaultyFiles`` disk; it goes on writing to its inode whatever becomes of the name.
final class FaultyWriter: FileWriter {
    private let files: FaultyFiles
    private let inode: Int
    private let path: FilePath
    private let operation: FileError.Operation
    private var isFinished = false
    private(set) var offset: Int

    init(files: FaultyFiles, inode: Int, path: FilePath, operation: FileError.Operation, offset: Int) {
        self.files = files
        self.inode = inode
        self.path = path
        self.operation = operation
        self.offset = offset
    }

    func append(_ bytes: [UInt8]) throws(FileError) {
        precondition(!isFinished, "append to a finished file")
        let (path, inode, operation) = (path, inode, operation)
        try files.withDisk { disk throws(FileError) in
            let tears = try disk.countChange(operation, path)
            let room = max(0, disk.capacity.map { $0 - disk.usedBytes } ?? bytes.count)
            let fitting = bytes.prefix(tears ? min(room, bytes.count / 2) : room)
            disk.set(inode, to: (disk.nodes[inode]?.content.bytes ?? []) + fitting)
            if tears { throw .io(operation, path, .ioError) }
            if fitting.count < bytes.count { throw .noSpace(operation, path) }
        }
        offset += bytes.count
    }

    func setPermissions(_ permissions: FilePermissions) throws(FileError) {
        precondition(!isFinished, "permissions of a finished file")
        let (path, inode) = (path, inode)
        try files.withDisk { disk throws(FileError) in try disk.setPermissions(permissions, of: inode, path) }
    }

    func finish() throws(FileError) {
        precondition(!isFinished, "a file was finished twice")
        isFinished = true
        let (path, inode) = (path, inode)
        try files.withDisk { disk throws(FileError) in
            try disk.change(.sync, path)
            disk.sync(inode)
        }
    }

    func close() throws(FileError) {
        precondition(!isFinished, "a file was finished twice")
        isFinished = true
    }
}
