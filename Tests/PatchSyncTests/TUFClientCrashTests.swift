import DeviceTesting
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Killed anywhere, which theupdateframework/tuf-conformance does not try.
@Suite("A TUF client that is stopped")
struct TUFClientCrashTests {
    /// Versions by role of what a folder holds, all of it whole.
    private static func versions(_ world: TUFWorld, on disk: FaultyFiles) throws -> [String: Int] {
        let stored = try world.stored(on: disk).split(separator: ", ").filter { !$0.hasPrefix(".") }
        return Dictionary(
            uniqueKeysWithValues: try stored.map { label in
                let words = label.split(separator: " ")
                return (String(words[0]), try #require(words.count == 2 ? Int(words[1]) : nil, "\(label)"))
            }
        )
    }

    private static func expectWhole(_ world: TUFWorld, _ old: [String: Int], on disk: FaultyFiles, _ comment: Comment)
        async throws
    {
        let left = try versions(world, on: disk)
        for (role, version) in old { #expect(left[role] ?? 0 >= version, "\(role) went back; \(comment)") }
        // A snapshot is never ahead of its timestamp, nor targets of their snapshot.
        #expect(left["timestamp"] ?? 0 >= left["snapshot"] ?? 0, comment)
        #expect(left["snapshot"] ?? 0 >= left["targets"] ?? 0, comment)
        try await world.client(on: disk).download(["file"], to: TUFWorld.downloads)
        #expect(try versions(world, on: disk) == newest, comment)
        #expect(try disk.read("/downloads/file", limit: 100) == Array("new content".utf8), comment)
    }

    private static let newest = ["delegated": 2, "root": 3, "snapshot": 2, "targets": 2, "timestamp": 2]

    /// - Parameter isFirst: whether the folder holds nothing but root 1.
    @Test(arguments: [true, false], FaultyFiles.Survival.allCases)
    func `at any change of its disk never goes back, and the next refresh succeeds`(
        isFirst: Bool,
        survival: FaultyFiles.Survival
    ) async throws {
        let world = try TUFWorld { repository in
            repository.delegate(.init("delegated"))
            repository.addTarget("file", "old content", to: "delegated")
            repository.publish("delegated")
        }
        if !isFirst { try await world.client().download(["file"], to: TUFWorld.downloads) }
        let old = try Self.versions(world, on: world.disk)
        world.server.edit { repository in
            repository.addTarget("file", "new content", to: "delegated")
            repository.publish("delegated", "root", "root", "targets", "snapshot", "timestamp")
        }
        let before = world.disk.crashed(.keep)
        let rehearsal = before.reopened()
        try await world.client(on: rehearsal).download(["file"], to: TUFWorld.downloads)
        try await Self.expectWhole(world, Self.newest, on: rehearsal.crashed(.lose), "not stopped")
        #expect(rehearsal.changes > 30)
        for change in 1...rehearsal.changes {
            let disk = before.reopened(failingAtChange: change)
            let error = await TUFWorld.error { () throws(SyncError) in
                try await world.client(on: disk).download(["file"], to: TUFWorld.downloads)
            }
            guard case .file = error else {
                Issue.record(
                    "was not stopped at change \(change) of \(rehearsal.changes): \(String(describing: error))"
                )
                continue
            }
            try await Self.expectWhole(world, old, on: disk.crashed(survival), "change \(change), \(survival)")
        }
    }

    /// The server is stopped between any two roles: what came before is kept, and is gone on from.
    @Test func `between any two roles goes on from there`() async throws {
        let stored = [
            ("2.root", "root 1"), ("timestamp", "root 1"), ("1.snapshot", "root 1, timestamp 1"),
            ("1.targets", "root 1, snapshot 1, timestamp 1"),
            ("1.delegated", "root 1, snapshot 1, targets 1, timestamp 1"),
        ]
        for (path, left) in stored {
            let world = try TUFWorld { repository in
                repository.delegate(.init("delegated"))
                repository.addTarget("file", "content", to: "delegated")
                repository.publish("delegated")
            }
            world.server.fail("metadata/\(path).json", with: .connection)
            try await world.download(
                "file",
                failing: .fetch(.connection("metadata/\(path).json", reason: "unplugged")),
                leaves: [:]
            )
            #expect(try world.stored() == left)
            world.server.repair("metadata/\(path).json")
            let known = left.split(separator: ", ").map { $0.split(separator: " ")[0] }
            let missing = ["snapshot", "targets", "delegated"].filter { !known.contains($0[...]) }
            let hash = SHA256Digest(of: Array("content".utf8)).hex
            try await world.download(
                "file",
                requests: (["2.root timestamp"] + missing.map { "1.\($0)" } + ["targets/\(hash).file"]).joined(
                    separator: " "
                ),
                leaves: ["file": "content"]
            )
        }
    }
}
