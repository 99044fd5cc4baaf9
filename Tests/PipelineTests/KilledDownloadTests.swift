import FoundationEssentials
import PatchTesting
import Subprocess
import SystemPackage
import Testing

/// SIGKILL to `patchsync sync` while a server holds the download at a byte that a seeded generator chose.
@Suite("A download that is killed")
struct KilledDownloadTests {
    private static let rounds = Sweep.isFull ? 100 : 2

    /// Kills the same device up to three times before it may finish.
    @Test(arguments: [UInt64(4), 11, 2_026])
    func `at any byte keeps what runs and what came, and the sync after it finishes`(_ seed: UInt64) async throws {
        let fixture = try await DownloadFixture.ready()
        try await World.with { world in
            try await world.withServer(of: fixture.site(2)) { second in
                try await world.withServer(of: fixture.site(3)) { third in
                    try await world.withServer(of: fixture.site(4)) { fourth in
                        var random = SeededGenerator(state: seed)
                        for round in 1...Self.rounds {
                            let target = Int.random(in: 2...DownloadFixture.releases, using: &random)
                            let kills = (1...Int.random(in: 1...3, using: &random)).map { _ in
                                Int.random(in: 0..<DownloadFixture.news(of: target), using: &random)
                            }
                            let walk = Walk(seed: seed, round: round, target: target, kills: kills)
                            let server = [second, third, fourth][target - 2]
                            let device = try await fixture.device(
                                running: target - 1,
                                asking: server,
                                in: world,
                                as: "device\(round)"
                            )
                            try await walk.go(device, server)
                            try FileManager.default.removeItem(atPath: device.store.string)
                        }
                    }
                }
            }
        }
    }
}

/// One device on its way from one release to the next, killed at these bytes.
private struct Walk: CustomStringConvertible, Sendable {
    let seed: UInt64
    let round: Int
    let target: Int
    let kills: [Int]

    var description: String { "seed \(seed), round \(round), to release \(target), killed at \(kills)" }

    func go(_ device: Device, _ server: HostileServer) async throws {
        for (turn, byte) in kills.enumerated() { try await kill(device, at: byte, turn: round * 10 + turn, server) }
        #expect(try await device.runningRelease() == target - 1, "\(self)")
        try server.beHonest()
        try await device.sync().done()
        try await device.switchAndConfirm()
        try await device.expectWhole(target)
        #expect(try await device.runningRelease() == target, "\(self)")
    }

    private func kill(_ device: Device, at byte: Int, turn: Int, _ server: HostileServer) async throws {
        try server.turn("hold:\(byte):\(turn)", for: "/objects/|/packs/")
        let (_, outcome) = try await running(.patchsync, ["sync", "--store", device.store.string]) { sync in
            // With what came before, the rest may be less than the server lets through.
            _ = try await eventually("an answer that is held") {
                if await server.program.text.contains("held in turn \(turn);") { return true }
                return await sync.hasEnded ? true : nil
            }
            try await sync.kill()
        }
        #expect(outcome.wasKilled || outcome.code == 0, "\(self): \(outcome)")
        let check = try await device("verify", "--entries")
        #expect(check.code == 0, "\(self): \(check)")
    }
}
