import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// F2, F8: what a list, a clock or a disk does to `state.json`.
@Suite("The state of a device")
struct StateFileTests {
    private static let production = SimulatedRepository.production

    private static func path(_ world: World) -> FilePath { world.store.stateFile(production) }

    private static func folder(_ world: World) -> FilePath { path(world).removingLastComponent() }

    /// What makes a state unreadable.
    enum Damage {
        case truncated, empty, otherFormat, noJSON, tooLarge, gone, selectionGone, selectionAltered, anothers

        func happen(to world: World) throws {
            let path = StateFileTests.path(world)
            let bytes = try world.disk.read(path, limit: Limits.stateFile)
            switch self {
            case .truncated: try world.disk.overwrite(path, with: Array(bytes.prefix(bytes.count / 2)))
            case .empty: try world.disk.overwrite(path, with: [])
            case .otherFormat: try world.disk.overwrite(path, with: Array("{\"format\":\"x\"}".utf8))
            case .noJSON: try world.disk.overwrite(path, with: [0, 1, 2])
            case .tooLarge:
                try world.disk.overwrite(path, with: [UInt8](repeating: 0x20, count: Limits.stateFile + 1))
            case .gone: try world.disk.remove(path)
            case .anothers: try world.disk.setPermissions(FilePermissions(rawValue: 0), of: path)
            case .selectionGone, .selectionAltered:
                let running = try #require(try world.machine.state.running)
                let file = world.store.selections(of: StateFileTests.production).at(
                    "\(running.content.digest.hex).json"
                )
                if self == .selectionGone {
                    try world.disk.remove(file)
                } else {
                    try world.disk.overwrite(file, with: Array("{}".utf8))
                }
            }
        }
    }

    // MARK: Size

    @Test func `names its selections by the digests of their files, and stays small whatever they hold`() async throws {
        let world = try await World.running()
        let bytes = try world.disk.read(Self.path(world), limit: Limits.stateFile)
        #expect(bytes.count < 700)
        let running = try #require(try world.machine.state.running)
        let names = try world.disk.list(world.store.selections(of: Self.production))
        #expect(names == ["\(running.content.digest.hex).json"])
        let file = try world.disk.read(
            world.store.selections(of: Self.production).at(names[0]),
            limit: Limits.selection
        )
        #expect(SHA256Digest(of: file).hex + ".json" == names[0])
    }

    @Test func `keeps no file of a selection that neither it nor the copy before it names`() async throws {
        let world = try await World.running()
        for number in 2...6 {
            world.repository.publish([.script("fix-cart-total", "\(number)", "cart.total = \(number);")])
            try await world.device.sync()
            try await world.device.launchAndConfirm()
        }
        let names = Set(try world.disk.list(world.store.selections(of: Self.production)))
        let now = Set(try world.machine.kept.map { "\($0.content.digest.hex).json" })
        #expect(now.isSubset(of: names) && names.count <= 3, "6, 5 and, in the copy before it, 4")
    }

    @Test func `of version 1, with whole selections in it, is read, and written anew with the next change`()
        async throws
    {
        let world = try await World.running()
        let before = try world.device.device.state()
        for name in try world.disk.list(world.store.selections(of: Self.production)) {
            try world.disk.remove(world.store.selections(of: Self.production).at(name))
        }
        try world.disk.overwrite(Self.path(world), with: before.whole.fileBytes)
        let device = try world.device.reopened(on: world.disk)
        #expect(try device.device.state() == before)
        #expect(try device.store.stateFault(of: Self.production) == nil)
        world.clock.advance(by: .hours(1))
        try await device.sync()
        let text = String(decoding: try world.disk.read(Self.path(world), limit: Limits.stateFile), as: UTF8.self)
        #expect(text.contains("patchline-state-v2") && !text.contains("\"patches\""))
        #expect(try world.device.reopened(on: world.disk).device.state().machine == before.machine)
    }

    @Test func `holds no more failures than can be read again, however many there were`() throws {
        let long = String(repeating: "x", count: 120)
        var state = DeviceState()
        let platform = try #require(
            Platform(name: String(repeating: "\"", count: 128), compatibility: String(repeating: "\\", count: 128))
        )
        for number in 0...Limits.rowsInState {
            let patch = installed("\(long)\(number) \(number)")
            state.machine.blocks.fail([patch], because: .launches, at: ManualClock.start.adding(.seconds(number)))
            state.places.insert(SHA256Digest(of: Array("\(number)".utf8)))
            let needs = String(repeating: "\u{1}", count: 10_000)
            state.putOff.add(patch.content, .init(version: patch.version, bytes: number == 0 ? nil : number))
            state.unfit.add(patch.content, .init(version: patch.version, platform: platform, needs: needs))
            state.transfers.fail(
                patch.content,
                version: patch.version,
                because: .content,
                movedForward: false,
                at: ManualClock.start
            )
        }
        state.bound()
        #expect(state.machine.blocks.blocks.count == Limits.rowsInState)
        #expect(state.machine.blocks.blocks[installed("\(long)0 0").content] == nil, "it ends first")
        #expect(state.transfers.counts.count == Limits.rowsInState && state.places.count == Limits.rowsInState)
        #expect(state.unfit.rows.count == Limits.rowsInState && state.putOff.rows.count == Limits.rowsInState)
        #expect(state.json.fileBytes.count < Limits.stateFile - 100_000)
    }

    @Test func `loses blocks that ended and whose versions are not listed any more`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else { return }
        _ = try await world.device.device.timerEnded(token)
        #expect(try world.machine.blocks.blocks.count == 2)
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try await world.device.sync()
        #expect(try world.machine.blocks.blocks.count == 2, "they have not ended")
        world.clock.advance(by: .hours(2))
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try await world.device.sync()
        #expect(try world.machine.blocks.blocks.keys.map(\.patchID.text) == ["fix-cart-total"])
    }

    // MARK: What nobody would read again

    @Test func `that this reader would refuse is not written, and the one before stays`() async throws {
        let world = try await World.running()
        let before = try world.files()
        var state = try world.device.device.state()
        state.lastSelection = -1
        let rule = "must be an integer from 0 to 9007199254740991"
        #expect(
            throws: SyncError.unreadable(FormatError(Self.path(world).string, field: "lastSelection", rule: rule))
        ) { try world.store.save(state, of: Self.production) }
        #expect(try world.files() == before)
    }

    @Test func `takes no selection that could not be read again: the sync says so, and what runs stays`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        var store = world.store
        store.selectionLimit = 1_000
        let device = try SimulatedDevice(opening: store, of: world.repository, clock: world.clock)
        let before = try world.machine
        for _ in 1...2 {
            let report = try await device.sync()
            guard case .refused(let why) = report.staging else {
                Issue.record("\(report.staging)")
                return
            }
            #expect(why.rule == "is over 1000 bytes" && !report.isComplete)
            #expect(try world.machine == before)
        }
        #expect(try world.disk.list(store.selections(of: Self.production)).count == 1)
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `takes no selection of more patches than are read`() throws {
        let store = DeviceStore(root: "/store", files: FaultyFiles(), isShared: false)
        let next = selection(of: (0...Limits.patchesInList).map { installed("fix\($0) 1") }, number: 9)
        let path = store.selections(of: Self.production).at("\(next.content.digest.hex).json")
        let rule = "must hold at most 10000 elements"
        #expect(throws: SyncError.unreadable(FormatError(path.string, field: "patches", rule: rule))) {
            try store.write(next, of: Self.production)
        }
        #expect(try store.files.list("/") == [])
    }

    // MARK: When it cannot be read

    @Test(arguments: [Damage.selectionGone, .selectionAltered])
    func `of which the file of a selection is lost goes on with those that are left, and says so`(damage: Damage)
        async throws
    {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try damage.happen(to: world)
        let device = try world.device.reopened(on: world.disk)
        #expect(try device.store.stateFault(of: Self.production)?.standby == .previous)
        // What proved itself is lost; what waits is whole, and approved.
        #expect(try await device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
        #expect(try device.store.stateFault(of: Self.production) == nil)
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try await device.sync()
        try await device.launchAndConfirm()
        try damage.happen(to: world)
        let later = try world.device.reopened(on: world.disk)
        #expect(
            try await later.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0",
            "confirmed before"
        )
    }

    @Test(arguments: [Damage.truncated, .empty, .otherFormat, .noJSON, .tooLarge, .gone, .anothers])
    func `that cannot be read gives way to the copy before it, and says so`(damage: Damage) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        // The copy before it has the first release, confirmed; this one has the second, waiting.
        let device = try world.device.reopened(on: world.disk)
        try damage.happen(to: world)
        let fault = try #require(try device.store.stateFault(of: Self.production))
        #expect(fault.file == Self.path(world) && fault.standby == .previous)
        guard case .run(let selection, _) = try await device.device.launch() else {
            Issue.record("nothing runs")
            return
        }
        #expect(selection.labels == "banner 1, fix-cart-total 1, web 1.0.0")
        #expect(try device.store.stateFault(of: Self.production) == nil, "it was written anew")
        #expect((device.store.damagedState(of: Self.production) != nil) == (damage != .gone))
        #expect(try await device.sync().staging == .staged)
        #expect(try await device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
        try expectNoFaults(device)
    }

    @Test func `is told by the sync that finds it unreadable`() async throws {
        let world = try await World.running()
        try Damage.truncated.happen(to: world)
        let device = try world.device.reopened(on: world.disk)
        let report = try await device.sync()
        #expect(report.stateFault?.standby == .previous)
        #expect(try await device.sync().stateFault == nil)
        #expect(try device.device.status().damagedState != nil, "until a person has looked at it")
    }

    @Test(arguments: [true, false])
    func `gives way to what the app ships where the copy is damaged too, else to nothing, and the next sync mends it`(
        ships: Bool
    ) async throws {
        let folder: FilePath = "/app/patches"
        let world = try World(SampleApp.first, embedded: ships ? folder : nil)
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        for name in ["state.json", "state.previous.json"] {
            try world.disk.overwrite(Self.folder(world).at(name), with: [])
        }
        let device = try world.device.reopened(on: world.disk)
        #expect(try device.store.stateFault(of: Self.production)?.standby == (ships ? .embedded : .nothing))
        let running = try device.device.state().machine.state.running?.labels
        #expect(running == (ships ? "banner 1, fix-cart-total 1, web 1.0.0" : nil))
        let report = try await device.sync()
        #expect(report.staging == .staged)
        #expect(report.filesReceived == 0, "what lies there is used")
        #expect(try await device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `whose file cannot be opened just now is not taken for damaged`() async throws {
        let world = try await World.running()
        let device = try world.device.reopened(on: world.disk)
        world.disk.failReads(of: Self.path(world))
        #expect(throws: SyncError.self) { try device.device.state() }
        await #expect(throws: SyncError.self) { try await device.sync() }
        world.disk.failReads(of: nil)
        #expect(try device.store.stateFault(of: Self.production) == nil)
        #expect(device.store.damagedState(of: Self.production) == nil)
    }

    @Test(arguments: ["PartialDownload", "Downloading", "objects", "bundles", "channels", "trust"])
    func `changes only in a store whose folders are none of them a link`(name: String) async throws {
        let world = try await World.running()
        let folder = world.store.root.at(name)
        try world.disk.removeTree(folder)
        try world.disk.makeSymbolicLink(folder, to: "/victim")
        let device = world.device
        await #expect(throws: SyncError.file(.notDirectory(.makeDirectory, folder))) { try await device.sync() }
        await #expect(throws: SyncError.file(.notDirectory(.makeDirectory, folder))) {
            try await device.store.changingConfiguration { _ in }
        }
    }

    @Test func `is not what clean-up goes by while it cannot be read`() async throws {
        let world = try await World.running()
        let objects = try world.files(below: "objects")
        for name in ["state.json", "state.previous.json"] {
            try world.disk.overwrite(Self.folder(world).at(name), with: [])
        }
        try await world.device.reopened(on: world.disk).device.removeUnused()
        #expect(try world.files(below: "objects") == objects)
    }

    @Test func `goes back to no earlier selection whose file is damaged`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let earlier = try #require(try world.machine.previous)
        let file = world.store.selections(of: Self.production).at("\(earlier.content.digest.hex).json")
        try world.disk.overwrite(file, with: Array("{}".utf8))
        let device = try world.device.reopened(on: world.disk)
        #expect(try device.store.stateFault(of: Self.production) == nil, "what runs is not touched by it")
        await #expect(throws: SyncError.nothingToRollBackTo) { try await device.device.rollBack() }
        #expect(try device.device.state().machine.state.running?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `is the old one or the new one wherever its writing stops`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        var next = try world.device.device.state()
        let before = next
        _ = next.machine.launch(token: SimulatedDevice.token(7), at: world.clock.now())
        next.machine = SelectionMachine(state: .settled(selection(["fix-cart-total 9"], number: 9)), embedded: nil)
        let rehearsal = world.disk.reopened()
        try world.device.reopened(on: rehearsal).store.save(next, of: Self.production)
        for change in 1...rehearsal.changes {
            for survival in FaultyFiles.Survival.allCases {
                let disk = world.disk.reopened(failingAtChange: change)
                try? world.device.reopened(on: disk).store.save(next, of: Self.production)
                let after = try world.device.reopened(on: disk.crashed(survival)).store
                let found = try after.foundState(of: Self.production)
                #expect(
                    found.fault == nil && (found.state == before || found.state == next),
                    "change \(change), \(survival)"
                )
            }
        }
    }

    @Test func `that cannot be read gives way to the copy or to the new one wherever the change after that stops`()
        async throws
    {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try Damage.truncated.happen(to: world)
        let broken = world.disk.crashed(.keep)
        let standby = try world.device.reopened(on: broken).store.foundState(of: Self.production)
        #expect(standby.fault?.standby == .previous)
        let damaged = try broken.read(Self.path(world), limit: Limits.stateFile)
        var next = standby.state
        next.machine = SelectionMachine(state: .settled(selection(["fix-cart-total 9"], number: 9)), embedded: nil)
        let rehearsal = broken.reopened()
        try world.device.reopened(on: rehearsal).store.save(next, of: Self.production)
        for change in 1...rehearsal.changes {
            for survival in FaultyFiles.Survival.allCases {
                let disk = broken.reopened(failingAtChange: change)
                try? world.device.reopened(on: disk).store.save(next, of: Self.production)
                let after = try world.device.reopened(on: disk.crashed(survival)).store
                let found = try after.foundState(of: Self.production)
                let isOld = found.fault?.standby == .previous && found.state == standby.state
                #expect(isOld || found.fault == nil && found.state == next, "change \(change), \(survival)")
                // A person can look at it all the same.
                let kept = after.damagedState(of: Self.production) ?? Self.path(world)
                let isKept = try after.files.read(kept, limit: Limits.stateFile) == damaged
                #expect(isKept, "change \(change), \(survival)")
            }
        }
    }

    @Test func `is what was written, also of a launch taken back, of earlier selections, and of the most launches`()
        throws
    {
        let (token, now) = (SimulatedDevice.token(1), ManualClock.start)
        var takenBack = SelectionMachine(state: .settled(selection(["fix 1"], number: 1)))
        _ = takenBack.stage(selection(["fix 2"], number: 2))
        _ = takenBack.launch(token: token, at: now)
        takenBack.stoppedCleanly(token)
        var confirmed = SelectionMachine()
        for number in 1...5 {
            _ = confirmed.stage(selection(["fix \(number)"], number: number))
            _ = confirmed.launch(token: token, at: now)
            _ = confirmed.confirm(token, keep: 10)
        }
        #expect(confirmed.earlier.count == 4)
        var tried = SelectionMachine(state: .pending(good: nil, next: selection(["fix 1"], number: 1)))
        for _ in 1...1_100 { _ = tried.launch(token: token, at: now, launchLimit: 5_000) }
        for machine in [takenBack, confirmed, tried] {
            var state = DeviceState()
            state.machine = machine
            #expect(try state.reread() == state)
        }
    }
}
