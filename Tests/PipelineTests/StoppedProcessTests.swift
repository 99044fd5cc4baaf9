import FoundationEssentials
import PatchTesting
import Subprocess
import SystemPackage
import Testing

/// The real `patchsync` on the real disk, stopped at the changes that it makes to its store
/// (PatchSyncCommand/FaultPoint.swift).
@Suite("A patchsync that is stopped")
struct StoppedProcessTests {
    /// What is stopped, from which store on, and which releases may run when it was.
    enum Work: String, CaseIterable, Sendable {
        /// Into an empty store.
        case firstSync
        case updateSync
        /// To the update that waits.
        case switching
        /// Of the update on trial, with the clean-up of what is not kept.
        case confirming
        case rollingBack

        var outcomes: Set<Int?> {
            switch self {
            case .firstSync: [nil]
            case .updateSync: [1]
            case .switching, .rollingBack: [1, 2]
            case .confirming: [2]
            }
        }

        /// Makes the store that each stop begins with, in the world's folder.
        fileprivate func prepare(_ world: World, _ url: String) async throws -> Prepared {
            if self == .firstSync {
                return Prepared(try await world.newDevice(server: url, as: "start"), ["sync"])
            }
            let device = try await world.settledDevice(server: url, as: "start")
            if self == .updateSync { return Prepared(device, ["sync"]) }
            try await device.sync().done()
            if self == .switching { return Prepared(device, ["switch"]) }
            let token = try #require(
                try await device("switch", "--json").done().output.firstMatch(of: #/[0-9a-f]{32}/#).map { String($0.0) }
            )
            if self == .confirming { return Prepared(device, ["confirm", "--launch", token]) }
            try await device("confirm", "--launch", token).done()
            return Prepared(device, ["rollback"])
        }

        fileprivate struct Prepared {
            let device: Device
            let command: [String]

            init(_ device: Device, _ command: [String]) {
                (self.device, self.command) = (device, command)
            }
        }
    }

    /// The changes at which it is stopped: with `PATCHLINE_SWEEP=all` in the environment every single one, else a few, others for
    /// each fault, and the last two, where things are committed.
    private func points(of changes: Int, with fault: String) -> [Int] {
        let stride = Sweep.isFull ? 1 : max(1, changes / 2)
        let offset = fault == "kill" ? 0 : stride / 2
        return (1...changes).filter { ($0 - 1) % stride == offset % stride || changes - $0 < 2 }
    }

    /// Runs `body` at each chosen change of `work`, each time on a fresh copy of the store.
    private func atEachStop(
        of work: Work,
        with fault: String,
        _ body: @escaping @Sendable (_ stopped: Outcome, _ device: Device, _ command: [String]) async throws -> Void
    ) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let site1 = work == .firstSync ? world.shop.site1 : world.shop.site2
                try await world.withServer(of: site1) { first in
                    let prepared = try await work.prepare(world, work == .firstSync ? first.url : server.url)
                    let count = try await faulty(prepared, "count:1", in: world, as: "counted").outcome
                    let changes = try #require(count.errors.firstMatch(of: #/changes: (\d+)/#).flatMap { Int($0.1) })
                    try #require(count.code == 0 && changes > 2, "\(count)")
                    for point in points(of: changes, with: fault) {
                        let (stopped, device) = try await faulty(
                            prepared,
                            "\(fault):\(point)",
                            in: world,
                            as: "stopped"
                        )
                        try await body(stopped, device, prepared.command)
                    }
                }
            }
        }
    }

    /// SIGKILL as the kernel sees it: before the n-th system call of a name in any one thread.
    @Test(arguments: ["openat", "write", "fsync", "syncfs", "rename", "link", "unlink", "mkdir", "fchmod", "flock"])
    func `by SIGKILL at a system call leaves a whole version, and the next sync finishes`(_ call: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let start = try await world.settledDevice(server: server.url, as: "start")
                for count in Sweep.isFull ? Array(1...80) : [1] {
                    let device = Device(store: world.path("stopped"))
                    try? FileManager.default.removeItem(atPath: device.store.string)
                    try await copy(start.store, to: device.store)
                    let patchsync = Tool.binaries.appending("patchsync").string
                    let stopped = try await run(
                        .system("strace"),
                        [
                            "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                            "inject=\(call):signal=KILL:when=\(count)", patchsync, "sync", "--store",
                            device.store.string,
                        ]
                    )
                    // A thread may make fewer of them than that.
                    #expect(stopped.wasKilled || (count > 1 && stopped.code == 0), "\(count): \(stopped)")
                    try await expectRecovery(device, .updateSync, ["sync"], stopped)
                }
            }
        }
    }

    private func faulty(
        _ prepared: Work.Prepared,
        _ fault: String,
        in world: World,
        as name: String
    ) async throws -> (outcome: Outcome, device: Device) {
        let store = world.path(name)
        try? FileManager.default.removeItem(atPath: store.string)
        try await copy(prepared.device.store, to: store)
        let arguments = prepared.command + ["--store", store.string]
        let outcome = try await run(.patchsync, arguments, environment: ["PATCHSYNC_FAULT": fault])
        return (outcome, Device(store: store))
    }

    /// Whole, and one of what may run; then the work and the next sync finish.
    private func expectRecovery(_ device: Device, _ work: Work, _ command: [String], _ stopped: Outcome) async throws {
        try await device.expectWhole(nil)
        let release = try await device.runningRelease()
        #expect(work.outcomes.contains(release), "release \(String(describing: release)) after \(stopped)")
        try await device.sync().done()
        let target = work == .firstSync ? 1 : 2
        switch work {
        case .rollingBack:
            // Taken back already, and so blocked; or it never happened.
            try await device.expectWhole(release)
        case .firstSync, .updateSync, .switching:
            if try await device.runningRelease() != target { try await device("switch").done() }
            try await device.expectWhole(target)
        case .confirming:
            let again = try await device(command[0], command[1], command[2])
            #expect(again.code == 0, "\(again)")
            try await device.expectWhole(target)
        }
    }

    @Test(arguments: Work.allCases)
    func `by SIGKILL at any change leaves a whole version, and the next sync finishes`(_ work: Work) async throws {
        try await atEachStop(of: work, with: "kill") { stopped, device, command in
            #expect(stopped.wasKilled, "\(stopped)")
            try await expectRecovery(device, work, command, stopped)
        }
    }

    @Test(arguments: zip(["noSpace", "readOnly", "denied", "broken"], Work.allCases.dropFirst()))
    func `by a disk that fails from some change on says so, keeps what runs, and goes on later`(
        _ fault: String,
        _ work: Work
    ) async throws {
        let words = [
            "noSpace": "the disk is full", "readOnly": "the file system is read-only",
            "denied": "permission denied", "broken": "Input/output error",
        ]
        try await atEachStop(of: work, with: fault) { stopped, device, command in
            // On a full disk the very last change can still be made where it removes or syncs something.
            if fault != "noSpace" || stopped.code != 0 {
                #expect(stopped.code == 6, "\(stopped)")
                #expect(stopped.errors.contains(words[fault] ?? "?"), "\(stopped)")
            }
            try await expectRecovery(device, work, command, stopped)
        }
    }
}

extension Device {
    /// Of the bundle `web`, as `status` tells; nil while nothing runs.
    func runningRelease() async throws -> Int? {
        let status = try await self("status", "--json").done()
        let rows = status.output.matches(of: #/\{[^{}]*"patchId":"web"[^{}]*\}/#).map(\.0)
        let running = rows.first { $0.contains(#""pending":false"#) }
        return running?.firstMatch(of: #/"version":"(\d)\.0\.0"/#).flatMap { Int($0.1) }
    }
}
