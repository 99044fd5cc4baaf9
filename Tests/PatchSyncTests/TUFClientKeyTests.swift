import DeviceTesting
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// The cases of `test_keys.py` of theupdateframework/tuf-conformance, and where it does not go.
@Suite("A TUF client and keys")
struct TUFClientKeyTests {
    private static let first = "root 1, snapshot 1, targets 1, timestamp 1"

    @Test func `snapshot does not meet threshold`() async throws {
        let signers = ["snapshot", "second", "third"].map { SimulatedSigner($0) }
        let world = try TUFWorld { repository in
            repository.keys["snapshot"] = .init(signers, threshold: 3)
            repository["snapshot"].signers = signers
        }
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository["snapshot"].signers.removeLast()
            repository.publish("targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.threshold(role: "snapshot", valid: 2, needed: 3)),
            leaves: "root 1, snapshot 1, targets 1, timestamp 2"
        )
    }

    @Test func `snapshot has too few keys`() async throws {
        let world = try TUFWorld()
        let signers = ["snapshot", "2", "3", "4", "5"].map { SimulatedSigner($0) }
        world.server.edit { repository in
            repository.keys["snapshot"] = .init(signers, threshold: 6)
            repository["snapshot"].signers = signers
            repository.publish("root", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.threshold(role: "snapshot", valid: 5, needed: 6)),
            leaves: "root 2, timestamp 2"
        )
    }

    @Test func `duplicate keys`() async throws {
        let world = try TUFWorld()
        let signer = SimulatedSigner("snapshot")
        world.server.edit { repository in
            repository.keys["snapshot"] = .init([signer], threshold: 6, ids: Array(repeating: signer.id, count: 9))
            repository["snapshot"].signers = Array(repeating: signer, count: 9)
            repository.publish("root", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(
                .malformed(FormatError("root", field: "roles.snapshot.keyids", rule: "must not name a key twice"))
            ),
            requests: "2.root",
            leaves: "root 1"
        )
    }

    @Test func `duplicate sig keyids`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["snapshot"].signers.append(SimulatedSigner("snapshot"))
            repository.publish("snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(
                .malformed(FormatError("snapshot", field: "signatures[1].keyid", rule: "is listed twice"))
            ),
            leaves: "root 1, timestamp 2"
        )
    }

    @Test(arguments: SimulatedSigner.Sort.allCases)
    func `keytype and scheme`(sort: SimulatedSigner.Sort) async throws {
        let world = try TUFWorld()
        let signer = SimulatedSigner("new", sort)
        world.server.edit { repository in
            repository.keys["root"]?.signers.append(signer)
            repository.keys["root"]?.threshold = 2
            repository["root"].signers.append(signer)
            repository.publish("root")
        }
        let stored = "root 2, snapshot 1, targets 1, timestamp 1"
        try await world.refresh(leaves: stored)
        // One that was made with this key, over something else.
        world.server.edit { repository in
            repository["root"].signers.removeLast()
            repository["root"].moreSignatures = [(signer.id, signer.signature(over: [1]))]
            repository.publish("root")
        }
        try await world.refresh(
            failing: .trust(.threshold(role: "root", valid: 1, needed: 2)),
            requests: "3.root",
            leaves: stored
        )
    }

    @Test func `invalid sig in valid metadata`() async throws {
        let world = try TUFWorld()
        let good = SimulatedSigner("good")
        world.server.edit { repository in
            repository.keys["timestamp"]?.signers.append(good)
            repository["timestamp"].signers = [good]
            repository["timestamp"].moreSignatures = [
                (SimulatedSigner("timestamp").id, SimulatedSigner("timestamp").signature(over: [1]))
            ]
            repository.publish("root", "timestamp")
        }
        try await world.refresh(leaves: "root 2, snapshot 1, targets 1, timestamp 2")
        for (index, bad) in ["", "no hex", "00"].enumerated() {
            world.server.edit { repository in
                repository["timestamp"].moreSignatures = [(SimulatedSigner("timestamp").id, bad)]
                repository.publish("timestamp")
            }
            try await world.refresh(leaves: "root 2, snapshot 1, targets 1, timestamp \(3 + index)")
        }
    }

    // MARK: Not in the suite

    @Test(arguments: [
        SimulatedSigner("p256", .p256, keytype: "ecdsa-sha2-nistp256"),
        SimulatedSigner("p256", .p256), SimulatedSigner("rsa", .rsa), SimulatedSigner("ed25519"),
    ])
    func `every role may have keys of every sort, also a delegated one`(signer: SimulatedSigner) async throws {
        let world = try TUFWorld { repository in
            repository.delegate(.init("delegated", keys: .init([signer])))
            repository["delegated"].signers = [signer]
            for role in SimulatedTUF.topRoles {
                repository.keys[role] = .init([signer])
                repository[role].signers = [signer]
            }
            repository.addTarget("file", "content", to: "delegated")
            repository.publish("delegated")
        }
        try await world.download("file", leaves: ["file": "content"])
        #expect(try world.stored() == "delegated 1, root 1, snapshot 1, targets 1, timestamp 1")
    }

    @Test(arguments: [
        ("a scheme of another key type", "ed25519", "rsassa-pss-sha256"),
        ("an unknown scheme", "ed25519", "ed448"), ("an unknown type", "ml-dsa", "ml-dsa-65"),
        ("no type at all", "", ""),
    ])
    func `a key of an unknown sort stands in the way of nothing, and signs nothing`(
        what: String,
        type: String,
        scheme: String
    ) async throws {
        let members: [(String, JSON)] = [("keytype", .text(type)), ("scheme", .text(scheme))]
        let unknown = SimulatedSigner("unknown", members: members)
        let world = try TUFWorld()
        world.server.edit { repository in
            for role in SimulatedTUF.topRoles {
                repository.keys[role]?.signers.append(unknown)
                repository[role].signers.append(unknown)
            }
            repository.delegate(.init("delegated", keys: .init([SimulatedSigner("delegated"), unknown])))
            repository.addTarget("file", "content", to: "delegated")
            repository.publish("delegated", "root", "targets", "snapshot", "timestamp")
        }
        try await world.download("file", leaves: ["file": "content"])
        world.server.edit { repository in
            repository.keys["timestamp"]?.threshold = 2
            repository.publish("root", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.threshold(role: "timestamp", valid: 1, needed: 2)),
            leaves: "delegated 1, root 3, snapshot 2, targets 2, timestamp 2"
        )
    }

    @Test(arguments: [String(repeating: "a", count: 64), "short", ""])
    func `a key id that is not the digest of its key refuses the root`(id: String) async throws {
        let world = try TUFWorld()
        let liar = SimulatedSigner("liar", id: id)
        world.server.edit { repository in
            repository.keys["snapshot"] = .init([liar])
            repository.publish("root")
        }
        try await world.refresh(
            failing: .trust(
                .malformed(
                    FormatError("root", field: "keys.\(id)", rule: "must be the SHA-256 of its key's canonical JSON")
                )
            ),
            requests: "2.root",
            leaves: "root 1"
        )
    }

    @Test func `a key id that is not the digest of its key refuses the delegating role`() async throws {
        let id = String(repeating: "b", count: 64)
        let world = try TUFWorld { repository in
            repository.delegate(.init("delegated", keys: .init([SimulatedSigner("liar", id: id)])))
            repository.publish("delegated")
        }
        let rule = "must be the SHA-256 of its key's canonical JSON"
        try await world.refresh(
            failing: .trust(.malformed(FormatError("targets", field: "delegations.keys.\(id)", rule: rule))),
            leaves: "root 1, snapshot 1, timestamp 1"
        )
    }

    @Test func `the same key under two ids counts once`() async throws {
        let world = try TUFWorld()
        let twins = [
            SimulatedSigner("twin", members: [("x", .integer(1))]),
            SimulatedSigner("twin", members: [("x", .integer(2))]),
        ]
        #expect(twins[0].id != twins[1].id)
        world.server.edit { repository in
            repository.keys["timestamp"] = .init(twins, threshold: 2)
            repository["timestamp"].signers = twins
            repository.publish("root", "timestamp")
        }
        try await world.refresh(failing: .trust(.threshold(role: "timestamp", valid: 1, needed: 2)), leaves: "root 2")
        world.server.edit { repository in
            repository.keys["timestamp"] = .init(twins + [SimulatedSigner("other")], threshold: 2)
            repository["timestamp"].signers = twins + [SimulatedSigner("other")]
            repository.publish("root", "timestamp")
        }
        try await world.refresh(leaves: "root 3, snapshot 1, targets 1, timestamp 3")
    }

    @Test func `a role may name keys that are not listed, and they sign nothing`() async throws {
        let missing = SimulatedSigner("missing")
        let world = try TUFWorld { repository in
            repository.keys["timestamp"]?.ids = [SimulatedSigner("timestamp").id, missing.id]
            repository["timestamp"].signers = [missing]
        }
        try await world.refresh(failing: .trust(.threshold(role: "timestamp", valid: 0, needed: 1)), leaves: "root 1")
    }

    @Test(arguments: [0, -1, 1_001])
    func `a threshold below one or beyond reason refuses the root`(threshold: Int) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository.keys["snapshot"]?.threshold = threshold
            repository.publish("root")
        }
        let rule = "must be an integer from 1 to 1000"
        try await world.refresh(
            failing: .trust(.malformed(FormatError("root", field: "roles.snapshot.threshold", rule: rule))),
            leaves: "root 1"
        )
    }
}
