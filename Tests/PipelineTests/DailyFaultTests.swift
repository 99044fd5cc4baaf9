import SystemPackage
import Testing

/// What networks and machines do that nobody means ill with, with the real program.
///
/// Others of the kind: `YearOffTests`,
/// `FullDiskTests`, `PowerCutTests`, and `DailyFaultTests` of `PatchSyncTests`.
@Suite("Faults of daily life")
struct DailyFaultTests {
    /// Runs a device of release 1 that a sync has to bring to release 2 once the fault is over.
    private func device(
        with fault: String,
        _ expect: @escaping @Sendable (Device, Outcome) async throws -> Void
    ) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.serving { page in
                    let before = try await StoreDigest(of: device.store)
                    try server.turn(fault, for: "/")
                    try await expect(device, try await device.sync())
                    try await page.expect(release: 1)
                    #expect(try await StoreDigest(of: device.store).lostObjects(since: before) == [])
                    try await device.expectWhole(1)
                }
                try server.beHonest()
                try await device.sync().done()
                try await device.serving { page in
                    try await page.expect(release: 2)
                    try await page.confirm()
                }
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `a captive portal that answers everything with its page of login is told as that`() async throws {
        try await device(with: "portal") { device, outcome in
            #expect(
                outcome.code == 5 && outcome.errors.contains("the server sent a web page in its place"),
                "\(outcome)"
            )
            #expect(outcome.errors.contains("log in to the network"), "\(outcome)")
            let doctor = try await device("doctor", "--json")
            #expect(doctor.output.contains(#""code":"webPage""#), "\(doctor)")
        }
    }

    @Test(arguments: [
        ("portal302", "it redirects to http://portal.example/login?from=here"),
        ("portal511", "it answers 511 (network authentication required)"),
        ("portal407", "it answers 407 (proxy authentication required)"),
    ])
    func `a captive portal that redirects, or asks for a login by its status, is told as that`(
        mode: String,
        sign: String
    ) async throws {
        try await device(with: mode) { device, outcome in
            let words = "a captive portal or proxy answers in the server's place: \(sign)"
            #expect(outcome.code == 5 && outcome.errors.contains(words), "\(outcome)")
            #expect(outcome.errors.contains("log in to the network"), "\(outcome)")
            let doctor = try await device("doctor", "--json")
            #expect(doctor.output.contains(#""code":"webPage""#), "\(doctor)")
            let status = try await device("status").done().output
            let line = "a captive portal or proxy answers in the server's place, 1 in a row\n"
            #expect(status.contains("last sync failed ") && status.contains(line), "\(status)")
        }
    }

    @Test func `a transparent proxy that packs what nobody asked for costs nothing`() async throws {
        try await device(with: "zipped") { _, outcome in
            #expect(outcome.code == 0 && outcome.output.contains("staged: it waits"), "\(outcome)")
        }
    }

    @Test func `a transparent proxy that writes into pages keeps that bundle out, and no byte of it is served`()
        async throws
    {
        try await device(with: "injected") { device, outcome in
            #expect(outcome.code == 3 && outcome.errors.contains("sent unsigned data"), "\(outcome)")
            let status = try await device("status")
            #expect(status.output.contains("web     bundle  1.0.0") || status.output.contains("1.0.0"), "\(status)")
        }
    }

    @Test func `a transparent proxy that only hands on costs nothing`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try server.turn("proxied", for: "/")
                try await device.sync().done()
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `a network of IPv6 alone is a network`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let arguments = ["serve", "--data", site.string, "--host", "::1"] + anyPorts
            _ = try await running(.patchsrv, arguments) { server in
                let url = try await server.address()
                try #require(url.hasPrefix("http://[::1]:"))
                let device = try await world.settledDevice(server: url)
                try await device.sync().done()
                try await device.expectWhole(2)
                let doctor = try await device("doctor")
                #expect(doctor.code == 0, "\(doctor)")
            }
        }
    }

    @Test func `a name service that fails is told as that, and the next sync with one finishes`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                // No name has a label of 64 letters, so nobody need be asked.
                let name = "\(String(repeating: "a", count: 64)).example"
                let device = try await world.settledDevice(server: "http://\(name)")
                let outcome = try await device.sync()
                #expect(outcome.code == 5, "\(outcome)")
                #expect(outcome.errors.contains("the name service has no address for \(name)"), "\(outcome)")
                #expect(outcome.errors.contains("/etc/resolv.conf"), "\(outcome)")
                try await device.serving { page in try await page.expect(release: 1) }
                try device.ask(server.url)
                try await device.sync().done()
                try await device.expectWhole(2)
            }
        }
    }

    @Test
    func `a machine that slept for a week while its roles ended goes on, and takes the first that are signed again`()
        async throws
    {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let late = try await device.sync(at: "+8 days")
                #expect(late.code == 3 && late.errors.contains("The active version keeps running"), "\(late)")
                try await device.serving { page in try await page.expect(release: 1) }
                try await device.sync().done()
                try await device.expectWhole(2)
            }
        }
    }
}
