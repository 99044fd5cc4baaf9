import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchCompression
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
import SystemPackage
import ServerTesting
import Testing

@Suite("The compressed forms of a release")
struct CompressionTests {
    private static let code = (0..<400).map { "export const value\($0) = \($0 * 7);\n" }.joined()
    private static func contents(_ version: String = "1.0.0", _ code: String = code) -> ReleaseFactory.Contents {
        ReleaseFactory.Contents(
            web: (version, ["index.html": "<p>small</p>", "main.js": code, "other.js": Self.code + "//"])
        )
    }

    private func folder(_ body: (TestingServer) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await body(try TestingServer(files: DiskFiles(), root: folder.path))
    }

    /// What the service does: it compresses before the lock, then it publishes.
    @discardableResult
    private func publish(_ contents: ReleaseFactory.Contents, on server: TestingServer) async throws -> CompressedForms
    {
        let release = try server.factory.release(contents, on: server.repository)
        let verified = try VerifyRelease(release, in: server.repository).run()
        let forms = try await CompressForms(of: verified, in: server.repository).run()
        defer { forms.discard(server.files) }
        _ = try PublishRelease(
            release,
            in: server.repository,
            verified: verified,
            compressed: forms,
            signing: server.key,
            at: server.factory.now
        ).run()
        return forms
    }

    private func object(_ text: String) -> String { URLLayout.object(SHA256Digest(of: Array(text.utf8))) }

    private func bytes(_ name: String, of server: TestingServer) throws -> [UInt8] {
        try server.files.read(server.treePath(name), limit: Limits.object)
    }

    private func forms(_ server: TestingServer) throws -> Set<String> {
        try server.treeFiles().filter { $0.hasSuffix(".zst") || $0.hasSuffix(".gz") }
    }

    @Test func `stand beside what shrinks, in both formats, and of every bundle's pack, and hold its bytes`()
        async throws
    {
        try await folder { server in
            let made = try await publish(Self.contents(), on: server)
            let manifest = try #require(try server.treeFiles().first { $0.hasSuffix(".manifest.json") })
            let digest = try #require(manifest.split(separator: "/").last?.prefix(64))
            let list = try #require(try server.treeFiles().first { $0.hasSuffix(".patchlist.json") })
            let (code, other) = (object(Self.code), object(Self.code + "//"))
            let pack = "packs/\(digest)/full.pack"
            let plain = [code, other, manifest, list]
            // Two signatures do not shrink, and the page is too small.
            #expect(try forms(server) == Set((plain + [pack]).flatMap { ["\($0).gz", "\($0).zst"] }))
            #expect(made.count == 10)
            #expect(try made.bytes == forms(server).reduce(0) { try $0 + bytes($1, of: server).count })
            for format in CompressionFormat.allCases {
                for name in plain {
                    let form = try bytes(name + format.suffix, of: server)
                    #expect(try format.decompressed(form, limit: 1 << 20) == bytes(name, of: server), "\(name)")
                }
                let whole = try format.decompressed(try bytes(pack + format.suffix, of: server), limit: 1 << 20)
                #expect(whole == Array("<p>small</p>".utf8) + Array(Self.code.utf8) + Array((Self.code + "//").utf8))
            }
            #expect(try server.files.list(server.folder.root).sorted() == ["apps", "tree"], "nothing half made stays")
            #expect(
                try await publish(Self.contents(), on: server).count == 2,
                "the next list's, and nothing is made again"
            )
        }
    }

    @Test func `that a tree lacks, for an earlier server made none, come with the next release or the same again`()
        async throws
    {
        let server = try TestingServer()
        let release = try server.factory.release(Self.contents(), on: server.repository)
        try server.publish(release)
        #expect(try forms(server).isEmpty)
        let verified = try VerifyRelease(release, in: server.repository).run()
        let made = try await CompressForms(of: verified, in: server.repository).run()
        let outcome = try PublishRelease(
            release,
            in: server.repository,
            verified: verified,
            compressed: made,
            signing: server.key,
            at: server.factory.now
        ).run()
        guard case .alreadyPublished(_, 1, let change) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try made.count == 10 && change.files == 10 && forms(server).count == 10)
        let other = try TestingServer()
        try other.publish(try other.factory.release(Self.contents(), on: other.repository))
        #expect(try await publish(Self.contents(), on: other).count == 10, "with the next list in place of the first")
    }

    @Test func `are left out where the disk has no room for them, and keep no release waiting`() async throws {
        var seen: Set<String> = []
        for room in stride(from: 0, through: 120_000, by: 3_000) {
            let files = FaultyFiles()
            let server = try TestingServer(files: files)
            let release = try server.factory.release(Self.contents(), on: server.repository)
            files.limitFreeSpace(to: room)
            let verified = try VerifyRelease(release, in: server.repository).run()
            let made = try await CompressForms(of: verified, in: server.repository).run()
            let published: Bool
            do throws(ServerError) {
                let key = server.key
                let now = server.factory.now
                _ = try PublishRelease(
                    release,
                    in: server.repository,
                    verified: verified,
                    compressed: made,
                    signing: key,
                    at: now
                ).run()
                published = true
            } catch {
                guard case .file(.noSpace) = error else { throw error }
                published = false
            }
            files.limitFreeSpace(to: nil)
            let hasForms = try !forms(server).isEmpty
            #expect(published || !hasForms)
            let left = made.count == 0 ? "never made" : "removed"
            seen.insert(published ? hasForms ? "published" : left : "refused")
            made.discard(files)
            #expect(try server.check().isWhole, "\(room)")
            #expect(try !files.list(server.folder.root).contains { $0.hasPrefix("compressing.") }, "\(room)")
        }
        #expect(seen.isSuperset(of: ["refused", "removed", "published"]), "\(seen)")
    }

    @Test func `that were made meanwhile by somebody else stay as they are`() async throws {
        let server = try TestingServer()
        let release = try server.factory.release(Self.contents(), on: server.repository)
        let verified = try VerifyRelease(release, in: server.repository).run()
        let made = try await CompressForms(of: verified, in: server.repository).run()
        defer { made.discard(server.files) }
        let form = server.treePath("\(object(Self.code)).gz")
        let other = Array("as another publisher made it".utf8)
        try server.files.makeDirectory(form.parent)
        try server.files.write(other, to: form)
        let outcome = try PublishRelease(
            release,
            in: server.repository,
            verified: verified,
            compressed: made,
            signing: server.key,
            at: server.factory.now
        ).run()
        guard case .published(let publication) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try publication.change.repaired.isEmpty && server.files.read(form, limit: 1 << 10) == other)
        #expect(try forms(server).count == 10)
    }

    @Test func `are made of nothing that lacks a signature`() async throws {
        let server = try TestingServer(threshold: 2)
        let draft = try server.factory.release(Self.contents(), on: server.repository)
        #expect(
            try await CompressForms(of: try VerifyRelease(draft, in: server.repository).run(), in: server.repository)
                .run().count == 0
        )
        #expect(try forms(server).isEmpty)
    }

    @Test(
        arguments: [
            (0, .most), (150_000_000, .most), (150_000_001, .thorough), (1_500_000_000, .thorough),
            (1_500_000_001, .quick),
        ] as [(Int, Compressor.Effort)]
    )
    func `are made with less effort of a large release, and its pack does not count twice`(
        size: Int,
        effort: Compressor.Effort
    ) {
        let file = Fingerprint(size: size, md5: Self.nothing.md5, sha1: Self.nothing.sha1, sha256: Self.nothing.sha256)
        let contents = ReleaseContents(
            targets: [],
            objects: [file.sha256: size],
            bundles: [.init(manifest: file.sha256, objects: [file])]
        )
        let plan = CompressionPlan(of: contents) { _ in false }
        #expect(plan.effort == effort && plan.jobs.count == (size == 0 ? 0 : 4))
        let rest = CompressionPlan(of: contents) { $0 == .compressed(.object(file.sha256), .gzip) }
        #expect(rest.jobs.count == (size == 0 ? 0 : 3), "one is there")
    }

    private static let nothing = Fingerprint(of: [])

    // MARK: Served

    private func answer(_ path: String, accepting: String?, from tree: PublishedTree) async throws -> FileAnswer {
        var headers: HTTPHeaders = [:]
        if let accepting { headers.add(name: "Accept-Encoding", value: accepting) }
        let path = try RequestPath(parsing: "/com.example.storefront/\(path)")
        return await tree.answer(FileRequest(method: .GET, path: path, headers: headers))
    }

    @Test(arguments: [
        ("zstd, gzip", "zstd"), ("gzip", "gzip"), ("gzip, zstd;q=0.5", "gzip"), ("br, *", "zstd"), ("identity", nil),
        (nil, nil), ("deflate", nil),
    ])
    func `are sent to whoever accepts them, under tags of their own`(accepted: String?, coding: String?) async throws {
        try await folder { server in
            try await publish(Self.contents(), on: server)
            let tree = PublishedTree(server.folder.tree)
            let name = object(Self.code)
            let suffix = coding.map { $0 == "zstd" ? ".zst" : ".gz" } ?? ""
            guard case .file(let file) = try await answer(name, accepting: accepted, from: tree) else {
                Issue.record("no file")
                return
            }
            #expect(file.path == server.treePath(name + suffix))
            let size = coding == nil ? "" : ".\(try bytes(name + suffix, of: server).count)"
            #expect(file.entityTag == SHA256Digest(of: Array(Self.code.utf8)).hex + size + suffix)
            #expect(file.headers["Content-Encoding"] == [coding].compactMap(\.self))
            #expect(file.headers["Vary"] == ["Accept-Encoding"])
            #expect(file.contentType == "application/octet-stream")
            // A role is compressed when it is read.
            guard
                case .bytes(let role) = try await answer("metadata/1.production.json", accepting: accepted, from: tree)
            else {
                Issue.record("no role")
                return
            }
            let plain = try bytes("metadata/1.production.json", of: server)
            let format = coding.flatMap(CompressionFormat.init)
            #expect(try format.map { try $0.decompressed(role.bytes, limit: 1 << 20) } ?? role.bytes == plain)
            #expect(role.entityTag == SHA256Digest(of: plain).hex + suffix)
            #expect(role.headers["Content-Encoding"] == [coding].compactMap(\.self))
            // It is replaced under its name, and a form would be another's.
            guard
                case .bytes(let timestamp) = try await answer(
                    "metadata/timestamp.json",
                    accepting: accepted,
                    from: tree
                )
            else {
                Issue.record("no timestamp")
                return
            }
            #expect(timestamp.headers["Content-Encoding"].isEmpty && timestamp.headers["Vary"].isEmpty)
        }
    }

    @Test func `are not needed: without them the plain file is sent, and a pack is put together`() async throws {
        try await folder { server in
            try server.publish(try server.factory.release(Self.contents(), on: server.repository))
            let tree = PublishedTree(server.folder.tree)
            guard case .file(let file) = try await answer(object(Self.code), accepting: "zstd", from: tree) else {
                Issue.record("no file")
                return
            }
            #expect(file.headers["Content-Encoding"].isEmpty && file.headers["Vary"] == ["Accept-Encoding"])
            let manifest = try #require(try server.treeFiles().first { $0.hasSuffix(".manifest.json") })
            let digest = try #require(manifest.split(separator: "/").last?.prefix(64))
            guard case .files = try await answer("packs/\(digest)/full.pack", accepting: "zstd", from: tree) else {
                Issue.record("no pack")
                return
            }
            try await publish(Self.contents("1.0.1", Self.code + "// new"), on: server)
            let next = try #require(try server.treeFiles().first { $0.hasPrefix("packs/") && $0.hasSuffix(".zst") })
            guard case .file(let pack) = try await answer(String(next.dropLast(4)), accepting: "zstd", from: tree)
            else {
                Issue.record("no compressed pack")
                return
            }
            let size = try bytes(next, of: server).count
            #expect(pack.entityTag == "\(next.split(separator: "/")[1]).full.\(size).zst")
        }
    }

    // MARK: Kept

    @Test func `are garbage with what they are forms of, and so are those of a publisher that died`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try TestingServer(files: files)
        try await publish(Self.contents(), on: server)
        let first = try forms(server)
        try await publish(Self.contents("1.0.1", Self.code + "// new"), on: server)
        let second = try forms(server).subtracting(first)
        // Compressed, and then the process ended.
        let lost = try server.factory.release(Self.contents("1.0.2", Self.code + "// lost"), on: server.repository)
        _ = try await CompressForms(of: try VerifyRelease(lost, in: server.repository).run(), in: server.repository)
            .run()
        let scratch = try #require(try files.list(server.folder.root).first { $0.hasPrefix("compressing.") })
        try server.refresh(at: TestingServer.start.adding(.hours(6)))
        let rule = GarbageRule(keep: 0, protect: .zero)
        func collect(afterHours hours: Int) throws -> CollectGarbage.Tally {
            let now = TestingServer.start.adding(.hours(hours))
            files.setClock(to: now.seconds)
            try server.refresh(at: now)
            var collection = CollectGarbage(server.repository, by: rule, at: now)
            while try collection.step() {}
            return collection.removed
        }
        #expect(try collect(afterHours: 23).rows["half-written"] == nil, "it may still be at work")
        #expect(try files.list(server.folder.root).contains(scratch))
        #expect(try collect(afterHours: 24 * 6).rows["half-written"]?.count ?? 0 > 0)
        #expect(try !files.list(server.folder.root).contains(scratch))
        _ = try collect(afterHours: 24 * 10)
        // The other file is of both, and its forms too.
        let shared = Set(CompressionFormat.allCases.map { "\(object(Self.code + "//"))\($0.suffix)" })
        #expect(try forms(server) == second.union(shared))
    }

    @Test func `that hold other bytes are named by a check, and removed by a repair`() async throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try await publish(Self.contents(), on: server)
        #expect(
            try server.check().faults == []
                && server.check().counts.forms == 10
        )
        let form = "\(object(Self.code)).zst"
        let pack = try #require(try forms(server).first { $0.hasPrefix("packs/") && $0.hasSuffix(".gz") })
        try files.rot(server.treePath(form))
        let wrong = try CompressionFormat.gzip.compressed(Array("another pack's bytes".utf8))
        try files.removeTree(server.treePath(pack))
        try files.write(wrong, to: server.treePath(pack))
        let app = server.repository.app
        let expected = [form, pack].map { "tree/\(app)/\($0) form" }.sorted()
        let faults = try server.check().faults
        #expect(faults.map { "\($0.path) \($0.rule)" } == expected)
        #expect(
            faults.map(\.detail)
                == Array(repeating: "it does not decompress to its original file", count: 2)
        )
        let report = try server.repair()
        #expect(report.isWhole && report.repaired.map { "\($0.path) \($0.rule)" } == expected)
        #expect(try !forms(server).contains(form) && !forms(server).contains(pack))
        #expect(try server.check().counts.forms == 8)
    }

    @Test func `of a pack are not judged while a file of it is damaged`() async throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try await publish(Self.contents(), on: server)
        let packs = try forms(server).filter { $0.hasPrefix("packs/") }
        try files.rot(server.treePath(object(Self.code)))
        let report = try server.repair()
        #expect(
            report.faults.map { "\($0.path) \($0.rule)" } == [
                "tree/\(server.repository.app)/\(object(Self.code)) altered"
            ]
        )
        #expect(try packs.count == 2 && forms(server).isSuperset(of: packs))
    }

    @Test func `are exported with the roles' own, for hosts that compress nothing, and copied once`() async throws {
        let server = try TestingServer()
        try await publish(Self.contents(), on: server)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        let files = try exported.files()
        #expect(try files.isSuperset(of: forms(server)))
        for role in ["1.root", "1.targets", "1.production", "2.snapshot", "2.dial"] {
            for format in CompressionFormat.allCases {
                let plain = try server.files.read(exported.path("metadata/\(role).json"), limit: 1 << 20)
                let path = exported.path("metadata/\(role).json\(format.suffix)")
                let form = try server.files.read(path, limit: 1 << 20)
                #expect(try format.decompressed(form, limit: 1 << 20) == plain)
            }
        }
        #expect(!files.contains("metadata/timestamp.json.zst"))
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder).run().change.files == 0)
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder, rereading: true).run().change.files == 0)
        // One that was damaged there is copied again by an export that reads.
        let name = "\(object(Self.code)).gz"
        try #require(server.files as? FaultyFiles).rot(exported.path(name))
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder, rereading: true).run().change.files == 1)
    }
}
