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

@Suite("Collecting garbage")
struct GarbageTests {
    private let production = ReleaseFactory.production
    private let everything = GarbageRule(keep: 0, protect: .zero)

    /// A server whose disk dates files as its clock says.
    private struct Fixture {
        let files = FaultyFiles()
        let server: TestingServer
        private(set) var hours = 0

        var now: UTCTime { TestingServer.start.adding(.hours(hours)) }

        init(threshold: Int = 1) throws {
            files.setClock(to: TestingServer.start.seconds)
            server = try TestingServer(files: files, threshold: threshold)
        }

        mutating func wait(hours count: Int) {
            hours += count
            files.setClock(to: now.seconds)
        }

        /// A version of the bundle with one file of its own and one that all have.
        func contents(_ number: Int) -> ReleaseFactory.Contents {
            ReleaseFactory.Contents(
                web: ("1.0.\(number)", ["index.html": "<p>all</p>", "app/main.js": "console.log(\(number));"])
            )
        }

        func object(_ number: Int) -> String {
            URLLayout.object(SHA256Digest(of: Array("console.log(\(number));".utf8)))
        }

        @discardableResult
        func publish(_ number: Int, signedBy keys: [TestingKey] = [.production]) throws -> PublishOutcome {
            let release = try server.factory.release(contents(number), on: server.repository, signedBy: keys)
            return try PublishRelease(release, in: server.repository, signing: server.key, at: now).run()
        }

        func refresh() throws {
            try server.refresh(at: now)
        }

        @discardableResult
        func collect(_ rule: GarbageRule, at clock: UTCTime? = nil) throws -> CollectGarbage.Tally {
            var collection = CollectGarbage(server.repository, by: rule, at: clock ?? now)
            while try collection.step() {}
            return collection.removed
        }

        func roles(_ name: String) throws -> [Int] {
            try server.treeFiles().compactMap { path in
                guard path.hasSuffix(".\(name).json"), path.hasPrefix("metadata/") else { return nil }
                return Int(path.dropFirst("metadata/".count).prefix { $0 != "." })
            }.sorted()
        }

        func check() throws -> [TreeFault] { try server.check().faults }
    }

    @Test
    func `takes nothing of what was current within the protected time`() throws {
        var fixture = try Fixture()
        for number in 1...3 {
            fixture.wait(hours: 10)
            try fixture.publish(number)
        }
        let before = try fixture.server.everything()
        #expect(try fixture.collect(GarbageRule(keep: 0, protect: .hours(48))) == CollectGarbage.Tally())
        #expect(try fixture.server.everything() == before)
    }

    @Test
    func `takes superseded metadata once it is superseded as long as that, by what was signed since`() throws {
        var fixture = try Fixture()
        for _ in 1...12 {
            fixture.wait(hours: 6)
            try fixture.refresh()
        }
        // Version 13 is current since hour 72; n was superseded at hour 6n.
        try fixture.collect(GarbageRule())
        #expect(try fixture.roles("snapshot") == Array(5...13))
        // It says the same all the time.
        #expect(try fixture.roles("dial") == [1])
        #expect((try fixture.roles("root"), try fixture.roles("targets")) == ([1], [1]))
        #expect(try fixture.check() == [])
    }

    @Test
    func `keeps the newest superseded releases whole, and takes what only older ones had`() throws {
        var fixture = try Fixture()
        for number in 1...6 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        for _ in 0..<4 {
            fixture.wait(hours: 25)
            try fixture.refresh()
        }
        let removed = try fixture.collect(GarbageRule(keep: 2))
        #expect(removed.rows["production"]?.count == 3)
        #expect(removed.rows["object"]?.count == 3)
        #expect(removed.rows["target"]?.count == 9)
        #expect(try fixture.roles("production") == [4, 5, 6])
        let tree = try fixture.server.treeFiles()
        #expect((1...6).filter { tree.contains(fixture.object($0)) } == [4, 5, 6])
        #expect(
            try fixture.server.files.list(fixture.server.treePath("targets/production/web")) == [
                "1.0.4", "1.0.5", "1.0.6",
            ]
        )
        #expect(try fixture.check() == [])

        // Going back leans on objects that the tree kept.
        let back = try fixture.server.factory.release(fixture.contents(4), on: fixture.server.repository)
        let lean = SignedRelease(header: back.header, role: back.role, targets: back.targets, objects: [:])
        try fixture.server.publish(lean)
        #expect(try fixture.check() == [])
    }

    @Test
    func `takes nothing that a channel shares with another`() throws {
        var fixture = try Fixture()
        try fixture.publish(1)
        try fixture.server.publish(
            try fixture.server.factory.release(
                fixture.contents(1),
                on: fixture.server.repository,
                channel: ReleaseFactory.beta,
                signedBy: [.beta]
            )
        )
        fixture.wait(hours: 1)
        try fixture.publish(2)
        try fixture.collect(everything)
        #expect(try fixture.server.treeFiles().contains(fixture.object(1)))
        #expect(try fixture.roles("production") == [2])
        #expect(try fixture.check() == [])
    }

    @Test
    func `takes nothing early by a clock that jumped ahead`() throws {
        var fixture = try Fixture()
        try fixture.publish(1)
        fixture.wait(hours: 1)
        try fixture.publish(2)
        let before = try fixture.server.everything()
        try fixture.collect(GarbageRule(keep: 0), at: fixture.now.adding(.days(400)))
        #expect(try fixture.server.everything() == before)
    }

    @Test
    func `leaves what an interrupted publish wrote until it is old, and its numbers for good`() throws {
        var fixture = try Fixture()
        try fixture.publish(1)
        fixture.wait(hours: 50)
        let next = try fixture.server.factory.release(fixture.contents(2), on: fixture.server.repository)
        let rehearsal = fixture.files.reopened()
        try fixture.server.on(rehearsal).publish(next)
        let disk = fixture.files.reopened(failingAtChange: rehearsal.changes - 4)
        #expect(throws: ServerError.self) { try fixture.server.on(disk).publish(next) }
        let live = disk.reopened()
        let server = try fixture.server.on(live)
        #expect(try PublishedState(of: server.repository).version(of: production) == 1)
        let left = try server.treeFiles()
        #expect(left.contains("metadata/2.production.json") && left.contains(fixture.object(2)))

        func collect(at now: UTCTime, _ rule: GarbageRule) throws {
            live.setClock(to: now.seconds)
            try server.refresh(at: now)
            var collection = CollectGarbage(server.repository, by: rule, at: now)
            while try collection.step() {}
        }
        try collect(at: fixture.now, GarbageRule(keep: 0))
        #expect(try server.treeFiles().isSuperset(of: left.filter { !$0.hasPrefix("metadata/") }))
        // By one signature it is not old yet: the clock may be wrong.
        try collect(at: fixture.now.adding(.hours(200)), GarbageRule(keep: 0))
        #expect(try server.treeFiles().contains(fixture.object(2)))
        for hours in [224, 248, 272] { try collect(at: fixture.now.adding(.hours(hours)), GarbageRule(keep: 0)) }
        let tree = try server.treeFiles()
        #expect(tree.contains("metadata/2.production.json") && !tree.contains(fixture.object(2)))
        #expect(try server.check().faults == [])
        guard case .published = try server.publish(next) else {
            Issue.record("was not published")
            return
        }
        #expect(try server.check().faults == [])
    }

    @Test
    func `leaves what a draft leans on, and takes drafts that came too late`() throws {
        var fixture = try Fixture(threshold: 2)
        try fixture.publish(1, signedBy: [.production, .second])
        try fixture.publish(2, signedBy: [.production])
        let draft = fixture.server.folder.drafts(of: ReleaseFactory.app, channel: production)
        #expect(try fixture.files.list(draft) == ["2"])
        let late = draft.appending("1")
        let release = try fixture.server.factory.release(fixture.contents(9), base: nil, signedBy: [.production])
        try release.write(to: late, files: fixture.files)
        let leaning = URLLayout.object(SHA256Digest(of: Array("console.log(2);".utf8)))
        try fixture.files.makeDirectory(fixture.server.treePath(leaning).removingLastComponent())
        try fixture.files.write(Array("console.log(2);".utf8), to: fixture.server.treePath(leaning))
        fixture.wait(hours: 100)
        try fixture.refresh()
        // Put there by hand, as an interrupted server leaves it.
        try fixture.files.makeDirectory(fixture.server.folder.incoming)
        try fixture.files.write([1, 2, 3], to: fixture.server.folder.incoming.appending("new"))

        let removed = try fixture.collect(everything)
        #expect(removed.rows["draft"]?.count == 1)
        #expect(removed.rows["half-written"]?.bytes == 3)
        #expect(try fixture.files.list(draft) == ["2"])
        #expect(try fixture.server.treeFiles().contains(leaning))
        #expect(try fixture.files.status(of: fixture.server.folder.incoming) == nil)
    }

    @Test
    func `remembers the numbers of roles that are gone`() throws {
        var fixture = try Fixture()
        for number in 1...3 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        try fixture.collect(everything)
        #expect(try fixture.roles("production") == [3])
        let offered = try TrustPlan().next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels = [("production", [.second])]
        }.offered()
        let again = try fixture.server.factory.release(
            fixture.contents(7),
            base: ReleaseFactory.base(1),
            signedBy: [.second]
        )
        #expect(throws: ServerError.trust(.versionUsed("production", version: 2))) {
            try fixture.server.take(offered, key: .other, releases: [again])
        }
    }

    /// A thief's numbers leave no room for a next one; the server's own begin again above what caches may know.
    @Test
    func `remembers the numbers of snapshots and dials that are gone, and forgets a thief's`() throws {
        var fixture = try Fixture()
        for number in 1...3 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        let end = 1 << 53 - 1
        for step in [1, 0] {
            fixture.wait(hours: 1)
            try fixture.server.overwriteTree(
                channelVersion: end - step,
                snapshot: end - step,
                timestamp: end - step,
                dial: end - step,
                contents: fixture.contents(3)
            )
        }
        try fixture.collect(everything)
        #expect((try fixture.roles("snapshot"), try fixture.roles("production")) == ([end], [end]))
        let offered = try TrustPlan().next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels = [("production", [.second])]
        }.offered()
        let next = try fixture.server.factory.release(
            fixture.contents(7),
            base: ReleaseFactory.base(3),
            signedBy: [.second]
        )
        guard case .updated(let done) = try fixture.server.take(offered, key: .other, releases: [next]) else {
            Issue.record("was current already")
            return
        }
        #expect((done.roles.snapshot, done.roles.dial) == (5, 3))
        #expect(done.published.map(\.description) == ["production 4"])
    }

    @Test
    func `looks again when a draft has another content between two steps`() throws {
        var fixture = try Fixture(threshold: 2)
        let both: [TestingKey] = [.production, .second]
        for number in 1...2 {
            fixture.wait(hours: 1)
            try fixture.publish(number, signedBy: both)
        }
        try fixture.publish(3)
        var collection = CollectGarbage(fixture.server.repository, by: everything, at: fixture.now)
        #expect(try collection.step())
        try fixture.server.repository.tree.removeDraft(of: production, version: 3)
        let back = try fixture.server.factory.release(fixture.contents(1), on: fixture.server.repository)
        try fixture.server.publish(
            SignedRelease(header: back.header, role: back.role, targets: back.targets, objects: [:])
        )
        while try collection.step() {}
        #expect(try fixture.server.treeFiles().contains(fixture.object(1)))
    }

    @Test
    func `looks again when somebody publishes between two steps`() throws {
        var fixture = try Fixture()
        for number in 1...3 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        var collection = CollectGarbage(fixture.server.repository, by: everything, at: fixture.now)
        #expect(try collection.step())
        #expect(try fixture.roles("snapshot") == [4])
        let back = try fixture.server.factory.release(fixture.contents(1), on: fixture.server.repository)
        try fixture.server.publish(
            SignedRelease(header: back.header, role: back.role, targets: back.targets, objects: [:])
        )
        while try collection.step() {}
        #expect(try fixture.server.treeFiles().contains(fixture.object(1)))
        #expect(try fixture.check() == [])
    }

    @Test
    func `takes nothing of a tree that has lost something, for nobody knows what it needs`() throws {
        var fixture = try Fixture()
        for number in 1...3 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        let manifest = try #require(
            try fixture.server.treeFiles().first { $0.contains("/web/1.0.3/") && $0.hasSuffix(".manifest.json") }
        )
        try fixture.files.remove(fixture.server.treePath(manifest))
        let before = try fixture.server.everything()
        let lost = ServerError.treeFileMissing(ReleaseFactory.app, "tree/\(ReleaseFactory.app)/\(manifest)")
        #expect(throws: lost) { try fixture.collect(everything) }
        #expect(try fixture.server.everything() == before)
    }

    @Test
    func `on a full disk takes nothing that is needed, and the next collection with room takes the rest`() throws {
        var fixture = try Fixture()
        for number in 1...3 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        func collect(_ server: TestingServer) throws {
            var collection = CollectGarbage(server.repository, by: everything, at: fixture.now)
            while try collection.step() {}
        }
        let rehearsal = fixture.files.reopened()
        try collect(try fixture.server.on(rehearsal))
        let wanted = try fixture.server.on(rehearsal).treeFiles()
        for room in [0, 100, 400] {
            let disk = fixture.files.reopened()
            disk.limitFreeSpace(to: room)
            let after = try fixture.server.on(disk)
            // What it removes makes room for what it writes, so it may come to its end.
            do { try collect(after) } catch let error as ServerError {
                guard case .file(.noSpace) = error else { throw error }
            }
            #expect(try after.check().faults == [], "with room for \(room) bytes")
            disk.limitFreeSpace(to: nil)
            try collect(after)
            #expect(try after.treeFiles() == wanted)
            #expect(try after.check().faults == [])
        }
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `stopped anywhere leaves a whole tree, and the next collection takes the rest`(
        survival: FaultyFiles.Survival
    ) throws {
        var fixture = try Fixture()
        for number in 1...4 {
            fixture.wait(hours: 1)
            try fixture.publish(number)
        }
        func collect(_ server: TestingServer) throws {
            var collection = CollectGarbage(
                server.repository,
                by: GarbageRule(keep: 1, protect: .zero),
                at: fixture.now
            )
            while try collection.step() {}
        }
        let rehearsal = fixture.files.reopened()
        try collect(try fixture.server.on(rehearsal))
        let wanted = try fixture.server.on(rehearsal).treeFiles()
        #expect(rehearsal.changes > 30)
        for change in Sweep.points(of: rehearsal.changes, every: 5, offset: survival == .lose ? 0 : 2) {
            let disk = fixture.files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try collect(try fixture.server.on(disk)) }
            let after = try fixture.server.on(disk.crashed(survival))
            #expect(try after.check().faults == [], "stopped at change \(change)")
            try collect(after)
            #expect(try after.treeFiles() == wanted)
            #expect(try after.check().faults == [])
        }
    }
}
