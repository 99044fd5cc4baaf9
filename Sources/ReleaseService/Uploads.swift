package import NIOCore
package import PatchFormat
package import PatchServer
package import PatchStore
package import PatchTrust
import ReleaseFolder
package import ServerRecords
import SystemPackage

/// Releases that are being uploaded: begun with what they say of themselves, filled part by part, published when they
/// are whole.
///
/// An upload has the name of its release's content, so whoever begins it again after an interruption goes on with it.
/// Only what the server lacks is asked for. Nothing of it can be seen by a device.
package actor Uploads {
    /// Of one app at a time.
    package static let limit = 20
    /// An upload to which nothing came for so long is removed.
    package static let patience = Duration.days(2)

    /// What a sender is told.
    package struct State: Equatable, Sendable {
        package let id: String
        package let app: AppID
        package let channel: ChannelName
        package let roleVersion: Int
        /// What is left to be sent, by name.
        package let needs: [UploadNeed]
    }

    private let desk: ReleaseDesk
    private var open: [String: UploadedRelease] = [:]
    private var receiving: Set<String> = []

    package init(_ desk: ReleaseDesk) {
        self.desk = desk
    }

    private var files: any FileOperations { desk.files }
    private func folder(_ app: AppID) -> FilePath { desk.folder.uploads.appending(app.text) }

    /// Begins an upload, or goes on with it.
    package func begin(
        _ header: ReleaseHeader,
        _ role: Envelope,
        for app: AppID
    ) async throws(UploadError) -> State {
        guard header.app == app else { throw .otherApp(header.app) }
        let parsed = try await looking(app) { (repository) throws(ServerError) in
            try repository.checkOffer(of: header, role)
        }
        let id = role.identity.hex
        let folder = folder(app).appending(id)
        let others: Int
        do throws(FileError) {
            try files.makeDirectory(self.folder(app))
            try removeStale()
            others = try files.list(self.folder(app)).count { $0 != id }
        } catch { throw .file(error) }
        guard others < Self.limit else { throw .tooMany(limit: Self.limit) }
        do throws(FileError) {
            try files.makeDirectory(folder.appending("blobs"))
            try files.replace("role.json", in: folder, with: role.fileBytes)
            try files.replace("release.json", in: folder, with: header.json.fileBytes)
        } catch { throw .file(error) }
        let upload = try await load(header, role, parsed, at: folder)
        open[id] = upload
        return state(upload)
    }

    package func state(_ id: String, of app: AppID) async throws(UploadError) -> State {
        state(try await upload(id, of: app))
    }

    /// How many bytes of a part are here.
    package func offset(of sha256: SHA256Digest, _ id: String, of app: AppID) async throws(UploadError) -> Int {
        let upload = try await upload(id, of: app)
        guard upload.wanted[sha256] != nil else { throw .notWanted(sha256) }
        return try size(of: upload.part(sha256))
    }

    /// Takes bytes of a part from `offset` on.
    ///
    /// - Returns: how many are here now; the part's size when it is whole.
    package func receive<Body: AsyncSequence & Sendable>(
        _ sha256: SHA256Digest,
        from offset: Int,
        _ body: Body,
        _ id: String,
        of app: AppID
    ) async throws(UploadError) -> Int where Body.Element == ByteBuffer {
        let upload = try await upload(id, of: app)
        guard let need = upload.wanted[sha256] else { throw .notWanted(sha256) }
        guard receiving.insert(id + sha256.hex).inserted else { throw .inUse(sha256) }
        defer { receiving.remove(id + sha256.hex) }
        let part = upload.part(sha256)
        let there = try size(of: part)
        guard there == offset else { throw .wrongOffset(sha256, next: there) }
        let received = try await take(body, of: need, at: part, from: there)
        guard received == need.size else { return received }
        try settle(part, of: need, as: upload.blob(sha256))
        guard var current = open[id] else { throw .unknown(id: id) }
        try current.received(need, in: try repository(app), files: files)
        open[id] = current
        return received
    }

    /// Verifies what has come and publishes it, or keeps it as a draft.
    package func publish(
        _ id: String,
        of app: AppID,
        notes: ReleaseNotes,
        by actor: Actor
    ) async throws(UploadError) -> PublishOutcome {
        let upload = try await upload(id, of: app)
        let release = try upload.release(in: try repository(app), files: files)
        let outcome: PublishOutcome
        do throws(DeskError) { outcome = try await desk.publish(release, notes: notes, by: actor) } catch {
            throw .desk(error)
        }
        try remove(id, of: app)
        return outcome
    }

    package func cancel(_ id: String, of app: AppID) async throws(UploadError) {
        _ = try await upload(id, of: app)
        try remove(id, of: app)
    }

    /// Removes uploads to which nothing came for ``patience``; looked for whenever one begins.
    package func removeStale() throws(FileError) {
        let root = desk.folder.uploads
        let now = desk.records.now()
        guard try files.status(of: root) != nil else { return }
        for app in try files.list(root) {
            for id in try files.list(root.appending(app)) where !receiving.contains(where: { $0.hasPrefix(id) }) {
                let folder = root.appending(app).appending(id)
                let touched = try touched(folder)
                guard UTCTime(seconds: Int(touched / 1_000_000_000)).adding(Self.patience) < now else { continue }
                try files.removeTree(folder)
                open[id] = nil
            }
        }
    }

    /// When something was last written of an upload, in nanoseconds.
    private func touched(_ folder: FilePath) throws(FileError) -> Int64 {
        let blobs = folder.appending("blobs")
        var paths = [folder, blobs]
        if try files.status(of: blobs) != nil { paths += try files.list(blobs).map { blobs.appending($0) } }
        var newest: Int64 = 0
        for path in paths { newest = max(newest, try files.status(of: path)?.identity.modified ?? 0) }
        return newest
    }

    private func repository(_ app: AppID) throws(UploadError) -> AppRepository {
        do throws(ServerError) { return try desk.repository(app) } catch { throw .desk(.server(error)) }
    }

    private func remove(_ id: String, of app: AppID) throws(UploadError) {
        open[id] = nil
        do throws(FileError) { try files.removeTree(folder(app).appending(id)) } catch { throw .file(error) }
    }

    private func state(_ upload: UploadedRelease) -> State {
        State(
            id: upload.role.identity.hex,
            app: upload.header.app,
            channel: upload.header.channel,
            roleVersion: upload.header.roleVersion,
            needs: upload.wanted.values.sorted { ($0.name, $0.sha256) < ($1.name, $1.sha256) }
        )
    }

    private func take<Body: AsyncSequence & Sendable>(
        _ body: Body,
        of need: UploadNeed,
        at part: FilePath,
        from offset: Int
    ) async throws(UploadError) -> Int where Body.Element == ByteBuffer {
        var received = offset
        do {
            let writer = try offset > 0 ? files.append(to: part) : newFile(part)
            for try await piece in body {
                guard received + piece.readableBytes <= need.size else {
                    throw UploadError.tooLong(need.sha256, size: need.size)
                }
                try writer.append(Array(piece.readableBytesView))
                received += piece.readableBytes
            }
            try writer.close()
        } catch let error as UploadError {
            throw error
        } catch let error as FileError {
            throw .file(error)
        } catch { throw .interrupted }
        return received
    }

    private func newFile(_ part: FilePath) throws(FileError) -> any FileWriter {
        try files.removeIfPresent(part)
        return try files.create(part, permissions: .privateFile)
    }

    private func settle(_ part: FilePath, of need: UploadNeed, as blob: FilePath) throws(UploadError) {
        let isRight: Bool
        do throws(FileError) {
            isRight = try files.fingerprint(of: part, limit: need.size).sha256 == need.sha256
            if isRight { try files.rename(part, to: blob) } else { try files.removeIfPresent(part) }
        } catch { throw .file(error) }
        guard isRight else { throw .wrongBytes(need.sha256) }
    }

    private func size(of part: FilePath) throws(UploadError) -> Int {
        do throws(FileError) { return try files.status(of: part)?.identity.size ?? 0 } catch { throw .file(error) }
    }

    private func upload(_ id: String, of app: AppID) async throws(UploadError) -> UploadedRelease {
        guard SHA256Digest(hex: id) != nil else { throw .unknown(id: id) }
        if let upload = open[id] {
            guard upload.header.app == app else { throw .unknown(id: id) }
            return upload
        }
        let folder = folder(app).appending(id)
        let header: ReleaseHeader
        let role: Envelope
        do {
            guard try files.status(of: folder.appending("release.json")) != nil else {
                throw UploadError.unknown(id: id)
            }
            header = try ReleaseHeader(try files.read(folder.appending("release.json"), limit: Limits.releaseHeader))
            role = try Envelope(
                try files.read(folder.appending("role.json"), limit: Limits.targetsRole),
                role: header.channel.text,
                limit: Limits.targetsRole
            )
        } catch let error as UploadError {
            throw error
        } catch let error as FormatError {
            throw .malformed(error)
        } catch let error as FileError {
            throw .file(error)
        } catch { throw .interrupted }
        let parsed = try await looking(app) { (repository) throws(ServerError) in
            try repository.checkOffer(of: header, role)
        }
        let upload = try await load(header, role, parsed, at: folder)
        open[id] = upload
        return upload
    }

    /// After a power cut a part may have its name and not its bytes: what is there is digested again.
    private func load(
        _ header: ReleaseHeader,
        _ role: Envelope,
        _ parsed: TargetsRole,
        at folder: FilePath
    ) async throws(UploadError) -> UploadedRelease {
        let (files, desk) = (files, desk)
        let result = try await onThread { () throws(UploadError) in
            let blobs = folder.appending("blobs")
            do throws(FileError) {
                for name in try files.list(blobs) {
                    let path = blobs.appending(name)
                    let found = try files.fingerprint(of: path, limit: Limits.object).sha256.hex
                    if name == "\(found).part" {
                        // Its last byte had come, and the process ended before it had its name.
                        try files.rename(path, to: blobs.appending(found))
                    } else if name != found, !name.hasSuffix(".part") {
                        try files.remove(path)
                    }
                }
            } catch { throw .file(error) }
            let repository: AppRepository
            do throws(ServerError) { repository = try desk.repository(header.app) } catch {
                throw .desk(.server(error))
            }
            return try UploadedRelease(header, role, parsed, at: folder, in: repository, files: files)
        }
        return result
    }

    private func looking<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository) throws(ServerError) -> Value
    ) async throws(UploadError) -> Value {
        do throws(DeskError) { return try await desk.looking(app, work) } catch { throw .desk(error) }
    }

    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws(UploadError) -> Value
    ) async throws(UploadError) -> Value {
        let result: Result<Value, UploadError>
        do throws(DeskError) {
            result = try await desk.onThread { () throws(DeskError) in
                do throws(UploadError) { return .success(try work()) } catch { return .failure(error) }
            }
        } catch { throw .desk(error) }
        return try result.get()
    }
}
