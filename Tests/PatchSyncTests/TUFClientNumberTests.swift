import DeviceTesting
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// Repositories whose files have no version in their names, which theupdateframework/tuf-conformance does not go into.
@Suite("A TUF client of a repository without consistent snapshots")
struct TUFClientNumberTests {
    private static func world() throws -> TUFWorld {
        try TUFWorld { repository in
            repository.consistentSnapshot = false
            repository.delegate(.init("delegated", .paths(["*/*"])))
            repository.addTarget("dir/a b", "content", to: "delegated")
            repository.publish("delegated")
        }
    }

    @Test func `asks for roles and targets by their bare names, and for roots by number`() async throws {
        let world = try Self.world()
        try await world.download(
            "dir/a b",
            requests: "2.root timestamp snapshot targets delegated targets/dir/a%20b",
            leaves: ["dir%2Fa%20b": "content"]
        )
        #expect(try world.stored() == "delegated 1, root 1, snapshot 1, targets 1, timestamp 1")
    }

    @Test func `takes a role of the version that the snapshot names, and no other`() async throws {
        let world = try Self.world()
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 1")
        world.server.edit { $0.publish("targets", "snapshot", "timestamp") }
        // Half of a publication: the newest targets role is there, what names it is not.
        let new = world["metadata/targets.json"]
        world.server.fail("metadata/timestamp.json", with: .replaced(world["metadata/timestamp.json"]))
        world.server.edit { $0.publish("targets") }
        try await world.refresh(
            failing: .trust(.wrongVersion(role: "targets", offered: 3, expected: 2)),
            requests: "2.root timestamp snapshot targets",
            leaves: "root 1, snapshot 2, targets 1, timestamp 2"
        )
        world.server.fail("metadata/targets.json", with: .replaced(new))
        try await world.refresh(
            requests: "2.root timestamp targets",
            leaves: "root 1, snapshot 2, targets 2, timestamp 2"
        )
    }

    @Test func `a root without the member has no consistent snapshots`() async throws {
        let world = try Self.world()
        world.server.edit { repository in
            repository.omitsConsistentSnapshot = true
            repository.publish("root")
        }
        try await world.refresh(
            requests: "2.root 3.root timestamp snapshot targets",
            leaves: "root 2, snapshot 1, targets 1, timestamp 1"
        )
    }

    @Test(arguments: [false, true])
    func `follows a new root from the one to the other`(toConsistent: Bool) async throws {
        let world = try TUFWorld { repository in
            repository.consistentSnapshot = !toConsistent
            repository.addTarget("file", "content")
        }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 1")
        world.server.edit { repository in
            repository.consistentSnapshot = toConsistent
            repository.addTarget("file", "content")
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        let hash = SHA256Digest(of: Array("content".utf8)).hex
        try await world.download(
            "file",
            requests: "2.root 3.root timestamp "
                + (toConsistent ? "2.snapshot 2.targets targets/\(hash).file" : "snapshot targets targets/file"),
            leaves: ["file": "content"]
        )
        #expect(try world.stored() == "root 2, snapshot 2, targets 2, timestamp 2")
    }
}
