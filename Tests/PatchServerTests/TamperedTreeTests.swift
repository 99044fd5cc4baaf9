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

@Suite("A published tree that was altered behind the server's back")
struct TamperedTreeTests {
    private func path(_ server: TestingServer, _ name: String) -> FilePath {
        server.folder.tree(of: server.repository.app).appending(name)
    }

    @Test(arguments: [
        ("metadata/2.snapshot.json", TrustError.wrongDigest(name: "snapshot", algorithm: "sha256")),
        ("metadata/1.targets.json", .wrongDigest(name: "targets", algorithm: "sha256")),
        ("metadata/1.production.json", .wrongDigest(name: "production", algorithm: "sha256")),
        ("metadata/2.dial.json", .wrongDigest(name: "dial", algorithm: "sha256")),
        ("metadata/1.root.json", .wrongDigest(name: "1.root.json", algorithm: "sha256")),
        ("metadata/timestamp.json", .malformed(FormatError("timestamp", rule: "is not JSON (byte 0)"))),
    ])
    func `takes no release and names the role`(name: String, error: TrustError) throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        let next = try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository)
        try files.rot(path(server, name))
        let before = try server.everything()
        #expect(throws: ServerError.tree(ReleaseFactory.app, error)) { try server.publish(next) }
        #expect(throws: ServerError.tree(ReleaseFactory.app, error)) {
            try server.refresh(at: server.factory.now)
        }
        #expect(try server.everything() == before)
    }

    @Test
    func `takes no release when a role is gone, and names its file`() throws {
        let server = try TestingServer()
        try server.files.remove(path(server, "metadata/1.dial.json"))
        let gone = ServerError.treeFileMissing(ReleaseFactory.app, "tree/com.example.storefront/metadata/1.dial.json")
        #expect(throws: gone) { try PublishedState(of: server.repository) }
    }

    /// Whoever has the online key, and the targets key: every role verifies.
    @Test(arguments: [
        ("3.snapshot", true, "it does not list dial"), ("2.targets", false, "dial: no role delegates to it"),
    ])
    func `without a dial is no tree, and the check names the role that leaves it out`(
        name: String,
        isDelegated: Bool,
        detail: String
    ) throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let state = try PublishedState(of: server.repository)
        var files: [String: RoleFile] = [:]
        for (name, file) in state.snapshot.files where name.text != "dial" { files[name.text] = file }
        if !isDelegated {
            let signers = RoleDocument.Signers(keys: [try TestingKey.production.signer], threshold: 1)
            let targets = try RoleDocument.targets(
                version: 2,
                expires: server.factory.now.adding(.days(7)),
                delegations: [.channel(ReleaseFactory.production, signers: signers)]
            ).signed(by: [.targets]).fileBytes
            try server.write(targets, to: URLLayout.metadata("targets", version: 2))
            files["targets"] = RoleFile(of: targets, version: 2)
        }
        try server.overwriteSnapshot(3, timestamp: 3, files: files)
        #expect(throws: ServerError.self) { try PublishedState(of: server.repository) }
        let faults = try server.check().faults
        #expect(faults.map(\.path) == ["tree/\(ReleaseFactory.app)/metadata/\(name).json"])
        #expect(faults.map(\.rule) == [.untrusted] && faults.map(\.detail) == [detail])
    }

    @Test
    func `is healed where the next release brings the right bytes`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        let object = URLLayout.object(SHA256Digest(of: Array("cart.total = 1;".utf8)))
        try files.rot(path(server, object))
        let next = try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository)
        guard case .published(let done) = try server.publish(next) else {
            Issue.record("was not published")
            return
        }
        #expect(done.change.repaired == [object])
        #expect(try files.read(path(server, object), limit: 100) == Array("cart.total = 1;".utf8))
    }

    @Test
    func `refuses a release that leans on a damaged object, by its entry`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        let digest = SHA256Digest(of: Array("cart.total = 1;".utf8))
        try files.rot(path(server, URLLayout.object(digest)))
        let next = try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository)
        let lean = SignedRelease(header: next.header, role: next.role, targets: next.targets, objects: [:])
        let fault = EntryFault(entry: "fix-cart-total 1", rule: .differs("md5"))
        #expect(throws: ServerError.release(.trust(.entry(fault)))) { try server.publish(lean) }
    }

    @Test
    func `forgets no label: without its records nothing is published`() throws {
        let server = try TestingServer()
        let labels = server.folder.records(of: ReleaseFactory.app).appending("labels.json")
        try server.files.remove(labels)
        #expect(throws: ServerError.file(.notFound(.read, labels))) {
            try server.publish(try server.factory.release(on: server.repository))
        }
    }
}
