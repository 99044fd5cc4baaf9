/// The exact bytes that an entry signature covers.
///
/// They contain everything that must not be swapped: an entry of another app, channel, patch, version or path has other bytes.
package enum Statement {
    package static let patchPrefix = "patchline-patch-v1\n"
    package static let assetPrefix = "patchline-asset-v1\n"
    package static let scheme = "rsa-pkcs1v15-sha256"

    /// The statement of a list entry: `patchline-patch-v1\n` + canonical JSON of {app, channel, patchId, kind, version, size, md5,
    /// sha1, sha256}.
    package static func patch(
        app: AppID,
        channel: ChannelName,
        patchID: PatchID,
        kind: PatchKind,
        version: VersionLabel,
        fingerprint: Fingerprint
    ) -> [UInt8] {
        let members: [(String, JSON?)] = [
            ("app", .text(app.text)), ("channel", .text(channel.text)), ("patchId", .text(patchID.text)),
            ("kind", .text(kind.rawValue)), ("version", .text(version.text)),
        ]
        return Array(patchPrefix.utf8) + JSON.fields(members + fingerprint.members).canonicalBytes
    }

    /// The statement of an asset: `patchline-asset-v1\n` + canonical JSON of {app, patchId, path, size, md5, sha1, sha256}.
    ///
    /// It contains neither version nor channel, so the signature of an unchanged file stays valid in all later versions.
    package static func asset(app: AppID, patchID: PatchID, path: AssetPath, fingerprint: Fingerprint) -> [UInt8] {
        let members: [(String, JSON?)] = [
            ("app", .text(app.text)), ("patchId", .text(patchID.text)), ("path", .text(path.text)),
        ]
        return Array(assetPrefix.utf8) + JSON.fields(members + fingerprint.members).canonicalBytes
    }
}

/// The kind of content that a list entry delivers.
package enum PatchKind: String, Sendable {
    /// JavaScript that changes behaviour.
    case script
    /// A web application: an asset manifest and its files.
    case bundle
}
