import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import ServerTesting
import Testing

@Suite("A record of labels that was lost")
struct RebuiltLabelsTests {
    private static let path = FilePath("/srv/apps/com.example.storefront/labels.json")
    private let files = FaultyFiles()

    /// A server with two releases of production, the first of which may have left the tree.
    private func server(keepingFirst: Bool) throws -> (TestingServer, labels: String) {
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try server.publish(try server.factory.release(ExportTests.second, on: server.repository))
        let labels = try text()
        try files.remove(Self.path)
        if !keepingFirst {
            let tree = server.folder.tree(of: server.repository.app)
            try files.remove(tree.appending("metadata/1.production.json"))
        }
        return (server, labels)
    }

    private func text() throws -> String {
        String(decoding: try files.read(Self.path, limit: 10_000), as: UTF8.self)
    }

    private func repair(_ server: TestingServer, history: [KnownRelease] = []) throws -> TreeReport {
        let repository = AppRepository(suspecting: server.repository.app, in: server.folder, files: files)
        return try RepairTree(of: repository, history: history).run()
    }

    private func release(_ version: Int, _ label: Label, _ sha256: SHA256Digest) -> KnownRelease {
        KnownRelease(ReleaseFactory.production, roleVersion: version, labels: [label: sha256])
    }

    /// What the record says of a version of the bundle.
    private func digest(of version: String, in labels: String) throws -> SHA256Digest {
        let pattern = /"patchId":"web","roleVersion":\d+,"sha256":"([0-9a-f]+)","version":"([0-9.]+)"/
        let row = try #require(labels.matches(of: pattern).first { $0.2 == version })
        return try #require(SHA256Digest(hex: String(row.1)))
    }

    @Test
    func `is made again as it was from the releases that stand in the tree`() throws {
        let (server, labels) = try server(keepingFirst: true)
        let report = try repair(server)
        #expect(report.isWhole && report.repaired.map(\.path) == ["apps/com.example.storefront/labels.json"])
        #expect(
            report.notes == [
                "labels.json was made again from 2 releases of the tree and the history; no release is missing in it"
            ]
        )
        #expect(try text() == labels)
    }

    @Test
    func `has of a release that left the tree what the history knows, and says of which nobody does`() throws {
        let (server, labels) = try server(keepingFirst: false)
        let web = Label(patchID: named("web"), version: named("1.0.0"))
        let (first, second) = (try digest(of: "1.0.0", in: labels), try digest(of: "1.0.1", in: labels))
        let report = try repair(server)
        #expect(
            report.notes == [
                "labels.json was made again from 1 release of the tree and the history; the releases published as "
                    + "production 1 are unknown: restore a copy if there is one"
            ]
        )
        #expect(report.isWhole)
        #expect(try !text().contains(first.hex))

        try files.remove(Self.path)
        let thief = release(7, Label(patchID: named("web"), version: named("9.0.0")), second)
        let liar = release(1, Label(patchID: named("web"), version: named("1.0.1")), first)
        let remembered = try repair(server, history: [thief, liar, release(1, web, first)])
        #expect(remembered.notes.first?.hasSuffix("no release is missing in it") == true)
        let rebuilt = try text()
        #expect(try digest(of: "1.0.0", in: rebuilt) == first && digest(of: "1.0.1", in: rebuilt) == second)
        #expect(!rebuilt.contains("9.0.0"))
    }

    @Test
    func `stays lost while nobody can say what is published`() throws {
        let (server, _) = try server(keepingFirst: true)
        try files.rot(server.folder.tree(of: server.repository.app).appending("metadata/timestamp.json"))
        let report = try repair(server)
        #expect(!report.isWhole && report.notes == [] && report.repaired == [])
        #expect(try files.status(of: Self.path) == nil)
    }
}
