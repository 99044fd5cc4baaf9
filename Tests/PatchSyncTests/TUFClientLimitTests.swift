import DeviceTesting
import PatchFetch
import PatchFormat
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Every size and count that a hostile repository could blow up; theupdateframework/tuf-conformance has none of them.
@Suite("A TUF client's limits")
struct TUFClientLimitTests {
    private static let next = [
        ("root", "2.root", 512_000), ("timestamp", "timestamp", 16_384), ("snapshot", "1.snapshot", 2_000_000),
        ("targets", "1.targets", 5_000_000), ("delegated", "1.delegated", 5_000_000),
    ]

    /// Nothing of it lists a length.
    private static func world(_ prepare: (inout SimulatedTUF) -> Void = { _ in }) throws -> TUFWorld {
        try TUFWorld { repository in
            repository.delegate(.init("delegated"))
            repository.addTarget("file", "content", to: "delegated")
            prepare(&repository)
            repository.publish("delegated")
        }
    }

    @Test(arguments: next)
    func `reading an endless role stops at its limit`(role: String, path: String, limit: Int) async throws {
        let world = try Self.world()
        world.server.fail("metadata/\(path).json", with: .endless)
        let before = world.server.bytesSent
        try await world.download(
            "file",
            failing: .fetch(.tooLarge("metadata/\(path).json", limit: limit)),
            leaves: [:]
        )
        // The roles before it are small.
        #expect(world.server.bytesSent - before <= limit + 10_000)
        #expect(try world.disk.list(TUFWorld.folder).contains("\(role).json") == (role == "root"))
    }

    /// White space behind the document, up to the limit and one byte further.
    @Test(arguments: next, [0, 1])
    func `a role of its limit is taken, and one byte more is not`(
        row: (role: String, path: String, limit: Int),
        excess: Int
    ) async throws {
        let world = try Self.world { repository in if row.role == "root" { repository.publish("root", "root") } }
        let path = "metadata/\(row.path).json"
        let missing = row.limit + excess - world[path].count
        world.server.edit { $0.files[path]? += [UInt8](repeating: 0x20, count: missing) }
        try await world.download(
            "file",
            failing: excess == 0 ? nil : .fetch(.tooLarge(path, limit: row.limit)),
            leaves: excess == 0 ? ["file": "content"] : [:]
        )
    }

    @Test(arguments: ["snapshot", "targets", "delegated"])
    func `a listed length below the limit is the limit`(role: String) async throws {
        let world = try Self.world { $0.listsHashes = true }
        let path = "metadata/1.\(role).json"
        let length = world[path].count
        let faults: [(SimulatedRepository.Fault, SyncError)] = [
            (.endless, .fetch(.tooLarge(path, limit: length))),
            (.replaced(world[path] + [0x20]), .fetch(.tooLarge(path, limit: length))),
            (.shortened(to: length - 1), .trust(.wrongLength(name: role, found: length - 1, expected: length))),
        ]
        for (fault, error) in faults {
            world.server.fail(path, with: fault)
            try await world.download("file", failing: error, leaves: [:])
        }
        world.server.repair(path)
        try await world.download("file", leaves: ["file": "content"])
    }

    @Test(arguments: [("snapshot", 2_000_000), ("targets", 5_000_000)])
    func `a listed length beyond the limit is not`(role: String, limit: Int) async throws {
        let world = try Self.world()
        let claim = JSON.fields([("version", .integer(1)), ("length", .integer(limit + 1))])
        world.server.edit { repository in
            repository.meta["targets"] = role == "targets" ? claim : repository.meta["targets"]
            repository.publish("snapshot")
            if role == "snapshot" { repository.snapshotFile = claim }
            repository.publish("timestamp")
        }
        let path = "metadata/1.\(role).json"
        world.server.fail(path, with: .endless)
        try await world.download("file", failing: .fetch(.tooLarge(path, limit: limit)), leaves: [:])
    }

    @Test(arguments: [256, 257])
    func `256 new roots are followed in one refresh, and no more`(count: Int) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            for _ in 1...count { repository.publish("root") }
        }
        let isWithin = count == 256
        try await world.refresh(
            failing: isWithin ? nil : .trust(.tooManyRoots(limit: 256)),
            requests: (2...258).map { "\($0).root" }.joined(separator: " ")
                + (isWithin ? " timestamp 1.snapshot 1.targets" : ""),
            leaves: isWithin ? "root 257, snapshot 1, targets 1, timestamp 1" : "root 257"
        )
        #expect(try world.disk.list("/metadata/root_history").count == 256)
        try await world.refresh(leaves: "root \(count + 1), snapshot 1, targets 1, timestamp 1")
    }

    @Test(arguments: ["root", "timestamp", "snapshot", "targets", "delegated"], [64, 65])
    func `64 signatures on a role, and no more`(role: String, count: Int) async throws {
        let world = try Self.world()
        world.server.edit { repository in
            repository[role].moreSignatures = (1..<count).map { ("\($0)", "") }
            repository.publish("delegated", "root", "targets", "snapshot", "timestamp")
        }
        let error = FormatError(role, field: "signatures", rule: "must hold at most 64 elements")
        try await world.download(
            "file",
            failing: count == 64 ? nil : .trust(.malformed(error)),
            leaves: count == 64 ? ["file": "content"] : [:]
        )
    }

    /// An unknown algorithm refuses the target, not the role.
    @Test(arguments: [0, 1, 16, 17])
    func `1 to 16 hashes of a target`(count: Int) async throws {
        let world = try TUFWorld { repository in
            let hashes = Dictionary(uniqueKeysWithValues: (0..<count).map { ("hash-\($0)", "00") })
            repository.addTarget("other", "content", hashes: hashes)
            repository.addTarget("file", "content")
        }
        let isTaken = (1...16).contains(count)
        let error = FormatError("targets", field: "targets.other.hashes", rule: "must hold 1 to 16 digests")
        try await world.download(
            "file",
            failing: isTaken ? nil : .trust(.malformed(error)),
            leaves: isTaken ? ["file": "content"] : [:]
        )
        #expect(try world.stored() == "root 1, snapshot 1, \(isTaken ? "targets 1, " : "")timestamp 1")
    }

    @Test(arguments: [1_000, 1_001])
    func `1,000 delegations in a role, and no more`(count: Int) async throws {
        let keys = SimulatedTUF.Keys([SimulatedSigner("all")])
        let world = try TUFWorld { repository in
            repository["targets"].delegations = (1...count).map { .init("R\($0)", .paths(["\($0)"]), keys: keys) }
        }
        let error = FormatError("targets", field: "delegations.roles", rule: "must hold at most 1000 elements")
        try await world.refresh(
            failing: count == 1_000 ? nil : .trust(.malformed(error)),
            leaves: "root 1, snapshot 1, \(count == 1_000 ? "targets 1, " : "")timestamp 1"
        )
    }

    /// Of 2^53 − 1 there is no next one; a root that claims more is no document.
    @Test func `the version of a role ends where exact integers do`() async throws {
        let largest = 1 << 53 - 1
        let world = try TUFWorld { $0["timestamp"].version = largest - 1 }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp \(largest)")
        world.server.edit { $0.replace("\(largest)", with: "\(largest + 1)", in: "metadata/timestamp.json") }
        let error = await TUFWorld.error { () throws(SyncError) in try await world.client().refresh() }
        guard case .trust(.malformed(let format)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(format.document == "timestamp" && format.description.contains("2^53"))
    }
}
