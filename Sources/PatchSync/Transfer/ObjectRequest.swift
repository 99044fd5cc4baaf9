import PatchFormat
import PatchStore

/// One object to fetch.
struct ObjectRequest: Sendable {
    let expected: ExpectedFile
    /// Below `/APP/`.
    let path: String
    /// The entry it is for, in words.
    let entry: String

    init(_ expected: ExpectedFile, path: String, entry: String) {
        self.expected = expected
        self.path = path
        self.entry = entry
    }
}

extension SyncEngine {
    /// One object from the servers into the store, digested as it comes; goes on at the byte where it stopped.
    ///
    /// Nil when it is there.
    func receive(_ request: ObjectRequest) async -> SyncError? {
        var delivery = ObjectDelivery(request, engine: self)
        return await delivery.run { (receiver) throws(StoreError) in try receiver.finish() }.error
    }

    /// One object from the servers, digested as it comes; for a batch to put into the store.
    ///
    /// - Returns: also whether bytes came that stay, whatever became of the whole.
    func receivePart(of request: ObjectRequest) async -> (Result<SealedPart, SyncError>, hasMoved: Bool) {
        var delivery = ObjectDelivery(request, engine: self)
        let result = await delivery.run { (receiver) throws(StoreError) in try receiver.seal() }
        return (result, delivery.hasMoved)
    }
}

extension Result {
    fileprivate var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

extension SyncError {
    init(_ error: StoreError, entry: String) {
        switch error {
        case .mismatch(_, let field): self = .object(entry: entry, field: field)
        case .file(let error): self = .file(error)
        }
    }

    /// Whether nothing else can come either: the disk, the lock or the way to the server is at fault.
    var endsSync: Bool {
        switch self {
        case .file, .lock, .fetch(.cancelled), .fetch(.connection), .fetch(.tls), .fetch(.syncDeadline): true
        case .fetch, .trust, .format, .object, .noStore, .storeExists, .rootNamesNoApp,
            .nothingPending, .nothingToRollBackTo, .nothingInstalled, .waitsForLaunch, .blacklisted, .incompatible,
            .embedded, .otherAppBuild, .trialRunning, .unreadable:
            false
        }
    }

    /// Whether it has nothing to do with which server was asked.
    var isOwn: Bool {
        switch self {
        case .file, .lock, .fetch(.cancelled), .fetch(.syncDeadline): true
        default: false
        }
    }

    var fetchError: FetchError? {
        if case .fetch(let error) = self { error } else { nil }
    }
}
