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

/// The device of a random life: what it does, and what is done to it.
extension RandomLife {
    /// Sometimes a file cannot be had.
    ///
    /// - Parameter isFresh: whether the server tells the newest that it has.
    /// - Returns: whether it came to its end.
    @discardableResult
    mutating func sync(isFaulty: Bool = true, isFresh: Bool = true) async throws -> Bool {
        prepareAnswer()
        let path = element(Self.item(element(Self.ids), pick(Self.versions) + 1, channel).paths)
        if isFaulty, pick(3) == 0 {
            world.repository.fail(path, with: pick(2) == 0 ? .notFound : .connection)
        }
        defer { if isFaulty { world.repository.repair(path) } }
        let before = try world.machine.state.running
        guard let report = try? await world.device.sync() else { return false }
        count("synced")
        if !report.packs.isEmpty { count("by pack") }
        if report.packs.contains(where: { $0.through != nil }) { count("by two packs") }
        if report.mirrors.contains(where: \.isWrongPack) { count("wrong pack") }
        if isFresh { try expectParameters(after: report) }
        guard report.staging == .staged, case .pending(_, let next) = try world.machine.state else { return true }
        count("staged")
        if next.patches.contains(where: { $0.kind == .bundle && before?[$0.patchID]?.content != $0.content }) {
            count("bundle staged")
        }
        try expectAllowed(next, over: before, by: report, isFresh: isFresh)
        return true
    }

    /// The power goes at a random change of the disk, in a sync.
    mutating func stopInSync() async throws {
        prepareAnswer()
        let disk = world.disk.reopened(failingAtChange: pick(60) + 1)
        let device = try world.device.reopened(on: disk)
        if (try? await device.sync()) == nil { count("stopped") }
        world = try world.continued(
            on: pick(2) == 0 ? disk.reopened() : disk.crashed(element(FaultyFiles.Survival.allCases))
        )
    }

    /// Whose process may end at any time: the next launch is all that tells of it.
    mutating func launch() async throws {
        let counting = element([TrialStart.launch, .firstPage])
        let before = try world.machine
        let activation = try await world.device.device.launch(counting: counting)
        if case .tryOut(let trial, let token) = activation {
            tokens.append(token)
            if counting == .firstPage, trial.hasBundle, case .trying(_, _, let launch) = try world.machine.state {
                var uncounted = 0
                if case .trying(_, _, let last) = before.state { uncounted = last.launches }
                #expect(launch.launches == uncounted && !launch.isCounted, "seed \(seed): nobody asked for a page")
            }
        }
    }

    /// Somebody asks for a page of the last launch.
    mutating func openPage() async throws -> Event {
        guard let token = tokens.last else { return .nothing }
        if try await world.device.device.pageRequested(token) { count("opened") }
        return .opened
    }

    /// By hours, by years, back to 1970, to where no date can be written; to both sides.
    mutating func wrongClock() async throws -> Event {
        let now = world.clock.now()
        let seconds = element([
            now.seconds + 10_800, now.seconds - 10_800, now.seconds + 86_400 * 800, now.seconds - 86_400 * 800, 0,
            -(1 << 40), .min, .max, 1 << 40,
        ])
        world.clock.set(to: UTCTime(seconds: seconds))
        defer { world.clock.set(to: now) }
        try await sync()
        try await launch()
        if pick(2) == 0, let token = tokens.last { _ = try await world.device.device.timerEnded(token) }
        return .wrongClock(seconds: seconds)
    }

    /// Something happens to `state.json`, or to the copy before it too: what runs then proved itself once, and is whole.
    mutating func loseState() async throws -> Event {
        let before = try world.machine
        let path = world.store.stateFile(channel)
        guard try world.disk.status(of: path) != nil else { return .nothing }
        try world.disk.overwrite(path, with: element([[], Array("{}".utf8), [0xFF]]))
        let device = try world.device.reopened(on: world.disk)
        let fault = try #require(try device.store.stateFault(of: channel), "seed \(seed): nobody was told")
        let running = try device.device.state().machine.state.running
        if before.state.good != nil, fault.standby == .nothing {
            // Only what was never changed since has no copy.
            #expect(running == nil)
        }
        world = try world.continued(on: world.disk)
        _ = try await world.device.store.changingState(of: channel) { _ throws(SyncError) in }
        #expect(try world.device.store.stateFault(of: channel) == nil, "seed \(seed): written anew")
        count("state lost")
        return .stateLost
    }

    /// A file of what is on trial is altered until its time is over: that is no failure of its version.
    mutating func damageTrial() async throws -> Event {
        let before = try world.machine
        guard case .trying(let good, let trial, let launch) = before.state,
            let patch = trial.patches.first(where: { good?[$0.patchID]?.content != $0.content })
        else { return .nothing }
        let path = element(try files(of: patch))
        let bytes = try world.disk.read(path, limit: 10_000)
        try world.disk.overwrite(path, with: Array("altered".utf8))
        _ = try await world.device.device.timerEnded(launch.token)
        #expect(try world.machine.blocks == before.blocks, "nothing failed")
        try world.disk.overwrite(path, with: bytes)
        count("interrupted")
        return .interrupted
    }

    /// A file of what runs is altered or gone, and the next sync has its server: everything is whole again.
    mutating func damageRunning() async throws -> Event {
        guard let patches = try world.machine.state.running?.patches, !patches.isEmpty else { return .nothing }
        let path = element(try files(of: element(patches)))
        try element(HealingTests.Damage.allCases.filter { $0 != .rotten }).happen(to: path, on: world.disk)
        #expect(try await sync(isFaulty: false), "seed \(seed): a sync after \(path) was damaged")
        count("damaged")
        return .damaged
    }

    /// What is read of a patch.
    private func files(of patch: InstalledPatch) throws -> [FilePath] {
        let store = world.device.device.store
        let whole = try store.place(of: patch.fingerprint.sha256).path
        guard patch.kind == .bundle else { return [whole] }
        let manifest = try AssetManifest(try world.disk.read(whole, limit: Limits.manifest))
        return try [whole] + manifest.assets.map { try store.place(of: $0, in: patch.fingerprint.sha256).path }
    }

    /// Another build of the app, with another native part at times; one that ships something ships what is listed now.
    mutating func update() async throws -> Event {
        native = Self.native(pick(2) + 1)
        build += 1
        try await world.setFacts { [native] facts in facts.platform = .set(native) }
        if Self.isEmbedded(seed) {
            try SimulatedEmbedded(of: world.repository, channel: channel, appBuild: "\(build)")
                .install(at: EmbeddedWorld.folder, on: world.disk)
        }
        let (device, opening) = try await world.device.opened(appBuild: "\(build)")
        #expect(opening.trouble == nil && (opening.settled != nil) == Self.isEmbedded(seed), "seed \(seed)")
        world.device = device
        count("updated")
        return .updated
    }

    mutating func follow() async throws -> Event {
        let other = Self.channels.first { $0 != channel } ?? channel
        let before = try world.store.state(of: channel)
        guard let device = try? await world.device.device.following(channel: other) else { return .nothing }
        #expect(try world.store.state(of: channel) == before, "the way back")
        world.device.device = device
        count("followed")
        return .followed
    }
}

extension MirrorFault {
    fileprivate var isWrongPack: Bool { if case .lied(.pack) = wrong { true } else { false } }
}
