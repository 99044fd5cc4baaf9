import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords
import ServerTesting
import SystemPackage
import Testing

@Suite("A backup of a server", .timeLimit(.minutes(10)))
struct BackupTests {
    private static func shown(
        _ copy: ((_ done: Int, _ of: Int) -> Void) throws(ServerError) -> Void
    ) throws(ServerError) {
        try copy { _, _ in }
    }

    /// A server with one release, and its backup in the folder `backup` beside it.
    private static func backedUp() async throws -> (TestingOperations, MakeBackup.Made) {
        let fixture = try TestingOperations()
        try fixture.server.publish(try fixture.server.factory.release(on: fixture.server.repository))
        let work = try MakeBackup(
            of: fixture.server.folder,
            at: fixture.box.path.appending("backup"),
            allowsTestingKeys: true
        )
        return (fixture, try await work.run(clock: { TestingServer.start }, showing: shown))
    }

    @Test func `is restored with numbers above every one that devices may have seen`() async throws {
        let (fixture, made) = try await Self.backedUp()
        #expect(made.header.apps.map(\.app) == [fixture.server.repository.app])
        #expect(made.header.made == TestingServer.start && made.faults == [] && made.header.audit == nil)
        let data = ServerFolder(fixture.box.path.appending("new"))
        let work = try RestoreBackup(fixture.box.path.appending("backup"), to: data, allowsTestingKeys: true)
        #expect(work.isDescribed)
        let clock = { @Sendable in TestingServer.start }
        let done = try await work.run(nil, above: 0, by: fixture.actor, clock: clock, showing: Self.shown)
        #expect(done.isWhole && done.faultCount == 0 && done.made == TestingServer.start && done.audit == nil)
        #expect(done.apps.map(\.restored.above) == [2 + RestoreNumbers.step])
        let last = try await ServerRecords(SQLiteRecords(data.recordsFile), now: clock).lastAuditEntry()
        #expect(last?.json["action"] == .text("server.restore"))
        #expect(throws: BackupError.serverExists(data.root)) {
            try RestoreBackup(fixture.box.path.appending("backup"), to: data, allowsTestingKeys: true)
        }
    }

    @Test func `is written neither over files nor into the server or another backup`() async throws {
        let (fixture, _) = try await Self.backedUp()
        let (folder, root) = (fixture.server.folder, fixture.box.path)
        let backup = root.appending("backup")
        #expect(throws: BackupError.targetExists(backup)) {
            try MakeBackup(of: folder, at: backup, allowsTestingKeys: true)
        }
        #expect(throws: BackupError.noFolder(root.appending("none"))) {
            try MakeBackup(of: folder, at: root.appending("none/new"), allowsTestingKeys: true)
        }
        let inServer = folder.root.appending("new")
        #expect(throws: BackupError.insideData(inServer)) {
            try MakeBackup(of: folder, at: inServer, allowsTestingKeys: true)
        }
        let inBackup = backup.appending("apps/new")
        #expect(throws: BackupError.insideBackup(inBackup, backup: backup.followingLinks)) {
            try MakeBackup(of: folder, at: inBackup, allowsTestingKeys: true)
        }
    }

    @Test func `is restored only as a whole, and only to a folder without a server`() async throws {
        let (fixture, _) = try await Self.backedUp()
        let root = fixture.box.path
        let (backup, new) = (root.appending("backup"), ServerFolder(root.appending("new")))
        #expect(throws: BackupError.notBackup(root)) { try RestoreBackup(root, to: new, allowsTestingKeys: true) }
        #expect(throws: BackupError.isBackup(backup)) {
            try RestoreBackup(backup, to: ServerFolder(backup), allowsTestingKeys: true)
        }
        #expect(throws: BackupError.serverExists(fixture.server.folder.root)) {
            try RestoreBackup(backup, to: fixture.server.folder, allowsTestingKeys: true)
        }
        try DiskFiles().remove(backup.appending("records.sqlite"))
        #expect(throws: BackupError.incomplete(backup, fault: "records.sqlite is missing")) {
            try RestoreBackup(backup, to: new, allowsTestingKeys: true)
        }
        #expect(try DiskFiles().status(of: new.root) == nil)
    }
}
