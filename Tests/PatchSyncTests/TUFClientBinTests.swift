import DeviceTesting
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// `path_hash_prefixes`, which theupdateframework/tuf-conformance does not go into.
@Suite("A TUF client and hash bins")
struct TUFClientBinTests {
    private static func prefix(_ path: String, _ count: Int) -> String {
        String(SHA256Digest(of: Array(path.utf8)).hex.prefix(count))
    }

    private static let paths = (0..<40).map { "dir/file \($0)" }

    /// Sixteen bins, `0` to `f`; each target is in its own.
    private static func binned(nested: Bool) throws -> TUFWorld {
        try TUFWorld { repository in
            let digits = (0..<16).map { String($0, radix: 16) }
            for digit in digits {
                repository.delegate(.init("bin-\(digit)", .hashPrefixes([digit])))
                guard nested else { continue }
                for second in digits {
                    let name = "bin-\(digit)\(second)"
                    repository.delegate(.init(name, .hashPrefixes(["\(digit)\(second)"])), from: "bin-\(digit)")
                }
            }
            for path in paths { repository.addTarget(path, "is \(path)", to: "bin-\(prefix(path, nested ? 2 : 1))") }
            for digit in digits {
                repository.publish("bin-\(digit)")
                for second in nested ? digits : [] { repository.publish("bin-\(digit)\(second)") }
            }
        }
    }

    @Test func `finds each target in its bin, and asks for no other`() async throws {
        let world = try Self.binned(nested: false)
        #expect(Set(Self.paths.map { Self.prefix($0, 1) }).count > 12)
        for path in Self.paths {
            let known = try world.stored()
            _ = world.requests()
            try await world.client().download([path], to: TUFWorld.downloads)
            let bin = "bin-\(Self.prefix(path, 1))"
            #expect(world.requests().contains(" 1.bin-") != known.contains("\(bin) 1"))
            #expect(try world.downloaded()[URLLayout.percentEncoded(path)] == "is \(path)")
            #expect(try Set(world.stored().split(separator: ", ")).subtracting(known.split(separator: ", ")).count <= 5)
        }
        let bins = Set(Self.paths.map { "bin-\(Self.prefix($0, 1)) 1" }).sorted()
        let all = bins + ["root 1", "snapshot 1", "targets 1", "timestamp 1"]
        #expect(try world.stored() == all.joined(separator: ", "))
    }

    @Test func `goes from bin to bin in a bin`() async throws {
        let world = try Self.binned(nested: true)
        let path = Self.paths[0]
        let (one, two) = (Self.prefix(path, 1), Self.prefix(path, 2))
        let hash = SHA256Digest(of: Array("is \(path)".utf8)).hex
        try await world.download(
            path,
            requests: "2.root timestamp 1.snapshot 1.targets 1.bin-\(one) 1.bin-\(two) targets/dir/\(hash).file%200",
            leaves: [URLLayout.percentEncoded(path): "is \(path)"]
        )
    }

    @Test func `finds nothing in a bin that the path does not belong to`() async throws {
        let path = "file"
        let own = Self.prefix(path, 1)
        let other = own == "0" ? "1" : "0"
        let world = try TUFWorld { repository in
            repository.delegate(.init("other", .hashPrefixes([other])))
            repository.addTarget(path, "content", to: "other")
            repository.publish("other")
        }
        try await world.download(
            path,
            failing: .trust(.targetNotFound(path)),
            requests: "2.root timestamp 1.snapshot 1.targets",
            leaves: [:]
        )
    }

    /// A prefix of hex digits, of any length, in lower case.
    @Test(arguments: [(0, true), (3, true), (63, true), (64, true)])
    func `a prefix may have any length`(length: Int, covers: Bool) async throws {
        let world = try TUFWorld { repository in
            repository.delegate(.init("bin", .hashPrefixes(["nothing", Self.prefix("file", length)])))
            repository.addTarget("file", "content", to: "bin")
            repository.publish("bin")
        }
        try await world.download("file", leaves: ["file": "content"])
    }

    @Test(arguments: [true, false])
    func `both paths and path_hash_prefixes, or neither, refuse the delegating role`(both: Bool) async throws {
        let world = try TUFWorld { repository in
            var delegation = SimulatedTUF.Delegation("bin", .hashPrefixes([]))
            delegation.keys.members = both ? [("paths", .array([.text("*")]))] : []
            repository.delegate(delegation)
            repository.publish("bin")
        }
        if !both {
            world.server.edit { repository in
                repository["targets"].signers = []
                repository.publish("targets", "snapshot", "timestamp")
                repository.replace("\"path_hash_prefixes\":[],", with: "", in: "metadata/2.targets.json")
            }
        }
        let rule = "must be given, or path_hash_prefixes, but not both"
        try await world.refresh(
            failing: .trust(
                .malformed(FormatError("targets", field: "delegations.roles[0].paths", rule: rule))
            ),
            leaves: both ? "root 1, snapshot 1, timestamp 1" : "root 1, snapshot 2, timestamp 2"
        )
    }
}
