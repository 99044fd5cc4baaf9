import DeviceTesting
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// The cases of `test_rollback.py` of theupdateframework/tuf-conformance.
@Suite("A TUF client and what goes back")
struct TUFClientRollbackTests {
    private static let first = "root 1, snapshot 1, targets 1, timestamp 1"

    @Test func `new timestamp version rollback`() async throws {
        let world = try TUFWorld()
        world.server.edit { $0.publish("timestamp") }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 2")
        world.server.edit { repository in
            repository["timestamp"].version = 0
            repository.publish("timestamp")
        }
        try await world.refresh(
            failing: .trust(.rolledBack(role: "timestamp", offered: 1, trusted: 2)),
            requests: "2.root timestamp",
            leaves: "root 1, snapshot 1, targets 1, timestamp 2"
        )
    }

    @Test(arguments: [false, true])
    func `snapshot rollback`(withHashes: Bool) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository.listsHashes = withHashes
            repository.publish("snapshot", "timestamp")
        }
        let stored = "root 1, snapshot 2, targets 1, timestamp 2"
        try await world.refresh(leaves: stored)
        world.server.edit { repository in
            repository["snapshot"].version = 0
            repository.publish("snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.rolledBack(role: "snapshot", offered: 1, trusted: 2)),
            requests: "2.root timestamp",
            leaves: stored
        )
    }

    private static func withDelegated() throws -> TUFWorld {
        try TUFWorld { repository in
            repository.delegate(.init("delegated", .paths(["delegatedpath/*"])))
            repository.publish("delegated")
        }
    }

    @Test func `targets role removal`() async throws {
        let world = try Self.withDelegated()
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository.meta["delegated"] = nil
            repository.publish("snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.droppedFromSnapshot(role: "delegated")),
            requests: "2.root timestamp 2.snapshot",
            leaves: "root 1, snapshot 1, targets 1, timestamp 2"
        )
    }

    @Test func `targets fast-forward recovery`() async throws {
        let world = try Self.withDelegated()
        world.server.edit { repository in
            repository["targets"].version = 99
            repository.publish("targets", "snapshot", "timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 2, targets 100, timestamp 2")
        world.server.edit { repository in
            repository.rotate("snapshot", to: "new")
            repository["targets"].version = 0
            repository["targets"].delegations = []
            repository.meta["delegated"] = nil
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            requests: "2.root 3.root timestamp 3.snapshot 1.targets",
            leaves: "root 2, snapshot 3, targets 1 again, timestamp 3"
        )
    }

    @Test func `new snapshot fast-forward recovery`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["snapshot"].version = 99
            repository.publish("snapshot", "timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 100, targets 1, timestamp 2")
        world.server.edit { repository in
            for role in ["snapshot", "timestamp"] { repository.rotate(role, to: "new") }
            repository["snapshot"].version = 0
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        try await world.refresh(leaves: "root 2, snapshot 1 again, targets 2, timestamp 3")
    }

    @Test func `new timestamp fast-forward recovery`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["timestamp"].version = 99
            repository.publish("timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 100")
        world.server.edit { repository in
            repository.rotate("timestamp", to: "new")
            repository["timestamp"].version = 0
            repository.publish("root", "timestamp")
        }
        try await world.refresh(
            requests: "2.root 3.root timestamp",
            leaves: "root 2, snapshot 1, targets 1, timestamp 1 again"
        )
    }

    @Test(arguments: [false, true])
    func `targets rollback`(withHashes: Bool) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository.listsHashes = withHashes
            repository.publish("targets", "snapshot", "timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 2, targets 2, timestamp 2")
        world.server.edit { repository in
            repository["targets"].version = 0
            repository.publish("targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.rolledBack(role: "targets", offered: 1, trusted: 2)),
            requests: "2.root timestamp 3.snapshot",
            leaves: "root 1, snapshot 2, targets 2, timestamp 3"
        )
    }

    // MARK: Not in the suite

    /// The snapshot that was trusted guards against rollback for as long as its keys hold, however old it is.
    @Test func `an expired snapshot still guards against rollback`() async throws {
        let world = try TUFWorld { repository in
            repository["snapshot"].expires = ManualClock.start.adding(.days(1))
            repository["targets"].version = 4
        }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 5, timestamp 1")
        world.clock.advance(by: .days(2))
        world.server.edit { repository in
            repository["snapshot"].expires = TUFWorld.expires
            repository["targets"].version = 3
            repository.publish("targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.rolledBack(role: "targets", offered: 4, trusted: 5)),
            leaves: "root 1, snapshot 1, targets 5, timestamp 2"
        )
    }

    /// The known timestamp has ended: an older one that still holds is a rollback, and the known one counts no more.
    @Test func `an older timestamp does not help when the known one has expired`() async throws {
        let world = try TUFWorld { $0["timestamp"].expires = TUFWorld.expires.adding(.days(1)) }
        let old = world["metadata/timestamp.json"]
        let expires = ManualClock.start.adding(.days(1))
        world.server.edit { repository in
            repository["timestamp"].expires = expires
            repository.publish("timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 2")
        world.clock.advance(by: .days(2))
        world.server.fail("metadata/timestamp.json", with: .replaced(old))
        try await world.refresh(
            failing: .trust(.clockAheadOrStale(role: "timestamp", expires: expires, clock: world.clock.now())),
            leaves: "root 1, snapshot 1, targets 1, timestamp 2"
        )
    }

    /// A delegated role is held to what the snapshot said of it, like the top one.
    @Test func `a delegated role does not go back`() async throws {
        let world = try Self.withDelegated()
        world.server.edit { repository in
            repository.publish("delegated", "snapshot", "timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 2, targets 1, timestamp 2")
        world.server.edit { repository in
            repository["delegated"].version = 0
            repository.publish("delegated", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.rolledBack(role: "delegated", offered: 1, trusted: 2)),
            leaves: "root 1, snapshot 2, targets 1, timestamp 3"
        )
    }
}
