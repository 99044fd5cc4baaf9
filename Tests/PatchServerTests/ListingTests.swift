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

@Suite("The list of what is published")
struct ListingTests {
    @Test
    func `names channels, patches, drafts and when each role expires`() throws {
        let server = try TestingServer(threshold: 2)
        try server.publish(try server.factory.release(on: server.repository, signedBy: [.production, .second]))
        try server.publish(try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository))
        let listing = try AppListing(of: server.repository)

        #expect(listing.roles.map(\.name) == ["root", "targets", "production", "dial", "snapshot", "timestamp"])
        #expect(listing.roles.map(\.version) == [1, 1, 1, 2, 2, 2])
        #expect(listing.roles.last?.expires == TestingServer.start.adding(.days(7)))
        let channel = try #require(listing.channels.first)
        #expect((channel.name, channel.version) == (ReleaseFactory.production, 1))
        #expect(channel.patches.map(\.patchID.text) == ["fix-cart-total", "web"])
        #expect(channel.patches.map(\.size) == [15, 10 + 15])
        #expect(channel.patches.map(\.rollout) == [10_000, 10_000])
        #expect(listing.drafts.map { [$0.version, $0.valid, $0.needed] } == [[2, 1, 2]])
        #expect(listing.drafts.first?.isCurrent == true)
    }

    @Test
    func `refuses a list that was altered, by its name`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        let release = try server.factory.release(on: server.repository)
        try server.publish(release)
        let path = TargetPath.patchList(ReleaseFactory.production)
        let digest = SHA256Digest(of: try #require(release.targets[path]))
        try files.rot(server.folder.tree(of: server.repository.app).appending(URLLayout.target(path, sha256: digest)))
        let error = ServerError.tree(ReleaseFactory.app, .wrongDigest(name: path.text, algorithm: "sha256"))
        #expect(throws: error) { try AppListing(of: server.repository) }
    }

    @Test
    func `finds every app that was started, and none that was not`() throws {
        let server = try TestingServer()
        try server.files.makeDirectory(server.folder.apps.appending("half-started"))
        #expect(try server.folder.allApps(files: server.files) == [ReleaseFactory.app])
        #expect(throws: ServerError.unknownApp(named("half-started"))) {
            try AppRepository(named("half-started"), in: server.folder, files: server.files)
        }
    }

    @Test
    func `a folder is changed by one process at a time`() throws {
        let folder = try TemporaryFolder()
        let server = ServerFolder(folder.path.appending("srv"))
        let lock = try server.locked(files: DiskFiles())
        #expect {
            try server.locked(files: DiskFiles()).release()
        } throws: { error in
            guard case .locked(.held(let path, _)) = error as? ServerError else { return false }
            return path == server.lock
        }
        lock.release()
        try server.locked(files: DiskFiles()).release()
    }
}
