package import PatchDelta
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The files of the tree, whether a release lists them or not.
extension AppRepository {
    /// Whether devices were ever offered this release: the channel's current one, or one that was superseded or dropped since.
    ///
    /// A version above those belongs to an interrupted publish.
    package func hasPublished(
        _ identity: SHA256Digest,
        of channel: ChannelName,
        version: Int,
        in state: PublishedState
    ) throws(ServerError) -> Bool {
        let current = state.channels[channel]
        if let current, current.identity == identity { return true }
        let last = current == nil ? try labels().dropped[channel] ?? 0 : state.version(of: channel) - 1
        guard version <= last else { return false }
        let file = TreePath.File.role(channel.text, version: version)
        guard let bytes = try storage.read(file, limit: Limits.targetsRole) else { return false }
        return (try? Envelope(bytes, role: channel.text, limit: Limits.targetsRole))?.identity == identity
    }

    /// Whether the tree or the draft contains the bytes of a target.
    package func hasTarget(_ path: TargetPath, _ sha256: SHA256Digest, in draft: Draft?) throws(ServerError) -> Bool {
        if let bytes = draft?.release.targets[path], SHA256Digest(of: bytes) == sha256 { return true }
        return try storage.status(of: .target(path, sha256)) != nil
    }

    /// The bytes of a target as published or drafted; nil when there are none.
    package func publishedTarget(_ path: TargetPath, _ sha256: SHA256Digest, in draft: Draft?) throws(ServerError)
        -> [UInt8]?
    {
        if let bytes = draft?.release.targets[path], SHA256Digest(of: bytes) == sha256 { return bytes }
        let file = TreePath.File.target(path, sha256)
        return try storage.read(file, limit: Limits.manifest)
    }

    /// Whether the tree has a version of a channel's role.
    package func hasRole(of channel: ChannelName, version: Int) throws(ServerError) -> Bool {
        try storage.status(of: .role(channel.text, version: version)) != nil
    }

    /// The newest versions of a channel's role below `version` that the published tree has, newest first.
    ///
    /// - Parameter depth: how many versions back to look.
    package func roles(
        of channel: ChannelName,
        below version: Int,
        limit: Int,
        depth: Int = 1_000
    ) throws(ServerError) -> [Int] {
        var found: [Int] = []
        for older in stride(from: version - 1, to: max(0, version - 1 - depth), by: -1) where found.count < limit {
            if try hasRole(of: channel, version: older) { found.append(older) }
        }
        return found
    }

    /// Whether the published tree has an object.
    package func hasObject(_ sha256: SHA256Digest) throws(ServerError) -> Bool {
        try storage.status(of: .object(sha256)) != nil
    }

    /// The stored draft with this content, if any.
    package func draft(of channel: ChannelName, version: Int, identity: SHA256Digest) throws(ServerError) -> Draft? {
        guard let draft = try tree.draft(of: channel, version: version), draft.identity == identity else { return nil }
        return draft
    }

    /// The manifests of a patch in the tree that can be bases of packs to a new one, at most `limit`.
    package func bases(of id: PatchID, limit: Int) throws(ServerError) -> [SHA256Digest] {
        var found: [SHA256Digest: UTCTime] = [:]
        for (file, status) in try storage.listingOfPacks().files {
            guard case .target(let path, let digest) = file, path.isManifest, path.patchID == id else { continue }
            found[digest] = max(status.modified, found[digest] ?? status.modified)
        }
        return found.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit).map(\.key)
    }

    /// The base, or nil if the tree lacks such a manifest or its column, or an object.
    package func base(_ digest: SHA256Digest) throws(ServerError) -> PackBase? {
        let documents = BundleDocuments(try storage.listingOfPacks())
        guard let version = documents.versions(digest).first else { return nil }
        let sources = VersionSources(tree)
        let (manifest, column) = (try sources.document(version.manifest), try sources.document(version.column))
        guard let manifest = try? PackManifest(manifest) else { return nil }
        let contents = manifest.fingerprints.reduce(0) { $0 + $1.size }
        return PackBase(manifest: manifest, column: column, work: PackLimits.work(base: contents))
    }

    /// All contents in the tree.
    ///
    /// The reader of one must check its digest.
    package var contents: PackObjects { VersionSources(tree).contents }

    /// The total size of all packs from a base in the tree.
    package func packBytes() throws(ServerError) -> Int {
        try storage.listing().files.reduce(0) { bytes, file in
            if case .basePack = file.key { bytes + file.value.size } else { bytes }
        }
    }

    /// The possible ends of packs: manifests that a channel lists now, and bases in the tree.
    package func packEnds() throws(ServerError) -> (listed: [SHA256Digest: ChannelName], bases: Set<SHA256Digest>) {
        var listed: [SHA256Digest: ChannelName] = [:]
        for (channel, published) in try PublishedState(of: self).channels.sorted(by: { $0.key < $1.key }) {
            let list =
                BundleVersion.listed(
                    of: channel,
                    before: published.role.header.version + 1,
                    limit: 1,
                    in: self
                ).first ?? []
            for version in list { listed[version.digest] = listed[version.digest] ?? channel }
        }
        var bases: Set<SHA256Digest> = []
        for case .target(let path, let digest) in try storage.listing().files.keys where path.isManifest {
            bases.insert(digest)
        }
        return (listed, bases)
    }
}
