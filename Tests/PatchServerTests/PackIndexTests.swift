import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
import SystemPackage
import Testing
import ServerTesting

@Suite("The index of the packs to a version")
struct PackIndexTests {
    private let app = ReleaseFactory.app

    private func name(_ server: TestingServer, _ number: Int) throws -> String {
        URLLayout.packIndex(of: try server.bundleManifests()[number - 1])
    }

    private func index(_ server: TestingServer, _ number: Int) throws -> PackIndex? {
        let name = try name(server, number)
        guard try server.treeFiles().contains(name) else { return nil }
        return try PackIndex(try server.treeBytes(name), of: try server.bundleManifests()[number - 1])
    }

    /// What the tree has, looked at file by file.
    private func pack(_ server: TestingServer, to new: Int, from base: Int) throws -> PackIndex.Pack {
        let known = try server.bundleManifests()
        let pack = BasePack(manifest: known[new - 1], base: known[base - 1])
        return PackIndex.Pack(
            base: pack.base,
            size: try server.treeBytes(URLLayout.pack(pack, .pack)).count,
            signatures: try server.treeBytes(URLLayout.pack(pack, .signatures)).count
        )
    }

    private func row(_ server: TestingServer, to new: Int, from base: Int, by inner: [Int] = []) throws -> PackIndex.Row
    {
        let column = try server.bundleDocument(base, ".manifest.sigs")
        return PackIndex.Row(
            try pack(server, to: new, from: base),
            manifest: try server.bundleDocument(base, ".manifest.json").count,
            column: PackIndex.Column(sha256: SHA256Digest(of: column), size: column.count),
            from: try inner.map { try pack(server, to: base, from: $0) }
        )
    }

    private func isBefore(_ first: PackIndex.Row, _ second: PackIndex.Row) -> Bool {
        func weight(_ row: PackIndex.Row) -> Int { row.pack.size + (row.pack.signatures ?? 0) }
        return (weight(first), first.pack.base) < (weight(second), second.pack.base)
    }

    @Test func `names each pack in the tree with its exact size, and those that lead to its base`() async throws {
        let server = try await PackedServer.make(versions: 3)
        let form = "packs/\(try server.bundleManifests()[2].hex)/full.pack.zst"
        let whole = try server.treeBytes(form).count
        let rows = [try row(server, to: 3, from: 2, by: [1]), try row(server, to: 3, from: 1)]
        #expect(try index(server, 3) == PackIndex(whole: whole, from: rows.sorted(by: isBefore)))
        #expect(try index(server, 2)?.from == [try row(server, to: 2, from: 1)])
        #expect(try index(server, 1) == nil)
        #expect(try server.check().faults == [])
    }

    @Test func `of a later version follows when packs to its base are made`() async throws {
        let server = try TestingServer()
        try await server.publishPacked(PackedServer.contents(1))
        try await server.publishPacked(PackedServer.contents(2)) { $0.packBases = 0 }
        #expect(try index(server, 2) == nil)
        try await server.publishPacked(PackedServer.contents(3)) { $0.packBases = 1 }
        #expect(try index(server, 3)?.from == [try row(server, to: 3, from: 2)])
        try await server.publishPacked(PackedServer.contents(2))
        #expect(try index(server, 3)?.from == [try row(server, to: 3, from: 2, by: [1])])
    }

    @Test func `is served for a minute under the tag of its bytes, and anew as soon as it changes`() async throws {
        let folder = try TemporaryFolder()
        let server = try TestingServer(files: DiskFiles(), root: folder.path)
        try await server.publishPacked(PackedServer.contents(1))
        try await server.publishPacked(PackedServer.contents(2))
        let tree = PublishedTree(server.folder.tree)
        func answer(_ number: Int) async throws -> FileAnswer {
            let path = try RequestPath(parsing: "/\(app)/\(try name(server, number))")
            return await tree.answer(FileRequest(method: .GET, path: path, headers: ["Accept-Encoding": "zstd, gzip"]))
        }
        for _ in 0..<2 {
            guard case .bytes(let served) = try await answer(2) else {
                Issue.record("no index")
                return
            }
            let bytes = try server.treeBytes(try name(server, 2))
            #expect(served.bytes == bytes && served.entityTag == SHA256Digest(of: bytes).hex)
            #expect(served.cacheControl == "public, max-age=60" && served.contentType == "application/json")
            #expect(served.headers == ["X-Content-Type-Options": "nosniff"])
            try await server.publishPacked(PackedServer.contents(3))
            try await server.publishPacked(PackedServer.contents(2))
        }
        guard case .refused(.notFound, _, let headers) = try await answer(1) else {
            Issue.record("an index of what no pack leads to")
            return
        }
        #expect(headers["Cache-Control"] == ["public, max-age=60"])
    }

    @Test func `goes with its packs, and loses what is said of a base that is gone`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try await PackedServer.make(versions: 3, on: files)
        let names = try (2...3).map { try name(server, $0) }
        let rows = try index(server, 3)?.from ?? []
        let now = TestingServer.start.adding(.days(10))
        files.setClock(to: now.seconds)
        try server.refresh(at: now)
        var collection = CollectGarbage(server.repository, by: GarbageRule(keep: 0, protect: .zero), at: now)
        while try collection.step() {}
        #expect(collection.removed.rows["pack index"]?.count == 1)
        #expect(try server.treeFiles().contains(names[0]) == false)
        let left = try PackIndex(try server.treeBytes(names[1]), of: try server.bundleManifests()[0])
        #expect(left.from == rows.map { PackIndex.Row($0.pack, manifest: 0) } && left.from.count == 2)
        #expect(try server.check().isWhole)
    }

    @Test func `that was written lately goes with its packs too`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try await PackedServer.make(versions: 3, on: files)
        let second = try name(server, 2)
        let now = TestingServer.start.adding(.days(10))
        files.setClock(to: now.seconds)
        try server.files.remove(server.treePath(second))
        try IndexPacks(in: server.repository).run()
        #expect(try server.treeFiles().contains(second))
        try server.refresh(at: now)
        let rule = GarbageRule(keep: 0, protect: .days(1))
        var collection = CollectGarbage(server.repository, by: rule, at: now)
        while try collection.step() {}
        #expect(collection.removed.rows["pack"]?.count == 3 && collection.removed.rows["pack index"] == nil)
        #expect(try !server.treeFiles().contains(second))
        #expect(try server.check().faults == [])
    }

    @Test func `that names what is not there is named by a check, and written again by a repair`() async throws {
        let files = FaultyFiles()
        let server = try await PackedServer.make(versions: 3, on: files)
        let (second, third) = (try name(server, 2), try name(server, 3))
        let bytes = try server.treeBytes(third)
        let index = try #require(try index(server, 3))
        let first = index.from[0]
        func row(
            _ pack: PackIndex.Pack? = nil,
            manifest: Int? = nil,
            column: PackIndex.Column? = nil,
            from: [PackIndex.Pack] = []
        )
            -> PackIndex
        {
            PackIndex(
                whole: nil,
                from: [
                    PackIndex.Row(pack ?? first.pack, manifest: manifest ?? first.manifest, column: column, from: from)
                ]
            )
        }
        let base = first.pack.base
        let name = URLLayout.pack(BasePack(manifest: try server.bundleManifests()[2], base: base), .pack)
        let notThere = "it names \(name), which is missing, or has another size or other signatures"
        let missing = URLLayout.pack(BasePack(manifest: base, base: SHA256Digest(of: [])), .pack)
        let wrong: [(PackIndex, String)] = [
            (PackIndex(whole: 7, from: []), "its size of the whole bundle, 7 bytes, is wrong"),
            (row(PackIndex.Pack(base: base, size: 1, signatures: first.pack.signatures)), notThere),
            (row(PackIndex.Pack(base: base, size: first.pack.size)), notThere),
            (row(manifest: 1), "its sizes of \(base) are wrong"),
            (
                row(column: PackIndex.Column(sha256: base, size: first.column?.size ?? 0)),
                "its sizes of \(base) are wrong"
            ),
            (
                row(from: [PackIndex.Pack(base: SHA256Digest(of: []), size: 1)]),
                "it names \(missing), which is missing, or has another size or other signatures"
            ),
        ]
        for (index, words) in wrong {
            try files.replace(third, with: index.json.fileBytes, on: server)
            let faults = try server.check().faults
            #expect(faults.map { "\($0.path) \($0.rule) \($0.detail)" } == ["tree/\(app)/\(third) form \(words)"])
        }
        try files.replace(third, with: Array("{}".utf8), on: server)
        #expect(try server.check().faults.map(\.detail) == ["it: format must be a string"])
        // One that says less, or is not there, is no fault.
        try files.replace(second, with: PackIndex(whole: nil, from: []).json.fileBytes, on: server)
        #expect(try server.check().faults.count == 1)
        try files.remove(server.treePath(second))
        let repaired = try server.repair()
        #expect(repaired.isWhole && repaired.repaired.map(\.path) == ["tree/\(app)/\(third)"])
        #expect(repaired.notes == ["wrote the pack indexes of 2 versions"])
        #expect(try server.treeBytes(third) == bytes && server.treeFiles().contains(second))
        #expect(try server.repair().notes == [])
    }

    @Test func `of an exported tree names what is exported`() async throws {
        let server = try await PackedServer.make(versions: 3)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let exported = try ExportedTree(server)
        let bytes = try server.files.read(exported.path(try name(server, 3)), limit: Limits.packIndex)
        let index = try PackIndex(bytes, of: try server.bundleManifests()[2])
        let served = try #require(try self.index(server, 3))
        #expect(index.whole == served.whole && index.from == served.from.map { PackIndex.Row($0.pack, manifest: 0) })
        #expect(try !exported.files().contains(try name(server, 2)))
    }

    @Test func `has the smallest packs where there are too many, and then first halves that lead from elsewhere`() {
        func digest(_ number: Int) -> SHA256Digest { SHA256Digest(of: Array("\(number)".utf8)) }
        func files(to new: Int, from bases: some Sequence<Int>) -> [(TreePath.File, TreeListing.File)] {
            bases.map { base in
                let pack = BasePack(manifest: digest(new), base: digest(base))
                return (.basePack(pack, .pack), TreeListing.File(size: 1_000 + base, modified: TestingServer.start))
            }
        }
        func index(_ rows: [(TreePath.File, TreeListing.File)]) -> [(SHA256Digest, [SHA256Digest])] {
            PackIndexes(TreeListing(files: Dictionary(rows) { first, _ in first })).index(of: digest(0), whole: nil)?
                .from.map { ($0.pack.base, $0.from.map(\.base)) } ?? []
        }
        let many = index(files(to: 0, from: 1...70) + files(to: 1, from: [99]))
        #expect(many.map(\.0) == (1...64).map(digest) && many.allSatisfy { $0.1.isEmpty })
        let few = index(
            files(to: 0, from: 0...61) + files(to: 1, from: [0, 2, 3, 98, 99]) + files(to: 2, from: [1, 97])
        )
        #expect(few.map(\.0) == (1...61).map(digest))
        #expect(few[0].1 == [98, 99, 2].map(digest) && few[1].1 == [])
        #expect(index(files(to: 1, from: [2])).isEmpty && index(files(to: 0, from: [0])).isEmpty)
    }
}

extension FaultyFiles {
    fileprivate func replace(_ name: String, with bytes: [UInt8], on server: TestingServer) throws {
        try remove(server.treePath(name))
        try write(bytes, to: server.treePath(name))
    }
}
