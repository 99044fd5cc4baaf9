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

@Suite("A publish that is stopped")
struct InterruptedPublishTests {
    private let production = ReleaseFactory.production

    /// A server with one release, the next release, and how many changes publishing it makes.
    private func prepared() throws -> (TestingServer, FaultyFiles, SignedRelease, Int) {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        var contents = ReleaseFactory.Contents()
        contents.web = ("1.0.1", ["index.html": "<p>one</p>", "app/main.js": "console.log(2);"])
        let next = try server.factory.release(contents, on: server.repository)
        let rehearsal = files.reopened()
        try server.on(rehearsal).publish(next)
        return (server, files, next, rehearsal.changes)
    }

    /// Every role, list, manifest and object of what is published verifies; its version.
    private func verifiedVersion(_ server: TestingServer) throws -> Int {
        let listing = try AppListing(of: server.repository)
        for name in try server.treeFiles() where name.hasPrefix("objects/") {
            let path = server.folder.tree(of: server.repository.app).appending(name)
            let bytes = try server.files.read(path, limit: 1_000)
            #expect(name.hasSuffix(SHA256Digest(of: bytes).hex))
        }
        return try #require(listing.channels.first).version
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `serves the old state or the new one, and the next publish finishes`(survival: FaultyFiles.Survival) throws {
        let (server, files, next, changes) = try prepared()
        #expect(changes > 40)
        for change in Sweep.points(of: changes, every: 6, offset: survival == .lose ? 0 : 3) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try server.on(disk).publish(next) }

            let after = try server.on(disk.crashed(survival))
            let version = try verifiedVersion(after)
            #expect(version == 1 || version == 2, "stopped at change \(change)")
            switch try after.publish(next) {
            case .published(let done):
                #expect(version == 1 && done.change.repaired.isEmpty, "stopped at change \(change)")
            case .alreadyPublished(_, _, let done):
                #expect(version == 2 && done.repaired.isEmpty, "stopped at change \(change)")
            case .drafted: Issue.record("was drafted")
            }
        }
    }

    @Test
    func `leaves room for another release of the same version`() throws {
        let (server, files, next, changes) = try prepared()
        let other = try server.factory.release(
            ReleaseFactory.Contents(
                scripts: ["fix-cart-total": ("1", "cart.total = 1;")],
                web: ("1.0.1", ["index.html": "<p>other</p>"])
            ),
            on: server.repository
        )
        for change in Sweep.points(of: changes, every: 12, offset: 1) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try server.on(disk).publish(next) }
            let after = try server.on(disk.reopened())
            if try verifiedVersion(after) == 2 { continue }
            guard case .published = try after.publish(other) else {
                Issue.record("stopped at change \(change), the other was not published")
                continue
            }
            #expect(try verifiedVersion(after) == 2)
        }
    }

    @Test
    func `by a full disk changes nothing that is served`() throws {
        let (server, files, next, _) = try prepared()
        for room in stride(from: 0, through: 6_000, by: 600) {
            let disk = files.reopened()
            disk.limitFreeSpace(to: room)
            let after = try server.on(disk)
            let error = #expect(throws: ServerError.self) { try after.publish(next) }
            guard case .file(.noSpace)? = error else {
                Issue.record("with room for \(room) bytes: \(String(describing: error))")
                continue
            }
            disk.limitFreeSpace(to: nil)
            #expect(try verifiedVersion(after) == 1)
            try after.publish(next)
            #expect(try verifiedVersion(after) == 2)
        }
    }

    @Test
    func `while a draft is kept leaves the whole draft or none`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files, threshold: 2)
        let release = try server.factory.release(on: server.repository)
        let rehearsal = files.reopened()
        try server.on(rehearsal).publish(release)
        for change in Sweep.points(of: rehearsal.changes, every: 8) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try server.on(disk).publish(release) }
            for survival in [FaultyFiles.Survival.lose, .keepNames] {
                let after = try server.on(disk.crashed(survival))
                for draft in try after.repository.tree.drafts(of: production) {
                    #expect(draft.identity == release.role.identity)
                    #expect(draft.release.objects.count == release.objects.count, "stopped at change \(change)")
                }
                guard case .drafted = try after.publish(release) else {
                    Issue.record("stopped at change \(change), was not drafted")
                    continue
                }
            }
        }
    }
}
