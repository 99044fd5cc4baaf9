import Glibc
package import SystemPackage

/// A file that is valid while its owner lives, and that every process can read meanwhile.
///
/// An exclusive flock(2) shows that the owner lives: the kernel releases it when the process ends for any reason. The file of a
/// crashed process is ignored, and the next ``contents(of:limit:)`` removes it.
package final class LiveFile: Sendable {
    private static let mostTries = 10

    private let file: OwnedDescriptor
    private let path: FilePath

    /// Writes the file under a new name.
    ///
    /// It is not made durable, because it is meaningless after a restart.
    ///
    /// - Parameter directory: Created if it is missing.
    package init(holding bytes: [UInt8], in directory: FilePath) throws(FileError) {
        var tries = 1
        while true {
            let path = directory.at("\(getpid())-\(UInt64.random(in: 0...UInt64.max))")
            let file = try Self.create(path)
            try Self.lock(file, path)
            // Another process may have found the file before it was locked, and removed it as stale.
            if try !Self.isRemoved(file, path) {
                try DiskFiles.overwrite(file, with: bytes, path)
                self.file = consume file
                self.path = path
                return
            }
            guard tries < Self.mostTries else { throw .notFound(.lock, path) }
            tries += 1
        }
    }

    deinit {
        // Removed while it is locked, so that no other process treats it as stale meanwhile.
        try? DiskFiles().remove(path)
    }

    /// The contents of files whose owning process is alive.
    ///
    /// A file that is still being written is empty. Removes stale files.
    ///
    /// - Parameter limit: The maximum size of each file, in bytes.
    package static func contents(of directory: FilePath, limit: Int) throws(FileError) -> [[UInt8]] {
        let names: [String]
        do throws(FileError) { names = try DiskFiles().list(directory) } catch .notFound { return [] }
        var contents: [[UInt8]] = []
        for name in names {
            let path = directory.at(name)
            do throws(FileError) {
                guard try !removeIfDead(path) else { continue }
                contents.append(try DiskFiles().read(path, limit: limit))
            } catch .notFound {
                continue
            }
        }
        return contents
    }

    private static func create(_ path: FilePath) throws(FileError) -> OwnedDescriptor {
        do throws(FileError) { return try open(path) } catch .notFound {
            try DiskFiles().makeDirectory(path.parent)
            return try open(path)
        }
    }

    private static func open(_ path: FilePath) throws(FileError) -> OwnedDescriptor {
        try DiskFiles.open(path, .readWrite, [.create, .exclusiveCreate], permissions: .privateFile, during: .lock)
    }

    private static func lock(_ file: borrowing OwnedDescriptor, _ path: FilePath) throws(FileError) {
        let descriptor = file.descriptor.rawValue
        try DiskFiles.retrying(.lock, path) { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    private static func isRemoved(_ file: borrowing OwnedDescriptor, _ path: FilePath) throws(FileError) -> Bool {
        do { return try file.descriptor.stat().linkCount == 0 } catch { throw DiskFiles.fileError(error, .lock, path) }
    }

    private static func removeIfDead(_ path: FilePath) throws(FileError) -> Bool {
        let file = try DiskFiles.open(path, .readWrite, [.nonBlocking], during: .lock)
        do throws(FileError) { try lock(file, path) } catch .io(.lock, _, .wouldBlock) { return false }
        try DiskFiles().remove(path)
        return true
    }
}
