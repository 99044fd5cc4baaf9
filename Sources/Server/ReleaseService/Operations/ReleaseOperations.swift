package import NIOPosix
package import PatchFormat
package import PatchServer
package import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import ServerRecords
package import SystemPackage

/// Carries out operators' changes, and keeps the history and audit log consistent with the published tree.
///
/// The tree and the records are stored separately, and a process can be killed between writing them. An intent is written before
/// the tree is changed, and is replaced by history and audit entry in one commit afterwards. ``SettleIntents``, and the next change
/// of the same app, settle remaining intents by reading the tree. All of that is done under the folder's lock. Refreshing the
/// online roles is not recorded here, as it changes no content.
package struct ReleaseOperations: Sendable {
    package let folder: ServerFolder
    package let records: ServerRecords
    package let files: any FileOperations
    let allowsTestingKeys: Bool
    let openKey: @Sendable (_ file: [UInt8], _ path: FilePath) throws -> OnlineKey?
    let threads: NIOThreadPool
    /// Threads for documents that may not be signed by a quorum, and for uploaded keys.
    let documents: DocumentThreads
    /// How long to wait for another process that is changing the folder.
    let patience: Duration
    let turn = SerialQueue()
    /// Reports the progress of work on many files.
    package var progress: TreeProgress = { _, _ in { _ in } }
    /// The number of earlier versions of a bundle from which a publish makes packs.
    package var packBases = 3

    /// The derived files that a publish makes before devices see the release.
    package var forms = FormEffort.best
    let publishing = PublishingCount()

    /// - Parameter openKey: opens an online key from its bytes and path; nil if it is encrypted and no passphrase was given.
    package init(
        _ folder: ServerFolder,
        records: ServerRecords,
        files: any FileOperations,
        allowsTestingKeys: Bool,
        threads: NIOThreadPool = .singleton,
        documents: DocumentThreads = .ofProcess,
        patience: Duration = .seconds(10),
        openKey: @escaping @Sendable (_ file: [UInt8], _ path: FilePath) throws -> OnlineKey?
    ) {
        self.folder = folder
        self.records = records
        self.files = files
        self.allowsTestingKeys = allowsTestingKeys
        self.threads = threads
        self.documents = documents
        self.patience = patience
        self.openKey = openKey
    }

    package func repository(_ app: AppID) throws(ServerError) -> AppRepository {
        var repository = try AppRepository(app, in: folder, files: files, allowsTestingKeys: allowsTestingKeys)
        repository.progress = progress
        repository.packBases = packBases
        return repository
    }

    func known(_ app: AppID) throws(OperationError) -> AppRepository {
        do throws(ServerError) { return try repository(app) } catch { throw .server(error) }
    }

    // MARK: Turns and threads

    /// Runs `work` with exclusive use of the records and the server's folder, even if the caller is cancelled.
    ///
    /// Every recorded change uses this function, so that no other process mistakes an intent in progress for an abandoned one.
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

    /// Changes an app's tree with the online key; called in turn, on a thread.
    func signing<Value>(
        _ app: AppID,
        _ work: (AppRepository, OnlineKey) throws(ServerError) -> Value
    ) throws(OperationError) -> Value {
        let repository = try known(app)
        let key = try key(of: repository)
        do throws(ServerError) { return try work(repository, key) } catch { throw .server(error) }
    }

    /// Reads or changes an app's tree without the online key.
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

    /// Reads uploaded documents that may lack a quorum.
    ///
    /// They have separate threads, with a separate queue for each app.
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

    /// Reads an app's tree on a thread that may wait for the disk.
    package func looking<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository) throws(ServerError) -> Value
    ) async throws(OperationError) -> Value {
        try await onThread { () throws(OperationError) in try serving(app, work) }
    }

    // MARK: Keys

    func key(of repository: AppRepository) throws(OperationError) -> OnlineKey {
        let file: [UInt8]
        do throws(FileError) {
            file = try files.read(repository.onlineKeyFile, limit: Limits.keyFile)
        } catch { throw .server(.file(error)) }
        return try key(file, from: repository.onlineKeyFile)
    }

    /// - Parameter path: the source of the key, for messages.
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

    /// The message for an uploaded private key that is not encrypted.
    ///
    /// The server stores the file unchanged.
    package static var clearKey: String {
        "the online key is not encrypted: anyone who can read the server's disk would have it"
    }

    func uploadedKey(_ file: [UInt8], for app: AppID) async throws(OperationError) -> OnlineKey {
        try await reading(documentsOf: app) { () throws(OperationError) in
            let key: OnlineKey
            do throws(OperationError) { key = try self.key(file, from: "online.key") } catch {
                switch error {
                case .keyUnusable(let why): throw .keyRefused(why)
                case .server(let error): throw .keyRefused("\(error)")
                default: throw error
                }
            }
            guard key.isEncrypted else {
                throw .keyRefused(Self.clearKey)
            }
            return key
        }
    }
}
