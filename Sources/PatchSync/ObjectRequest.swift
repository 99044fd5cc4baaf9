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
    /// One object from the server into the store, digested as it comes.
    ///
    /// Nil when it is there.
    func receive(_ request: ObjectRequest) async -> SyncError? {
        await receive(request) { (receiver) throws(StoreError) in try receiver.finish() }.error
    }

    /// One object from the server, digested as it comes; for a batch to put into the store.
    func receivePart(of request: ObjectRequest) async -> Result<SealedPart, SyncError> {
        await receive(request) { (receiver) throws(StoreError) in try receiver.seal() }
    }

    private func receive<Received>(
        _ request: ObjectRequest,
        ending end: (consuming ObjectReceiver) throws(StoreError) -> Received
    ) async -> Result<Received, SyncError> {
        let (fingerprint, path) = (request.fingerprint, request.path)
        do throws(StoreError) {
            var receiver = try store.objects.receive(fingerprint)
            var fetchError: FetchError?
            var storeError: StoreError?
            do throws(FetchError) {
                try await fetcher.fetch(path, limit: fingerprint.size, deadline: deadlines.object(of: fingerprint.size))
                {
                    chunk throws(FetchError) in
                    do throws(StoreError) { try receiver.append(chunk) } catch {
                        storeError = error
                        throw .notTaken(path, reason: error.description)
                    }
                    report(.received(bytes: chunk.count))
                }
            } catch { fetchError = error }
            if let storeError { throw storeError }
            switch fetchError {
            case nil: break
            // The answer is not the object: named by its entry, as any other wrong bytes are.
            case .tooLarge: return .failure(.object(entry: request.entry, field: "size"))
            case let error?: return .failure(.fetch(error))
            }
            let received = try end(receiver)
            report(.fileDone(request.entry))
            return .success(received)
        } catch { return .failure(SyncError(error, entry: request.entry)) }
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
        case .file, .lock, .fetch(.cancelled), .fetch(.connection): true
        case .fetch, .trust, .format, .object, .noStore, .storeExists, .rootNamesNoApp, .testingKeys,
            .nothingPending, .nothingToRollBackTo, .nothingInstalled, .waitsForLaunch, .blacklisted, .incompatible:
            false
        }
    }
}
