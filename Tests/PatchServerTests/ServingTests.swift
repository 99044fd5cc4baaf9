import FoundationEssentials
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import ServerTesting
import Testing

@Suite("The served tree")
struct ServingTests {
    private struct Answer {
        var status: UInt = 200
        var bytes: [UInt8] = []
        var tag: String?
        var type: String?
        var cache: String?
    }

    private func get(_ target: String, from server: TestingServer) async throws -> Answer {
        let request = FileRequest(method: .GET, path: try RequestPath(parsing: target))
        switch await PublishedTree(server.folder.tree).answer(request) {
        case .file(let file):
            let bytes = try DiskFiles().read(file.path, limit: Limits.object)
            return Answer(bytes: bytes, tag: file.entityTag, type: file.contentType, cache: file.cacheControl)
        case .bytes(let served):
            return Answer(
                status: served.status.code,
                bytes: served.bytes,
                tag: served.entityTag,
                type: served.contentType,
                cache: served.cacheControl
            )
        case .refused(let status, _, let headers):
            return Answer(status: status.code, cache: headers.first(name: "Cache-Control"))
        case .files, .stream, .tunnel:
            Issue.record("a tree is of files")
            return Answer(status: 500)
        }
    }

    private func withServer(_ body: (TestingServer) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let server = try TestingServer(files: DiskFiles(), root: folder.path)
        try server.publish(try server.factory.release(on: server.repository))
        try await body(server)
    }

    @Test
    func `answers every file of the tree with a strong tag and its type`() async throws {
        try await withServer { server in
            for name in try server.treeFiles() {
                let answer = try await get("/com.example.storefront/\(name)", from: server)
                #expect(answer.status == 200, "\(name)")
                #expect(answer.tag == SHA256Digest(of: answer.bytes).hex, "\(name)")
                #expect(
                    answer.type == (name.hasSuffix(".json") ? "application/json" : "application/octet-stream"),
                    "\(name)"
                )
                let lasting = "public, max-age=31536000, immutable"
                #expect(answer.cache == (name == "metadata/timestamp.json" ? "public, max-age=60" : lasting), "\(name)")
            }
        }
    }

    /// Whoever makes it again may make other bytes; its path says which it is.
    @Test
    func `tags a pack from a base with the beginnings of its digests, and its size`() async throws {
        try await withServer { server in
            let (manifest, base) = (SHA256Digest(of: [1]), SHA256Digest(of: [2]))
            for (part, count) in [(BasePack.Part.pack, 5), (.signatures, 384)] {
                let path = URLLayout.pack(BasePack(manifest: manifest, base: base), part)
                let file = server.treePath(path)
                try server.files.makeDirectory(file.parent)
                try server.files.write([UInt8](repeating: 0, count: count), to: file)
                let answer = try await get("/com.example.storefront/\(path)", from: server)
                let tag = "\(manifest.hex.prefix(8)).\(base.hex.prefix(8)).\(part.rawValue).\(count)"
                #expect(answer.tag == tag && answer.bytes.count == count)
            }
        }
    }

    @Test
    func `answers at once what is small or named by its digest, and the same for as long as its file is`() async throws
    {
        try await withServer { server in
            let tree = PublishedTree(server.folder.tree)
            for name in try server.treeFiles() {
                let target = "/com.example.storefront/\(name)"
                let request = FileRequest(method: .GET, path: try RequestPath(parsing: target))
                let isRole = name.hasPrefix("metadata/") && name != "metadata/timestamp.json"
                let reply = tree.prepared(request)
                #expect((reply == nil) == isRole, "\(name)")
                #expect((reply?.whenUsed != nil) == name.hasSuffix(".manifest.json"), "its pack is asked for next")
                #expect(reply?.edition == (isRole ? nil : tree.edition), "\(name)")
                // Bytes of a file whose name does not say them.
                if case .bytes(let served) = reply?.answer {
                    #expect((served.origin?.isCurrent ?? false) == !isRole, "\(name)")
                }
            }
        }
    }

    @Test
    func `answers a role at once when it was read before, and anew when its file was replaced`() async throws {
        try await withServer { server in
            let tree = PublishedTree(server.folder.tree)
            for name in ["1.production.json", "timestamp.json"] {
                let path = "metadata/\(name)"
                let request = FileRequest(
                    method: .GET,
                    path: try RequestPath(parsing: "/com.example.storefront/\(path)")
                )
                func bytes(_ answer: FileAnswer?) -> [UInt8]? {
                    if case .bytes(let served) = answer { served.bytes } else { nil }
                }
                let first = bytes(await tree.answer(request))
                #expect(first != nil && bytes(tree.prepared(request)?.answer) == first)

                let metadata = server.folder.tree(of: server.repository.app).appending("metadata")
                try server.files.replace(name, in: metadata, with: Array("{}".utf8), permissions: .ownerReadWrite)
                #expect(bytes(await tree.answer(request)) == Array("{}".utf8))
                #expect(bytes(tree.prepared(request)?.answer) == Array("{}".utf8))
                try server.files.remove(metadata.appending(name))
                #expect(bytes(await tree.answer(request)) == nil)
            }
        }
    }

    @Test
    func `says of a root that is not there yet that it may be there in a minute`() async throws {
        try await withServer { server in
            let answer = try await get("/com.example.storefront/metadata/2.root.json", from: server)
            #expect((answer.status, answer.cache) == (404, "public, max-age=60"))
            let other = try await get("/com.example.storefront/metadata/9.production.json", from: server)
            #expect((other.status, other.cache) == (404, nil))
        }
    }

    private static let foreign = [
        "/", "/com.example.storefront", "/com.example.storefront/", "/com.example.storefront/metadata",
        "/com.example.storefront/metadata/", "/com.example.storefront/metadata/timestamp.json/",
        "/com.example.storefront/metadata/root.json", "/com.example.storefront/metadata/01.root.json",
        "/com.example.storefront/metadata/1.Root.json", "/com.example.storefront/metadata/notes.txt",
        "/com.example.storefront/metadata/.timestamp.json.new", "/com.example.storefront/notes.txt",
        "/com.example.storefront/../../apps/com.example.storefront/online.key",
        "/com.example.storefront/%2e%2e/%2e%2e/apps/com.example.storefront/online.key",
        "/../apps/com.example.storefront/labels.json", "/apps/com.example.storefront/labels.json", "/lock",
        "/com.example.storefront/targets/production/patchlist.json", "/com.example.storefront/targets/linked.json",
        "/healthz", "/readyz", "/metrics", "/other/metadata/timestamp.json", "/com.example.storefront/objects/ab",
    ]

    @Test
    func `holds nothing else`() async throws {
        try await withServer { server in
            let tree = server.folder.tree(of: server.repository.app)
            for name in ["metadata/notes.txt", "metadata/.timestamp.json.new", "notes.txt"] {
                try server.files.write([1], to: tree.appending(name))
            }
            for target in Self.foreign {
                #expect(try await get(target, from: server).status == 404, "\(target)")
            }
        }
    }

    @Test
    func `follows no link out of it`() async throws {
        try await withServer { server in
            let digest = SHA256Digest(of: Array("cart.total = 1;".utf8))
            let object = server.folder.tree(of: server.repository.app).appending(URLLayout.object(digest))
            try server.files.remove(object)
            try FileManager.default.createSymbolicLink(
                atPath: object.string,
                withDestinationPath: server.repository.onlineKeyFile.string
            )
            #expect(try await get("/com.example.storefront/\(URLLayout.object(digest))", from: server).status == 404)
        }
    }

    @Test
    func `changes with a publish beside it`() async throws {
        try await withServer { server in
            let before = try await get("/com.example.storefront/metadata/timestamp.json", from: server)
            try server.publish(try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository))
            let after = try await get("/com.example.storefront/metadata/timestamp.json", from: server)
            #expect(before.tag != after.tag)
            #expect(try await get("/com.example.storefront/metadata/2.production.json", from: server).status == 200)
        }
    }
}

@Suite("A path of the tree")
struct TreePathTests {
    private static let digest = String(repeating: "ab", count: 32)

    @Test(arguments: [
        "metadata/timestamp.json", "metadata/7.root.json", "metadata/12.snapshot.json", "metadata/1.beta.json",
        "targets/dial/\(digest).beta.json", "targets/beta/\(digest).patchlist.json",
        "targets/beta/web/1.0.0/\(digest).manifest.json", "targets/beta/web/1.0.0/\(digest).manifest.sigs",
        "objects/ab/\(digest)", "packs/\(digest)/full.pack", "objects/ab/\(digest).gz", "packs/\(digest)/full.pack.zst",
        "packs/\(digest)/from-\(digest).pack", "packs/\(digest)/from-\(digest).sigs", "metadata/express/beta",
        "metadata/express/beta.zst",
    ])
    func `is read and written the same way`(path: String) throws {
        let segments = ["app"] + path.split(separator: "/").map(String.init)
        #expect(try #require(TreePath(segments: segments)).path == path)
    }

    @Test(arguments: [
        "metadata/0.root.json", "metadata/-1.root.json", "metadata/+1.root.json", "metadata/1.mirrors.json",
        "metadata/1.root.json/x", "metadata/1.Beta.json", "metadata/99999999999999999.beta.json",
        "targets/beta/\(digest).other.json", "targets/beta/web/\(digest).manifest.json",
        "targets/root/\(digest).patchlist.json",
        "targets/dial/\(digest).beta.sigs", "targets/beta/web/../\(digest).manifest.json", "objects/cd/\(digest)",
        "objects/ab/\(digest)0", "objects/AB/\(digest.uppercased())", "packs/ab/full.pack",
        "objects/ab/\(digest).gz.gz", "objects/ab/\(digest).gz.zst", "objects/ab/\(digest).br",
        "packs/\(digest)/from-\(digest).pack.zst", "packs/\(digest)/from-ab.pack", "packs/\(digest)/\(digest).pack",
        "packs/\(digest)/from-\(digest.uppercased()).pack", "metadata/express/dial", "metadata/express",
        "metadata/express/beta/x", "metadata/express/beta.json", "metadata/express/beta.br",
    ])
    func `is nothing of another shape`(path: String) {
        #expect(TreePath(segments: ["app"] + path.split(separator: "/").map(String.init)) == nil)
    }
}
