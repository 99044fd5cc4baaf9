import Subprocess
import SystemPackage
import Testing

/// SIGKILL to `patchsync` at its named commit points (PatchSync/CommitPoint.swift).
@Suite("A power cut")
struct PowerCutTests {
    /// Before these points the new selection is not in state.json; from `after-state` on it is.
    static let beforeState = [
        "after-metadata", "during-objects", "after-objects", "before-bundle-rename", "before-state",
    ]

    @Test(arguments: beforeState + ["after-state"])
    func `in a first sync leaves nothing or a whole version, and the next sync finishes`(_ point: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.newDevice(server: server.url)
                let cut = try await device.sync(dieAt: point)
                #expect(cut.wasKilled, "\(cut)")
                try await device.expectWhole(nil)
                try await device.serving { page in
                    if point == "after-state" {
                        try await page.expect(release: 1)
                    } else {
                        let answer = try await page.get("/")
                        #expect(answer.status == 503 && answer.body.contains("Nothing is installed yet."), "\(answer)")
                        try await device.sync().done()
                        _ = try await eventually("release 1") { try await page.release() == 1 ? true : nil }
                        try await page.expect(release: 1)
                    }
                }
                try await device.sync().done()
                try await device.expectWhole(1)
            }
        }
    }

    @Test(arguments: beforeState + ["after-state"])
    func `in an update disturbs nobody who is served, and the next sync finishes`(_ point: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.serving { page in
                    let before = try await StoreDigest(of: device.store)
                    let cut = try await device.sync(dieAt: point)
                    #expect(cut.wasKilled, "\(cut)")
                    try await page.expect(release: 1)
                    try await device.expectWhole(1)
                    #expect(try await StoreDigest(of: device.store).lostObjects(since: before) == [])
                    try await page.program.kill()
                }
                try await device.serving { page in
                    try await page.expect(release: point == "after-state" ? 2 : 1)
                    if point == "after-state" { try await page.confirm() }
                    try await device.sync().done()
                    if point != "after-state" { try await device("switch").done() }
                    _ = try await eventually("release 2") { try await page.release() == 2 ? true : nil }
                    try await page.expect(release: 2)
                }
                try await device.expectWhole(2)
            }
        }
    }

    @Test(arguments: [1, 2])
    func `as a launch begins costs nothing: nobody had asked for a page`(_ release: Int) async throws {
        try await World.with { world in
            try await world.withServer(of: release == 1 ? world.shop.site1 : world.shop.site2) { server in
                let device =
                    release == 1
                    ? try await world.newDevice(server: server.url) : try await world.settledDevice(server: server.url)
                try await device.sync().done()
                let cut = try await run(
                    .patchsync,
                    ["serve", "--store", device.store.string, "--port", "0"],
                    environment: ["PATCHSYNC_DIE_AT": "after-launch"]
                )
                #expect(cut.wasKilled && !cut.output.contains("listening"), "\(cut)")
                let status = try await device("status")
                // Nobody had asked for a page of it.
                let words =
                    release == 1 ? "a first version runs that was not confirmed yet" : "a trial is running, launch 0"
                #expect(status.output.contains(words), "\(status)")
                try await device.expectWhole(release)
                try await device.serving { page in
                    try await page.expect(release: release)
                    try await page.confirm()
                }
                try await device.sync().done()
                try await device.expectWhole(release)
            }
        }
    }
}
