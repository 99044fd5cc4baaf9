import PatchChoice
import DeviceTesting
import NIOConcurrencyHelpers
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Row J14.
@Suite("Online parameters on a device")
struct ParametersTests {
    private let production = SimulatedRepository.production
    private let beta = SimulatedRepository.beta
    private let sale: [String: ParameterValue] = ["banner": .text("Sale"), "cart.limit": .integer(20)]

    private func values(_ world: World) throws -> [String: ParameterValue] {
        let values = try world.device.device.parameters().values
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.text, $0.value) })
    }

    /// A world whose device has ``sale``.
    private func told() async throws -> World {
        let world = try await World.running()
        world.repository.setParameters(sale)
        #expect(try await world.device.sync().parameters == .changed)
        _ = world.repository.takeRequests()
        return world
    }

    /// Where the document lies that the server has now.
    private func document(_ world: World, _ channel: ChannelName = SimulatedRepository.production) throws -> String {
        let path = TargetPath.parameters(channel)
        let bytes = try #require(world.repository.tree.parameters[path])
        return URLLayout.target(path, sha256: SHA256Digest(of: bytes))
    }

    @Test func `are none before anybody set one, and nobody asks for them`() async throws {
        let world = try await World.running()
        #expect(try values(world).isEmpty)
        let report = try await world.device.sync()
        #expect(report.parameters == .unchanged && report.isComplete)
        #expect(world.repository.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
        #expect(try world.files(below: "channels").keys.allSatisfy { !$0.contains("parameters") })
    }

    @Test func `come with the next sync, and are asked for again only when they change`() async throws {
        let world = try await told()
        #expect(try values(world) == sale)
        #expect(try await world.device.sync().parameters == .unchanged)
        #expect(world.repository.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])

        world.repository.setDial([])
        #expect(try await world.device.sync().parameters == .unchanged)
        #expect(!world.repository.takeRequests().contains { $0.contains("parameters") })

        world.repository.setParameters(["banner": .bool(false)])
        #expect(try await world.device.sync().parameters == .changed)
        #expect(try values(world) == ["banner": .bool(false)])
        #expect(world.repository.takeRequests().count { $0.contains("parameters") } == 1)
    }

    @Test func `that an operator took away are gone`() async throws {
        let world = try await told()
        world.repository.setParameters(nil)
        #expect(try await world.device.sync().parameters == .removed)
        #expect(try values(world).isEmpty)
        #expect(try world.files(below: "channels").keys.allSatisfy { !$0.contains("parameters") })
        #expect(try await world.device.sync().parameters == .unchanged)
    }

    @Test(
        arguments: [
            .notFound, .timesOut, .connection, .bitFlipped(at: 0.5), .shortened(to: 10), .replaced([0x7B, 0x7D]),
        ] as [SimulatedRepository.Fault]
    )
    func `stay the last good ones while the new ones do not come whole, and the rest of the sync is done`(
        _ fault: SimulatedRepository.Fault
    ) async throws {
        let world = try await told()
        world.repository.setParameters(["banner": .bool(false)])
        world.repository.publish(SampleApp.second)
        world.repository.fail(try document(world), with: fault)
        let report = try await world.device.sync()
        guard case .kept = report.parameters else {
            Issue.record("\(report.parameters)")
            return
        }
        #expect(report.staging == .staged && report.isComplete)
        #expect(try values(world) == sale)
        world.repository.repair(try document(world))
        #expect(try await world.device.sync().parameters == .changed)
        #expect(try values(world) == ["banner": .bool(false)])
    }

    @Test func `of another channel or app, or none at all, are refused by name, and the last good ones stay`()
        async throws
    {
        let world = try await told()
        world.repository.setParameters([:], saying: beta)
        let channel = TrustError.foreign(
            document: "parameters",
            field: "channel",
            found: "beta",
            expected: "production"
        )
        #expect(try await world.device.sync().parameters == .kept(because: .trust(channel)))

        let other: AppID = try #require(AppID("com.example.other"))
        world.repository.edit { tree in
            let document = OnlineParameters(app: other, channel: SimulatedRepository.production)
            tree.publishParameters(document.json.fileBytes, of: SimulatedRepository.production)
            tree.publishSnapshot()
        }
        let app = TrustError.foreign(
            document: "parameters",
            field: "app",
            found: "com.example.other",
            expected: "com.example.storefront"
        )
        #expect(try await world.device.sync().parameters == .kept(because: .trust(app)))

        world.repository.edit { tree in
            tree.publishParameters(Array("{}".utf8), of: SimulatedRepository.production)
            tree.publishSnapshot()
        }
        let format = FormatError("parameters", field: "format", rule: "must be a string")
        #expect(try await world.device.sync().parameters == .kept(because: .trust(.malformed(format))))
        #expect(try values(world) == sale)
    }

    @Test func `over their limit are not taken, whatever the role says`() async throws {
        let world = try await told()
        let filler = [UInt8](repeating: 0x20, count: Limits.parameters + 1)
        world.repository.edit { tree in
            tree.publishParameters(filler, of: SimulatedRepository.production)
            tree.publishSnapshot()
        }
        let before = world.repository.bytesSent
        guard case .kept(.fetch) = try await world.device.sync().parameters else {
            Issue.record("were taken")
            return
        }
        #expect(world.repository.bytesSent - before < 2 * Limits.parameters)
        #expect(try values(world) == sale)
    }

    @Test func `hold on when the dial's role has expired, and say so only where there are any`() async throws {
        let world = try await told()
        world.repository.expire("dial")
        guard case .kept(.trust(.expired(role: "dial", _, _))) = try await world.device.sync().parameters else {
            Issue.record("the expiry is not told")
            return
        }
        #expect(try values(world) == sale)

        let bare = try await World.running()
        bare.repository.expire("dial")
        #expect(try await bare.device.sync().parameters == .unchanged)
    }

    /// A world whose device had ``sale`` and has something newer, and the server as it was before.
    private func renewed() async throws -> (World, old: SimulatedTree) {
        let world = try await told()
        let old = world.repository.tree
        world.repository.setParameters(["banner": .bool(false)])
        #expect(try await world.device.sync().parameters == .changed)
        return (world, old)
    }

    @Test func `never go back to what an older role of the dial names`() async throws {
        let (world, old) = try await renewed()
        // Somebody who has the snapshot's key, and not the dial's, names the old role.
        world.repository.edit { tree in
            tree.snapshot["dial"] = old.snapshot["dial"]
            tree.publishSnapshot()
        }
        await #expect(throws: SyncError.self) { try await world.device.sync() }
        #expect(try values(world) == ["banner": .bool(false)])
    }

    @Test func `stay where a mirror lags`() async throws {
        let (world, old) = try await renewed()
        world.repository.edit { $0.files[URLLayout.timestamp] = old.files[URLLayout.timestamp] }
        let report = try await world.device.sync()
        #expect(report.parameters == .unchanged && report.staleMirror != nil)
        #expect(try values(world) == ["banner": .bool(false)])
    }

    @Test func `survive a bundle that is rolled back, and a new start`() async throws {
        let world = try await told()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        _ = try await world.device.device.rollBack()
        #expect(try values(world) == sale)
        #expect(try values(world.continued(on: world.disk.reopened())) == sale)
    }

    @Test func `are each channel's own`() async throws {
        var world = try await told()
        world.repository.publish(SampleApp.first, to: beta)
        world.repository.setParameters(["banner": .text("preview")], of: beta)
        #expect(try await world.device.sync().parameters == .unchanged)
        world.device.device = try await world.device.device.following(channel: beta)
        #expect(try values(world).isEmpty)
        #expect(try await world.device.sync().parameters == .changed)
        #expect(try values(world) == ["banner": .text("preview")])
        world.device.device = try await world.device.device.following(channel: production)
        #expect(try values(world) == sale)
    }

    @Test func `that cannot be stored are not there, and the old ones are whole`() async throws {
        let world = try await told()
        world.repository.setParameters(["banner": .bool(false)])
        let rehearsal = world.disk.reopened()
        try await world.device.reopened(on: rehearsal).sync()
        for change in 0..<rehearsal.changes {
            let disk = world.disk.reopened(failingAtChange: change)
            _ = try? await world.device.reopened(on: disk).sync()
            let device = try world.device.reopened(on: disk.crashed(.lose))
            let found = try device.device.parameters().values.map(\.value)
            #expect(found == [.bool(false)] || found.count == 2, "stopped at change \(change)")
        }
    }

    @Test func `that rotted on the disk are said to be so, and healed by the next sync`() async throws {
        let world = try await told()
        let path = world.store.parametersFile(production)
        let before = try world.disk.read(path, limit: 1_000)
        try world.disk.replace("parameters.json", in: path.removingLastComponent(), with: Array(before.dropLast()))
        #expect(throws: SyncError.self) { try world.device.device.parameters() }
        #expect(try await world.device.sync().parameters == .changed)
        #expect(try world.disk.read(path, limit: 1_000) == before)
    }

    // MARK: A look for them alone

    private func look(_ world: World) async throws(SyncError) -> ParametersUpdate {
        let engine = world.device.engine
        return try await world.store.syncing { () throws(SyncError) in try await engine.checkParameters() }
    }

    @Test func `are looked for without a list, and what else is new waits for a sync`() async throws {
        let world = try await told()
        world.repository.publish(SampleApp.second)
        world.repository.setParameters(["banner": .bool(false)])
        #expect(try await look(world) == .changed)
        #expect(try values(world) == ["banner": .bool(false)])
        let requests = world.repository.takeRequests()
        #expect(requests.allSatisfy { !$0.contains("production.json") && !$0.contains("objects/") }, "\(requests)")
        #expect(try await look(world) == .unchanged)
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `are asked of the next server where the first fails or lags`() async throws {
        var world = try await told()
        let mirror = world.repository.copy(clock: world.clock)
        world.device.mirrors = [Source(name: "mirror", fetcher: mirror)]
        mirror.setParameters(["banner": .bool(false)])
        world.repository.fail(URLLayout.timestamp, with: .status(500))
        #expect(try await look(world) == .changed)
        mirror.setParameters(["banner": .bool(true)])
        world.repository.repair(URLLayout.timestamp)
        #expect(try await look(world) == .changed)
        #expect(try values(world) == ["banner": .bool(true)])
        for repository in [world.repository, mirror] { repository.fail(URLLayout.timestamp, with: .status(500)) }
        await #expect(throws: SyncError.self) { try await look(world) }
        #expect(try values(world) == ["banner": .bool(true)])
    }
}
