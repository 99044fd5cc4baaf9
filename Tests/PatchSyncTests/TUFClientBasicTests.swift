import DeviceTesting
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// The cases of `test_basic.py` of theupdateframework/tuf-conformance.
@Suite("A TUF client")
struct TUFClientBasicTests {
    private static let cold = "2.root timestamp 1.snapshot 1.targets"
    private static let first = "root 1, snapshot 1, targets 1, timestamp 1"

    @Test func `basic refresh requests`() async throws {
        try await TUFWorld().refresh(requests: Self.cold, leaves: Self.first)
    }

    @Test func `basic refresh trusted data`() async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        // Nothing has changed: two requests.
        try await world.refresh(requests: "2.root timestamp", leaves: Self.first)
    }

    @Test func `implicit refresh before a download`() async throws {
        let world = try TUFWorld()
        try await world.download(
            "nonexistent artifact",
            failing: .trust(.targetNotFound("nonexistent artifact")),
            requests: Self.cold,
            leaves: [:]
        )
        #expect(try world.stored() == Self.first)
    }

    @Test func `invalid initial root is not started from, and nothing is asked for`() async throws {
        let world = try TUFWorld()
        world.server.edit { $0.replace(",\"version\":1", with: "", in: "metadata/1.root.json") }
        let error = SyncError.trust(
            .malformed(FormatError("root", field: "version", rule: "must be an integer from 1 to 9007199254740991"))
        )
        try await startAndRefresh(world, failing: error)
    }

    @Test func `unsigned initial root is not started from, and nothing is asked for`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["root"].version = 0
            repository["root"].signers = []
            repository["root"].moreSignatures = [(SimulatedSigner("root").id, String(repeating: "3045", count: 32))]
            repository.publish("root")
        }
        try await startAndRefresh(world, failing: .trust(.threshold(role: "root", valid: 0, needed: 1)))
    }

    /// Refused at the start; and a folder in which such a root stands all the same is refused by a refresh.
    private func startAndRefresh(_ world: TUFWorld, failing error: SyncError) async throws {
        let root = world["metadata/1.root.json"]
        let store = TrustStore(folder: "/other", files: world.disk)
        #expect(throws: error) { try TUFClient.start(store, root: root) }
        #expect(throws: (any Error).self) { try world.disk.list("/other") }
        try world.store.save(root, as: "root")
        #expect(await TUFWorld.error { () throws(SyncError) in try await world.client().refresh() } == error)
        #expect(world.requests() == "")
    }

    @Test(arguments: [
        ("root", "root 1", "2.root"), ("timestamp", "root 2", "2.root 3.root timestamp"),
        ("snapshot", "root 2, timestamp 2", "2.root 3.root timestamp 2.snapshot"),
        ("targets", "root 2, snapshot 2, timestamp 2", "2.root 3.root timestamp 2.snapshot 2.targets"),
    ])
    func `unsigned metadata`(role: String, trusted: String, requests: String) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository[role].signers = []
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.threshold(role: role, valid: 0, needed: 1)),
            requests: requests,
            leaves: trusted
        )
    }

    @Test(arguments: [
        ("root", "root 1"), ("snapshot", "root 2, timestamp 2"), ("targets", "root 2, snapshot 2, timestamp 2"),
    ])
    func `url and metadata version mismatch`(role: String, trusted: String) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository[role].members = [("version", .integer(3))]
            repository.publish("root", "targets", "snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.wrongVersion(role: role, offered: 3, expected: 2)),
            leaves: trusted
        )
    }

    @Test func `timestamp content changes without a new version`() async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository["timestamp"].version = 0
            repository.snapshotFile = .fields([("version", .integer(100))])
            repository.publish("timestamp")
        }
        try await world.refresh(requests: "2.root timestamp", leaves: Self.first)
    }

    @Test func `basic metadata hash support`() async throws {
        let world = try TUFWorld { $0.listsHashes = true }
        try await world.refresh(requests: Self.cold, leaves: Self.first)
    }

    @Test func `targets hash mismatch`() async throws {
        let world = try TUFWorld { $0.listsHashes = true }
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository.publish("targets")
            repository.meta["targets"] = Self.misnamed(2)
            repository.publish("snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .trust(.wrongDigest(name: "targets", algorithm: "sha256")),
            requests: "2.root timestamp 2.snapshot 2.targets",
            leaves: "root 1, snapshot 2, targets 1, timestamp 2"
        )
    }

    @Test func `snapshot hash mismatch`() async throws {
        let world = try TUFWorld { $0.listsHashes = true }
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository.publish("snapshot")
            repository.snapshotFile = Self.misnamed(2)
            repository.publish("timestamp")
        }
        try await world.refresh(
            failing: .trust(.wrongDigest(name: "snapshot", algorithm: "sha256")),
            requests: "2.root timestamp 2.snapshot",
            leaves: "root 1, snapshot 1, targets 1, timestamp 2"
        )
    }

    private static func misnamed(_ version: Int) -> JSON {
        .fields([
            ("version", .integer(version)),
            ("hashes", .fields([("sha256", .text(String(repeating: "0", count: 64)))])),
        ])
    }

    @Test func `metadata bytes match`() async throws {
        let world = try TUFWorld()
        let bytes = world["metadata/timestamp.json"] + Array(" \n".utf8)
        world.server.edit { $0.files["metadata/timestamp.json"] = bytes }
        try await world.client().refresh()
        #expect(try world.disk.read("/metadata/timestamp.json", limit: 100_000) == bytes)
    }

    @Test func `custom fields`() async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            let extra = JSON.fields([("a", .integer(1)), ("b", .integer(2))])
            let signer = SimulatedSigner("more", members: [("extra-field", extra)])
            repository["root"].members = [("custom-field", .text("value"))]
            repository.keys["root"]?.signers.append(signer)
            repository.keys["root"]?.threshold = 2
            repository.keys["root"]?.members = [("another-field", .text("value"))]
            repository["root"].signers.append(signer)
            repository.publish("root")
        }
        try await world.refresh(
            requests: "2.root 3.root timestamp",
            leaves: "root 2, snapshot 1, targets 1, timestamp 1"
        )
    }

    @Test func `deprecated keyid_hash_algorithms`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            let signer = SimulatedSigner("more", members: [("keyid_hash_algorithms", .text("md5"))])
            repository.keys["snapshot"] = .init([signer])
            repository["snapshot"].signers = [signer]
            repository.publish("root", "snapshot", "timestamp")
        }
        try await world.refresh(leaves: "root 2, snapshot 2, targets 1, timestamp 2")
    }

    @Test func `snapshot 404`() async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository.snapshotFile = .fields([("version", .integer(2))])
            repository.publish("timestamp")
        }
        try await world.refresh(
            failing: .fetch(.notFound("metadata/2.snapshot.json")),
            requests: "2.root timestamp 2.snapshot",
            leaves: "root 1, snapshot 1, targets 1, timestamp 2"
        )
    }

    @Test func `targets 404`() async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        world.server.edit { repository in
            repository.meta["targets"] = .fields([("version", .integer(2))])
            repository.publish("snapshot", "timestamp")
        }
        try await world.refresh(
            failing: .fetch(.notFound("metadata/2.targets.json")),
            requests: "2.root timestamp 2.snapshot 2.targets",
            leaves: "root 1, snapshot 2, targets 1, timestamp 2"
        )
    }

    @Test func `timestamp 404`() async throws {
        let world = try TUFWorld()
        try await world.refresh(leaves: Self.first)
        world.server.fail("metadata/timestamp.json", with: .notFound)
        try await world.refresh(
            failing: .fetch(.notFound("metadata/timestamp.json")),
            requests: "2.root timestamp",
            leaves: Self.first
        )
    }

    @Test func `incorrect metadata type`() async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            // A snapshot that would do as a timestamp: its keys, and a meta of one snapshot.json.
            repository.keys["snapshot"]?.signers.append(SimulatedSigner("timestamp"))
            repository["snapshot"].signers.append(SimulatedSigner("timestamp"))
            repository.meta = ["snapshot": .fields([("version", .integer(1))])]
            repository.publish("root", "snapshot")
            repository.files["metadata/timestamp.json"] = repository.files["metadata/2.snapshot.json"]
        }
        try await world.refresh(
            failing: .trust(.malformed(FormatError("timestamp", field: "_type", rule: "must be timestamp"))),
            requests: "2.root 3.root timestamp",
            leaves: "root 2"
        )
    }

    @Test func `faketime: what holds for seven days does not hold after eight`() async throws {
        let world = try TUFWorld()
        let expires = world.clock.now().adding(.days(7))
        world.server.edit { repository in
            repository["root"].expires = expires
            repository.publish("root")
        }
        let stored = "root 2, snapshot 1, targets 1, timestamp 1"
        try await world.refresh(leaves: stored)
        world.clock.advance(by: .days(8))
        try await world.refresh(
            failing: .trust(.clockAheadOrStale(role: "root", expires: expires, clock: world.clock.now())),
            requests: "3.root",
            leaves: stored
        )
    }
}
