import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("A refresh")
struct RefreshTests {
    @Test
    func `raises dial, snapshot and timestamp by one and says nothing else`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let before = try PublishedState(of: server.repository)
        let later = TestingServer.start.adding(.days(3))
        let done = try server.repository.refresh(signing: server.key, at: later)
        #expect((done.dial, done.snapshot, done.timestamp) == (3, 3, 3))

        let after = try PublishedState(of: server.repository)
        #expect(after.timestamp.signedAt == later)
        #expect(
            [after.timestamp.header, after.snapshot.header, after.dial.header].allSatisfy {
                $0.version == 3 && $0.expires == later.adding(.days(7))
            }
        )
        #expect(after.dial.targets == before.dial.targets)
        #expect(after.snapshot.files["production"] == before.snapshot.files["production"])
        #expect(after.snapshot.files["targets"] == before.snapshot.files["targets"])
    }

    @Test
    func `brings back a server that was off until its roles expired`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let later = TestingServer.start.adding(.days(30))
        try server.repository.refresh(signing: server.key, at: later)
        #expect(try PublishedState(of: server.repository).timestamp.header.expires == later.adding(.days(7)))
    }

    @Test
    func `uses no version number twice after one that was stopped`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        let rehearsal = files.reopened()
        try server.on(rehearsal).repository.refresh(signing: server.key, at: TestingServer.start)
        for change in 1...rehearsal.changes {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) {
                try server.on(disk).repository.refresh(signing: server.key, at: TestingServer.start)
            }
            let after = try server.on(disk.crashed(.keep))
            let stopped = try after.everything()
            try after.repository.refresh(signing: server.key, at: TestingServer.start)
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
            try server.repository.refresh(signing: key, at: TestingServer.start)
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `needs permission for a testing key`() throws {
        let server = try TestingServer()
        let strict = try AppRepository(ReleaseFactory.app, in: server.folder, files: server.files)
        #expect(throws: ServerError.testingKey("online key")) {
            try strict.refresh(signing: server.key, at: TestingServer.start)
        }
    }
}
