import PatchTrust
import PatchChoice
import PatchFormat
import PatchSync
import PatchCrypto

extension PatchlineStore {
    /// What a sync would fetch, and how many bytes that costs.
    public struct SyncCost: Equatable, Sendable {
        /// How a patch would come.
        public enum Way: Equatable, Sendable {
            /// All of it is here.
            case nothing
            /// The text of a script.
            case file
            /// By a pack from this version, which is here, or by two: the second from the version that the first one makes.
            case packs(from: String, count: Int)
            /// The pack of the whole bundle.
            case wholePack
            /// What is missing of the bundle, one by one.
            case singleFiles
            /// The parts of the bundle's pack that hold the missing files.
            case partsOfPack
            /// Its manifest first, which tells what else is missing; the cost is the most that it can be, about.
            case open
        }

        /// One patch that a sync would take, or make whole again.
        public struct Patch: Equatable, Sendable {
            /// What it would be at.
            public let version: Version
            /// What it is at; nil where it is new.
            public let installed: Version?
            /// Whether only files of it are missing or wrong.
            public let isRepair: Bool
            public let way: Way
            /// What would come of it; nil where nobody can say.
            public let bytes: Int?
            /// Whether a server says that it is ``bytes``; else it is about as much.
            public let isExact: Bool
            /// About what all of it costs where nothing of it is here; nil where that says nothing.
            public let whole: Int?
        }

        public let release: Int
        /// The bytes of metadata that came to find this out.
        public let metadataBytes: Int
        /// What would come of all patches; nil where nobody can say it of one.
        public let bytes: Int?
        /// Whether servers say that it is ``bytes``; else it is about as much.
        public let isExact: Bool
        /// About the bytes that would stay away because something is here already.
        public let saved: Int
        /// The patches that would be taken or made whole, also those of which nothing has to come.
        public let patches: [Patch]
        /// Versions that a sync would leave for a network on which bytes cost nothing; ``bytes`` is without them.
        public let putOff: [PutOff]
        /// Whether a sync asks the server for its answer first, which may be another choice.
        public let isUnasked: Bool
        /// Entries of the list that are refused, in words.
        public let refused: [String]
        /// Listed versions that are not for this device now.
        public let passedOver: [PassedOver]
        /// Servers that failed, were behind or lied, in words.
        public let mirrors: [String]
        /// The server's list is older than the one that this device knows, in words.
        public let staleServer: String?
    }

    /// What ``sync(_:report:)`` would fetch now, how, and how many bytes that costs.
    ///
    /// Metadata and the list are fetched, verified and kept as by a sync; nothing else is fetched, staged or counted as a
    /// failure. Where a server says the size of what would come the number is exact.
    ///
    /// - Parameter options: of the sync that it is asked for.
    /// - Throws: as ``sync(_:report:)`` does.
    public func costOfSync(_ options: SyncOptions = SyncOptions()) async throws(PatchlineError) -> SyncCost {
        let device = try present
        let forecast = try await rethrowing { () throws(SyncError) in
            if let forecasting { return try await forecasting(device, options) }
            return try await device.forecast(
                options.limits.deadlines,
                retryFailed: options.retriesFailed,
                network: device.configuration.network.with(options.metering)
            )
        }
        return SyncCost(forecast)
    }
}

extension PatchlineStore.SyncCost {
    init(_ forecast: SyncForecast) {
        let size = forecast.size
        release = forecast.roleVersion
        metadataBytes = forecast.metadata
        (bytes, isExact, saved) = (size.bytes, size.isExact, forecast.saved)
        patches = forecast.rows.filter { $0.task == .take || $0.task == .heal }.map(Patch.init)
        putOff = forecast.putOff.map(PatchlineStore.PutOff.init)
        isUnasked = forecast.isUnasked
        refused = forecast.refused.map(\.fault.description)
        passedOver = forecast.decisions.flatMap { decision in
            decision.passedOver.map { PatchlineStore.PassedOver(decision, $0) }
        }
        mirrors = forecast.mirrors.map(\.description)
        staleServer = forecast.staleMirror?.description
    }
}

extension PatchlineStore.SyncCost.Patch {
    fileprivate init(_ row: SyncForecast.Row) {
        version = .init(row.patchID, row.version)
        installed = row.current.map { .init(row.patchID, $0) }
        isRepair = row.task == .heal
        way = .init(row.cost.way)
        (bytes, isExact) = (row.cost.size.bytes, row.cost.size.isExact)
        whole = row.cost.whole?.bytes
    }
}

extension PatchlineStore.SyncCost.Way {
    init(_ way: TransferCost.Way) {
        switch way {
        case .nothing: self = .nothing
        case .file: self = .file
        case .packs(let base, let count): self = .packs(from: base.text, count: count)
        case .wholePack: self = .wholePack
        case .packRanges: self = .partsOfPack
        case .singleObjects: self = .singleFiles
        case .open: self = .open
        }
    }
}
