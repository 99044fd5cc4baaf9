package import PatchFormat

/// The path of a pack: served like the published tree, and no file of it.
package struct PackPath: Equatable, Sendable {
    package let app: AppID
    package let manifest: SHA256Digest

    /// Reads the decoded segments of a URL, `[APP, "packs", SHA256, "full.pack"]`.
    package init?(segments: [String]) {
        guard segments.count == 4, let app = AppID(segments[0]), let manifest = SHA256Digest(hex: segments[2]),
            URLLayout.fullPack(of: manifest).hasSameBytes(as: segments.dropFirst().joined(separator: "/"))
        else { return nil }
        (self.app, self.manifest) = (app, manifest)
    }

    /// Nil unless `path` is a manifest's.
    package init?(ofManifest path: TreePath) {
        guard case .target(let target, let digest) = path.file, target.isManifest else { return nil }
        (app, manifest) = (path.app, digest)
    }
}
