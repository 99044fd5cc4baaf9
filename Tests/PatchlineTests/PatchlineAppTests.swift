import HTTPCore
import PatchTrust
import DeviceTesting
import HTTPFiles
import Logging
import NIOConcurrencyHelpers
import NIOCore
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
@testable import Patchline
import PatchCrypto
import SystemPackage
import PageTesting
import Testing

private struct SaysHello: FileSource {
    func decide(_ request: FileRequest) -> FileDecision {
        let bytes = Array("hello \(request.path.text)".utf8)
        return .now(PreparedReply(.bytes(ServedBytes(bytes: bytes, contentType: "text/plain"))))
    }
}

/// The library as an app links it: by what it makes public.
@Suite("An app that links the library", .serialized, .timeLimit(.minutes(10)))
struct PatchlineAppTests {
    /// Runs `body` with a store in which a version waits.
    private func withStore(_ body: (_ store: String, SimulatedRepository) async throws -> Void) async throws {
        let root = FilePath("/tmp/patchline-app-tests-\(UInt64.random(in: 0...UInt64.max))")
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        let device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
        repository.publish([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        try await device.sync()
        do { try await body(root.string, repository) } catch {
            try? DiskFiles().removeTree(root)
            throw error
        }
        try DiskFiles().removeTree(root)
    }

    private var settings: PatchlineApp.Settings {
        var settings = PatchlineApp.Settings()
        settings.port = 0
        settings.syncs = false
        return settings
    }

    private func page(_ url: String, _ path: String = "/") async throws -> String {
        try await Browser.opening(url).ask(path).body
    }

    @Test(
        arguments: [
            (.serving("web 2", onTrial: true), .info, "serving web 2, on trial"),
            (.syncing(percent: 7), .debug, "a sync has fetched 7 %"),
            (
                .rolledBack(to: "web 1", from: "web 2", because: "a script of it failed"), .warning,
                "web 2 was rolled back: a script of it failed; back to web 1"
            ),
            (.rolledBack(to: nil, from: "web 2", because: nil), .warning, "web 2 was rolled back; nothing runs"),
            (.synced(isNew: false), .info, "synced: nothing new"),
            (.syncFailed("no way"), .warning, "the sync failed: no way"),
            (.trouble("no room"), .warning, "no room"),
        ] as [(PatchlineApp.Event, Logger.Level, String)]
    )
    func `says each event in a sentence, and what went wrong as a warning`(
        event: PatchlineApp.Event,
        level: Logger.Level,
        sentence: String
    ) {
        #expect(event.level == level && "\(event)" == sentence)
    }

    @Test func `hears what happens to patches, numbered as platforms of this field do, and so does its logger`()
        async throws
    {
        try await withStore { store, _ in
            let heard = NIOLockedValueBox<[PatchlineApp.PatchEvent]>([])
            var settings = settings
            settings.patchEvents = { event in heard.withLockedValue { $0.append(event) } }
            let app = try await PatchlineApp(store: store, settings: settings)
            _ = try await app.start()
            await app.stop()
            let events = heard.withLockedValue(\.self)
            #expect(events.map { "\($0.kind.rawValue) \($0.text)" } == ["0 serving web 1, on trial"])
        }
        let label = Label(patchID: try #require(PatchID("web")), version: try #require(VersionLabel("2")))
        let questions = [
            EvaluatedRule(label, .share(2_500), isHit: false), EvaluatedRule(label, .condition("a==1"), isHit: true),
        ]
        let reported = questions.map { PatchlineApp.PatchEvent(.asked($0)) }
        #expect(reported.map(\.kind) == [.gray, .condition] && reported.map(\.isHit) == [false, true])
        #expect(reported.map(\.share) == [2_500, nil] && reported.map(\.condition) == [nil, "a==1"])
        #expect(reported.allSatisfy { $0.version?.description == "web 2" && !$0.isRollback })
        #expect(
            PatchlineApp.PatchEvent.Kind.allCases.map { "\($0.rawValue) \($0.name)" } == [
                "0 Unknown", "1 RunScript", "2 Update", "3 UpdateDone", "4 Condition", "5 Gray", "6 UpdateFail",
                "7 Exception",
                "8 JSException",
            ]
        )
    }

    @Test func `reads online parameters by name and kind, with no network`() async throws {
        try await withStore { store, repository in
            let app = try await PatchlineApp(store: store, settings: settings)
            #expect(try await app.parameters.values.isEmpty)
            repository.setParameters(["banner": .text("Sale"), "limit": .integer(-2), "on": .bool(true)])
            let clock = ManualClock()
            let opened = DeviceStore(root: FilePath(store), files: DiskFiles(), admitting: .all)
            try await SimulatedDevice(opening: opened, of: repository, clock: clock).sync()
            let parameters = try await app.parameters
            #expect(parameters.values == ["banner": .text("Sale"), "limit": .integer(-2), "on": .bool(true)])
            #expect(parameters.text("banner") == "Sale" && parameters.integer("limit") == -2)
            #expect(parameters.bool("on") == true && parameters.bool("limit") == nil && parameters.text("x") == nil)
        }
    }

    @Test func `starts, serves, confirms, stops and starts again`() async throws {
        try await withStore { store, _ in
            let reported = NIOLockedValueBox<[PatchlineApp.Event]>([])
            let app = try await PatchlineApp(store: store, settings: settings) { event in
                reported.withLockedValue { $0.append(event) }
            }
            let url = try await app.start()
            #expect(try await page(url) == "<p>1</p>")
            #expect(await app.status().current == "1")
            try await app.background()
            try await app.foreground()
            try await app.confirm()
            await app.stop()
            #expect(try await app.start() == url)
            #expect(try await page(url) == "<p>1</p>")
            await app.stop()
            #expect(reported.withLockedValue(\.first) == .serving("web 1", onTrial: true))
        }
    }

    @Test func `passes on what its rules name, after each start`() async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let upstream = FileServer(
            configuration: FileServerConfiguration(),
            source: SaysHello(),
            onListening: { listening.yield($0.port ?? 0) }
        )
        let serving = Task { try await upstream.run() }
        let port = try #require(await ports.first { _ in true })
        try await withStore { store, _ in
            var settings = settings
            settings.proxyRules = ["/api/.*=http://127.0.0.1:\(port)"]
            let app = try await PatchlineApp(store: store, settings: settings)
            for _ in 1...2 {
                let url = try await app.start()
                #expect(try await page(url, "/api/x") == "hello /api/x")
                #expect(try await page(url) == "<p>1</p>")
                await app.stop()
            }
            settings.proxyRules = []
            let rule = #"{"pattern": "/api/.*", "to": ["http://127.0.0.1:\#(port)"], "pages": {"untagged": true}}"#
            settings.proxyFile = Array(#"{"format": "patchline-proxies-v1", "rules": [\#(rule)]}"#.utf8)
            let keeping = try await PatchlineApp(store: store, settings: settings)
            let url = try await keeping.start()
            #expect(try await page(url, "/api/x") == "hello /api/x")
            await keeping.stop()
            settings.proxyFile = Array("{}".utf8)
            let fault = PatchlineError("proxyFile: format must be a string")
            await #expect(throws: fault) { try await PatchlineApp(store: store, settings: settings) }
            settings.proxyFile = nil
            settings.proxyRules = ["/api"]
            let sentence = "the proxy rule '/api' must be PATTERN=URL, as in '/api/.*=https://api.example.com'"
            await #expect(throws: PatchlineError(sentence)) { try await PatchlineApp(store: store, settings: settings) }
        }
        serving.cancel()
        try await serving.value
    }

    @Test func `says in a sentence what is wrong`() async throws {
        await #expect(throws: PatchlineError.self) { _ = try await PatchlineApp(store: "/nowhere/store") }
        do throws(PatchlineError) { _ = try await PatchlineApp(store: "/nowhere/store") } catch {
            #expect(error.description.contains("/nowhere/store"))
        }
        do throws(PatchlineError) {
            try PatchlineApp.makeStore("/nowhere/store", server: "ftp://a", root: [])
        } catch { #expect(error.description.hasPrefix("server ")) }
        try await withStore { store, _ in
            let app = try await PatchlineApp(store: store, settings: settings)
            do throws(PatchlineError) { try await app.switchToPending() } catch {
                #expect(error.description.contains("No pending version to switch to"))
            }
        }
    }
}
