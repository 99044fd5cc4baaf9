import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
import ServerTesting
import SystemPackage
import Testing

@testable import PatchServer

/// A release and the share of its new versions, in one step for devices.
@Suite("A release that is published with a rollout")
struct PublishedRolloutTests {
    private let production = ReleaseFactory.production
    private let fix: PatchID = named("fix-cart-total")
    private let web: PatchID = named("web")

    /// A server that offers fix-cart-total 1 and web 1.0.0 to all devices.
    private func server(files: FaultyFiles = FaultyFiles(), threshold: Int = 1) throws -> TestingServer {
        let server = try TestingServer(files: files, threshold: threshold)
        let keys: [TestingKey] = threshold == 1 ? [.production] : [.production, .second]
        try server.publish(try server.factory.release(on: server.repository, signedBy: keys))
        return server
    }

    /// fix-cart-total 2 before 1, and web as it was, unless another version is named.
    private func release(
        _ server: TestingServer,
        web version: String = "1.0.0",
        ceiling: Int = 10_000,
        signedBy keys: [TestingKey] = [.production]
    ) throws -> SignedRelease {
        var contents = ReleaseFactory.Contents(
            scripts: ["fix-cart-total": ("2", "cart.total = 2;")],
            earlier: [("fix-cart-total", "1", "cart.total = 1;")],
            rules: ["fix-cart-total": PatchRules(rollout: ceiling)]
        )
        if version != "1.0.0" { contents.web = (version, ["index.html": "<p>two</p>"]) }
        return try server.factory.release(contents, on: server.repository, signedBy: keys)
    }

    private func publish(
        _ release: SignedRelease,
        to server: TestingServer,
        _ wish: StartingRollout?,
        default usual: Int? = nil
    ) throws(ServerError) -> PublishOutcome {
        try PublishRelease(
            release,
            in: server.repository,
            rollout: ReleaseRollout(wish, default: usual),
            signing: server.key,
            at: server.factory.now
        ).run()
    }

    private func lines(_ server: TestingServer) throws -> [String] {
        try server.repository.dial(of: production).versions.map {
            "\($0.patchID) \($0.version): \($0.isPaused ? "paused at " : "")\(RolloutShare($0.effective))"
        }
    }

    private func started(_ outcome: PublishOutcome) -> [String] {
        guard case .published(let done) = outcome else { return ["not published"] }
        return done.started.map { $0.words(in: done.channel) }
    }

    @Test func `opens what it lists newly to the share, and leaves every other version`() throws {
        let server = try server()
        let outcome = try publish(try release(server), to: server, StartingRollout(all: .share(1_000)))
        #expect(
            started(outcome) == [
                "10% of devices may install fix-cart-total 2; patchsrv rollout fix-cart-total@2 SHARE --channel production "
                    + "changes it"
            ]
        )
        #expect(try lines(server) == ["fix-cart-total 2: 10%", "fix-cart-total 1: 100%", "web 1.0.0: 100%"])
        guard case .published(let done) = outcome else { return }
        #expect(done.heldBack.isEmpty && done.lapses.isEmpty)
    }

    @Test func `opens each patch to its own share, pauses it, or begins a schedule`() throws {
        let server = try server()
        let ramp = try #require(RolloutRamp(steps: [100, 2_500, 10_000], every: 21_600))
        let wish = StartingRollout(all: .paused(at: 250), patches: [fix: .ramp(ramp)])
        let outcome = try publish(try release(server, web: "2.0.0"), to: server, wish)
        #expect(
            started(outcome) == [
                "1% of devices may install fix-cart-total 2, then 25%, 100%, a step every 6h",
                "web 2.0.0 is paused; patchsrv rollout web@2.0.0 SHARE --channel production starts it",
            ]
        )
        #expect(try lines(server) == ["fix-cart-total 2: 1%", "fix-cart-total 1: 100%", "web 2.0.0: paused at 2.5%"])
    }

    @Test func `is refused whole for a patch without a new version, and above the signed share`() throws {
        let server = try server()
        let release = try release(server, ceiling: 5_000)
        let before = try server.everything()
        let ramp = try #require(RolloutRamp(steps: [100, 10_000], every: 60))
        let cases: [(StartingRollout?, DialRefusal)] = [
            (StartingRollout(all: nil, patches: [web: .share(1)]), .notNew(production, web)),
            (StartingRollout(all: .share(5_001)), .aboveCeiling(fix, named("2"), asked: 5_001, ceiling: 5_000)),
            (StartingRollout(all: .paused(at: 6_000)), .aboveCeiling(fix, named("2"), asked: 6_000, ceiling: 5_000)),
            (StartingRollout(all: .ramp(ramp)), .aboveCeiling(fix, named("2"), asked: 10_000, ceiling: 5_000)),
        ]
        for (wish, refusal) in cases {
            #expect(throws: ServerError.dial(refusal)) { try publish(release, to: server, wish) }
        }
        #expect(try server.everything() == before)
    }

    @Test func `says nothing again of a release that was published before`() throws {
        let server = try server()
        let release = try release(server)
        let wish = StartingRollout(all: nil, patches: [fix: .share(1_000)])
        _ = try publish(release, to: server, wish)
        guard case .alreadyPublished = try publish(release, to: server, wish) else {
            Issue.record("was published twice")
            return
        }
        #expect(try lines(server).first == "fix-cart-total 2: 10%")
    }

    @Test func `begins at the channel's default where nothing is said, but for what a rollback lists again`() throws {
        let server = try server()
        _ = try publish(try release(server), to: server, nil, default: 1_000)
        #expect(try lines(server) == ["fix-cart-total 2: 10%", "fix-cart-total 1: 100%", "web 1.0.0: 100%"])
        // Back to fix-cart-total 1 alone, then again to 2.
        let first = ReleaseFactory.Contents()
        _ = try publish(try server.factory.release(first, on: server.repository), to: server, nil, default: 1_000)
        #expect(try lines(server) == ["fix-cart-total 1: 100%", "web 1.0.0: 100%"])
        _ = try publish(try release(server), to: server, nil, default: 1_000)
        #expect(try lines(server).first == "fix-cart-total 2: 100%")
        let third = ReleaseFactory.Contents(scripts: ["fix-cart-total": ("3", "cart.total = 3;")])
        let next = try server.factory.release(third, on: server.repository)
        _ = try publish(next, to: server, StartingRollout(all: .share(10_000)), default: 1_000)
        #expect(try lines(server).first == "fix-cart-total 3: 100%", "what is said counts")
    }

    @Test func `may be the first of its channel`() throws {
        let server = try TestingServer()
        let first = try server.factory.release(on: server.repository)
        _ = try publish(first, to: server, StartingRollout(all: .paused(at: nil)))
        #expect(try lines(server) == ["fix-cart-total 1: paused at 100%", "web 1.0.0: paused at 100%"])
    }

    @Test func `keeps the rollout with a draft until its last signature, and a later one replaces it`() throws {
        for (later, share) in [(nil, "10%"), (StartingRollout(all: .share(2_500)), "25%")]
            as [(StartingRollout?, String)]
        {
            let server = try server(threshold: 2)
            let unsigned = try release(server, signedBy: [])
            var (one, two) = (unsigned, unsigned)
            try one.sign(with: try TestingKey.production.key, id: try TestingKey.production.signer.id)
            try two.sign(with: try TestingKey.second.key, id: try TestingKey.second.signer.id)
            guard case .drafted = try publish(one, to: server, StartingRollout(all: .share(1_000))) else {
                Issue.record("was not drafted")
                return
            }
            let draft = try #require(try server.repository.tree.draft(of: production, version: 2))
            #expect(draft.rollout == StartingRollout(all: .share(1_000)))
            _ = try publish(two, to: server, later ?? draft.rollout)
            #expect(try lines(server).first == "fix-cart-total 2: \(share)")
        }
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `is seen with its rollout or not at all, wherever it is stopped, and the next publish finishes`(
        survival: FaultyFiles.Survival
    ) throws {
        let files = FaultyFiles()
        let server = try server(files: files)
        let next = try release(server)
        let wish = StartingRollout(all: .paused(at: nil))
        let rehearsal = files.reopened()
        _ = try publish(next, to: try server.on(rehearsal), wish)
        let old = ["fix-cart-total 1: 100%", "web 1.0.0: 100%"]
        let new = ["fix-cart-total 2: paused at 100%", "fix-cart-total 1: 100%", "web 1.0.0: 100%"]
        for change in Sweep.points(of: rehearsal.changes, every: 6, offset: survival == .lose ? 0 : 3) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try publish(next, to: try server.on(disk), wish) }
            let after = try server.on(disk.crashed(survival))
            let isNew = try PublishedState(of: after.repository).version(of: production) == 2
            #expect(try lines(after) == (isNew ? new : old), "stopped at change \(change)")
            // By the default: a label that was written down before the release must not count as listed.
            _ = try publish(next, to: after, nil, default: 1_000)
            #expect(
                try lines(after).first == (isNew ? new[0] : "fix-cart-total 2: 10%"),
                "stopped at change \(change)"
            )
        }
    }
}
