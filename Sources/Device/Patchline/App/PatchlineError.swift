import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import PatchTrust
import PatchCrypto
import ReleaseFolder

/// An error of the library: a sentence, and a code for programs.
public struct PatchlineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// Later versions may add kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The caller gave an invalid value, such as a malformed URL, name or rule.
        ///
        /// Nothing was changed.
        public static let invalid = Code(description: "invalid")
        /// The folder does not contain a store.
        ///
        /// Call ``PatchlineStore/make(_:from:)`` first.
        public static let noStore = Code(description: "noStore")
        /// The server was unreachable or answered incorrectly.
        ///
        /// Trying again may help.
        public static let network = Code(description: "network")
        /// A signature, digest or expiry is invalid, or trusted metadata was rolled back.
        ///
        /// A person must investigate.
        public static let refused = Code(description: "refused")
        /// A document of the server or the store is malformed.
        public static let malformed = Code(description: "malformed")
        /// A file could not be read or written.
        public static let disk = Code(description: "disk")
        /// Another process syncs this store or uses the port.
        ///
        /// Try again later.
        public static let busy = Code(description: "busy")
        /// The task was cancelled, or the app was stopped.
        public static let cancelled = Code(description: "cancelled")
        /// The target does not exist: no version is installed, pending, or available for a rollback.
        public static let nothingThere = Code(description: "nothingThere")
        /// The pending version, or the one on trial, does not allow it now.
        public static let notNow = Code(description: "notNow")
        /// Any other error.
        public static let other = Code(description: "other")
    }

    public let code: Code
    public let description: String

    init(_ description: String, code: Code = .invalid) {
        self.description = description
        self.code = code
    }

    init(_ error: SyncError) { self.init(error.description, code: Code(error)) }

    init(_ error: LocalServerError) {
        switch error {
        case .portInUse(let port): self.init("port \(port) is taken by another program", code: .busy)
        case .device(let error): self.init(error)
        case .listener(let error): self.init("pages cannot be served: \(error)", code: .other)
        case .alreadyStarting: self.init("the app is already starting", code: .notNow)
        case .stopped: self.init("the app was stopped while it started", code: .cancelled)
        case .other(let text): self.init(text, code: .other)
        }
    }
}

extension PatchlineError.Code {
    fileprivate init(_ error: SyncError) {
        switch error {
        case .fetch(.cancelled): self = .cancelled
        case .fetch(.tls(.noAuthority)): self = .invalid
        case .fetch(let error): self = error.isNetwork ? .network : .refused
        case .trust(.malformed), .format, .rootNamesNoApp, .unreadable, .embedded(_, .format): self = .malformed
        case .trust, .object, .pack, .blacklisted, .incompatible, .embedded(_, .trust), .otherAppBuild: self = .refused
        case .noStore: self = .noStore
        case .file, .noRoom, .storeIncomplete, .storeExists, .lock(.file), .embedded(_, .file), .embedded(_, .missing):
            self = .disk
        case .lock(.held): self = .busy
        case .nothingPending, .nothingToRollBackTo, .nothingInstalled: self = .nothingThere
        case .waitsForLaunch, .heldBack, .trialRunning, .waitsForTrial, .notKept: self = .notNow
        }
    }
}

/// Runs asynchronous device work, and converts its errors into the library's own.
func rethrowing<Result>(_ body: () async throws(SyncError) -> Result) async throws(PatchlineError) -> Result {
    do throws(SyncError) { return try await body() } catch { throw PatchlineError(error) }
}

/// Runs synchronous device work, and converts its errors into the library's own.
func rethrown<Result>(_ body: () throws(SyncError) -> Result) throws(PatchlineError) -> Result {
    do throws(SyncError) { return try body() } catch { throw PatchlineError(error) }
}
