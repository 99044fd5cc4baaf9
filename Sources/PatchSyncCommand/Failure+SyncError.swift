import PatchFormat
import PatchStore
import PatchSync
import PatchTrust
import Terminal

extension Failure {
    /// The sentence, the hint and the exit code of everything that can go wrong here, in one place.
    init(_ error: SyncError) {
        self.init(error.description, hint: error.hint, exitCode: error.exitCode)
    }
}

extension SyncError {
    var exitCode: ExitCode {
        switch self {
        case .fetch(let error): error.isNetwork ? .network : .refused
        case .trust(.malformed), .format, .rootNamesNoApp: .malformed
        case .trust, .object, .testingKeys: .refused
        case .file, .noStore, .storeExists: .disk
        case .lock(.held): .busy
        case .lock(.file): .disk
        case .nothingPending, .nothingToRollBackTo, .nothingInstalled, .waitsForLaunch: .failed
        case .blacklisted, .incompatible: .refused
        }
    }

    fileprivate var hint: String? {
        switch self {
        case .fetch(.connection), .fetch(.timedOut):
            "Is the server running, and is --server right? What is installed keeps running."
        case .fetch(.notFound("metadata/timestamp.json")):
            "The server has nothing for this app: check --server, and that `patchsrv init` ran."
        case .fetch(.notFound):
            "The published tree is incomplete; `patchsrv publish` again. What is installed keeps running."
        case .trust(.clockAheadOrStale("timestamp", _, _)), .trust(.clockAheadOrStale("snapshot", _, _)):
            "The server must run `patchsrv refresh`; or this device's clock is ahead. What is installed keeps running."
        case .trust(.clockAheadOrStale):
            "Look at this device's clock; else the role must be signed again. What is installed keeps running."
        case .trust(.clockBehind):
            "Set this device's clock; the role must be signed again too. What is installed keeps running."
        case .trust(.expired): "The role must be signed again. What is installed keeps running."
        case .trust(.rolledBack):
            "A mirror or server is behind, or someone replays old metadata. What is installed keeps running."
        case .trust(.notInSnapshot(let role)):
            "Publish a release of channel \(role) first, or choose another with `init --channel`."
        case .trust(.threshold):
            "Somebody changed it after it was signed, or it was signed by other keys than this app trusts."
        case .trust, .object, .fetch: "Nothing was installed; what is installed keeps running."
        case .noStore: "Make one: patchsync init --store DIR --root root.json --server URL"
        case .storeExists: "Choose another folder; a store is made once."
        case .lock(.held): "Another patchsync works on this store; wait for it, or stop it."
        case .testingKeys: "The keys of Keys/Testing are for tests only; make your own with `patchsign init`."
        case .rootNamesNoApp: "Use the root.json that `patchsign init` wrote."
        case .nothingPending: "Run `patchsync sync` first."
        case .nothingToRollBackTo: "Only a version that was confirmed before can be gone back to."
        case .waitsForLaunch: "Its rules say runAtNextLaunch: stop `patchsync serve` and start it again."
        case .blacklisted, .incompatible: "What is installed keeps running."
        case .nothingInstalled: "Run `patchsync sync`, then `patchsync serve`."
        case .file(.noSpace): "Free some space and run the same command again; nothing is lost."
        case .file(.permission), .file(.readOnly): "The store must be writable by the user that runs patchsync."
        case .file, .lock, .format: nil
        }
    }
}

/// Runs device work with its errors in the command's words.
func reporting<Result>(_ body: () async throws(SyncError) -> Result) async throws(Failure) -> Result {
    do throws(SyncError) { return try await body() } catch { throw Failure(error) }
}
