import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing
import ServerTesting

@Suite("Packs from a base that are kept")
struct KeptBasePackTests {
    @Test func `that make another version are named by a check, and removed by a repair`() async throws {
        let files = FaultyFiles()
        let server = try await PackedServer.make(versions: 3, on: files)
        let report = try server.check()
        #expect(report.faults == [] && report.counts.packs == 9)
        let wrong = try server.packNames(to: 3, from: [2]).union(server.packNames(to: 2, from: [1])).sorted()
        let others = try [(2, 1), (3, 1)].map { new, base in
            try server.treeBytes(try #require(server.packNames(to: new, from: [base]).sorted().first))
        }
        let isOfThird = try server.packNames(to: 3, from: [2])
        for name in wrong {
            if name.hasSuffix(".pack") {
                try files.remove(server.treePath(name))
                try files.write(others[isOfThird.contains(name) ? 0 : 1], to: server.treePath(name))
            } else {
                try files.rot(server.treePath(name))
            }
        }
        let app = server.repository.app
        let expected = wrong.map { "tree/\(app)/\($0) form" }
        let faults = try server.check().faults
        #expect(faults.map { "\($0.path) \($0.rule)" } == expected)
        #expect(
            faults.allSatisfy {
                $0.detail.hasPrefix("it does not make the manifest in its name: ")
                    || $0.detail == "they do not make the signatures of the manifest in their name"
                    || $0.detail == "it differs from the signatures and the pack beside it"
            }
        )
        let repaired = try server.repair()
        #expect(repaired.isWhole && repaired.repaired.map { "\($0.path) \($0.rule)" } == expected)
        #expect(try server.packs() == server.packNames(to: 3, from: [1]))
    }

    @Test func `are not judged without their base, or while a file of it is damaged`() async throws {
        let files = FaultyFiles()
        let server = try await PackedServer.make(versions: 2, on: files)
        let names = try server.packNames(to: 2, from: [1])
        let object = URLLayout.object(SHA256Digest(of: Array((PackedServer.code + "export const version = 1;\n").utf8)))
        try files.rot(server.treePath(object))
        let app = server.repository.app
        let faults = try server.repair().faults
        #expect(faults.map { "\($0.path) \($0.rule)" } == ["tree/\(app)/\(object) altered"])
        for name in names { try files.rot(server.treePath(name)) }
        let base = try #require(
            try server.treeFiles().first { $0.contains("/1.0.1/") && $0.hasSuffix(".manifest.json") }
        )
        try files.remove(server.treePath(base))
        #expect(try !server.repair().faults.contains { $0.rule == .form })
        #expect(try server.packs() == names)
    }

    @Test func `are garbage with the version that they make, and not with their base`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try await PackedServer.make(versions: 3, on: files)
        let last = try server.packNames(to: 3, from: [1, 2])
        let now = TestingServer.start.adding(.days(10))
        files.setClock(to: now.seconds)
        try server.refresh(at: now)
        var collection = CollectGarbage(server.repository, by: GarbageRule(keep: 0, protect: .zero), at: now)
        while try collection.step() {}
        #expect(try server.bundleManifests().count == 1 && server.packs() == last)
        #expect(collection.removed.rows["pack"]?.count == 3)
        #expect(try server.check().isWhole)
    }

    @Test func `are exported with the versions that they make, and copied once`() async throws {
        let server = try await PackedServer.make(versions: 3)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        let wanted = try server.packNames(to: 3, from: [1, 2])
        let index = URLLayout.packIndex(of: try server.bundleManifests()[2])
        #expect(
            try exported.files().filter { $0.hasPrefix("packs/") && !$0.contains("full.pack") }
                == wanted.union([index])
        )
        for name in wanted {
            #expect(try server.files.read(exported.path(name), limit: 1 << 20) == server.treeBytes(name))
        }
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder).run().change.files == 0)
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder, rereading: true).run().change.files == 0)
    }
}
