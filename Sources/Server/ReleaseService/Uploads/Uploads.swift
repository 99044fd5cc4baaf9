package import NIOCore
package import PatchFormat
package import PatchServer
package import PatchStore
import PatchCrypto
package import PatchTrust
import ReleaseFolder
package import ServerRecords
import SystemPackage

/// Releases that are being uploaded: begun with their header and role, filled part by part, published when they are complete.
///
/// An upload is identified by its release's content, so beginning it again after an interruption continues it. Only parts that the
/// server lacks are requested. Devices see none of it. The actor holds the state of each upload; its callers write and digest the
/// bytes.
package actor Uploads {
    /// The limit for one app.
    package static let limit = 20
    /// Idle uploads are removed after this time.
    package static let patience = Duration.days(2)

    /// The state that a sender receives.
    package struct State: Equatable, Sendable {
        package let id: String
        package let app: AppID
        package let channel: ChannelName
        package let roleVersion: Int
        /// The missing parts, by name.
        package let needs: [UploadNeed]
        /// The versions in the tree that can be bases of packs, for each missing manifest.
        package let bases: [SHA256Digest: [SHA256Digest]]
    }

    private let operations: ReleaseOperations
    private let totalLimit: Int
    private(set) var open: [String: UploadedRelease] = [:]
    /// Beginning and opening an upload are serialized.
    private var turns: [String: SerialQueue] = [:]
    private var idle = IdleUploads()
    private var beginnings: [AppID: SerialQueue] = [:]
    var receiving: Set<String> = []

    package init(_ operations: ReleaseOperations) {
        self.init(operations, totalLimit: UploadedRelease.totalLimit)
    }

    /// - Parameter totalLimit: the limit of one release's contents together, in bytes.
    package init(_ operations: ReleaseOperations, totalLimit: Int) {
        self.operations = operations
        self.totalLimit = totalLimit
    }

    private var files: any FileOperations { operations.files }

    private func folder(_ id: String, _ app: AppID) -> UploadFolder {
        UploadFolder(path: operations.folder.uploads.at(app.text).at(id), files: files)
    }

    /// Begins an upload, or continues it: signatures from other senders are kept.
    ///
    /// - Parameter sender: the app's limit is divided among senders.
    package func begin(
        _ header: ReleaseHeader,
        _ role: Envelope,
        for app: AppID,
        by sender: Actor = .server
    ) async throws(UploadError) -> State {
        guard header.app == app else { throw .otherApp(header.app) }
        let offer = try await offer(header, role, for: app)
        let id = offer.identity.hex
        do throws(FileError) { try await removeStale() } catch { throw .file(error) }
        try await turn(of: id) { () async throws(UploadError) in
            let folder = folder(id, app)
            var merged = offer
            // One begins at a time, or many at once would all use the last free place.
            try await beginning(app).taken { () async throws(UploadError) in
                try await freeUploadSlot(for: sender.text, beside: id, of: app)
                merged = try await onThread(of: app) { () throws(UploadError) in
                    try folder.begin(offer, by: sender.text)
                }
            }
            if open[id] != nil {
                open[id]?.take(merged)
            } else {
                open[id] = try await load(merged, from: folder)
            }
        }
        return try await state(id, of: app)
    }

    private func freeUploadSlot(for sender: String, beside id: String, of app: AppID) async throws(UploadError) {
        let root = operations.folder.uploads.at(app.text)
        var others: [UploadShares.Waiting] = []
        do throws(FileError) {
            try files.makeDirectory(root)
            for other in try files.list(root) where other != id {
                let folder = folder(other, app)
                let isBusy = receiving.contains { $0.hasPrefix(other) }
                others.append(
                    .init(id: other, sender: folder.sender(), touched: try folder.touched(), isBusy: isBusy)
                )
            }
        } catch { throw .file(error) }
        guard others.count >= Self.limit else { return }
        guard let leaving = UploadShares.leaving(others, for: sender) else { throw .tooMany(limit: Self.limit) }
        try await remove(leaving.id, of: app)
    }

    package func state(_ id: String, of app: AppID) async throws(UploadError) -> State {
        let upload = try await upload(id, of: app)
        return try await onThread(of: app) { () throws(UploadError) in try State(upload) }
    }

    /// The number of received bytes of a part.
    package func offset(of sha256: SHA256Digest, _ id: String, of app: AppID) async throws(UploadError) -> Int {
        let upload = try await upload(id, of: app)
        guard let need = upload.wanted[sha256] else { throw .notWanted(sha256) }
        return try upload.sources.part(need).size
    }

    /// Receives bytes of a part from `offset` on.
    ///
    /// - Returns: the total number of received bytes; the part's size when it is complete.
    package func receive<Body: AsyncSequence & Sendable>(
        _ sha256: SHA256Digest,
        from offset: Int,
        _ body: Body,
        as coding: CompressionFormat? = nil,
        _ id: String,
        of app: AppID
    ) async throws(UploadError) -> Int where Body.Element == ByteBuffer {
        let upload = try await upload(id, of: app)
        guard let need = upload.wanted[sha256] else { throw .notWanted(sha256) }
        guard receiving.insert(id + sha256.hex).inserted else { throw .inUse(sha256) }
        defer { receiving.remove(id + sha256.hex) }
        let part = upload.sources.part(need)
        let there = try part.size
        guard there == offset else { throw .wrongOffset(sha256, next: there) }
        let received = try await part.take(body, from: there, as: coding)
        guard received == need.size else { return received }
        do throws(UploadError) { try await part.settle() } catch {
            throw open[id] == nil ? .unknown(id: id) : error
        }
        open[id]?.arrived(sha256)
        try await readOn(id)
        return received
    }

    func arrived(_ sha256: SHA256Digest, in id: String) { open[id]?.arrived(sha256) }

    func wanted(_ sha256: SHA256Digest, in id: String) -> UploadNeed? { open[id]?.wanted[sha256] }

    /// Reads received lists and manifests, which refer to more parts.
    func readOn(_ id: String) async throws(UploadError) {
        while let path = open[id]?.nextToRead(), let upload = open[id] {
            let contents = try await onThread(of: upload.header.app) { () throws(UploadError) in
                try upload.contents(of: path)
            }
            try open[id]?.take(contents, limit: totalLimit)
        }
    }

    /// Verifies the received release and publishes it, or stores it as a draft.
    ///
    /// - Throws: `incomplete` also if parts were deleted from the server: the state lists them.
    package func publish(
        _ id: String,
        of app: AppID,
        notes: ReleaseNotes,
        starting rollout: StartingRollout? = nil,
        by actor: Actor
    ) async throws(UploadError) -> PublishOutcome {
        let upload = try await recheck(try await upload(id, of: app))
        let release = try await onThread(of: app) { () throws(UploadError) in try upload.release() }
        let outcome: PublishOutcome
        do throws(OperationError) {
            outcome = try await OfferRelease(release, notes: notes, starting: rollout, by: actor, operations).run()
        } catch {
            // A file may have been collected since.
            if case .server(.release(.missing)) = error { _ = try await recheck(upload) }
            throw .operations(error)
        }
        try await remove(id, of: app)
        return outcome
    }

    /// Checks all files again: a garbage collection may have removed needed parts.
    private func recheck(_ upload: UploadedRelease) async throws(UploadError) -> UploadedRelease {
        let id = upload.identity.hex
        let fresh = try await look(upload.offer, at: upload.sources.folder)
        guard let now = open[id] else { throw .unknown(id: id) }
        let arrived = upload.wanted.keys.filter { now.wanted[$0] == nil }
        open[id] = fresh
        open[id]?.take(now.offer)
        for sha256 in arrived { open[id]?.arrived(sha256) }
        try await readOn(id)
        guard let current = open[id] else { throw .unknown(id: id) }
        guard current.wanted.isEmpty else { throw .incomplete(missing: current.wanted.count) }
        return current
    }

    /// The channel that an upload is for.
    package func channel(of id: String, in app: AppID) async throws(UploadError) -> ChannelName {
        try await upload(id, of: app).header.channel
    }

    package func cancel(_ id: String, of app: AppID) async throws(UploadError) {
        _ = try await upload(id, of: app)
        try await remove(id, of: app)
    }

    private func remove(_ id: String, of app: AppID) async throws(UploadError) {
        (open[id], turns[id]) = (nil, nil)
        do throws(FileError) { try await folder(id, app).remove() } catch { throw .file(error) }
    }

    /// Removes uploads that were idle for ``patience``; called before another one begins.
    package func removeStale() async throws(FileError) {
        let now = operations.records.now()
        for (id, folder, touched) in try await UploadFolder.all(below: operations.folder.uploads, files: files) {
            guard idle.isStale(id, touched: touched, now: now, patience: Self.patience),
                !receiving.contains(where: { $0.hasPrefix(id) })
            else { continue }
            (open[id], turns[id]) = (nil, nil)
            idle.forget(id)
            try await folder.remove()
        }
    }

    // MARK: - Opening

    func upload(_ id: String, of app: AppID) async throws(UploadError) -> UploadedRelease {
        guard SHA256Digest(hex: id) != nil else { throw .unknown(id: id) }
        if open[id] == nil {
            let folder = folder(id, app)
            let found = try await onThread(of: app) { () throws(UploadError) in try folder.documents() }
            guard let (header, role) = found else { throw .unknown(id: id) }
            let offer = try await offer(header, role, for: app)
            try await turn(of: id) { () async throws(UploadError) in
                if open[id] == nil { open[id] = try await load(offer, from: folder) }
            }
        }
        guard let upload = open[id], upload.header.app == app else { throw .unknown(id: id) }
        return upload
    }

    private func beginning(_ app: AppID) -> SerialQueue {
        if let turn = beginnings[app] { return turn }
        let turn = SerialQueue()
        beginnings[app] = turn
        return turn
    }

    private func turn(of id: String, _ work: () async throws(UploadError) -> Void) async throws(UploadError) {
        let turn = turns[id] ?? SerialQueue()
        turns[id] = turn
        defer { if open[id] == nil { turns[id] = nil } }
        try await turn.taken(work)
    }

    /// Parts left by an earlier process are digested again.
    private func load(_ offer: ReleaseOffer, from folder: UploadFolder) async throws(UploadError) -> UploadedRelease {
        let upload = try await sources(offer, at: folder.path)
        try await upload.digestAll()
        return try await look(offer, at: folder.path)
    }

    private func sources(_ offer: ReleaseOffer, at path: FilePath) async throws(UploadError) -> UploadSources {
        let operations = operations
        return try await onThread(of: offer.header.app) { () throws(UploadError) in
            let repository: AppRepository
            do throws(ServerError) { repository = try operations.repository(offer.header.app) } catch {
                throw .operations(.server(error))
            }
            return try UploadSources(offer, at: path, in: repository, files: operations.files)
        }
    }

    private func look(_ offer: ReleaseOffer, at path: FilePath) async throws(UploadError) -> UploadedRelease {
        let (sources, limit) = (try await sources(offer, at: path), totalLimit)
        return try await onThread(of: offer.header.app) { () throws(UploadError) in
            try UploadedRelease(offer, on: sources, totalLimit: limit)
        }
    }

    private func offer(_ header: ReleaseHeader, _ role: Envelope, for app: AppID) async throws(UploadError)
        -> ReleaseOffer
    {
        let operations = operations
        do throws(OperationError) {
            return try await operations.reading(documentsOf: app) { () throws(OperationError) in
                try operations.serving(app) { (repository) throws(ServerError) in
                    try ReleaseOffer(of: header, role, to: repository)
                }
            }
        } catch { throw .operations(error) }
    }

    func onThread<Value: Sendable>(
        of app: AppID,
        _ work: @escaping @Sendable () throws(UploadError) -> Value
    ) async throws(UploadError) -> Value {
        let result: Result<Value, UploadError>
        do throws(OperationError) {
            result = try await operations.reading(documentsOf: app) { () throws(OperationError) in
                do throws(UploadError) { return .success(try work()) } catch { return .failure(error) }
            }
        } catch { throw .operations(error) }
        return try result.get()
    }
}

extension Uploads.State {
    fileprivate init(_ upload: UploadedRelease) throws(UploadError) {
        id = upload.identity.hex
        app = upload.header.app
        channel = upload.header.channel
        roleVersion = upload.header.roleVersion
        needs = upload.wanted.values.sorted { ($0.name, $0.sha256) < ($1.name, $1.sha256) }
        bases = try Uploads.bases(of: upload)
    }
}
