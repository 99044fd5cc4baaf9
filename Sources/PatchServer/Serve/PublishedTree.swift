package import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchTrust
import ReleaseTree
package import SystemPackage

/// The published tree over HTTP: the files of the URL layout, packs of them, and 404 for all else.
///
/// Everything that it and the server remember is named by its digest, or checked each time (``KnownRoles``); so a
/// release that is published meanwhile is served at once.
package struct PublishedTree: FileSource {
    /// For files that may be kept for ever: the name gives the content, or its number is never used again.
    private static let immutable = "public, max-age=31536000, immutable"
    /// How long a cache may answer that nothing is newer.
    private static let brief = "public, max-age=60"
    private static let nosniff: HTTPHeaders = ["X-Content-Type-Options": "nosniff"]

    private static let unreadable = FileAnswer.refused(
        .internalServerError,
        message: "The file cannot be read.",
        headers: [:]
    )

    private let tree: FolderFiles
    private let known = KnownRoles()
    private let packs: PackCache

    /// - Parameter tree: the folder that holds one folder an app.
    package init(_ tree: FilePath) {
        self.tree = FolderFiles(root: tree)
        packs = PackCache(tree: tree)
    }

    /// Whether the path is one that a tree can have.
    package static func mayHold(_ path: RequestPath) -> Bool {
        TreePath(segments: path.segments) != nil || PackPath(segments: path.segments) != nil
    }

    /// Small, remembered and digest-named files are answered at once; a role may be large, and is read and hashed on
    /// another thread.
    package func decide(_ request: FileRequest) -> FileDecision {
        guard !request.path.hasTrailingSlash else { return .now(PreparedReply(.notFound)) }
        guard let path = TreePath(segments: request.path.segments) else {
            guard let path = PackPath(segments: request.path.segments) else { return .now(PreparedReply(.notFound)) }
            return .later(.whole) { _ in await pack(at: path) }
        }
        switch path.file {
        case .object, .target, .timestamp:
            return .now(PreparedReply(file(at: request.path), edition: edition, whenUsed: prefetch(of: path)))
        case .root, .role:
            if let role = knownRole(request.path) { return .now(PreparedReply(.bytes(role), edition: edition)) }
            return .later(.whole) { _ in file(at: request.path) }
        }
    }

    /// A client that fetches a manifest mostly asks for its pack next, after verifying signatures.
    private func prefetch(of path: TreePath) -> (@Sendable () -> Lease?)? {
        guard let pack = PackPath(ofManifest: path) else { return nil }
        return { [packs] in
            packs.prefetch(pack)
            return nil
        }
    }

    private func pack(at path: PackPath) async -> FileAnswer {
        guard let contents = await packs.contents(at: path) else { return .notFound }
        let app = tree.root.at(path.app.text)
        return .files(
            ServedFiles(
                offsets: contents.pack.offsets,
                root: tree.root,
                entityTag: "\(path.manifest.hex).full",
                cacheControl: Self.immutable,
                headers: Self.nosniff
            ) { app.at(URLLayout.object(contents.objects[$0])) }
        )
    }

    private func file(at requested: RequestPath) -> FileAnswer {
        guard let path = TreePath(segments: requested.segments) else { return .notFound }
        do throws(FolderFilesError) {
            if path.file.digest == nil, let role = knownRole(requested) { return .bytes(role) }
            guard let found = try tree.lookUp(requested) else { return Self.missing(path) }
            return answer(path, found)
        } catch {
            return Self.unreadable
        }
    }

    /// - Precondition: the path is one of the tree's grammar, which has no `..`.
    private func knownRole(_ path: RequestPath) -> ServedBytes? {
        known.served(FilePath("\(tree.root.string)\(path.text)"))
    }

    private func answer(_ path: TreePath, _ found: FolderFiles.Found) -> FileAnswer {
        switch path.file {
        case .timestamp:
            return whole(found, cacheControl: Self.brief)
        case .root, .role:
            return whole(found, cacheControl: Self.immutable)
        case .target(let target, let digest):
            let type = target.text.hasSuffix(".json") ? "application/json" : ContentType.unknown
            return .file(Self.file(found, digest, contentType: type))
        case .object(let digest):
            return .file(Self.file(found, digest, contentType: ContentType.unknown))
        }
    }

    /// Bytes whose name does not give their content; their tag is their digest.
    private func whole(_ found: FolderFiles.Found, cacheControl: String) -> FileAnswer {
        do throws(FileError) {
            // Taken before the read, so that a write meanwhile shows at the next look.
            guard let origin = FileOrigin(at: found.path.string) else { return Self.unreadable }
            let bytes = try DiskFiles().read(found.path, limit: Limits.targetsRole)
            let served = ServedBytes(
                bytes: bytes,
                entityTag: SHA256Digest(of: bytes).hex,
                contentType: "application/json",
                cacheControl: cacheControl,
                headers: Self.nosniff,
                origin: origin
            )
            known.remember(served, of: found.path)
            return .bytes(served)
        } catch {
            return Self.unreadable
        }
    }

    private static func file(_ found: FolderFiles.Found, _ digest: SHA256Digest, contentType: String) -> ServedFile {
        ServedFile(
            path: found.path,
            root: found.root,
            entityTag: digest.hex,
            contentType: contentType,
            cacheControl: immutable,
            headers: nosniff,
            size: found.size
        )
    }

    /// A newer root that does not exist is asked for at every refresh, and will exist one day.
    private static func missing(_ path: TreePath) -> FileAnswer {
        guard case .root = path.file else { return .notFound }
        return .refused(.notFound, message: "Not found.", headers: ["Cache-Control": brief])
    }
}
