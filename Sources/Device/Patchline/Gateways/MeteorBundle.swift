import AssetServer
import Linux
import GatewayClients
import Gateways
import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchCrypto
import ReleaseFolder
import SystemPackage

/// The files of a Meteor app's version while it is served: its own files, and those that the app embeds.
///
/// Each file was hashed when this value was made. A file that was written since is hashed again before it is served.
final class MeteorBundle: AssetFiles {
    let index: BundleIndex
    /// The hash of each file by path, as Meteor's client knows it.
    let tags: [String: String]
    private let places: [String: (path: FilePath, root: FilePath)]
    private let identities: NIOLockedValueBox<[String: FileIdentity]>

    /// - Throws: `hashMismatch` if a file is missing or does not match the manifest.
    init(_ held: MeteorFolder.Held, embedded initial: MeteorFolder.Held, app: AppID) throws(MeteorClientError) {
        var places: [String: (path: FilePath, root: FilePath)] = [:]
        var identities: [String: FileIdentity] = [:]
        var assets: [Asset] = []
        let listed = held.manifest.assets + [.indexPage]
        let maps = Dictionary(listed.map { ($0.url, $0.path) }) { first, _ in first }
        for asset in listed {
            guard let place = held.place(of: asset, embedded: initial),
                let identity = FileIdentity(at: place.path.string),
                let found = try? DiskFiles().fingerprint(of: place.path, limit: Limits.object),
                asset.hash.map({ $0 == found.sha1 }) ?? true
            else { throw .meteor(.hashMismatch(url: asset.url)) }
            (places[asset.path.text], identities[asset.path.text]) = (place, identity)
            assets.append(
                Asset(
                    path: asset.path,
                    url: asset == .indexPage ? URLLayout.asset(asset.path) : asset.url,
                    type: AssetType(path: asset.path),
                    cacheable: asset.isCacheable,
                    sourceMap: asset.sourceMap.flatMap { maps[$0] },
                    fingerprint: found
                )
            )
        }
        let version = held.manifest.version
        let name = VersionLabel(version) ?? VersionLabel(Fingerprint(of: Array(version.utf8)).sha1.hex)
        guard let name, let id = PatchID("web") else { throw .meteor(.noVersion) }
        let manifest = AssetManifest(
            app: app,
            patchID: id,
            version: name,
            commit: nil,
            created: nil,
            compatibility: [:],
            index: MeteorAsset.index,
            routes: nil,
            assets: assets.sorted { $0.path < $1.path }
        )
        if let problem = manifest.problem() {
            throw .meteor(.entry(FormatError("program.json", field: problem.field, rule: problem.rule)))
        }
        guard let index = BundleIndex(manifest, manifest: SHA256Digest(of: manifest.json.fileBytes)) else {
            throw .meteor(.manifestSyntax)
        }
        self.index = index
        let hashed = listed.compactMap { asset in asset.hash.map { (asset.path.text, $0.hex) } }
        tags = Dictionary(hashed) { first, _ in first }
        self.places = places
        self.identities = NIOLockedValueBox(identities)
    }

    func recorded(_ row: BundleIndex.Row) -> AssetFile? {
        guard let place = places[row.path], let identity = identities.withLockedValue({ $0[row.path] }),
            FileIdentity(at: place.path.string) == identity
        else { return nil }
        return AssetFile(path: place.path, root: place.root, identity: identity)
    }

    func examined(_ row: BundleIndex.Row) -> AssetFile? {
        guard let place = places[row.path], let before = FileIdentity(at: place.path.string),
            (try? DiskFiles().fingerprint(of: place.path, limit: Limits.object))?.sha256 == row.sha256,
            FileIdentity(at: place.path.string) == before
        else { return nil }
        identities.withLockedValue { $0[row.path] = before }
        return AssetFile(path: place.path, root: place.root, identity: before)
    }

    func contents(_ row: BundleIndex.Row) -> [UInt8]? {
        guard let place = places[row.path],
            let bytes = try? DiskFiles().read(place.path, limit: Limits.object), SHA256Digest(of: bytes) == row.sha256
        else { return nil }
        return bytes
    }
}

extension MeteorFolder.Held {
    /// The asset's own file, or the embedded file with the same URL and hash.
    fileprivate func place(
        of asset: MeteorAsset,
        embedded initial: MeteorFolder.Held
    ) -> (path: FilePath, root: FilePath)? {
        let own = file(of: asset)
        if FileIdentity(at: own.string) != nil { return (own, place) }
        let same = initial.manifest.assets.first { $0.url == asset.url && $0.hash == asset.hash }
        return same.map { (initial.file(of: $0), initial.place) }
    }
}
