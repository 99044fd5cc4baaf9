package import Gateways
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchCrypto
package import SystemPackage

/// A client of JSPatch's platform: it asks for the sync file, decides by its own rules, and acts on it.
///
/// The server consists of static files and two scripts that count.
package struct PlatformClient: Sendable {
    /// The time for each request, as in JSPatch's own client.
    package static let deadline = Duration.seconds(20)
    /// The client version sent to servers: the last one of JSPatch's own client that uses this protocol.
    package static let clientVersion = "1.6.6"

    /// The app that contains the client, and its keys.
    package struct App: Sendable {
        package let place: PlatformPlace
        package let device: PlatformDeviceID
        package let signer: JSPatchPublicKey
        package let key: AESKey

        package init(_ place: PlatformPlace, device: PlatformDeviceID, signer: JSPatchPublicKey, key: AESKey) {
            self.place = place
            self.device = device
            self.signer = signer
            self.key = key
        }
    }

    /// Settings that the protocol cannot prove.
    package struct Policy: Sendable {
        package var audience = PlatformPlace.Audience.everyone
        /// The treatment of packages without a record of their place.
        package var unnamed = LoaderUpdate.Unnamed.refused
        package var lower = PlatformDecision.Lower.refused

        package init() {}
    }

    private let app: App
    private let policy: Policy
    package let folder: PlatformFolder

    /// - Parameter root: The folder `JSPatch`.
    package init(_ root: FilePath, app: App, policy: Policy = Policy()) {
        self.app = app
        self.policy = policy
        folder = PlatformFolder(root, appVersion: app.place.appVersion, files: DiskFiles())
    }

    /// Asks once and acts on the sync file.
    ///
    /// A package is written to disk only after it is verified.
    ///
    /// Reports are stored for ``report(to:)``. A rejected package is requested again at the next sync.
    /// - Parameters:
    ///   - facts: Facts of the device, for conditions.
    ///   - draw: Returns the device's number. Called once in its life.
    ///   - fetcher: A fetcher of the platform's root: see ``fetching(from:_:_:)``.
    /// - Returns: The decision that was carried out.
    package func sync(
        from fetcher: some Fetcher,
        facts: [ConditionKey: ConditionValue] = [:],
        now: UTCTime,
        draw: () -> PlatformDraw
    ) async throws(PlatformClientError) -> PlatformDecision {
        let lock = try lock()
        let device = try device(draw)
        let file = try await syncFile(from: fetcher, now: now)
        let decision = PlatformDecision(
            file,
            on: .init(installed: try folder.installed(), draw: device.draw, facts: facts, lower: policy.lower)
        )
        switch decision {
        case .keep: break
        case .delete: try folder.delete()
        case .install(let version, _):
            let place = LoaderPlace(app.place.appVersion, version)
            let bytes = try await package(version, from: fetcher, now: now)
            let update: PlatformUpdate
            do throws(PlatformError) { update = try self.update(PlatformPackage(bytes), to: place) } catch {
                try note(PlatformStatistic(place, .failed(error.code)))
                throw .package(error)
            }
            try folder.install(update)
        }
        // Also counts an installation after which a crash prevented the report.
        if let version = try folder.installed().version {
            try note(PlatformStatistic(LoaderPlace(app.place.appVersion, version), .succeeded))
        }
        _ = consume lock
        return decision
    }

    /// Sends the reports that are not acknowledged yet.
    ///
    /// Acknowledged reports are never sent again, even after a crash.
    /// - Parameter fetcher: A fetcher of the statistics' root: see ``fetching(from:_:_:)``.
    /// - Returns: The number of reports that the server did not acknowledge.
    /// - Throws: Also if the server does not respond. Reports without acknowledgement are kept.
    package func report(to fetcher: some Fetcher) async throws(PlatformClientError) -> Int {
        let lock = try lock()
        guard var device = try folder.device() else { return 0 }
        for statistic in device.reports.unsent {
            var request = FetchRequest(statistic.path, limit: Limits.platformReply, deadline: Self.deadline)
            request.question = statistic.form(of: app.place.appKey, on: app.device)
            request.questionType = "application/x-www-form-urlencoded"
            guard PlatformStatistic.isAcknowledged(by: try await bytes(request, from: fetcher)) else { continue }
            device.reports.acknowledge(statistic)
            try folder.save(device)
        }
        _ = consume lock
        return device.reports.unsent.count
    }

    /// The installed scripts, verified and decrypted again, because they are stored encrypted.
    ///
    /// - Returns: Nil if no version is installed.
    package func scripts() throws(PlatformClientError) -> InstalledScripts? {
        guard let (version, package) = try folder.package() else { return nil }
        let place = LoaderPlace(app.place.appVersion, version)
        do throws(PlatformError) {
            let update = try update(package, to: place)
            return InstalledScripts(version: version, scripts: update.scripts)
        } catch { throw .package(error) }
    }

    /// Runs `body` with a fetcher of the files below a root.
    ///
    /// Its connections are closed when this returns.
    package static func fetching<Failure: Error>(
        from root: ServerURL,
        _ settings: HTTPFetcher.Settings = HTTPFetcher.Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await HTTPFetcher.with(.init(folder: root), settings, body)
    }
}

extension PlatformClient {
    /// The folder's lock, which the system releases after a crash.
    private func lock() throws(PlatformClientError) -> StoreLock {
        try PlatformFolder.onDisk { () throws(FileError) in try DiskFiles().makeDirectory(folder.root) }
        do throws(StoreLockError) { return try StoreLock(folder.root.at("lock")) } catch { throw .lock(error) }
    }

    private func device(_ draw: () -> PlatformDraw) throws(PlatformClientError) -> PlatformDevice {
        if let known = try folder.device() { return known }
        let device = PlatformDevice(draw: draw())
        try folder.save(device)
        return device
    }

    private func note(_ statistic: PlatformStatistic) throws(PlatformClientError) {
        guard let known = try folder.device() else { return }
        var device = known
        device.reports.note(statistic)
        if device != known { try folder.save(device) }
    }

    private func update(_ package: PlatformPackage, to place: LoaderPlace) throws(PlatformError) -> PlatformUpdate {
        let opened = try OpenedPlatformPackage(package, by: app.signer, openedWith: app.key)
        return try PlatformUpdate(opened, asked: place, unnamed: policy.unnamed)
    }

    /// The sync file, or nil if the server has none.
    private func syncFile(
        from fetcher: some Fetcher,
        now: UTCTime
    ) async throws(PlatformClientError) -> PlatformSyncFile? {
        let path = app.place.syncPath(for: policy.audience)
        var request = FetchRequest(path, limit: Limits.platformSyncFile, deadline: Self.deadline)
        request.query = "d=\(device)&sv=\(Self.clientVersion)&v=\(Self.stamp(now))"
        let bytes: [UInt8]
        do throws(PlatformClientError) {
            do throws(PlatformClientError) {
                bytes = try await self.bytes(request, from: fetcher)
            } catch .fetch(.redirected(_, let target)) where Self.isFolder(path, at: target) {
                bytes = try await self.bytes(request.asFolder, from: fetcher)
            }
        } catch .fetch(.notFound) { return nil }
        do throws(FormatError) { return try PlatformSyncFile(bytes) } catch { throw .syncFile(error) }
    }

    private func package(
        _ version: LoaderVersion,
        from fetcher: some Fetcher,
        now: UTCTime
    ) async throws(PlatformClientError) -> [UInt8] {
        let path = app.place.packagePath(version)
        var request = FetchRequest(path, limit: Limits.loaderPackage, deadline: Self.deadline)
        request.query = "d=\(device)&v=\(Self.stamp(now))"
        return try await bytes(request, from: fetcher)
    }

    /// Downloads a file without a coding, because static servers of this wire have no other form.
    private func bytes(_ request: FetchRequest, from fetcher: some Fetcher) async throws(PlatformClientError) -> [UInt8]
    {
        var request = request
        request.isPlain = true
        do throws(FetchError) { return try await fetcher.document(request).bytes } catch { throw .fetch(error) }
    }

    private var device: String { URLLayout.percentEncoded(app.device.text) }

    /// The time in the format of the platform's client, which prevents caching.
    private static func stamp(_ now: UTCTime) -> String { "\(now.seconds).000000" }

    /// Whether a server redirects from a folder's name to the same name with a slash, where it returns ``PlatformPlace/indexName``.
    ///
    /// No other redirect is followed, and this one only below the known root.
    private static func isFolder(_ path: String, at target: String) -> Bool {
        target.prefix { $0 != "?" }.hasSuffix("/\(path)/")
    }
}

extension FetchRequest {
    fileprivate var asFolder: FetchRequest {
        var request = FetchRequest(path + "/", limit: limit, deadline: deadline)
        request.query = query
        return request
    }
}
