import Glibc
package import SystemPackage

/// The reason why a store could not be locked.
package enum StoreLockError: Error, Equatable, Sendable {
    /// Another process, or another part of this one, has the lock. Contains its pid if it has written one.
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

/// The right to change a store, from `init` to `deinit`.
///
/// On this machine one owner has it at a time, or several share it. It is a flock(2), exclusive unless shared. The kernel
/// releases it when the process ends for any reason, so a lock is never stale. The file itself remains, because removing it would
/// let two owners lock two files of one name.
///
/// The file is unlocked explicitly, not only closed: a forked child also has it open until it executes its program, which may
/// take long on a busy machine.
package struct StoreLock: ~Copyable {
    /// The time between two attempts of a waiting process.
    private static let pollInterval = Duration.milliseconds(50)

    private let file: OwnedDescriptor

    /// Takes the lock immediately, or throws.
    ///
    /// The directory of `path` must exist.
    package init(_ path: FilePath) throws(StoreLockError) {
        try self.init(path, LOCK_EX)
    }

    /// Takes a shared lock immediately, or throws.
    ///
    /// It excludes an exclusive owner.
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
            // Only used in messages of other processes, so it need not be durable, and a full disk is not an error.
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

    /// Takes the lock, waiting for its owner until `deadline`.
    ///
    /// - Throws: `held` at the deadline, or earlier if the task is cancelled.
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
