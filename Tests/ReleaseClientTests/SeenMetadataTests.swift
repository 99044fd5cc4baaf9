import Glibc
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import ReleaseClient

@Suite("The last known state of a release service", .timeLimit(.minutes(10)))
struct SeenServerTests {
    @Test func `keeps a thief of the online key from showing an old release as the current one`() async throws {
        let service = try RollingService()
        service.show(timestamp: 2, snapshot: 2, roles: ["beta": 2])
        let seen = try await service.ask()
        // He signs a newer timestamp and a newer snapshot, in which beta is what it was.
        service.show(timestamp: 3, snapshot: 3, roles: ["beta": 1])
        await #expect(throws: ServiceError.trust(.rolledBack(role: "beta", offered: 1, trusted: 2))) {
            try await service.ask(knowing: seen)
        }
        // Without memory nothing is wrong with it.
        _ = try await service.ask()
        // A service that goes on is followed.
        service.show(timestamp: 3, snapshot: 3, roles: ["beta": 3])
        #expect(try await service.ask(knowing: seen) != seen)
    }

    @Test func `may not go back, in its timestamp, its snapshot or what that lists`() async throws {
        let service = try RollingService()
        service.show(timestamp: 5, snapshot: 5, roles: ["beta": 2])
        let seen = try await service.ask()
        for (timestamp, snapshot, roles, error) in [
            (4, 5, ["beta": 2], TrustError.rolledBack(role: "timestamp", offered: 4, trusted: 5)),
            (6, 4, ["beta": 2], .rolledBack(role: "snapshot", offered: 4, trusted: 5)),
            (6, 6, [:], .droppedFromSnapshot(role: "beta")),
        ] as [(Int, Int, [String: Int], TrustError)] {
            service.show(timestamp: timestamp, snapshot: snapshot, roles: roles)
            await #expect(throws: ServiceError.trust(error)) { try await service.ask(knowing: seen) }
        }
        service.show(timestamp: 5, snapshot: 5, roles: ["beta": 2])
        #expect(try await service.ask(knowing: seen) == seen)
    }

    @Test func `includes the newest root, which may not be held back`() async throws {
        let service = try RollingService()
        service.show(timestamp: 2, snapshot: 2, roles: [:])
        service.showRoot(2)
        let seen = try await service.ask()
        #expect(seen.root == 2)
        service.showRoot(nil)
        await #expect(throws: ServiceError.trust(.rolledBack(role: "root", offered: 1, trusted: 2))) {
            try await service.ask(knowing: seen)
        }
    }

    @Test func `says nothing of another root of trust for the same app`() async throws {
        let (service, other) = (try RollingService(), try RollingService())
        service.show(timestamp: 9, snapshot: 9, roles: ["beta": 9])
        other.show(timestamp: 1, snapshot: 1, roles: ["beta": 1])
        let seen = try await service.ask()
        #expect(try await other.ask(knowing: seen).root == 1)
    }
}

@Suite("The file of what servers showed")
struct SeenFileTests {
    private let app: AppID = named("com.example.shop")
    private let one = ServerURL("https://one.example.com")
    private let two = ServerURL("https://two.example.com")

    private func seen(_ version: Int, root: Int = 1, keys: Set<SHA256Digest> = [SHA256Digest(of: [1])]) throws
        -> SeenMetadata
    {
        let timestamp = RoleDocument.timestamp(
            version: version,
            expires: UTCTime(seconds: 1_795_219_200),
            snapshot: RoleFile(version: version, length: nil, sha256: nil),
            signedAt: UTCTime(seconds: 1_795_219_200)
        )
        return SeenMetadata(
            root: root,
            rootKeys: keys,
            timestamp: timestamp.fileBytes,
            snapshot: Array("{\"snapshot\": \(version)}".utf8),
            targets: Array("{}".utf8)
        )
    }

    private func with(_ body: (SeenFile, FilePath) async throws -> Void) async throws {
        var name = Array("/tmp/patchline-seen-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&name) != nil)
        let folder = FilePath(String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
        defer { try? DiskFiles().removeTree(folder) }
        let state = folder.appending("state").appending("patchline")
        try await body(SeenFile(app, in: state, files: DiskFiles()), state)
    }

    @Test func `is its owner's alone, and remembers each server by itself`() async throws {
        let (one, two) = (try #require(one), try #require(two))
        try await with { file, folder in
            #expect(try file.seen(of: one) == nil)
            try await file.keep(try seen(3), of: one, replacing: false)
            try await file.keep(try seen(1), of: two, replacing: false)
            #expect(try file.seen(of: one) == seen(3))
            #expect(try file.seen(of: two) == seen(1))
            let status = try DiskFiles().status(of: file.path)
            #expect(status?.permissions == FilePermissions(rawValue: 0o600))
            #expect(try DiskFiles().status(of: folder)?.permissions == FilePermissions(rawValue: 0o700))
        }
    }

    @Test func `keeps the newest of what runs at the same time saw, unless the server was restored`() async throws {
        let one = try #require(one)
        try await with { file, _ in
            try await file.keep(try seen(5), of: one, replacing: false)
            try await file.keep(try seen(4), of: one, replacing: false)
            #expect(try file.seen(of: one) == seen(5))
            try await file.keep(try seen(1, root: 2), of: one, replacing: false)
            #expect(try file.seen(of: one) == seen(1, root: 2))
            try await file.keep(try seen(1), of: one, replacing: true)
            #expect(try file.seen(of: one) == seen(1))
            let other = try seen(1, keys: [SHA256Digest(of: [2])])
            try await file.keep(try seen(8), of: one, replacing: false)
            try await file.keep(other, of: one, replacing: false)
            #expect(try file.seen(of: one) == other)
        }
    }

    @Test func `is not forgotten when it is damaged, and starts again with a restored server`() async throws {
        let one = try #require(one)
        try await with { file, folder in
            try DiskFiles().makeDirectory(folder, permissions: .privateDirectory)
            let bad = #"{"format":"patchline-seen-v1","app":"com.example.shop","servers":[{"rootKeys":["no"]}]}"#
            try DiskFiles().write(Array(bad.utf8), to: file.path, permissions: .privateFile)
            #expect(throws: SeenFileError.self) { try file.seen(of: one) }
            let keys = #expect(throws: SeenFileError.self) { try file.seen(of: one) }
            #expect(keys?.description.contains("rootKeys must be key ids in hex") == true)
            try DiskFiles().remove(file.path)
            try DiskFiles().write(Array("{".utf8), to: file.path, permissions: .privateFile)
            let error = #expect(throws: SeenFileError.self) { try file.seen(of: one) }
            #expect(error?.description.hasPrefix("\(file.path) is damaged: ") == true)
            await #expect(throws: SeenFileError.self) { try await file.keep(try seen(1), of: one, replacing: false) }
            #expect(try DiskFiles().read(file.path, limit: 10) == Array("{".utf8))
            try await file.keep(try seen(1), of: one, replacing: true)
            #expect(try file.seen(of: one) == seen(1))
        }
    }

    @Test func `holds the sixteen servers asked last`() async throws {
        try await with { file, _ in
            for number in 1...17 {
                let server = try #require(ServerURL("https://s\(number).example.com"))
                try await file.keep(try seen(number), of: server, replacing: false)
            }
            #expect(try file.seen(of: try #require(ServerURL("https://s1.example.com"))) == nil)
            #expect(try file.seen(of: try #require(ServerURL("https://s2.example.com"))) == seen(2))
        }
    }

    @Test func `that cannot be written is told with its reason`() async throws {
        let one = try #require(one)
        let file = SeenFile(app, in: "/proc/patchline", files: DiskFiles())
        await #expect(throws: SeenFileError.self) { try await file.keep(try seen(1), of: one, replacing: false) }
    }
}

private func named<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text) is a name") }
    return name
}

/// A service whose roles a test sets; all of them signed as they should be, as by a thief of the online key.
private final class RollingService: FileSource {
    private static let now = UTCTime(seconds: 1_795_219_200)
    private static let expires = now.adding(.days(7))

    private let app: AppID = named("com.example.shop")
    private let key: PrivateKey
    private let root: [UInt8]
    private let files = NIOLockedValueBox<[String: [UInt8]]>([:])

    let acceptsBodies = false

    init() throws {
        key = try PrivateKey.generate(.ed25519)
        root = try Self.root(app, key, version: 1)
    }

    private static func root(_ app: AppID, _ key: PrivateKey, version: Int) throws -> [UInt8] {
        let one = RoleDocument.Signers(keys: [TUFKey(key.publicKey)], threshold: 1)
        let top = Dictionary(uniqueKeysWithValues: RootRole.roleNames.map { ($0, one) })
        return try signed(RoleDocument.root(app: app, version: version, expires: expires, roles: top), key)
    }

    private static func signed(_ document: Envelope, _ key: PrivateKey) throws -> [UInt8] {
        var envelope = document
        try envelope.sign(with: key, id: TUFKey(key.publicKey).id, scheme: .ed25519)
        return envelope.fileBytes
    }

    func showRoot(_ version: Int?) {
        files.withLockedValue { files in
            files[URLLayout.metadata("root", version: 2)] = version.flatMap { try? Self.root(app, key, version: $0) }
        }
    }

    func show(timestamp: Int, snapshot: Int, roles: [String: Int]) {
        do {
            let one = RoleDocument.Signers(keys: [TUFKey(key.publicKey)], threshold: 1)
            let targets = try Self.signed(
                RoleDocument.targets(
                    app: app,
                    version: 1,
                    expires: Self.expires,
                    delegations: [.channel(named("beta"), signers: one)]
                ),
                key
            )
            var listed = roles.mapValues { RoleFile(version: $0, length: nil, sha256: nil) }
            listed["targets"] = RoleFile(of: targets, version: 1)
            let bytes = try Self.signed(
                RoleDocument.snapshot(app: app, version: snapshot, expires: Self.expires, files: listed),
                key
            )
            let time = try Self.signed(
                RoleDocument.timestamp(
                    app: app,
                    version: timestamp,
                    expires: Self.expires,
                    snapshot: RoleFile(of: bytes, version: snapshot),
                    signedAt: Self.now
                ),
                key
            )
            files.withLockedValue { files in
                files[URLLayout.metadata("targets", version: 1)] = targets
                files[URLLayout.metadata("snapshot", version: snapshot)] = bytes
                files[URLLayout.timestamp] = time
            }
        } catch { Issue.record(error) }
    }

    func ask(knowing known: SeenMetadata? = nil) async throws -> SeenMetadata {
        let (app, root) = (app, root)
        return try await asked { client throws(ServiceError) in
            try await PublishedApp(app, root: root, at: Self.now, knowing: known, from: client).seen
        }
    }

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        let path = request.query?.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
        guard let bytes = files.withLockedValue({ $0[path] }) else {
            return .bytes(ServedBytes(status: .notFound, bytes: [], contentType: "application/json"))
        }
        return .bytes(ServedBytes(status: .ok, bytes: bytes, contentType: "application/json"))
    }
}
