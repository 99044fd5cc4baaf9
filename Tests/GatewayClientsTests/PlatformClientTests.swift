import FoundationEssentials
import Gateways
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage
import Testing

@testable import GatewayClients

/// A platform's server as a dictionary of paths, which keeps every request; what it lacks is not found.
final class ServedPlatform: Fetcher {
    private let answers: [String: Result<[UInt8], FetchError>]
    private let asked = AsyncStream.makeStream(of: FetchRequest.self)

    init(_ answers: [String: Result<[UInt8], FetchError>]) {
        self.answers = answers
    }

    /// What it tells, and a package beside it.
    convenience init(_ syncFile: String, _ version: Int = 0, _ package: [UInt8] = []) {
        self.init(["0a1b/2.1": .success(Array(syncFile.utf8)), "0a1b/2.1/file\(version)": .success(package)])
    }

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        asked.continuation.yield(request)
        let bytes = try (answers[request.path] ?? .failure(.notFound(request.path))).get()
        try await take(.head(FetchedHead()))
        try await take(.bytes(bytes))
    }

    /// What was asked for until now.
    func requests() async -> [FetchRequest] {
        asked.continuation.finish()
        return await asked.stream.reduce(into: []) { $0.append($1) }
    }
}

/// A folder `JSPatch` that is gone at the end, and a client in it.
private struct World: ~Copyable {
    let root = FilePath(
        FileManager.default.temporaryDirectory.appending(path: "platform-\(UUID().uuidString)/JSPatch").path
    )
    let signer: JSPatchPublicKey

    init() async throws { signer = try await LoaderSamples.publicKey() }

    deinit { try? FileManager.default.removeItem(atPath: root.parent.string) }

    func client(
        key: String = PlatformSamples.keyText,
        _ change: (inout PlatformClient.Policy) -> Void = { _ in }
    ) throws -> PlatformClient {
        var policy = PlatformClient.Policy()
        change(&policy)
        let place = PlatformPlace(try #require(PlatformAppKey("0a1b")), try #require(AppVersion("2.1")))
        let app = PlatformClient.App(
            place,
            device: try #require(PlatformDeviceID("device 1")),
            signer: signer,
            key: try #require(AESKey(Array(key.utf8)))
        )
        return PlatformClient(root, app: app, policy: policy)
    }

    /// All files below the folder, with what is in them.
    func contents() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root.string) {
            guard let bytes = try? Data(contentsOf: URL(filePath: root.at(name).string)) else { continue }
            found[name] = Array(bytes)
        }
        return found
    }
}

extension PlatformClient {
    fileprivate func synced(
        _ served: ServedPlatform,
        facts: [ConditionKey: ConditionValue] = [:],
        draw: Int = 5
    ) async throws -> Result<PlatformDecision, PlatformClientError> {
        let number = try #require(PlatformDraw(draw))
        do throws(PlatformClientError) {
            return .success(
                try await sync(from: served, facts: facts, now: UTCTime(seconds: 1_700_000_000)) { number }
            )
        } catch { return .failure(error) }
    }
}

@Suite("A sync with JSPatch's platform")
struct PlatformClientTests {
    private static func package(_ main: String, _ version: Int) async throws -> [UInt8] {
        try await PlatformSamples.package(["main.js": main, "cart.js": "total()"], for: LoaderSamples.place(version))
    }

    @Test func `asks for the sync file and then for the package, as the platform's clients do`() async throws {
        let world = try await World()
        let served = ServedPlatform(#"{"v":3}"#, 3, try await Self.package("main()", 3))
        #expect(try await world.client().synced(served).get() == .install(LoaderSamples.place(3).version, run: .now))
        let requests = await served.requests()
        #expect(requests.map(\.path) == ["0a1b/2.1", "0a1b/2.1/file3"])
        #expect(
            requests.map(\.query) == [
                "d=device%201&sv=1.6.6&v=1700000000.000000", "d=device%201&v=1700000000.000000",
            ]
        )
        #expect(requests.map(\.limit) == [16_384, 16_000_000])
        #expect(requests.allSatisfy { $0.isPlain && $0.deadline == .seconds(20) && $0.question == nil })
        let scripts = try #require(try world.client().scripts())
        #expect(scripts.version.number == 3 && scripts.main == "main()" && scripts.include("cart.js") == "total()")
    }

    @Test func `of a developer's device reads the other list, and the same packages`() async throws {
        let world = try await World()
        let package = try await Self.package("main()", 9)
        let served = ServedPlatform([
            "0a1b/2.1": .success(Array(#"{"v":3}"#.utf8)), "dev/0a1b/2.1": .success(Array(#"{"v":9}"#.utf8)),
            "0a1b/2.1/file9": .success(package),
        ])
        _ = try await world.client { $0.audience = .developers }.synced(served).get()
        #expect(await served.requests().map(\.path) == ["dev/0a1b/2.1", "0a1b/2.1/file9"])
        #expect(try world.client().scripts()?.version.number == 9)
    }

    @Test func `leaves nothing on the disk that can be read without the key`() async throws {
        let world = try await World()
        _ = try await world.client().synced(ServedPlatform(#"{"v":3}"#, 3, Self.package("secret()", 3))).get()
        let contents = try world.contents()
        #expect(Set(contents.keys) == ["device.json", "lock", "2.1/state.json", "2.1/v3/key", "2.1/v3/scripts"])
        for (name, bytes) in contents {
            let text = String(decoding: bytes, as: UTF8.self)
            for secret in ["secret()", "total()", "main.js", "cart.js", "ustar", PlatformSamples.keyText] {
                #expect(!text.contains(secret), "\(secret) in \(name)")
            }
        }
        #expect(try world.client().scripts()?.main == "secret()")
        let error = #expect(throws: PlatformClientError.self) { try world.client(key: "another key 1234").scripts() }
        #expect(error?.code == .untarScript)
    }

    @Test func `verifies what is installed again before it is run`() async throws {
        let world = try await World()
        let client = try world.client()
        _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, Self.package("main()", 3))).get()
        let place = world.root.at("2.1/v3/scripts").string
        var bytes = try Data(contentsOf: URL(filePath: place))
        let signed = Fingerprint(of: Array(bytes)).md5.hex
        bytes[0] ^= 1
        try bytes.write(to: URL(filePath: place))
        let found = Fingerprint(of: Array(bytes)).md5.hex
        #expect(throws: PlatformClientError.package(.signature(.otherDigest(signed: signed, found: found)))) {
            try client.scripts()
        }
    }

    @Test func `does nothing where no version is named, not even a request`() async throws {
        let world = try await World()
        for served in [
            ServedPlatform([:]), ServedPlatform("{}"), ServedPlatform(#"{"v":0}"#), ServedPlatform(#"{"e":1}"#),
        ] {
            #expect(try await world.client().synced(served) == .success(.keep(.nothingPublished)))
            #expect(await served.requests().count == 1)
        }
        #expect(Set(try world.contents().keys) == ["device.json", "lock"])
    }

    @Test func `deletes what is installed when it is told to, once`() async throws {
        let world = try await World()
        let client = try world.client()
        _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, Self.package("main()", 3))).get()
        #expect(try await client.synced(ServedPlatform(#"{"v":3,"e":1}"#)) == .success(.delete))
        #expect(try client.scripts() == nil)
        #expect(Set(try world.contents().keys) == ["device.json", "lock", "2.1/state.json"])
        #expect(try await client.synced(ServedPlatform(#"{"e":1}"#)) == .success(.keep(.nothingPublished)))
        // An old sync file, shown again, brings nothing older back.
        let older = ServedPlatform(#"{"v":2}"#, 2, try await Self.package("old()", 2))
        let lower = PlatformDecision.Reason.lower(
            try LoaderSamples.place(2).version,
            than: try LoaderSamples.place(3).version
        )
        #expect(try await client.synced(older) == .success(.keep(lower)))
        #expect(
            try await world.client { $0.lower = .followed }.synced(older).get()
                == .install(LoaderSamples.place(2).version, run: .now)
        )
        #expect(try client.scripts()?.main == "old()")
    }

    @Test func `keeps the number that was drawn first`() async throws {
        let world = try await World()
        let package = try await Self.package("main()", 4)
        func synced(_ share: Int, draw: Int) async throws -> PlatformDecision {
            try await world.client().synced(ServedPlatform(#"{"v":4,"g":\#(share)}"#, 4, package), draw: draw).get()
        }
        let missed = PlatformDecision.keep(.notInShare(try #require(PlatformShare(6)), try #require(PlatformDraw(7))))
        #expect(try await synced(6, draw: 7) == missed)
        #expect(try await synced(6, draw: 1) == missed)
        #expect(try await synced(7, draw: 10) == .install(LoaderSamples.place(4).version, run: .now))
    }

    @Test func `asks a folder for its index, and follows no other redirect`() async throws {
        let world = try await World()
        func served(_ target: String) -> ServedPlatform {
            ServedPlatform([
                "0a1b/2.1": .failure(.redirected("0a1b/2.1", to: target)),
                "0a1b/2.1/": .success(Array(#"{"p":true,"v":1}"#.utf8)),
            ])
        }
        for target in ["/0a1b/2.1/", "http://host/root/0a1b/2.1/?d=1&sv=2"] {
            let server = served(target)
            #expect(try await world.client().synced(server) == .success(.keep(.paused)))
            let requests = await server.requests()
            #expect(requests.map(\.path) == ["0a1b/2.1", "0a1b/2.1/"] && requests[0].query == requests[1].query)
        }
        for target in ["/0a1b/2.1", "/0a1b/2.10/", "http://evil/", "nowhere", "/x?/0a1b/2.1/"] {
            let error = FetchError.redirected("0a1b/2.1", to: target)
            #expect(try await world.client().synced(served(target)) == .failure(.fetch(error)))
        }
        let empty = ServedPlatform(["0a1b/2.1": .failure(.redirected("0a1b/2.1", to: "/0a1b/2.1/"))])
        #expect(try await world.client().synced(empty) == .success(.keep(.nothingPublished)))
    }

    @Test func `that fails leaves what is installed, and nothing else`() async throws {
        let world = try await World()
        let client = try world.client()
        _ = try await client.synced(ServedPlatform(#"{"v":1}"#, 1, Self.package("one()", 1))).get()
        let before = try world.contents().filter { $0.key != "device.json" }
        let (place, path) = (try LoaderSamples.place(3), "0a1b/2.1/file3")
        func telling(_ answer: Result<[UInt8], FetchError>) -> ServedPlatform {
            ServedPlatform(["0a1b/2.1": .success(Array(#"{"v":3}"#.utf8)), path: answer])
        }
        let other = try await Self.package("two()", 2)
        let unnamed = try await PlatformSamples.package(["main.js": "x"], for: nil)
        let cases: [(ServedPlatform, PlatformClientError, Int?)] = [
            (ServedPlatform(["0a1b/2.1": .failure(.timedOut("x"))]), .fetch(.timedOut("x")), 5_007),
            (ServedPlatform("<html>"), .syncFile(FormatError("sync file", rule: "is not JSON (byte 0)")), nil),
            (telling(.failure(.status(path, code: 500))), .fetch(.status(path, code: 500)), 5_007),
            (telling(.failure(.notFound(path))), .fetch(.notFound(path)), 5_007),
            (telling(.failure(.cancelled)), .fetch(.cancelled), nil),
            (telling(.success([])), .package(.archive(.length(0))), 5_001),
            (telling(.success(other)), .package(.scripts(.moved(place, from: try LoaderSamples.place(2)))), 5_003),
            (telling(.success(unnamed)), .package(.scripts(.unnamed(place))), 5_003),
        ]
        for (served, expected, code) in cases {
            #expect(try await client.synced(served) == .failure(expected))
            #expect(expected.code?.rawValue == code)
            #expect(try world.contents().filter { $0.key != "device.json" } == before)
        }
        #expect(try client.scripts()?.main == "one()")
        #expect(
            try await world.client { $0.unnamed = .taken }.synced(telling(.success(unnamed))).get()
                == .install(place.version, run: .now)
        )
    }

    @Test func `waits for no other: it says that one is under way`() async throws {
        let world = try await World()
        try DiskFiles().makeDirectory(world.root)
        let lock = try StoreLock(world.root.at("lock"))
        let holder = Int(ProcessInfo.processInfo.processIdentifier)
        let held = PlatformClientError.lock(.held(world.root.at("lock"), by: holder))
        #expect(try await world.client().synced(ServedPlatform([:])) == .failure(held))
        _ = consume lock
        #expect(try await world.client().synced(ServedPlatform([:])) == .success(.keep(.nothingPublished)))
    }
}

@Suite("The statistics of JSPatch's platform")
struct PlatformReportTests {
    private static let counted = Array(#"{"succ":1}"#.utf8)

    private static func package(_ version: Int) async throws -> [UInt8] {
        try await PlatformSamples.package(["main.js": "main()"], for: LoaderSamples.place(version))
    }

    private static func bodies(_ served: ServedPlatform) async -> [String] {
        await served.requests().map { "\($0.path) \(String(decoding: $0.question ?? [], as: UTF8.self))" }
    }

    @Test func `are sent once for each version, also where it is installed again`() async throws {
        let world = try await World()
        let client = try world.client()
        #expect(try await client.report(to: ServedPlatform([:])) == 0)
        let package = try await Self.package(3)
        for _ in 1...2 {
            _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, package)).get()
            _ = try await client.synced(ServedPlatform(#"{"e":1}"#)).get()
        }
        let served = ServedPlatform(["succ.php": .success(Self.counted)])
        #expect(try await client.report(to: served) == 0)
        #expect(try await client.report(to: served) == 0)
        _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, package)).get()
        #expect(try await client.report(to: served) == 0)
        let requests = await served.requests()
        #expect(requests.map(\.questionType) == ["application/x-www-form-urlencoded"])
        #expect(
            requests.map { String(decoding: $0.question ?? [], as: UTF8.self) } == ["k=0a1b&av=2.1&pv=3&d=device%201"]
        )
        #expect(requests.allSatisfy { $0.limit == 4_096 && $0.deadline == .seconds(20) })
    }

    @Test func `of a package that is not taken have its code, once, and a success counts besides`() async throws {
        let world = try await World()
        let client = try world.client()
        _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, []))
        _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, Self.package(2)))
        // The network's failures are no package's.
        _ = try await client.synced(ServedPlatform(#"{"v":4}"#, 3, []))
        _ = try await client.synced(ServedPlatform(#"{"v":3}"#, 3, Self.package(3))).get()
        let served = ServedPlatform(["succ.php": .success(Self.counted), "err.php": .success(Self.counted)])
        #expect(try await client.report(to: served) == 0)
        #expect(
            await Self.bodies(served) == [
                "err.php k=0a1b&av=2.1&pv=3&d=device%201&code=5001", "succ.php k=0a1b&av=2.1&pv=3&d=device%201",
            ]
        )
    }

    @Test func `are sent again until they are acknowledged, one by one`() async throws {
        let world = try await World()
        let client = try world.client()
        _ = try await client.synced(ServedPlatform(#"{"v":2}"#, 2, []))
        _ = try await client.synced(ServedPlatform(#"{"v":2}"#, 2, Self.package(2))).get()
        let both = ["err.php k=0a1b&av=2.1&pv=2&d=device%201&code=5001", "succ.php k=0a1b&av=2.1&pv=2&d=device%201"]
        let silent = ServedPlatform(["succ.php": .success([]), "err.php": .success(Array(#"{"succ":0}"#.utf8))])
        #expect(try await client.report(to: silent) == 2)
        #expect(await Self.bodies(silent) == both)
        let broken = ServedPlatform(["err.php": .success(Self.counted), "succ.php": .failure(.stalled("succ.php"))])
        await #expect(throws: PlatformClientError.fetch(.stalled("succ.php"))) { try await client.report(to: broken) }
        #expect(await Self.bodies(broken) == both)
        let whole = ServedPlatform(["succ.php": .success(Self.counted)])
        #expect(try await world.client().report(to: whole) == 0)
        #expect(await Self.bodies(whole) == [both[1]])
    }

    @Test func `are noted at the next sync where a crash came before`() async throws {
        let world = try await World()
        let client = try world.client()
        let scripts = try await PlatformSamples.update(["main.js": "main()"], 3)
        _ = try await client.synced(ServedPlatform([:])).get()
        try client.folder.install(scripts)
        #expect(
            try await client.synced(ServedPlatform(#"{"v":3}"#)).get()
                == .keep(.alreadyInstalled(scripts.place.version))
        )
        #expect(try client.folder.device()?.reports.unsent == [PlatformStatistic(scripts.place, .succeeded)])
    }
}
