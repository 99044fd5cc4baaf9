#if DEBUG
import PatchStore
import SystemPackage

/// A writer that appends only half of the data before the process ends.
final class FaultPointWriter: FileWriter {
    private let writer: any FileWriter
    private let path: FilePath
    private let point: FaultPoint

    init(_ writer: any FileWriter, path: FilePath, point: FaultPoint) {
        self.writer = writer
        self.path = path
        self.point = point
    }

    var offset: Int { writer.offset }

    func append(_ bytes: [UInt8]) throws(FileError) {
        let half = bytes.count / 2
        try point.change(.append, path)
        try writer.append(Array(bytes[..<half]))
        try point.change(.append, path)
        try writer.append(Array(bytes[half...]))
    }

    func setPermissions(_ permissions: FilePermissions) throws(FileError) {
        try point.change(.setPermissions, path)
        try writer.setPermissions(permissions)
    }

    func finish() throws(FileError) {
        try point.change(.sync, path)
        try writer.finish()
    }

    func close() throws(FileError) { try writer.close() }
}

final class FaultPointBatch: FileBatch {
    private let batch: any FileBatch
    private let directory: FilePath
    private let point: FaultPoint

    init(_ batch: any FileBatch, directory: FilePath, point: FaultPoint) {
        self.batch = batch
        self.directory = directory
        self.point = point
    }

    func sync() throws(FileError) {
        try point.change(.sync, directory)
        try batch.sync()
    }
}
#endif
