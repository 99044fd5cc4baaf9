import DeviceTesting
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// The cases of `test_expiration.py` of theupdateframework/tuf-conformance.
@Suite("A TUF client and what has expired")
struct TUFClientExpiryTests {
    private static let first = "root 1, snapshot 1, targets 1, timestamp 1"
    private static let past = ManualClock.start.adding(.days(-5))

    /// Nothing but the clock says that it has ended.
    private static func expired(_ role: String) -> SyncError {
        .trust(.clockAheadOrStale(role: role, expires: past, clock: ManualClock.start))
    }

    @Test func `root expired: is taken, and nothing under it`() async throws {
        let world = try TUFWorld()
        world.server.edit { $0.publish("root") }
        try await world.refresh(leaves: "root 2, snapshot 1, targets 1, timestamp 1")
        world.server.edit { repository in
            repository["root"].expires = Self.past
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: Self.expired("root"),
            requests: "3.root 4.root",
            leaves: "root 3, snapshot 1, targets 1, timestamp 1"
        )
    }

    @Test(arguments: [
        ("timestamp", "2.root timestamp", "root 1, snapshot 1, targets 1, timestamp 1"),
        ("snapshot", "2.root timestamp 2.snapshot", "root 1, snapshot 1, targets 1, timestamp 2"),
        ("targets", "2.root timestamp 2.snapshot 2.targets", "root 1, snapshot 2, targets 1, timestamp 2"),
    ])
    func `timestamp expired, snapshot expired, targets expired`(
        role: String,
        requests: String,
        stored: String
    ) async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository[role].expires = Self.past
            repository.publish("targets", "snapshot", "timestamp")
        }
        try await world.refresh(failing: Self.expired(role), requests: requests, leaves: stored)
    }

    @Test func `expired local root`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["root"].expires = ManualClock.start.adding(.days(7))
            repository.publish("root")
        }
        try await world.refresh(leaves: "root 2, snapshot 1, targets 1, timestamp 1")
        world.server.edit { repository in
            repository["root"].expires = ManualClock.start.adding(.days(21))
            repository.publish("root")
        }
        world.clock.advance(by: .days(18))
        try await world.refresh(
            requests: "3.root 4.root timestamp",
            leaves: "root 3, snapshot 1, targets 1, timestamp 1"
        )
    }

    @Test func `expired local timestamp`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["timestamp"].expires = ManualClock.start.adding(.days(7))
            repository.publish("timestamp")
        }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 2")
        world.server.edit { repository in
            repository["timestamp"].expires = ManualClock.start.adding(.days(21))
            repository.publish("targets", "snapshot", "timestamp")
        }
        world.clock.advance(by: .days(18))
        try await world.refresh(
            requests: "2.root timestamp 2.snapshot 2.targets",
            leaves: "root 1, snapshot 2, targets 2, timestamp 3"
        )
    }

    /// Not in the suite: each role holds until the second that it names, and not in it.
    @Test(arguments: ["root", "timestamp", "snapshot", "targets"])
    func `a role ends with the second that it names, stored or not`(role: String) async throws {
        let expires = ManualClock.start.adding(.days(7))
        let world = try TUFWorld { $0[role].expires = expires }
        world.clock.advance(by: .days(7) - .seconds(1))
        try await world.refresh(leaves: Self.first)
        world.clock.advance(by: .seconds(1))
        try await world.refresh(
            failing: .trust(.clockAheadOrStale(role: role, expires: expires, clock: expires)),
            leaves: Self.first
        )
    }

    /// Not in the suite: the time at which a timestamp says that it was signed is certainly past.
    @Test func `a timestamp that was signed later makes the end of a role certain`() async throws {
        let world = try TUFWorld { $0["snapshot"].expires = ManualClock.start.adding(.days(1)) }
        let signedAt = ManualClock.start.adding(.days(2))
        world.server.edit { repository in
            repository["timestamp"].members = [("x-signed-at", .text(signedAt.description))]
            repository.publish("timestamp")
        }
        let expires = ManualClock.start.adding(.days(1))
        try await world.refresh(
            failing: .trust(
                .clockBehind(role: "snapshot", expires: expires, clock: ManualClock.start, atLeast: signedAt)
            ),
            leaves: "root 1, timestamp 2"
        )
        world.clock.advance(by: .days(3))
        try await world.refresh(
            failing: .trust(.expired(role: "snapshot", expires: expires, at: world.clock.now())),
            leaves: "root 1, timestamp 2"
        )
    }
}
