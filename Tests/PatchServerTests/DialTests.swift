import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import ServerTesting
import Testing

@Suite("A dial that is turned")
struct DialTests {
    private let production = ReleaseFactory.production
    private let fix: PatchID = named("fix-cart-total")
    private let web: PatchID = named("web")

    /// Two versions of a script that are signed for half of the devices, and a bundle for everybody.
    private func server(files: FaultyFiles = FaultyFiles()) throws -> TestingServer {
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(contents(), on: server.repository))
        return server
    }

    /// What a release of these versions of the script, the first one first, says of the dial.
    private func lapses(_ server: TestingServer, publishing versions: String...) throws -> [String] {
        let scripts = versions.map { ("fix-cart-total", $0, "cart.total = \($0);") }
        let contents = ReleaseFactory.Contents(
            scripts: ["fix-cart-total": (versions[0], scripts[0].2)],
            earlier: Array(scripts.dropFirst()),
            rules: ["fix-cart-total": PatchRules(rollout: 5_000)]
        )
        let outcome = try server.publish(try server.factory.release(contents, on: server.repository))
        guard case .published(let done) = outcome else { return ["not published"] }
        let hint = DialLapse.hint(done.lapses, in: production)
        return done.heldBack.map(\.holdWords) + done.lapses.map(\.words) + [hint].compactMap(\.self)
    }

    @Test
    func `is spoken of when a release ends what it held back, and not when it lists again what was listed before`()
        throws
    {
        let server = try server()
        try turn(server, DialChange(.pause, of: fix, .version(named("2")), reason: DialReason("carts are empty")))
        #expect(try lapses(server, publishing: "2", "1") == ["the dial pauses fix-cart-total 2"])
        let hint = "to pause the new first version: patchsrv dial --channel production --pause fix-cart-total@"
        #expect(
            try lapses(server, publishing: "1") == [
                "the dial paused fix-cart-total 2 (carts are empty); it is no longer listed, and the dial will not limit it "
                    + "if it is listed again"
            ]
        )
        #expect(try lapses(server, publishing: "2", "1") == [])
        try turn(server, DialChange(.rollout(1_000), of: fix, .version(named("1"))))
        #expect(try lapses(server, publishing: "1") == ["the dial holds fix-cart-total 1 at 10%; 50% are signed"])
        #expect(
            try lapses(server, publishing: "3", "1") == [
                "the dial holds fix-cart-total 1 at 10%; 50% are signed",
                "the dial does not name fix-cart-total 3, which is first now: 50% of devices may install it",
                hint + "3",
            ]
        )
        #expect(
            try lapses(server, publishing: "4", "3").last?.hasPrefix("the dial held fix-cart-total 1 at 10%") == true
        )
    }

    private func contents(ceiling: Int = 5_000) -> ReleaseFactory.Contents {
        ReleaseFactory.Contents(
            scripts: ["fix-cart-total": ("2", "cart.total = 2;")],
            earlier: [("fix-cart-total", "1", "cart.total = 1;")],
            rules: ["fix-cart-total": PatchRules(rollout: ceiling)]
        )
    }

    @discardableResult
    private func turn(
        _ server: TestingServer,
        _ changes: DialChange...,
        expecting version: Int? = nil
    ) throws(ServerError) -> DialOutcome {
        try TurnDial(
            changes,
            in: production,
            of: server.repository,
            expecting: version,
            signing: server.key,
            at: TestingServer.start.adding(.hours(1))
        ).run()
    }

    /// `web 1.0.0: 100%, paused (why)`, in list order.
    private func lines(_ state: DialState) -> [String] {
        state.versions.map {
            "\($0.patchID) \($0.version): \(RolloutShare($0.effective))" + ($0.isPaused ? ", paused" : "")
                + ($0.row?.reason.map { " (\($0))" } ?? "")
        }
    }

    @Test
    func `slows one version down, and writes a dial, its role, a snapshot and a timestamp and nothing else`() throws {
        let server = try server()
        let before = try server.everything()
        let outcome = try turn(server, DialChange(.rollout(2_500), of: fix, .version(named("2"))))
        guard case .turned(let state, let roles) = outcome else {
            Issue.record("was not turned")
            return
        }
        #expect(lines(state) == ["fix-cart-total 2: 25%", "fix-cart-total 1: 50%", "web 1.0.0: 100%"])
        #expect(try server.repository.dial(of: production) == state)
        #expect((roles.dial, roles.snapshot, roles.timestamp) == (3, 3, 3) && state.version == 3)

        let after = try server.everything()
        let tree = server.folder.tree(of: server.repository.app).string
        let changed = after.filter { before[$0.key] != $0.value }.keys.sorted()
        #expect(changed.count == 4 && changed.allSatisfy { $0.hasPrefix(tree) })
        #expect(
            changed.dropLast().map { $0.dropFirst(tree.count) } == [
                "/metadata/3.dial.json", "/metadata/3.snapshot.json", "/metadata/timestamp.json",
            ]
        )
        #expect(changed.last?.contains("/targets/dial/") == true)
        #expect(before.keys.allSatisfy { after[$0] != nil })
        #expect(try PublishedState(of: server.repository).version(of: production) == 1)
    }

    @Test
    func `pauses every version of a patch, and resumes each with the share that it had`() throws {
        let server = try server()
        try turn(server, DialChange(.rollout(1_250), of: fix, .version(named("1"))))
        let paused = try turn(server, DialChange(.pause, of: fix, reason: DialReason("carts are empty")))
        #expect(
            lines(paused.state) == [
                "fix-cart-total 2: 50%, paused (carts are empty)", "fix-cart-total 1: 12.5%, paused (carts are empty)",
                "web 1.0.0: 100%",
            ]
        )
        let resumed = try turn(server, DialChange(.resume, of: fix))
        #expect(lines(resumed.state) == ["fix-cart-total 2: 50%", "fix-cart-total 1: 12.5%", "web 1.0.0: 100%"])
        #expect(resumed.state.versions.map { $0.row == nil } == [true, false, true])
    }

    @Test
    func `does several things at once, or none of them`() throws {
        let server = try server()
        let content = try #require(try server.repository.dial(of: production).versions.first)
        let done = try turn(
            server,
            DialChange(.pause, of: web),
            DialChange(.rollout(0), of: fix, .content(content.sha256))
        )
        #expect(lines(done.state) == ["fix-cart-total 2: 0%", "fix-cart-total 1: 50%", "web 1.0.0: 100%, paused"])
        let before = try server.everything()
        #expect(throws: ServerError.dial(.notListed(production, "web@9"))) {
            try turn(server, DialChange(.resume, of: web), DialChange(.pause, of: web, .version(named("9"))))
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `goes up to the signed ceiling and not above it`() throws {
        let server = try server()
        try turn(server, DialChange(.rollout(100), of: fix))
        #expect(lines(try turn(server, DialChange(.rollout(5_000), of: fix)).state).first == "fix-cart-total 2: 50%")
        let before = try server.everything()
        let refusal = DialRefusal.aboveCeiling(fix, named("2"), asked: 5_001, ceiling: 5_000)
        #expect(throws: ServerError.dial(refusal)) { try turn(server, DialChange(.rollout(5_001), of: fix)) }
        #expect(refusal.description == "fix-cart-total 2 is signed for 50% of devices, so 50.01% is too much")
        #expect(try server.everything() == before)
    }

    @Test
    func `opens a version to so many devices, to more of them, and never to fewer`() throws {
        let server = try server()
        func counts(_ state: DialState) -> [Int?] { state.versions.map { $0.row?.headcount } }
        let first = try turn(
            server,
            DialChange(.headcount(2), of: fix, .version(named("2")), reason: DialReason("few"))
        )
        #expect(counts(first.state) == [2, nil, nil] && first.state.hasHeadcounts)
        #expect(counts(try turn(server, DialChange(.headcount(4), of: fix)).state) == [4, 4, nil])
        let before = try server.everything()
        let refusal = DialRefusal.headcountLowered(fix, named("2"), asked: 3, current: 4)
        #expect(throws: ServerError.dial(refusal)) { try turn(server, DialChange(.headcount(3), of: fix)) }
        #expect(
            refusal.description
                == "fix-cart-total 2 is open to 4 devices, and a head-count can only be raised: 3 is less"
        )
        guard case .unchanged = try turn(server, DialChange(.headcount(4), of: fix)) else {
            Issue.record("signed the same again")
            return
        }
        #expect(try server.everything() == before)
        // What else is turned leaves it.
        let paused = try turn(server, DialChange(.pause, of: fix), DialChange(.rollout(100), of: fix))
        #expect(counts(paused.state) == [4, 4, nil])
        try server.publish(try server.factory.release(contents(ceiling: 9_000), on: server.repository))
        #expect(counts(try server.repository.dial(of: production)) == [4, 4, nil], "a release keeps it")
        let counted = paused.state.counting { _, _ in 3 }
        #expect(counted.versions.map(\.placesTaken) == [3, 3, nil])
    }

    @Test
    func `signs nothing when it says so already`() throws {
        let server = try server()
        try turn(server, DialChange(.pause, of: web, reason: DialReason("why")))
        let before = try server.everything()
        for change in [
            DialChange(.pause, of: web), DialChange(.pause, of: web, reason: DialReason("why")),
            DialChange(.resume, of: fix), DialChange(.rollout(10_000), of: web),
        ] {
            let outcome = try turn(server, change)
            #expect(outcome == .unchanged(try server.repository.dial(of: production)))
        }
        #expect(try server.everything() == before)
        let other = try turn(server, DialChange(.pause, of: web, reason: DialReason("another why")))
        #expect(lines(other.state).last == "web 1.0.0: 100%, paused (another why)")
    }

    @Test
    func `is not turned by two operators who looked at the same one`() throws {
        let server = try server()
        let seen = try server.repository.dial(of: production).version
        try turn(server, DialChange(.pause, of: web), expecting: seen)
        let before = try server.everything()
        #expect(throws: ServerError.dial(.outdated(expected: seen, current: seen + 1))) {
            try turn(server, DialChange(.rollout(1), of: web), expecting: seen)
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `keeps the rows of what the next release lists, and drops the others`() throws {
        let server = try server()
        try turn(server, DialChange(.pause, of: fix, reason: DialReason("why")), DialChange(.rollout(7), of: web))
        var next = contents(ceiling: 10_000)
        next.earlier = []
        try server.publish(try server.factory.release(next, on: server.repository))
        let state = try server.repository.dial(of: production)
        #expect(lines(state) == ["fix-cart-total 2: 100%, paused (why)", "web 1.0.0: 0.07%"])
        try server.publish(try server.factory.release(contents(), on: server.repository))
        let back = try server.repository.dial(of: production)
        #expect(back.versions.map { $0.row == nil } == [false, true, false])
    }

    @Test
    func `outlives a refresh, and is not signed again while it holds as long as the snapshot`() throws {
        let server = try server()
        let turned = try turn(server, DialChange(.pause, of: web)).state
        for (days, version) in [(1, turned.version), (7, turned.version), (8, turned.version + 1)] {
            try server.refresh(at: TestingServer.start.adding(.days(days)))
            let after = try server.repository.dial(of: production)
            #expect(after.versions == turned.versions && after.version == version, "day \(days)")
        }
    }

    @Test
    func `is of a channel that offers something, by the online key, while root and targets hold`() throws {
        let server = try server()
        let before = try server.everything()
        #expect(throws: ServerError.dial(.unpublished(ReleaseFactory.beta))) {
            try server.repository.dial(of: ReleaseFactory.beta)
        }
        let unknown = ServerError.noChannel(
            ReleaseFactory.app,
            named("prod"),
            known: [ReleaseFactory.beta, ReleaseFactory.production]
        )
        #expect(throws: unknown) { try server.repository.dial(of: named("prod")) }
        #expect(throws: unknown) { try server.repository.parameters(of: named("prod")) }
        #expect(unknown.description == "com.example.storefront has no channel prod")
        let other = try TestingServer(server, key: .production)
        #expect(throws: ServerError.notOnlineKey(role: "timestamp", belongsTo: "production")) {
            try turn(other, DialChange(.pause, of: web))
        }
        let late = TestingServer.start.adding(.days(365))
        #expect(throws: ServerError.ended(role: "root", expires: late, at: late)) {
            try TurnDial(
                [DialChange(.pause, of: web)],
                in: production,
                of: server.repository,
                signing: server.key,
                at: late
            ).run()
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `is read by a device as it was turned`() throws {
        let server = try server()
        try turn(server, DialChange(.pause, of: web, reason: DialReason("why")))
        let role = try PublishedState(of: server.repository).dial
        let name = TargetPath.dial(production)
        let file = try #require(role.targets[ExactString(name.text)])
        let sha256 = try file.requiredSHA256(of: name.text)
        let path = server.folder.tree(of: server.repository.app).appending(URLLayout.target(name, sha256: sha256))
        let dial = try Dial(try server.files.read(path, limit: Limits.dial))
        let content = try #require(try server.repository.dial(of: production).versions.last)
        #expect(
            dial.rows == [.init(patchID: web, sha256: content.sha256, rollout: 10_000, paused: true, reason: "why")]
        )
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `leaves the old dial or the new one when it is stopped, and can be turned again`(
        survival: FaultyFiles.Survival
    ) throws {
        let files = FaultyFiles()
        let server = try server(files: files)
        let rehearsal = files.reopened()
        let after = try turn(try server.on(rehearsal), DialChange(.pause, of: web)).state
        let before = try server.repository.dial(of: production)
        #expect(rehearsal.changes > 15)
        for change in Sweep.points(of: rehearsal.changes, every: 4, offset: survival == .lose ? 0 : 2) {
            let disk = files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try turn(try server.on(disk), DialChange(.pause, of: web)) }
            let stopped = try server.on(disk.crashed(survival))
            let found = try stopped.repository.dial(of: production)
            #expect(found == before || found == after, "stopped at change \(change)")
            _ = try AppListing(of: stopped.repository)
            #expect(try turn(stopped, DialChange(.pause, of: web)).state.versions == after.versions)
        }
    }
}
