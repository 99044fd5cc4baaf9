import FoundationEssentials
import Gateways
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import Synchronization
import SystemPackage
import Testing

@testable import GatewayClients

/// A Meteor server as a dictionary; it keeps every request.
private final class MeteorServed: Fetcher {
    private struct State {
        var files: [String: [UInt8]] = [:]
        var tags: [String: String] = [:]
        var faults: [String: FetchError] = [:]
        var requests: [String] = []
    }

    private let state = Mutex(State())

    func put(_ path: String, _ text: String, tag: String? = nil) {
        state.withLock { state in
            state.files[path] = Array(text.utf8)
            state.tags[path] = tag
        }
    }

    func fail(_ path: String, with fault: FetchError?) { state.withLock { $0.faults[path] = fault } }

    /// What was asked for since, in order of its names: six connections have none.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests.sorted()
        }
    }

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        let (bytes, tag, fault) = state.withLock { state in
            state.requests.append(request.path + (request.query.map { "?\($0)" } ?? ""))
            return (state.files[request.path], state.tags[request.path], state.faults[request.path])
        }
        if let fault { throw fault }
        guard let bytes else { throw .notFound(request.path) }
        try await take(.head(FetchedHead(validator: tag, isWebPage: true)))
        for start in stride(from: 0, to: bytes.count, by: 7) {
            try await take(.bytes(Array(bytes[start..<min(start + 7, bytes.count)])))
        }
    }
}

/// M2 to M9 and M24, as the engine follows a Meteor server.
@Suite("A device that follows a Meteor server")
struct MeteorClientTests {
    /// What the app brought, a folder, and a server.
    private final class World {
        let root = FilePath(FileManager.default.temporaryDirectory.appending(path: "meteor-\(UUID().uuidString)").path)
        let server = MeteorServed()
        var record = MeteorRecord(initial: "0")
        let client: MeteorClient

        init() throws {
            let files = DiskFiles()
            let www = root.at("www")
            try files.makeDirectory(www.at("app"))
            try files.write(Array(World.page("0").utf8), to: www.at("index.html"))
            try files.write(Array("same".utf8), to: www.at("app/same.css"))
            let program = World.manifest("0", ["app/same.css": "same"])
            try files.write(Array(program.utf8), to: www.at("program.json"))
            client = MeteorClient(
                MeteorFolder(root.at("kept"), platform: .android, files: files),
                initial: try MeteorFolder.initial(at: www, platform: .android, files: files)
            )
        }

        deinit { try? FileManager.default.removeItem(atPath: root.string) }

        static func page(_ version: String, config: String? = nil) -> String {
            let config =
                config ?? #"{"ROOT_URL":"https://a.example","appId":"a","autoupdateVersionCordova":"\#(version)"}"#
            return "__meteor_runtime_config__ = JSON.parse(decodeURIComponent(\"\(URLLayout.percentEncoded(config))\"))"
        }

        static func hash(_ text: String) -> String { Fingerprint(of: Array(text.utf8)).sha1.hex }

        static func manifest(_ version: String, _ files: [String: String], compatibility: String = "c") -> String {
            let rows = files.sorted { $0.key < $1.key }.map { path, text in
                #"{"path":"\#(path)","where":"client","type":"js","cacheable":true,"url":"/\#(path)?x","hash":"\#(hash(text))"}"#
            }
            return
                #"{"format":"web-program-pre1","version":"\#(version)","cordovaCompatibilityVersions":{"android":"\#(compatibility)"},"manifest":["#
                + rows.joined(separator: ",") + "]}"
        }

        func publish(_ version: String, _ files: [String: String], page: String? = nil) {
            server.put("__cordova/manifest.json", World.manifest(version, files))
            for (path, text) in files { server.put("__cordova/\(path)", text, tag: "\"\(World.hash(text))\"") }
            server.put("__cordova/", page ?? World.page(version))
        }

        func check() async throws(MeteorClientError) -> MeteorClient.Outcome {
            let outcome = try await client.check(record, from: server)
            if case .ready(let version, _) = outcome { record.take(version) }
            return outcome
        }

        func fault() async -> String? {
            do throws(MeteorClientError) {
                _ = try await check()
                return nil
            } catch { return error.description }
        }

        var held: [String] { ((try? client.folder.held()) ?? []).map(\.manifest.version).sorted() }

        func text(_ version: String, _ path: String) throws -> String? {
            guard let held = try client.held(version) else { return nil }
            let file = held.place.at(path)
            return (try? DiskFiles().read(file, limit: 1_000)).map { String(decoding: $0, as: UTF8.self) }
        }

        func links(_ version: String, _ path: String) throws -> Int? {
            guard let held = try client.held(version) else { return nil }
            return try FileManager.default.attributesOfItem(atPath: held.place.at(path).string)[.referenceCount] as? Int
        }
    }

    private static let query = "?meteor_dont_serve_index=true"

    @Test func `downloads no more than a version may, by what is announced before the first file, else on the way`()
        async throws
    {
        let world = try World()
        let small = MeteorClient(world.client.folder, initial: world.client.initial, limit: 10)
        func fault() async -> MeteorClientError? {
            do throws(MeteorClientError) {
                _ = try await small.check(world.record, from: world.server)
                return nil
            } catch { return error }
        }
        world.publish("1", ["app/a.js": "eleven byte", "app/same.css": "same"])
        let manifest = World.manifest("1", ["app/a.js": "eleven byte", "app/same.css": "same"])
        let announced = manifest.replacing(#""type":"js""#, with: #""type":"js","size":11"#)
        world.server.put("__cordova/manifest.json", announced)
        #expect(await fault() == .meteor(.tooLarge(11, limit: 10)), "what the app brought costs nothing")
        #expect(world.server.takeRequests() == ["__cordova/manifest.json"], "nothing was downloaded")
        world.server.put("__cordova/manifest.json", manifest)
        #expect(await fault() == .meteor(.tooLarge(nil, limit: 10)))
        #expect(world.held == [], "nothing of it is a version")
        _ = world.server.takeRequests()
        #expect(try await world.check() == .ready("1", downloaded: 1), "it fits by default")
    }

    @Test func `fetches what is not here, and the page, and has a version only then`() async throws {
        let world = try World()
        world.publish("1", ["app/same.css": "same", "app/main.js": "one", "img/a.svg": "svg"])
        #expect(try await world.check() == .ready("1", downloaded: 2))
        #expect(
            world.server.takeRequests() == [
                "__cordova/", "__cordova/app/main.js\(Self.query)", "__cordova/img/a.svg\(Self.query)",
                "__cordova/manifest.json",
            ]
        )
        #expect(world.held == ["1"])
        #expect(try world.text("1", "app/main.js") == "one")
        #expect(try world.text("1", "app/same.css") == nil, "what the app brought is used where it lies")
        #expect(try await world.check() == .ignored("1"), "it waits")
        #expect(world.server.takeRequests() == ["__cordova/manifest.json"])

        world.publish("2", ["app/same.css": "same", "app/main.js": "two", "img/a.svg": "svg"])
        #expect(try await world.check() == .ready("2", downloaded: 1))
        #expect(
            world.server.takeRequests() == [
                "__cordova/", "__cordova/app/main.js\(Self.query)", "__cordova/manifest.json",
            ]
        )
        #expect(try world.links("2", "img/a.svg") == 2, "a file of another version is linked")
        world.publish("1", ["app/same.css": "same", "app/main.js": "one", "img/a.svg": "svg"])
        #expect(try await world.check() == .ready("1", downloaded: 0), "it is still here")
        #expect(world.server.takeRequests() == ["__cordova/manifest.json"])
    }

    @Test func `goes on where it was cut off, for the same version and for another`() async throws {
        let world = try World()
        world.publish("1", ["app/a.js": "a", "app/b.js": "b", "app/c.js": "c"])
        world.server.fail("__cordova/app/b.js", with: .connection("x", reason: "cut"))
        #expect(await world.fault() == "x: cut")
        #expect(world.held == [], "a part is no version")
        // Which of the others came before is up to the connections: these did.
        world.server.fail("__cordova/app/b.js", with: nil)
        world.server.fail("__cordova/", with: .connection("page", reason: "cut"))
        #expect(await world.fault() == "page: cut")
        _ = world.server.takeRequests()
        #expect(await world.fault() == "page: cut")
        #expect(world.server.takeRequests() == ["__cordova/", "__cordova/manifest.json"], "all files are here")

        world.server.fail("__cordova/", with: nil)
        world.publish("2", ["app/a.js": "a", "app/b.js": "new", "app/c.js": "c"])
        #expect(try await world.check() == .ready("2", downloaded: 1))
        #expect(
            world.server.takeRequests() == [
                "__cordova/", "__cordova/app/b.js\(Self.query)", "__cordova/manifest.json",
            ]
        )
        #expect(try world.text("2", "app/a.js") == "a")
        #expect(try DiskFiles().list(world.root.at("kept")) == ["versions"], "nothing of the other is left")
    }

    @Test func `asks again when the network failed, as Meteor's client waits, and gives up what is no fault of it`()
        async throws
    {
        let world = try World()
        world.publish("1", ["app/a.js": "a"])
        let waits = Mutex<[Duration]>([])
        var timing = RetryTiming()
        timing.networkChanges = .none
        timing.random = { 0.5 }
        timing.sleep = { [server = world.server] duration in
            let count = waits.withLock { waits in
                waits.append(duration)
                return waits.count
            }
            if count == 3 { server.fail("__cordova/app/a.js", with: nil) }
        }
        world.server.fail("__cordova/app/a.js", with: .connection("x", reason: "cut"))
        let outcome = try await world.client.check(world.record, from: world.server, trying: timing)
        #expect(outcome == .ready("1", downloaded: 1))
        #expect(waits.withLock(\.self) == [.milliseconds(100), .milliseconds(100), .milliseconds(4_840)])

        world.publish("2", ["app/a.js": "b"])
        world.server.put("__cordova/app/a.js", "c")
        let error = await #expect(throws: MeteorClientError.self) {
            try await world.client.check(world.record, from: world.server, trying: timing)
        }
        #expect(error == .meteor(.hashMismatch(url: "/app/a.js")))
        #expect(waits.withLock(\.count) == 3)
    }

    @Test func `takes no file that lies, by its tag or by its bytes, and tries again`() async throws {
        let world = try World()
        world.publish("1", ["app/a.js": "a"])
        world.server.put("__cordova/app/a.js", "a", tag: "\"\(World.hash("b"))\"")
        #expect(await world.fault() == "Hash mismatch for asset: /app/a.js")
        world.server.put("__cordova/app/a.js", "b", tag: nil)
        #expect(await world.fault() == "Hash mismatch for asset: /app/a.js", "whose bytes Meteor's client would take")
        #expect(world.held == [])
        #expect(try DiskFiles().list(world.root.at("kept/downloading/app")) == [], "nothing of it stays")
        world.server.put("__cordova/app/a.js", "a", tag: nil)
        #expect(try await world.check() == .ready("1", downloaded: 1))
    }

    @Test func `says what Meteor's client says of an answer that is no file`() async throws {
        let world = try World()
        #expect(await world.fault() == "Non-success status code 404 for asset manifest")
        world.server.put("__cordova/manifest.json", "{")
        #expect(await world.fault() == "Error parsing asset manifest")
        world.publish("1", ["app/a.js": "a"])
        world.server.fail("__cordova/app/a.js", with: .status("x", code: 500))
        #expect(await world.fault() == "Non-success status code 500 for asset: /app/a.js")
        world.server.fail("__cordova/app/a.js", with: nil)
        world.server.fail("__cordova/", with: .notFound("x"))
        #expect(await world.fault() == "Non-success status code 404 for asset: /")
        #expect(world.held == [])
    }

    @Test(arguments: [
        ("no config", "Couldn't load runtime config from index file"),
        (
            #"{"ROOT_URL":"https://a.example","appId":"a","autoupdateVersionCordova":"7"}"#,
            "Version mismatch for index page, expected: 1, actual: 7"
        ),
        (#"{"appId":"a"}"#, "Could not find ROOT_URL in downloaded asset bundle"),
        (
            #"{"ROOT_URL":"http://localhost:3000","appId":"a"}"#,
            "ROOT_URL in downloaded asset bundle would change current ROOT_URL to localhost. "
                + "Make sure ROOT_URL has been configured correctly on the server."
        ),
        (#"{"ROOT_URL":"https://a.example"}"#, "Could not find appId in downloaded asset bundle"),
        (
            #"{"ROOT_URL":"https://a.example","appId":"b"}"#,
            "appId in downloaded asset bundle does not match current appId. "
                + "Make sure the server at https://a.example is serving the right app."
        ),
    ])
    func `takes no page of another app, version or server`(_ config: String, _ text: String) async throws {
        let world = try World()
        world.publish("1", ["app/a.js": "a"], page: World.page("1", config: config))
        #expect(await world.fault() == text)
        #expect(world.held == [])
        #expect(world.record == MeteorRecord(initial: "0"))
    }

    @Test func `fetches nothing for another native part, and nothing that failed twice`() async throws {
        let world = try World()
        world.server.put("__cordova/manifest.json", World.manifest("1", [:], compatibility: "other"))
        #expect(
            await world.fault()
                == "Skipping downloading new version because the Cordova platform version or plugin versions have changed "
                + "and are potentially incompatible"
        )
        for _ in 1...2 {
            world.record.take("1")
            try world.record.switchToPending()
            _ = world.record.fail(holding: [])
        }
        world.publish("1", [:])
        #expect(await world.fault() == "Skipping downloading blacklisted version")
        #expect(world.server.takeRequests() == ["__cordova/manifest.json", "__cordova/manifest.json"])
        world.publish("0", [:])
        #expect(try await world.check() == .ignored("0"), "what the app brought runs")
    }

    @Test(arguments: ["../x", "/etc/x", "a/../../x", "program.json"])
    func `writes nothing outside its folder`(_ path: String) async throws {
        let world = try World()
        world.publish("1", [path: "evil"])
        let before = try DiskFiles().list(world.root)
        let fault = await world.fault()
        #expect(fault?.contains(path) == true && world.held == [], "\(fault ?? "it was taken")")
        #expect(try DiskFiles().list(world.root).filter { $0 != "kept" } == before)
    }
}
