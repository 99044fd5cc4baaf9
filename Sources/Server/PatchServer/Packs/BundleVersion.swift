import PatchFormat
import PatchTrust

/// A bundle's version as a channel's role lists it.
struct BundleVersion: Hashable, Sendable {
    let label: Label
    /// Its digest is the one that the entry signs.
    let digest: SHA256Digest
    let manifest: TreePath.File
    let column: TreePath.File
}

extension BundleVersion {
    /// The bundles of a list, in its order; one whose documents the role does not name is left out.
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
}
