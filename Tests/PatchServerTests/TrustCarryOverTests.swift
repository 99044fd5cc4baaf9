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

@Suite("What a newer online key carries over")
struct TrustCarryOverTests {
    private let production = ReleaseFactory.production
    private let beta = ReleaseFactory.beta
    /// The online key is replaced: readers forget versions.
    private let rotated = TrustPlan().next { ($0.targetsVersion, $0.online) = (2, .other) }

    private var second: ReleaseFactory.Contents {
        ReleaseFactory.Contents(scripts: ["fix-cart-total": ("2", "cart.total = 2;")], web: nil)
    }

    /// A server with two releases of production, whose timestamp somebody put back to where it was after `releases`.
    private func wentBack(to releases: Int) throws -> TestingServer {
        let server = try TestingServer()
        let path = server.folder.tree(of: server.repository.app).appending(URLLayout.timestamp)
        var timestamps = [try server.files.read(path, limit: Limits.timestamp)]
        for contents in [ReleaseFactory.Contents(), second] {
            try server.publish(try server.factory.release(contents, on: server.repository))
            timestamps.append(try server.files.read(path, limit: Limits.timestamp))
        }
        try server.write(timestamps[releases], to: URLLayout.timestamp)
        return server
    }

    private func expectRefused(_ server: TestingServer, _ refusal: TrustRefusal, _ offered: TrustUpload) throws {
        let before = try server.everything()
        #expect(throws: ServerError.trust(refusal)) { try server.take(offered, key: .other) }
        #expect(try server.everything() == before)
    }

    @Test
    func `is listed, channel by channel`() throws {
        let server = try wentBack(to: 2)
        let contents = ReleaseFactory.Contents(scripts: ["only-beta": ("1", "one")], web: nil)
        let beta = try server.factory.release(contents, on: server.repository, channel: beta, signedBy: [.beta])
        try server.publish(beta)
        let done = try server.take(try rotated.offered(), key: .other).publication
        #expect(done.carriedOver.map(\.description) == ["beta 1", "production 2"])
        #expect(done.published.isEmpty && done.dropped.isEmpty)
    }

    @Test(arguments: [0, 1])
    func `is never an older version than the server knows`(version: Int) throws {
        let server = try wentBack(to: version)
        let refusal = TrustRefusal.channelRollback(production, version: version, known: 2)
        try expectRefused(server, refusal, try rotated.offered())
    }

    @Test
    func `is never an older version either where a key that was listed before takes over alone`() throws {
        let server = try wentBack(to: 1)
        let listed = TrustPlan().next { $0.standby = [.other] }
        _ = try server.take(try listed.offered())
        let alone = listed.next { ($0.targetsVersion, $0.online, $0.standby) = (2, .other, []) }
        let refusal = TrustRefusal.channelRollback(production, version: 1, known: 2)
        try expectRefused(server, refusal, try alone.offered(after: [listed]))
        let done = try server.take(try alone.offered(), key: .other, carryingOver: [production]).publication
        #expect(!done.restartsVersions && done.carriedOver.map(\.version) == [1])
    }

    @Test(arguments: ["metadata/2.production.json", nil])
    func `is known from the tree and from the labels, each alone`(kept: String?) throws {
        let server = try wentBack(to: 1)
        let path = server.folder.tree(of: server.repository.app).appending("metadata/2.production.json")
        if kept == nil {
            try server.files.remove(path)
        } else {
            let labels = server.repository.onlineKeyFile.removingLastComponent().appending("labels.json")
            try server.files.remove(labels)
            try server.files.write(Array(#"{"format":"patchline-labels-v1","labels":[]}"#.utf8), to: labels)
        }
        let refusal = TrustRefusal.channelRollback(production, version: 1, known: 2)
        try expectRefused(server, refusal, try rotated.offered())
    }

    @Test
    func `is an older version where a release is given or the channel is named`() throws {
        let server = try wentBack(to: 1)
        let release = try server.factory.release(second, base: ReleaseFactory.base(2), signedBy: [.production])
        let published = try server.take(try rotated.offered(), key: .other, releases: [release]).publication
        #expect(published.published.map(\.description) == ["production 3"])
        #expect(published.carriedOver.isEmpty)

        let other = try wentBack(to: 1)
        let offered = try rotated.offered()
        #expect(throws: ServerError.trust(.channelRollback(production, version: 1, known: 2))) {
            try other.take(offered, key: .other, carryingOver: [beta])
        }
        let accepted = try other.take(offered, key: .other, carryingOver: [production]).publication
        #expect(accepted.carriedOver.map(\.description) == ["production 1"])
        #expect(try PublishedState(of: other.repository).version(of: production) == 1)
    }

    @Test
    func `is not asked for while devices keep their versions, nor of a version that no server reaches`() throws {
        let server = try wentBack(to: 1)
        let done = try server.take(try TrustPlan().next { $0.rootKey = .other }.offered()).publication
        #expect(done.carriedOver.map(\.description) == ["production 1"])

        let raised = try wentBack(to: 2)
        try raised.write([], to: URLLayout.metadata("production", version: 1 << 53 - 1))
        #expect(try raised.take(try rotated.offered(), key: .other).publication.carriedOver.map(\.version) == [2])
    }

    /// Signs a dial with the online key, and puts it where the server would.
    private func turn(_ server: TestingServer, _ rows: [Dial.Row]) throws -> String {
        let dial = Dial(app: ReleaseFactory.app, channel: production, rows: rows).json.fileBytes
        let path = URLLayout.target(.dial(production), sha256: SHA256Digest(of: dial))
        try server.write(dial, to: path)
        try server.overwriteTree(
            channelVersion: 2,
            snapshot: 9,
            timestamp: 9,
            dial: 9,
            contents: second,
            dials: [.dial(production): TargetFile(of: dial)]
        )
        return path
    }

    private var rows: [Dial.Row] {
        [("fix-a", true), ("fix-b", false)].map { id, paused in
            Dial.Row(
                patchID: named(id),
                sha256: SHA256Digest(of: Array(id.utf8)),
                rollout: 10_000,
                paused: paused,
                reason: nil
            )
        }
    }

    @Test
    func `is every dial with rows, which are told`() throws {
        let server = try wentBack(to: 2)
        _ = try turn(server, rows)
        let done = try server.take(try rotated.offered(), key: .other).publication
        #expect(done.carriedDials.map(\.channel) == [production])
        #expect(done.carriedDials.map(\.rows) == [rows])
        #expect(done.carriedDials.map(\.paused) == [1])

        let plain = try wentBack(to: 2).take(try rotated.offered(), key: .other).publication
        #expect(plain.carriedDials.isEmpty)
    }

    @Test
    func `is a dial that cannot be read, too, so that nobody stops the change of keys with it`() throws {
        let server = try wentBack(to: 2)
        try server.write([], to: try turn(server, rows))
        let done = try server.take(try rotated.offered(), key: .other).publication
        #expect(done.carriedDials.map(\.channel) == [production])
        #expect(done.carriedDials.map(\.rows) == [nil])
    }

    @Test
    func `is not a channel that was dropped before`() throws {
        let server = try wentBack(to: 2)
        let dropping = TrustPlan().next {
            ($0.targetsVersion, $0.online) = (2, .other)
            $0.channels.removeFirst()
        }
        #expect(try server.take(try dropping.offered(), key: .other).publication.dropped.map(\.version) == [2])
        let back = dropping.next {
            ($0.targetsVersion, $0.online) = (3, .online)
            $0.channels = TrustPlan().channels
        }
        let done = try server.take(try back.offered(), key: .online).publication
        #expect(done.restartsVersions && done.carriedOver.isEmpty)
    }
}
