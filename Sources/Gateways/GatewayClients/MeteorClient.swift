package import Gateways
package import PatchFetch
package import PatchFormat
import NIOConcurrencyHelpers
import PatchStore
import PatchCrypto
import SystemPackage

/// Follows a Meteor server as Meteor's own client does, by the server's manifest, which nobody signed.
///
/// Beyond that client it compares each body with the manifest's hash, and writes nothing outside a version's folder.
package struct MeteorClient: Sendable {
    /// As the plugin has them.
    static let connections = 6
    static let deadline = Duration.seconds(600)

    /// How a look at the server ended.
    package enum Outcome: Equatable, Sendable {
        /// It runs, or waits already.
        case ignored(String)
        /// It is here, whole.
        case ready(String, downloaded: Int)
    }

    package let folder: MeteorFolder
    /// What the app brought.
    package let initial: MeteorFolder.Held
    /// Of the native part.
    private let compatibility: String
    /// Bytes that one version may make a device download.
    private let limit: Int

    /// - Parameters:
    ///   - compatibility: nil for that of what the app brought.
    ///   - limit: bytes that one version may make a device download.
    package init(
        _ folder: MeteorFolder,
        initial: MeteorFolder.Held,
        compatibility: String? = nil,
        limit: Int = Limits.meteorDownload
    ) {
        (self.folder, self.initial, self.limit) = (folder, initial, limit)
        self.compatibility = compatibility ?? initial.manifest.compatibility
    }

    /// The files of a version that is here.
    package func held(_ version: String) throws(MeteorClientError) -> MeteorFolder.Held? {
        version == initial.manifest.version ? initial : try folder.held().first { $0.manifest.version == version }
    }

    /// Asks for the newest version and fetches what is not here of it; what came stays when it breaks off.
    ///
    /// - Parameter fetcher: of the server's `ROOT_URL`.
    package func check(_ record: MeteorRecord, from fetcher: some Fetcher) async throws(MeteorClientError) -> Outcome {
        let bytes = try await manifest(from: fetcher)
        let manifest = try judged { () throws(MeteorError) in try MeteorManifest(bytes, for: folder.platform) }
        let held = try folder.held()
        let device = record.device(
            compatibility: compatibility,
            holding: Set(held.map(\.manifest.version)),
            downloading: nil
        )
        switch try judged({ () throws(MeteorError) in try MeteorDecision(manifest, on: device) }) {
        case .ignore: return .ignored(manifest.version)
        case .ready: return .ready(manifest.version, downloaded: 0)
        case .download: break
        }
        guard let current = try self.held(record.current) else { throw .meteor(.noRuntimeConfig) }
        let new = try folder.begin(manifest, bytes)
        let missing = try linked(new, from: held)
        try judged { () throws(MeteorError) in try MeteorBudget(limit).check(missing) }
        try await download(missing, of: new, from: fetcher)
        try await page(of: new, over: try current.config(), from: fetcher)
        try folder.commit(new)
        return .ready(manifest.version, downloaded: missing.count)
    }

    /// The same, again after failures of the network, with the pauses of Meteor's client; what came is kept between them.
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

    /// Takes what is here under the same URL with the same hash; what the app brought is used where it lies.
    ///
    /// - Returns: the assets that have to come.
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
                            // Before its body: it is not the one.
                            try judged { () throws(MeteorError) in
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
            try judged { () throws(MeteorError) in try asset.check(body: sha1) }
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
        try judged { () throws(MeteorError) in
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
        // Its tag is that of the file as it is.
        request.isPlain = true
        request.takesWebPage = true
        return request
    }

    /// Runs `body` with a fetcher of what lies below a server's `ROOT_URL`, whose connections are gone when it returns.
    package static func fetching<Value: Sendable, Failure: Error>(
        from root: ServerURL,
        _ settings: HTTPFetcher.Settings = HTTPFetcher.Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await HTTPFetcher.with(.init(metadata: root, targets: root), settings, body)
    }
}

extension FetchError {
    /// The status of an answer that is no file.
    fileprivate var code: Int? {
        switch self {
        case .notFound: 404
        case .status(_, let code), .busy(_, let code, _): code
        default: nil
        }
    }
}
