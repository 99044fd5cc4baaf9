package import PatchFormat
import PatchCrypto
package import PatchTrust

/// The name of a file of the published tree.
///
/// Only files with such a name are served.
package struct TreePath: Hashable, Sendable {
    package enum File: Hashable, Sendable {
        case timestamp
        case root(version: Int)
        /// Any other role: snapshot, targets, dial or a channel.
        case role(String, version: Int)
        case target(TargetPath, SHA256Digest)
        case object(SHA256Digest)
        /// A whole bundle's objects in one, by its manifest: see ``FullPack``.
        ///
        /// It is assembled while it is sent, and is not stored as a file.
        case pack(SHA256Digest)
        /// A part of the update from one version of a bundle to another.
        ///
        /// Used only for transport, and unreferenced.
        case basePack(BasePack, BasePack.Part)
        /// The packs to a manifest: see ``PackIndex``.
        ///
        /// Replaced whenever packs are added or removed.
        case packIndex(SHA256Digest)
        /// A channel's metadata in one: see ``Express``.
        ///
        /// A file only in an exported tree; a server assembles it.
        case express(ChannelName)
        /// A file for another system's clients, below its folder.
        ///
        /// A file only in an exported tree, like ``express(_:)``.
        case gateway(Gateway, ChannelName, AssetPath)
        /// A compressed form of a target, an object or a pack.
        ///
        /// Used only for transport, and unreferenced.
        indirect case compressed(File, CompressionFormat)

        /// All trees of this project have consistent snapshots: the version is in the name, regardless of the request.
        package init(_ request: RoleRequest) {
            switch request {
            case .root(let version): self = .root(version: version)
            case .timestamp: self = .timestamp
            case .role(let name, let file, _): self = .role(name, version: file.version)
            }
        }

        package init(_ file: Express.File) {
            switch file {
            case .root(let version): self = .root(version: version)
            case .timestamp: self = .timestamp
            case .role(let name, let version): self = .role(name, version: version)
            case .target(let path, let digest): self = .target(path, digest)
            }
        }
    }

    package let app: AppID
    package let file: File

    package init(_ app: AppID, _ file: File) {
        self.app = app
        self.file = file
    }

    /// The path relative to the app's folder.
    package var path: String { file.path }
}

extension TreePath.File {
    fileprivate var path: String {
        switch self {
        case .timestamp: URLLayout.timestamp
        case .root(let version): URLLayout.metadata("root", version: version)
        case .role(let role, let version): URLLayout.metadata(role, version: version)
        case .target(let path, let digest): URLLayout.target(path, sha256: digest)
        case .object(let digest): URLLayout.object(digest)
        case .pack(let manifest): URLLayout.fullPack(of: manifest)
        case .basePack(let pack, let part): URLLayout.pack(pack, part)
        case .packIndex(let manifest): URLLayout.packIndex(of: manifest)
        case .express(let channel): URLLayout.express(channel)
        case .gateway(let gateway, let channel, let path): "\(URLLayout.gateway(gateway, channel))/\(path)"
        case .compressed(let file, let format): file.path + format.suffix
        }
    }

    /// The file itself, for a compressed form.
    package var plain: TreePath.File {
        if case .compressed(let file, _) = self { file } else { self }
    }

    /// Whether a compressed form may be stored beside it: not for files that are replaced, or are compressed already.
    package var mayBeCompressed: Bool {
        switch self {
        case .timestamp, .basePack, .packIndex, .gateway, .compressed: false
        case .root, .role, .target, .object, .pack, .express: true
        }
    }
}

extension TreePath {
    /// Parses the decoded segments of a URL, `[APP, "objects", "ab", SHA256]`.
    ///
    /// Each file has one spelling: writing the parsed path gives the same text.
    package init?(segments: [String]) {
        guard segments.count >= 3, let app = AppID(segments[0]),
            let file = Self.file(segments[1], Array(segments[2...]))
        else { return nil }
        self.init(app, file)
        guard path.hasSameBytes(as: segments.dropFirst().joined(separator: "/")) else { return nil }
    }

    private static func file(_ folder: String, _ rest: [String]) -> File? {
        // The gateway's names are free: one that ends like a compressed form is a file like any other.
        if folder == "gateways" { return gateway(rest) }
        for format in CompressionFormat.allCases where rest.last?.hasSuffix(format.suffix) == true {
            let name = String(rest[rest.count - 1].dropLast(format.suffix.count))
            guard let plain = plain(folder, rest.dropLast() + [name]), plain.mayBeCompressed else { return nil }
            return .compressed(plain, format)
        }
        return plain(folder, rest)
    }

    /// A file other than a compressed form.
    private static func plain(_ folder: String, _ rest: [String]) -> File? {
        switch folder {
        case "metadata": metadata(rest)
        case "targets": target(rest)
        case "objects": object(rest)
        case "packs": pack(rest)
        default: nil
        }
    }

    private static func metadata(_ segments: [String]) -> File? {
        if segments.count == 2, segments[0] == "express" { return ChannelName(segments[1]).map { .express($0) } }
        guard segments.count == 1 else { return nil }
        return segments[0] == "timestamp.json" ? .timestamp : role(named: segments[0])
    }

    /// Parses a name in the metadata folder, `N.ROLE.json`.
    package static func role(named name: String) -> File? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "json", parts[0].utf8.count <= 16, let version = Int(parts[0]), version > 0
        else { return nil }
        switch parts[1] {
        case "root": return .root(version: version)
        case "snapshot", "targets", "dial": return .role(String(parts[1]), version: version)
        default: return ChannelName(String(parts[1])).map { .role($0.text, version: version) }
        }
    }

    private static func target(_ segments: [String]) -> File? {
        guard let last = segments.last, let dot = last.firstIndex(of: "."),
            let digest = SHA256Digest(hex: String(last[..<dot]))
        else { return nil }
        let name = String(last[last.index(after: dot)...])
        guard let path = targetPath(segments.dropLast() + [name]) else { return nil }
        return .target(path, digest)
    }

    private static func targetPath(_ segments: [String]) -> TargetPath? {
        switch (segments.count, segments.last) {
        case (2, let name?) where segments[0] == "dial":
            return dialTarget(name)
        case (2, "patchlist.json"):
            return ChannelName(segments[0]).map { .patchList($0) }
        case (4, let name):
            guard let channel = ChannelName(segments[0]), let id = PatchID(segments[1]),
                let version = VersionLabel(segments[2])
            else { return nil }
            switch name {
            case "manifest.json": return .manifest(channel: channel, patchID: id, version: version)
            case "manifest.sigs": return .signatureColumn(channel: channel, patchID: id, version: version)
            default: return nil
            }
        default: return nil
        }
    }

    /// Parses `production.json` and `production.parameters.json`.
    private static func dialTarget(_ name: String) -> TargetPath? {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let channel = ChannelName(String(parts[0])) else { return nil }
        return switch parts.dropFirst().first {
        case "json": .dial(channel)
        case "parameters.json": .parameters(channel)
        default: nil
        }
    }

    private static func pack(_ segments: [String]) -> File? {
        guard segments.count == 2, let manifest = SHA256Digest(hex: segments[0]) else { return nil }
        if segments[1] == "full.pack" { return .pack(manifest) }
        if segments[1] == "index.json" { return .packIndex(manifest) }
        let parts = segments[1].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("from-"),
            let base = SHA256Digest(hex: String(parts[0].dropFirst(5))),
            let part = BasePack.Part(rawValue: String(parts[1]))
        else { return nil }
        return .basePack(BasePack(manifest: manifest, base: base), part)
    }

    private static func gateway(_ segments: [String]) -> File? {
        guard segments.count >= 3, let gateway = Gateway(rawValue: segments[0]),
            let channel = ChannelName(segments[1]),
            let path = try? AssetPath(segments.dropFirst(2).joined(separator: "/"))
        else { return nil }
        return .gateway(gateway, channel, path)
    }

    private static func object(_ segments: [String]) -> File? {
        guard segments.count == 2, let digest = SHA256Digest(hex: segments[1]) else { return nil }
        return .object(digest)
    }
}
