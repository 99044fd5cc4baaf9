import Glibc
package import SystemPackage

/// A file that counts for as long as its owner lives, and that every process can read meanwhile.
///
/// An exclusive flock(2) is its sign of life: the kernel releases it when the process ends, however it ends. What a
/// process left that crashed counts no more, and the next ``contents(of:limit:)`` removes it.
package final class LiveFile: Sendable {
    private static let mostTries = 10

    private let file: OwnedDescriptor
    private let path: FilePath

    /// Writes the file, under a name of its own; it is not made durable, for it means nothing after a restart.
    ///
    /// - Parameter directory: is made when it is missing.
    package init(holding bytes: [UInt8], in directory: FilePath) throws(FileError) {
        var tries = 1
        while true {
            let path = directory.at("\(getpid())-\(UInt64.random(in: 0...UInt64.max))")
            let file = try Self.create(path)
            try Self.lock(file, path)
            // Else somebody who looked for dead files saw it before it was locked, and removed it.
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
        // While it is locked, so that nobody else takes it for a dead one meanwhile.
        try? DiskFiles().remove(path)
    }

    /// What the living files of a directory hold; an empty one is being written just now.
    ///
    /// Removes the dead ones.
    ///
    /// - Parameter limit: bytes of each.
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
