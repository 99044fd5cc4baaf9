import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
import SystemPackage
import Testing

import ServerTesting
@testable import PatchServer

@Suite("A server that came back from a backup")
struct ServerRestoreTests {
    private static let step = RestoreNumbers.step

    @Test
    func `signs timestamp, snapshot and dial above every number that it may have given`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let restored = try RestoreNumbers(of: server.repository).run()
        #expect(restored.channels == [ReleaseFactory.production: 1] && restored.above == 2 + Self.step)
        let done = try server.refresh(at: TestingServer.start)
        #expect((done.timestamp, done.snapshot, done.dial) == (3 + Self.step, 3 + Self.step, 3 + Self.step))
    }

    /// A restore that is run again has not signed in between.
    @Test
    func `gives the same numbers away when it is asked twice, and higher ones when it is told of one`() throws {
        let server = try TestingServer()
        let first = try RestoreNumbers(of: server.repository).run()
        let before = try server.everything()
        #expect(try RestoreNumbers(of: server.repository).run() == first)
        #expect(try server.everything() == before)
        #expect(try RestoreNumbers(of: server.repository, above: 5_000_000).run().above == 5_000_000)
    }

    @Test
    func `takes one release that leaves out numbers, made from the current one, and then none`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let production = ReleaseFactory.production
        func comparison(base: Int) throws -> BaseComparison {
            let state = try PublishedState(of: server.repository)
            let identity = try #require(state.channels[production]?.identity)
            let release = try server.factory.release(
                base: ReleaseHeader.Base(roleVersion: base, sha256: identity),
                signedBy: [.production]
            )
            let restored = try server.repository.tree.versionRecord().restored
            return try BaseComparison(release, in: state, labels: try server.repository.labels(), restored: restored)
        }
        let outdated = PublishConflict.outdated(channel: production, base: 20, current: 1)
        #expect(throws: outdated) { try comparison(base: 20) }
        _ = try RestoreNumbers(of: server.repository).run()
        #expect(try comparison(base: 20) == .next)
        #expect(throws: PublishConflict.outdated(channel: production, base: UsedVersions.sane + 1, current: 1)) {
            try comparison(base: UsedVersions.sane + 1)
        }
        try server.publish(try server.factory.release(on: server.repository))
        #expect(throws: PublishConflict.outdated(channel: production, base: 20, current: 2)) {
            try comparison(base: 20)
        }
    }

    @Test
    func `is copied as it is at the last look, whatever was published and collected since the first`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try files.makeDirectory("/copy")
        var copy = ServerCopy(server.folder.root, to: "/copy", files: files)
        try copy.transfer()
        let gone = try #require(try server.treeFiles().first { $0.hasPrefix("objects/") })
        try server.publish(try server.factory.release(.init(scripts: [:]), on: server.repository))
        try files.remove(server.folder.tree(of: server.repository.app).appending(gone))
        try copy.transfer()
        var expected: [String: [UInt8]] = [:]
        for (path, bytes) in try server.everything() {
            let name = path.dropFirst(server.folder.root.string.count + 1)
            if ServerCopy.folders.contains(where: { name.hasPrefix("\($0)/") }) { expected["/copy/\(name)"] = bytes }
        }
        var found: [String: [UInt8]] = [:]
        func collect(_ folder: FilePath) throws {
            for name in try files.list(folder) {
                let path = folder.appending(name)
                if try files.status(of: path)?.kind == .directory {
                    try collect(path)
                } else {
                    found[path.string] = try files.read(path, limit: Limits.object)
                }
            }
        }
        try collect("/copy")
        #expect(found == expected && copy.fileCount == expected.count)
    }
}
