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
    private struct Told {
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
            lines.withLockedValue { told in
                told.lines += told.events.take(event).map { event in
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
            lines.withLockedValue { told in
                defer { told.lines = [] }
                return told.lines
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
        let told = try Told()
        // The device is number 4,274 of 10,000.
        let dark = PatchRules(rollout: 4_000)
        told.repository.publish([.script("fix", "1", "one;"), .bundle("web", "1", ["index.html": "1"], rules: dark)])
        #expect(
            try await told.sync() == [
                "2 update fix 1", "3 updateDone fix 1", #"5 gray web 1 {"gray":4000,"isHit":false}"#, "0 synced",
            ]
        )
        let app = told.app(timeout: .seconds(3_600))
        try await app.launch()
        #expect(told.said() == ["0 serving", "1 script fix 1"])
        try await told.confirm()
        try await app.follow()
        #expect(told.said() == ["0 confirmed", "0 serving"])
        #expect(try await told.sync() == ["0 synced"], "an answer that is not new is no event")

        let asked = PatchRules(rollout: 5_000, condition: "region==eu")
        told.repository.publish([.script("fix", "1", "one;"), .bundle("web", "1", ["index.html": "1"], rules: asked)])
        #expect(
            try await told.sync() == [
                "2 update web 1", "3 updateDone web 1", #"4 condition web 1 {"condition":"region==eu","isHit":true}"#,
                #"5 gray web 1 {"gray":5000,"isHit":true}"#, "0 synced",
            ]
        )
        try await app.startPending()
        #expect(told.said() == ["0 serving"])
        try await told.confirm()
        try await app.follow()
        #expect(told.said() == ["0 confirmed", "0 serving"])

        let other = PatchRules(rollout: 5_000, condition: "region==us")
        told.repository.publish([
            .script("fix", "1", "one;"), .bundle("web", "3", ["index.html": "3"], rules: other),
            .bundle("web", "2", ["index.html": "2"]),
        ])
        #expect(
            try await told.sync() == [
                "2 update web 2", "3 updateDone web 2", #"4 condition web 3 {"condition":"region==us","isHit":false}"#,
                "0 synced",
            ]
        )
        let failing = told.app(timeout: .zero)
        try await failing.launch()
        #expect(told.said() == ["0 serving"])
        try await failing.endTrialIfDue()
        #expect(told.said() == [#"6 rolledBack {"reason":"startupTimer","rollback":true}"#, "0 serving"])

        told.repository.publish([.script("fix", "2", "two;"), .bundle("web", "1", ["index.html": "1"], rules: asked)])
        #expect(try await told.sync() == ["2 update fix 2", "3 updateDone fix 2", "0 synced"])
        let last = told.app(timeout: .seconds(3_600))
        try await last.launch()
        #expect(told.said() == ["0 serving", "1 script fix 2"])
        told.repository.publish([.script("fix", "2", "two;")])
        told.repository.fail("metadata/timestamp.json", with: .connection)
        do throws(SyncError) { try await told.device.sync() } catch { told.take(.synced(.failure(error))) }
        told.take(.damaged(["web 1 index.html"]))
        told.take(.withdrawn([try #require(PatchID("web"))]))
        #expect(told.said() == ["6 trouble", "7 damaged", #"3 withdrawn {"rollback":true}"#])
    }

    @Test func `say once what waits for a person, and what people decided`() async throws {
        var told = try Told()
        told.repository.publish([.script("fix", "1", "one;")])
        #expect(try await told.sync() == ["2 update fix 1", "3 updateDone fix 1", "0 synced"])
        // Where nothing runs nobody is asked.
        try await told.app(timeout: .seconds(3_600)).launch()
        try await told.confirm()
        _ = told.said()
        _ = try await told.device.device.store.changingConfiguration { $0.policy.consent = .ask }
        told.device.device = try told.device.device.reopened()

        var second = SimulatedPatch.script("fix", "2", "two;")
        second.security = try SecurityAdvisory(Fields(.fields([("text", .text("A hole."))]), of: "test"))
        told.repository.publish([second])
        #expect(
            try await told.sync() == [#"2 awaiting fix 2 {"text":"A hole."}"#, "0 synced"],
            "nothing of it is here, and nothing is on its way"
        )
        #expect(try await told.sync() == ["0 synced"], "what still waits is no event")
        #expect(
            try await told.sync(approving: true) == [
                "0 approved fix 2", "2 update fix 2", "3 updateDone fix 2", "0 synced",
            ]
        )
        #expect(try await told.sync(approving: true) == ["0 synced"], "what was approved is not approved again")

        told.repository.publish([.script("fix", "3", "three;")])
        #expect(try await told.sync() == ["2 awaiting fix 3", "0 synced"])
        let label = Label(patchID: try #require(PatchID("fix")), version: try #require(VersionLabel("3")))
        let decisions: [DeviceEvent] = [.approved(label), .postponed(until: UTCTime(seconds: 60)), .postponementEnded]
        for decision in decisions { told.take(decision) }
        #expect(
            told.said() == ["0 approved fix 3", "0 postponed 1970-01-01T00:01:00Z", "0 postponementEnded"]
        )
    }
}

extension JSON {
    fileprivate var words: String {
        if case .string(let text) = self { text.text } else { String(decoding: fileBytes, as: UTF8.self) }
    }
}
