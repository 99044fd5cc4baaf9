import NIOConcurrencyHelpers
package import PatchStore
package import SystemPackage

/// A disk in memory that keeps no more promises than ``FileOperations`` makes, and fails when asked to.
///
/// Files have inodes, links, permissions and times; a file without owner-write refuses to be appended to, as it does for
/// anyone but root. Every step that changes the disk counts: a `write` is three (name, bytes, sync), an `append` one.
/// The step that fails leaves half of the bytes it was to write. Symbolic links are refused, not followed.
package final class FaultyFiles: FileOperations {
    /// What happens to operations after the one that failed.
    package enum AfterFailure: Sendable {
        /// The process was killed: nothing changes any more.
        case stopped
        /// One operation failed; the caller may clean up.
        case running
    }

    /// What a power cut leaves of what was not synced.
    package enum Survival: CaseIterable, Sendable {
        /// Nothing: old names lead to old bytes.
        case lose
        /// All of it.
        case keep
        /// Names, but not bytes: a file that was renamed before it was synced is empty.
        case keepNames
    }

    let disk: NIOLockedValueBox<FaultyDisk>

    private init(_ disk: FaultyDisk) {
        self.disk = NIOLockedValueBox(disk)
    }

    /// - Parameter change: the change that fails, counted from 1; nil for none.
    package convenience init(failingAtChange change: Int? = nil, then after: AfterFailure = .stopped) {
        var disk = FaultyDisk()
        disk.faults = FaultyDisk.Faults(failingAt: change, after: after)
        self.init(disk)
    }

    /// How many changes were made or tried since this disk was opened.
    package var changes: Int {
        disk.withLockedValue { $0.faults.count }
    }

    /// The same disk for a new process: everything that was written is there, synced or not.
    package func reopened(failingAtChange change: Int? = nil, then after: AfterFailure = .stopped) -> FaultyFiles {
        var copy = disk.withLockedValue { $0 }
        copy.faults = FaultyDisk.Faults(failingAt: change, after: after)
        return FaultyFiles(copy)
    }

    /// The same disk after a power cut.
    package func crashed(_ survival: Survival) -> FaultyFiles {
        var copy = disk.withLockedValue { $0 }
        copy.faults = FaultyDisk.Faults(failingAt: nil, after: .stopped)
        copy.cutPower(survival)
        return FaultyFiles(copy)
    }

    /// Leaves room for this many more bytes in files; nil for no end of it.
    ///
    /// - Parameter isReported: whether the disk says how much is free.
    package func limitFreeSpace(to bytes: Int?, isReported: Bool = false) {
        disk.withLockedValue { disk in
            let used = disk.usedBytes
            disk.capacity = bytes.map { used + $0 }
            disk.reportsSpace = isReported
        }
    }

    /// Of a file system of 1 GB, so that a reserve is 16 MB.
    package func space(at folder: FilePath) -> DiskSpace? {
        disk.withLockedValue { disk in
            guard disk.reportsSpace, let capacity = disk.capacity else { return nil }
            return DiskSpace(
                freeBytes: max(0, capacity - disk.usedBytes),
                totalBytes: 1_000_000_000,
                freeFiles: nil
            )
        }
    }

    /// Typed errors through a lock that knows only untyped ones.
    func withDisk<Value>(_ body: (inout FaultyDisk) throws(FileError) -> Value) throws(FileError) -> Value {
        try disk.withLockedValue { disk in
            Result { () throws(FileError) in try body(&disk) }
        }.get()
    }
}

/// What others do to a disk.
extension FaultyFiles {
    /// Makes a symbolic link, which no operation does.
    package func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in
            _ = try disk.make(.symbolicLink(target), path, .create, permissions: 0o777)
        }
    }

    /// Writes over a file in place, as another program would: the same inode, later times.
    package func overwrite(_ path: FilePath, with bytes: [UInt8]) throws(FileError) {
        try withDisk { disk throws(FileError) in
            let inode = try disk.file(path, .write)
            disk.set(inode, to: bytes)
        }
    }

    /// Sets the clock that changes are dated with from now on; it may go back.
    ///
    /// - Parameter seconds: since 1970.
    package func setClock(to seconds: Int) {
        disk.withLockedValue { $0.clock = Int64(seconds) * 1_000_000_000 }
    }

    /// Lets no reader open this file, about which nothing else is different; nil lets all of them.
    package func failReads(of path: FilePath?) {
        disk.withLockedValue { $0.unreadable = path }
    }

    /// Changes the first byte as a failing medium does: nothing else about the file is different.
    package func rot(_ path: FilePath) throws(FileError) {
        try withDisk { disk throws(FileError) in
            let inode = try disk.file(path, .read)
            guard var bytes = disk.nodes[inode]?.content.bytes, !bytes.isEmpty else { return }
            bytes[0] ^= 1
            disk.nodes[inode]?.content = .file(bytes)
            disk.nodes[inode]?.synced = .file(bytes)
        }
    }
}
