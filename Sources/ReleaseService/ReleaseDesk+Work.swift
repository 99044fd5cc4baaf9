import NIOPosix
package import PatchFormat
package import PatchServer
import PatchStore
import ServerRecords

extension ReleaseDesk {
    /// How long one waits for another process that changes the folder.
    private static let patience = Duration.seconds(10)

    /// Changes an app's tree under the folder's lock, on a thread that may wait for the disk.
    func changing<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository, OnlineKey) throws(ServerError) -> Value
    ) async throws(DeskError) -> Value {
        let lock: StoreLock
        do throws(StoreLockError) {
            lock = try await StoreLock(folder.lock, waitingUpTo: Self.patience, clock: .continuous)
        } catch { throw .server(.locked(error)) }
        let value = try await onThread { () throws(DeskError) in
            let repository: AppRepository
            do throws(ServerError) { repository = try self.repository(app) } catch { throw .server(error) }
            let key = try key(of: repository)
            do throws(ServerError) { return try work(repository, key) } catch { throw .server(error) }
        }
        lock.release()
        return value
    }

    /// Reads an app's tree on a thread that may wait for the disk.
    package func looking<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository) throws(ServerError) -> Value
    ) async throws(DeskError) -> Value {
        try await onThread { () throws(DeskError) in
            do throws(ServerError) { return try work(try repository(app)) } catch { throw .server(error) }
        }
    }

    func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws(DeskError) -> Value
    ) async throws(DeskError) -> Value {
        let result: Result<Value, DeskError>
        do {
            result = try await threads.runIfActive {
                do throws(DeskError) { return .success(try work()) } catch { return .failure(error) }
            }
        } catch { throw .stopping }
        return try result.get()
    }

    func reading<Value: Sendable>(
        _ work: () async throws(RecordError) -> Value
    ) async throws(DeskError) -> Value {
        do throws(RecordError) { return try await work() } catch { throw .records(error) }
    }

    private func key(of repository: AppRepository) throws(DeskError) -> OnlineKey {
        do {
            guard let key = try openKey(repository.onlineKeyFile) else { throw DeskError.keyIsLocked }
            return key
        } catch let error as DeskError {
            throw error
        } catch let error as ServerError {
            throw .server(error)
        } catch { throw .keyUnusable("\(error)") }
    }
}
