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

@Suite("Publishing a release")
struct PublishingTests {
    @Test
    func `writes the tree of the URL layout and nothing else`() throws {
        let server = try TestingServer()
        #expect(
            try server.treeFiles() == [
                "metadata/1.root.json", "metadata/1.targets.json", "metadata/1.dial.json", "metadata/1.snapshot.json",
                "metadata/timestamp.json",
            ]
        )

        let release = try server.factory.release(on: server.repository)
        try server.publish(release)

        let state = try PublishedState(of: server.repository)
        let dial = try #require(state.dial.targets["dial/production.json"]?.sha256)
        let contents = release.targets.map { URLLayout.target($0.key, sha256: SHA256Digest(of: $0.value)) }
        #expect(
            try server.treeFiles()
                == Set(contents).union(release.objects.keys.map { URLLayout.object($0) }).union([
                    "metadata/1.root.json", "metadata/1.targets.json", "metadata/1.dial.json",
                    "metadata/1.snapshot.json",
                    "metadata/timestamp.json", "metadata/1.production.json", "metadata/2.dial.json",
                    "metadata/2.snapshot.json", "targets/dial/\(dial).production.json",
                ])
        )
    }

    @Test
    func `tells versions, counts and what was written`() throws {
        let server = try TestingServer()
        guard case .published(let done) = try server.publish(try server.factory.release(on: server.repository)) else {
            Issue.record("was not published")
            return
        }
        #expect(done.channel == ReleaseFactory.production)
        #expect(done.version == 1)
        #expect(done.counts.entries == 2)
        #expect(done.counts.assets == 2)
        #expect(done.counts.signatures == 4)
        #expect(done.change.repaired.isEmpty)
        #expect(done.change.files == 3 + 3 + 1 + 1 + 4)
        #expect((done.roles.dial, done.roles.snapshot, done.roles.timestamp) == (2, 2, 2))
        #expect(done.roles.expires == TestingServer.start.adding(.days(7)))
    }

    @Test
    func `names in the snapshot every role by version, length and digest`() throws {
        let server = try TestingServer()
        let release = try server.factory.release(on: server.repository)
        try server.publish(release)
        let state = try PublishedState(of: server.repository)
        #expect(Set(state.snapshot.files.keys) == ["targets", "dial", "production"])
        #expect(state.snapshot.files["production"] == RoleFile(of: release.role.fileBytes, version: 1))
        #expect(state.timestamp.snapshot.length != nil && state.timestamp.snapshot.sha256 != nil)
        #expect(state.timestamp.signedAt == TestingServer.start)
    }

    @Test
    func `writes only what the tree does not have yet`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let before = try server.everything()
        var contents = ReleaseFactory.Contents()
        contents.web = ("1.0.1", ["index.html": "<p>one</p>", "app/main.js": "console.log(2);"])
        guard
            case .published(let done) = try server.publish(try server.factory.release(contents, on: server.repository))
        else {
            Issue.record("was not published")
            return
        }
        // main.js, manifest, column, list; role, snapshot, labels, timestamp. The dial says the same and stays.
        #expect(done.change.files == 8)
        let after = try server.everything()
        let changed = before.filter { after[$0.key] != $0.value }.keys.map { $0.split(separator: "/").last ?? "" }
        #expect(Set(changed) == ["timestamp.json", "labels.json"])
    }

    @Test
    func `keeps the rows of a dial and adds an empty one for a new channel`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        let first = try PublishedState(of: server.repository).dial.targets
        let contents = ReleaseFactory.Contents(scripts: ["beta-only": ("1", "1;")], web: nil)
        try server.publish(
            try server.factory.release(contents, on: server.repository, channel: ReleaseFactory.beta, signedBy: [.beta])
        )
        let state = try PublishedState(of: server.repository)
        #expect(Set(state.dial.targets.keys) == ["dial/production.json", "dial/beta.json"])
        #expect(state.dial.targets["dial/production.json"] == first["dial/production.json"])
        #expect(Set(state.channels.keys) == [ReleaseFactory.production, ReleaseFactory.beta])
    }

    @Test
    func `publishes what is published already once only, and puts back what the tree lost`() throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        let release = try server.factory.release(on: server.repository)
        try server.publish(release)
        let whole = try server.everything()
        #expect(
            try server.publish(release)
                == .alreadyPublished(channel: ReleaseFactory.production, version: 1, .nothing)
        )
        #expect(try server.everything() == whole)

        let object = try #require(release.objects.keys.sorted().first)
        try files.rot(server.folder.tree(of: server.repository.app).appending(URLLayout.object(object)))
        guard case .alreadyPublished(_, _, let change) = try server.publish(release) else {
            Issue.record("was published twice")
            return
        }
        #expect(change.repaired == [URLLayout.object(object)])
        #expect(try server.everything() == whole)
    }
}
