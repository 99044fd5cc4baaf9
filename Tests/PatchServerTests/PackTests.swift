import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import ServerTesting
import Testing

@Suite("A pack of the published tree")
struct PackTests {
    private func withServer(_ body: (TestingServer) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let server = try TestingServer(files: DiskFiles(), root: folder.path)
        try server.publish(try server.factory.release(on: server.repository))
        try await body(server)
    }

    private func manifests(_ server: TestingServer) throws -> [String] {
        try server.treeFiles().filter { $0.hasSuffix(".manifest.json") }
    }

    /// The digest in the name of a manifest's file.
    private func digest(_ manifest: String) throws -> SHA256Digest {
        let name = try #require(manifest.split(separator: "/").last)
        return try #require(SHA256Digest(hex: String(name.prefix(64))))
    }

    private func answer(_ path: String, from tree: PublishedTree) async throws -> FileAnswer {
        await tree.answer(FileRequest(method: .GET, path: try RequestPath(parsing: path)))
    }

    private func bytes(_ files: ServedFiles) throws -> [UInt8] {
        try (0..<files.offsets.count - 1).flatMap { try DiskFiles().read(files.path($0), limit: Limits.object) }
    }

    private func isNotFound(_ answer: FileAnswer) -> Bool {
        if case .refused(.notFound, _, _) = answer { true } else { false }
    }

    @Test func `is the assets of a manifest in its order, under a tag of its own, for ever`() async throws {
        try await withServer { server in
            let name = try #require(try manifests(server).first)
            let digest = try digest(name)
            let tree = PublishedTree(server.folder.tree)
            let path = "/com.example.storefront/packs/\(digest.hex)/full.pack"
            guard case .files(let files) = try await answer(path, from: tree) else {
                Issue.record("there is no pack")
                return
            }
            let app = server.folder.tree(of: server.repository.app)
            let manifest = try AssetManifest(try DiskFiles().read(app.appending(name), limit: Limits.manifest))
            let objects = try manifest.assets.flatMap { asset in
                try DiskFiles().read(app.appending(URLLayout.object(asset.fingerprint.sha256)), limit: Limits.object)
            }
            #expect(try bytes(files) == objects && !objects.isEmpty)
            #expect(
                files.offsets == [0]
                    + manifest.assets.indices.map { row in
                        manifest.assets[...row].reduce(0) { $0 + $1.fingerprint.size }
                    }
            )
            #expect(files.root == server.folder.tree)
            #expect(files.entityTag == "\(digest.hex).full")
            #expect(files.cacheControl == "public, max-age=31536000, immutable")
            #expect(files.headers == ["X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"])
        }
    }

    @Test func `is none of what is not a manifest of this app, and of no other spelling`() async throws {
        try await withServer { server in
            let tree = PublishedTree(server.folder.tree)
            let digest = try digest(try #require(try manifests(server).first)).hex
            let list = try #require(try server.treeFiles().first { $0.hasSuffix("patchlist.json") })
            let other = String(repeating: "0", count: 64)
            for path in [
                "com.example.storefront/packs/\(other)/full.pack",
                "com.example.storefront/packs/\(try self.digest(list).hex)/full.pack",
                "com.example.other/packs/\(digest)/full.pack", "com.example.storefront/packs/\(digest)/from-x.pack",
                "com.example.storefront/packs/\(digest.uppercased())/full.pack",
                "com.example.storefront/packs/\(digest)", "com.example.storefront/packs/\(digest)/full.pack/",
                "com.example.storefront/packs/\(digest)/x/full.pack", "../packs/\(digest)/full.pack",
            ] {
                guard let path = try? RequestPath(parsing: "/\(path)") else { continue }
                let request = FileRequest(method: .GET, path: path)
                #expect(isNotFound(await tree.answer(request)), "\(path.text)")
            }
        }
    }

    @Test func `is there for what is published while the server runs, and not for what is gone`() async throws {
        try await withServer { server in
            let tree = PublishedTree(server.folder.tree)
            let first = try #require(try manifests(server).first)
            let path = { (digest: SHA256Digest) in "/com.example.storefront/packs/\(digest.hex)/full.pack" }
            #expect(try await !isNotFound(answer(path(digest(first)), from: tree)))

            var contents = ReleaseFactory.Contents()
            contents.web = ("2.0.0", ["index.html": "<p>two</p>"])
            try server.publish(try server.factory.release(contents, on: server.repository))
            let second = try #require(try manifests(server).first { $0 != first })
            guard case .files(let files) = try await answer(path(digest(second)), from: tree) else {
                Issue.record("there is no pack of the new one")
                return
            }
            #expect(try bytes(files) == Array("<p>two</p>".utf8))

            try server.files.remove(server.folder.tree(of: server.repository.app).appending(first))
            let timestamp = server.folder.tree(of: server.repository.app).appending("metadata")
            let bytes = try server.files.read(timestamp.appending("timestamp.json"), limit: Limits.timestamp)
            try server.files.replace("timestamp.json", in: timestamp, with: bytes, permissions: .ownerReadWrite)
            #expect(try await isNotFound(answer(path(digest(first)), from: tree)))
        }
    }

    @Test func `is none of a manifest that is damaged on the disk`() async throws {
        try await withServer { server in
            let name = try #require(try manifests(server).first)
            let file = server.folder.tree(of: server.repository.app).appending(name)
            var bytes = try server.files.read(file, limit: Limits.manifest)
            // Still JSON, and still a manifest.
            let at = try #require(bytes.indices.first { bytes[$0...].starts(with: "1.0.0".utf8) })
            bytes[at] = UInt8(ascii: "2")
            let folder = file.removingLastComponent()
            try server.files.replace(
                try #require(file.lastComponent?.string),
                in: folder,
                with: bytes,
                permissions: .ownerReadWrite
            )
            let path = "/com.example.storefront/packs/\(try digest(name).hex)/full.pack"
            #expect(isNotFound(try await answer(path, from: PublishedTree(server.folder.tree))))
        }
    }
}
