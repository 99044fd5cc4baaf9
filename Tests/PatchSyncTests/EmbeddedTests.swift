import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchSync

/// A device whose app ships a version, on a disk in memory.
struct EmbeddedWorld {
    static let folder: FilePath = "/app/patchline"
    let clock = ManualClock()
    let repository: SimulatedRepository
    let disk: FaultyFiles
    var device: SimulatedDevice
    let shipped: SimulatedEmbedded

    /// - Parameter patches: what the app ships, which is what the channel offers at first.
    init(
        _ patches: [SimulatedPatch] = SampleApp.first,
        channel: ChannelName = SimulatedRepository.production,
        appBuild: String? = nil
    ) throws {
        repository = SimulatedRepository(clock: clock)
        repository.publish(patches)
        shipped = SimulatedEmbedded(of: repository, appBuild: appBuild)
        disk = FaultyFiles()
        try shipped.install(at: Self.folder, on: disk)
        device = try SimulatedDevice(
            of: repository,
            clock: clock,
            on: disk,
            channel: channel,
            embedded: Self.folder
        )
    }

    var running: String? { get throws { try device.device.state().machine.state.running?.labels } }

    /// Objects and bundle links below the store, by path.
    func objects() throws -> [SHA256Digest] { try device.store.objects.all() }

    func expectWhole(_ labels: String?, location: SourceLocation = #_sourceLocation) throws {
        #expect(try device.device.verifyInstalled(signatures: true).faults == [], sourceLocation: location)
        #expect(try running == labels, sourceLocation: location)
    }

    /// The app's folder is byte for byte what was installed, and each of its files has one name.
    func expectUntouched(_ embedded: SimulatedEmbedded? = nil, location: SourceLocation = #_sourceLocation) throws {
        for (name, bytes) in (embedded ?? shipped).documents {
            let path = Self.folder.pushing(FilePath(name))
            #expect(try disk.read(path, limit: 1_000_000) == bytes, "\(name)", sourceLocation: location)
            #expect(try disk.status(of: path)?.linkCount == 1, "\(name)", sourceLocation: location)
        }
    }
}

private let first = "banner 1, fix-cart-total 1, web 1.0.0"
private let second = "banner 1, fix-cart-total 2, web 2.0.0"

@Suite("A device whose app ships a version")
struct EmbeddedTests {
    @Test func `runs it from the first start on, offline, and has copied none of it`() async throws {
        let world = try EmbeddedWorld()
        #expect(try await world.device.device.launch() == .run(try #require(try world.running(in: world)), removed: []))
        try world.expectWhole(first)
        #expect(try world.objects() == [])
        #expect(try world.disk.list(world.device.store.bundles) == [])
        #expect(world.repository.takeRequests() == [])
        try world.expectUntouched()
    }

    @Test func `is made completely or not at all`() async throws {
        let world = try EmbeddedWorld()
        let rehearsal = try Self.made(on: world, failingAt: nil)
        for change in 1...rehearsal.changes {
            for survival in [FaultyFiles.Survival.lose, .keep] {
                let disk = try Self.made(on: world, failingAt: change).crashed(survival)
                let store = DeviceStore(root: "/other", files: disk, isShared: false, admitting: .all)
                do throws(SyncError) {
                    let device = try Device(store, now: world.clock.now)
                    #expect(try device.state().machine.state.running?.labels == first, "change \(change), \(survival)")
                } catch {
                    #expect(error == .noStore("/other"))
                }
            }
        }
    }

    private static func made(on world: EmbeddedWorld, failingAt change: Int?) throws -> FaultyFiles {
        let disk = world.disk.reopened(failingAtChange: change)
        _ = try? SimulatedDevice(
            of: world.repository,
            clock: world.clock,
            on: disk,
            at: "/other",
            embedded: EmbeddedWorld.folder
        )
        return disk
    }

    @Test func `fetches of an update the new digests only, each once, also of renamed files`() async throws {
        let world = try EmbeddedWorld()
        var files = SampleApp.files2
        files["moved/style.css"] = files.removeValue(forKey: "style.css")
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, .bundle("web", "2.0.0", files)])
        try await world.device.sync()
        let fetched = world.repository.takeRequests().filter { $0.hasPrefix("objects/") }
        #expect(fetched.sorted() == [object("cart.total = 2;"), object("console.log(2);"), object("new;")].sorted())
        try await world.device.launchAndConfirm()
        try world.expectWhole(second)
        try world.expectUntouched()
    }

    @Test func `links in a later bundle's folder what it does not ship, and nothing else`() async throws {
        let world = try EmbeddedWorld()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let web = try #require(try world.device.device.state().machine.state.running?[name("web")])
        let folder = world.device.store.bundle(web.fingerprint.sha256)
        #expect(try world.disk.list(folder) == ["app"])
        #expect(try world.disk.list(folder.appending("app")) == ["main.js", "new.js"])
        #expect(try world.disk.status(of: folder.pushing("app/main.js"))?.linkCount == 2)
    }

    @Test func `fetches nothing on the way back to what it ships`() async throws {
        let world = try EmbeddedWorld()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        _ = world.repository.takeRequests()
        world.repository.publish(SampleApp.first)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        // The list lies two versions higher than what was shipped.
        let fetched = world.repository.takeRequests().filter { !$0.hasPrefix("metadata/") }
        #expect(fetched.filter { $0.hasPrefix("objects/") || $0.contains("manifest") } == [])
        try world.expectWhole(first)
    }

    @Test(arguments: [0, 1]) func `keeps it while the list is not newer, and says so`(above: Int) async throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish(SampleApp.second)
        let disk = FaultyFiles()
        repository.publish(SampleApp.first)
        // The list of the server has version 2 by now.
        try SimulatedEmbedded(of: repository, role: 2 + above).install(at: EmbeddedWorld.folder, on: disk)
        repository.edit { tree in tree.versions["production"] = 1 }
        repository.publish(SampleApp.second)
        let device = try SimulatedDevice(of: repository, clock: clock, on: disk, embedded: EmbeddedWorld.folder)
        let report = try await device.sync()
        #expect(report.roleVersion == 2)
        #expect(report.keptEmbedded == 2 + above)
        #expect(report.staging == .unchanged)
        #expect(report.filesReceived == 0)
        #expect(try device.device.state().machine.state.running?.labels == first)

        repository.edit { tree in tree.versions["production"] = 2 + above }
        repository.publish(SampleApp.second)
        let later = try await device.sync()
        #expect(later.keptEmbedded == nil && later.staging == .staged)
    }

    @Test func `goes back to it by hand, and when nothing was confirmed before`() async throws {
        let world = try EmbeddedWorld()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.publish([
            .script("fix-cart-total", "3", "3;"), SampleApp.banner1, SampleApp.web2,
        ])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        guard case .rolledBack(let one?, _) = try await world.device.device.rollBack() else {
            Issue.record("not rolled back")
            return
        }
        #expect(one.labels == second)
        guard case .rolledBack(let two?, _) = try await world.device.device.rollBack() else {
            Issue.record("not rolled back to what is shipped")
            return
        }
        #expect(two.labels == first)
        try world.expectWhole(first)
        await #expect(throws: SyncError.nothingToRollBackTo) { try await world.device.device.rollBack() }
    }

    @Test(arguments: HealingTests.Damage.allCases)
    func `is healed from the network beside it, for the app's folder is never written`(
        damage: HealingTests.Damage
    ) async throws {
        let world = try EmbeddedWorld()
        let path = EmbeddedWorld.folder.pushing("bundles/web/app/main.js")
        try damage.happen(to: path, on: world.disk)
        if damage == .rotten {
            #expect(
                try world.device.device.verifyInstalled(signatures: false).faults == [
                    "web 1.0.0 app/main.js: its md5 is not the listed one"
                ]
            )
            return
        }
        let before = try? world.disk.read(path, limit: 1_000)
        let device = try world.device.reopened(on: world.disk)
        #expect(try device.device.status().rows.first { $0.patchID.text == "web" }?.fault != nil)
        let report = try await device.sync()
        #expect(report.healed.map(\.description) == ["web 1.0.0"])
        let fetched = world.repository.takeRequests().filter { $0.hasPrefix("objects/") }
        #expect(fetched == [object("console.log(1);")])
        try world.expectWhole(first)
        #expect((try? world.disk.read(path, limit: 1_000)) == before)
        #expect(try await device.sync().filesReceived == 0)
    }

    @Test func `uses the rest of a bundle also after a restart, once its manifest was healed`() async throws {
        let world = try EmbeddedWorld()
        try world.disk.remove(EmbeddedWorld.folder.pushing("manifests/web.json"))
        #expect(try await world.device.sync().healed.map(\.description) == ["web 1.0.0"])
        let fetched = world.repository.takeRequests().filter { $0.hasPrefix("objects/") }
        #expect(fetched == [], "of the assets all lie there")
        let device = try world.device.reopened(on: world.disk)
        try expectNoFaults(device)
        #expect(try device.store.objects.all().count == 1)
    }

    @Test func `gives a later bundle the files that a healed manifest finds, also when its own version is withdrawn`()
        async throws
    {
        var world = try EmbeddedWorld()
        try world.disk.remove(EmbeddedWorld.folder.pushing("manifests/web.json"))
        try await world.device.sync()
        world.device = try world.device.reopened(on: world.disk)
        world.repository.publish([SampleApp.fix1, SampleApp.banner1])
        try await world.device.sync()
        _ = try await world.device.launchAndConfirm()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        _ = try await world.device.launchAndConfirm()
        world.device = try world.device.reopened(on: world.disk)
        try world.expectWhole(second)
    }

    @Test func `stands in for a damaged object of a later bundle, and steps in for its link`() async throws {
        let world = try EmbeddedWorld()
        // Damaged when the bundle was made, so that it got a link of its own; the app was installed again since.
        try HealingTests.Damage.altered.happen(
            to: EmbeddedWorld.folder.pushing("bundles/web/app/lib.js"),
            on: world.disk
        )
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let lib = "export const lib = 1;"
        #expect(world.repository.takeRequests().contains(object(lib)))
        try world.shipped.install(at: EmbeddedWorld.folder, on: world.disk)
        let digest = SHA256Digest(of: Array(lib.utf8))
        try world.disk.overwrite(world.device.store.objects.path(of: digest), with: [1, 2, 3])
        let report = try await world.device.sync()
        #expect(report.filesReceived == 0)
        #expect(report.healed.map(\.description) == ["web 2.0.0", "web 1.0.0"], "both had a link to it")
        try world.expectWhole(second)
        try world.expectUntouched()
    }

    /// Another folder stands in the place of the one that was checked, and its build is the same.
    @Test(arguments: [true, false])
    func `takes a bundle of which every byte lies here only once its signatures were checked here`(isSigned: Bool)
        async throws
    {
        var world = try EmbeddedWorld([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        var next = SimulatedPatch.bundle("web", "2", ["index.html": "<p>2</p>"])
        if !isSigned { next.assetsSignedAs = SimulatedPatch.Identity(app: "com.example.other") }
        world.repository.publish([next])
        try SimulatedEmbedded(of: world.repository).install(at: EmbeddedWorld.folder, on: world.disk)
        world.device = try world.device.reopened(on: world.disk)
        let report = try await world.device.sync()
        let asset = EntryFault(entry: "web 2 index.html", rule: .signature)
        #expect(report.failures.map(\.error) == (isSigned ? [] : [.trust(.entry(asset))]))
        #expect(report.staging == (isSigned ? .staged : .unchanged))
        // The version that runs lies in no folder any more.
        #expect(world.repository.takeRequests().filter { $0.hasPrefix("objects/") } == [object("<p>1</p>")])
        try await world.device.launchAndConfirm()
        #expect(try world.running == (isSigned ? "web 2" : "web 1"))
    }

    @Test func `removes objects that it ships when it cleans up`() async throws {
        let world = try EmbeddedWorld()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        // script, manifest, column, main.js and new.js; what is shipped is no object.
        #expect(try world.objects().count == 5)
    }
}

extension EmbeddedWorld {
    fileprivate func running(in world: EmbeddedWorld) throws -> Selection? {
        try world.device.device.state().machine.state.running
    }
}

@Suite("A folder that an app ships and that is not right")
struct HostileEmbeddedTests {
    private static func create(_ edit: (FaultyFiles) throws -> Void) throws -> SyncError? {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish(SampleApp.first)
        let disk = FaultyFiles()
        try SimulatedEmbedded(of: repository).install(at: EmbeddedWorld.folder, on: disk)
        try edit(disk)
        do throws(SyncError) {
            _ = try SimulatedDevice(of: repository, clock: clock, on: disk, embedded: EmbeddedWorld.folder)
            return nil
        } catch {
            #expect(try disk.status(of: "/store") == nil, "nothing was made")
            return error
        }
    }

    private static func path(_ name: String) -> FilePath { EmbeddedWorld.folder.pushing(FilePath(name)) }

    private static func replace(_ name: String, with text: String, on disk: FaultyFiles) throws {
        try disk.removeTree(path(name))
        try disk.write(Array(text.utf8), to: path(name))
    }

    private static func edit(_ name: String, _ old: String, _ new: String, on disk: FaultyFiles) throws {
        let text = String(decoding: try disk.read(path(name), limit: 1_000_000), as: UTF8.self)
        #expect(text.contains(old))
        try replace(name, with: text.replacing(old, with: new), on: disk)
    }

    @Test func `is refused where a file is altered, missing or no file`() throws {
        let name = "web 1.0.0 app/main.js"
        let file = "bundles/web/app/main.js"
        #expect(
            try Self.create { try Self.replace(file, with: "console.log(2);", on: $0) }
                == .embedded(EmbeddedWorld.folder, .trust(.entry(EntryFault(entry: name, rule: .differs("md5")))))
        )
        #expect(
            try Self.create { try $0.remove(Self.path(file)) } == .embedded(EmbeddedWorld.folder, .missing(file))
        )
        #expect(
            try Self.create { disk in
                try disk.remove(Self.path(file))
                try disk.makeSymbolicLink(Self.path(file), to: "/etc/passwd")
            } == .embedded(EmbeddedWorld.folder, .file(.notRegular(.read, Self.path(file))))
        )
        #expect(
            try Self.create { disk in
                try disk.rename(Self.path("bundles/web/app"), to: "/elsewhere")
                try disk.makeSymbolicLink(Self.path("bundles/web/app"), to: "/elsewhere")
            } == .embedded(EmbeddedWorld.folder, .file(.notDirectory(.inspect, Self.path("bundles/web/app"))))
        )
        #expect(
            try Self.create { try Self.replace("scripts/banner.js", with: "show('two');", on: $0) }
                == .embedded(EmbeddedWorld.folder, .trust(.entry(EntryFault(entry: "banner 1", rule: .differs("md5")))))
        )
        #expect(
            try Self.create { try Self.replace("manifests/web.sigs", with: "PLSIGS1", on: $0) }
                == .embedded(
                    EmbeddedWorld.folder,
                    .trust(.wrongDigest(name: "manifests/web.sigs", algorithm: "sha256"))
                )
        )
    }

    @Test func `is refused where its document is not what was signed`() throws {
        let document = "embedded.json"
        let error = try Self.create {
            try Self.edit(document, "\"version\":\"1.0.0\"", "\"version\":\"1.0.1\"", on: $0)
        }
        guard case .embedded(_, .format(let fault)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fault.field == "selection.patches[2].url")
        #expect(
            try Self.create { try Self.edit(document, "\"production\"", "\"beta\"", on: $0) }.map { "\($0)" }?
                .contains("selection.patches") == true
        )
        #expect(
            try Self.create { try Self.edit(document, "\"banner\"", "\"web\"", on: $0) }.map { "\($0)" }?
                .contains("is listed twice") == true
        )
        #expect(
            try Self.create { try Self.edit(document, "\"banner\"", "\"../banner\"", on: $0) }.map { "\($0)" }?
                .contains(PatchID.rule) == true
        )
        #expect(
            try Self.create {
                try Self.edit(document, "\"app\":\"com.example.storefront\"", "\"app\":\"com.example.other\"", on: $0)
            }
                == .embedded(
                    EmbeddedWorld.folder,
                    .trust(
                        .foreign(
                            document: document,
                            field: "app",
                            found: "com.example.other",
                            expected: "com.example.storefront"
                        )
                    )
                )
        )
        #expect(
            try Self.create { try $0.remove(Self.path(document)) }
                == .embedded(EmbeddedWorld.folder, .missing(document))
        )
    }

    @Test(arguments: ["../escape.js", "/etc/passwd", "a/../../b.js"])
    func `is refused where a manifest leads outside`(path: String) throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        var outside = SimulatedPatch.File(path, "outside")
        outside.url = "/outside.js"
        repository.publish([.bundle("web", "1", rows: [.init("index.html", "x"), outside])])
        let disk = FaultyFiles()
        try SimulatedEmbedded(of: repository).install(at: EmbeddedWorld.folder, on: disk)
        do throws(SyncError) {
            _ = try SimulatedDevice(of: repository, clock: clock, on: disk, embedded: EmbeddedWorld.folder)
            Issue.record("was taken")
        } catch {
            guard case .embedded(_, .trust(.malformed(let fault))) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(fault.field.hasSuffix(".path"))
        }
        #expect(try disk.status(of: "/store") == nil)
    }

    @Test func `is refused with an entry that nobody signed`() throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish([SampleApp.fix1.with { $0.signedAs.version = "7" }])
        let disk = FaultyFiles()
        try SimulatedEmbedded(of: repository).install(at: EmbeddedWorld.folder, on: disk)
        #expect(
            throws: SyncError.embedded(
                EmbeddedWorld.folder,
                .trust(.entry(EntryFault(entry: "fix-cart-total 1", rule: .signature)))
            )
        ) {
            try SimulatedDevice(of: repository, clock: clock, on: disk, embedded: EmbeddedWorld.folder)
        }
    }
}
