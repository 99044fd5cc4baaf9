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

@Suite("A newer root of trust after a theft")
struct TrustRecoveryTests {
    private static let last = 1 << 53 - 1
    private let plan = TrustPlan()
    private let production = ReleaseFactory.production
    private let beta = ReleaseFactory.beta

    /// The release key `production` and the online key are replaced.
    private var rotated: TrustPlan {
        plan.next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels[0].keys = [.second]
        }
    }

    private func server() throws -> TestingServer {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let contents = ReleaseFactory.Contents(scripts: ["only-beta": ("1", "one")], web: nil)
        try server.publish(
            try server.factory.release(contents, on: server.repository, channel: beta, signedBy: [.beta])
        )
        return server
    }

    private var changed: ReleaseFactory.Contents {
        ReleaseFactory.Contents(
            scripts: ["fix-cart-total": ("2", "cart.total = 2;")],
            web: ("1.0.1", ["index.html": "<p>two</p>"])
        )
    }

    @Test
    func `with another online key keeps it as it was read, and refuses the old one from then on`() throws {
        let server = try server()
        let offered = try plan.next { ($0.targetsVersion, $0.online) = (2, .other) }.offered()
        let done = try server.take(offered, key: .other).publication
        #expect(done.restartsVersions)
        let stored = try server.files.read(server.repository.onlineKeyFile, limit: Limits.keyFile)
        let file = String(decoding: try TestingKey.other.online.bytes, as: UTF8.self)
        #expect(file.hasSuffix(String(decoding: stored, as: UTF8.self)))
        #expect(throws: ServerError.notOnlineKey(role: "timestamp", belongsTo: nil)) {
            try server.refresh(at: server.factory.now)
        }
        let versions = try RefreshRoles(
            of: server.repository,
            signing: try server.onlineKey(.other),
            at: server.factory.now
        ).run()
        #expect((versions.timestamp, versions.snapshot, versions.dial) == (5, 5, 4))
    }

    @Test
    func `publishes the release signed again in the same step`() throws {
        let server = try server()
        let offered = try plan.next { ($0.targetsVersion, $0.channels[0].keys) = (2, [.second]) }.offered()
        let release = try server.factory.release(on: server.repository, signedBy: [.second])
        let done = try server.take(offered, releases: [release]).publication
        #expect(done.published.map(\.description) == ["production 2"])
        let state = try PublishedState(of: server.repository)
        #expect((state.timestamp.header.version, state.snapshot.header.version) == (4, 4))
        #expect((state.version(of: production), state.version(of: beta)) == (2, 1))
        #expect(try server.take(offered, releases: [release]) == .alreadyCurrent(root: 2, targets: 2, .nothing))
    }

    @Test
    func `takes no release under a number that caches know with other bytes`() throws {
        let server = try server()
        let offered = try rotated.offered()
        let before = try server.everything()
        let again = try server.factory.release(base: nil, signedBy: [.second])
        #expect(throws: ServerError.trust(.versionUsed("production", version: 1))) {
            try server.take(offered, key: .other, releases: [again])
        }
        let other = try server.factory.release(changed, base: nil, signedBy: [.second])
        #expect(throws: ServerError.trust(.versionUsed("production", version: 1))) {
            try server.take(offered, key: .other, releases: [other])
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `takes no release that does not fit`() throws {
        let server = try server()
        let offered = try plan.next { ($0.targetsVersion, $0.channels[0].keys) = (2, [.second]) }.offered()
        let before = try server.everything()
        func expect(_ error: ServerError, _ releases: [SignedRelease], location: SourceLocation = #_sourceLocation) {
            #expect(throws: error, sourceLocation: location) { try server.take(offered, releases: releases) }
        }
        let right = try server.factory.release(on: server.repository, signedBy: [.second])
        expect(.trust(.twoReleases(production)), [right, right])
        expect(
            .release(.trust(.threshold(role: "production", valid: 0, needed: 1))),
            [try server.factory.release(on: server.repository, signedBy: [.production])]
        )
        expect(
            .conflict(.outdated(channel: production, base: 6, current: 1)),
            [try server.factory.release(base: ReleaseFactory.base(6), signedBy: [.second])]
        )
        let canary: ChannelName = named("canary")
        expect(
            .release(.trust(.notDelegated(role: "canary"))),
            [right, try server.factory.release(base: nil, channel: canary, signedBy: [.other])]
        )
        #expect(try server.everything() == before)
    }

    @Test
    func `leads back from the highest versions there are, without using a number twice`() throws {
        let server = try server()
        try server.overwriteTree(
            channelVersion: Self.last,
            snapshot: Self.last,
            timestamp: Self.last,
            dial: Self.last,
            contents: changed
        )
        #expect(try PublishedState(of: server.repository).version(of: production) == Self.last)
        let exhausted = ServerError.exhausted(ReleaseFactory.app, role: "dial")
        #expect(throws: exhausted) {
            try server.refresh(at: server.factory.now)
        }

        let before = try server.everything()
        let release = try server.factory.release(base: ReleaseFactory.base(1), signedBy: [.second])
        let done = try server.take(try rotated.offered(), key: .other, releases: [release]).publication
        #expect(done.restartsVersions)
        #expect((done.roles.timestamp, done.roles.snapshot, done.roles.dial) == (1, 4, 4))
        let state = try PublishedState(of: server.repository)
        #expect((state.version(of: production), state.version(of: beta)) == (2, 1))
        let after = try server.everything()
        #expect(
            before.allSatisfy { path, bytes in
                after[path] == bytes || path.hasSuffix("/timestamp.json") || path.contains("/srv/apps/")
            }
        )

        let other = try TestingServer(server, key: .other)
        try other.refresh(at: server.factory.now)
        try other.publish(try server.factory.release(changed, on: server.repository, signedBy: [.second]))
        #expect(try PublishedState(of: server.repository).version(of: production) == 3)
    }

    @Test
    func `needs new keys for snapshot and timestamp to lead back`() throws {
        let server = try server()
        try server.overwriteTree(channelVersion: Self.last, snapshot: 9, timestamp: 9, dial: 9, contents: changed)
        let offered = try plan.next { ($0.targetsVersion, $0.channels[0].keys) = (2, [.second]) }.offered()
        let release = try server.factory.release(base: ReleaseFactory.base(1), signedBy: [.second])
        #expect(throws: ServerError.conflict(.outdated(channel: production, base: 1, current: Self.last))) {
            try server.take(offered, releases: [release])
        }
    }

    @Test
    func `forgets the thief's labels and keeps all others`() throws {
        let server = try server()
        var stolen = changed
        stolen.web = ("1.0.1", ["index.html": "<p>evil</p>"])
        try server.overwriteTree(channelVersion: 1_000, snapshot: 9, timestamp: 9, dial: 9, contents: .init())
        try server.publish(try server.factory.release(stolen, on: server.repository))
        #expect(try PublishedState(of: server.repository).version(of: production) == 1_001)

        let offered = try rotated.offered()
        let clash = try server.factory.release(
            ReleaseFactory.Contents(web: ("1.0.0", ["index.html": "<p>other</p>"])),
            base: ReleaseFactory.base(1),
            signedBy: [.second]
        )
        let fault = EntryFault(entry: "web 1.0.0", rule: .republished)
        #expect(throws: ServerError.release(.trust(.entry(fault)))) {
            try server.take(offered, key: .other, releases: [clash])
        }
        let honest = try server.factory.release(changed, base: ReleaseFactory.base(1), signedBy: [.second])
        _ = try server.take(offered, key: .other, releases: [honest])
        #expect(try PublishedState(of: server.repository).version(of: production) == 2)
    }

    @Test
    func `drops a channel with the old online key, and takes it back on any base later`() throws {
        let server = try server()
        let offered = try plan.next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels.removeLast()
        }.offered()
        let done = try server.take(offered, key: .other).publication
        #expect(done.dropped.map(\.description) == ["beta 1"])
        let state = try PublishedState(of: server.repository)
        #expect(state.channels.keys.map(\.text) == ["production"])
        #expect(state.dial.targets.keys.map(\.text) == ["dial/production.json"])

        let other = try TestingServer(server, key: .other)
        // A publish in between must not forget the labels of the dropped channel.
        try other.publish(try server.factory.release(changed, on: server.repository))
        let third = plan.next { $0.online = .other }.next { $0.targetsVersion = 3 }
        _ = try other.take(try third.offered(), key: .other)
        func publish(_ contents: ReleaseFactory.Contents, base: Int?) throws {
            let release = try server.factory.release(
                contents,
                base: base.map(ReleaseFactory.base),
                channel: beta,
                signedBy: [.beta]
            )
            try other.publish(release)
        }
        #expect(throws: ServerError.conflict(.versionUsed(channel: beta, version: 1))) {
            try publish(changed, base: nil)
        }
        let clash = ReleaseFactory.Contents(scripts: ["only-beta": ("1", "two")], web: nil)
        let fault = EntryFault(entry: "only-beta 1", rule: .republished)
        #expect(throws: ServerError.republished(fault, difference: "other bytes, 3 as before")) {
            try publish(clash, base: 7)
        }
        try publish(changed, base: 7)
        #expect(try PublishedState(of: server.repository).version(of: beta) == 8)
    }
}
