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

@Suite("Starting an app on a server")
struct SetupTests {
    private let files = FaultyFiles()
    private let folder = ServerFolder("/srv")
    private let now = TestingServer.start

    private var factory: ReleaseFactory { ReleaseFactory(files: files, folder: "/pipeline", now: now) }

    private func key(_ key: TestingKey = .online) throws -> OnlineKey {
        try OnlineKey(try key.online.bytes, passphrase: nil, from: key.file)
    }

    private func create(_ trust: RootOfTrust, _ key: OnlineKey, testing: Bool = true) throws {
        _ = try CreateApp(trust, onlineKey: key, in: folder, files: files, allowsTestingKeys: testing).run(at: now)
    }

    private func trust(targets: Envelope? = nil, root: Envelope? = nil) throws -> RootOfTrust {
        try RootOfTrust(
            root: try (root ?? factory.root()).fileBytes,
            targets: try (targets ?? factory.targets()).fileBytes,
            at: now
        )
    }

    /// Refused, and nothing was written.
    private func expect(_ error: ServerError, _ body: () throws -> Void, location: SourceLocation = #_sourceLocation) {
        #expect(throws: error, sourceLocation: location, performing: body)
        #expect(throws: FileError.self, sourceLocation: location) { try files.list("/srv") }
    }

    @Test
    func `writes an empty tree, and of keys the online key alone, for the server to read`() throws {
        try create(try trust(), try key())
        let records = folder.records(of: ReleaseFactory.app)
        #expect(try files.list(records) == ["labels.json", "online.key", "root.json"])
        let stored = try files.read(records.appending("online.key"), limit: Limits.keyFile)
        #expect(String(decoding: stored, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try files.status(of: records.appending("online.key"))?.permissions == FilePermissions(rawValue: 0o600))
        #expect(try files.status(of: folder.tree)?.permissions == FilePermissions(rawValue: 0o755))
        let state = try PublishedState(
            of: try AppRepository(ReleaseFactory.app, in: folder, files: files, allowsTestingKeys: true)
        )
        #expect(state.channels.isEmpty && state.dial.targets.isEmpty)
    }

    @Test
    func `is done once for an app`() throws {
        try create(try trust(), try key())
        #expect(throws: ServerError.appExists(ReleaseFactory.app)) { try create(try trust(), try key()) }
    }

    @Test(arguments: [TestingKey.production, .beta, .root, .targets])
    func `refuses a release key as online key`(offered: TestingKey) throws {
        expect(.notOnlineKey(role: "timestamp", belongsTo: offered.rawValue)) {
            try create(try trust(), try key(offered))
        }
    }

    @Test
    func `refuses a key that nobody lists`() throws {
        expect(.notOnlineKey(role: "timestamp", belongsTo: nil)) { try create(try trust(), try key(.other)) }
    }

    @Test
    func `refuses a dial that another key signs`() throws {
        let targets = try factory.targets(dialKey: .other)
        expect(.notOnlineKey(role: "dial", belongsTo: nil)) { try create(try trust(targets: targets), try key()) }
    }

    @Test
    func `refuses testing keys`() throws {
        expect(.testingKey("root")) { try create(try trust(), try key(), testing: false) }
    }

    @Test
    func `refuses a root that is not signed, expired, or targets that root does not vouch for`() throws {
        let unsigned = Envelope(role: "root", signing: try factory.root().signed)
        expect(.setup(document: "root.json", rule: "is not trusted: root: 0 valid signatures of 1 needed")) {
            _ = try trust(root: unsigned)
        }
        let expired = try factory.root(expires: now)
        expect(.setup(document: "root.json", rule: "is not trusted: root: expired at \(now) (now \(now))")) {
            _ = try trust(root: expired)
        }
        let foreign = try Envelope(role: "targets", signing: try factory.targets().signed).signed(by: [.other])
        expect(.setup(document: "targets.json", rule: "is not trusted: targets: 0 valid signatures of 1 needed")) {
            _ = try trust(targets: foreign)
        }
    }

    @Test
    func `refuses an app whose tree would lie where the release service answers`() throws {
        expect(.setup(document: "root.json", rule: "is for an app named api, which is a path of the release service")) {
            _ = try trust(root: try factory.root(app: named("api")))
        }
    }

    @Test
    func `is refused for one that has releases and lost its timestamp: its labels and numbers would be forgotten`()
        throws
    {
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try files.remove(server.folder.tree(of: ReleaseFactory.app).appending("metadata/timestamp.json"))
        let before = try server.everything()
        let lost = ServerError.treeFileMissing(
            ReleaseFactory.app,
            "tree/com.example.storefront/metadata/timestamp.json"
        )
        #expect(throws: lost) { try create(try trust(), try key()) }
        #expect(throws: lost) { _ = try AppRepository(ReleaseFactory.app, in: folder, files: files) }
        #expect(try server.everything() == before)
    }

    /// A root of trust of generated keys.
    private func trust(of app: AppID, online: OnlineKey) throws -> RootOfTrust {
        let own = try PrivateKey.generate(.ed25519)
        let (keeper, server) = (TUFKey(own.publicKey), TUFKey(online.publicKey))
        let (offline, serving) = (
            RoleDocument.Signers(keys: [keeper], threshold: 1), RoleDocument.Signers(keys: [server], threshold: 1)
        )
        var root = RoleDocument.root(
            app: app,
            version: 1,
            expires: now.adding(.days(365)),
            roles: ["root": offline, "targets": offline, "snapshot": serving, "timestamp": serving]
        )
        var targets = RoleDocument.targets(
            app: app,
            version: 1,
            expires: now.adding(.days(365)),
            delegations: [.channel(ReleaseFactory.production, signers: offline), .dial(signers: serving)]
        )
        try root.sign(with: own, id: keeper.id)
        try targets.sign(with: own, id: keeper.id)
        return try RootOfTrust(root: root.fileBytes, targets: targets.fileBytes, at: now)
    }

    private func generated() throws -> OnlineKey {
        try OnlineKey(try PrivateKey.generate(.ed25519).unencryptedPEM(), passphrase: nil, from: "/online.key")
    }

    @Test
    func `refuses the online key of another app, and takes one of its own`() throws {
        let (one, two): (AppID, AppID) = (named("com.example.one"), named("com.example.two"))
        let (shared, own) = (try generated(), try generated())
        try create(try trust(of: one, online: shared), shared, testing: false)
        #expect(throws: ServerError.sharedOnlineKey(with: one)) {
            try create(try trust(of: two, online: shared), shared, testing: false)
        }
        #expect(try files.list(folder.apps) == ["com.example.one"])
        try create(try trust(of: two, online: own), own, testing: false)
        // Started again after a crash it is the same app, which has its own key.
        try files.remove(folder.tree(of: two).appending("metadata/timestamp.json"))
        #expect(throws: Never.self) { try create(try trust(of: two, online: own), own, testing: false) }
        // An app whose tree was lost still has its key.
        try files.remove(folder.tree(of: one).appending("metadata/timestamp.json"))
        #expect(throws: ServerError.sharedOnlineKey(with: one)) {
            try create(try trust(of: named("com.example.three"), online: shared), shared, testing: false)
        }
    }

    @Test
    func `names its app in every role that the server signs`() throws {
        try create(try trust(), try key())
        let repository = try AppRepository(ReleaseFactory.app, in: folder, files: files, allowsTestingKeys: true)
        let state = try PublishedState(of: repository)
        let named = [state.timestamp.header.app, state.snapshot.header.app, state.dial.header.app]
        #expect(named == Array(repeating: ReleaseFactory.app, count: 3))
    }

    @Test
    func `that was stopped at any change is finished by starting again`() throws {
        let rehearsal = files.reopened()
        let trust = try trust()
        let key = try key()
        func create(_ files: FaultyFiles) throws {
            _ = try CreateApp(trust, onlineKey: key, in: folder, files: files, allowsTestingKeys: true).run(at: now)
        }
        try create(rehearsal)
        for change in 1...rehearsal.changes {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try create(disk) }
            let after = disk.crashed(.lose)
            do throws(ServerError) {
                _ = try AppRepository(ReleaseFactory.app, in: folder, files: after)
            } catch {
                #expect(error == .unknownApp(ReleaseFactory.app))
                try create(after)
            }
            _ = try PublishedState(
                of: try AppRepository(ReleaseFactory.app, in: folder, files: after, allowsTestingKeys: true)
            )
        }
    }
}

@Suite("An online key's file")
struct OnlineKeyTests {
    private let path: FilePath = "/keys/online.key"

    private func read(_ bytes: [UInt8], _ passphrase: String? = nil) throws(ServerError) -> OnlineKey {
        try OnlineKey(bytes, passphrase: passphrase, from: path)
    }

    @Test
    func `opens with its passphrase and no other`() throws {
        let pem = try TestingKey.online.key.pem(passphrase: "correct")
        let key = try read(pem, "correct")
        #expect(try key.isEncrypted && key.publicKey == TestingKey.online.key.publicKey)
        #expect(throws: ServerError.key(path, .wrongPassphrase)) { try read(pem, "wrong") }
        #expect(throws: ServerError.key(path, .needsPassphrase)) { try read(pem) }
    }

    @Test
    func `holds one private key: not none, not two, nothing damaged`() throws {
        let one = try TestingKey.online.online.bytes
        let two = try one + DiskFiles().read(TestingKey.production.file, limit: Limits.keyFile)
        for bytes in [
            Array("hello".utf8), two, one.filter { $0 != UInt8(ascii: "A") }, Array(repeating: 65, count: 70_000),
        ] {
            #expect(throws: ServerError.key(path, .unreadable)) { try read(bytes) }
        }
    }
}
