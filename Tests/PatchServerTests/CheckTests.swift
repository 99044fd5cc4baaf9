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

@Suite("A check of a server's folder")
struct CheckTests {
    private static let app = "com.example.storefront"
    private static let script = Array("cart.total = 1;".utf8)

    private func server(on files: FaultyFiles = FaultyFiles()) throws -> TestingServer {
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try server.publish(try server.factory.release(ExportTests.second, on: server.repository))
        return server
    }

    private func found(_ server: TestingServer) throws -> [String] {
        let repository = AppRepository(suspecting: server.repository.app, in: server.folder, files: server.files)
        return try CheckTree(of: repository).run().faults.map { "\($0.path) \($0.rule.rawValue)" }
    }

    /// The path of a target of production's present release.
    private func target(_ name: String, of server: TestingServer) throws -> String {
        let role = try #require(try PublishedState(of: server.repository).channels[ReleaseFactory.production]?.role)
        let file = try #require(role.targets[ExactString(name)]?.sha256)
        return URLLayout.target(try #require(TargetPath(name)), sha256: file)
    }

    @Test
    func `of a whole one finds nothing and says how much it read`() throws {
        let server = try server()
        let report = try server.check()
        #expect(report.faults == [] && report.isWhole)
        #expect((report.counts.roles, report.counts.targets, report.counts.objects) == (10, 7, 4))
        #expect(report.counts.signatures == 4)
    }

    @Test(arguments: [
        ("metadata/timestamp.json", "malformed"), ("metadata/3.snapshot.json", "altered"),
        ("metadata/1.targets.json", "altered"), ("metadata/2.production.json", "altered"),
        ("metadata/2.dial.json", "altered"), ("metadata/1.root.json", "altered"),
        ("metadata/1.production.json", "malformed"), ("metadata/2.snapshot.json", "malformed"),
        (URLLayout.object(SHA256Digest(of: script)), "altered"),
    ])
    func `names a file that rotted`(name: String, rule: String) throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        try files.rot(server.treePath(name))
        #expect(try found(server) == ["tree/\(Self.app)/\(name) \(rule)"])
    }

    @Test(arguments: [
        "metadata/timestamp.json", "metadata/3.snapshot.json", "metadata/1.targets.json", "metadata/2.production.json",
        "metadata/2.dial.json", "metadata/1.root.json", URLLayout.object(SHA256Digest(of: script)),
        URLLayout.object(SHA256Digest(of: Array("console.log(1);".utf8))),
    ])
    func `names a file that is gone`(name: String) throws {
        let server = try server()
        try server.files.remove(server.treePath(name))
        #expect(try found(server) == ["tree/\(Self.app)/\(name) missing"])
    }

    @Test
    func `says in words what it found`() throws {
        func details(_ change: (TestingServer, FaultyFiles) throws -> Void) throws -> [String] {
            let files = FaultyFiles()
            let server = try server(on: files)
            try change(server, files)
            let repository = AppRepository(suspecting: server.repository.app, in: server.folder, files: files)
            return try CheckTree(of: repository).run().faults.map(\.detail)
        }
        let snapshot = try details { server, files in try files.rot(server.treePath("metadata/2.snapshot.json")) }
        #expect(snapshot == ["it is not a snapshot"])
        let draft = try details { server, files in
            try files.makeDirectory(server.folder.drafts(of: server.repository.app).appending("x!"))
        }
        #expect(draft == ["it is not a channel"])
        let root = try details { server, files in
            let own = server.folder.apps.appending(Self.app)
            let text = String(decoding: try files.read(own.appending("root.json"), limit: 100_000), as: UTF8.self)
            let forged = text.replacing(#/"sig":"[0-9a-f]{8}/#, with: "\"sig\":\"00000000")
            try files.replace("root.json", in: own, with: Array(forged.utf8))
        }
        #expect(
            root == [
                "it is not signed by its own keys", "it is not the root of trust of this server",
            ]
        )
    }

    @Test(arguments: [
        "production/patchlist.json", "production/web/1.0.1/manifest.json", "production/web/1.0.1/manifest.sigs",
    ])
    func `names a target that rotted, and one that is gone`(name: String) throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let path = try target(name, of: server)
        try files.rot(server.treePath(path))
        #expect(try found(server) == ["tree/\(Self.app)/\(path) altered"])
        try files.remove(server.treePath(path))
        #expect(try found(server) == ["tree/\(Self.app)/\(path) missing"])
    }

    @Test
    func `goes on after a fault`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let object = URLLayout.object(SHA256Digest(of: Self.script))
        let column = try target("production/web/1.0.1/manifest.sigs", of: server)
        try files.rot(server.treePath(object))
        try files.rot(server.treePath(column))
        try files.remove(server.treePath("metadata/2.dial.json"))
        try files.write([0x7B], to: server.treePath("metadata/robots.txt"))
        #expect(
            try found(server)
                == [
                    "metadata/2.dial.json missing", "metadata/robots.txt stranger", "\(object) altered",
                    "\(column) altered",
                ].map { "tree/\(Self.app)/\($0)" }
        )
    }

    @Test
    func `names an entry whose signature does not hold, though the role vouches for it`() throws {
        let server = try server()
        let manifest = try target("production/web/1.0.1/manifest.json", of: server)
        try server.overwriteTree(
            channelVersion: 3,
            snapshot: 4,
            timestamp: 4,
            dial: 4,
            contents: ExportTests.second
        ) { targets in
            targets[
                .signatureColumn(channel: ReleaseFactory.production, patchID: named("web"), version: named("1.0.1"))
            ]?[
                46
            ] ^= 1
        }
        let report = try server.check()
        let column = try target("production/web/1.0.1/manifest.sigs", of: server)
        #expect(report.faults.map(\.path) == ["tree/\(Self.app)/\(column)"] && !manifest.isEmpty)
        #expect(report.faults.map(\.rule) == [.entry])
        #expect(report.faults.first?.detail == "web 1.0.1 app/main.js: its RSA signature does not verify")
    }

    @Test
    func `names what does not belong there, a symbolic link too`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        try files.write([1], to: server.treePath("index.html"))
        try files.makeSymbolicLink(server.treePath("metadata/9.root.json"), to: "/etc/passwd")
        let names = ["index.html", "metadata/9.root.json"]
        #expect(try found(server) == names.map { "tree/\(Self.app)/\($0) stranger" })
    }

    @Test
    func `names records that cannot be read, and drafts`() throws {
        let server = try server()
        let records = server.folder.apps.appending(Self.app)
        for name in ["labels.json", "online.key"] { try server.files.remove(records.appending(name)) }
        try server.files.write(Array("{}".utf8), to: records.appending("versions.json"))
        let draft = server.folder.drafts(of: server.repository.app, channel: ReleaseFactory.beta).appending("4")
        try server.files.makeDirectory(draft)
        #expect(
            try found(server)
                == [
                    "apps/\(Self.app)/labels.json record", "apps/\(Self.app)/online.key record",
                    "apps/\(Self.app)/versions.json record", "drafts/\(Self.app)/beta/4 record",
                ]
        )
    }

    @Test
    func `names a label that the record lacks or knows with other bytes`() throws {
        let server = try server()
        let labels = server.folder.apps.appending(Self.app).appending("labels.json")
        let text = String(decoding: try server.files.read(labels, limit: 10_000), as: UTF8.self)
        try server.files.replace(
            "labels.json",
            in: labels.removingLastComponent(),
            with: Array(
                text.replacing("fix-cart-total", with: "fix-cart-other").utf8
            )
        )
        #expect(try found(server) == ["apps/\(Self.app)/labels.json label"])
        #expect(
            try server.check().faults.map(\.detail)
                == ["it lacks fix-cart-total 1, which production publishes"]
        )
        let other = text.replacing(SHA256Digest(of: Self.script).hex, with: SHA256Digest(of: [1]).hex)
        try server.files.replace("labels.json", in: labels.removingLastComponent(), with: Array(other.utf8))
        #expect(
            try server.check().faults.map(\.detail)
                == ["it has other bytes for fix-cart-total 1, which production publishes"]
        )
    }

    @Test(arguments: [
        WatchedFiles.Moment.opening("metadata/1.production.json"), .listing("targets/production/web/1.0.0"),
        .opening(FilePath(URLLayout.object(SHA256Digest(of: Array("console.log(1);".utf8))))),
    ])
    func `finds nothing wrong when garbage is collected beside it`(_ moment: WatchedFiles.Moment) throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try server(on: files)
        let before = try server.treeFiles()
        let collector = Interruption(before: moment.below(server.folder.tree(of: server.repository.app))) {
            let rule = GarbageRule(keep: 0, protect: .zero)
            var collection = CollectGarbage(server.repository, by: rule, at: TestingServer.start)
            while try collection.step() {}
        }
        #expect(try CheckTree(of: server.on(collector.watch(files)).repository).run().faults == [])
        #expect(try collector.happened)
        #expect(try server.treeFiles().isStrictSubset(of: before))
    }

    @Test
    func `calls half-written files no fault`() throws {
        let server = try server()
        try server.files.makeDirectory(server.folder.incoming)
        try server.files.write([1], to: server.folder.incoming.appending("new"))
        let report = try server.check()
        #expect(report.faults.map(\.rule) == [.leftover] && report.isWhole)
        #expect(report.faults.map(\.detail) == ["no release uses it"])
    }
}

@Suite("A repair of a server's folder")
struct RepairTests {
    private static let app = "com.example.storefront"

    private func repair(_ server: TestingServer, from sources: [FilePath] = []) throws -> TreeReport {
        let repository = AppRepository(suspecting: server.repository.app, in: server.folder, files: server.files)
        return try RepairTree(of: repository, from: sources).run()
    }

    /// Production and beta with the same bundle, and an export beside.
    private func server(on files: FaultyFiles = FaultyFiles()) throws -> TestingServer {
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        try server.publish(
            try server.factory.release(on: server.repository, channel: ReleaseFactory.beta, signedBy: [.beta])
        )
        return server
    }

    @Test
    func `takes a manifest from the other channel that has it, and nothing else changes`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let before = try server.everything()
        let manifest = try #require(
            try server.treeFiles().first { $0.hasPrefix("targets/production/") && $0.hasSuffix(".manifest.json") }
        )
        for damage in [{ try files.rot($0) }, { try files.remove($0) }] as [(FilePath) throws -> Void] {
            try damage(server.treePath(manifest))
            let report = try repair(server)
            #expect(report.isWhole && report.repaired.map(\.path) == ["tree/\(Self.app)/\(manifest)"])
            #expect(try server.everything() == before)
        }
    }

    @Test
    func `takes an object from a draft that brings it`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files, threshold: 2)
        try server.publish(
            try server.factory.release(on: server.repository, signedBy: [.production, .second])
        )
        try server.publish(try server.factory.release(ExportTests.second, on: server.repository))
        let object = URLLayout.object(SHA256Digest(of: Array("cart.total = 1;".utf8)))
        try files.rot(server.treePath(object))
        let report = try repair(server)
        #expect(report.isWhole && report.repaired.map(\.rule) == [.altered])
        #expect(try server.check().faults == [])
    }

    @Test
    func `takes roles, targets and objects from a folder that has them, round by round`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        _ = try ExportTree(of: server.repository, to: "/backup").run()
        let before = try server.everything().filter { $0.key.contains("/tree/") }
        let lost = try server.treeFiles().filter { name in
            name.hasPrefix("targets/") || name.hasPrefix("objects/")
                || ["3.snapshot", "1.targets", "1.production", "3.dial"].contains { name == "metadata/\($0).json" }
        }
        let kept = try fileNames(server.files, FilePath("/backup").appending(Self.app))
        for name in lost where kept.contains(name) { try files.remove(server.treePath(name)) }
        let report = try repair(server, from: ["/backup"])
        #expect(report.isWhole, "\(report.faults)")
        #expect(try server.everything().filter { $0.key.contains("/tree/") } == before)
    }

    @Test
    func `takes the first root from the record of it`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        try files.rot(server.treePath("metadata/1.root.json"))
        #expect(try repair(server).isWhole)
        #expect(try server.check().faults == [])
    }

    @Test
    func `adds labels that published lists have, and removes what is half-written`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let folder = server.folder.apps.appending(Self.app)
        let before = try files.read(folder.appending("labels.json"), limit: 10_000)
        try files.replace("labels.json", in: folder, with: Array(#"{"format":"patchline-labels-v1","labels":[]}"#.utf8))
        try files.makeDirectory(server.folder.incoming)
        try files.write([1], to: server.folder.incoming.appending("new"))
        let report = try repair(server)
        #expect(report.isWhole && Set(report.repaired.map(\.rule)) == [.label, .leftover])
        let labels = String(decoding: try files.read(folder.appending("labels.json"), limit: 10_000), as: UTF8.self)
        #expect(labels.contains("fix-cart-total") && labels.contains(#""patchId":"web""#) && !before.isEmpty)
        #expect(try files.status(of: server.folder.incoming) == nil)
    }

    @Test
    func `leaves what it cannot prove, and says so`() throws {
        let files = FaultyFiles()
        let server = try server(on: files)
        let object = URLLayout.object(SHA256Digest(of: Array("cart.total = 1;".utf8)))
        try files.rot(server.treePath(object))
        try files.rot(server.treePath("metadata/timestamp.json"))
        try files.write([1], to: server.treePath("index.html"))
        // Another content under the name that is looked for.
        try files.makeDirectory(FilePath("/backup").appending(object).removingLastComponent())
        try files.write([1, 2], to: FilePath("/backup").appending(object))
        let before = try server.everything()
        let report = try repair(server, from: ["/backup", "/nothing"])
        #expect(report.repaired == [] && !report.isWhole)
        #expect(report.faults.map(\.rule.rawValue) == ["stranger", "malformed", "altered"])
        #expect(try server.everything() == before)
    }
}

/// Names of the files below a folder.
private func fileNames(_ files: any FileOperations, _ folder: FilePath) throws -> Set<String> {
    var found: Set<String> = []
    for name in try files.list(folder) {
        let path = folder.appending(name)
        if try files.status(of: path)?.kind == .directory {
            found.formUnion(try fileNames(files, path).map { "\(name)/\($0)" })
        } else {
            found.insert(name)
        }
    }
    return found
}

extension WatchedFiles.Moment {
    fileprivate func below(_ folder: FilePath) -> Self {
        switch self {
        case .opening(let name): .opening(folder.pushing(name))
        case .listing(let name): .listing(folder.pushing(name))
        }
    }
}
