import DeviceTesting
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchRuntime
import PatchStore
import PatchSync
import PatchTesting
import Patchline
import PatchlineScripts
import SystemPackage
import Testing

private final class Cart: PatchExposed {}

/// A start of the program, and its cart: a method belongs to one host.
private struct Started: Sendable {
    let app: ScriptedApp
    let patchableTotal: PatchMethod<Cart, Int>

    func total() throws -> Int { try patchableTotal(Cart()) }
}

/// What an app told, in words.
private final class RecordedEvents: Sendable {
    private let lines: AsyncStream<String>
    private let whenTold: AsyncStream<String>.Continuation

    init() { (lines, whenTold) = AsyncStream.makeStream() }

    @Sendable func take(_ event: ScriptedApp.Event) {
        switch event {
        case .ran(let report):
            let rows = report.rows.map { "\($0.id) \($0.version) \($0.state.rawValue)" }
            whenTold.yield("ran \(rows.joined(separator: ", "))")
        case .failed(let failure, let isTakenBack):
            whenTold.yield("failed: \(failure.patch), \(failure.kind)\(isTakenBack ? ", taken back" : "")")
        case .app(let event): whenTold.yield("\(event)")
        }
    }

    /// Waits for a line, and passes over what comes before.
    func wait(for line: String) async {
        for await one in lines where one == line { return }
    }
}

@Suite("An app whose script patches run", .serialized, .timeLimit(.minutes(10)))
struct ScriptedAppTests {
    private final class World {
        let repository: SimulatedRepository
        let root = FilePath("/tmp/patchline-scripts-tests-\(UInt64.random(in: 0...UInt64.max))")
        let told = RecordedEvents()
        private var device: SimulatedDevice

        init() throws {
            let clock = ManualClock()
            repository = SimulatedRepository(clock: clock)
            device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
        }

        deinit { try? DiskFiles().removeTree(root) }

        func publish(_ patches: SimulatedPatch...) async throws {
            repository.publish(patches)
            try await sync()
        }

        func withdraw(_ id: String) async throws {
            repository.withdraw(id)
            try await sync()
        }

        func sync() async throws { #expect(try await device.sync().failures.isEmpty) }

        /// A new start of the program.
        func app(
            exposing more: @escaping @Sendable (PatchHost) throws -> Void = { _ in },
            changing change: (inout ScriptedApp.Settings) -> Void = { _ in }
        ) async throws -> Started {
            let total = PatchMethod("total") { (_: Cart) in 5_975 }
            var settings = ScriptedApp.Settings()
            settings.app.servesPages = false
            settings.app.syncs = false
            change(&settings)
            let app = try await ScriptedApp(
                store: root.string,
                settings: settings,
                exposing: { host in
                    try host.expose("Cart", Cart.self) { total }
                    try more(host)
                },
                report: told.take
            )
            return Started(app: app, patchableTotal: total)
        }
    }

    private static func fix(_ version: String, total: String) -> SimulatedPatch {
        .script("fix", version, "defineClass('Cart', {total() { return \(total); }});")
    }

    @Test func `has them in place once it has started, and confirms a version that has no page`() async throws {
        let world = try World()
        try await world.publish(Self.fix("1", total: "5976"))
        let started = try await world.app()
        #expect(try started.total() == 5_975)
        #expect(try await started.app.start() == "")
        #expect(try started.total() == 5_976)
        #expect(try started.app.app.store.status().phase == .settled)
        await started.app.stop()
    }

    @Test func `leaves it to whoever waits for more to confirm a version, where it is told so`() async throws {
        let world = try World()
        try await world.publish(Self.fix("1", total: "5976"))
        let started = try await world.app(changing: { $0.confirmsByItself = false })
        try await started.app.start()
        #expect(try started.app.app.store.status().phase == .trying)
        await started.app.stop()
    }

    @Test func `runs them in the order of the list, and not by their names`() async throws {
        let world = try World()
        let second = "defineClass('Cart', {total() { return self.ORIGtotal() + 1; }});"
        try await world.publish(
            .script("z-first", "1", "defineClass('Cart', {total() { return 100; }});"),
            .script("a-second", "1", second)
        )
        let started = try await world.app()
        try await started.app.start()
        #expect(try started.total() == 101)
        await started.app.stop()
    }

    @Test func `takes a new version up while it runs, and gives its own code back when that is withdrawn`()
        async throws
    {
        let world = try World()
        try await world.publish(Self.fix("1", total: "1"))
        let started = try await world.app()
        try await started.app.start()
        try await world.publish(Self.fix("2", total: "2"))
        await world.told.wait(for: "ran fix 2 Success")
        #expect(try started.total() == 2)
        await world.told.wait(for: "confirmed: fix 2")
        try await world.withdraw("fix")
        await world.told.wait(for: "ran ")
        #expect(try started.total() == 5_975)
        await started.app.stop()
    }

    @Test(arguments: [
        ("throw new Error('no')", "thrown"), ("defineClass(", "syntax"), ("for (;;) {}", "timeLimit"),
    ])
    func `takes a version back at once whose script fails, and runs the one before it`(
        script: String,
        kind: String
    ) async throws {
        let world = try World()
        try await world.publish(Self.fix("1", total: "1"))
        let started = try await world.app(changing: { $0.host.timeLimit = .milliseconds(50) })
        try await started.app.start()
        try await world.publish(.script("fix", "2", script))
        await world.told.wait(for: "failed: fix, \(kind), taken back")
        await world.told.wait(for: "ran fix 1 Success")
        #expect(try started.total() == 1)
        let status = try started.app.app.store.status()
        #expect(status.phase == .settled)
        #expect(status.blocks.map { "\($0.version): \($0.reason)" } == ["fix 2: a script of it failed"])
        await started.app.stop()
    }

    @Test func `takes a version back whose patched method fails while it is on trial`() async throws {
        let world = try World()
        try await world.publish(Self.fix("1", total: "1"))
        let started = try await world.app()
        try await started.app.start()
        await started.app.stop()
        let next = try await world.app(changing: { $0.confirmsByItself = false })
        try await next.app.start()
        try await world.publish(Self.fix("2", total: "this.nothing.there"))
        await world.told.wait(for: "ran fix 2 Success")
        #expect(throws: PatchRuntime.PatchFailure.self) { try next.total() }
        await world.told.wait(for: "failed: fix, thrown, taken back")
        await world.told.wait(for: "ran fix 1 Success")
        #expect(try next.total() == 1)
        await next.app.stop()
    }

    @Test func `keeps a confirmed version whose patched method fails, and tells it`() async throws {
        let world = try World()
        try await world.publish(Self.fix("1", total: "this.nothing.there"))
        let started = try await world.app()
        try await started.app.start()
        #expect(throws: PatchRuntime.PatchFailure.self) { try started.total() }
        await world.told.wait(for: "failed: fix, thrown")
        #expect(try started.app.app.store.status().phase == .settled)
        await started.app.stop()
    }

    @Test func `has a launch counted before the first script runs, so that one that ends the process is blamed`()
        async throws
    {
        let world = try World()
        try await world.publish(Self.fix("1", total: "1"))
        let first = try await world.app()
        try await first.app.start()
        await first.app.stop()
        try await world.publish(.script("fix", "2", "require('Witness'); Witness.look();"))
        let store = world.root.string
        let seen = NIOLockedValueBox<[String]>([])
        for _ in 1...2 {
            let started = try await world.app(
                exposing: { host in
                    try host.expose("Witness", Witness.self) {
                        PatchStaticMethod("look") {
                            let device = try Device(
                                DeviceStore(root: FilePath(store), files: DiskFiles()),
                                now: ManualClock().now
                            )
                            guard case .trying(_, _, let launch) = try device.state().machine.state else { return }
                            seen.withLockedValue { $0.append("launch \(launch.launches), \(launch.isCounted)") }
                        }
                    }
                },
                changing: { $0.confirmsByItself = false }
            )
            try await started.app.start()
            // It is not stopped: a process that was killed says nothing.
        }
        #expect(seen.withLockedValue { $0 } == ["launch 1, true", "launch 2, true"])
        let last = try await world.app()
        try await last.app.start()
        #expect(try last.total() == 1)
        #expect(try last.app.app.store.status().blocks.map(\.reason) == ["not confirmed in any of its launches"])
        await last.app.stop()
    }

    @Test func `passes over a script whose file is damaged, and blames nobody`() async throws {
        let world = try World()
        try await world.publish(Self.fix("1", total: "1"))
        let started = try await world.app()
        try await started.app.start()
        await started.app.stop()
        let file = FilePath(try #require(try started.app.app.store.scripts().first?.file))
        try DiskFiles().remove(file)
        let next = try await world.app()
        try await next.app.start()
        await world.told.wait(for: "ran fix 1 FileNotExist")
        #expect(try next.total() == 5_975)
        #expect(try next.app.app.store.status().phase == .settled)
        #expect(try next.app.app.store.status().blocks.isEmpty)
        await next.app.stop()
    }
}

private final class Witness: PatchExposed {}
