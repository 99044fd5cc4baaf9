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

@Suite("A newer root of trust")
struct TrustTests {
    private let plan = TrustPlan()
    private let production = ReleaseFactory.production

    /// A server with one release of production.
    private func server() throws -> TestingServer {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        return server
    }

    @Test
    func `is taken in with what is published, and the server goes on under it`() throws {
        let server = try server()
        let before = try PublishedState(of: server.repository)
        let offered = try plan.next { $0.rootKey = .other }.offered()
        let done = try server.take(offered).publication
        #expect((done.root, done.previousRoot, done.targets, done.restartsVersions) == (2, 1, 1, false))
        #expect(done.published.isEmpty && done.dropped.isEmpty)

        let after = try PublishedState(of: server.repository)
        #expect(after.root.header.version == 2)
        #expect(after.timestamp.header.version == before.timestamp.header.version + 1)
        #expect(after.snapshot.files["production"] == before.snapshot.files["production"])
        #expect(after.snapshot.files["targets"] == before.snapshot.files["targets"])
        #expect(try server.treeFiles().isSuperset(of: ["metadata/1.root.json", "metadata/2.root.json"]))

        try server.refresh(at: server.factory.now)
        let next = try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository)
        try server.publish(next)
        #expect(try AppListing(of: server.repository).roles.first?.version == 2)
        #expect(try AppListing(of: server.repository).channels.first?.version == 2)
    }

    @Test
    func `is taken in once, and puts back what was lost when it comes again`() throws {
        let server = try server()
        let offered = try plan.next { $0.rootKey = .other }.offered()
        _ = try server.take(offered)
        let before = try server.everything()
        #expect(try server.take(offered) == .alreadyCurrent(root: 2, targets: 1, .nothing))
        #expect(try server.everything() == before)

        let tree = server.folder.tree(of: server.repository.app)
        for path in [tree.appending("metadata/1.targets.json"), server.repository.onlineKeyFile] {
            try server.files.remove(path)
        }
        guard case .alreadyCurrent(2, 1, let change) = try server.take(offered) else {
            Issue.record("was not current")
            return
        }
        #expect(change.files == 2)
        #expect(try server.everything() == before)
    }

    @Test
    func `heals a root that the tree lost`() throws {
        let server = try server()
        let second = plan.next { $0.rootKey = .other }
        let offered = try TrustUpload(
            root: try second.next().root(signedBy: [.other]),
            earlier: [2: try second.root()],
            targets: try second.targets()
        )
        _ = try server.take(offered)
        let path = server.folder.tree(of: server.repository.app).appending("metadata/2.root.json")
        let bytes = try server.files.read(path, limit: Limits.root)
        try server.files.remove(path)
        try server.files.write(Array("damaged".utf8), to: path)
        _ = try server.take(offered)
        #expect(try server.files.read(path, limit: Limits.root) == bytes)
        #expect(try PublishedState(of: server.repository).root.header.version == 3)
    }

    @Test
    func `may be three versions ahead, with every one in between`() throws {
        let server = try server()
        let (second, third) = (plan.next(), plan.next().next())
        let done = try server.take(try third.next().offered(after: [plan, second, third])).publication
        #expect(done.root == 4)
        #expect(try PublishedState(of: server.repository).root.header.version == 4)
    }

    @Test
    func `brings a channel that can be published to at once`() throws {
        let server = try server()
        let offered = try plan.next {
            $0.targetsVersion = 2
            $0.channels.append(("canary", [.other]))
        }.offered()
        _ = try server.take(offered)
        let canary: ChannelName = named("canary")
        try server.publish(try server.factory.release(on: server.repository, channel: canary, signedBy: [.other]))
        #expect(try PublishedState(of: server.repository).version(of: canary) == 1)
        #expect(try PublishedState(of: server.repository).version(of: production) == 1)
    }

    @Test
    func `ends a channel for good, and the snapshot goes on to name its last version`() throws {
        let server = try server()
        let row = try PublishedState(of: server.repository).snapshot.files["production"]
        let ended = plan.next {
            ($0.targetsVersion, $0.retired) = (2, ["production"])
            $0.channels.removeFirst()
        }
        let done = try server.take(try ended.offered()).publication
        #expect(done.retired.map(\.description) == ["production 1"])
        #expect(done.dropped.isEmpty && done.carriedOver.isEmpty)
        let state = try PublishedState(of: server.repository)
        #expect(row != nil && state.snapshot.files["production"] == row)
        #expect(state.channels.isEmpty && state.dial.targets.isEmpty)
        #expect(state.expiries.map(\.role) == ["root", "targets", "dial", "snapshot", "timestamp"])
        try server.refresh(at: server.factory.now)
        #expect(try PublishedState(of: server.repository).snapshot.files["production"] == row)

        let later = try server.take(try ended.next { $0.targetsVersion = 3 }.offered(after: [ended])).publication
        #expect(later.retired.isEmpty && later.dropped.isEmpty)
        #expect(throws: ServerError.trust(.older("targets", offered: 1, current: 3))) {
            try server.take(try plan.next().next().next().offered(after: [ended, ended.next()]))
        }
        #expect(throws: ServerError.trust(.channelRetired(production))) {
            try server.take(
                try ended.next().next {
                    ($0.targetsVersion, $0.retired, $0.channels) = (4, [], plan.channels)
                }.offered(after: [ended, ended.next()])
            )
        }
        #expect(throws: ServerError.trust(.channelVanished("production"))) {
            try server.take(
                try ended.next().next { ($0.targetsVersion, $0.retired) = (4, []) }.offered(after: [
                    ended, ended.next(),
                ])
            )
        }
    }

    /// What is refused, and why; nothing is written.
    private struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let error: ServerError
        var published: @Sendable (TrustPlan) -> TrustPlan? = { _ in nil }
        let offered: @Sendable (TrustPlan) throws -> TrustUpload
    }

    private static let now = TestingServer.start

    private static let refusals: [Refusal] = [
        Refusal(testDescription: "a gap", error: .trust(.missingRoot(version: 2))) {
            try $0.next().next().offered()
        },
        Refusal(
            testDescription: "an older root",
            error: .trust(.older("root", offered: 1, current: 2)),
            published: { $0.next() },
            offered: { try $0.offered() }
        ),
        Refusal(
            testDescription: "another root of a version that is published",
            error: .trust(.forked("root", version: 2)),
            published: { $0.next() },
            offered: { try $0.next { $0.rootKey = .other }.offered() }
        ),
        Refusal(testDescription: "another first root", error: .trust(.forked("root", version: 1))) { plan in
            var other = plan
            other.rootExpires = now.adding(.days(300))
            return try plan.next().offered(after: [other])
        },
        Refusal(
            testDescription: "a root that its predecessor did not sign",
            error: .trust(.untrusted(document: "2.root.json", .threshold(role: "root", valid: 0, needed: 1)))
        ) { plan in
            let next = plan.next { $0.rootKey = .other }
            return try TrustUpload(root: try next.root(signedBy: []), targets: try next.targets())
        },
        Refusal(
            testDescription: "a root that did not sign itself",
            error: .trust(.untrusted(document: "2.root.json", .threshold(role: "root", valid: 0, needed: 1)))
        ) { plan in
            let next = plan.next { $0.rootKey = .other }
            var envelope = try Envelope(try next.root(), role: "root", limit: Limits.root)
            envelope = try Envelope(role: "root", signing: envelope.signed).signed(by: [.root])
            return try TrustUpload(root: envelope.fileBytes, targets: try next.targets())
        },
        Refusal(
            testDescription: "a root of another app",
            error: .trust(.otherApp(found: named("com.example.other"), expected: ReleaseFactory.app))
        ) {
            try $0.next { $0.app = named("com.example.other") }.offered()
        },
        Refusal(
            testDescription: "an expired root",
            error: .setup(
                document: "root.json",
                rule: "is not trusted: root: expired at \(now) (now \(now))"
            )
        ) {
            try $0.next { $0.rootExpires = now }.offered()
        },
        Refusal(
            testDescription: "an expired targets role",
            error: .setup(document: "targets.json", rule: "expired at \(now)")
        ) {
            try $0.next { ($0.targetsVersion, $0.targetsExpires) = (2, now) }.offered()
        },
        Refusal(
            testDescription: "targets that the new root's keys did not sign",
            error: .setup(
                document: "targets.json",
                rule: "is not trusted: targets: 0 valid signatures of 1 needed"
            )
        ) { plan in
            let next = plan.next { $0.targetsKey = .other }
            return try TrustUpload(root: try next.root(), targets: try plan.targets())
        },
        Refusal(testDescription: "other targets of one version", error: .trust(.forked("targets", version: 1))) {
            try $0.next { $0.channels.removeLast() }.offered()
        },
        Refusal(
            testDescription: "older targets",
            error: .trust(.older("targets", offered: 1, current: 2)),
            published: { $0.next { $0.targetsVersion = 2 } },
            offered: { try $0.next().next().offered(after: [$0, $0.next()]) }
        ),
        Refusal(
            testDescription: "targets without a dial",
            error: .setup(document: "targets.json", rule: "does not delegate the dial")
        ) {
            try $0.next { ($0.targetsVersion, $0.hasDial) = (2, false) }.offered()
        },
        Refusal(
            testDescription: "an online key that may sign for a channel",
            error: .notOnlineKey(role: "timestamp", belongsTo: "beta")
        ) {
            try $0.next { ($0.targetsVersion, $0.channels[1].keys) = (2, [.beta, .online]) }.offered()
        },
        Refusal(testDescription: "another online key that is not given", error: .trust(.otherOnlineKey)) {
            try $0.next { ($0.targetsVersion, $0.online) = (2, .other) }.offered()
        },
        Refusal(
            testDescription: "a channel that is published and has other keys now",
            error: .trust(
                .channelUntrusted(
                    ReleaseFactory.production,
                    version: 1,
                    .threshold(role: "production", valid: 0, needed: 1)
                )
            )
        ) {
            try $0.next { ($0.targetsVersion, $0.channels[0].keys) = (2, [.second]) }.offered()
        },
        Refusal(testDescription: "a channel that is published and gone", error: .trust(.channelVanished("production")))
        {
            try $0.next {
                $0.targetsVersion = 2
                $0.channels.removeFirst()
            }.offered()
        },
    ]

    @Test(arguments: refusals)
    private func `is refused, and nothing changes, for`(_ refusal: Refusal) throws {
        let server = try server()
        if let published = refusal.published(plan) { _ = try server.take(try published.offered()) }
        let before = try server.everything()
        let offered = try refusal.offered(plan)
        #expect(throws: refusal.error) { try server.take(offered) }
        #expect(try server.everything() == before)
    }

    @Test
    func `of testing keys is refused without permission`() throws {
        let server = try server()
        let strict = try AppRepository(ReleaseFactory.app, in: server.folder, files: server.files)
        let offered = try plan.next().offered()
        #expect(throws: ServerError.testingKey("root")) {
            try TakeTrust(offered, in: strict, onlineKey: server.key, at: server.factory.now).run()
        }
    }

    @Test
    func `is read from its folder: the newest root, those before it, and targets`() throws {
        let server = try server()
        let folder = FilePath("/keys")
        try server.files.makeDirectory(folder)
        let (second, third) = (plan.next(), plan.next().next())
        for (name, bytes) in [
            ("root.json", try third.root()), ("1.root.json", try plan.root()), ("2.root.json", try second.root()),
            ("3.root.json", try third.root()), ("targets.json", try third.targets()), ("root.key", []),
        ] {
            try server.files.write(bytes, to: folder.appending(name))
        }
        let offered = try TrustUpload(folder: folder, files: server.files)
        #expect((offered.version, offered.app) == (3, ReleaseFactory.app))
        #expect(try server.take(offered).publication.root == 3)

        try server.files.remove(folder.appending("3.root.json"))
        try server.files.write(try second.root(), to: folder.appending("3.root.json"))
        #expect(throws: ServerError.trust(.forked("root", version: 3))) {
            try TrustUpload(folder: folder, files: server.files)
        }
    }
}
