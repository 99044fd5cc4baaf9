package import PatchDelta
package import PatchFormat
import PatchTrust

/// A version in the tree that a pack is applied to.
package struct PackBase: Sendable {
    package let manifest: PackManifest
    package let column: [UInt8]
    /// Of what a reader may read of the base and make, in bytes.
    package let work: Int
}

extension AppRepository {
    /// The manifests of a patch that the tree has, from which packs may lead to a new one; at most so many.
    package func bases(of id: PatchID, limit: Int) throws(ServerError) -> [SHA256Digest] {
        var found: [SHA256Digest: UTCTime] = [:]
        for (file, status) in try storage.listingOfPacks().files {
            guard case .target(let path, let digest) = file, path.isManifest, path.patchID == id else { continue }
            found[digest] = max(status.modified, found[digest] ?? status.modified)
        }
        return found.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit).map(\.key)
    }

    /// Nil where the tree has no such manifest with its column, whole.
    package func base(_ digest: SHA256Digest) throws(ServerError) -> PackBase? {
        let documents = BundleDocuments(try storage.listingOfPacks())
        guard let version = documents.versions(digest).first else { return nil }
        let sources = VersionSources(tree)
        let (manifest, column) = (try sources.document(version.manifest), try sources.document(version.column))
        guard let manifest = try? PackManifest(manifest) else { return nil }
        let contents = manifest.fingerprints.reduce(0) { $0 + $1.size }
        return PackBase(manifest: manifest, column: column, work: PackLimits.work(base: contents))
    }

    /// Every content in the tree; who reads one compares it with its digest.
    package var contents: PackObjects { VersionSources(tree).contents }
}
