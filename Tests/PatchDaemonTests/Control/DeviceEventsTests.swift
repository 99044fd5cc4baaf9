import AssetServer
import DeviceOutput
import DeviceTesting
import NIOConcurrencyHelpers
import PageTesting
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import Testing

@testable import Patchline

/// J15: the types of the platforms, from the events of this engine.
@Suite("The events of a device", .timeLimit(.minutes(10)))
struct DeviceEventsTests {
    /// A device whose app and syncs tell what they do.
    private struct ReportingDevice {
        let clock = ManualClock()
        let repository: SimulatedRepository
        var device: SimulatedDevice
        let server = AssetServer.open()
        let lines = NIOLockedValueBox<(events: DeviceEvents, lines: [String])>((DeviceEvents(), []))

        init() throws {
            repository = SimulatedRepository(clock: clock)
            var facts = FactChanges()
            facts.data[try #require(ConditionKey("region"))] = .set(try #require(ConditionValue("eu")))
            device = try SimulatedDevice(of: repository, clock: clock, on: FaultyFiles(), facts: facts)
        }

        @Sendable func take(_ event: DeviceEvent) {
            lines.withLockedValue { bench in
                bench.lines += bench.events.take(event).map { event in
                    let json = event.json(at: UTCTime(seconds: 0), store: "shop", id: "s-1")
                    let words = [json["patchId"], json["version"], json["data"], json["until"], json["security"]]
                        .compactMap { $0?.words }
                    return (["\(event.type.rawValue) \(event.name)"] + words).joined(separator: " ")
                }
            }
        }

        func sync(approving: Bool = false) async throws -> [String] {
            var device = device
            device.approvesAll = approving
            device.report = { [self] in take(.syncing($0)) }
            take(.synced(.success(try await device.sync())))
            return said()
        }

        func said() -> [String] {
            lines.withLockedValue { bench in
                defer { bench.lines = [] }
                return bench.lines
            }
        }

        func app(timeout: Duration) -> RunningApp {
            var settings = RunningApp.Settings()
            settings.startupTimeout = timeout
            settings.startupTimer = .launch
            return RunningApp(device: device.device, server: server, settings: settings) { [self] in take($0) }
        }

        func confirm() async throws {
            guard case .trying(_, _, let launch) = try device.device.state().machine.state else { return }
            _ = try await device.device.confirm(launch.token)
        }
    }

    @Test func `are an exact sequence for a scripted run`() async throws {
        let bench = try ReportingDevice()
        // The device is number 4,274 of 10,000.
        let dark = PatchRules(rollout: 4_000)
        bench.repository.publish([.script("fix", "1", "one;"), .bundle("web", "1", ["index.html": "1"], rules: dark)])
        #expect(
            try await bench.sync() == [
                "2 update fix 1", "3 updateDone fix 1", #"5 gray web 1 {"gray":4000,"isHit":false}"#, "0 synced",
            ]
        )
        let app = bench.app(timeout: .seconds(3_600))
        try await app.launch()
        #expect(bench.said() == ["0 serving", "1 script fix 1"])
        try await bench.confirm()
        try await app.follow()
        #expect(bench.said() == ["0 confirmed", "0 serving"])
        #expect(try await bench.sync() == ["0 synced"], "an answer that is not new is no event")

        let asked = PatchRules(rollout: 5_000, condition: "region==eu")
        bench.repository.publish([.script("fix", "1", "one;"), .bundle("web", "1", ["index.html": "1"], rules: asked)])
        #expect(
            try await bench.sync() == [
                "2 update web 1", "3 updateDone web 1", #"4 condition web 1 {"condition":"region==eu","isHit":true}"#,
                #"5 gray web 1 {"gray":5000,"isHit":true}"#, "0 synced",
            ]
        )
        try await app.startPending()
        #expect(bench.said() == ["0 serving"])
        try await bench.confirm()
        try await app.follow()
        #expect(bench.said() == ["0 confirmed", "0 serving"])

        let other = PatchRules(rollout: 5_000, condition: "region==us")
        bench.repository.publish([
            .script("fix", "1", "one;"), .bundle("web", "3", ["index.html": "3"], rules: other),
            .bundle("web", "2", ["index.html": "2"]),
        ])
        #expect(
            try await bench.sync() == [
                "2 update web 2", "3 updateDone web 2", #"4 condition web 3 {"condition":"region==us","isHit":false}"#,
                "0 synced",
            ]
        )
        let failing = bench.app(timeout: .zero)
        try await failing.launch()
        #expect(bench.said() == ["0 serving"])
        try await failing.endTrialIfDue()
        #expect(bench.said() == [#"6 rolledBack {"reason":"startupTimer","rollback":true}"#, "0 serving"])

        bench.repository.publish([.script("fix", "2", "two;"), .bundle("web", "1", ["index.html": "1"], rules: asked)])
        #expect(try await bench.sync() == ["2 update fix 2", "3 updateDone fix 2", "0 synced"])
        let last = bench.app(timeout: .seconds(3_600))
        try await last.launch()
        #expect(bench.said() == ["0 serving", "1 script fix 2"])
        bench.repository.publish([.script("fix", "2", "two;")])
        bench.repository.fail("metadata/timestamp.json", with: .connection)
        do throws(SyncError) { try await bench.device.sync() } catch { bench.take(.synced(.failure(error))) }
        bench.take(.damaged(["web 1 index.html"]))
        bench.take(.withdrawn([try #require(PatchID("web"))]))
        #expect(bench.said() == ["6 trouble", "7 damaged", #"3 withdrawn {"rollback":true}"#])
    }

    @Test func `say once what waits for a person, and what people decided`() async throws {
        var bench = try ReportingDevice()
        bench.repository.publish([.script("fix", "1", "one;")])
        #expect(try await bench.sync() == ["2 update fix 1", "3 updateDone fix 1", "0 synced"])
        // Where nothing runs nobody is asked.
        try await bench.app(timeout: .seconds(3_600)).launch()
        try await bench.confirm()
        _ = bench.said()
        _ = try await bench.device.device.store.changingConfiguration { $0.policy.consent = .ask }
        bench.device.device = try bench.device.device.reopened()

        var second = SimulatedPatch.script("fix", "2", "two;")
        second.security = try SecurityAdvisory(Fields(.fields([("text", .text("A hole."))]), of: "test"))
        bench.repository.publish([second])
        #expect(
            try await bench.sync() == [#"2 awaiting fix 2 {"text":"A hole."}"#, "0 synced"],
            "nothing of it is here, and nothing is on its way"
        )
        #expect(try await bench.sync() == ["0 synced"], "what still waits is no event")
        #expect(
            try await bench.sync(approving: true) == [
                "0 approved fix 2", "2 update fix 2", "3 updateDone fix 2", "0 synced",
            ]
        )
        #expect(try await bench.sync(approving: true) == ["0 synced"], "what was approved is not approved again")

        bench.repository.publish([.script("fix", "3", "three;")])
        #expect(try await bench.sync() == ["2 awaiting fix 3", "0 synced"])
        let label = Label(patchID: try #require(PatchID("fix")), version: try #require(VersionLabel("3")))
        let decisions: [DeviceEvent] = [.approved(label), .postponed(until: UTCTime(seconds: 60)), .postponementEnded]
        for decision in decisions { bench.take(decision) }
        #expect(
            bench.said() == ["0 approved fix 3", "0 postponed 1970-01-01T00:01:00Z", "0 postponementEnded"]
        )
    }
}

extension JSON {
    fileprivate var words: String {
        if case .string(let text) = self { text.text } else { String(decoding: fileBytes, as: UTF8.self) }
    }
}
