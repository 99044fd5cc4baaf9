import PatchFormat
import PatchTrust

/// A bundle's version as a channel's role lists it.
struct BundleVersion: Hashable, Sendable {
    let label: Label
    /// The digest of the manifest, as in the signed entry.
    let digest: SHA256Digest
    let manifest: TreePath.File
    let column: TreePath.File
}

extension BundleVersion {
    /// The bundles of a list, in its order, except those whose documents are missing from the role.
    static func all(of entries: [PatchEntry], in role: TargetsRole, _ channel: ChannelName) -> [BundleVersion] {
        entries.filter { $0.kind == .bundle }.compactMap { entry in
            let manifest = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
            let column = TargetPath.signatureColumn(channel: channel, patchID: entry.patchID, version: entry.version)
            guard let digest = role.targets[ExactString(column.text)]?.sha256 else { return nil }
            return BundleVersion(
                label: entry.label,
                digest: entry.fingerprint.sha256,
                manifest: .target(manifest, entry.fingerprint.sha256),
                column: .target(column, digest)
            )
        }
    }

    /// The bundles of each earlier release, the newest release first.
    static func listed(
        of channel: ChannelName,
        before version: Int,
        limit: Int,
        in repository: AppRepository
    ) -> [[BundleVersion]] {
        let tree = repository.tree
        let roles = (try? repository.roles(of: channel, below: version, limit: limit)) ?? []
        return roles.compactMap { version in
            guard let role = try? tree.storedRole(channel.text, version: version),
                let (bytes, _) = try? tree.target(.patchList(channel), of: role),
                let list = try? ParsedPatchList(bytes).list
            else { return nil }
            return BundleVersion.all(of: list.entries, in: role, channel)
        }
    }
}

/// The documents of bundles in a tree, by the digest of their manifests.
struct BundleDocuments {
    /// Each manifest under all of its names.
    private var found: [SHA256Digest: [TreePath.File]] = [:]
    /// Signature columns, by the folder of their manifest.
    private var beside: [Substring: [TreePath.File]] = [:]

    init(_ listing: TreeListing) {
        for case .target(let path, let digest) in listing.files.keys {
            if path.isManifest {
                found[digest, default: []].append(.target(path, digest))
            } else {
                beside[Self.folder(path), default: []].append(.target(path, digest))
            }
        }
    }

    func manifests(_ digest: SHA256Digest) -> [TreePath.File] { found[digest] ?? [] }

    /// The signatures of these manifests.
    func columns(beside manifests: [TreePath.File]) -> [TreePath.File] {
        manifests.flatMap { file in
            guard case .target(let path, _) = file else { return [TreePath.File]() }
            return beside[Self.folder(path)] ?? []
        }
    }

    /// The versions that have this manifest, from the names of their documents.
    func versions(_ digest: SHA256Digest) -> [BundleVersion] {
        manifests(digest).compactMap { file in
            guard case .target(let path, _) = file, let column = columns(beside: [file]).first else { return nil }
            let parts = path.text.split(separator: "/")
            guard parts.count == 4, let id = PatchID(String(parts[1])), let version = VersionLabel(String(parts[2]))
            else {
                return nil
            }
            return BundleVersion(
                label: Label(patchID: id, version: version),
                digest: digest,
                manifest: file,
                column: column
            )
        }
    }

    private static func folder(_ path: TargetPath) -> Substring {
        path.text.prefix(upTo: path.text.lastIndex(of: "/") ?? path.text.startIndex)
    }
}
