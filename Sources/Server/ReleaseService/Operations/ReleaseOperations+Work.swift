import NIOPosix
import PatchFormat
import PatchServer
import PatchStore
import ServerRecords
import SystemPackage

extension ReleaseOperations {
    /// Has the records and the server's folder to itself, and goes on when the caller is cancelled.
    ///
    /// Whatever changes something and is written down goes through here, so that no other process takes an intent for one
    /// that was left.
    func inTurn<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(OperationError) -> Value
    ) async throws(OperationError) -> Value {
        try await withTaskCancellationShield { () async throws(OperationError) in
            try await turn.taken(orElse: OperationError.busy) { () async throws(OperationError) in
                let lock: StoreLock
                do throws(StoreLockError) {
                    lock = try await StoreLock(folder.lock, waitingUpTo: patience, clock: .continuous)
                } catch { throw .server(.locked(error)) }
                let value = try await work()
                lock.release()
                return value
            }
        }
    }

    /// Changes an app's tree; called in turn, on a thread.
    func signing<Value>(
        _ app: AppID,
        _ work: (AppRepository, OnlineKey) throws(ServerError) -> Value
    ) throws(OperationError) -> Value {
        let repository: AppRepository
        do throws(ServerError) { repository = try self.repository(app) } catch { throw .server(error) }
        let key = try key(of: repository)
        do throws(ServerError) { return try work(repository, key) } catch { throw .server(error) }
    }

    /// The same, for what is not signed here.
    func serving<Value>(
        _ app: AppID,
        _ work: (AppRepository) throws(ServerError) -> Value
    ) throws(OperationError) -> Value {
        do throws(ServerError) { return try work(try repository(app)) } catch { throw .server(error) }
    }

    func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws(OperationError) -> Value
    ) async throws(OperationError) -> Value {
        try await threads.taken(by: work)
    }

    /// The same for documents that somebody brought and that no quorum may have signed: they have threads of their own, and
    /// an app's own turn there.
    func reading<Value: Sendable>(
        documentsOf app: AppID,
        _ work: @escaping @Sendable () throws(OperationError) -> Value
    ) async throws(OperationError) -> Value {
        try await documents.run(for: app, work)
    }

    func reading<Value: Sendable>(
        _ work: () async throws(RecordError) -> Value
    ) async throws(OperationError) -> Value {
        do throws(RecordError) { return try await work() } catch { throw .records(error) }
    }

    func key(of repository: AppRepository) throws(OperationError) -> OnlineKey {
        let file: [UInt8]
        do throws(FileError) {
            file = try files.read(repository.onlineKeyFile, limit: Limits.keyFile)
        } catch { throw .server(.file(error)) }
        return try key(file, from: repository.onlineKeyFile)
    }

    /// - Parameter path: where it came from, for messages.
    func key(_ file: [UInt8], from path: FilePath) throws(OperationError) -> OnlineKey {
        do {
            guard let key = try openKey(file, path) else { throw OperationError.keyIsLocked }
            return key
        } catch let error as OperationError {
            throw error
        } catch let error as ServerError {
            throw .server(error)
        } catch { throw .keyUnusable("\(error)") }
    }
}
