package import HTTPCore
package import HTTPFiles
import NIOHTTP1
import PatchCompression
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// The published tree over HTTP: the files of the URL layout, packs and express answers made from them, and 404 for all else.
///
/// All cached data is named by its digest, or checked each time (``KnownRoles``). So a new release is served at once.
package struct PublishedTree: FileSource {
    /// The header for files that may be cached for ever: the name determines the content, or its number is never used again.
    private static let immutable = "public, max-age=31536000, immutable"
    /// How long a cache may answer that no newer file exists.
    private static let brief = "public, max-age=60"
    private static let nosniff: HTTPHeaders = ["X-Content-Type-Options": "nosniff"]
    /// The headers for files that may be sent in several forms.
    private static let negotiated: HTTPHeaders = ["X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"]

    private static let unreadable = FileAnswer.refused(
        .internalServerError,
        message: "The file cannot be read.",
        headers: [:]
    )

    private let tree: FolderFiles
    private let known = KnownRoles()
    private let packs: PackCache
    private let express: ExpressAnswers
    private let gateways: GatewayFiles?
    private let onMissing: @Sendable (AppID, BasePack) -> Void

    /// - Parameters:
    ///   - tree: the root folder, with one subfolder per app.
    ///   - gateways: nil if other systems' clients are not served.
    ///   - onMissing: receives each missing pack from a base; called on the thread that answers requests.
    package init(
        _ tree: FilePath,
        gateways: GatewayFiles? = nil,
        onMissing: @escaping @Sendable (AppID, BasePack) -> Void = { _, _ in }
    ) {
        self.tree = FolderFiles(root: tree)
        packs = PackCache(tree: tree)
        express = ExpressAnswers(tree: tree)
        self.gateways = gateways
        self.onMissing = onMissing
    }

    /// Whether a tree can have this path.
    package static func mayHold(_ path: RequestPath) -> Bool { TreePath(segments: path.segments) != nil }

    /// Small, cached and digest-named files are answered at once.
    ///
    /// A role may be large, and is read and hashed on another thread.
    package func decide(_ request: FileRequest) -> FileDecision {
        if let gateways, GatewayFiles.isMeant(by: request) { return gateways.decide(request, edition: edition) }
        guard !request.path.hasTrailingSlash, let path = TreePath(segments: request.path.segments) else {
            return .now(PreparedReply(.notFound))
        }
        let accepted = path.file.mayBeCompressed ? CompressionFormat.accepted(by: request) : []
        switch path.file {
        case .object, .target, .timestamp, .basePack, .compressed:
            let reply = compressed(path, at: request.path, accepted) ?? file(at: request.path)
            return .now(PreparedReply(reply, edition: edition, whenUsed: prefetch(of: path)))
        case .pack(let manifest):
            if let reply = compressed(path, at: request.path, accepted) { return .now(PreparedReply(reply)) }
            return .later(.whole) { _ in await pack(PackCache.Name(app: path.app, manifest: manifest)) }
        case .express(let channel):
            let known = Express.Known(query: request.query)
            if let answer = express.known(path.app, channel, known, as: accepted.first) {
                return .now(PreparedReply(.bytes(answer)))
            }
            return .later(.whole) { _ in metadata(of: channel, path.app, known, accepted.first) }
        case .root, .role, .packIndex:
            if let role = knownRole(request.path, accepted) {
                return .now(PreparedReply(.bytes(role), edition: edition))
            }
            return .later(.whole) { _ in file(at: request.path, accepted) }
        case .gateway: return .now(PreparedReply(.notFound))
        }
    }

    /// The express answer.
    ///
    /// A 404 is cached only briefly, as the channel's first release may be published soon.
    private func metadata(
        of channel: ChannelName,
        _ app: AppID,
        _ known: Express.Known,
        _ format: CompressionFormat?
    ) -> FileAnswer {
        do throws(ServerError) {
            guard let answer = try express.make(app, channel, known, as: format) else {
                return .refused(.notFound, message: "Not found.", headers: ["Cache-Control": Self.brief])
            }
            return .bytes(answer)
        } catch {
            return Self.unreadable
        }
    }

    /// A client that downloads a manifest usually requests its pack next, after verifying signatures.
    private func prefetch(of path: TreePath) -> (@Sendable () -> Lease?)? {
        guard case .target(let target, let digest) = path.file, target.isManifest else { return nil }
        return { [packs] in
            packs.prefetch(PackCache.Name(app: path.app, manifest: digest))
            return nil
        }
    }

    private func pack(_ name: PackCache.Name) async -> FileAnswer {
        guard let contents = await packs.contents(of: name) else { return .notFound }
        let app = tree.root.at(name.app.text)
        return .files(
            ServedFiles(
                offsets: contents.pack.offsets,
                root: tree.root,
                entityTag: "\(name.manifest.hex).full",
                cacheControl: Self.immutable,
                headers: Self.negotiated
            ) { app.at(URLLayout.object(contents.objects[$0])) }
        )
    }

    /// The stored form of a file that the request prefers.
    ///
    /// Nil if there is none, or the lookup fails: the plain file is sent instead.
    private func compressed(
        _ path: TreePath,
        at requested: RequestPath,
        _ accepted: [CompressionFormat]
    ) -> FileAnswer? {
        for format in accepted {
            guard let found = try? tree.lookUp(requested, suffix: format.suffix) else { continue }
            var headers = Self.negotiated
            headers.add(name: "Content-Encoding", value: format.rawValue)
            return .file(
                ServedFile(
                    path: found.path,
                    root: found.root,
                    // A form that was made again may have other bytes.
                    entityTag: "\(path.file.tag).\(found.size)\(format.suffix)",
                    contentType: path.file.contentType,
                    cacheControl: Self.immutable,
                    headers: headers,
                    size: found.size
                )
            )
        }
        return nil
    }

    private func file(at requested: RequestPath, _ accepted: [CompressionFormat] = []) -> FileAnswer {
        guard let path = TreePath(segments: requested.segments) else { return .notFound }
        do throws(FolderFilesError) {
            if let role = knownRole(requested, accepted) { return .bytes(role) }
            guard let found = try tree.lookUp(requested) else { return missing(path) }
            switch path.file {
            case .timestamp, .packIndex: return whole(found, cacheControl: Self.brief)
            case .express, .gateway: return .notFound
            case .root, .role: return whole(found, cacheControl: Self.immutable, accepted)
            case .target, .object, .pack, .basePack, .compressed:
                return .file(
                    ServedFile(
                        path: found.path,
                        root: found.root,
                        entityTag: path.file.mayBeMadeAgain ? "\(path.file.tag).\(found.size)" : path.file.tag,
                        contentType: path.file.contentType,
                        cacheControl: Self.immutable,
                        headers: path.file.mayBeCompressed ? Self.negotiated : Self.nosniff,
                        size: found.size
                    )
                )
            }
        } catch {
            return Self.unreadable
        }
    }

    /// The cached role in the preferred form.
    ///
    /// - Precondition: the path is one of the tree's grammar, which has no `..`.
    private func knownRole(_ path: RequestPath, _ accepted: [CompressionFormat]) -> ServedBytes? {
        known.served(FilePath("\(tree.root.string)\(path.text)"), as: accepted.first)
    }

    /// The answer for a file whose name does not determine its content; its tag is its digest.
    ///
    /// Roles are small: they are compressed when they are read, and cached in that form instead of being stored compressed. The
    /// effort is low, because a client that requests many roles causes each to be read again.
    private func whole(
        _ found: FolderFiles.Found,
        cacheControl: String,
        _ accepted: [CompressionFormat]? = nil
    ) -> FileAnswer {
        do throws(FileError) {
            // Recorded before the read, so that a concurrent write is noticed at the next request.
            guard let origin = FileOrigin(at: found.path.string) else { return Self.unreadable }
            let plain = try DiskFiles().read(found.path, limit: Limits.targetsRole)
            let format = accepted?.first
            let form = format.flatMap { try? $0.compressed(plain, effort: .quick) }.flatMap {
                CompressionFormat.pays($0.count, for: plain.count) ? $0 : nil
            }
            var headers = accepted == nil ? Self.nosniff : Self.negotiated
            if let format, form != nil { headers.add(name: "Content-Encoding", value: format.rawValue) }
            let tag = SHA256Digest(of: plain).hex
            let served = ServedBytes(
                bytes: form ?? plain,
                entityTag: form == nil ? tag : tag + (format?.suffix ?? ""),
                contentType: "application/json",
                cacheControl: cacheControl,
                headers: headers,
                origin: origin
            )
            known.remember(served, of: found.path, as: format)
            return .bytes(served)
        } catch {
            return Self.unreadable
        }
    }

    /// The 404 of a missing file.
    ///
    /// Every refresh requests the next root, which may exist later. A pack may be made soon, and an index with it. So these expire
    /// quickly.
    private func missing(_ path: TreePath) -> FileAnswer {
        switch path.file {
        case .root, .packIndex: break
        case .basePack(let pack, let part): if part == .pack { onMissing(path.app, pack) }
        case .timestamp, .express, .gateway, .role, .target, .object, .pack, .compressed: return .notFound
        }
        return .refused(.notFound, message: "Not found.", headers: ["Cache-Control": Self.brief])
    }
}

extension TreePath.File {
    /// The tag of a file whose name determines its content.
    fileprivate var tag: String {
        switch self {
        case .object(let digest), .target(_, let digest): digest.hex
        case .pack(let manifest): "\(manifest.hex).full"
        // The path of a pack contains both digests.
        case .basePack(let pack, let part):
            "\(pack.manifest.hex.prefix(8)).\(pack.base.hex.prefix(8)).\(part.rawValue)"
        case .compressed(let file, let format): file.tag + format.suffix
        case .packIndex(let manifest): "\(manifest.hex).index"
        case .role(let name, let version): "\(version).\(name)"
        case .root(let version): "\(version).root"
        case .timestamp: "timestamp"
        case .express(let channel): "express.\(channel)"
        case .gateway(let gateway, let channel, _): "\(gateway.rawValue).\(channel)"
        }
    }

    /// Whether the file may be made again, with other bytes.
    fileprivate var mayBeMadeAgain: Bool {
        if case .basePack = self { true } else { false }
    }

    fileprivate var contentType: String {
        switch self {
        case .target(let path, _) where path.text.hasSuffix(".json"): "application/json"
        case .target, .object, .pack, .basePack, .express, .gateway: ContentType.unknown
        case .compressed(_, .zstandard): "application/zstd"
        case .compressed(_, .gzip): "application/gzip"
        case .timestamp, .root, .role, .packIndex: "application/json"
        }
    }
}

extension CompressionFormat {
    /// The formats that a request accepts, the preferred one first.
    fileprivate static func accepted(by request: FileRequest) -> [CompressionFormat] {
        ContentCoding.accepted(in: request.headers).compactMap { CompressionFormat(rawValue: $0.rawValue) }
    }
}
