#if DEBUG
import CommandKit
import Linux
import Glibc
import NIOConcurrencyHelpers
import PatchStore
import SystemPackage

/// The real disk up to a chosen change.
///
/// Only for debug builds.
///
/// `PATCHSYNC_FAULT=kill:17` ends the process before the 17th change of its store, like a power cut. `noSpace:17`, `readOnly:17`,
/// `denied:17` and `broken:17` make this change and every later one fail. On a full disk, files can still be removed. `count:1`
/// permits all changes, and prints their number at the end. Changes of all threads of the process are counted together.
struct FaultPoint: FileOperations {
    private enum Fault: String {
        case kill, noSpace, readOnly, denied, broken, count
    }

    private let disk = DiskFiles()
    private let fault: Fault
    private let first: Int
    private static let changes = NIOLockedValueBox(0)

    /// Reads the fault from the environment; nil if there is none.
    init?() {
        guard let parts = ProcessEnvironment.environment("PATCHSYNC_FAULT")?.split(separator: ":"), parts.count == 2,
            let fault = Fault(rawValue: String(parts[0])), let first = Int(parts[1])
        else { return nil }
        self.fault = fault
        self.first = first
        if fault == .count {
            atexit { Console.standardError.line("changes: \(FaultPoint.changes.withLockedValue { $0 })") }
        }
    }

    /// Counts one change.
    func change(_ operation: FileError.Operation, _ path: FilePath) throws(FileError) {
        let number = Self.changes.withLockedValue { count in
            count += 1
            return count
        }
        guard number >= first else { return }
        switch fault {
        case .kill: ProcessEnd.kill()
        case .count: return
        case .noSpace where operation == .remove || operation == .sync: return
        case .noSpace: throw .noSpace(operation, path)
        case .readOnly: throw .readOnly(operation, path)
        case .denied: throw .permission(operation, path)
        case .broken: throw .io(operation, path, .ioError)
        }
    }

    func open(_ path: FilePath, limit: Int) throws(FileError) -> any FileReader { try disk.open(path, limit: limit) }

    func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?] {
        try disk.identities(of: paths, below: root)
    }

    func status(of path: FilePath) throws(FileError) -> FileStatus? { try disk.status(of: path) }

    func list(_ directory: FilePath) throws(FileError) -> [String] { try disk.list(directory) }

    /// Writes a file in two changes: it exists before it contains its bytes.
    func write(_ bytes: [UInt8], to path: FilePath, permissions: FilePermissions) throws(FileError) {
        let writer = try create(path, permissions: permissions)
        try writer.append(bytes)
        try writer.finish()
    }

    func create(_ path: FilePath, permissions: FilePermissions) throws(FileError) -> any FileWriter {
        try change(.create, path)
        return FaultPointWriter(try disk.create(path, permissions: permissions), path: path, point: self)
    }

    func append(to path: FilePath) throws(FileError) -> any FileWriter {
        FaultPointWriter(try disk.append(to: path), path: path, point: self)
    }

    func rename(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try change(.rename, destination)
        try disk.rename(source, to: destination)
    }

    func link(_ source: FilePath, to destination: FilePath) throws(FileError) {
        try change(.link, destination)
        try disk.link(source, to: destination)
    }

    func remove(_ path: FilePath) throws(FileError) {
        try change(.remove, path)
        try disk.remove(path)
    }

    /// Removes the files one by one, so that the removal can stop halfway.
    func removeTree(_ path: FilePath) throws(FileError) {
        if try status(of: path)?.kind == .directory {
            for name in try list(path) { try removeTree(path.at(name)) }
        }
        try change(.remove, path)
        try disk.removeTree(path)
    }

    func setPermissions(_ permissions: FilePermissions, of path: FilePath) throws(FileError) {
        try change(.setPermissions, path)
        try disk.setPermissions(permissions, of: path)
    }

    func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        if try status(of: path) == nil { try change(.makeDirectory, path) }
        try disk.makeDirectory(path, permissions: permissions)
    }

    func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        if try status(of: path) == nil { try change(.makeDirectory, path) }
        try disk.addDirectory(path, permissions: permissions)
    }

    func beginBatch(on directory: FilePath) throws(FileError) -> any FileBatch {
        FaultPointBatch(try disk.beginBatch(on: directory), directory: directory, point: self)
    }

    func syncDirectory(_ directory: FilePath) throws(FileError) {
        try change(.sync, directory)
        try disk.syncDirectory(directory)
    }
}
#endif
