import FoundationEssentials
import HTTPFiles
import NIOCore
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import ServerTesting
import Testing

@Suite("Other readers of the published tree")
struct JudgeTests {
    private let at = TestingServer.start.description

    private func checkTree(_ server: TestingServer) async throws -> (text: String, ok: Bool) {
        let tree = server.folder.tree(of: server.repository.app).string
        return try await Judge.run([Judge.checkTree, tree, tree + "/metadata/1.root.json", "--at", at])
    }

    @Test
    func `check_tree finds nothing wrong, and finds a flipped bit`() async throws {
        let folder = try TemporaryFolder()
        let server = try TestingServer(files: DiskFiles(), root: folder.path)
        try server.publish(try server.factory.release(on: server.repository))
        try server.refresh(at: server.factory.now)
        let good = try await checkTree(server)
        #expect(
            good.ok && good.text.contains("2 entries, 2 assets, 3 objects, 4 signatures; 0 findings"),
            "\(good.text)"
        )

        let counted = DialChange(.headcount(2), of: named("fix-cart-total"))
        _ = try TurnDial(
            [counted],
            in: ReleaseFactory.production,
            of: server.repository,
            signing: server.key,
            at: server.factory.now
        ).run()
        let dial = try await checkTree(server)
        #expect(dial.ok && dial.text.contains("; 0 findings"), "\(dial.text)")

        let digest = SHA256Digest(of: Array("cart.total = 1;".utf8))
        let object = server.folder.tree(of: server.repository.app).appending(URLLayout.object(digest))
        try server.files.remove(object)
        try server.files.write(Array("cart.total = 2;".utf8), to: object)
        let bad = try await checkTree(server)
        #expect(!bad.ok && bad.text.contains("fix-cart-total 1: sha256 is \(digest)"), "\(bad.text)")
    }

    @Test
    func `check_tree finds nothing wrong after an update of the root of trust`() async throws {
        let folder = try TemporaryFolder()
        let server = try TestingServer(files: DiskFiles(), root: folder.path)
        try server.publish(try server.factory.release(on: server.repository))
        let last = 1 << 53 - 1
        try server.overwriteTree(channelVersion: last, snapshot: last, timestamp: last, dial: last, contents: .init())
        let offered = try TrustPlan().next {
            $0.targetsVersion = 2
            $0.online = .other
            $0.channels = [("production", [.second])]
        }.offered()
        let release = try server.factory.release(base: ReleaseFactory.base(1), signedBy: [.second])
        _ = try server.take(offered, key: .other, releases: [release])
        let found = try await checkTree(server)
        #expect(found.ok && found.text.contains("; 0 findings"), "\(found.text)")
    }

    @Test
    func `python-tuf's client reads it from our server, also what is published while that runs`() async throws {
        let folder = try TemporaryFolder()
        // python-tuf looks at the machine's clock.
        let now = UTCTime(seconds: Int(Date.now.timeIntervalSince1970))
        let server = try TestingServer(files: DiskFiles(), root: folder.path, at: now)
        try server.publish(try server.factory.release(on: server.repository))
        let root = server.folder.tree(of: server.repository.app).appending("metadata/1.root.json").string

        try await withRunningServer(server.folder.tree) { port in
            func read(into name: String) async throws -> (text: String, ok: Bool) {
                try await Judge.run([
                    "-c", Judge.client, "http://127.0.0.1:\(port)/com.example.storefront", root,
                    folder.path.appending(name).string, "production",
                ])
            }
            let first = try await read(into: "first")
            #expect(first.ok && first.text == "fix-cart-total 1\nweb 1.0.0\n2 assets True\n", "\(first.text)")

            var contents = ReleaseFactory.Contents()
            contents.web = ("1.0.1", ["index.html": "<p>two</p>"])
            try server.publish(try server.factory.release(contents, on: server.repository))
            let second = try await read(into: "second")
            #expect(second.ok && second.text == "fix-cart-total 1\nweb 1.0.1\n1 assets True\n", "\(second.text)")
        }
    }

    @Test
    func `python-tuf's client follows from a thief's highest versions to the recovered ones`() async throws {
        let folder = try TemporaryFolder()
        // python-tuf looks at the machine's clock.
        let now = UTCTime(seconds: Int(Date.now.timeIntervalSince1970))
        let server = try TestingServer(files: DiskFiles(), root: folder.path, at: now)
        var plan = TrustPlan()
        (plan.rootExpires, plan.targetsExpires) = (now.adding(.days(365)), now.adding(.days(365)))
        try server.publish(try server.factory.release(on: server.repository))
        let root = server.folder.tree(of: server.repository.app).appending("metadata/1.root.json").string

        try await withRunningServer(server.folder.tree) { port in
            func read() async throws -> (text: String, ok: Bool) {
                try await Judge.run([
                    "-c", Judge.client, "http://127.0.0.1:\(port)/com.example.storefront", root,
                    folder.path.appending("device").string, "production",
                ])
            }
            let last = 1 << 53 - 1
            var stolen = ReleaseFactory.Contents()
            stolen.web = ("6.6.6", ["index.html": "<p>evil</p>"])
            try server.overwriteTree(
                channelVersion: last,
                snapshot: last,
                timestamp: last,
                dial: last,
                contents: stolen
            )
            let before = try await read()
            #expect(before.ok && before.text.contains("web 6.6.6"), "\(before.text)")

            let offered = try plan.next {
                $0.targetsVersion = 2
                $0.online = .other
                $0.channels[0].keys = [.second]
            }.offered()
            let release = try server.factory.release(base: ReleaseFactory.base(1), signedBy: [.second])
            _ = try server.take(offered, key: .other, releases: [release])
            let after = try await read()
            #expect(after.ok && after.text == "fix-cart-total 1\nweb 1.0.0\n2 assets True\n", "\(after.text)")
        }
    }

    private func withRunningServer(_ tree: FilePath, _ body: (Int) async throws -> Void) async throws {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let server = FileServer(
            configuration: FileServerConfiguration(),
            source: PublishedTree(tree),
            onListening: { found.yield($0.port ?? 0) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            try await body(port)
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
