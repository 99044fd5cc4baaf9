import Glibc
package import SystemPackage

/// Why a store could not be locked.
package enum StoreLockError: Error, Equatable, Sendable {
    /// Another process, or another part of this one, has the lock; its pid if it has written one already.
    case held(FilePath, by: Int?)
    case file(FileError)
}

extension StoreLockError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .held(let path, let pid?): "\(path) is held by process \(pid)"
        case .held(let path, nil): "\(path) is held by another process"
        case .file(let error): error.description
        }
    }
}

/// The right to change a store, held by one owner on this machine at a time, or shared by several, from `init` to `deinit`.
///
/// A flock(2), exclusive unless it is shared: the kernel releases it when the process ends, however it ends, so a lock is never
/// stale. The file itself stays, empty: removing it would let two owners lock two files of one name.
///
/// The file is unlocked, not only closed: a child that this process has forked has it open too until it executes its program,
/// which takes its time on a busy machine.
package struct StoreLock: ~Copyable {
    /// How often a waiting process asks again.
    private static let pollInterval = Duration.milliseconds(50)

    private let file: OwnedDescriptor

    /// Takes the lock now or not at all.
    ///
    /// The directory of `path` must exist.
    package init(_ path: FilePath) throws(StoreLockError) {
        try self.init(path, LOCK_EX)
    }

    /// The same beside others that share it: nobody has it alone meanwhile.
    package init(sharing path: FilePath) throws(StoreLockError) {
        try self.init(path, LOCK_SH)
    }

    private init(_ path: FilePath, _ kind: Int32) throws(StoreLockError) {
        do throws(FileError) {
            let file = try DiskFiles.open(
                path,
                .readWrite,
                [.create, .nonBlocking],
                permissions: .privateFile,
                during: .lock
            )
            _ = try DiskFiles.regularFile(file, path, during: .lock)
            let descriptor = file.descriptor
            try DiskFiles.retrying(.lock, path) { flock(descriptor.rawValue, kind | LOCK_NB) }
            // Only for the message of whoever is refused, so nothing here needs to be durable, nor room for it on a full disk.
            do throws(FileError) {
                try DiskFiles.overwrite(file, with: Array("\(getpid())\n".utf8), path)
            } catch .noSpace {}
            self.file = consume file
        } catch .io(.lock, path, .wouldBlock) {
            throw .held(path, by: Self.holder(of: path))
        } catch {
            throw .file(error)
        }
    }

    /// Takes the lock, waiting for its holder at most until `deadline` has passed.
    ///
    /// - Throws: `held` at the deadline, or earlier when the task is cancelled.
    package init<C: Clock>(
        _ path: FilePath,
        waitingUpTo deadline: Duration,
        clock: C
    ) async throws(StoreLockError) where C.Duration == Duration {
        let end = clock.now.advanced(by: deadline)
        while true {
            do throws(StoreLockError) {
                self = try StoreLock(path)
                return
            } catch .held(_, let pid) {
                let left = clock.now.duration(to: end)
                guard left > .zero else { throw .held(path, by: pid) }
                do {
                    try await clock.sleep(until: clock.now.advanced(by: min(left, Self.pollInterval)), tolerance: nil)
                } catch {
                    throw .held(path, by: pid)
                }
            }
        }
    }

    deinit {
        try? file.descriptor.resize(to: 0)
        flock(file.descriptor.rawValue, LOCK_UN)
    }

    private static func holder(of path: FilePath) -> Int? {
        guard let bytes = try? DiskFiles().read(path, limit: 32) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
    }
}
