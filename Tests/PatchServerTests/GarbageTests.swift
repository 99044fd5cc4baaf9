import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchTrust
import ReleaseFolder
import ReleaseTree
import SystemPackage
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
            return try server.repository.publish(release, signing: server.key, at: now)
        }

        func refresh() throws {
            try server.repository.refresh(signing: server.key, at: now)
        }

        @discardableResult
        func collect(_ rule: GarbageRule, at clock: UTCTime? = nil) throws -> GarbageCollection.Tally {
            var collection = GarbageCollection(server.repository, by: rule, at: clock ?? now)
            while try collection.step() {}
            return collection.removed
        }

        func roles(_ name: String) throws -> [Int] {
            try server.treeFiles().compactMap { path in
                guard path.hasSuffix(".\(name).json"), path.hasPrefix("metadata/") else { return nil }
                return Int(path.dropFirst("metadata/".count).prefix { $0 != "." })
            }.sorted()
        }

        func check() throws -> [TreeFault] { try server.repository.check().faults }
    }

    @Test
    func `takes nothing of what was current within the protected time`() throws {
        var yard = try Fixture()
        for number in 1...3 {
            yard.wait(hours: 10)
            try yard.publish(number)
        }
        let before = try yard.server.everything()
        #expect(try yard.collect(GarbageRule(keep: 0, protect: .hours(48))) == GarbageCollection.Tally())
        #expect(try yard.server.everything() == before)
    }

    @Test
    func `takes superseded metadata once it is superseded as long as that, by what was signed since`() throws {
        var yard = try Fixture()
        for _ in 1...12 {
            yard.wait(hours: 6)
            try yard.refresh()
        }
        // Version 13 is current since hour 72; n was superseded at hour 6n.
        try yard.collect(GarbageRule())
        #expect(try yard.roles("snapshot") == Array(5...13))
        #expect(try yard.roles("dial") == Array(5...13))
        #expect((try yard.roles("root"), try yard.roles("targets")) == ([1], [1]))
        #expect(try yard.check() == [])
    }

    @Test
    func `keeps the newest superseded releases whole, and takes what only older ones had`() throws {
        var yard = try Fixture()
        for number in 1...6 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        yard.wait(hours: 100)
        try yard.refresh()
        let removed = try yard.collect(GarbageRule(keep: 2))
        #expect(removed.rows["production"]?.count == 3)
        #expect(removed.rows["object"]?.count == 3)
        #expect(removed.rows["target"]?.count == 9)
        #expect(try yard.roles("production") == [4, 5, 6])
        let tree = try yard.server.treeFiles()
        #expect((1...6).filter { tree.contains(yard.object($0)) } == [4, 5, 6])
        #expect(
            try yard.server.files.list(yard.server.treePath("targets/production/web")) == ["1.0.4", "1.0.5", "1.0.6"]
        )
        #expect(try yard.check() == [])

        // Going back leans on objects that the tree kept.
        let back = try yard.server.factory.release(yard.contents(4), on: yard.server.repository)
        let lean = SignedRelease(header: back.header, role: back.role, targets: back.targets, objects: [:])
        try yard.server.publish(lean)
        #expect(try yard.check() == [])
    }

    @Test
    func `takes nothing that a channel shares with another`() throws {
        var yard = try Fixture()
        try yard.publish(1)
        try yard.server.publish(
            try yard.server.factory.release(
                yard.contents(1),
                on: yard.server.repository,
                channel: ReleaseFactory.beta,
                signedBy: [.beta]
            )
        )
        yard.wait(hours: 1)
        try yard.publish(2)
        try yard.collect(everything)
        #expect(try yard.server.treeFiles().contains(yard.object(1)))
        #expect(try yard.roles("production") == [2])
        #expect(try yard.check() == [])
    }

    @Test
    func `takes nothing early by a clock that jumped ahead`() throws {
        var yard = try Fixture()
        try yard.publish(1)
        yard.wait(hours: 1)
        try yard.publish(2)
        let before = try yard.server.everything()
        try yard.collect(GarbageRule(keep: 0), at: yard.now.adding(.days(400)))
        #expect(try yard.server.everything() == before)
    }

    @Test
    func `leaves what an interrupted publish wrote until it is old, and its numbers for good`() throws {
        var yard = try Fixture()
        try yard.publish(1)
        yard.wait(hours: 50)
        let next = try yard.server.factory.release(yard.contents(2), on: yard.server.repository)
        let rehearsal = yard.files.reopened()
        try yard.server.on(rehearsal).publish(next)
        let disk = yard.files.reopened(failingAtChange: rehearsal.changes - 4)
        #expect(throws: ServerError.self) { try yard.server.on(disk).publish(next) }
        let server = try yard.server.on(disk.reopened())
        #expect(try PublishedState(of: server.repository).version(of: production) == 1)
        let left = try server.treeFiles()
        #expect(left.contains("metadata/2.production.json") && left.contains(yard.object(2)))

        func collect(at now: UTCTime, _ rule: GarbageRule) throws {
            try server.repository.refresh(signing: server.key, at: now)
            var collection = GarbageCollection(server.repository, by: rule, at: now)
            while try collection.step() {}
        }
        try collect(at: yard.now, GarbageRule(keep: 0))
        #expect(try server.treeFiles().isSuperset(of: left.filter { !$0.hasPrefix("metadata/") }))
        try collect(at: yard.now.adding(.hours(200)), GarbageRule(keep: 0))
        let tree = try server.treeFiles()
        #expect(tree.contains("metadata/2.production.json") && !tree.contains(yard.object(2)))
        #expect(try server.repository.check().faults == [])
        guard case .published = try server.publish(next) else {
            Issue.record("was not published")
            return
        }
        #expect(try server.repository.check().faults == [])
    }

    @Test
    func `leaves what a draft leans on, and takes drafts that came too late`() throws {
        var yard = try Fixture(threshold: 2)
        try yard.publish(1, signedBy: [.production, .second])
        try yard.publish(2, signedBy: [.production])
        let draft = yard.server.folder.drafts(of: ReleaseFactory.app, channel: production)
        #expect(try yard.files.list(draft) == ["2"])
        let late = draft.appending("1")
        let release = try yard.server.factory.release(yard.contents(9), base: nil, signedBy: [.production])
        try release.write(to: late, files: yard.files)
        let leaning = URLLayout.object(SHA256Digest(of: Array("console.log(2);".utf8)))
        try yard.files.makeDirectory(yard.server.treePath(leaning).removingLastComponent())
        try yard.files.write(Array("console.log(2);".utf8), to: yard.server.treePath(leaning))
        yard.wait(hours: 100)
        try yard.refresh()
        // Put there by hand, as an interrupted server leaves it.
        try yard.files.makeDirectory(yard.server.folder.incoming)
        try yard.files.write([1, 2, 3], to: yard.server.folder.incoming.appending("new"))

        let removed = try yard.collect(everything)
        #expect(removed.rows["draft"]?.count == 1)
        #expect(removed.rows["half-written"]?.bytes == 3)
        #expect(try yard.files.list(draft) == ["2"])
        #expect(try yard.server.treeFiles().contains(leaning))
        #expect(try yard.files.status(of: yard.server.folder.incoming) == nil)
    }

    @Test
    func `remembers the numbers of roles that are gone`() throws {
        var yard = try Fixture()
        for number in 1...3 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        try yard.collect(everything)
        #expect(try yard.roles("production") == [3])
        let offered = try TrustPlan().next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels = [("production", [.second])]
        }.offered()
        let again = try yard.server.factory.release(yard.contents(7), base: ReleaseFactory.base(1), signedBy: [.second])
        #expect(throws: ServerError.trust(.versionUsed("production", version: 2))) {
            try yard.server.take(offered, key: .other, releases: [again])
        }
    }

    /// A thief's numbers leave no room for a next one; the server's own begin again above what caches may know.
    @Test
    func `remembers the numbers of snapshots and dials that are gone, and forgets a thief's`() throws {
        var yard = try Fixture()
        for number in 1...3 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        let end = 1 << 53 - 1
        for step in [1, 0] {
            yard.wait(hours: 1)
            try yard.server.overwriteTree(
                channelVersion: end - step,
                snapshot: end - step,
                timestamp: end - step,
                dial: end - step,
                contents: yard.contents(3)
            )
        }
        try yard.collect(everything)
        #expect((try yard.roles("snapshot"), try yard.roles("production")) == ([end], [end]))
        let offered = try TrustPlan().next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels = [("production", [.second])]
        }.offered()
        let next = try yard.server.factory.release(yard.contents(7), base: ReleaseFactory.base(3), signedBy: [.second])
        guard case .updated(let done) = try yard.server.take(offered, key: .other, releases: [next]) else {
            Issue.record("was current already")
            return
        }
        #expect((done.roles.snapshot, done.roles.dial) == (5, 5))
        #expect(done.published.map(\.description) == ["production 4"])
    }

    @Test
    func `looks again when a draft has another content between two steps`() throws {
        var yard = try Fixture(threshold: 2)
        let both: [TestingKey] = [.production, .second]
        for number in 1...2 {
            yard.wait(hours: 1)
            try yard.publish(number, signedBy: both)
        }
        try yard.publish(3)
        var collection = GarbageCollection(yard.server.repository, by: everything, at: yard.now)
        #expect(try collection.step())
        try yard.server.repository.tree.removeDraft(of: production, version: 3)
        let back = try yard.server.factory.release(yard.contents(1), on: yard.server.repository)
        try yard.server.publish(
            SignedRelease(header: back.header, role: back.role, targets: back.targets, objects: [:])
        )
        while try collection.step() {}
        #expect(try yard.server.treeFiles().contains(yard.object(1)))
    }

    @Test
    func `looks again when somebody publishes between two steps`() throws {
        var yard = try Fixture()
        for number in 1...3 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        var collection = GarbageCollection(yard.server.repository, by: everything, at: yard.now)
        #expect(try collection.step())
        #expect(try yard.roles("snapshot") == [4])
        let back = try yard.server.factory.release(yard.contents(1), on: yard.server.repository)
        try yard.server.publish(
            SignedRelease(header: back.header, role: back.role, targets: back.targets, objects: [:])
        )
        while try collection.step() {}
        #expect(try yard.server.treeFiles().contains(yard.object(1)))
        #expect(try yard.check() == [])
    }

    @Test
    func `takes nothing of a tree that has lost something, for nobody knows what it needs`() throws {
        var yard = try Fixture()
        for number in 1...3 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        let manifest = try #require(
            try yard.server.treeFiles().first { $0.contains("/web/1.0.3/") && $0.hasSuffix(".manifest.json") }
        )
        try yard.files.remove(yard.server.treePath(manifest))
        let before = try yard.server.everything()
        let lost = ServerError.treeFileMissing(ReleaseFactory.app, "tree/\(ReleaseFactory.app)/\(manifest)")
        #expect(throws: lost) { try yard.collect(everything) }
        #expect(try yard.server.everything() == before)
    }

    @Test
    func `on a full disk takes nothing that is needed, and the next collection with room takes the rest`() throws {
        var yard = try Fixture()
        for number in 1...3 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        func collect(_ server: TestingServer) throws {
            var collection = GarbageCollection(server.repository, by: everything, at: yard.now)
            while try collection.step() {}
        }
        let rehearsal = yard.files.reopened()
        try collect(try yard.server.on(rehearsal))
        let wanted = try yard.server.on(rehearsal).treeFiles()
        for room in [0, 100, 400] {
            let disk = yard.files.reopened()
            disk.limitFreeSpace(to: room)
            let after = try yard.server.on(disk)
            // What it removes makes room for what it writes, so it may come to its end.
            do { try collect(after) } catch let error as ServerError {
                guard case .file(.noSpace) = error else { throw error }
            }
            #expect(try after.repository.check().faults == [], "with room for \(room) bytes")
            disk.limitFreeSpace(to: nil)
            try collect(after)
            #expect(try after.treeFiles() == wanted)
            #expect(try after.repository.check().faults == [])
        }
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `stopped anywhere leaves a whole tree, and the next collection takes the rest`(
        survival: FaultyFiles.Survival
    ) throws {
        var yard = try Fixture()
        for number in 1...4 {
            yard.wait(hours: 1)
            try yard.publish(number)
        }
        func collect(_ server: TestingServer) throws {
            var collection = GarbageCollection(
                server.repository,
                by: GarbageRule(keep: 1, protect: .zero),
                at: yard.now
            )
            while try collection.step() {}
        }
        let rehearsal = yard.files.reopened()
        try collect(try yard.server.on(rehearsal))
        let wanted = try yard.server.on(rehearsal).treeFiles()
        #expect(rehearsal.changes > 30)
        for change in Sweep.points(of: rehearsal.changes, every: 5, offset: survival == .lose ? 0 : 2) {
            let disk = yard.files.reopened(failingAtChange: change)
            #expect(throws: ServerError.self) { try collect(try yard.server.on(disk)) }
            let after = try yard.server.on(disk.crashed(survival))
            #expect(try after.repository.check().faults == [], "stopped at change \(change)")
            try collect(after)
            #expect(try after.treeFiles() == wanted)
            #expect(try after.repository.check().faults == [])
        }
    }
}
