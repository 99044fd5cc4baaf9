import PatchTrust
import DeviceTesting
import HTTPFiles
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

import PageTesting
@testable import Patchline

/// What `patchsync` does to a store, by the library's public names.
@Suite("A store that a program looks after", .timeLimit(.minutes(10)))
struct PatchlineStoreTests {
    private struct Scene {
        let clock = ManualClock()
        let repository: SimulatedRepository
        let root = FilePath("/tmp/patchline-store-tests-\(UInt64.random(in: 0...UInt64.max))")
        let device: SimulatedDevice
        let store: PatchlineStore

        init() throws {
            repository = SimulatedRepository(clock: clock)
            let simulated = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
            device = simulated
            let forecasting: PatchlineStore.Forecasting = { device, options throws(SyncError) in
                var simulated = simulated
                simulated.device = device
                simulated.retryNow = options.retriesFailed
                if case .metered(let allowance) = options.metering { simulated.allowance = allowance }
                return try await simulated.forecast()
            }
            store = PatchlineStore(simulated.device, forecasting: forecasting) {
                device,
                options,
                report throws(SyncError) in
                var simulated = simulated
                simulated.device = device
                simulated.retryNow = options.retriesFailed
                simulated.report = report
                if case .metered(let allowance) = options.metering { simulated.allowance = allowance }
                return try await simulated.sync()
            }
        }

        func publish(_ version: String, rules: PatchRules = .everyone) {
            repository.publish([
                .script("fix", version, "fix \(version);", rules: rules),
                .bundle("web", version, ["index.html": "<p>\(version)</p>"], rules: rules),
            ])
        }

        /// What is published runs, and is confirmed.
        func install(_ version: String) async throws {
            publish(version)
            try await store.sync()
            try await device.launchAndConfirm()
        }
    }

    private func scene(_ body: (Scene) async throws -> Void) async throws {
        let scene = try Scene()
        do { try await body(scene) } catch {
            try? DiskFiles().removeTree(scene.root)
            throw error
        }
        try DiskFiles().removeTree(scene.root)
    }

    /// The error that `body` ends with.
    private func fault(_ body: () async throws(PatchlineError) -> Void) async -> PatchlineError? {
        do throws(PatchlineError) {
            try await body()
            return nil
        } catch { return error }
    }

    @Test func `syncs, tells how far it has come, and says where it stands`() async throws {
        try await scene { scene in
            #expect(try scene.store.status().phase == .empty && scene.store.status().lastSync == nil)
            scene.publish("1")
            let reported = NIOLockedValueBox<[PatchlineStore.Progress]>([])
            let result = try await scene.store.sync { news in reported.withLockedValue { $0.append(news) } }
            #expect(result.staging == .staged(.atReload) && result.isComplete && result.failures.isEmpty)
            #expect(result.filesReceived > 0 && result.bytesReceived > 0 && result.release == 1)
            let progress = reported.withLockedValue(\.self)
            #expect(progress.first == .verified(release: 1, entries: 2))
            #expect(progress.contains { if case .downloading = $0 { true } else { false } })
            #expect(progress.contains { if case .received(let percent) = $0 { percent > 0 } else { false } })
            #expect(try await scene.store.sync().staging == .nothingNew)

            let status = try scene.store.status()
            #expect(status.phase == .pending && status.channel == "production" && status.release == 1)
            #expect(status.lastSync?.description == scene.clock.now().description)
            #expect(status.patches.map(\.version.description) == ["fix 1", "web 1"])
            #expect(status.patches.allSatisfy { $0.state == .waiting && $0.isPending && $0.fault == nil })
            try await scene.device.launchAndConfirm()
            #expect(try scene.store.status().patches.map(\.state) == [.installed, .installed])
        }
    }

    @Test func `tells what a sync would fetch, how and for how many bytes, and changes nothing`() async throws {
        try await scene { scene in
            try await scene.install("1")
            scene.repository.publish([
                .script("fix", "2", "fix 2;"), .bundle("web", "2", ["index.html": "<p>2</p>"]),
            ])
            scene.repository.edit { tree in
                tree.publishPacks(of: "web")
                tree.publishPackIndex(of: "web")
            }
            let before = try scene.store.status()
            let cost = try await scene.store.costOfSync()
            #expect(cost.release == 2 && cost.isExact && cost.metadataBytes > 0 && !cost.isUnasked)
            #expect(cost.patches.map(\.version.description) == ["fix 2", "web 2"])
            #expect(cost.patches.map { $0.installed?.description } == ["fix 1", "web 1"])
            #expect(cost.patches.map(\.way) == [.file, .packs(from: "1", count: 1)])
            #expect(cost.patches.first?.bytes == 6 && cost.patches.allSatisfy { $0.isExact && !$0.isRepair })
            #expect(cost.refused == [] && cost.passedOver == [] && cost.mirrors == [] && cost.staleServer == nil)
            #expect(try scene.store.status() == before)
            #expect(try await scene.store.sync().bytesTransferred == cost.bytes)
            let staged = try await scene.store.costOfSync()
            #expect(staged.bytes == 0 && staged.patches.map(\.way) == [.nothing, .nothing])
            try await scene.device.launchAndConfirm()
            #expect(try await scene.store.costOfSync().patches == [])
        }
    }

    @Test func `leaves for another network what the allowance does not cover, and says so until it comes`() async throws
    {
        try await scene { scene in
            try await scene.install("1")
            scene.repository.publish([
                .script("fix", "2", "fix 2;"), .bundle("web", "2", ["index.html": "<p>2</p>"]),
            ])
            scene.repository.edit { tree in
                tree.publishPacks(of: "web")
                tree.publishPackIndex(of: "web")
            }
            let settings = try await scene.store.configure { settings in
                (settings.isMetered, settings.allowance, settings.bytesPerSecond) = (true, 6, 5_000)
            }
            #expect(try scene.store.settings == settings && settings.isMetered && settings.allowance == 6)
            let cost = try await scene.store.costOfSync()
            #expect(cost.patches.map(\.version.description) == ["fix 2"] && cost.bytes == 6)
            let web = try #require(cost.putOff.first)
            #expect(web.version.description == "web 2" && web.bytes == web.cost && web.left == 0)
            let reported = NIOLockedValueBox<[PatchlineStore.Progress]>([])
            let result = try await scene.store.sync { news in reported.withLockedValue { $0.append(news) } }
            #expect(result.putOff == [web] && result.isComplete && result.staging == .staged(.anyTime))
            #expect(reported.withLockedValue(\.self).contains(.putOff(web)))
            let status = try scene.store.status()
            #expect(status.putOff == [PatchlineStore.Waiting(version: web.version, bytes: web.bytes)])
            #expect(status.passedOver == [])
            // What one sync says of itself goes before the setting.
            var options = PatchlineStore.SyncOptions()
            options.metering = .metered(allowance: try #require(web.bytes))
            let next = try await scene.store.sync(options)
            #expect(next.putOff == [] && next.packs.map(\.version.description) == ["web 2"])
            let pack = try #require(next.packs.first)
            #expect(pack.base == "1" && pack.bytes == web.bytes && pack.saved == pack.estimate - pack.bytes)
            #expect(try scene.store.status().putOff == [])
            let wrong = await fault { () throws(PatchlineError) in
                _ = try await scene.store.configure { $0.allowance = -1 }
            }
            #expect(wrong?.description.contains("allowance must be from 0 to") == true)
        }
    }

    @Test func `confirms the launch on trial, by its token or whichever it is, and no other`() async throws {
        try await scene { scene in
            #expect(try await !scene.store.confirm())
            scene.publish("1")
            try await scene.store.sync()
            guard case .tryOut(_, let token) = try await scene.device.device.launch() else {
                Issue.record("no trial")
                return
            }
            #expect(try await !scene.store.confirm(launch: String(repeating: "0", count: 32)))
            #expect(try scene.store.status().phase == .trying && scene.store.status().isUnproven)
            #expect(try await scene.store.confirm())
            #expect(try await scene.store.confirm(launch: token.text) && scene.store.status().phase == .settled)
            #expect(try await !scene.store.confirm())
            let wrong = await fault { () throws(PatchlineError) in try await scene.store.confirm(launch: "x") }
            #expect(wrong == PatchlineError("launch must be 32 lowercase hex digits"))
        }
    }

    @Test func `goes back, says why the version stays away, and takes it again once it is unblocked`() async throws {
        try await scene { scene in
            let nothing = await fault { () throws(PatchlineError) in try await scene.store.rollBack() }
            #expect(nothing?.code == .nothingThere)
            try await scene.install("1")
            try await scene.install("2")
            #expect(try await scene.store.rollBack().map(\.description) == ["fix 1", "web 1"])
            let result = try await scene.store.sync()
            #expect(result.staging == .nothingNew)
            #expect(result.passedOver.map(\.version.description) == ["fix 2", "web 2"])
            #expect(result.passedOver.allSatisfy { $0.reason.code == "rolledBackByHand" })
            let blocks = try scene.store.status().blocks
            #expect(blocks.map(\.next) == [.blocked, .blocked] && blocks.first?.reason == "rolled back by hand")
            #expect(blocks.first.map { $0.until.seconds } == scene.clock.now().adding(.days(14)).seconds)
            let wrong = await fault { () throws(PatchlineError) in try await scene.store.unblock(["a b"]) }
            #expect(wrong?.code == .invalid && wrong?.description.hasPrefix("the patch id 'a b' must be") == true)
            #expect(try await scene.store.unblock(["web"]).map(\.description) == ["web 2"])
            #expect(try await scene.store.unblock().map(\.description) == ["fix 2"])
            #expect(try await scene.store.sync().staging == .staged(.atReload))
        }
    }

    @Test func `tries again what only waits, when it is asked to`() async throws {
        try await scene { scene in
            try await scene.install("1")
            scene.publish("2")
            try await scene.store.sync()
            guard case .tryOut(_, let token) = try await scene.device.device.launch() else {
                Issue.record("no trial")
                return
            }
            _ = try await scene.device.device.timerEnded(token)
            #expect(try scene.store.status().blocks.map(\.next) == [.waits, .waits])
            #expect(try await scene.store.sync().passedOver.map(\.reason.code) == ["waiting", "waiting"])
            var options = PatchlineStore.SyncOptions()
            options.retriesFailed = true
            #expect(try await scene.store.sync(options).staging == .staged(.atReload))
        }
    }

    @Test func `says what rules ask for, and takes what then fits`() async throws {
        try await scene { scene in
            scene.publish("1", rules: PatchRules(rollout: 10_000, condition: "region==eu"))
            let result = try await scene.store.sync()
            #expect(result.passedOver.map(\.reason.code) == ["condition", "condition"])
            #expect(try scene.store.status().passedOver == result.passedOver)
            let settings = try await scene.store.configure { settings in
                settings.data["region"] = "eu"
                settings.user = "alice"
                settings.appVersion = "2.1"
                settings.platform = PatchlineStore.Platform(name: "linux", compatibility: "0abe")
                settings.keep = 3
                settings.asksServer = true
                settings.entrySignatures = .manifest
                settings.mirrors = ["http://127.0.0.1:9/tree"]
            }
            #expect(try settings == scene.store.settings && settings.data == ["region": "eu"] && settings.keep == 3)
            let configuration = try scene.device.device.store.configuration()
            #expect(configuration.user?.text == "alice" && configuration.answers && configuration.keep == 3)
            #expect(configuration.access.mirrors.map(\.text) == ["http://127.0.0.1:9/tree"])
            #expect(configuration.entrySignatures == .manifest && settings.entrySignatures == .manifest)
            try await scene.store.configure { $0.platform = nil }
            #expect(try await scene.store.sync().staging == .staged(.atReload))
        }
    }

    private struct Wrong: Sendable {
        let sentence: String
        let change: @Sendable (inout PatchlineStore.Settings) -> Void
    }

    private static let wrong: [Wrong] = [
        Wrong(sentence: "appVersion must be") { $0.appVersion = "x" },
        Wrong(sentence: "user must be") { $0.user = "" },
        Wrong(sentence: "data: the key 'a b' must be") { $0.data = ["a b": "1"] },
        Wrong(sentence: "data: the value of a") { $0.data = ["a": ""] },
        Wrong(sentence: "keep must be from 0 to 10") { $0.keep = 11 },
        Wrong(sentence: "allowance must be from 0 to 1000000000000 bytes") { $0.allowance = -1 },
        Wrong(sentence: "bytesPerSecond must be from 1000 to 1000000000000") { $0.bytesPerSecond = 999 },
        Wrong(sentence: "mirrors: 'ftp://a' must be") { $0.mirrors = ["ftp://a"] },
        Wrong(sentence: "pins: 'sha256/x' must be sha256/ and the base64") { $0.pins = ["sha256/x"] },
        Wrong(sentence: "") { $0.authorities = "no PEM" },
        Wrong(sentence: "embedded must be an absolute path") { $0.embedded = "relative" },
        Wrong(sentence: "") { $0.pins = ["sha256/" + String(repeating: "A", count: 43) + "="] },
        Wrong(sentence: "postponeLimit must be from 0 to 31536000 seconds") { $0.postponeLimit = .seconds(31_536_001) },
        Wrong(sentence: "windows must be at most 32") { $0.windows = Array(repeating: "daily 01:00-02:00", count: 33) },
        Wrong(sentence: "windows: 'at night' must be days and hours") { $0.windows = ["at night"] },
        Wrong(sentence: "windowZone must be UTC, an offset") { $0.windowZone = "../CET" },
        Wrong(sentence: "windowZone: there is no time zone Europe/Atlantis in /usr/share/zoneinfo; zones are named") {
            $0.windowZone = "Europe/Atlantis"
        },
        Wrong(sentence: "platform must be") { $0.platform = .init(name: "a b", compatibility: "x") },
    ]

    @Test(arguments: wrong.indices)
    func `takes no setting that is none, and changes nothing then`(index: Int) async throws {
        let (sentence, change) = (Self.wrong[index].sentence, Self.wrong[index].change)
        try await scene { scene in
            let before = try scene.store.settings
            let wrong = await fault { () throws(PatchlineError) in try await scene.store.configure(change) }
            #expect(wrong?.description.hasPrefix(sentence) == true, "\(String(describing: wrong))")
            #expect(try scene.store.settings == before)
        }
    }

    @Test func `asks before a version comes, and puts off the start of one that came`() async throws {
        try await scene { scene in
            try await scene.install("1")
            try await scene.store.configure { settings in
                (settings.consent, settings.postponeLimit) = (.ask, .seconds(3_600))
                (settings.windows, settings.windowZone) = (["daily 00:00-24:00"], "+01:00")
            }
            let settings = try scene.store.settings
            #expect(settings.consent == .ask && settings.postponeLimit == .seconds(3_600))
            #expect(settings.windows == ["daily 00:00-24:00"] && settings.windowZone == "+01:00")
            scene.publish("2")
            #expect(try await scene.store.sync().staging == .nothingNew)
            #expect(try scene.store.awaiting.map(\.version.description) == ["fix 2", "web 2"])
            let status = try scene.store.status()
            #expect(status.awaiting == (try scene.store.awaiting) && status.passedOver.map(\.reason.code).count == 2)
            func refused(_ patch: String?, _ version: String?) async -> String? {
                await fault { () throws(PatchlineError) in
                    _ = try await scene.store.approve(patch, version: version)
                }?.description
            }
            #expect(await refused("web", "9") == "web 9 is not listed")
            #expect(await refused("web", "a b") == "the version 'a b' \(VersionLabel.rule)")
            #expect(await refused(nil, "2") == "a version needs its patch: give both")
            #expect(try await scene.store.approve("web").map(\.version.description) == ["web 2"])
            #expect(try await scene.store.sync().staging == .staged(.atReload))
            let until = try await scene.store.postpone(for: .seconds(7_200))
            #expect(until.seconds == scene.clock.now().seconds + 3_600)
            #expect(try scene.store.status().hold?.code == "postponed")
            scene.clock.advance(by: .hours(1))
            let over = await fault { () throws(PatchlineError) in
                _ = try await scene.store.postpone(for: .seconds(1))
            }
            #expect(over?.description == "the owner's limit for postponements is reached")
            try await scene.store.endPostponement()
            #expect(try scene.store.status().hold == nil)
        }
    }

    @Test func `follows another channel and another server`() async throws {
        try await scene { scene in
            scene.publish("1")
            try await scene.store.sync()
            _ = try await scene.device.device.launch()
            let early = await fault { () throws(PatchlineError) in try await scene.store.follow(channel: "beta") }
            #expect(early?.code == .notNow)
            try await scene.store.confirm()
            try await scene.store.follow(channel: "beta", server: "http://127.0.0.1:9")
            let status = try scene.store.status()
            #expect(status.channel == "beta" && status.server == "http://127.0.0.1:9" && status.phase == .settled)
            for (channel, server) in [("Beta!", nil), (nil, "ftp://a")] as [(String?, String?)] {
                let wrong = await fault { () throws(PatchlineError) in
                    try await scene.store.follow(channel: channel, server: server)
                }
                #expect(wrong?.code == .invalid)
            }
        }
    }

    @Test func `gives out scripts that run, of the bytes that were signed alone`() async throws {
        try await scene { scene in
            try await scene.install("1")
            let script = try #require(try scene.store.scripts().first)
            #expect(try script.version.description == "fix 1" && script.source() == "fix 1;" && script.runsIn == .host)
            #expect(try scene.store.scripts().count == 1)
            let file = try #require(script.file)
            #expect(file.hasSuffix(script.sha256))
            try DiskFiles().remove(FilePath(file))
            try DiskFiles().write(Array("evil 1".utf8), to: FilePath(file), permissions: .ownerReadWrite)
            let wrong = await fault { () throws(PatchlineError) in _ = try script.source() }
            #expect(wrong?.code == .refused)
            #expect(try scene.store.scripts().map(\.file) == [nil])
            try await scene.store.sync()
            #expect(try scene.store.scripts().first?.source() == "fix 1;")
        }
    }

    @Test func `is made once: the same again is no error, and what differs is named`() async throws {
        try await scene { scene in
            let path = scene.root.appending("made")
            let store = DeviceStore(root: path, files: DiskFiles(), admitting: .all)
            var origin = PatchlineStore.Origin(server: "http://a.test", root: scene.repository.root)
            origin.settings.data = ["region": "eu"]
            #expect(try PatchlineStore.make(store, from: origin) == .made)
            #expect(try PatchlineStore.make(store, from: origin) == .sameAsBefore)
            let before = try store.configuration()
            origin.server = "http://b.test"
            origin.channel = "beta"
            origin.settings = PatchlineStore.Settings()
            origin.settings.user = "bob"
            origin.settings.mirrors = ["http://c.test"]
            #expect(
                try PatchlineStore.make(store, from: origin)
                    == .differs([
                        "server (http://a.test, not http://b.test)", "channel (production, not beta)", "user",
                        "mirrors (not set, not http://c.test)",
                    ])
            )
            #expect(try store.configuration() == before)
            for origin in [PatchlineStore.Origin(server: "x", root: []), PatchlineStore.Origin(server: "http://a")] {
                let wrong = await fault { () throws(PatchlineError) in
                    _ = try PatchlineStore.make("/nowhere/store", from: origin)
                }
                #expect(wrong?.code == .invalid)
            }
            let none = await fault { () throws(PatchlineError) in _ = try await PatchlineStore(path.string + "x") }
            #expect(none?.code == .noStore)
        }
    }

    @Test func `is followed by the app that runs on it, which tells how far its syncs have come`() async throws {
        try await scene { scene in
            try await scene.install("1")
            let (events, reported) = AsyncStream.makeStream(of: PatchlineApp.Event.self)
            var settings = PatchlineApp.Settings()
            settings.port = 0
            let app = try PatchlineApp(scene.store, settings: settings) { reported.yield($0) }
            let url = try await app.start()
            scene.publish("2")
            await app.checkForUpdates()
            var seen: [PatchlineApp.Event] = []
            for await event in events {
                seen.append(event)
                if case .synced = event { break }
            }
            #expect(seen.first == .serving("fix 1, web 1", onTrial: false))
            #expect(seen.contains { if case .syncing(let percent) = $0 { percent > 0 } else { false } }, "\(seen)")
            #expect(seen.last == .synced(isNew: true))
            try await app.switchToPending()
            try await app.confirm()
            #expect(try await app.scripts.map(\.version.description) == ["fix 2"])
            try await app.store.rollBack()
            for await event in events where event == .serving("fix 1, web 1", onTrial: false) { break }
            #expect(try await Browser.opening(url).ask("/").body == "<p>1</p>")
            await app.stop()
        }
    }
}
