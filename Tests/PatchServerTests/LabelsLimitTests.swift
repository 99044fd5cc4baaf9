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

@Suite("The record of labels at its limit")
struct LabelsLimitTests {
    private let second = ReleaseFactory.Contents(scripts: ["fix-cart-total": ("2", "cart.total = 2;")], web: nil)

    /// A server with one release, and the size of its record of labels before and after another.
    private func server() throws -> (TestingServer, before: Int, after: Int) {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let disk = FaultyFiles()
        let other = try TestingServer(files: disk)
        for contents in [ReleaseFactory.Contents(), second] {
            try other.publish(try other.factory.release(contents, on: other.repository))
        }
        return (server, try labelsSize(server), try labelsSize(other))
    }

    private func labelsSize(_ server: TestingServer) throws -> Int {
        let path = server.repository.onlineKeyFile.removingLastComponent().appending("labels.json")
        return try server.files.read(path, limit: Limits.stateFile).count
    }

    @Test
    func `is what is read`() throws {
        #expect(try TestingServer().repository.labelsLimit == Limits.stateFile)
    }

    @Test
    func `takes a release that fills it, and refuses one that is a byte over, before anything is written`() throws {
        let (server, _, size) = try server()
        let release = try server.factory.release(second, on: server.repository)
        var repository = server.repository
        repository.labelsLimit = size - 1
        let before = try server.everything()
        #expect(throws: ServerError.labelsFull(ReleaseFactory.app, size: size, limit: size - 1)) {
            try PublishRelease(release, in: repository, signing: server.key, at: server.factory.now).run()
        }
        #expect(try server.everything() == before)

        repository.labelsLimit = size
        _ = try PublishRelease(release, in: repository, signing: server.key, at: server.factory.now).run()
        try RefreshRoles(of: repository, signing: server.key, at: server.factory.now).run()
        #expect(try labelsSize(server) == size)
    }

    @Test
    func `holds for a release that comes with a root of trust, and never for the root alone`() throws {
        let (server, before, size) = try server()
        let offered = try TrustPlan().next { ($0.targetsVersion, $0.online) = (2, .other) }.offered()
        let release = try server.factory.release(second, on: server.repository)
        let key = try server.onlineKey(.other)
        var repository = server.repository
        repository.labelsLimit = size - 1
        let everything = try server.everything()
        #expect(throws: ServerError.labelsFull(ReleaseFactory.app, size: size, limit: size - 1)) {
            try TakeTrust(offered, in: repository, onlineKey: key, releases: [release], at: server.factory.now).run()
        }
        #expect(try server.everything() == everything)

        repository.labelsLimit = before
        _ = try TakeTrust(offered, in: repository, onlineKey: key, at: server.factory.now).run()
        #expect(try PublishedState(of: repository).root.header.version == 2)
    }
}
