import PatchFetch
import PatchFormat
import PatchStore

/// A request for one object.
struct ObjectRequest: Sendable {
    let expected: ExpectedFile
    /// The path below `/APP/`.
    let path: String
    /// The entry that needs the object, in words.
    let entry: String

    init(_ expected: ExpectedFile, path: String, entry: String) {
        self.expected = expected
        self.path = path
        self.entry = entry
    }
}

extension SyncError {
    init(_ error: StoreError, entry: String) {
        switch error {
        case .mismatch(_, let field): self = .object(entry: entry, field: field)
        case .file(let error): self = .file(error)
        }
    }

    /// Whether no other file can be downloaded either: the disk, the lock or the connection to the server is at fault.
    var endsSync: Bool {
        switch self {
        case .file, .lock, .fetch(.cancelled), .fetch(.connection), .fetch(.noAddress), .fetch(.tls),
            .fetch(.syncDeadline):
            true
        case .fetch, .trust, .format, .object, .pack, .noStore, .storeIncomplete, .storeExists, .rootNamesNoApp,
            .nothingPending, .nothingToRollBackTo, .nothingInstalled, .waitsForLaunch, .heldBack, .noRoom, .blacklisted,
            .incompatible,
            .embedded, .otherAppBuild, .trialRunning, .waitsForTrial, .notKept, .unreadable:
            false
        }
    }

    /// Whether the error is independent of the server that was asked.
    var isOwn: Bool {
        switch self {
        case .file, .lock, .noRoom, .fetch(.cancelled), .fetch(.syncDeadline): true
        default: false
        }
    }

    var fetchError: FetchError? {
        if case .fetch(let error) = self { error } else { nil }
    }
}
