package import Gateways
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchCrypto
package import SystemPackage

/// A client of JSPatch's platform: it asks what it is to do, decides by its own rules, and does it.
///
/// The server's side are static files, and two scripts that count.
package struct PlatformClient: Sendable {
    /// For each request, as JSPatch's own has it.
    package static let deadline = Duration.seconds(20)
    /// What servers are told of it: the last version of JSPatch's own whose wire this is.
    package static let clientVersion = "1.6.6"

    /// The app that it is in, and the keys of that app.
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

    /// What it follows, beyond what the wire can prove.
    package struct Policy: Sendable {
        package var audience = PlatformPlace.Audience.everyone
        /// What is done with packages that do not say what they are for.
        package var unnamed = LoaderUpdate.Unnamed.refused
        package var lower = PlatformDecision.Lower.refused

        package init() {}
    }

    private let app: App
    private let policy: Policy
    package let folder: PlatformFolder

    /// - Parameter root: the folder `JSPatch`.
    package init(_ root: FilePath, app: App, policy: Policy = Policy()) {
        self.app = app
        self.policy = policy
        folder = PlatformFolder(root, appVersion: app.place.appVersion, files: DiskFiles())
    }

    /// Asks once, and does what is to be done; nothing of a package is on the disk before it is verified.
    ///
    /// What is to be counted is kept for ``report(to:)``. A package that is not taken is asked for again at the next sync.
    /// - Parameters:
    ///   - facts: what the device knows of itself, for conditions.
    ///   - draw: the device's number, asked for once in its life.
    ///   - fetcher: of the platform's root: see ``fetching(from:_:_:)``.
    /// - Returns: what was done.
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
        // Also of one whose installation a crash cut off before it was noted.
        if let version = try folder.installed().version {
            try note(PlatformStatistic(LoaderPlace(app.place.appVersion, version), .succeeded))
        }
        _ = consume lock
        return decision
    }

    /// Sends what was not acknowledged yet.
    ///
    /// Afterwards: what was is never sent again, durably.
    /// - Parameter fetcher: of the statistics' root: see ``fetching(from:_:_:)``.
    /// - Returns: how many are left, because the server did not acknowledge them.
    /// - Throws: also where the server does not answer; what it did not acknowledge is left.
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

    /// The scripts that are installed, verified and decrypted once more: only what is in memory can be read.
    ///
    /// - Returns: nil where nothing is installed.
    package func scripts() throws(PlatformClientError) -> InstalledScripts? {
        guard let (version, package) = try folder.package() else { return nil }
        let place = LoaderPlace(app.place.appVersion, version)
        do throws(PlatformError) {
            let update = try update(package, to: place)
            return InstalledScripts(version: version, scripts: update.scripts)
        } catch { throw .package(error) }
    }

    /// Runs `body` with a fetcher of what lies below a root, whose connections are gone when it returns.
    package static func fetching<Failure: Error>(
        from root: ServerURL,
        _ settings: HTTPFetcher.Settings = HTTPFetcher.Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await HTTPFetcher.with(.init(folder: root), settings, body)
    }
}

extension PlatformClient {
    /// The folder's lock, which no crash leaves behind.
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

    /// Nil where the server has none.
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

    /// As it is: static servers of this wire know no other form.
    private func bytes(_ request: FetchRequest, from fetcher: some Fetcher) async throws(PlatformClientError) -> [UInt8]
    {
        var request = request
        request.isPlain = true
        do throws(FetchError) { return try await fetcher.document(request).bytes } catch { throw .fetch(error) }
    }

    private var device: String { URLLayout.percentEncoded(app.device.text) }

    /// As the platform's client writes a time; it keeps caches away.
    private static func stamp(_ now: UTCTime) -> String { "\(now.seconds).000000" }

    /// Whether a server leads from a folder's name to the same with a slash: then its ``PlatformPlace/indexName`` is there.
    ///
    /// No other redirect is followed, and this one only below the root that is known.
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
