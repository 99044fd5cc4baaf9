package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust
package import SystemPackage

/// The files of a device.
///
/// ```
/// STORE/
///   config.json                app, server and channel from `init`, other settings, and the host of the app's pages
///   device.json                device id
///   access-token               0600; the token that opens the app's pages (`patchsync serve`)
///   trust/                     TUF metadata as received; root_history/N.root.json
///   channels/CHANNEL/          state.json and state.previous.json; patchlist.json, dial.json and parameters.json as last
///                              verified; state.damaged.json, where there was one; sync.json, whether the last sync failed;
///                              express.json, the last express answers of servers
///   channels/CHANNEL/selections/<sha256>.json    the content of a selection, named by the digest of its bytes
///   objects/ab/<sha256>        0444, made by rename
///   bundles/<manifest sha256>/ hard links to objects under their asset paths
///   indexes/<manifest sha256>  data of a bundle that a start needs; created again if missing
///   signatures/<manifest sha256>  the column of a bundle in which every signature was checked
///   Downloading/ PartialDownload/ quarantine/    never served
///   verified                   the file identity of each object when it was last hashed
///   verified-embedded          the same for the embedded files
///   serving/                   the selections that running servers serve; clean-up keeps their files
///   servers/                   the programs that serve the store now, each with its process and port
///   events.log                 events, with events.previous.log before it; events.lock is held while they are exchanged
///   lock  sync.lock            held for one change of state; held by the one running sync
///   serving.lock               held by the one program that serves the store
/// ```
package struct DeviceStore: Sendable {
    package let root: FilePath
    package let files: any FileOperations
    package var objects: ObjectStore
    /// The keys that may sign for this device.
    package let admission: KeyAdmission
    /// The embedded files, if any.
    package internal(set) var embedded: EmbeddedFiles?
    /// False for a disk in memory, which only one process can access.
    package let isShared: Bool
    let cache = SelectionCache()
    /// The largest selection in bytes that may be written.
    ///
    /// It does not exceed the size that readers accept.
    var selectionLimit = Limits.selection

    package init(
        root: FilePath,
        files: any FileOperations,
        isShared: Bool = true,
        admitting admission: KeyAdmission = .noTestingKeys
    ) {
        self.root = root
        self.files = files
        self.isShared = isShared
        self.admission = admission
        objects = ObjectStore(
            root: root.at("objects"),
            incoming: root.at("PartialDownload"),
            files: files
        )
    }

    package var bundles: FilePath { root.at("bundles") }
    package var downloading: FilePath { root.at("Downloading") }
    package var writerLock: FilePath { root.at("lock") }
    package var syncLock: FilePath { root.at("sync.lock") }
    package var trust: TrustStore { TrustStore(folder: root.at("trust"), files: files) }

    package func bundle(_ manifest: SHA256Digest) -> FilePath {
        bundles.at(manifest.hex)
    }

    package var configurationFile: FilePath { root.at("config.json") }

    func directory(of channel: ChannelName) -> FilePath {
        root.at("channels").at(channel.text)
    }

    // MARK: Channels

    /// All channels for which this device has a state.
    func channels() throws(SyncError) -> [ChannelName] {
        do throws(FileError) {
            return try files.list(root.at("channels")).compactMap { ChannelName($0) }
        } catch .notFound {
            return []
        } catch { throw .file(error) }
    }

    func patchList(of channel: ChannelName) throws(SyncError) -> [UInt8]? {
        try optional(directory(of: channel).at("patchlist.json"), limit: Limits.patchList)
    }

    func dial(of channel: ChannelName) throws(SyncError) -> [UInt8]? {
        try optional(directory(of: channel).at("dial.json"), limit: Limits.dial)
    }

    func saveDial(_ bytes: [UInt8], of channel: ChannelName) throws(SyncError) {
        try save(bytes, as: "dial.json", of: channel)
    }

    package func parametersFile(_ channel: ChannelName) -> FilePath {
        directory(of: channel).at("parameters.json")
    }

    func parameters(of channel: ChannelName) throws(SyncError) -> [UInt8]? {
        try optional(parametersFile(channel), limit: Limits.parameters)
    }

    func saveParameters(_ bytes: [UInt8], of channel: ChannelName) throws(SyncError) {
        try save(bytes, as: "parameters.json", of: channel)
    }

    func removeParameters(of channel: ChannelName) throws(SyncError) {
        try wrapped { () throws(FileError) in
            try files.removeIfPresent(parametersFile(channel))
            try files.syncDirectory(directory(of: channel))
        }
    }

    /// Returns an empty record if the file is not valid.
    func expressRecord(of channel: ChannelName) -> ExpressRecord {
        let bytes = try? optional(directory(of: channel).at("express.json"), limit: Limits.stateFile)
        return bytes.flatMap { try? ExpressRecord($0) } ?? ExpressRecord()
    }

    /// Errors are ignored: the record only saves requests.
    func save(_ record: ExpressRecord, of channel: ChannelName) {
        try? save(record.json.fileBytes, as: "express.json", of: channel)
    }

    func savePatchList(_ bytes: [UInt8], of channel: ChannelName) throws(SyncError) {
        try save(bytes, as: "patchlist.json", of: channel)
    }

    func save(_ bytes: [UInt8], as name: String, of channel: ChannelName) throws(SyncError) {
        try wrapped { () throws(FileError) in
            try files.makeDirectory(directory(of: channel))
            try files.replace(name, in: directory(of: channel), with: bytes)
        }
    }

    /// Removes other channels' folders, this channel's list and dial, and partial downloads.
    func forget(allBut channel: ChannelName) throws(SyncError) {
        try wrapped { () throws(FileError) in
            for name in ["patchlist.json", "dial.json", "express.json"] {
                try files.removeIfPresent(directory(of: channel).at(name))
            }
            try forgetPreviousState(of: channel)
            for name in try files.list(root.at("channels")) where name != channel.text {
                try files.removeTree(root.at("channels").at(name))
            }
            try files.syncDirectory(root.at("channels"))
            try objects.removePartialDownloads()
        }
    }

    package func records() -> VerifiedRecords {
        VerifiedRecords.load(root.at("verified"), from: files)
    }

    func save(_ records: VerifiedRecords) throws(SyncError) {
        try wrapped { () throws(FileError) in try records.save("verified", in: root, of: files) }
    }

    /// The records of the embedded files, by their digests.
    func shippedRecords() -> VerifiedRecords {
        guard embedded != nil else { return VerifiedRecords() }
        return VerifiedRecords.load(root.at("verified-embedded"), from: files)
    }

    func save(shipped records: VerifiedRecords) throws(SyncError) {
        try wrapped { () throws(FileError) in try records.save("verified-embedded", in: root, of: files) }
    }

    // MARK: Making and opening

    /// Creates a store from a root of trust that was not downloaded.
    ///
    /// - Parameter shipped: The selection that the device runs from its first start.
    package static func create(
        _ store: DeviceStore,
        configuration: DeviceConfiguration,
        rootBytes: [UInt8],
        identity: DeviceIdentity,
        shipped: VerifiedEmbedded? = nil
    ) throws(SyncError) {
        let files = store.files
        if try store.optional(store.configurationFile, limit: Limits.stateFile) != nil {
            throw .storeExists(store.root)
        }
        // Checked before any file is created: a bundle is a folder of hard links.
        if store.isShared, let fault = DiskFiles().linkFault(at: store.root) { throw .file(fault) }
        try store.wrapped { () throws(FileError) in
            for directory in [store.root, store.bundles, store.downloading] { try files.makeDirectory(directory) }
            try store.trust.prepare()
            try store.objects.prepare()
            try files.replace("root.json", in: store.trust.folder, with: rootBytes)
        }
        try store.save(identity)
        if let shipped {
            try store.save(shipped: shipped.records)
            store.recordChecked(shipped)
            try store.save(DeviceState(startingFrom: shipped, in: configuration.channel), of: configuration.channel)
        }
        // Written last: a folder with a configuration counts as a store.
        try store.save(configuration)
    }

    package func configuration() throws(SyncError) -> DeviceConfiguration {
        guard let bytes = try optional(configurationFile, limit: Limits.stateFile) else {
            throw .noStore(root)
        }
        do throws(FormatError) {
            return try DeviceConfiguration(bytes, named: configurationFile.string)
        } catch { throw .format(error) }
    }

    /// - Throws: `unreadable`, with nothing changed, for a configuration that could not be read again.
    package func save(_ configuration: DeviceConfiguration) throws(SyncError) {
        try replace("config.json", by: configuration.json.fileBytes) { bytes throws(FormatError) in
            try DeviceConfiguration(bytes, named: configurationFile.string) == configuration
        }
    }

    private func replace(
        _ name: String,
        by bytes: [UInt8],
        isRead: ([UInt8]) throws(FormatError) -> Bool
    ) throws(SyncError) {
        do throws(FormatError) {
            guard try isRead(bytes) else {
                throw FormatError(root.at(name).string, rule: StoreRule.readBack)
            }
        } catch { throw .unreadable(error) }
        try wrapped { () throws(FileError) in try files.replace(name, in: root, with: bytes) }
    }

    package func deviceID() throws(SyncError) -> [UInt8] {
        try identity().deviceID
    }

    package func identity() throws(SyncError) -> DeviceIdentity {
        let path = root.at("device.json")
        guard let bytes = try optional(path, limit: Limits.stateFile) else { throw .storeIncomplete(path) }
        do throws(FormatError) {
            return try DeviceIdentity(bytes, named: path.string)
        } catch { throw .format(error) }
    }

    func save(_ identity: DeviceIdentity) throws(SyncError) {
        try replace("device.json", by: identity.json.fileBytes) { bytes throws(FormatError) in
            try DeviceIdentity(bytes, named: root.at("device.json").string) == identity
        }
    }

    // MARK: Small things

    func optional(_ path: FilePath, limit: Int) throws(SyncError) -> [UInt8]? {
        do throws(FileError) {
            return try files.read(path, limit: limit)
        } catch .notFound {
            return nil
        } catch { throw .file(error) }
    }

    func wrapped<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(SyncError) -> Result {
        do throws(FileError) { return try body() } catch { throw .file(error) }
    }
}

/// The name under which pages are served.
extension DeviceStore {
    /// Serves pages under this name from the next start.
    ///
    /// The pages' browser storage does not move to it.
    package func serve(under host: PagesHost) async throws(SyncError) {
        guard host != (try configuration().pages.host) else { return }
        var change = FactChanges()
        change.host = host
        try await changingConfiguration { [change] configuration in change.apply(to: &configuration) }
    }
}

/// `indexes/<manifest sha256>`: the index of an installed bundle, followed by the SHA-256 of these bytes.
extension DeviceStore {
    var indexes: FilePath { root.at("indexes") }

    /// Returns nil if the index is missing or not valid.
    package func index(of manifest: SHA256Digest) -> BundleIndex? {
        guard
            var bytes = try? files.read(indexes.at(manifest.hex), limit: Limits.bundleIndex),
            let digest = SHA256Digest(bytes: bytes.suffix(SHA256.byteCount))
        else { return nil }
        bytes.removeLast(SHA256.byteCount)
        guard SHA256Digest(of: bytes) == digest else { return nil }
        return BundleIndex(bytes, of: manifest)
    }

    /// Stores the index durably.
    func save(_ index: consuming BundleIndex) throws(FileError) {
        try files.makeDirectory(indexes)
        let name = index.manifest.hex
        try files.replace(name, in: indexes, with: index.bytes + SHA256Digest(of: index.bytes).bytes)
    }

    /// Removes the indexes of all other bundles.
    func removeIndexes(except kept: Set<SHA256Digest>) throws(FileError) {
        try removeAll(in: indexes, except: kept)
    }
}
