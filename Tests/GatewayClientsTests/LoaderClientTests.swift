import FoundationEssentials
import Gateways
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage
import Testing

@testable import GatewayClients

/// A server of packages, as a dictionary of paths; it keeps every request.
final class ServedPackages: Fetcher {
    private let packages: [String: [UInt8]]
    private let failure: FetchError?
    private let asked = AsyncStream.makeStream(of: FetchRequest.self)

    init(_ packages: [String: [UInt8]] = [:], failing failure: FetchError? = nil) {
        self.packages = packages
        self.failure = failure
    }

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        asked.continuation.yield(request)
        if let failure { throw failure }
        guard let bytes = packages[request.path] else { throw .notFound(request.path) }
        try await take(.head(FetchedHead()))
        try await take(.bytes(bytes))
    }

    /// What was asked for until now.
    func requests() async -> [FetchRequest] {
        asked.continuation.finish()
        return await asked.stream.reduce(into: []) { $0.append($1) }
    }
}

@Suite("A loader's update")
struct LoaderClientTests {
    /// A folder `JSPatch` that is gone at the end.
    private struct World: ~Copyable {
        let root = FilePath(
            FileManager.default.temporaryDirectory.appending(path: "loader-\(UUID().uuidString)/JSPatch").path
        )
        let key: JSPatchPublicKey

        init() async throws { key = try await LoaderSamples.publicKey() }

        deinit { try? FileManager.default.removeItem(atPath: root.parent.string) }

        func client(_ appVersion: String = "2.1", unnamed: LoaderUpdate.Unnamed = .refused) throws -> LoaderClient {
            LoaderClient(root, appVersion: try #require(AppVersion(appVersion)), key: key, unnamed: unnamed)
        }
    }

    private static func version(_ number: Int) throws -> LoaderVersion { try #require(LoaderVersion(number)) }

    private static func error(
        _ client: LoaderClient,
        _ version: Int,
        from served: ServedPackages
    ) async throws -> LoaderClientError? {
        let version = try Self.version(version)
        do throws(LoaderClientError) {
            try await client.update(to: version, from: served)
            return nil
        } catch { return error }
    }

    @Test func `asks for APPVERSION/vN.zip as it is, within twenty seconds and sixteen million bytes`() async throws {
        let world = try await World()
        let package = try await LoaderSamples.package(["main.js": "main()"], for: LoaderSamples.place(2))
        let served = ServedPackages(["2.1/v2.zip": package])
        try await world.client().update(to: Self.version(2), from: served)
        let request = try #require(await served.requests().first)
        #expect(request.path == "2.1/v2.zip" && request.isPlain && request.deadline == .seconds(20))
        #expect(request.limit == 16_000_000 && request.unless == nil && request.resume == nil)
        #expect(try world.client().folder.scripts()?.main == "main()")
        #expect(try DiskFiles().list(world.root.at("2.1")) == ["lock", "v2", "version"])
    }

    @Test func `keeps app versions apart`() async throws {
        let world = try await World()
        let served = ServedPackages([
            "2.1/v2.zip": try await LoaderSamples.package(["main.js": "a"], for: LoaderSamples.place(2)),
            "2.2/v1.zip": try await LoaderSamples.package(["main.js": "b"], for: LoaderSamples.place(1, "2.2")),
        ])
        try await world.client().update(to: Self.version(2), from: served)
        try await world.client("2.2").update(to: Self.version(1), from: served)
        #expect(try world.client().folder.installed()?.number == 2)
        #expect(try world.client("2.2").folder.scripts()?.main == "b")
        #expect(try world.client("2.3").folder.installed() == nil)
    }

    @Test func `that is not newer is refused without a request`() async throws {
        let world = try await World()
        let package = try await LoaderSamples.package(["main.js": "main()"], for: LoaderSamples.place(2))
        let served = ServedPackages(["2.1/v2.zip": package, "2.1/v1.zip": package])
        let client = try world.client()
        try await client.update(to: Self.version(2), from: served)
        for version in [1, 2] {
            let expected = LoaderError.notNewer(try Self.version(version), installed: try Self.version(2))
            #expect(try await Self.error(client, version, from: served) == .package(expected))
        }
        #expect(await served.requests().count == 1)
    }

    @Test func `that fails leaves what is installed, and nothing else`() async throws {
        let world = try await World()
        let client = try world.client()
        let first = try await LoaderSamples.package(["main.js": "one()"], for: LoaderSamples.place(1))
        let two = try await LoaderSamples.package(["main.js": "two()"], for: LoaderSamples.place(2))
        try await client.update(to: Self.version(1), from: ServedPackages(["2.1/v1.zip": first]))
        let place = try LoaderSamples.place(3)
        let cases: [(ServedPackages, LoaderClientError)] = [
            (ServedPackages(), .fetch(.notFound("2.1/v3.zip"))),
            (ServedPackages(failing: .status("2.1/v3.zip", code: 500)), .fetch(.status("2.1/v3.zip", code: 500))),
            (ServedPackages(failing: .timedOut("2.1/v3.zip")), .fetch(.timedOut("2.1/v3.zip"))),
            (ServedPackages(["2.1/v3.zip": Array("<html>".utf8)]), .package(.archive(nil, .noEnd))),
            (ServedPackages(["2.1/v3.zip": two]), .package(.moved(place, from: try LoaderSamples.place(2)))),
            (
                ServedPackages(["2.1/v3.zip": try await LoaderSamples.package(["main.js": "x"], for: nil)]),
                .package(.unnamed(place))
            ),
        ]
        for (served, expected) in cases {
            #expect(try await Self.error(client, 3, from: served) == expected)
            #expect(try client.folder.scripts()?.main == "one()")
            #expect(try DiskFiles().list(world.root) == ["2.1"])
            #expect(try DiskFiles().list(world.root.at("2.1")) == ["lock", "v1", "version"])
        }
    }

    @Test func `that names no place is taken where that is allowed`() async throws {
        let world = try await World()
        let served = ServedPackages(["2.1/v7.zip": try await LoaderSamples.package(["main.js": "x"], for: nil)])
        try await world.client(unnamed: .taken).update(to: Self.version(7), from: served)
        #expect(try world.client().folder.installed()?.number == 7)
    }

    @Test func `waits for no other: it says that one is under way`() async throws {
        let world = try await World()
        try DiskFiles().makeDirectory(world.root.at("2.1"))
        let lock = try StoreLock(world.root.at("2.1/lock"))
        let served = ServedPackages([
            "2.1/v1.zip": try await LoaderSamples.package(["main.js": "x"], for: LoaderSamples.place(1))
        ])
        let holder = Int(ProcessInfo.processInfo.processIdentifier)
        let held = LoaderClientError.lock(.held(world.root.at("2.1/lock"), by: holder))
        #expect(try await Self.error(world.client(), 1, from: served) == held)
        _ = consume lock
        #expect(try await Self.error(world.client(), 1, from: served) == nil)
    }
}
