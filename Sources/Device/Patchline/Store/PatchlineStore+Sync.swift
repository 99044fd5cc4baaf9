import PatchTrust
import NIOConcurrencyHelpers
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchCrypto

extension PatchlineStore {
    /// How long a sync may take, and how often it tries.
    public struct Limits: Equatable, Sendable {
        /// For the whole sync, nil for no end; received bytes are kept.
        public var total: Duration? = .seconds(6 * 3_600)
        /// How long a server may send nothing.
        public var stall = Duration.seconds(30)
        /// How many more tries when the network fails and nothing arrives.
        public var retries = 4
        /// The most bytes a second, of all servers together, at least 1,000; nil for no limit.
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
        /// Whether bytes cost something in this sync; nil: as ``Settings/isMetered`` says.
        public var metering: Metering?

        public init() {}
    }

    /// Whether bytes cost something.
    public enum Metering: Equatable, Sendable {
        case unmetered
        /// What is mandatory comes, and so many bytes of all else.
        case metered(allowance: Int)
    }

    /// A version that a sync leaves for a network on which bytes cost nothing.
    public struct PutOff: Equatable, Sendable {
        public let version: Version
        /// Of its own transfer; nil where nobody can say.
        public let bytes: Int?
        /// Of all that has to come together; nil where nobody can say.
        public let cost: Int?
        /// What was left of the allowance.
        public let left: Int
        /// The ids that have to come with it.
        public let together: [String]
    }

    /// A bundle that came by a pack from a version that was here.
    public struct Pack: Equatable, Sendable {
        public let version: Version
        /// The version that was here.
        public let base: String
        /// The version that the first of two packs made; nil where one led to the bundle itself.
        public let through: String?
        /// What travelled of the pack, and of the signatures beside it.
        public let bytes: Int
        /// About what would have travelled without it.
        public let estimate: Int
        /// About what stayed away.
        public var saved: Int { max(0, estimate - bytes) }
    }

    /// The progress of a sync.
    public enum Progress: Equatable, Sendable {
        /// The release and its list are verified.
        case verified(release: Int, entries: Int)
        /// The files that will be downloaded.
        case downloading(files: Int, bytes: Int)
        /// The part of them received, reported at each new percent.
        case received(percent: Int)
        /// The network failed; the next try comes after this time, or as soon as the network changes.
        case waiting(Duration, because: String)
        /// A newer release is out, and the sync continues with it.
        case newerRelease(Int)
        /// This patch stays as it was.
        case failed(Version, because: String)
        /// This version waits for a network on which bytes cost nothing.
        case putOff(PutOff)
        /// A bundle came by a pack.
        case byPack(Pack)
    }

    /// The outcome of a sync.
    public struct SyncResult: Equatable, Sendable {
        public enum Staging: Equatable, Sendable {
            /// A new selection is pending, and starts then.
            case staged(Start)
            /// All listed versions run or are pending already.
            case nothingNew
            /// The pending selection is no longer offered; the running one stays.
            case unstaged
            /// A trial runs; nothing is staged before it is decided.
            case trialRunning
            /// The running selection changed meanwhile; the next sync chooses again.
            case superseded
            /// The selection could not be written so that it can be read again.
            case refused(String)
        }

        /// When the pending selection starts.
        public enum Start: String, Sendable {
            /// At once, by a running ``PatchlineApp``.
            case atOnce
            /// At any moment: only scripts are new.
            case anyTime
            /// When a page reloads, by ``PatchlineApp/switchToPending()``, or at the next launch.
            case atReload
            /// At the next launch and not before.
            case atNextLaunch
        }

        public let release: Int
        public let staging: Staging
        public let filesReceived: Int
        /// Of these, as they are stored.
        public let bytesReceived: Int
        /// Of these and of what was given up, as they travelled: mostly compressed.
        public let bytesTransferred: Int
        /// Bundles that came by a pack from a version that was here.
        public let packs: [Pack]
        /// Versions that wait for a network on which bytes cost nothing; no failures.
        public let putOff: [PutOff]
        /// Versions that wait for somebody's approval, of each patch the newest.
        public let awaiting: [Awaited]
        /// Patches whose files were made whole again.
        public let healed: [Version]
        /// Patches that stay as they were, each with its reason.
        public let failures: [Failure]
        /// Entries of the list that were refused, in words.
        public let refused: [String]
        /// Listed versions that are not for this device now.
        public let passedOver: [PassedOver]
        /// Servers that failed, were behind or lied, in words.
        public let mirrors: [String]
        /// The server's list is older than the one that this device knows, in words; nothing was taken from it.
        public let staleServer: String?
        /// Whether every patch is as the list wants it.
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
    init(_ version: PutOffVersion) {
        self.version = .init(version.label)
        (bytes, cost, left) = (version.size.bytes, version.wait.cost, version.wait.left)
        together = version.wait.together.map(\.text)
    }
}

extension NetworkUse {
    /// With what a single sync says of itself.
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

/// Turns a sync's reports into the public ``PatchlineStore/Progress``.
final class ProgressTeller: Sendable {
    private let progress = NIOLockedValueBox(SyncProgress())
    private let tell: @Sendable (PatchlineStore.Progress) -> Void

    init(_ tell: @escaping @Sendable (PatchlineStore.Progress) -> Void) {
        self.tell = tell
    }

    func take(_ event: SyncEvent) {
        let percent = progress.withLockedValue { $0.take(event) }
        switch event {
        case .verified(let release, let entries): tell(.verified(release: release, entries: entries))
        case .downloading(let files, let bytes): tell(.downloading(files: files, bytes: bytes))
        case .received: if let percent { tell(.received(percent: percent)) }
        case .waiting(let duration, let error): tell(.waiting(duration, because: error.description))
        case .newerList(let release): tell(.newerRelease(release))
        case .failed(let failure):
            tell(.failed(.init(failure.patchID, failure.version), because: failure.error.description))
        case .putOff(let version): tell(.putOff(.init(version)))
        case .byPack(let use): tell(.byPack(.init(use)))
        case .refused, .approved, .state, .fileDone, .askedPlain, .packBegan, .packRefused, .expressIgnored,
            .networkChanged:
            break
        }
    }
}
