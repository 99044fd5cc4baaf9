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

@Suite("A published tree that lies elsewhere")
struct TreeStorageTests {
    private let production = ReleaseFactory.production
    private let files = FaultyFiles()
    private let memory: MemoryStorage
    private let server: TestingServer

    init() throws {
        memory = MemoryStorage(ReleaseFactory.app, files: files, at: TestingServer.start)
        server = try TestingServer(files: files, storage: memory)
    }

    private func contents(_ number: Int) -> ReleaseFactory.Contents {
        ReleaseFactory.Contents(
            web: ("1.0.\(number)", ["index.html": "<p>all</p>", "app/main.js": "show(\(number));"])
        )
    }

    private func publish(_ number: Int) throws {
        try server.publish(try server.factory.release(contents(number), on: server.repository))
    }

    private func object(_ number: Int) -> TreePath.File {
        .object(SHA256Digest(of: Array("show(\(number));".utf8)))
    }

    @Test
    func `is published to, turned, signed again and checked by the same callers, and no folder has any of it`() throws {
        try publish(1)
        try publish(2)
        let change = DialChange(.pause, of: named("web"))
        _ = try TurnDial([change], in: production, of: server.repository, signing: server.key, at: TestingServer.start)
            .run()
        try server.refresh(at: TestingServer.start.adding(.hours(6)))

        let report = try server.check()
        #expect(report.faults == [] && report.counts.roles > 6)
        #expect(memory.status(of: object(1)) != nil && memory.status(of: object(2)) != nil)
        #expect(try files.status(of: server.folder.tree) == nil)
    }

    @Test
    func `is exported to a folder, which verifies`() throws {
        try publish(1)
        _ = try ExportTree(of: server.repository, to: "/stick").run()
        let stick = FolderCopy(files: files, folder: FilePath("/stick").appending(server.repository.app.text))
        let current = Set(memory.names.map { TreePath(server.repository.app, $0).path })
            .subtracting(["metadata/1.snapshot.json", "metadata/1.dial.json"]).union(["metadata/express/production"])
        let forms = try stick.names().filter { $0.hasSuffix(".zst") || $0.hasSuffix(".gz") }
        #expect(try stick.names().subtracting(forms) == current && forms.allSatisfy { $0.hasPrefix("metadata/") })
    }

    @Test
    func `gives back what nothing needs, and keeps what something does`() throws {
        try publish(1)
        memory.setClock(to: TestingServer.start.adding(.hours(100)))
        try publish(2)
        memory.setClock(to: TestingServer.start.adding(.hours(200)))
        try publish(3)
        var collection = CollectGarbage(
            server.repository,
            by: GarbageRule(keep: 0, protect: .zero),
            at: TestingServer.start.adding(.hours(200))
        )
        while try collection.step() {}
        #expect(memory.status(of: object(1)) == nil && memory.status(of: object(3)) != nil)
        #expect(try server.check().faults == [])
    }

    @Test
    func `shows what rotted there`() throws {
        try publish(1)
        memory.rot(object(1))
        let faults = try server.check().faults
        #expect(faults.map(\.rule) == [.altered])
        #expect(faults.first?.path.hasSuffix(TreePath(server.repository.app, object(1)).path) == true)
    }

    @Test
    func `that another publishes to at the last moment keeps the other's release`() throws {
        try publish(1)
        let (second, third) = (
            try server.factory.release(contents(2), on: server.repository),
            try server.factory.release(contents(3), on: server.repository)
        )
        let other = server
        memory.beforeExchange { try other.publish(second) }
        #expect(throws: ServerError.movedOn(server.repository.app)) { try server.publish(third) }
        let state = try PublishedState(of: server.repository)
        #expect(state.channels[production]?.identity == second.role.identity)
        #expect(throws: ServerError.conflict(.outdated(channel: production, base: 1, current: 2))) {
            try server.publish(third)
        }
    }
}

@Suite("A published tree in a folder")
struct FolderStorageTests {
    private let app = ReleaseFactory.app

    @Test
    func `exchanges a timestamp only for the one that its writer has read`() throws {
        let server = try TestingServer()
        let storage = server.repository.storage
        let before = try server.everything()
        #expect(throws: ServerError.movedOn(app)) { try storage.exchange([1, 2, 3], for: [9]) }
        #expect(throws: ServerError.movedOn(app)) { try storage.exchange([1, 2, 3], for: nil) }
        #expect(try server.everything() == before)

        let path = server.folder.tree(of: app).appending(URLLayout.timestamp)
        let existing = try server.files.read(path, limit: 10_000)
        #expect(try storage.exchange([1, 2, 3], for: existing) == TreeChange(files: 1, bytes: 3))
        #expect(try server.files.read(path, limit: 10) == [1, 2, 3])
        #expect(try storage.exchange([1, 2, 3], for: existing) == .nothing)
    }

    @Test
    func `of which a writer stops at the last moment begins anew on what is there then`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        #expect(try server.repository.storage.removeHalfWritten() == [])
        try server.files.makeDirectory(server.folder.incoming)
        try server.files.write([1, 2], to: server.folder.incoming.appending("0"))
        #expect(try server.repository.storage.removeHalfWritten() == [2])
        #expect(try server.files.status(of: server.folder.incoming) == nil)
    }
}

/// Every file below a folder, by path.
private struct FolderCopy {
    let files: any FileOperations
    let folder: FilePath

    func names(_ below: String = "") throws -> Set<String> {
        var found: Set<String> = []
        for name in try files.list(below.isEmpty ? folder : folder.appending(below)) {
            let path = below.isEmpty ? name : "\(below)/\(name)"
            if try files.status(of: folder.appending(path))?.kind == .directory {
                found.formUnion(try names(path))
            } else {
                found.insert(path)
            }
        }
        return found
    }
}
