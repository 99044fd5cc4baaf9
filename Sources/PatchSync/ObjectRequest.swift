import PatchFormat
import PatchStore

/// One object to fetch.
struct ObjectRequest: Sendable {
    let fingerprint: Fingerprint
    /// Below `/APP/`.
    let path: String
    /// The entry it is for, in words.
    let entry: String

    init(_ fingerprint: Fingerprint, path: String, entry: String) {
        self.fingerprint = fingerprint
        self.path = path
        self.entry = entry
    }
}

extension [ObjectRequest] {
    /// Each digest once.
    func uniqued() -> [ObjectRequest] {
        var seen: Set<SHA256Digest> = []
        return filter { seen.insert($0.fingerprint.sha256).inserted }
    }
}

extension SyncEngine {
    /// One object from the servers into the store, digested as it comes; goes on at the byte where it stopped.
    ///
    /// Nil when it is there.
    func receive(_ request: ObjectRequest) async -> SyncError? {
        var delivery = ObjectDelivery(request, engine: self)
        return await delivery.run()
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
        case .fetch, .trust, .format, .object, .noStore, .storeExists, .rootNamesNoApp, .testingKeys,
            .nothingPending, .nothingToRollBackTo, .nothingInstalled:
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

/// Who is at fault when a patch did not come: each has its own limit of tries (J11).
package enum TransferFault: Equatable, Sendable {
    /// The way to the server: trying again helps.
    case network
    /// What lies there: missing, or not what was signed.
    case content
}

extension SyncError {
    /// Nil for what is no failure of a transfer: the disk, the lock, a person who stopped it.
    package var transferFault: TransferFault? {
        switch self {
        case .fetch(.cancelled), .fetch(.notTaken): nil
        case .fetch(let error): error.isNetwork ? .network : .content
        case .object, .trust, .format: .content
        case .file, .lock, .noStore, .storeExists, .rootNamesNoApp, .testingKeys, .nothingPending,
            .nothingToRollBackTo, .nothingInstalled:
            nil
        }
    }
}
