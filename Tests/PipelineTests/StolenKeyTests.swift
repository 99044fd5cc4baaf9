import SystemPackage
import Testing

/// What each key can do alone in a thief's hand, and what not (X1).
@Suite("A stolen key")
struct StolenKeyTests {
    @Test(arguments: [
        ("production", "production: 0 valid signatures of 1 needed"),
        ("targets", "targets: 0 valid signatures of 1 needed"),
        ("root", "root: 0 valid signatures of 1 needed"),
    ])
    func `of the server signs no offline role`(_ role: String, _ error: String) async throws {
        try await expectNothing(of: "signed_by|online|\(role)", error)
    }

    @Test func `of the entries installs nothing alone`() async throws {
        try await expectNothing(of: "script_by_entry_key", "production: 0 valid signatures of 1 needed")
    }

    @Test func `of the server and the entry key together install nothing`() async throws {
        try await expectNothing(of: "signed_by|entry|production", "production: 0 valid signatures of 1 needed")
    }

    @Test func `of a channel signs no other role`() async throws {
        try await expectNothing(of: "signed_by|production|targets", "targets: 0 valid signatures of 1 needed")
        try await expectNothing(of: "signed_by|production|timestamp", "timestamp: 0 valid signatures of 1 needed")
    }

    private func expectNothing(of edit: String, _ error: String) async throws {
        try await World.with { world in
            try await world.withServer(of: try await world.forged(edit)) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                let refusal = try await device.sync()
                #expect(refusal.code == 3 && refusal.errors.contains(error), "\(refusal)")
                #expect(try await StoreDigest(of: device.store).installed == before.installed)
                try await device.expectWhole(1)
            }
        }
    }

    @Test(arguments: [(ceiling: 0, turned: 10_000), (10_000, 0), (10_000, 10_000)])
    func `of the server turns a rollout up to its ceiling and no further`(ceiling: Int, turned: Int) async throws {
        try await World.with { world in
            try await world.withServer(of: try await world.forged("dial|\(ceiling)|\(turned)")) { server in
                let device = try await world.settledDevice(server: server.url)
                let sync = try await device.sync()
                #expect(sync.code == 0, "\(sync)")
                let isTaken = sync.output.contains(#/web +2\.0\.0 +another version, downloaded.* Update → UnInstall/#)
                #expect(isTaken == (min(ceiling, turned) > 0), "\(sync)")
                try await device.expectWhole(1)
            }
        }
    }

    @Test func `of the server can freeze a device, which says so and runs on`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.settledDevice(server: server.url)
                let frozen = try await device.sync(at: "+8 days")
                #expect(
                    frozen.code == 3
                        && frozen.errors.contains(
                            #/timestamp: expired at .* by this clock .*; the clock is ahead, or it was not signed again/#
                        ),
                    "\(frozen)"
                )
                try await device.expectWhole(1)
                try await device.serving { page in
                    let shown = try await page.release()
                    #expect(shown == 1)
                }
            }
        }
    }
}

@Suite("A clock that is wrong")
struct ClockTests {
    @Test(arguments: ["1970-01-02 00:00:00", "2020-02-29 12:00:00"])
    func `by years in the past keeps no release away`(_ clock: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let sync = try await device.sync(at: clock)
                #expect(
                    sync.code == 0
                        && sync.output.contains(#/web +2\.0\.0 +another version, downloaded.* Update → UnInstall/#),
                    "\(sync)"
                )
            }
        }
    }

    @Test func `by years in the future takes nothing new and is named`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let sync = try await device.sync(at: "2060-01-01 00:00:00")
                #expect(
                    sync.code == 3
                        && sync.errors.contains(#/root: expired at .* by this clock .*; the clock is ahead/#),
                    "\(sync)"
                )
                try await device.expectWhole(1)
                let right = try await device.sync()
                #expect(right.code == 0, "\(right)")
            }
        }
    }

    @Test func `and a role that ended for certain is not the clock's fault alone`() async throws {
        try await World.with { world in
            try await world.withServer(of: try await world.forged("expired|production")) { server in
                let device = try await world.settledDevice(server: server.url)
                let sync = try await device.sync(at: "2019-06-01 00:00:00")
                #expect(
                    sync.code == 3
                        && sync.errors.contains(
                            #/production: expired at 2020-01-01T00:00:00Z; the clock is behind: it shows 2019-06-01T/#
                        ),
                    "\(sync)"
                )
            }
        }
    }
}
