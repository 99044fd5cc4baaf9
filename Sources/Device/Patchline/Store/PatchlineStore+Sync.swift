import PatchTrust
import NIOConcurrencyHelpers
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchCrypto

extension PatchlineStore {
    /// The limits of a sync: its duration, retries and rate.
    public struct Limits: Equatable, Sendable {
        /// The limit for the whole sync, or nil for no limit.
        ///
        /// Received bytes are kept.
        public var total: Duration? = .seconds(6 * 3_600)
        /// The longest time without data from a server.
        public var stall = Duration.seconds(30)
        /// The number of retries if the network fails and no data arrives.
        public var retries = 4
        /// The maximum rate in bytes per second, for all servers together, at least 1,000; nil for no limit.
        public var bytesPerSecond: Int?

        public init() {}

        var deadlines: Deadlines {
            var deadlines = Deadlines()
            deadlines.sync = total
            deadlines.stall = stall
            deadlines.retries = retries
            deadlines.rate = bytesPerSecond.map { max($0, Deadlines.leastRate) }
            return deadlines
        }
    }

    public struct SyncOptions: Equatable, Sendable {
        /// Whether to retry versions that wait after a failed trial or failed transfers.
        public var retriesFailed = false
        public var limits = Limits()
        /// Whether the network is metered for this sync; nil for the value of ``Settings/isMetered``.
        public var metering: Metering?

        public init() {}
    }

    /// Whether the network is metered.
    public enum Metering: Equatable, Sendable {
        case unmetered
        /// Mandatory versions are downloaded, and other versions within this number of bytes.
        case metered(allowance: Int)
    }

    /// A version deferred until the network is unmetered.
    public struct PutOff: Equatable, Sendable {
        public let version: Version
        /// The bytes of the version's own download, or nil if unknown.
        public let bytes: Int?
        /// The bytes of all versions that must be downloaded together, or nil if unknown.
        public let cost: Int?
        /// The rest of the allowance.
        public let left: Int
        /// The ids of the patches that must be installed together with this one.
        public let together: [String]
    }

    /// A bundle downloaded as a pack from an installed version.
    public struct Pack: Equatable, Sendable {
        public let version: Version
        /// The installed version that the pack is based on.
        public let base: String
        /// The version that the first of two packs made, or nil if there was one pack.
        public let through: String?
        /// The bytes transferred for the pack and its signatures.
        public let bytes: Int
        /// The approximate bytes of a download without the pack.
        public let estimate: Int
        /// The approximate bytes saved.
        public var saved: Int { max(0, estimate - bytes) }
    }

    /// The progress of a sync.
    public enum Progress: Equatable, Sendable {
        /// The release and its list are verified.
        case verified(release: Int, entries: Int)
        /// The files that will be downloaded.
        case downloading(files: Int, bytes: Int)
        /// The received part of these files. Reported at each new percent.
        case received(percent: Int)
        /// The network failed. The sync tries again after this time, or as soon as the network changes.
        case waiting(Duration, because: String)
        /// A newer release was published, and the sync continues with it.
        case newerRelease(Int)
        /// This patch was not updated.
        case failed(Version, because: String)
        /// This version waits for an unmetered network.
        case putOff(PutOff)
        /// A bundle was downloaded as a pack.
        case byPack(Pack)
    }

    /// The outcome of a sync.
    public struct SyncResult: Equatable, Sendable {
        public enum Staging: Equatable, Sendable {
            /// A new selection is pending. The value states when it starts.
            case staged(Start)
            /// All listed versions are already running or pending.
            case nothingNew
            /// The pending selection is no longer listed. The running one stays.
            case unstaged
            /// A trial is in progress. Nothing is staged before it ends.
            case trialRunning
            /// The running selection changed during the sync. The next sync chooses again.
            case superseded
            /// The selection could not be stored in a readable form.
            case refused(String)
        }

        /// When the pending selection starts.
        public enum Start: String, Sendable {
            /// At once, by a running ``PatchlineApp``.
            case atOnce
            /// At any time, because only scripts are new.
            case anyTime
            /// When a page reloads, through ``PatchlineApp/switchToPending()``, or at the next launch.
            case atReload
            /// Only at the next launch.
            case atNextLaunch
        }

        public let release: Int
        public let staging: Staging
        public let filesReceived: Int
        /// The size of these files as stored.
        public let bytesReceived: Int
        /// The bytes transferred for these files and for abandoned downloads, usually compressed.
        public let bytesTransferred: Int
        /// The bundles downloaded as packs from an installed version.
        public let packs: [Pack]
        /// The versions that wait for an unmetered network.
        ///
        /// They are not failures.
        public let putOff: [PutOff]
        /// The newest version of each patch that waits for approval.
        public let awaiting: [Awaited]
        /// The patches whose files were repaired.
        public let healed: [Version]
        /// The patches that were not updated, each with the reason.
        public let failures: [Failure]
        /// The rejected entries of the list, in words.
        public let refused: [String]
        /// The listed versions that are not for this device now.
        public let passedOver: [PassedOver]
        /// The servers that failed, were outdated or sent invalid data, in words.
        public let mirrors: [String]
        /// The server's list is older than the one that this device knows, in words.
        ///
        /// No data of that server was used.
        public let staleServer: String?
        /// Whether every patch is in the state that the list requires.
        public let isComplete: Bool
    }

    public struct Failure: Equatable, Sendable {
        public let version: Version
        public let error: PatchlineError
    }
}

extension PatchlineStore.SyncResult {
    init(_ report: SyncReport) {
        release = report.roleVersion
        staging = .init(report.staging, report.activates)
        filesReceived = report.filesReceived
        bytesReceived = report.bytesReceived
        bytesTransferred = report.bytesTransferred
        packs = report.packs.map(PatchlineStore.Pack.init)
        putOff = report.putOff.map(PatchlineStore.PutOff.init)
        awaiting = report.awaiting.map(PatchlineStore.Awaited.init)
        healed = report.healed.map(PatchlineStore.Version.init)
        failures = report.failures.map { failure in
            PatchlineStore.Failure(
                version: .init(failure.patchID, failure.version),
                error: PatchlineError(failure.error)
            )
        }
        refused = report.refused.map(\.fault.description)
        passedOver = report.decisions.flatMap { decision in
            decision.passedOver.map { PatchlineStore.PassedOver(decision, $0) }
        }
        mirrors = report.mirrors.map(\.description)
        staleServer = report.staleMirror?.description
        isComplete = report.isComplete
    }
}

extension PatchlineStore.Pack {
    init(_ use: PackUse) {
        version = .init(use.label)
        (base, through) = (use.base.text, use.through?.text)
        (bytes, estimate) = (use.bytes, use.estimate)
    }
}

extension PatchlineStore.PutOff {
    init(_ version: DeferredVersion) {
        self.version = .init(version.label)
        (bytes, cost, left) = (version.size.bytes, version.wait.cost, version.wait.left)
        together = version.wait.together.map(\.text)
    }
}

extension NetworkUse {
    /// Returns the network use with the metering of a single sync.
    func with(_ metering: PatchlineStore.Metering?) -> NetworkUse {
        var network = self
        switch metering {
        case nil: break
        case .unmetered: network.isMetered = false
        case .metered(let allowance): (network.isMetered, network.allowance) = (true, max(0, allowance))
        }
        return network
    }
}

extension PatchlineStore.SyncResult.Staging {
    fileprivate init(_ staging: SelectionMachine.Staging, _ activates: ActivationTime) {
        switch staging {
        case .staged:
            switch activates {
            case .atOnce: self = .staged(.atOnce)
            case .anyTime: self = .staged(.anyTime)
            case .atReload: self = .staged(.atReload)
            case .atNextLaunch: self = .staged(.atNextLaunch)
            }
        case .unchanged: self = .nothingNew
        case .unstaged: self = .unstaged
        case .trialRunning: self = .trialRunning
        case .superseded: self = .superseded
        case .refused(let error): self = .refused(error.description)
        }
    }
}

/// Converts a sync's events into the public ``PatchlineStore/Progress``.
final class ProgressReporter: Sendable {
    private let progress = NIOLockedValueBox(SyncProgress())
    private let notify: @Sendable (PatchlineStore.Progress) -> Void

    init(_ notify: @escaping @Sendable (PatchlineStore.Progress) -> Void) {
        self.notify = notify
    }

    func take(_ event: SyncEvent) {
        let percent = progress.withLockedValue { $0.take(event) }
        switch event {
        case .verified(let release, let entries): notify(.verified(release: release, entries: entries))
        case .downloading(let files, let bytes): notify(.downloading(files: files, bytes: bytes))
        case .received: if let percent { notify(.received(percent: percent)) }
        case .waiting(let duration, let error): notify(.waiting(duration, because: error.description))
        case .newerList(let release): notify(.newerRelease(release))
        case .failed(let failure):
            notify(.failed(.init(failure.patchID, failure.version), because: failure.error.description))
        case .putOff(let version): notify(.putOff(.init(version)))
        case .byPack(let use): notify(.byPack(.init(use)))
        case .refused, .approved, .state, .fileDone, .plainRequested, .packBegan, .packRefused, .expressIgnored,
            .networkChanged:
            break
        }
    }
}
