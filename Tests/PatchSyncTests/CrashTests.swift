import PatchChoice
import DeviceTesting
import Foundation
import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Stops a device where it stands, as a power cut does, and looks at what the next start finds.
@Suite("A device that is stopped")
struct CrashTests {
    private static let first = SampleApp.Small.firstLabels
    private static let second = SampleApp.Small.secondLabels

    /// What is stopped.
    enum Work: String, CaseIterable, Sendable {
        /// Into an empty store.
        case firstSync
        case updateSync
        /// The same with all metadata in one answer.
        case expressSync
        /// An update with many new files.
        case packedSync
        /// An update by a pack from what runs.
        case deltaSync
        /// An update by two packs, through a version that is not here.
        case chainSync
        /// The switch to the update, its confirmation, and the clean-up of what is not kept.
        case switchAndConfirm
        /// A launch that finds the update waiting, and its failed trial.
        case launchAndRollBack
        case healing

        func prepare(_ world: World) async throws {
            world.repository.compress { [self] _ in form }
            guard self != .firstSync else { return }
            if self == .chainSync { world.repository.publish(SampleApp.Small.heavy(SampleApp.Small.first)) }
            try await world.device.sync()
            try await world.device.launchAndConfirm()
            if self == .healing {
                let main = try #require(SHA256Digest(hex: String(object("main(1);").suffix(64))))
                try world.disk.overwrite(world.store.objects.path(of: main), with: [1])
                try world.disk.remove(world.store.root.appending(FilePath(object("cart.total = 1;")).components))
                return
            }
            if self == .chainSync {
                world.repository.publish(SampleApp.Small.heavy(SampleApp.Small.between))
                world.repository.edit { $0.publishPacks(of: "web") }
            }
            let second = self == .packedSync ? SampleApp.Small.secondPacked : SampleApp.Small.second
            world.repository.publish(self == .chainSync ? SampleApp.Small.heavy(second) : second)
            if [.deltaSync, .chainSync].contains(self) { world.repository.edit { $0.publishPacks(of: "web") } }
            if self == .chainSync {
                let direct = try world.basePack(from: "1", to: "2")
                world.repository.edit { tree in
                    tree.files[direct] = nil
                    tree.publishPackIndex(of: "web")
                }
            }
            let syncs: [Work] = [.updateSync, .expressSync, .packedSync, .deltaSync, .chainSync]
            if !syncs.contains(self) { try await world.device.sync() }
        }

        /// What the server has of everything.
        private var form: CompressionFormat? {
            switch self {
            case .packedSync, .deltaSync, .chainSync: .zstandard
            case .updateSync, .expressSync, .healing: .gzip
            case .firstSync, .switchAndConfirm, .launchAndRollBack: nil
            }
        }

        func run(_ device: SimulatedDevice) async throws {
            switch self {
            case .firstSync, .updateSync, .packedSync, .deltaSync, .chainSync, .healing: try await device.sync()
            case .expressSync:
                var device = device
                device.express = true
                try await device.sync()
            case .switchAndConfirm:
                guard case .tryOut(_, let token) = try await device.device.switchToPending() else { return }
                _ = try await device.device.confirm(token)
            case .launchAndRollBack:
                guard case .tryOut(_, let token) = try await device.device.launch() else { return }
                _ = try await device.device.timerEnded(token)
            }
        }

        /// What may run afterwards; nil for nothing.
        var outcomes: Set<String?> {
            switch self {
            case .firstSync: [nil]
            case .updateSync, .expressSync, .packedSync, .deltaSync, .chainSync, .healing: [CrashTests.first]
            case .switchAndConfirm, .launchAndRollBack: [CrashTests.first, CrashTests.second]
            }
        }
    }

    /// Every how many changes the device is stopped.
    ///
    /// A sync makes more than a hundred of them and each stop costs another sync, so a normal run takes some eight of each;
    /// with `PATCHLINE_SWEEP=all` in its environment it takes all.
    private func stride(through changes: Int) -> Int {
        Sweep.isFull ? 1 : max(1, changes / 4)
    }

    /// Whole before anything else happens, whole after a launch, and where the list says after the next sync.
    private func check(_ stopped: FaultyFiles, _ work: Work, _ world: World, _ comment: Comment) async throws {
        let device = try world.device.reopened(on: stopped)
        let state = try device.device.state().machine.state
        #expect(work.outcomes.contains(state.running?.labels), comment)
        if work != .healing { try expectNoFaults(device, comment) }

        let isSecond = work != .firstSync && work != .healing
        try await device.sync()
        switch try await device.device.launch() {
        case .tryOut(_, let token): _ = try await device.device.confirm(token)
        case .run, .rolledBack, .interrupted, .unproven: break
        case .nothing: Issue.record("nothing runs; \(comment)")
        }
        // After a failed trial the update waits for its hour.
        let expected = isSecond && device.waits != true ? Self.second : Self.first
        #expect(try device.device.state().machine.state.running?.labels == expected, comment)
        try expectNoFaults(device, comment)
        #expect(try device.store.files.list(device.store.downloading) == [], comment)
    }

    @Test(arguments: Work.allCases, [FaultyFiles.Survival.lose, .keep])
    func `at any change of its disk has a complete version, and the next sync finishes`(
        work: Work,
        survival: FaultyFiles.Survival
    ) async throws {
        let world = try World(SampleApp.Small.first)
        try await work.prepare(world)
        let rehearsal = world.disk.reopened()
        try await work.run(try world.device.reopened(on: rehearsal))
        #expect(rehearsal.changes > 10)
        let stride = stride(through: rehearsal.changes)
        // The two survivals start at different changes, so that together they miss fewer.
        let start = survival == .lose ? 1 : 1 + stride / 2
        for change in Swift.stride(from: start, through: rehearsal.changes, by: stride) {
            let disk = world.disk.reopened(failingAtChange: change)
            do {
                try await work.run(try world.device.reopened(on: disk))
                Issue.record("\(work) was not stopped at change \(change) of \(rehearsal.changes)")
            } catch {}
            try await check(disk.crashed(survival), work, world, "\(work) at change \(change), \(survival)")
        }
    }

    /// The disk as it was when each point was reached for the first time.
    private func images(of work: Work, _ world: World) async throws -> [CommitPoint: FaultyFiles] {
        let images = NIOLockedValueBox<[CommitPoint: FaultyFiles]>([:])
        let disk = world.disk.reopened()
        var device = try world.device.reopened(on: disk)
        device.device.atCommitPoint = { point in
            images.withLockedValue { $0[point] = $0[point] ?? disk.reopened() }
        }
        try await work.run(device)
        return images.withLockedValue(\.self)
    }

    @Test(
        arguments: [
            (Work.firstSync, Set(CommitPoint.allCases).subtracting([.afterLaunch])),
            (.updateSync, Set(CommitPoint.allCases).subtracting([.afterLaunch])),
            (.packedSync, Set(CommitPoint.allCases).subtracting([.afterLaunch])),
            (.healing, [.afterMetadata, .duringObjects, .afterObjects, .beforeState, .afterState]),
            (.launchAndRollBack, [.afterLaunch]),
        ] as [(Work, Set<CommitPoint>)]
    )
    func `at a named point has a complete version, and the next sync finishes`(
        work: Work,
        points: Set<CommitPoint>
    ) async throws {
        let world = try World(SampleApp.Small.first)
        try await work.prepare(world)
        let images = try await images(of: work, world)
        #expect(Set(images.keys) == points)
        for (point, image) in images {
            for survival in [FaultyFiles.Survival.lose, .keepNames] {
                try await check(image.crashed(survival), work, world, "\(work) at \(point), \(survival)")
            }
        }
    }

    @Test func `while its store is made has none or a whole one`() async throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish([SampleApp.fix1])
        let rehearsal = FaultyFiles()
        _ = try SimulatedDevice(of: repository, clock: clock, on: rehearsal)
        for change in Swift.stride(from: 1, through: rehearsal.changes, by: stride(through: rehearsal.changes)) {
            for survival in [FaultyFiles.Survival.lose, .keep] {
                let disk = FaultyFiles(failingAtChange: change)
                _ = try? SimulatedDevice(of: repository, clock: clock, on: disk)
                let after = disk.crashed(survival)
                let store = DeviceStore(root: "/store", files: after, isShared: false, admitting: .all)
                let device: SimulatedDevice
                do throws(SyncError) {
                    device = try SimulatedDevice(opening: store, of: repository, clock: clock)
                } catch .noStore {
                    device = try SimulatedDevice(of: repository, clock: clock, on: after)
                }
                try await device.sync()
                #expect(
                    try await device.launchAndConfirm()?.labels == "fix-cart-total 1",
                    "change \(change), \(survival)"
                )
            }
        }
    }

    @Test func `during its trial tries again once, and rolls back by itself then`() async throws {
        let world = try await World.running(SampleApp.Small.first)
        world.repository.publish(SampleApp.Small.second)
        try await world.device.sync()
        var disk = world.disk
        for expected in ["try", "try", "back", "run"] {
            disk = disk.crashed(.lose)
            let found =
                switch try await world.device.reopened(on: disk).device.launch() {
                case .nothing: "nothing"
                case .run(let selection, _): selection.labels == Self.first ? "run" : "runs something else"
                case .tryOut(let selection, _): selection.labels == Self.second ? "try" : "tries something else"
                case .rolledBack(let selection, _): selection?.labels == Self.first ? "back" : "back to something else"
                case .interrupted: "interrupted"
                case .unproven: "unproven"
                }
            #expect(found == expected)
        }
    }

    @Test func `has all its patches when a full disk ends a sync anywhere`() async throws {
        let world = try await World.running(SampleApp.Small.first)
        world.repository.publish(SampleApp.Small.second)
        for space in Swift.stride(from: 0, to: 12_000, by: 3_000) {
            let disk = world.disk.reopened()
            disk.limitFreeSpace(to: space)
            let device = try world.device.reopened(on: disk)
            _ = try? await device.sync()
            disk.limitFreeSpace(to: nil)
            try await check(disk, .updateSync, world, "with \(space) bytes left")
        }
    }
}

extension SimulatedDevice {
    /// Whether something failed its trial here.
    fileprivate var waits: Bool {
        (try? device.state().machine.blocks.blocks.isEmpty) == false
    }
}

@Suite("The clean-up")
struct CleanUpTests {
    private func publish(_ number: Int, in world: World) async throws {
        world.repository.publish([
            .script("fix", "\(number)", "fix(\(number));"),
            .bundle("web", "\(number)", ["index.html": "<p>\(number)</p>", "same.js": "same;"]),
        ])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
    }

    @Test func `keeps what runs and what was confirmed before, and nothing else`() async throws {
        let world = try World([])
        for number in 1...4 { try await publish(number, in: world) }
        #expect(try world.machine.kept.map(\.labels) == ["fix 4, web 4", "fix 3, web 3"])
        #expect(try world.disk.list(world.store.bundles).count == 2)
        // Of each: script, manifest, column, index; and the one file that both share.
        #expect(try world.store.objects.all().count == 9)
        try world.expectWhole("fix 4, web 4")
    }

    @Test func `leaves everything for a roll back by hand, and the next sync does not bring it back`() async throws {
        let world = try World([])
        for number in 1...2 { try await publish(number, in: world) }
        guard case .rolledBack(let good?, _) = try await world.device.device.rollBack() else {
            Issue.record("nothing to roll back to")
            return
        }
        #expect(good.labels == "fix 1, web 1")
        try world.expectWhole("fix 1, web 1")
        // What runs is not listed any more and what is listed is blocked here: it would be withdrawn.
        world.repository.publish([
            .script("fix", "2", "fix(2);"), .script("fix", "1", "fix(1);"),
        ])
        let report = try await world.device.sync()
        #expect(
            report.decisions.first { $0.patchID.text == "fix" }?.passedOver.map(\.why) == [
                .rolledBackByHand(until: world.clock.now().adding(.days(14)))
            ]
        )
        await #expect(throws: SyncError.nothingToRollBackTo) { try await world.device.device.rollBack() }
    }

    @Test func `of what a list withdraws is done by the launch or the switch that takes it away`() async throws {
        for isLaunch in [true, false] {
            let world = try World([])
            try await publish(1, in: world)
            world.repository.withdraw("fix")
            try await world.device.sync()
            let fix = SHA256Digest(of: Array("fix(1);".utf8))
            #expect(try world.store.objects.contains(fix))
            let device = world.device.device
            let activation = isLaunch ? try await device.launch() : try await device.switchToPending()
            guard case .run(let selection, [name("fix")]) = activation else {
                Issue.record("\(activation)")
                continue
            }
            #expect(selection.labels == "web 1")
            #expect(try !world.store.objects.contains(fix))
            try world.expectWhole("web 1")
        }
    }

    @Test func `is not what a launch hangs on, and a later one finishes it`() async throws {
        let world = try World([])
        try await publish(1, in: world)
        world.repository.withdraw("fix")
        try await world.device.sync()
        let rehearsal = world.disk.reopened()
        _ = try await world.device.reopened(on: rehearsal).device.launch()
        // The last changes of such a launch are the clean-up's.
        for change in rehearsal.changes - 3...rehearsal.changes {
            let disk = world.disk.reopened(failingAtChange: change)
            let activation = try await world.device.reopened(on: disk).device.launch()
            guard case .run(let selection, _) = activation else {
                Issue.record("stopped at change \(change): \(activation)")
                continue
            }
            #expect(selection.labels == "web 1")
            let later = try world.device.reopened(on: disk.crashed(.lose))
            try await later.device.removeUnused()
            #expect(try later.store.objects.all().count == 4, "its two files, manifest and column")
            #expect(try later.device.verifyInstalled(signatures: true).faults == [])
        }
    }

    @Test func `removes nothing while a manifest that it needs cannot be read`() async throws {
        let world = try World([])
        for number in 1...2 { try await publish(number, in: world) }
        let before = try world.files(below: "objects")
        let web = try #require(try world.machine.state.running?[name("web")])
        try world.disk.overwrite(world.store.objects.path(of: web.fingerprint.sha256), with: Array("{}".utf8))
        try await world.device.device.removeUnused()
        #expect(Set(try world.files(below: "objects").keys) == Set(before.keys))
    }
}
