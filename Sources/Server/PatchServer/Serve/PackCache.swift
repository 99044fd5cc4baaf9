import HTTPFiles
import PatchFormat
import PatchStore
import ReleaseFolder
import SystemPackage

/// The packs of a published tree.
///
/// Plain packs are not stored: one consists of the objects in its manifest, read while it is sent. The cache holds the offset of
/// each object, which never changes, as a manifest is named by its digest.
actor PackCache {
    /// A pack is named by the digest of its manifest.
    struct Name: Sendable {
        let app: AppID
        let manifest: SHA256Digest
    }

    private struct Manifests {
        /// The timestamp's origin when the folders were listed: every publish writes another.
        let origin: FileOrigin
        /// The manifests' paths, relative to the app's folder.
        let paths: [SHA256Digest: String]
    }

    /// The root folder; one subfolder per app.
    private let tree: FilePath
    /// How many assets are cached, of all bundles together; the requested bundle is always cached, regardless of its size.
    private let limit: Int
    private let files = DiskFiles()
    private var manifests: [AppID: Manifests] = [:]
    /// The most recently requested one is last.
    private var known: [(manifest: SHA256Digest, contents: FullPackContents)] = []
    /// The latest few; a dropped one is read when it is requested.
    private let expected = AsyncStream.makeStream(of: Name.self, bufferingPolicy: .bufferingNewest(16))

    init(tree: FilePath, limit: Int = 2 * Limits.assetsInBundle) {
        self.tree = tree
        self.limit = limit
        // One task for all packs; it ends with the cache.
        Task { [expected = expected.stream, weak self] in
            for await pack in expected { _ = await self?.contents(of: pack) }
        }
    }

    deinit {
        expected.continuation.finish()
    }

    /// Reads it in the background, because a request for it is likely.
    nonisolated func prefetch(_ pack: Name) {
        expected.continuation.yield(pack)
    }

    /// The contents, or nil if the app has no such manifest or it is not valid.
    func contents(of pack: Name) -> FullPackContents? {
        guard let file = place(of: pack) else { return nil }
        if let index = known.firstIndex(where: { $0.manifest == pack.manifest }) {
            known.append(known.remove(at: index))
            return known[known.count - 1].contents
        }
        guard let contents = try? read(file, pack.manifest) else { return nil }
        known.append((pack.manifest, contents))
        while known.count > 1, known.reduce(0, { $0 + $1.contents.objects.count }) > limit { known.removeFirst() }
        return contents
    }

    private func place(of pack: Name) -> FilePath? {
        let folder = tree.at(pack.app.text)
        guard let now = manifests(of: pack.app, in: folder), let place = now[pack.manifest] else { return nil }
        return folder.at(place)
    }

    private func manifests(of app: AppID, in folder: FilePath) -> [SHA256Digest: String]? {
        if let listed = manifests[app], listed.origin.isCurrent { return listed.paths }
        manifests[app] = nil
        // Recorded before the listing, so that a concurrent publish is noticed at the next request.
        guard let origin = FileOrigin(at: folder.at(URLLayout.timestamp).string) else { return nil }
        let paths = list(app, folder)
        manifests[app] = Manifests(origin: origin, paths: paths)
        return paths
    }

    /// Lists the files `targets/CHANNEL/PATCH/VERSION/HASH.manifest.json`.
    private func list(_ app: AppID, _ folder: FilePath) -> [SHA256Digest: String] {
        var names = ["targets"]
        for _ in 0..<4 {
            names = names.flatMap { name in
                // A file has no entries.
                ((try? files.list(folder.at(name))) ?? []).map { "\(name)/\($0)" }
            }
        }
        var paths: [SHA256Digest: String] = [:]
        for name in names {
            guard case .target(let target, let digest) = TreePath(below: app, name)?.file,
                target.isManifest
            else { continue }
            paths[digest] = name
        }
        return paths
    }

    private func read(_ file: FilePath, _ digest: SHA256Digest) throws -> FullPackContents? {
        guard try files.fingerprint(of: file, limit: Limits.manifest).sha256 == digest else { return nil }
        let bytes = FileBytes(try files.open(file, limit: Limits.manifest))
        let contents = try FullPackContents(ofManifest: bytes, named: digest.hex)
        return bytes.failure == nil ? contents : nil
    }
}
