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

@Suite("A refresh")
struct RefreshTests {
    @Test
    func `raises snapshot and timestamp by one and says nothing else`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let before = try PublishedState(of: server.repository)
        let later = TestingServer.start.adding(.days(3))
        let done = try server.refresh(at: later)
        #expect((done.dial, done.snapshot, done.timestamp) == (2, 3, 3))

        let after = try PublishedState(of: server.repository)
        #expect(after.timestamp.signedAt == later)
        #expect(
            [after.timestamp.header, after.snapshot.header].allSatisfy {
                $0.version == 3 && $0.expires == later.adding(.days(7))
            }
        )
        #expect(after.dial.header.version == 2 && after.dial.targets == before.dial.targets)
        #expect(after.snapshot.files["production"] == before.snapshot.files["production"])
        #expect(after.snapshot.files["targets"] == before.snapshot.files["targets"])
    }

    @Test
    func `brings back a server that was off until its roles expired`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let later = TestingServer.start.adding(.days(30))
        try server.refresh(at: later)
        #expect(try PublishedState(of: server.repository).timestamp.header.expires == later.adding(.days(7)))
    }

    /// What people sign ends for devices; the server goes on, so that its renewal can come in.
    @Test
    func `goes on while a channel's release has ended, and takes its renewal in`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        for days in [80, 91, 92] {
            try server.refresh(at: TestingServer.start.adding(.days(days)))
        }
        #expect(try AppListing(of: server.repository).channels.map(\.version) == [1])
        var factory = server.factory
        factory.now = TestingServer.start.adding(.days(93))
        let renewal = try factory.release(
            .init(web: ("1.0.1", ["index.html": "<p>two</p>"])),
            on: server.repository
        )
        _ = try PublishRelease(renewal, in: server.repository, signing: server.key, at: factory.now).run()
        #expect(try AppListing(of: server.repository).channels.map(\.version) == [2])
    }

    @Test
    func `signs nothing once root has ended, for then the clock is wrong or people must sign first`() throws {
        let server = try TestingServer()
        let before = try server.everything()
        let end = TestingServer.start.adding(.days(365))
        #expect(throws: ServerError.ended(role: "root", expires: end, at: end)) {
            try server.refresh(at: end)
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `uses no version number twice after one that was stopped`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        let rehearsal = files.reopened()
        try RefreshRoles(of: server.on(rehearsal).repository, signing: server.key, at: TestingServer.start).run()
        for change in 1...rehearsal.changes {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) {
                try RefreshRoles(of: server.on(disk).repository, signing: server.key, at: TestingServer.start).run()
            }
            let after = try server.on(disk.crashed(.keep))
            let stopped = try after.everything()
            try RefreshRoles(of: after.repository, signing: server.key, at: TestingServer.start).run()
            let now = try after.everything()
            let numbered = stopped.filter { $0.key.contains("/metadata/") && !$0.key.hasSuffix("/timestamp.json") }
            #expect(numbered.allSatisfy { now[$0.key] == $0.value }, "stopped at change \(change)")
        }
    }

    @Test
    func `needs the online key`() throws {
        let server = try TestingServer()
        let file = OnlineKeyFile(
            bytes: try DiskFiles().read(TestingKey.production.file, limit: Limits.keyFile),
            path: TestingKey.production.file
        )
        let key = try OnlineKey(file.bytes, passphrase: nil, from: file.path)
        let before = try server.everything()
        #expect(throws: ServerError.notOnlineKey(role: "timestamp", belongsTo: "production")) {
            try RefreshRoles(of: server.repository, signing: key, at: TestingServer.start).run()
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `needs permission for a testing key`() throws {
        let server = try TestingServer()
        let strict = try AppRepository(ReleaseFactory.app, in: server.folder, files: server.files)
        #expect(throws: ServerError.testingKey("online key")) {
            try RefreshRoles(of: strict, signing: server.key, at: TestingServer.start).run()
        }
    }
}
