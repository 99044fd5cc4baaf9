package import Gateways
package import PatchFetch
package import PatchFormat
import NIOConcurrencyHelpers
import PatchStore
import PatchCrypto
import SystemPackage

/// Follows a Meteor server as Meteor's own client does, by the server's manifest, which is not signed.
///
/// Unlike that client it compares each body with the manifest's hash, and writes only below a version's folder.
package struct MeteorClient: Sendable {
    /// Values of Meteor's plugin.
    static let connections = 6
    static let deadline = Duration.seconds(600)

    /// The outcome of a check for a new version.
    package enum Outcome: Equatable, Sendable {
        /// The version is active or pending already.
        case ignored(String)
        /// The version is completely downloaded.
        case ready(String, downloaded: Int)
    }

    package let folder: MeteorFolder
    /// The version embedded in the app.
    package let initial: MeteorFolder.Held
    /// The hash of the native part.
    private let compatibility: String
    /// The maximum number of bytes downloaded for one version.
    private let limit: Int

    /// - Parameters:
    ///   - compatibility: The hash of the native part, or nil for that of the embedded version.
    ///   - limit: The maximum number of bytes downloaded for one version.
    package init(
        _ folder: MeteorFolder,
        initial: MeteorFolder.Held,
        compatibility: String? = nil,
        limit: Int = Limits.meteorDownload
    ) {
        (self.folder, self.initial, self.limit) = (folder, initial, limit)
        self.compatibility = compatibility ?? initial.manifest.compatibility
    }

    /// The files of a stored version.
    package func held(_ version: String) throws(MeteorClientError) -> MeteorFolder.Held? {
        version == initial.manifest.version ? initial : try folder.held().first { $0.manifest.version == version }
    }

    /// Asks for the newest version and downloads its missing files.
    ///
    /// After an error, complete files are kept.
    ///
    /// - Parameter fetcher: A fetcher of the server's `ROOT_URL`.
    package func check(_ record: MeteorRecord, from fetcher: some Fetcher) async throws(MeteorClientError) -> Outcome {
        let bytes = try await manifest(from: fetcher)
        let manifest = try mappingErrors { () throws(MeteorError) in try MeteorManifest(bytes, for: folder.platform) }
        let held = try folder.held()
        let device = record.device(
            compatibility: compatibility,
            holding: Set(held.map(\.manifest.version)),
            downloading: nil
        )
        switch try mappingErrors({ () throws(MeteorError) in try MeteorDecision(manifest, on: device) }) {
        case .ignore: return .ignored(manifest.version)
        case .ready: return .ready(manifest.version, downloaded: 0)
        case .download: break
        }
        guard let current = try self.held(record.current) else { throw .meteor(.noRuntimeConfig) }
        let new = try folder.begin(manifest, bytes)
        let missing = try linked(new, from: held)
        try mappingErrors { () throws(MeteorError) in try MeteorBudget(limit).check(missing) }
        try await download(missing, of: new, from: fetcher)
        try await page(of: new, over: try current.config(), from: fetcher)
        try folder.commit(new)
        return .ready(manifest.version, downloaded: missing.count)
    }

    /// Checks again after network failures, with the pauses of Meteor's client.
    ///
    /// Downloaded files are kept between attempts.
    package func check(
        _ record: MeteorRecord,
        from fetcher: some Fetcher,
        trying timing: RetryTiming
    ) async throws(MeteorClientError) -> Outcome {
        var attempts = Attempts(Deadlines())
        while true {
            do throws(MeteorClientError) { return try await check(record, from: fetcher) } catch {
                guard case .fetch(let fault) = error,
                    case .again(let pause) = attempts.failed([fault], progress: false, random: timing.random())
                else { throw error }
                do throws(FetchError) { _ = try await timing.wait(pause) } catch { throw .fetch(error) }
            }
        }
    }

    private func manifest(from fetcher: some Fetcher) async throws(MeteorClientError) -> [UInt8] {
        let request = FetchRequest(
            "\(MeteorSite.root.dropFirst())\(MeteorSite.manifestName)",
            limit: Limits.meteorManifest,
            deadline: .seconds(30)
        )
        do throws(FetchError) { return try await fetcher.document(request).bytes } catch {
            throw error.code.map { .meteor(.manifestStatus($0)) } ?? .fetch(error)
        }
    }

    /// Links stored files with the same URL and hash.
    ///
    /// Files embedded in the app are used in place.
    ///
    /// - Returns: The assets that must be downloaded.
    private func linked(_ new: MeteorFolder.Held, from held: [MeteorFolder.Held]) throws(MeteorClientError)
        -> [MeteorAsset]
    {
        let sources = held + folder.begun().filter { $0.place != new.place }
        let (brought, there) = (initial.there, sources.map(\.there))
        var missing: [MeteorAsset] = []
        for asset in new.manifest.assets where !new.has(asset) {
            switch MeteorSource(of: asset, initial: brought, held: there) {
            case .initial: break
            case .held(let place):
                guard let same = there[place][asset.url] else { continue }
                try folder.link(sources[place].file(of: same), to: new.file(of: asset))
            case .download: missing.append(asset)
            }
        }
        return missing
    }

    private func download(
        _ assets: [MeteorAsset],
        of new: MeteorFolder.Held,
        from fetcher: some Fetcher
    ) async throws(MeteorClientError) {
        let budget = NIOLockedValueBox(MeteorBudget(limit))
        let failure = await withTaskGroup(of: MeteorClientError?.self) { group in
            var rest = assets[...]
            func next() {
                guard let asset = rest.popFirst() else { return }
                group.addTask {
                    do throws(MeteorClientError) {
                        try await fetch(asset, to: new.file(of: asset), within: budget, from: fetcher)
                        return nil
                    } catch { return error }
                }
            }
            for _ in 0..<Self.connections { next() }
            for await failure in group {
                if let failure {
                    group.cancelAll()
                    return Optional(failure)
                }
                next()
            }
            return nil
        }
        if let failure { throw failure }
    }

    private func fetch(
        _ asset: MeteorAsset,
        to file: FilePath,
        within budget: NIOLockedValueBox<MeteorBudget>,
        from fetcher: some Fetcher
    ) async throws(MeteorClientError) {
        let request = Self.request(for: asset, limit: Limits.object)
        try await folder.fill(file) { (writer) async throws(MeteorClientError) in
            var digester = Digester()
            var refusal: MeteorClientError?
            do throws(FetchError) {
                try await fetcher.fetch(request) { part throws(FetchError) in
                    do throws(MeteorClientError) {
                        switch part {
                        case .head(let head):
                            // Checked before the body is received.
                            try mappingErrors { () throws(MeteorError) in
                                try asset.check(status: 200, entityTag: head.validator)
                            }
                        case .bytes(let bytes):
                            guard budget.withLockedValue({ $0.take(bytes.count) }) else {
                                throw .meteor(.tooLarge(nil, limit: limit))
                            }
                            digester.update(bytes)
                            try kept { () throws(FileError) in try writer.append(bytes) }
                        }
                    } catch {
                        refusal = error
                        throw .notTaken(request.path, reason: error.description)
                    }
                }
            } catch {
                throw refusal ?? error.code.map { .meteor(.assetStatus($0, url: asset.url)) } ?? .fetch(error)
            }
            let sha1 = digester.finish().sha1
            try mappingErrors { () throws(MeteorError) in try asset.check(body: sha1) }
        }
    }

    private func page(
        of new: MeteorFolder.Held,
        over current: MeteorRuntimeConfig,
        from fetcher: some Fetcher
    ) async throws(MeteorClientError) {
        let page: [UInt8]
        let index = MeteorAsset.indexPage
        do throws(FetchError) {
            page = try await fetcher.document(Self.request(for: index, limit: Limits.meteorIndexPage)).bytes
        } catch { throw error.code.map { .meteor(.assetStatus($0, url: index.url)) } ?? .fetch(error) }
        try mappingErrors { () throws(MeteorError) in
            try MeteorRuntimeConfig(page: page).check(version: new.manifest.version, current: current)
        }
        try await folder.fill(new.file(of: index)) { (writer) throws(MeteorClientError) in
            try kept { () throws(FileError) in try writer.append(page) }
        }
    }

    private static func request(for asset: MeteorAsset, limit: Int) -> FetchRequest {
        let parts = asset.request.split(separator: "?", maxSplits: 1)
        var request = FetchRequest(String(parts[0]), limit: limit, deadline: deadline)
        request.query = parts.dropFirst().first.map(String.init)
        // The entity tag must be that of the file without a coding.
        request.isPlain = true
        request.takesWebPage = true
        return request
    }

    /// Runs `body` with a fetcher of the files below a server's `ROOT_URL`.
    ///
    /// Its connections are closed when this returns.
    package static func fetching<Value: Sendable, Failure: Error>(
        from root: ServerURL,
        _ settings: HTTPFetcher.Settings = HTTPFetcher.Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await HTTPFetcher.with(.init(metadata: root, targets: root), settings, body)
    }
}

extension FetchError {
    /// The status of a response without a file.
    fileprivate var code: Int? {
        switch self {
        case .notFound: 404
        case .status(_, let code), .busy(_, let code, _): code
        default: nil
        }
    }
}
