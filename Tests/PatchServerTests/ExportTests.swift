import Linux
import Glibc
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

@Suite("An exported tree")
struct ExportTests {
    private let app = ReleaseFactory.app

    /// A server with two releases of production.
    private func server(on files: FaultyFiles = FaultyFiles()) throws -> TestingServer {
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try server.publish(try server.factory.release(Self.second, on: server.repository))
        return server
    }

    static let second = ReleaseFactory.Contents(
        web: ("1.0.1", ["index.html": "<p>one</p>", "app/main.js": "console.log(2);"])
    )
    static let third = ReleaseFactory.Contents(
        web: ("1.0.2", ["index.html": "<p>three</p>", "app/main.js": "console.log(2);"])
    )

    @Test
    func `is what is published now, whole, and no older release`() throws {
        let server = try server()
        let done = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        #expect(done.unchanged == 0)
        #expect((done.roles.timestamp, done.roles.snapshot, done.roles.dial) == (3, 3, 2))
        #expect(done.endingBefore == [])

        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        let old = try server.treeFiles().subtracting(try exported.files())
        #expect(old.contains("metadata/2.snapshot.json") && old.contains("metadata/1.production.json"))
        #expect(old.contains(URLLayout.object(SHA256Digest(of: Array("console.log(1);".utf8)))))
        // Roles are compressed for hosts that do not do it themselves.
        let forms = try exported.files().filter { $0.hasPrefix("metadata/") && !$0.hasSuffix(".json") }
        #expect(try exported.files().subtracting(forms).isSubset(of: try server.treeFiles()))
        #expect(try exported.files().count == done.change.files && done.change.files - forms.count == 13)
    }

    @Test(arguments: [false, true])
    func `is the state that was looked at, whatever is published meanwhile`(_ isTrust: Bool) throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let list = try #require(try server.treeFiles().sorted().last { $0.hasSuffix(".patchlist.json") })
        let offered = try TrustPlan().next { ($0.targetsVersion, $0.online) = (2, .other) }.offered()
        let next = try server.factory.release(Self.third, on: server.repository)
        // Lists are read when every role was.
        let publisher = Interruption(before: .opening(server.treePath(list))) {
            if isTrust {
                _ = try server.take(offered, key: .other)
            } else {
                try server.publish(next)
            }
        }
        let lists = try server.treeFiles().filter { $0.hasSuffix(".patchlist.json") }
        #expect(lists.count == 2)
        let done = try ExportTree(of: server.on(publisher.watch(files)).repository, to: ExportedTree.folder).run()
        #expect(try publisher.happened && done.roles.timestamp == 3)
        #expect(try PublishedState(of: server.repository).timestamp.header.version == 4)
        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        #expect(try exported.state().channels[ReleaseFactory.production]?.role.header.version == 2)
    }

    @Test(arguments: ["objects", "metadata", "targets", ".", "targets/production", "../.incoming"])
    func `makes nothing behind a link that was put in a folder's place`(_ planted: String) throws {
        let box = try TemporaryFolderBox()
        let server = try TestingServer(files: DiskFiles(), root: box.path)
        try server.publish(try server.factory.release(on: server.repository))
        let (target, victim) = (box.path.appending("www"), box.path.appending("victim"))
        let place = target.appending(app.text).appending(planted).lexicallyNormalized()
        try DiskFiles().makeDirectory(victim)
        try DiskFiles().makeDirectory(place.removingLastComponent())
        try #require(unsafe symlink(victim.string, place.string) == 0)
        #expect(throws: ExportError.self) { try ExportTree(of: server.repository, to: target).run() }
        #expect(try DiskFiles().list(victim) == [])
        #expect(try DiskFiles().status(of: place)?.kind == .symbolicLink)
        try DiskFiles().remove(place)
        #expect(try ExportTree(of: server.repository, to: target).run().change.files > 0)
    }

    @Test
    func `made again writes nothing and touches nothing`() throws {
        let server = try server()
        let first = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let before = try ExportedTree(server).identities()
        for rereading in [false, true] {
            let again = try ExportTree(of: server.repository, to: ExportedTree.folder, rereading: rereading).run()
            #expect(again.change == .nothing && again.unchanged == first.change.files)
        }
        #expect(try ExportedTree(server).identities() == before)
    }

    @Test
    func `takes only what is new after a publish`() throws {
        let server = try server()
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let before = try ExportedTree(server).identities()
        try server.publish(try server.factory.release(Self.third, on: server.repository))
        let done = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        // One object, list, manifest, column, timestamp; and role, snapshot, express with two forms each. The dial stays.
        #expect(done.change.files == 5 + 9)
        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        func stays(_ name: String) -> Bool { name != "metadata/timestamp.json" && !name.contains("/express/") }
        let kept = try exported.identities().filter { before[$0.key] != nil && stays($0.key) }
        #expect(kept == before.filter { stays($0.key) })
    }

    @Test
    func `heals what rotted there when it is read again`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let object = URLLayout.object(SHA256Digest(of: Array("console.log(2);".utf8)))
        try files.rot(ExportedTree.folder.appending(app.text).appending(object))
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder).run().change == .nothing)
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder, rereading: true).run().change.files == 1)
        #expect(try ExportedTree(server).faults() == [])
    }

    @Test
    func `with its own signatures holds as long as asked, and the served tree stays as it is`() throws {
        let server = try server()
        let before = try server.everything().filter { $0.key.contains("/tree/") }
        let roles = try server.ownRoles(for: .days(30))
        #expect(roles.expires == TestingServer.start.adding(.days(30)))
        let done = try ExportTree(of: server.repository, to: ExportedTree.folder, signedWith: roles).run()
        #expect((done.roles.timestamp, done.roles.snapshot, done.roles.dial) == (4, 4, 3))
        #expect(try server.everything().filter { $0.key.contains("/tree/") } == before)

        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        let (state, served) = (try exported.state(), try PublishedState(of: server.repository))
        #expect(
            [state.timestamp.header, state.snapshot.header, state.dial.header].allSatisfy {
                $0.expires == roles.expires
            }
        )
        #expect(state.dial.targets == served.dial.targets)
        #expect(state.snapshot.files["production"] == served.snapshot.files["production"])
        #expect(state.timestamp.signedAt == TestingServer.start)
    }

    @Test
    func `with its own signatures ends with root and targets, and names the channels that end earlier`() throws {
        let server = try server()
        let roles = try server.ownRoles(for: .days(364), at: TestingServer.start.adding(.days(60)))
        #expect(roles.expires == TestingServer.start.adding(.days(365)))
        let done = try ExportTree(of: server.repository, to: ExportedTree.folder, signedWith: roles).run()
        #expect(done.endingBefore.map(\.role) == ["production"])
        let late = TestingServer.start.adding(.days(365))
        #expect(throws: ServerError.ended(role: "root", expires: late, at: late)) {
            try server.ownRoles(for: .days(1), at: late)
        }
    }

    @Test
    func `has numbers that the server never gives to anything else`() throws {
        let server = try server()
        _ = try ExportTree(
            of: server.repository,
            to: ExportedTree.folder,
            signedWith: try server.ownRoles(for: .days(30))
        ).run()
        _ = try ExportTree(
            of: server.repository,
            to: ExportedTree.folder,
            signedWith: try server.ownRoles(for: .days(30))
        ).run()
        let exported = try ExportedTree(server).state()
        #expect((exported.timestamp.header.version, exported.snapshot.header.version) == (5, 5))
        let refreshed = try server.refresh(at: server.factory.now)
        #expect((refreshed.timestamp, refreshed.snapshot, refreshed.dial) == (6, 6, 5))
        guard
            case .published(let done) = try server.publish(
                try server.factory.release(Self.third, on: server.repository)
            )
        else {
            Issue.record("was not published")
            return
        }
        // Nobody knows a dial above the fifth: it stays.
        #expect((done.roles.timestamp, done.roles.snapshot, done.roles.dial) == (7, 7, 5))
        _ = try server.ownRoles(for: .days(30))
        #expect(
            try server.refresh(at: server.factory.now).timestamp == 9
        )
    }

    /// What a device does that saw the exported tree and meets the server again.
    @Test
    func `is followed by the server's next state, and its last one before is an older mirror`() throws {
        let server = try server()
        let served = try server.files.read(server.treePath("metadata/timestamp.json"), limit: 10_000)
        let roles = try server.ownRoles(for: .days(30))
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder, signedWith: roles).run()
        let exported = try ExportedTree(server)
        let root = try server.files.read(server.treePath("metadata/1.root.json"), limit: Limits.root)
        let anchor = try TrustedRoot(anchor: root)
        let expiry = ExpiryRule.everyRole(ReferenceTime(clock: server.factory.now))
        let first = try exported.read("metadata/timestamp.json")
        let timestamp = try CurrentRoot(anchor, knowing: nil, expiry).timestamp(first)
        let snapshot = try exported.read("metadata/4.snapshot.json")
        _ = try TrustedSnapshot(snapshot, named: timestamp)

        let device = try CurrentRoot(anchor, knowing: try anchor.knownTimestamp(first), expiry)
        #expect(throws: TrustError.rolledBack(role: "timestamp", offered: 3, trusted: 4)) {
            try device.timestamp(served)
        }
        try server.refresh(at: server.factory.now)
        let next = try server.files.read(server.treePath("metadata/timestamp.json"), limit: 10_000)
        let newer = try device.timestamp(next)
        #expect(newer.isNew)
        _ = try TrustedSnapshot(
            try server.files.read(server.treePath("metadata/5.snapshot.json"), limit: 10_000),
            named: newer,
            after: try newer.knownSnapshot(snapshot)
        )
    }

    @Test
    func `takes nothing older than it has`() throws {
        let server = try server()
        _ = try ExportTree(
            of: server.repository,
            to: ExportedTree.folder,
            signedWith: try server.ownRoles(for: .days(30))
        ).run()
        let before = try ExportedTree(server).identities()
        #expect(throws: ExportError.older(app, timestamp: 3, inFolder: 4)) {
            try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        }
        #expect(try ExportedTree(server).identities() == before)
        try server.refresh(at: server.factory.now)
        #expect(try ExportTree(of: server.repository, to: ExportedTree.folder).run().roles.timestamp == 5)
    }

    @Test
    func `takes nothing of another root of trust`() throws {
        let server = try server()
        let root = ExportedTree.folder.appending(app.text).appending("metadata")
        try server.files.makeDirectory(root)
        try server.files.write([1], to: root.appending("1.root.json"))
        #expect(throws: ExportError.otherRoot(app, ExportedTree.folder)) {
            try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        }
        #expect(try server.files.list(root) == ["1.root.json"])
    }

    @Test
    func `takes nothing that rotted on the server, and goes on offering what it had`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        try server.publish(try server.factory.release(Self.third, on: server.repository))
        let digest = SHA256Digest(of: Array("<p>three</p>".utf8))
        try files.rot(server.treePath(URLLayout.object(digest)))
        #expect(throws: ExportError.server(.tree(app, .wrongDigest(name: digest.hex, algorithm: "sha256")))) {
            try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        }
        let exported = try ExportedTree(server)
        #expect(try exported.state().channels[ReleaseFactory.production]?.role.header.version == 2)
        #expect(try exported.faults() == [])
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `stopped anywhere is the old state or the new one, and the next export finishes`(
        survival: FaultyFiles.Survival
    ) throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        try server.publish(try server.factory.release(Self.third, on: server.repository))
        let rehearsal = files.reopened()
        _ = try ExportTree(of: server.on(rehearsal).repository, to: ExportedTree.folder).run()
        #expect(rehearsal.changes > 40)
        for change in Sweep.points(of: rehearsal.changes, every: 8, offset: survival == .lose ? 0 : 4) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ExportError.self) {
                try ExportTree(of: server.on(disk).repository, to: ExportedTree.folder).run()
            }
            let after = try server.on(disk.crashed(survival))
            #expect(try ExportedTree(after).faults() == [], "stopped at change \(change)")
            _ = try ExportTree(of: after.repository, to: ExportedTree.folder).run()
            let exported = try ExportedTree(after)
            #expect(try exported.faults() == [])
            #expect(try exported.state().channels[ReleaseFactory.production]?.role.header.version == 3)
            #expect(try after.files.list(ExportedTree.folder) == [app.text])
        }
    }

    @Test
    func `onto a full disk is the old state, and finishes once there is room`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        try server.publish(try server.factory.release(Self.third, on: server.repository))
        for room in stride(from: 0, through: 6_000, by: 600) {
            let disk = files.reopened()
            disk.limitFreeSpace(to: room)
            let after = try server.on(disk)
            let error = #expect(throws: ExportError.self) {
                try ExportTree(of: after.repository, to: ExportedTree.folder).run()
            }
            guard case .server(.file(.noSpace))? = error else {
                Issue.record("with room for \(room) bytes: \(String(describing: error))")
                continue
            }
            disk.limitFreeSpace(to: nil)
            let before = try ExportedTree(after)
            #expect(try before.faults() == [])
            #expect(try before.state().channels[ReleaseFactory.production]?.role.header.version == 2)
            _ = try ExportTree(of: after.repository, to: ExportedTree.folder).run()
            let exported = try ExportedTree(after)
            #expect(try exported.faults() == [])
            #expect(try exported.state().channels[ReleaseFactory.production]?.role.header.version == 3)
            #expect(try after.files.list(ExportedTree.folder) == [app.text])
        }
    }

    @Test
    func `stopped the first time has no timestamp until all else is there`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let rehearsal = files.reopened()
        _ = try ExportTree(of: server.on(rehearsal).repository, to: ExportedTree.folder).run()
        for change in Sweep.points(of: rehearsal.changes, every: 12) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ExportError.self) {
                try ExportTree(of: server.on(disk).repository, to: ExportedTree.folder).run()
            }
            let after = try server.on(disk.crashed(.keepNames))
            let timestamp = ExportedTree.folder.appending(app.text).appending("metadata/timestamp.json")
            guard try after.files.status(of: timestamp) != nil else { continue }
            #expect(try ExportedTree(after).faults() == [], "stopped at change \(change)")
        }
    }

    @Test
    func `whose numbers were given away before a crash leaves them unused`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let rehearsal = files.reopened()
        _ = try server.on(rehearsal).ownRoles(for: .days(30))
        for change in 1...rehearsal.changes {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try server.on(disk).ownRoles(for: .days(30)) }
            let after = try server.on(disk.crashed(.lose))
            let next = try RefreshRoles(of: after.repository, signing: server.key, at: server.factory.now).run()
                .timestamp
            #expect(next == 4 || next == 5)
        }
        _ = try server.ownRoles(for: .days(30))
        let after = try server.on(files.crashed(.lose))
        #expect(
            try RefreshRoles(of: after.repository, signing: server.key, at: server.factory.now).run().timestamp == 5
        )
    }
}

/// The folder that a server exports to, looked at with the eyes of a check.
struct ExportedTree {
    static let folder = FilePath("/out/tree")

    private let server: TestingServer
    private let repository: AppRepository

    /// Beside the tree stands the root of trust that a reader of it ships.
    init(_ server: TestingServer) throws {
        self.server = server
        let (folder, app) = (ServerFolder("/out"), server.repository.app)
        let records = folder.apps.appending(app.text)
        try server.files.makeDirectory(records)
        for name in ["root.json", "labels.json", "online.key"] {
            try server.files.removeIfPresent(records.appending(name))
            let bytes = try server.files.read(
                server.folder.apps.appending(app.text).appending(name),
                limit: Limits.stateFile
            )
            try server.files.write(bytes, to: records.appending(name))
        }
        repository = AppRepository(suspecting: app, in: folder, files: server.files)
    }

    func state() throws -> PublishedState { try PublishedState(of: repository) }

    func faults() throws -> [TreeFault] { try CheckTree(of: repository).run().faults }

    func path(_ name: String) -> FilePath { Self.folder.appending(repository.app.text).appending(name) }

    func read(_ name: String) throws -> [UInt8] {
        try server.files.read(path(name), limit: Limits.stateFile)
    }

    func files() throws -> Set<String> { Set(try identities().keys) }

    func identities() throws -> [String: FileIdentity] {
        try server.identities(below: Self.folder.appending(repository.app.text))
    }
}

extension TestingServer {
    func ownRoles(for validity: Duration, at now: UTCTime? = nil) throws -> OwnRoles {
        try SignExport(of: repository, holding: validity, signing: key, at: now ?? factory.now).run()
    }

    func identities(below folder: FilePath) throws -> [String: FileIdentity] {
        var found: [String: FileIdentity] = [:]
        for name in try files.list(folder) {
            let status = try files.status(of: folder.appending(name))
            if status?.kind == .directory {
                for (inner, identity) in try identities(below: folder.appending(name)) {
                    found["\(name)/\(inner)"] = identity
                }
            } else {
                found[name] = status?.identity
            }
        }
        return found
    }
}
