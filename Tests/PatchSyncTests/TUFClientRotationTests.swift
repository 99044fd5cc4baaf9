import DeviceTesting
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// One version of a role: who may sign it, how many must, and who did; keys are numbers.
struct RotationStep: Sendable {
    let keys: [Int]
    let threshold: Int
    let signedBy: [Int]
    /// Of the signatures, how many count where the role is refused.
    var valid: Int?

    init(_ keys: [Int], _ threshold: Int, by signedBy: [Int], refusedWith valid: Int? = nil) {
        (self.keys, self.threshold, self.signedBy, self.valid) = (keys, threshold, signedBy, valid)
    }

    func apply(to role: String, of repository: inout SimulatedTUF) {
        repository.keys[role] = .init(keys.map { SimulatedSigner("key \($0)") }, threshold: threshold)
        repository[role].signers = signedBy.map { SimulatedSigner("key \($0)") }
    }
}

/// The cases of `test_updater_key_rotations.py` of theupdateframework/tuf-conformance.
@Suite("A TUF client and key rotations")
struct TUFClientRotationTests {
    /// The last step is refused where it says so.
    static let roots: [(String, [RotationStep])] = [
        ("1 of 1, key rotation", [.init([1], 1, by: [1]), .init([2], 1, by: [2, 1]), .init([2], 1, by: [2])]),
        (
            "1 of 1, key rotation, unused signatures",
            [.init([1], 1, by: [3, 1, 4]), .init([2], 1, by: [3, 2, 1, 4]), .init([2], 1, by: [3, 2, 4])]
        ),
        (
            "3 of 5, sign with different key combos",
            [[0, 2, 4], [0, 4, 1], [0, 1, 3], [0, 1, 3]].map { .init([0, 1, 2, 3, 4], 3, by: $0) }
        ),
        (
            "3 of 5, one key rotated",
            [.init([0, 1, 2, 3, 4], 3, by: [0, 2, 4]), .init([0, 1, 3, 4, 5], 3, by: [0, 4, 1])]
        ),
        (
            "3 of 5, one key rotated with intermediate step",
            [
                .init([0, 1, 2, 3, 4], 3, by: [0, 2, 4]), .init([0, 1, 3, 4, 5], 3, by: [0, 2, 4, 5]),
                .init([0, 1, 3, 4, 5], 3, by: [0, 4, 5]),
            ]
        ),
        (
            "3 of 5, all keys rotated with intermediate step",
            [
                .init([0, 1, 2, 3, 4], 3, by: [0, 2, 4]), .init([5, 6, 7, 8, 9], 3, by: [0, 2, 4, 5, 6, 7]),
                .init([5, 6, 7, 8, 9], 3, by: [5, 6, 7]),
            ]
        ),
        ("1 of 3, threshold increase to 2 of 3", [.init([1, 2, 3], 1, by: [1]), .init([1, 2, 3], 2, by: [1, 2])]),
        (
            "2 of 3, threshold decrease to 1 of 3",
            [.init([1, 2, 3], 2, by: [1, 2]), .init([1, 2, 3], 1, by: [1, 2]), .init([1, 2, 3], 1, by: [1])]
        ),
        ("1 of 2, threshold increase to 2 of 2", [.init([1], 1, by: [1]), .init([1, 2], 2, by: [1, 2])]),
        (
            "1 of 1, key rotation fails, not signed with old key",
            [.init([1], 1, by: [1]), .init([2], 1, by: [2, 3, 4], refusedWith: 0)]
        ),
        (
            "1 of 1, key rotation fails, not signed with new key",
            [.init([1], 1, by: [1]), .init([2], 1, by: [1, 3, 4], refusedWith: 0)]
        ),
        (
            "3 of 5, one key rotate fails, not signed with 3 new keys",
            [.init([0, 1, 2, 3, 4], 3, by: [0, 2, 4]), .init([0, 1, 3, 4, 5], 3, by: [0, 2, 4], refusedWith: 2)]
        ),
        (
            "3 of 5, one key rotate fails, not signed with 3 old keys",
            [.init([0, 1, 2, 3, 4], 3, by: [0, 2, 4]), .init([0, 1, 3, 4, 5], 3, by: [0, 4, 5], refusedWith: 2)]
        ),
        (
            "1 of 3, threshold bump to 2 of 3 fails, new threshold not reached",
            [.init([1, 2, 3], 1, by: [1]), .init([1, 2, 3], 2, by: [2], refusedWith: 1)]
        ),
        (
            "2 of 3, threshold decrease to 1 of 3 fails, old threshold not reached",
            [.init([1, 2, 3], 2, by: [1, 2]), .init([1, 2, 3], 1, by: [1], refusedWith: 1)]
        ),
    ]

    @Test(arguments: roots)
    func `root rotation`(what: String, steps: [RotationStep]) async throws {
        let world = try TUFWorld { steps[0].apply(to: "root", of: &$0) }
        world.server.edit { repository in
            for step in steps.dropFirst() {
                step.apply(to: "root", of: &repository)
                repository.publish("root")
            }
        }
        let last = steps.count
        guard let valid = steps[last - 1].valid else {
            let requests = (2...last + 1).map { "\($0).root" }.joined(separator: " ")
            return try await world.refresh(
                requests: "\(requests) timestamp 1.snapshot 1.targets",
                leaves: "root \(last), snapshot 1, targets 1, timestamp 1"
            )
        }
        // The one of the two thresholds that is not met: the old one is looked at first.
        let old = steps[last - 2]
        let signed = Set(steps[last - 1].signedBy)
        let needed = signed.intersection(old.keys).count < old.threshold ? old.threshold : steps[last - 1].threshold
        try await world.refresh(
            failing: .trust(.threshold(role: "root", valid: valid, needed: needed)),
            requests: "2.root",
            leaves: "root \(last - 1)"
        )
    }

    static let others: [(String, RotationStep)] = [
        ("1 of 1, key rotation", .init([2], 1, by: [2])),
        ("1 of 1, unused signatures", .init([1], 1, by: [3, 1, 4])),
        ("1 of 1, fails, not signed with new key", .init([2], 1, by: [1, 3, 4], refusedWith: 0)),
        ("3 of 5, fails, one signature by another key", .init([0, 1, 3, 4, 5], 3, by: [0, 2, 4], refusedWith: 2)),
        ("3 of 5, fails, one signature missing", .init([0, 1, 3, 4, 5], 3, by: [0, 4], refusedWith: 2)),
        ("3 of 5, first combo", .init([0, 1, 2, 3, 4], 3, by: [0, 2, 4])),
        ("3 of 5, second combo", .init([0, 1, 2, 3, 4], 3, by: [0, 4, 1])),
        ("3 of 5, third combo", .init([0, 1, 2, 3, 4], 3, by: [0, 1, 3])),
        ("3 of 5, fourth combo", .init([0, 1, 2, 3, 4], 3, by: [1, 2, 3])),
        ("3 of 5, fifth combo", .init([0, 1, 2, 3, 4], 3, by: [2, 3, 4])),
    ]

    @Test(arguments: others, ["timestamp", "snapshot", "targets"])
    func `non-root rotations`(rotation: (String, RotationStep), role: String) async throws {
        let (_, step) = rotation
        let world = try TUFWorld()
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 1")
        world.server.edit { repository in
            step.apply(to: role, of: &repository)
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        guard let valid = step.valid else {
            return try await world.refresh(leaves: "root 2, snapshot 2, targets 2, timestamp 2")
        }
        let versions = ["timestamp": (1, 1), "snapshot": (1, 2), "targets": (2, 2)]
        let (snapshot, timestamp) = try #require(versions[role])
        try await world.refresh(
            failing: .trust(.threshold(role: role, valid: valid, needed: step.threshold)),
            leaves: "root 2, snapshot \(snapshot), targets 1, timestamp \(timestamp)"
        )
    }

    /// Not in the suite: what was stored is judged by the new keys, and asked for again where it no longer holds.
    @Test(arguments: [
        ("timestamp", "timestamp", "2.root 3.root timestamp", "root 2, snapshot 1, targets 1, timestamp 2"),
        (
            "snapshot", "snapshot timestamp", "2.root 3.root timestamp 2.snapshot",
            "root 2, snapshot 2, targets 1, timestamp 2"
        ),
        (
            "targets", "targets snapshot timestamp", "2.root 3.root timestamp 2.snapshot 2.targets",
            "root 2, snapshot 2, targets 2, timestamp 2"
        ),
    ])
    func `a stored role of the old keys is asked for again, and the others are not`(
        role: String,
        published: String,
        requests: String,
        stored: String
    ) async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 1")
        world.server.edit { repository in
            repository.rotate(role, to: "new")
            repository.publish("root")
            for name in published.split(separator: " ") { repository.publish(String(name)) }
        }
        try await world.refresh(requests: requests, leaves: stored)
    }
}
