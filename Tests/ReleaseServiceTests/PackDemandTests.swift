import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchDelta
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import PatchServer
import SystemPackage
import Testing
import ServerTesting

@Suite("Packs that are asked for")
struct PackDemandTests {
    private let app = ReleaseFactory.app
    private let production = ReleaseFactory.production

    /// Three versions, and no pack.
    private func publishThree(_ operations: TestingOperations) async throws {
        for number in 1...3 {
            try await operations.server.publishPacked(PackedServer.contents(number)) { $0.packBases = 0 }
        }
    }

    private func pack(_ server: TestingServer, to new: Int, from base: Int) throws -> BasePack {
        let known = try server.bundleManifests()
        return BasePack(manifest: known[new - 1], base: known[base - 1])
    }

    private func rows(_ steps: [UpdateStep]) -> [String] {
        steps.map { "\($0.base) \($0.version) \($0.packBytes != nil) \($0.method)" }
    }

    @Test func `are made to what is listed, from one version, from that of a manifest, or from all`() async throws {
        let fixture = try TestingOperations()
        let (server, operations) = (fixture.server, fixture.operations)
        try await publishThree(fixture)
        let repository = server.repository
        let before = try ListUpdates(of: production, in: repository).run()
        #expect(rows(before) == ["1.0.2 1.0.3 false singleObjects", "1.0.1 1.0.3 false singleObjects"])
        let column = try server.bundleDocument(3, ".manifest.sigs").count
        #expect(before.allSatisfy { $0.signatureBytes == column && $0.otherwise > 4 * 3_000 + column })
        let change = try await operations.makePacks(of: production, in: app, .version(named("1.0.1")))
        #expect(try change.files == 4 && server.packs() == server.packNames(to: 3, from: [1]))
        let after = try ListUpdates(of: production, in: repository).run()
        #expect(rows(after) == ["1.0.2 1.0.3 false singleObjects", "1.0.1 1.0.3 true pack"])
        let made = try pack(server, to: 3, from: 1)
        #expect(after[1].packBytes == (try server.treeBytes(URLLayout.pack(made, .pack))).count)
        #expect(after[1].signatureBytes == (try server.treeBytes(URLLayout.pack(made, .signatures))).count)
        #expect(after[1].signatureBytes < column && after[1].pack == made)
        #expect(after[1].otherwise == before[1].otherwise)
        let second = try pack(server, to: 3, from: 2)
        #expect(try ListUpdates(of: production, .manifest(second.base), in: repository).run().map(\.pack) == [second])
        #expect(try ListUpdates(of: production, .version(named("1.0.3")), in: repository).run() == [])
        #expect(try await operations.makePacks(of: production, in: app, .all).files == 4)
        #expect(try await operations.makePacks(of: production, in: app, .all) == .nothing, "they stand")
        #expect(try server.packs() == server.packNames(to: 3, from: [1, 2]))
        #expect(try CheckTree(of: repository).run().faults == [])
        #expect(try !DiskFiles().list(server.folder.root).contains { $0.hasPrefix("compressing.") })
    }

    @Test func `lead from a version of another channel where its manifest is named`() async throws {
        let fixture = try TestingOperations()
        let server = fixture.server
        try await publishThree(fixture)
        let beta = try server.factory.release(
            PackedServer.contents(4),
            on: server.repository,
            channel: ReleaseFactory.beta,
            signedBy: [.beta]
        )
        try await server.publishPacked(beta)
        let base = try #require(beta.targets.first { $0.key.isManifest })
        let digest = SHA256Digest(of: base.value)
        #expect(try ListUpdates(of: production, in: server.repository).run().count == 2)
        #expect(
            rows(try ListUpdates(of: production, .manifest(digest), in: server.repository).run()) == [
                "1.0.4 1.0.3 false singleObjects"
            ]
        )
        #expect(try await fixture.operations.makePacks(of: production, in: app, .manifest(digest)).files == 4)
    }

    // MARK: By devices

    /// Asks a running demand, and gives what became of each name.
    private func outcomes(
        _ fixture: TestingOperations,
        room: Int = 1 << 20,
        of packs: [BasePack]
    ) async throws -> [Int] {
        let (results, reported) = AsyncStream.makeStream(of: Int.self)
        let demand = PackDemand(fixture.operations, room: room) { _, _, result in
            reported.yield((try? result.get().files) ?? -1)
        }
        let running = Task { try await demand.run() }
        let server = PublishedTree(fixture.server.folder.tree) { demand.ask($0, $1) }
        var refused: Set<BasePack> = []
        for pack in packs + packs {
            let path = try RequestPath(parsing: "/\(app)/\(URLLayout.pack(pack, .pack))")
            guard case .refused(.notFound, _, let headers) = await server.answer(FileRequest(method: .GET, path: path))
            else { continue }
            #expect(headers["Cache-Control"] == ["public, max-age=60"])
            refused.insert(pack)
        }
        var files: [Int] = []
        var next = results.makeAsyncIterator()
        while files.count < refused.count, let result = await next.next() { files.append(result) }
        running.cancel()
        try? await running.value
        return files
    }

    @Test func `by a device are made once, to what is listed and from what is there, and sent to the next`()
        async throws
    {
        let fixture = try TestingOperations()
        let server = fixture.server
        try await publishThree(fixture)
        let nobody = SHA256Digest(of: [])
        let wanted = try pack(server, to: 3, from: 1)
        let superseded = try pack(server, to: 2, from: 1)
        let invented = [
            BasePack(manifest: nobody, base: wanted.base), BasePack(manifest: wanted.manifest, base: nobody),
        ]
        #expect(try await outcomes(fixture, of: [superseded] + invented + [wanted]) == [0, 0, 0, 4])
        #expect(try server.packs() == server.packNames(to: 3, from: [1]))
        let path = try RequestPath(parsing: "/\(app)/\(URLLayout.pack(wanted, .pack))")
        let asked = NIOLockedValueBox(0)
        let tree = PublishedTree(server.folder.tree) { _, _ in asked.withLockedValue { $0 += 1 } }
        guard case .file(let file) = await tree.answer(FileRequest(method: .GET, path: path)) else {
            Issue.record("no pack")
            return
        }
        #expect(file.cacheControl == "public, max-age=31536000, immutable")
        // What is not there beside it asks for nothing.
        let signatures = try RequestPath(parsing: "/\(app)/\(URLLayout.pack(superseded, .signatures))")
        guard case .refused(.notFound, _, let headers) = await tree.answer(FileRequest(method: .GET, path: signatures))
        else {
            Issue.record("signatures")
            return
        }
        #expect(headers["Cache-Control"] == ["public, max-age=60"] && asked.withLockedValue { $0 } == 0)
    }

    @Test func `by a device are not made where packs have no more room`() async throws {
        let fixture = try TestingOperations()
        let server = fixture.server
        try await publishThree(fixture)
        _ = try await fixture.operations.makePacks(of: production, in: app, .version(named("1.0.2")))
        let used = try server.packs().reduce(0) { try $0 + server.treeBytes($1).count }
        let wanted = try pack(server, to: 3, from: 1)
        #expect(try await outcomes(fixture, room: used, of: [wanted]) == [0])
        #expect(try await outcomes(fixture, room: used + 1, of: [wanted]) == [4])
    }
}
