package import Gateways
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchCrypto
package import SystemPackage

/// A loader as JSPatch's own is one: it fetches the version that it is told to, checks it and installs it.
///
/// It decides nothing else: who calls it learned the number by means of its own.
package struct LoaderClient: Sendable {
    /// For the whole request, as JSPatch's own has it.
    package static let deadline = Duration.seconds(20)

    private let appVersion: AppVersion
    private let key: JSPatchPublicKey
    private let unnamed: LoaderUpdate.Unnamed
    package let folder: LoaderFolder

    /// - Parameters:
    ///   - root: the folder `JSPatch`.
    ///   - unnamed: what is done with packages of JSPatch's own packer.
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

    /// Fetches and installs a version; nothing of it is on the disk before it is verified.
    ///
    /// - Parameter fetcher: of the loader's root: see ``fetching(from:_:_:)``.
    package func update(to version: LoaderVersion, from fetcher: some Fetcher) async throws(LoaderClientError) {
        let place = LoaderPlace(appVersion, version)
        let installed = try folder.installed()
        try checking { () throws(LoaderError) in try LoaderUpdate.check(version, installed: installed) }
        var request = FetchRequest(place.path, limit: Limits.loaderPackage, deadline: Self.deadline)
        // A package is packed already, and static servers of this wire know no other form.
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

    /// Holds the folder's lock meanwhile, which no crash leaves behind.
    private func installAlone(_ update: LoaderUpdate) throws(LoaderClientError) {
        try onDisk { () throws(FileError) in try DiskFiles().makeDirectory(folder.path) }
        let lock: StoreLock
        do throws(StoreLockError) { lock = try StoreLock(folder.path.at("lock")) } catch { throw .lock(error) }
        try folder.install(update)
        _ = consume lock
    }

    /// Runs `body` with a fetcher of what lies below a loader's root, whose connections are gone when it returns.
    package static func fetching<Failure: Error>(
        from root: ServerURL,
        _ settings: HTTPFetcher.Settings = HTTPFetcher.Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await HTTPFetcher.with(.init(metadata: root, targets: root), settings, body)
    }
}
