import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import ServerTesting
import Testing

@Suite("An update of the root of trust that is stopped")
struct InterruptedTrustTests {
    private let production = ReleaseFactory.production

    /// A server whose channel a thief raised to the end, what replaces all his keys, and how many changes that makes.
    private func prepared() throws -> (TestingServer, FaultyFiles, take: (TestingServer) throws -> TrustOutcome, Int) {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        let last = 1 << 53 - 1
        try server.overwriteTree(channelVersion: last, snapshot: last, timestamp: last, dial: last, contents: .init())
        try sync(files, server)
        let offered = try TrustPlan().next().next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels[0].keys = [.second]
        }.offered(after: [TrustPlan().next()])
        let contents = ReleaseFactory.Contents(web: ("1.0.1", ["index.html": "<p>two</p>"]))
        let release = try server.factory.release(contents, base: ReleaseFactory.base(1), signedBy: [.second])
        let take = { (server: TestingServer) in try server.take(offered, key: .other, releases: [release]) }
        let rehearsal = files.reopened()
        _ = try take(try server.on(rehearsal))
        return (server, files, take, rehearsal.changes)
    }

    private func sync(_ files: FaultyFiles, _ server: TestingServer) throws {
        let tree = server.folder.tree(of: server.repository.app)
        var folders: [FilePath] = []
        for name in try server.treeFiles() { folders.append(tree.appending(name).removingLastComponent()) }
        for folder in Set(folders) { try files.syncDirectory(folder) }
    }

    @Test func `that hands targets from one key to another leaves no moment that a fresh reader refuses`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try sync(files, server)
        let plan = TrustPlan().next {
            $0.targetsVersion = 2
            $0.targetsKey = .other
        }
        func readings(targetsAlsoBy others: [TestingKey]) throws -> (bad: Int, first: Int, last: Int) {
            let offered = try plan.offered(targetsAlsoBy: others)
            let rehearsal = files.reopened()
            _ = try server.on(rehearsal).take(offered)
            var bad = 0
            var roots: [Int] = []
            // Before that only files are written that nothing refers to.
            for change in max(0, rehearsal.changes - 16)..<rehearsal.changes {
                let disk = files.reopened(failingAtChange: change)
                #expect(throws: ServerError.self) { try server.on(disk).take(offered) }
                let after = try server.on(disk.crashed(.keepNames))
                // Reads and verifies everything, from the first root on, as a device without any memory does.
                do throws(ServerError) {
                    roots.append(try PublishedState(of: after.repository).root.header.version)
                } catch {
                    #expect(error == .tree(ReleaseFactory.app, .threshold(role: "targets", valid: 0, needed: 1)))
                    bad += 1
                }
                _ = try after.take(offered)
                let done = try PublishedState(of: after.repository)
                #expect(
                    (done.root.header.version, done.targets.header.version) == (2, 2),
                    "stopped at change \(change)"
                )
            }
            return (bad, roots.first ?? 0, roots.last ?? 0)
        }
        #expect(try readings(targetsAlsoBy: [.targets]) == (0, 1, 2))
        // Without the key that goes there is such a moment.
        #expect(try readings(targetsAlsoBy: []).bad > 0)
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `leaves the old state or the new one, and coming again finishes it`(survival: FaultyFiles.Survival) throws {
        let (server, files, take, changes) = try prepared()
        #expect(changes > 40)
        for change in Sweep.points(of: changes, every: 8, offset: survival == .lose ? 0 : 4) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try take(try server.on(disk)) }
            let after = try server.on(disk.crashed(survival))
            let isDone: Bool
            do throws(ServerError) {
                let version = try PublishedState(of: after.repository).version(of: production)
                #expect(version == 1 << 53 - 1 || version == 2, "stopped at change \(change)")
                isDone = version == 2
            } catch {
                // Between the last root and the timestamp readers of the new root refuse the old timestamp.
                let between = TrustError.threshold(role: "timestamp", valid: 0, needed: 1)
                #expect(error == .tree(ReleaseFactory.app, between), "stopped at change \(change)")
                #expect(try after.treeFiles().contains("metadata/3.root.json"), "stopped at change \(change)")
                isDone = false
            }
            switch try take(after) {
            case .updated: #expect(!isDone, "stopped at change \(change)")
            case .alreadyCurrent: #expect(isDone, "stopped at change \(change)")
            }
            let state = try PublishedState(of: after.repository)
            #expect((state.root.header.version, state.version(of: production)) == (3, 2))
            try RefreshRoles(of: after.repository, signing: try after.onlineKey(.other), at: after.factory.now).run()
        }
    }
}
