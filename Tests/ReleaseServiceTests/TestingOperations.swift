import NIOConcurrencyHelpers
import PatchFormat
import PatchServer
import PatchStore
import ReleaseFolder
import ReleaseService
import ServerRecords
import ServerTesting
import SystemPackage

/// A server with its records on the real disk, and the operations on them.
struct TestingOperations {
    let box: TemporaryFolderBox
    let server: TestingServer
    let records: ServerRecords
    let operations: ReleaseOperations
    let actor = Actor.token(id: "0123456789abcdef", name: "ci")

    /// - Parameter files: where all but the records and the lock lies.
    init(threshold: Int = 1, files: any FileOperations = DiskFiles()) throws {
        let box = try TemporaryFolderBox()
        try DiskFiles().makeDirectory(box.path.appending("srv"))
        let server = try TestingServer(files: files, root: box.path, threshold: threshold)
        try self.init(box: box, server: server, store: SQLiteRecords(box.path.appending("srv/records.sqlite")))
    }

    private init(
        box: TemporaryFolderBox,
        server: TestingServer,
        store: any RecordStore,
        patience: Duration = .seconds(10),
        now: UTCTime = TestingServer.start
    ) throws {
        self.box = box
        self.server = server
        records = ServerRecords(store, now: { now })
        let key = server.key
        operations = ReleaseOperations(
            server.folder,
            records: records,
            files: server.files,
            allowsTestingKeys: true,
            patience: patience,
            openKey: { _, _ in key }
        )
    }

    /// The same server, as a process that starts anew, or whose records stop working at some commit.
    func again(failingAtCommit number: Int? = nil, patience: Duration = .seconds(10)) throws -> TestingOperations {
        let store = try SQLiteRecords(box.path.appending("srv/records.sqlite"))
        return try TestingOperations(
            box: box,
            server: server,
            store: StoppingRecords(store, at: number),
            patience: patience
        )
    }

    /// The same server at another time, whose process dies at some commit.
    func after(_ time: Duration, failingAtCommit number: Int? = nil) throws -> TestingOperations {
        let store = try SQLiteRecords(box.path.appending("srv/records.sqlite"))
        return try TestingOperations(
            box: box,
            server: server,
            store: StoppingRecords(store, at: number),
            now: TestingServer.start.adding(time)
        )
    }

    /// The same server on another disk, with records of its own that say the same.
    init(copyOf other: TestingOperations, files: any FileOperations) throws {
        let box = try TemporaryFolderBox()
        try DiskFiles().makeDirectory(box.path.appending("srv"))
        let copy = box.path.appending("srv/records.sqlite")
        try SQLiteRecords(other.box.path.appending("srv/records.sqlite")).backUp(to: copy)
        try self.init(box: box, server: other.server.on(files), store: SQLiteRecords(copy))
    }

    /// The same server on another state of its disk.
    func on(_ files: any FileOperations) throws -> TestingOperations {
        let store = try SQLiteRecords(box.path.appending("srv/records.sqlite"))
        return try TestingOperations(box: box, server: server.on(files), store: store)
    }

    /// The same server, in whose process somebody else gets a word in after the first commit, or before the second.
    ///
    /// - Parameter number: the commit at which the process dies.
    func again(
        before commit: Int,
        failingAtCommit number: Int? = nil,
        _ work: @escaping @Sendable () async -> Void
    ) throws -> TestingOperations {
        let store = StoppingRecords(try SQLiteRecords(box.path.appending("srv/records.sqlite")), at: number)
        return try TestingOperations(box: box, server: server, store: InterruptedRecords(store, at: commit, by: work))
    }

    func release(_ text: String = "cart.total = 1;", version: String = "1", signedBy keys: [TestingKey] = [.production])
        throws -> SignedRelease
    {
        var contents = ReleaseFactory.Contents()
        contents.scripts = ["fix-cart-total": (version, text)]
        return try server.factory.release(contents, on: server.repository, signedBy: keys)
    }

    func history() async throws -> [HistoryEntry] {
        try await History(operations).page(
            of: ReleaseFactory.production,
            in: ReleaseFactory.app,
            below: nil,
            limit: 100
        )
        .entries
    }

    func actions() async throws -> [String] {
        try await records.auditEntries(after: 0).compactMap { entry in
            guard case .string(let text) = entry.json["action"] else { return nil }
            return text.text
        }
    }

    func intents() async throws -> Int {
        try await records.store.records(RecordRange("intent", limit: 10)).count
    }
}

/// Records whose process dies at the n-th commit: that one and all later ones do nothing and throw.
struct StoppingRecords: RecordStore {
    static let death = RecordError.failed(path: "records", reason: "the process died", isFull: false)

    private let store: any RecordStore
    private let left: NIOLockedValueBox<Int?>

    init(_ store: any RecordStore, at number: Int?) {
        self.store = store
        left = NIOLockedValueBox(number)
    }

    func record(_ key: RecordKey) async throws(RecordError) -> Record? { try await store.record(key) }
    func records(_ range: RecordRange) async throws(RecordError) -> [Record] { try await store.records(range) }
    func count(_ collection: String, prefix: String) async throws(RecordError) -> Int {
        try await store.count(collection, prefix: prefix)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordError) {
        let isDead = left.withLockedValue { left in
            guard let number = left else { return false }
            left = max(0, number - 1)
            return number <= 1
        }
        if isDead { throw Self.death }
        try await store.commit(changes)
    }
}

/// Records whose process is held up: at the end of its first commit, or at the start of its second.
struct InterruptedRecords: RecordStore {
    private let store: any RecordStore
    private let place: Int
    private let work: @Sendable () async -> Void
    private let count = NIOLockedValueBox(0)

    init(_ store: any RecordStore, at place: Int, by work: @escaping @Sendable () async -> Void) {
        self.store = store
        self.place = place
        self.work = work
    }

    func record(_ key: RecordKey) async throws(RecordError) -> Record? { try await store.record(key) }
    func records(_ range: RecordRange) async throws(RecordError) -> [Record] { try await store.records(range) }
    func count(_ collection: String, prefix: String) async throws(RecordError) -> Int {
        try await store.count(collection, prefix: prefix)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordError) {
        let number = count.withLockedValue { count in
            count += 1
            return count
        }
        if number == 2, place == 2 { await work() }
        try await store.commit(changes)
        if number == 1, place == 1 { await work() }
    }
}
