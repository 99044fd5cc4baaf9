import DeviceTesting
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// The cases of `test_file_download.py` of theupdateframework/tuf-conformance.
@Suite("A TUF client's download")
struct TUFClientDownloadTests {
    private static let content = "target file contents"
    private static let sha256 = "67241abae5b88165521966323626acb503b57c8656797b90ccdc939dade39d02"
    private static let sha512 =
        "07004dbf95b16d699fe6b36c1be7b659cff92f7a26b6dcdc5be9ef38aae9805e"
        + "d4ccc1c73083445dbc4180c09ff6f077e32a7b26d19a7758d99e6e5e811f1e6c"

    private static func world(_ path: String, hashes: [String: String]? = nil) throws -> TUFWorld {
        try TUFWorld { $0.addTarget(path, content, hashes: hashes) }
    }

    @Test func `client downloads expected file`() async throws {
        let world = try Self.world("target_file.txt")
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 1")
        #expect(try world.downloaded() == [:])
        try await world.download(
            "target_file.txt",
            requests: "2.root timestamp targets/\(Self.sha256).target_file.txt",
            leaves: ["target_file.txt": Self.content]
        )
    }

    @Test func `client downloads expected file in sub dir`() async throws {
        let world = try Self.world("path/to/a/target_file.txt")
        try await world.download(
            "path/to/a/target_file.txt",
            requests: "2.root timestamp 1.snapshot 1.targets targets/path/to/a/\(Self.sha256).target_file.txt",
            leaves: ["path%2Fto%2Fa%2Ftarget_file.txt": Self.content]
        )
    }

    @Test func `repository substitutes target file`() async throws {
        let world = try TUFWorld { repository in
            repository.addTarget("one", Self.content)
            repository.addTarget("two", "content")
        }
        try await world.download("one", leaves: ["one": Self.content])
        // The same length, so that nothing but the digest tells.
        for (name, content) in [("one", Self.content), ("two", "content")] {
            let bad = [UInt8](repeating: UInt8(ascii: "x"), count: content.utf8.count)
            world.server.fail(TUFWorld.path(name, content), with: .replaced(bad))
        }
        try await world.download("one", requests: "2.root timestamp", leaves: ["one": Self.content])
        try await world.download(
            "two",
            failing: .trust(.wrongDigest(name: "two", algorithm: "sha256")),
            requests: "2.root timestamp \(TUFWorld.path("two", "content"))",
            leaves: ["one": Self.content]
        )
    }

    @Test func `multiple changes to target`() async throws {
        let world = try Self.world("file")
        var expected = ["file": Self.content]
        try await world.download("file", leaves: expected)
        for number in 0...10 {
            let (new, more) = ("modified file contents \(number)", "new file contents \(number)")
            world.server.edit { repository in
                repository.addTarget("file", new)
                repository.addTarget("new-\(number)", more)
                repository.publish("targets", "snapshot", "timestamp")
            }
            guard number % 5 == 0 else { continue }
            expected["file"] = new
            try await world.download("file", leaves: expected)
            expected["new-\(number)"] = more
            try await world.download("new-\(number)", leaves: expected)
            world.server.fail(TUFWorld.path("file", new), with: .replaced(Array("malicious \(number)".utf8)))
            world.server.edit { $0.publish("targets", "snapshot", "timestamp") }
            try await world.download("file", leaves: expected)
        }
    }

    @Test(arguments: [["sha256"], ["sha512"], ["sha256", "sha512"]])
    func `download with hash algorithms`(algorithms: [String]) async throws {
        let all = ["sha256": Self.sha256, "sha512": Self.sha512]
        let hashes = all.filter { algorithms.contains($0.key) }
        let world = try Self.world("file", hashes: hashes)
        let prefix = try #require(all[algorithms[0]])
        try await world.download(
            "file",
            requests: "2.root timestamp 1.snapshot 1.targets targets/\(prefix).file",
            leaves: ["file": Self.content]
        )
    }

    /// Not in the suite: a good hash does not make up for a bad one.
    @Test(arguments: ["sha256", "sha512"])
    func `of a target needs every listed hash to hold`(algorithm: String) async throws {
        var hashes = ["sha256": Self.sha256, "sha512": Self.sha512]
        hashes[algorithm]?.removeLast()
        hashes[algorithm]?.append("0")
        let world = try Self.world("file", hashes: hashes)
        try await world.download(
            "file",
            failing: .trust(.wrongDigest(name: "file", algorithm: algorithm)),
            leaves: [:]
        )
    }

    @Test func `download with unknown hash algorithm`() async throws {
        let world = try Self.world("file", hashes: ["unknown-hash": Self.sha512])
        try await world.download(
            "file",
            failing: .trust(.unknownHash(name: "file", algorithm: "unknown-hash")),
            requests: "2.root timestamp 1.snapshot 1.targets",
            leaves: [:]
        )
        let both = try Self.world("file", hashes: ["sha256": Self.sha256, "blake2b-256": Self.sha256])
        try await both.download(
            "file",
            failing: .trust(.unknownHash(name: "file", algorithm: "blake2b-256")),
            leaves: [:]
        )
    }

    @Test func `artifact cache`() async throws {
        let world = try Self.world("file")
        try await world.download("file", leaves: ["file": Self.content])
        try await world.download("file", requests: "2.root timestamp", leaves: ["file": Self.content])
        // A copy that is not the listed one any more is no copy, of the same length or not.
        for other in [Self.content.uppercased(), "shorter"] {
            try world.disk.overwrite("/downloads/file", with: Array(other.utf8))
            try await world.download(
                "file",
                requests: "2.root timestamp targets/\(Self.sha256).file",
                leaves: ["file": Self.content]
            )
        }
    }

    /// Not in the suite.
    @Test func `reads no more and takes no less than the listed length`() async throws {
        let world = try Self.world("file")
        let path = "targets/\(Self.sha256).file"
        let faults: [(SimulatedRepository.Fault, SyncError)] = [
            (.endless, .fetch(.tooLarge(path, limit: 20))),
            (.replaced(Array("\(Self.content)!".utf8)), .fetch(.tooLarge(path, limit: 20))),
            (.shortened(to: 19), .trust(.wrongLength(name: "file", found: 19, expected: 20))),
            (.shortened(to: 0), .trust(.wrongLength(name: "file", found: 0, expected: 20))),
            (.breaksOff(after: 7), .fetch(.short(path))), (.timesOut, .fetch(.timedOut(path))),
            (.status(500), .fetch(.status(path, code: 500))), (.notFound, .fetch(.notFound(path))),
        ]
        for (fault, error) in faults {
            world.server.fail(path, with: fault)
            try await world.download("file", failing: error, leaves: [:])
        }
        world.server.repair(path)
        try await world.download("file", leaves: ["file": Self.content])
    }

    /// Not in the suite.
    @Test func `of an empty target makes an empty file`() async throws {
        let world = try TUFWorld { $0.addTarget("empty", "") }
        try await world.download("empty", leaves: ["empty": ""])
    }

    /// Not in the suite: what came before the one that failed stays.
    @Test func `of several targets goes on in order until one fails`() async throws {
        let world = try TUFWorld { repository in
            for name in ["a", "b", "c"] { repository.addTarget(name, name) }
        }
        world.server.fail(TUFWorld.path("b", "b"), with: .notFound)
        try await world.download(
            "a",
            "b",
            "c",
            failing: .fetch(.notFound(TUFWorld.path("b", "b"))),
            leaves: ["a": "a"]
        )
    }
}
