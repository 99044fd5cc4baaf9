import DeviceTesting
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

@Suite("A sync while bytes cost something")
struct MeteredSyncTests {
    private static let fix2 = "cart.total = 2;"

    /// Runs the first release, and is offered the second; its bundle comes by a pack that the server tells of.
    private func world(_ patches: [SimulatedPatch], allowance: Int = 0) async throws -> World {
        var world = try await World.running()
        world.repository.publish(patches)
        world.repository.edit { tree in
            tree.publishPacks(of: "web")
            tree.publishPackIndex(of: "web")
        }
        _ = world.takeEvents()
        world.device.allowance = allowance
        return world
    }

    /// What was asked for of versions, and not only for its size.
    private func fetched(_ world: World) -> [String] {
        world.repository.takeRequests().filter { request in
            !request.hasSuffix(" head") && !request.hasSuffix("index.json") && !request.hasPrefix("metadata/")
                && !request.contains("patchlist.json") && !request.contains("/dial/")
        }
    }

    @Test func `puts off what is not mandatory, says so, counts no failure, and takes it once they cost nothing`()
        async throws
    {
        var world = try await world([SampleApp.fix2, SampleApp.banner1, SampleApp.web2])
        let report = try await world.device.sync()
        #expect(report.isComplete && report.staging == .unchanged && report.failures == [] && report.packs == [])
        #expect(report.putOff.map(\.label.description) == ["fix-cart-total 2", "web 2.0.0"])
        #expect(report.putOff.first?.wait == MeteredWait(cost: Self.fix2.utf8.count, left: 0))
        #expect(fetched(world) == [])
        // The states stay true, and the older version is no news.
        let events = world.takeEvents()
        #expect(events.contains(.putOff(report.putOff[0])) && events.contains(.putOff(report.putOff[1])))
        var states: [String: [String]] = [:]
        for case .state(let id, let version, let state, _) in events {
            states[id.text, default: []].append("\(version) \(state.name)")
        }
        #expect(
            states == ["banner": ["1 Success"], "fix-cart-total": ["2 Update"], "web": ["2.0.0 Update"]]
        )
        let state = try world.device.device.state()
        #expect(state.putOff == DeferredVersions(report.putOff) && state.putOff.rows.count == 2)
        #expect(state.transfers == TransferFailures() && state.lastSync?.roleVersion == 2)
        let status = try world.device.device.status()
        #expect(status.putOff == state.putOff && status.heldBack.isEmpty)
        #expect(try world.status().allSatisfy { $0.hasSuffix("Success") })

        world.device.allowance = nil
        let next = try await world.device.sync()
        #expect(next.staging == .staged && next.putOff == [])
        #expect(try world.device.device.state().putOff == DeferredVersions())
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `keeps what came already and waits for its launch, unless a rule turns against it`() async throws {
        var world = try await world([SampleApp.fix1, SampleApp.banner1, SampleApp.web2])
        world.device.allowance = nil
        #expect(try await world.device.sync().staging == .staged)
        world.device.allowance = 0
        let web3 = SimulatedPatch.bundle("web", "3.0.0", ["index.html": "three"])
        let others = [SampleApp.fix1, SampleApp.banner1, web3]
        // It is not listed any more, or stands below the one that is put off.
        for patches in [others, others + [SampleApp.web2]] {
            world.repository.publish(patches)
            let report = try await world.device.sync()
            #expect(report.putOff.map(\.label.description) == ["web 3.0.0"] && report.staging == .unchanged)
            #expect(try world.machine.state.phase == .pending)
        }
        let explained = try world.device.device.explanation()?.only(name("web"), nil).versions.map(\.outcome.code)
        #expect(explained == ["taken", "staged"], "by the device's own setting, which is not metered")
        var closed = SampleApp.web2
        closed.rules.rollout = 0
        world.repository.publish(others + [closed])
        #expect(try await world.device.sync().staging == .unstaged)
    }

    @Test func `takes what is mandatory, with what it requires, and nothing else`() async throws {
        var web = SampleApp.web2
        web.rules.mandatory = true
        web.requires = [SampleApp.fix2.id: [SHA256Digest(of: Array(Self.fix2.utf8))]]
        let banner = SimulatedPatch.script("banner", "2", "show('two');")
        let world = try await world([SampleApp.fix2, banner, web])
        let report = try await world.device.sync()
        #expect(report.putOff.map(\.label.description) == ["banner 2"] && report.staging == .staged)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `takes what costs no more than is left of the allowance, to the byte that a dry run tells`()
        async throws
    {
        var world = try await world([SampleApp.fix1, SampleApp.banner1, SampleApp.web2])
        world.device.allowance = nil
        let cost = try #require(try await world.device.forecast().size.bytes)
        world.device.allowance = cost - 1
        let look = try await world.device.forecast()
        #expect(look.putOff.map(\.wait) == [MeteredWait(cost: cost, left: cost - 1)])
        #expect(look.size == .nothing && look.rows.last?.task == .putOff)
        #expect(look.rows.last?.cost.size == .exactly(cost))
        let report = try await world.device.sync()
        #expect(report.putOff == look.putOff && report.bytesTransferred == 0)
        world.device.allowance = cost
        #expect(try await world.device.forecast().putOff == [])
        let next = try await world.device.sync()
        #expect(next.putOff == [] && next.bytesTransferred == cost && next.staging == .staged)
    }

    @Test func `moves what requires one another together or not at all`() async throws {
        var web = SampleApp.web2
        web.requires = [SampleApp.fix2.id: [SHA256Digest(of: Array(Self.fix2.utf8))]]
        var world = try await world([SampleApp.fix2, SampleApp.banner1, web], allowance: Self.fix2.utf8.count)
        let report = try await world.device.sync()
        #expect(report.putOff.map(\.label.description) == ["fix-cart-total 2", "web 2.0.0"])
        #expect(report.putOff.map(\.wait.together.count) == [1, 1] && fetched(world) == [])
        let cost = try #require(report.putOff.first?.wait.cost)
        world.device.allowance = cost
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `puts off what nobody knows the cost of, whatever the allowance`() async throws {
        var world = try World([packedWeb2])
        let bundle = try #require(world.repository.tree.bundles(of: "web")["2.0.0"])
        world.repository.fail(URLLayout.fullPack(of: bundle.digest), with: .notFound)
        world.device.allowance = 1_000_000_000
        let report = try await world.device.sync()
        #expect(report.putOff.map(\.wait.cost) == [nil] && report.staging == .unchanged && fetched(world) == [])
        #expect(try world.device.device.status().putOff.rows.values.map(\.bytes) == [nil])
    }

    @Test func `takes no place at the server for what waits`() async throws {
        let world = try await world([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        world.repository.onQuestion { _ in
            Issue.record("the server was asked")
            return nil
        }
        world.repository.setDial([
            Dial.Row(
                patchID: SampleApp.fix2.id,
                sha256: SHA256Digest(of: Array(Self.fix2.utf8)),
                rollout: 10_000,
                paused: false,
                reason: nil,
                headcount: 3
            )
        ])
        #expect(try await world.device.sync().putOff.map(\.label.description) == ["fix-cart-total 2"])
    }

    @Test func `makes what runs whole again all the same, and keeps what stands half of what waits`() async throws {
        let world = try await world([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try world.disk.remove(world.store.objects.path(of: SHA256Digest(of: Array("show('one');".utf8))))
        let part = world.store.objects.incoming.at("\(SHA256Digest(of: Array(Self.fix2.utf8))).part")
        try world.disk.create(part, permissions: .privateFile).append(Array("cart".utf8))
        let report = try await world.device.sync()
        #expect(report.healed.map(\.description) == ["banner 1"])
        #expect(report.putOff.map(\.label.description) == ["fix-cart-total 2"])
        #expect(try world.parts == [part.lastComponent?.string])
    }

    @Test func `is a setting of the device too`() async throws {
        let world = try await world([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try await world.store.changingConfiguration { configuration throws(SyncError) in
            configuration.network.isMetered = true
            configuration.network.allowance = 7
            configuration.network.rate = 5_000
        }
        let configuration = try world.store.configuration()
        #expect(configuration.network.meteredAllowance == 7)
        let engine = SyncEngine(
            store: world.store,
            configuration: configuration,
            fetcher: world.repository,
            now: world.clock.now
        )
        #expect(engine.allowance == 7 && Deadlines().using(configuration.network).rate == 5_000)
        var asked = Deadlines()
        asked.rate = 9_000
        #expect(asked.using(configuration.network).rate == 9_000)
    }
}
