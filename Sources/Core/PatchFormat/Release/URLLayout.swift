/// The paths of all files below `/APP/`.
///
/// All of them are static, so any file server can serve them.
package enum URLLayout {
    package static let timestamp = "metadata/timestamp.json"

    /// The path of a role, `metadata/N.ROLE.json`; only the timestamp has no number.
    ///
    /// - Parameter version: nil in a repository without consistent snapshots, for any role except root: `metadata/ROLE.json`.
    package static func metadata(_ role: String, version: Int?) -> String {
        "metadata/\(version.map { "\($0)." } ?? "")\(percentEncoded(role)).json"
    }

    /// `metadata/express/CHANNEL`: see ``Express``.
    package static func express(_ channel: ChannelName) -> String { "metadata/express/\(channel)" }

    /// A role's name in URLs and file names: all characters except `A-Za-z0-9_.~-` are percent-encoded.
    package static func percentEncoded(_ text: String) -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"),
                UInt8(ascii: "-"):
                out.append(byte)
            default:
                out.append(UInt8(ascii: "%"))
                out += Hex.text([byte]).uppercased().utf8
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The default `url` of an asset: `/` and the path with each segment percent-encoded (RFC 3986 §2.3: only unreserved characters
    /// stay unencoded).
    ///
    /// Part of the delta pack format, like ``AssetType/init(path:)``.
    package static func asset(_ path: AssetPath) -> String {
        "/" + path.segments.map(percentEncoded).joined(separator: "/")
    }

    /// `gateways/meteor/CHANNEL`: the root of the URLs that another system's clients request.
    ///
    /// See ``Gateway``.
    package static func gateway(_ gateway: Gateway, _ channel: ChannelName) -> String {
        "gateways/\(gateway.rawValue)/\(channel)"
    }

    /// `objects/ab/<sha256>`: each script and asset is stored once.
    package static func object(_ sha256: SHA256Digest) -> String {
        "objects/\(sha256.hex.prefix(2))/\(sha256.hex)"
    }

    /// `packs/<manifest sha256>/full.pack`: see ``FullPack``.
    package static func fullPack(of manifest: SHA256Digest) -> String {
        "packs/\(manifest.hex)/full.pack"
    }

    /// `packs/<manifest sha256>/from-<base manifest sha256>.pack` and `.sigs`: see ``BasePack``.
    package static func pack(_ pack: BasePack, _ part: BasePack.Part) -> String {
        "packs/\(pack.manifest.hex)/\(pack.name(of: part))"
    }

    /// `packs/<manifest sha256>/index.json`: see ``PackIndex``.
    package static func packIndex(of manifest: SHA256Digest) -> String {
        "packs/\(manifest.hex)/index.json"
    }

    /// A target's file under consistent snapshots: `targets/DIRECTORY/HASH.NAME`.
    package static func target(_ path: TargetPath, sha256: SHA256Digest) -> String {
        "targets/" + path.prefixingName(with: sha256.hex)
    }

    /// The file of a target in any TUF repository.
    ///
    /// Its path is already a URL path (TUF 4.5 TARGETPATH), so only characters that are invalid in URLs are percent-encoded.
    ///
    /// - Parameter prefix: a digest of the target, or nil in a repository without consistent snapshots.
    package static func target(named name: String, prefix: String?) -> String {
        let forbidden = Set("\"#<>?[\\]^`{|}".utf8)
        var out: [UInt8] = []
        for byte in name.utf8 {
            if (0x21...0x7E).contains(byte), !forbidden.contains(byte) {
                out.append(byte)
            } else {
                out += Array("%\(Hex.text([byte]).uppercased())".utf8)
            }
        }
        let path = String(decoding: out, as: UTF8.self)
        guard let prefix else { return "targets/\(path)" }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        return "targets/\(path[..<slash])\(prefix).\(path[slash...])"
    }

    /// The path at which a device sends its question.
    ///
    /// It is below the server itself, not below `/APP/`.
    ///
    /// This path is not static, and neither are the reports to JSPatch's platform.
    package static func answer(_ app: AppID, _ channel: ChannelName) -> String {
        "api/v1/apps/\(app)/channels/\(channel)/answer"
    }

    /// The `url` of a list entry.
    package static func entry(
        kind: PatchKind,
        channel: ChannelName,
        patchID: PatchID,
        version: VersionLabel,
        sha256: SHA256Digest
    ) -> String {
        switch kind {
        case .script: object(sha256)
        case .bundle: target(.manifest(channel: channel, patchID: patchID, version: version), sha256: sha256)
        }
    }
}

/// The name of a TUF target, such as `production/patchlist.json`.
///
/// Its character set is small because it is used in URLs without encoding.
package struct TargetPath: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let rule = "must be segments of A-Z a-z 0-9 . _ ~ + - joined by '/', none of them '.' or '..'"

    package let text: String

    package init?(_ text: String) {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false)
        let extra = Set("._~+-".utf8)
        guard text.utf8.count <= 1_024,
            segments.allSatisfy({ segment in
                !segment.isEmpty && segment != "." && segment != ".."
                    && segment.utf8.allSatisfy {
                        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                            || extra.contains($0)
                    }
            })
        else { return nil }
        self.text = text
    }

    private init(parsed text: String) {
        self.text = text
    }

    package static func patchList(_ channel: ChannelName) -> TargetPath {
        TargetPath(parsed: "\(channel)/patchlist.json")
    }

    package static func manifest(channel: ChannelName, patchID: PatchID, version: VersionLabel) -> TargetPath {
        TargetPath(parsed: "\(channel)/\(patchID)/\(version)/manifest.json")
    }

    package static func signatureColumn(channel: ChannelName, patchID: PatchID, version: VersionLabel) -> TargetPath {
        TargetPath(parsed: "\(channel)/\(patchID)/\(version)/manifest.sigs")
    }

    package static func dial(_ channel: ChannelName) -> TargetPath {
        TargetPath(parsed: "dial/\(channel).json")
    }

    /// The path of the online parameters, which belong to the dial's role too.
    ///
    /// It is unique because a channel's name contains no dot.
    package static func parameters(_ channel: ChannelName) -> TargetPath {
        TargetPath(parsed: "dial/\(channel).parameters.json")
    }

    package var description: String { text }

    package var isManifest: Bool { text.hasSuffix("/manifest.json") }

    /// `dir/HASH.file` (TUF 5.7.3).
    package func prefixingName(with hash: String) -> String {
        guard let slash = text.lastIndex(of: "/") else { return "\(hash).\(text)" }
        return "\(text[...slash])\(hash).\(text[text.index(after: slash)...])"
    }

    package static func < (left: TargetPath, right: TargetPath) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
