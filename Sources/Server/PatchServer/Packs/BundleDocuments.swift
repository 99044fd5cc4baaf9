import PatchFormat

/// The documents of bundles that a tree has, by the digest of their manifests.
struct BundleDocuments {
    /// Under each name that it has.
    private var found: [SHA256Digest: [TreePath.File]] = [:]
    /// By the folder that its manifest lies in too.
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

    /// The versions that have this manifest, as the names of their documents say.
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
