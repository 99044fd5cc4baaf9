import DeviceTesting
import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

@Suite("A device whose people decide")
struct ConsentSyncTests {
    /// Runs the first release, and is offered the second.
    private func world(
        _ patches: [SimulatedPatch] = [SampleApp.fix2, SampleApp.banner1, SampleApp.web2],
        _ change: @escaping @Sendable (inout UpdatePolicy) -> Void
    ) async throws -> World {
        var world = try await World.running()
        try await set(&world, change)
        world.repository.publish(patches)
        _ = world.repository.takeRequests()
        return world
    }

    private func set(_ world: inout World, _ change: @escaping @Sendable (inout UpdatePolicy) -> Void) async throws {
        _ = try await world.device.store.changingConfiguration { change(&$0.policy) }
        world.device.device = try world.device.device.reopened()
    }

    /// What was asked for besides metadata.
    private func fetched(_ world: World) -> [String] {
        world.repository.takeRequests().filter { request in
            !request.hasPrefix("metadata/") && !request.contains("patchlist.json") && !request.contains("/dial/")
        }
    }

    private func codes(_ world: World) throws -> [String] {
        try #require(try world.device.device.explanation()).versions.map { version in
            if case .passedOver(let why) = version.outcome { return "\(version.label): \(why.code)" }
            return "\(version.label): \(version.outcome.code)"
        }
    }

    @Test func `that asks fetches nothing of a new version before somebody approves of it`() async throws {
        let world = try await world { $0.consent = .ask }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.staging == .unchanged && fetched(world) == [])
        #expect(report.awaiting.map(\.label.description) == ["fix-cart-total 2", "web 2.0.0"])
        #expect(
            try codes(world) == ["fix-cart-total 2: unapproved", "banner 1: installed", "web 2.0.0: unapproved"]
        )
        let status = try world.device.device.status()
        #expect(status.awaiting == report.awaiting && status.heldBack.count == 2)
        // Asked for by name, and not listed.
        #expect(try await world.device.device.approve(name("web"), name("9")) == .notListed)

        let approved = try await world.device.device.approve(name("web"))
        #expect(approved == .approved([try #require(report.awaiting.last)]))
        #expect(try codes(world).last == "web 2.0.0: taken")
        let next = try await world.device.sync()
        #expect(next.staging == .staged && next.awaiting.map(\.label.description) == ["fix-cart-total 2"])
        try await world.device.launchAndConfirm()
        // Somebody goes back: it does not come again by itself once its block is over.
        _ = try await world.device.device.rollBack()
        #expect(try world.device.device.state().approved == ApprovedVersions())
        _ = try await world.device.device.forgetFailures()
        #expect(try await world.device.sync().awaiting.map(\.label.description) == ["fix-cart-total 2", "web 2.0.0"])
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test func `takes all that a sync finds where somebody approves of that, also after it broke off`() async throws {
        var world = try await world { $0.consent = .ask }
        world.device.approvesAll = true
        #expect(try await world.device.forecast().rows.map(\.task) == [.keep, .take, .take])
        #expect(try world.device.device.state().approved == ApprovedVersions(), "nothing was decided")
        #expect(try await world.device.sync().staging == .staged)
        world.device.approvesAll = false
        #expect(try world.device.device.state().approved.rows.values.map(\.text).sorted() == ["2", "2.0.0"])
        #expect(try await world.device.sync().staging == .unchanged)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    private static let hole = try? SecurityAdvisory(
        Fields(
            .fields([("text", .text("Names could run scripts.")), ("url", .text("https://example.com/7"))]),
            of: "test"
        )
    )

    @Test func `takes security versions by itself, an older one where the newest is none`() async throws {
        let fix3 = SimulatedPatch.script("fix-cart-total", "3", "cart.total = 3;")
        let patches = [fix3, SampleApp.fix2.with { $0.security = Self.hole }, SampleApp.banner1, SampleApp.web2]
        let world = try await world(patches) { $0.consent = .security }
        let report = try await world.device.sync()
        #expect(report.staging == .staged)
        #expect(report.awaiting.map(\.label.description) == ["fix-cart-total 3", "web 2.0.0"])
        let status = try world.device.device.status()
        #expect(status.security.map(\.label.description) == ["fix-cart-total 2"])
        #expect(status.security.first?.security == Self.hole)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 1.0.0")
    }

    @Test func `approves of what a version requires, too`() async throws {
        let fix2 = SHA256Digest(of: Array("cart.total = 2;".utf8))
        let web = SampleApp.web2.with { $0.requires = [SampleApp.fix2.id: [fix2]] }
        let world = try await world([SampleApp.fix2, SampleApp.banner1, web]) { $0.consent = .ask }
        _ = try await world.device.sync()
        guard case .approved(let all) = try await world.device.device.approve(name("web"), name("2.0.0")) else {
            Issue.record("it is listed")
            return
        }
        #expect(all.map(\.label.description) == ["web 2.0.0", "fix-cart-total 2"])
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `is asked nothing where there would be nothing to run`() async throws {
        var world = try World()
        try await set(&world) { $0.consent = .ask }
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web1])
        #expect(try await world.device.sync().staging == .staged)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
        // Its only version is withdrawn by name: the next one comes, and nothing keeps it waiting.
        try await set(&world) {
            $0.windows = MaintenanceWindows([MaintenanceWindows.Window("sun 03:00-04:00")].compactMap(\.self))
        }
        _ = try await world.device.device.postpone(for: .days(1))
        world.repository.withdraw(SampleApp.web1, listing: [SampleApp.fix2, SampleApp.banner1, SampleApp.web2])
        let report = try await world.device.sync()
        #expect(report.staging == .staged && report.awaiting.map(\.label.description) == ["fix-cart-total 2"])
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 2.0.0")
    }

    @Test func `puts off the start of what came, which a switch by hand ends`() async throws {
        var world = try await world { $0.postponeLimit = .hours(3) }
        let device = world.device.device
        #expect(try await device.postpone(for: .hours(2)) == world.clock.now().adding(.hours(2)))
        #expect(try await world.device.sync().staging == .staged)
        guard case .run(let running, removed: []) = try await device.launch() else {
            Issue.record("it was put off")
            return
        }
        #expect(running.labels == "banner 1, fix-cart-total 1, web 1.0.0")
        let hold = ActivationHold.postponed(until: world.clock.now().adding(.hours(2)))
        #expect(try device.status().hold == hold)
        // An owner who takes the permission back ends what was postponed.
        try await set(&world) { $0.postponeLimit = .zero }
        #expect(try world.device.device.status().hold == nil)
        #expect(try world.device.device.status().postponed == nil)
        try await set(&world) { $0.postponeLimit = .hours(3) }
        await #expect(throws: SyncError.heldBack(hold)) { try await device.switchToPending() }
        #expect(try codes(world) == ["fix-cart-total 2: postponed", "banner 1: installed", "web 2.0.0: postponed"])
        #expect(try device.explanation(at: hold.until)?.versions.last?.outcome == .staged)
        // The owner's limit counts from the first time.
        world.clock.advance(by: .hours(2))
        #expect(try device.activationHold() == nil)
        #expect(try await device.postpone(for: .hours(2)) == world.clock.now().adding(.hours(1)))
        world.clock.advance(by: .hours(1))
        #expect(try await device.postpone(for: .hours(2)) == nil)
        guard case .tryOut(_, let token) = try await device.switchToPending(isRequested: true) else {
            Issue.record("somebody asked for it")
            return
        }
        _ = try await device.confirm(token)
        #expect(try device.state().postponed == nil)
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `puts off anew what came after a row that ended while nothing waited`() async throws {
        var world = try await World.running()
        try await set(&world) { $0.postponeLimit = .hours(3) }
        _ = try await world.device.device.postpone(for: .hours(1))
        #expect(try await world.device.device.endPostponement())
        world.clock.advance(by: .days(1))
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web2])
        #expect(try await world.device.sync().staging == .staged)
        let until = try await world.device.device.postpone(for: .hours(2))
        #expect(until == world.clock.now().adding(.hours(2)), "it is another row")
        #expect(try await world.device.device.endPostponement())
        world.clock.advance(by: .hours(3))
        #expect(try await world.device.device.postpone(for: .hours(2)) == nil, "and who ends it begins no new one")
    }

    @Test func `starts what is mandatory outside its hours, and nothing else`() async throws {
        let shut = try #require(MaintenanceWindows.Window("sun 03:00-04:00"))
        let world = try await world { $0.windows = MaintenanceWindows([shut]) }
        #expect(try await world.device.sync().staging == .staged)
        #expect(try world.device.device.activationHold()?.code == "window")
        world.repository.publish(
            [
                SampleApp.fix2, SampleApp.banner1,
                SampleApp.web2.with { $0.rules = PatchRules(mandatory: true, runAtNextLaunch: true) },
            ]
        )
        // The same bytes, which must not wait any more.
        #expect(try await world.device.sync().staging == .unchanged)
        #expect(try world.device.device.activationHold() == nil)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }
}
