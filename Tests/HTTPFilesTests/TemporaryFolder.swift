import Foundation
import SystemPackage

/// A folder for one test, gone after it.
final class TemporaryFolder: Sendable {
    let path: FilePath

    init() throws {
        // Resolved, so that no symlink above the folder is part of a test.
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let folder = base.appendingPathComponent("httpfiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = FilePath(folder.path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    /// Writes a file and the folders above it.
    @discardableResult
    func write(_ text: String, to name: String) throws -> FilePath {
        let file = path.appending(name)
        let folder = file.removingLastComponent().string
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.string))
        return file
    }

    /// Makes a file of `size` zero bytes that takes no space.
    func writeSparse(_ name: String, size: Int64) throws -> FilePath {
        let file = try write("", to: name)
        try resize(file, to: size)
        return file
    }

    func resize(_ file: FilePath, to size: Int64) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file.string))
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
    }

    func overwrite(_ file: FilePath, with text: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file.string))
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    func remove(_ file: FilePath) throws {
        try FileManager.default.removeItem(atPath: file.string)
    }

    /// Puts one file into another's place.
    func move(_ name: String, to other: String) throws {
        try? remove(path.appending(other))
        try FileManager.default.moveItem(atPath: path.appending(name).string, toPath: path.appending(other).string)
    }

    func modified(_ file: FilePath) throws -> Date {
        let value = try FileManager.default.attributesOfItem(atPath: file.string)[.modificationDate]
        return value as? Date ?? .distantPast
    }

    func setModified(_ date: Date, of file: FilePath) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.string)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path.appending(name).string, withDestinationPath: target)
    }
}
