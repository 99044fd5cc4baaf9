import PatchTrust
import PatchChoice
import PatchFormat
import PatchSync
import PatchCrypto

extension PatchlineStore {
    /// The versions that a sync would download, and their cost in bytes.
    public struct SyncCost: Equatable, Sendable {
        /// How a patch would be downloaded.
        public enum Way: Equatable, Sendable {
            /// All of its files are already stored.
            case nothing
            /// As the text of a script.
            case file
            /// With one pack from an installed version, or with two: the second is based on the version that the first one makes.
            case packs(from: String, count: Int)
            /// With the pack of the whole bundle.
            case wholePack
            /// With the missing files of the bundle, one by one.
            case singleFiles
            /// With the parts of the bundle's pack that contain the missing files.
            case partsOfPack
            /// With the manifest first, which lists the missing files. The cost is an approximate maximum.
            case open
        }

        /// A patch that a sync would install or repair.
        public struct Patch: Equatable, Sendable {
            /// The version after the sync.
            public let version: Version
            /// The installed version, or nil if the patch is new.
            public let installed: Version?
            /// Whether the version is installed, and only missing or altered files are replaced.
            public let isRepair: Bool
            public let way: Way
            /// The bytes to download, or nil if unknown.
            public let bytes: Int?
            /// Whether ``bytes`` is the exact size reported by a server.
            ///
            /// If false, it is an estimate.
            public let isExact: Bool
            /// The approximate cost of a full download, or nil if it is unknown or not comparable.
            public let whole: Int?
        }

        public let release: Int
        /// The bytes of metadata downloaded to compute this cost.
        public let metadataBytes: Int
        /// The bytes to download for all patches, or nil if unknown for one of them.
        public let bytes: Int?
        /// Whether ``bytes`` is the exact size reported by servers.
        ///
        /// If false, it is an estimate.
        public let isExact: Bool
        /// The approximate bytes saved because files are already stored.
        public let saved: Int
        /// The patches to install or repair, including those that need no download.
        public let patches: [Patch]
        /// The versions that a sync would defer until the network is unmetered.
        ///
        /// ``bytes`` excludes them.
        public let putOff: [PutOff]
        /// Whether a sync would first ask the server, whose answer may change the choice.
        public let isUnasked: Bool
        /// The rejected entries of the list, in words.
        public let refused: [String]
        /// The listed versions that are not for this device now.
        public let passedOver: [PassedOver]
        /// The servers that failed, were outdated or sent invalid data, in words.
        public let mirrors: [String]
        /// The server's list is older than the one that this device knows, in words.
        public let staleServer: String?
    }

    /// Returns the versions that ``sync(_:report:)`` would download now, how, and their cost in bytes.
    ///
    /// Metadata and the list are downloaded, verified and stored as in a sync. Nothing else is downloaded or staged, and no failure
    /// is counted. The cost is exact if a server reports the size of the download.
    ///
    /// - Parameter options: The options of the sync.
    /// - Throws: The errors of ``sync(_:report:)``.
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
