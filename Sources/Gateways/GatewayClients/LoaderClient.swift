package import Gateways
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchCrypto
package import SystemPackage

/// A loader like JSPatch's own: it downloads the version that its caller names, verifies it and installs it.
///
/// It makes no other decision. The caller learns the version by its own means.
package struct LoaderClient: Sendable {
    /// The time for the whole request, as in JSPatch's own loader.
    package static let deadline = Duration.seconds(20)

    private let appVersion: AppVersion
    private let key: JSPatchPublicKey
    private let unnamed: LoaderUpdate.Unnamed
    package let folder: LoaderFolder

    /// - Parameters:
    ///   - root: The folder `JSPatch`.
    ///   - unnamed: The treatment of packages made by JSPatch's own packer.
    package init(
        _ root: FilePath,
        appVersion: AppVersion,
        key: JSPatchPublicKey,
        unnamed: LoaderUpdate.Unnamed
    ) {
        self.appVersion = appVersion
        self.key = key
        self.unnamed = unnamed
        folder = LoaderFolder(root.at(appVersion.text), files: DiskFiles())
    }

    /// Downloads and installs a version.
    ///
    /// Nothing is written to disk before it is verified.
    ///
    /// - Parameter fetcher: A fetcher of the loader's root: see ``fetching(from:_:_:)``.
    package func update(to version: LoaderVersion, from fetcher: some Fetcher) async throws(LoaderClientError) {
        let place = LoaderPlace(appVersion, version)
        let installed = try folder.installed()
        try checking { () throws(LoaderError) in try LoaderUpdate.check(version, installed: installed) }
        var request = FetchRequest(place.path, limit: Limits.loaderPackage, deadline: Self.deadline)
        // A package is already compressed, and static servers of this wire have no other coding.
        request.isPlain = true
        let bytes: [UInt8]
        do throws(FetchError) { bytes = try await fetcher.document(request).bytes } catch { throw .fetch(error) }
        let update = try checking { () throws(LoaderError) in
            try LoaderUpdate(
                VerifiedScripts(LoaderPackage(bytes), by: key),
                asked: place,
                installed: installed,
                unnamed: unnamed
            )
        }
        try installAlone(update)
    }

    /// Installs while it holds the folder's lock, which the system releases after a crash.
    private func installAlone(_ update: LoaderUpdate) throws(LoaderClientError) {
        try onDisk { () throws(FileError) in try DiskFiles().makeDirectory(folder.path) }
        let lock: StoreLock
        do throws(StoreLockError) { lock = try StoreLock(folder.path.at("lock")) } catch { throw .lock(error) }
        try folder.install(update)
        _ = consume lock
    }

    /// Runs `body` with a fetcher of the files below a loader's root.
    ///
    /// Its connections are closed when this returns.
    package static func fetching<Failure: Error>(
        from root: ServerURL,
        _ settings: HTTPFetcher.Settings = HTTPFetcher.Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await HTTPFetcher.with(.init(metadata: root, targets: root), settings, body)
    }
}
