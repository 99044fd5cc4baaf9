import NIOConcurrencyHelpers
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords
import SystemPackage
import ServerTesting
import Testing

/// Everything that an operation changes and writes down.
@Suite("A change that the release service records")
struct OperationChangeTests {
    enum Kind: String, CaseIterable {
        case publish, dial, draft, trust
        /// A release below its threshold is kept; another holder's signature completes it.
        case keep, complete

        var action: String {
            switch self {
            case .publish, .complete: "release.publish"
            case .keep: "release.draft"
            case .dial: "dial.turn"
            case .draft: "draft.remove"
            case .trust: "trust.update"
            }
        }

        /// What was done before.
        var earlier: [String] {
            switch self {
            case .publish, .keep: []
            case .draft, .complete: ["release.draft"]
            case .dial, .trust: ["release.publish"]
            }
        }

        var threshold: Int { [.draft, .keep, .complete].contains(self) ? 2 : 1 }
    }

    private static let (app, production) = (ReleaseFactory.app, ReleaseFactory.production)

    /// A server on which this can be done, and the release that is published then.
    private static func prepared(_ kind: Kind, files: any FileOperations = DiskFiles()) async throws -> (
        TestingOperations, SignedRelease?
    ) {
        let fixture = try TestingOperations(threshold: kind.threshold, files: files)
        guard kind != .publish, kind != .keep else { return (fixture, try fixture.release()) }
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        switch kind {
        case .trust: return (fixture, try fixture.release("two", version: "2", signedBy: [.second]))
        case .complete: return (fixture, try fixture.release(signedBy: [.second]))
        case .publish, .dial, .draft, .keep: return (fixture, nil)
        }
    }

    private static func offered() throws -> TrustUpload {
        try TrustPlan().next { ($0.targetsVersion, $0.channels[0].keys) = (2, [.second]) }.offered()
    }

    private static func carryOut(_ kind: Kind, _ fixture: TestingOperations, _ release: SignedRelease?) async throws {
        let (operations, actor) = (fixture.operations, fixture.actor)
        switch kind {
        case .publish, .keep, .complete:
            _ = try await OfferRelease(try #require(release), notes: ReleaseNotes(), by: actor, operations).run()
        case .dial:
            let (id, subject) = try #require(DialChange.subject("web"))
            let changes = [DialChange(.pause, of: id, subject, reason: nil)]
            _ = try await ChangeDial(changes, in: production, of: app, expecting: nil, by: actor, operations).run()
        case .draft: _ = try await RemoveDraft(of: production, version: 1, in: app, by: actor, operations).run()
        case .trust:
            _ = try await FollowTrust(
                to: try offered(),
                of: app,
                releases: [try #require(release)],
                by: actor,
                operations
            ).run(onlineKey: fixture.server.key)
        }
    }

    /// Whether the tree shows it.
    private static func isDone(_ kind: Kind, _ fixture: TestingOperations) throws -> Bool {
        let repository = fixture.server.repository
        switch kind {
        case .publish, .complete: return try PublishedState(of: repository).version(of: production) == 1
        case .keep: return try repository.tree.draft(of: production, version: 1) != nil
        case .dial: return try repository.dial(of: production).versions.contains(where: \.isPaused)
        case .draft: return try !repository.tree.hasDraft(of: production, version: 1)
        case .trust: return try PublishedState(of: repository).root.header.version == 2
        }
    }

    private static func expectWritten(
        _ kind: Kind,
        _ fixture: TestingOperations,
        _ release: SignedRelease?,
        _ place: String
    )
        async throws
    {
        let isDone = try isDone(kind, fixture)
        #expect(try await fixture.actions() == kind.earlier + (isDone ? [kind.action] : []), "\(place)")
        #expect(try await fixture.intents() == 0, "\(place)")
        guard let release, kind != .keep else { return }
        let wanted = isDone ? [release.role.identity] : []
        #expect(try await fixture.history().map(\.identity).prefix(wanted.count) == wanted[...], "\(place)")
    }

    @Test(arguments: Kind.allCases)
    func `is done and written down also when whoever asked for it goes away`(_ kind: Kind) async throws {
        let (fixture, release) = try await Self.prepared(kind)
        let request = NIOLockedValueBox<Task<Void, any Error>?>(nil)
        // The intent is written, and the client closes its connection.
        let left = try fixture.again(before: 1) { request.withLockedValue { $0?.cancel() } }
        let (start, starting) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in start { break }
            try await Self.carryOut(kind, left, release)
        }
        request.withLockedValue { $0 = task }
        starting.yield()
        _ = await task.result
        #expect(task.isCancelled)
        #expect(try Self.isDone(kind, fixture))
        try await Self.expectWritten(kind, fixture, release, "afterwards")
    }

    @Test(arguments: Kind.allCases, 1...3)
    func `is written down even where the process dies between tree and records`(_ kind: Kind, _ commit: Int)
        async throws
    {
        let (fixture, release) = try await Self.prepared(kind)
        let dying = try fixture.again(failingAtCommit: commit)
        let outcome = await Result { try await Self.carryOut(kind, dying, release) }
        #expect(outcome.isSuccess == (commit > 2))
        #expect(try Self.isDone(kind, fixture) == (commit > 1))
        let next = try fixture.again()
        #expect(try await SettleIntents(next.operations).run().left.isEmpty)
        try await Self.expectWritten(kind, next, release, "commit \(commit)")
        let entry = try await next.records.lastAuditEntry()
        #expect(entry?.json["after"]?["recovered"] == (commit == 2 ? .bool(true) : nil))
        #expect(try await SettleIntents(next.operations).run().published.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `that a dead process left is written down before the next is made`(_ kind: Kind) async throws {
        let (fixture, release) = try await Self.prepared(kind)
        let dying = try fixture.again(failingAtCommit: 2)
        _ = await Result { try await Self.carryOut(kind, dying, release) }
        let next = try fixture.again()
        _ = try await RemoveDraft(of: ReleaseFactory.beta, version: 9, in: Self.app, by: fixture.actor, next.operations)
            .run()
        try await Self.expectWritten(kind, next, release, "next")
    }

    /// The disk stops at a change; the records go on, as they do in a process that is killed at that moment.
    @Test(arguments: Kind.allCases)
    func `stopped at any change of the disk is written down exactly when it was done`(_ kind: Kind) async throws {
        let files = FaultyFiles()
        let (fixture, release) = try await Self.prepared(kind, files: files)
        let rehearsal = files.reopened()
        try await Self.carryOut(kind, try TestingOperations(copyOf: fixture, files: rehearsal), release)
        for change in Sweep.points(of: rehearsal.changes, every: 16) {
            let disk = files.reopened(failingAtChange: change)
            let dying = try TestingOperations(copyOf: fixture, files: disk)
            _ = await Result { try await Self.carryOut(kind, dying, release) }
            let after = try dying.on(disk.reopened())
            #expect(try await SettleIntents(after.operations).run().left.isEmpty, "stopped at change \(change)")
            if kind == .trust, try Self.hasNewRootAlone(after) {
                // Devices follow the new root already: that is one change, and the rest is another.
                #expect(try await after.actions() == kind.earlier + [kind.action], "stopped at change \(change)")
                try await Self.carryOut(kind, after, release)
                #expect(try await after.actions() == kind.earlier + [kind.action, kind.action])
                #expect(try await after.history().first?.identity == release?.role.identity)
            } else {
                try await Self.expectWritten(kind, after, release, "stopped at change \(change)")
            }
        }
    }

    private static func hasNewRootAlone(_ fixture: TestingOperations) throws -> Bool {
        let state = try PublishedState(of: fixture.server.repository)
        return state.root.header.version == 2 && state.targets.header.version == 1
    }

    /// Between a new root with another online key and its timestamp nobody can tell: the same command is run again.
    @Test func `of the trust that left a tree which does not verify is written down when it is made again`()
        async throws
    {
        let files = FaultyFiles()
        let fixture = try TestingOperations(files: files)
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let offered = try TrustPlan().next { ($0.targetsVersion, $0.online) = (2, .other) }.offered()
        let key = try fixture.server.onlineKey(.other)
        @Sendable func take(_ fixture: TestingOperations) async throws {
            _ = try await FollowTrust(to: offered, of: Self.app, by: fixture.actor, fixture.operations).run(
                onlineKey: key
            )
        }
        let rehearsal = files.reopened()
        try await take(try TestingOperations(copyOf: fixture, files: rehearsal))
        var count = 0
        for change in rehearsal.changes - 12...rehearsal.changes {
            let disk = files.reopened(failingAtChange: change)
            let dying = try TestingOperations(copyOf: fixture, files: disk)
            _ = await Result { try await take(dying) }
            let after = try dying.on(disk.reopened())
            guard try await !SettleIntents(after.operations).run().left.isEmpty else { continue }
            count += 1
            #expect(try await after.intents() == 1)
            #expect(try await after.actions() == ["release.publish"])
            try await take(after)
            #expect(try await after.intents() == 0)
            #expect(try await after.actions() == ["release.publish", "trust.update"], "stopped at change \(change)")
            let before = try await after.records.lastAuditEntry()?.json["before"]?["root"]
            #expect(before == .integer(1))
        }
        #expect(count > 0)
    }

    @Test func `of the trust says what it published, and loses no history of a publish that died`() async throws {
        let fixture = try TestingOperations()
        let first = try fixture.release()
        let dying = try fixture.again(failingAtCommit: 2)
        _ = await Result {
            try await OfferRelease(first, notes: ReleaseNotes(), by: fixture.actor, dying.operations).run()
        }
        let next = try fixture.again()
        let release = try fixture.release("two", version: "2", signedBy: [.second])
        try await Self.carryOut(.trust, next, release)
        #expect(try await next.history().map(\.identity) == [release.role.identity, first.role.identity])
        #expect(try await next.actions() == ["release.publish", "trust.update"])
        let entry = try await next.records.lastAuditEntry()?.json
        #expect(entry?["after"]?["published"] == .array([.text("production 2")]))
        #expect((entry?["before"]?["root"], entry?["after"]?["root"]) == (.integer(1), .integer(2)))
        // The same again is none.
        try await Self.carryOut(.trust, next, release)
        #expect(try await next.actions().count == 2)
    }

    /// Devices follow the new trust already when something of it cannot be looked at again.
    @Test func `of the trust is not forgotten where nobody can see at once what became of it`() async throws {
        let disk = FaultyFiles()
        let damage = Damage(of: "timestamp.json", on: disk)
        let (fixture, release) = try await Self.prepared(.trust, files: damage.watched)
        let rehearsal = Damage(of: "timestamp.json", on: disk.reopened())
        try await Self.carryOut(.trust, try TestingOperations(copyOf: fixture, files: rehearsal.watched), release)
        // Last of all it is looked at what was done.
        damage.arm(at: rehearsal.openings)
        let refused = await Result { try await Self.carryOut(.trust, fixture, release) }
        #expect(!refused.isSuccess)
        #expect(try await fixture.intents() == 1)
        #expect(try await fixture.actions() == ["release.publish"])

        try damage.undo()
        let next = try fixture.again()
        #expect(try await SettleIntents(next.operations).run().left.isEmpty)
        try await Self.expectWritten(.trust, next, release, "when it can be read again")
    }

    @Test func `of a draft that cannot be read gives it up, and says that it was damaged`() async throws {
        let (fixture, _) = try await Self.prepared(.draft)
        let draft = fixture.server.folder.drafts(of: Self.app, channel: Self.production).appending("1")
        try DiskFiles().remove(draft.appending("role.json"))
        #expect(
            try await RemoveDraft(of: Self.production, version: 1, in: Self.app, by: fixture.actor, fixture.operations)
                .run()
        )
        #expect(try fixture.server.repository.tree.drafts(of: Self.production).isEmpty)
        #expect(try await fixture.records.lastAuditEntry()?.json["before"]?["damaged"] == .bool(true))
    }

    @Test func `that starts an app, repairs it or signs an export is written down`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let script = URLLayout.object(SHA256Digest(of: Array("cart.total = 1;".utf8)))
        let backup = fixture.box.path.appending("backup")
        _ = try ExportTree(of: fixture.server.repository, to: backup).run()
        try DiskFiles().remove(fixture.server.treePath(script))
        #expect(try await fixture.operations.repair(Self.app, from: [backup], by: fixture.actor).isWhole)
        #expect(try await fixture.operations.repair(Self.app, from: [backup], by: fixture.actor).repaired.isEmpty)
        let roles = try await fixture.operations.ownRoles(of: Self.app, holding: .days(30), by: fixture.actor)
        #expect(try await fixture.actions() == ["release.publish", "tree.repair", "tree.export"])
        let after = try await fixture.records.lastAuditEntry()?.json["after"]
        #expect(after?["expires"] == .text(roles.expires.description))
    }

    @Test func `that collects garbage is written down first, by its rule`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let fixture = try TestingOperations(files: files)
        for number in 1...2 {
            let release = try fixture.release("// \(number)", version: "\(number)")
            _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        let rule = GarbageRule(keep: 0, protect: .zero)
        let plan = try await GarbageRun(of: Self.app, by: rule, fixture.operations).find()
        let removed = try await GarbageRun(of: Self.app, by: rule, fixture.operations).run(by: fixture.actor)
        #expect(removed.rows.values.reduce(0) { $0 + $1.count } == plan.count && plan.count > 4)
        let after = try await fixture.records.lastAuditEntry()?.json["after"]
        #expect((after?["files"], after?["keep"]) == (.integer(plan.count), .integer(0)))
        _ = try await GarbageRun(of: Self.app, by: rule, fixture.operations).run(by: fixture.actor)
        #expect(try await fixture.actions() == ["release.publish", "release.publish", "garbage.collect"])
    }

    @Test func `that collects garbage leaves what an upload was not asked for`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let fixture = try TestingOperations(files: files)
        for number in 1...2 {
            let release = try fixture.release("// \(number)", version: "\(number)")
            _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        let back = try fixture.release("// 1", version: "1")
        let uploads = Uploads(fixture.operations)
        let begun = try await uploads.begin(back.header, back.role, for: Self.app)
        #expect(begun.needs.map(\.name) == ["production/patchlist.json"])
        // The list has come, and names what the tree has.
        let list = try #require(back.targets[.patchList(Self.production)])
        let blobs = fixture.server.folder.uploads.appending("\(Self.app)/\(begun.id)/blobs")
        try files.write(list, to: blobs.appending(SHA256Digest(of: list).hex))

        let rule = GarbageRule(keep: 0, protect: .zero)
        _ = try await GarbageRun(of: Self.app, by: rule, fixture.operations).run(by: fixture.actor)
        let needs = try await Uploads(fixture.operations).state(begun.id, of: Self.app).needs
        #expect(needs.isEmpty, "\(needs.map(\.name))")
        try files.removeTree(fixture.server.folder.uploads)
        _ = try await GarbageRun(of: Self.app, by: rule, fixture.operations).run(by: fixture.actor)
        let object = URLLayout.object(SHA256Digest(of: Array("// 1".utf8)))
        #expect(try !fixture.server.treeFiles().contains(object))
    }

    @Test func `that collects garbage leaves the release that a proposal goes back to`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let fixture = try TestingOperations(files: files)
        for number in 1...3 {
            let release = try fixture.release("// \(number)", version: "\(number)")
            _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        _ = try await Proposals(fixture.operations).propose(
            .rollBack(to: 1),
            note: nil,
            for: Self.production,
            in: Self.app,
            by: fixture.actor
        )
        let rule = GarbageRule(keep: 0, protect: .zero)
        _ = try await GarbageRun(of: Self.app, by: rule, fixture.operations).run(by: fixture.actor)
        let tree = try fixture.server.treeFiles()
        let objects = (1...3).filter { tree.contains(URLLayout.object(SHA256Digest(of: Array("// \($0)".utf8)))) }
        #expect(objects == [1, 3])
        #expect(tree.contains("metadata/1.production.json") && !tree.contains("metadata/2.production.json"))
        #expect(try fixture.server.check().faults == [])
    }

    @Test func `of online parameters has a line in the audit log with what was there before, unless nothing changed`()
        async throws
    {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        for _ in 1...2 {
            _ = try await ChangeParameters(
                .set([named("banner"): .text("Sale")]),
                in: ReleaseFactory.production,
                of: ReleaseFactory.app,
                expecting: nil,
                by: fixture.actor,
                fixture.operations
            ).run()
        }
        #expect(try await fixture.actions() == ["release.publish", "parameters.change"])
        let entry = try #require(try await fixture.records.lastAuditEntry()?.json)
        #expect(entry["channel"] == .text("production"))
        #expect(entry["before"]?["parameters"] == .fields([]))
        #expect(entry["after"]?["parameters"] == .fields([("banner", .text("Sale"))]))
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }

    fileprivate var isSuccess: Bool { (try? get()) != nil }
}

/// Garbles a file just before its n-th opening, as a disk may, and can put it back.
private final class Damage: Sendable {
    private struct State {
        var openings = 0
        var armed: Int?
        var found: (path: FilePath, bytes: [UInt8])?
    }

    private let name: String
    private let disk: FaultyFiles
    private let state = NIOLockedValueBox(State())

    init(of name: String, on disk: FaultyFiles) {
        self.name = name
        self.disk = disk
    }

    var openings: Int { state.withLockedValue { $0.openings } }

    /// - Parameter opening: counted from now on.
    func arm(at opening: Int) {
        state.withLockedValue { ($0.openings, $0.armed) = (0, opening) }
    }

    var watched: WatchedFiles {
        WatchedFiles(disk) { [self] moment in
            guard case .opening(let path) = moment, path.lastComponent?.string == name else { return }
            let isNow = state.withLockedValue { state in
                state.openings += 1
                return state.openings == state.armed
            }
            guard isNow, let bytes = try? disk.read(path, limit: Limits.timestamp) else { return }
            state.withLockedValue { $0.found = (path, bytes) }
            try? disk.replace(name, in: path.removingLastComponent(), with: Array("{}".utf8))
        }
    }

    func undo() throws {
        let (path, bytes) = try #require(state.withLockedValue { $0.found })
        try disk.replace(name, in: path.removingLastComponent(), with: bytes)
    }
}
