import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import ServerTesting
import Testing

/// Row J14.
@Suite("Online parameters that are changed")
struct ParametersTests {
    private let production = ReleaseFactory.production
    private let banner: ParameterName = named("banner")
    private let limit: ParameterName = named("cart.limit")

    private func server(files: any FileOperations = FaultyFiles(), root: FilePath = "/") throws -> TestingServer {
        let server = try TestingServer(files: files, root: root)
        try server.publish(try server.factory.release(on: server.repository))
        return server
    }

    @discardableResult
    private func change(
        _ server: TestingServer,
        _ change: ParametersChange,
        expecting tag: SHA256Digest? = nil
    ) throws(ServerError) -> ParametersOutcome {
        try SetParameters(
            change,
            in: production,
            of: server.repository,
            expecting: tag,
            signing: server.key,
            at: TestingServer.start.adding(.hours(1))
        ).run()
    }

    private func values(_ server: TestingServer) throws -> [ParameterName: ParameterValue] {
        try server.repository.parameters(of: production).parameters.values
    }

    @Test func `are none at first, and then a document, the dial's role, a snapshot and a timestamp`() throws {
        let server = try server()
        #expect(try values(server).isEmpty)
        let before = try server.everything()
        guard
            case .changed(_, let state, let roles) = try change(
                server,
                .set([banner: .text("Sale"), limit: .integer(20)])
            )
        else {
            Issue.record("were not changed")
            return
        }
        #expect(try server.repository.parameters(of: production) == state)
        #expect((roles.dial, roles.snapshot, roles.timestamp) == (3, 3, 3))
        let after = try server.everything()
        let tree = server.folder.tree(of: server.repository.app).string
        let changed = after.filter { before[$0.key] != $0.value }.keys.sorted().map { $0.dropFirst(tree.count) }
        #expect(
            changed == [
                "/metadata/3.dial.json", "/metadata/3.snapshot.json", "/metadata/timestamp.json",
                "/targets/dial/\(state.tag).production.parameters.json",
            ]
        )
        #expect(before.keys.allSatisfy { after[$0] != nil })
        let document = try #require(after[tree + (changed.last ?? "")])
        #expect(try OnlineParameters(document) == state.parameters)
    }

    @Test func `are set beside the others, unset, and replaced as a whole`() throws {
        let server = try server()
        try change(server, .set([banner: .text("Sale")]))
        try change(server, .set([limit: .integer(20), banner: .bool(true)]))
        #expect(try values(server) == [banner: .bool(true), limit: .integer(20)])
        try change(server, .unset([banner, named("no-such")]))
        #expect(try values(server) == [limit: .integer(20)])
        try change(server, .replace([banner: .integer(-1)]))
        #expect(try values(server) == [banner: .integer(-1)])
    }

    @Test func `that are so already sign nothing`() throws {
        let server = try server()
        try change(server, .set([banner: .text("Sale")]))
        let (before, state) = (try server.everything(), try server.repository.parameters(of: production))
        for same in [.set([banner: .text("Sale")]), .unset([limit]), .replace([banner: .text("Sale")]), .set([:])]
            as [ParametersChange]
        {
            #expect(try change(server, same) == .unchanged(state))
        }
        #expect(try server.everything() == before)
    }

    @Test func `of which none is left are no target any more`() throws {
        let server = try server()
        try change(server, .set([banner: .text("Sale")]))
        try change(server, .unset([banner]))
        let dial = try PublishedState(of: server.repository).dial
        #expect(dial.targets.keys.map(\.text) == ["dial/production.json"])
        #expect(try values(server).isEmpty)
        #expect(try server.check().isWhole)
    }

    @Test func `are refused where others were looked at, by their tag, and by that alone`() throws {
        let server = try server()
        let none = try server.repository.parameters(of: production).tag
        let one = try change(server, .set([banner: .text("Sale")]), expecting: none).state.tag
        let before = try server.everything()
        #expect(throws: ServerError.parameters(.outdated(expected: none, current: one))) {
            try change(server, .set([limit: .integer(1)]), expecting: none)
        }
        #expect(try server.everything() == before)
        // Neither a refresh nor the dial changes the tag.
        try server.refresh(at: TestingServer.start.adding(.hours(1)))
        _ = try TurnDial(
            [DialChange(.pause, of: named("web"))],
            in: production,
            of: server.repository,
            signing: server.key,
            at: TestingServer.start.adding(.hours(1))
        ).run()
        #expect(try change(server, .replace([:]), expecting: one).state.tag == none)
    }

    @Test func `and the dial leave each other alone, and so does a publish`() throws {
        let server = try server()
        try change(server, .set([banner: .text("Sale")]))
        _ = try TurnDial(
            [DialChange(.pause, of: named("web"))],
            in: production,
            of: server.repository,
            signing: server.key,
            at: TestingServer.start.adding(.hours(1))
        ).run()
        #expect(try values(server) == [banner: .text("Sale")])
        try change(server, .set([limit: .integer(3)]))
        #expect(try server.repository.dial(of: production).versions.map(\.isPaused) == [false, true])
        try server.publish(try server.factory.release(ExportTests.second, on: server.repository))
        try server.refresh(at: TestingServer.start.adding(.hours(1)))
        #expect(try values(server) == [banner: .text("Sale"), limit: .integer(3)])
    }

    @Test func `are refused for a channel without a release, another key, and after the end of the root`() throws {
        let server = try server()
        let before = try server.everything()
        #expect(throws: ServerError.parameters(.unpublished(ReleaseFactory.beta))) {
            try server.repository.parameters(of: ReleaseFactory.beta)
        }
        let other = try TestingServer(server, key: .production)
        #expect(throws: ServerError.notOnlineKey(role: "timestamp", belongsTo: "production")) {
            try change(other, .set([banner: .bool(true)]))
        }
        let late = TestingServer.start.adding(.days(365))
        #expect(throws: ServerError.ended(role: "root", expires: late, at: late)) {
            try SetParameters(
                .set([banner: .bool(true)]),
                in: production,
                of: server.repository,
                signing: server.key,
                at: late
            ).run()
        }
        #expect(try server.everything() == before)
    }

    @Test func `that no device would read are refused`() throws {
        let server = try server()
        let many = (0..<256).map { (named("n\($0)"), ParameterValue.integer($0)) } as [(ParameterName, ParameterValue)]
        try change(server, .set(Dictionary(uniqueKeysWithValues: many)))
        let before = try server.everything()
        #expect(throws: ServerError.parameters(.tooMany(count: 257, limit: 256))) {
            try change(server, .set([banner: .bool(true)]))
        }
        let text = ParameterValue.text(ExactString(String(repeating: "x", count: 4_096)))
        let long = Dictionary(uniqueKeysWithValues: many.prefix(16).map { ($0.0, text) })
        let size = OnlineParameters(app: ReleaseFactory.app, channel: production, values: long).json.fileBytes.count
        #expect(throws: ServerError.parameters(.tooLarge(size: size, limit: 65_536))) {
            try change(server, .replace(long))
        }
        #expect(try server.everything() == before)
    }

    @Test func `that cannot be read stand in nobody's way: they are replaced as a whole`() throws {
        let server = try server()
        let broken = Array("{}".utf8)
        let path = TargetPath.parameters(production)
        try server.write(broken, to: URLLayout.target(path, sha256: SHA256Digest(of: broken)))
        try server.overwriteTree(
            channelVersion: 1,
            snapshot: 9,
            timestamp: 9,
            dial: 9,
            contents: .init(),
            dials: [path: TargetFile(of: broken)]
        )
        let format = FormatError("parameters", field: "format", rule: "must be a string")
        let unreadable = ServerError.tree(ReleaseFactory.app, .malformed(format))
        #expect(throws: unreadable) { try server.repository.parameters(of: production) }
        #expect(throws: unreadable) { try change(server, .set([banner: .bool(true)])) }
        guard case .changed(from: nil, _, _) = try change(server, .replace([:])) else {
            Issue.record("was not replaced")
            return
        }
        #expect(try values(server).isEmpty)
        #expect(try change(server, .set([banner: .bool(true)])).state.parameters.values == [banner: .bool(true)])
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `are the old ones or the new ones when the server is stopped, and can be changed again`(
        survival: FaultyFiles.Survival
    ) throws {
        let files = FaultyFiles()
        let server = try server(files: files)
        let wanted = ParametersChange.set([banner: .text("Sale")])
        let rehearsal = files.reopened()
        let after = try change(try server.on(rehearsal), wanted).state
        for point in Sweep.points(of: rehearsal.changes, every: 4, offset: survival == .lose ? 0 : 2) {
            let disk = files.reopened(failingAtChange: point)
            #expect(throws: ServerError.self) { try change(try server.on(disk), wanted) }
            let stopped = try server.on(disk.crashed(survival))
            let found = try values(stopped)
            #expect(found.isEmpty || found == after.parameters.values, "stopped at change \(point)")
            #expect(try change(stopped, wanted).state == after)
        }
    }

    @Test func `are checked, exported and kept from the garbage like the dials`() throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try server(files: files)
        let old = try change(server, .set([banner: .text("Sale")])).state.tag
        let new = try change(server, .set([limit: .integer(1)])).state.tag
        #expect(try server.check().faults.isEmpty)

        _ = try ExportTree(of: server.repository, to: ExportedTree.folder).run()
        let exported = try ExportedTree(server)
        #expect(try exported.faults() == [])
        let names = try exported.files().filter { $0.contains("parameters") }
        #expect(names == ["targets/dial/\(new).production.parameters.json"])

        let later = TestingServer.start.adding(.days(10))
        files.setClock(to: later.seconds)
        try server.refresh(at: later)
        files.setClock(to: later.adding(.days(10)).seconds)
        var collection = CollectGarbage(
            server.repository,
            by: GarbageRule(keep: 0, protect: .zero),
            at: later.adding(.days(10))
        )
        while try collection.step() {}
        let left = try server.treeFiles().filter { $0.contains("parameters") }
        #expect(left == ["targets/dial/\(new).production.parameters.json"] && old != new)
        #expect(try server.check().faults.isEmpty)

        let path = server.folder.tree(of: server.repository.app).appending(try #require(left.first))
        try files.remove(path)
        #expect(try server.check().faults.map(\.rule) == [.missing])
        #expect(try RepairTree(of: server.repository, from: [ExportedTree.folder]).run().faults.isEmpty)
        #expect(try values(server).count == 2)
    }

    @Test func `are told when another online key comes to sign them, and go with a channel that is dropped`() throws {
        let server = try server()
        try change(server, .set([banner: .text("Sale")]))
        let rotated = TrustPlan().next { ($0.targetsVersion, $0.online) = (2, .other) }
        guard case .updated(let done) = try server.take(try rotated.offered(), key: .other) else {
            Issue.record("was not updated")
            return
        }
        #expect(done.carriedParameters.map(\.channel) == [production] && done.carriedParameters.map(\.count) == [1])
        #expect(try values(server) == [banner: .text("Sale")])

        let dropping = rotated.next {
            ($0.targetsVersion, $0.online) = (3, .online)
            $0.channels.removeAll { $0.name == "production" }
        }
        guard case .updated(let dropped) = try server.take(try dropping.offered(), key: .online) else {
            Issue.record("was not updated")
            return
        }
        #expect(dropped.carriedParameters.isEmpty)
        #expect(try PublishedState(of: server.repository).dial.targets.isEmpty)
    }

    @Test func `are nothing that check_tree finds fault with`() async throws {
        let folder = try TemporaryFolder()
        let server = try server(files: DiskFiles(), root: folder.path)
        try change(server, .set([banner: .text("Sale"), limit: .integer(20)]))
        let tree = server.folder.tree(of: server.repository.app).string
        let found = try await Judge.run([
            Judge.checkTree, tree, tree + "/metadata/1.root.json", "--at", TestingServer.start.description,
        ])
        #expect(found.ok && found.text.contains("; 0 findings"), "\(found.text)")
    }
}
