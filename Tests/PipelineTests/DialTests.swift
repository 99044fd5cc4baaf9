import SystemPackage
import Testing

/// Rows J3 and J5: what operators turn while devices run, by the programs.
@Suite("A dial that an operator turns")
struct OperatorDialTests {
    private func dial(_ site: FilePath, _ options: String...) async throws -> Outcome {
        try await run(.patchsrv, ["dial", "--data", site.string, "--channel", "production"] + options)
    }

    @Test func `holds a version back while it pauses, from new devices alone, and lets it go when it resumes`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let paused = try await dial(site, "--pause", "web@2.0.0", "--pause", "fix", "--reason", "carts are empty")
                .done()
            #expect(paused.output.contains(#/web +2.0.0 +100% +- +paused +carts are empty\n/#), "\(paused)")
            try await world.withServer(of: site) { server in
                let device = try await world.settledDevice(server: server.url)
                let held = try await device.sync()
                #expect(held.output.contains("web 2.0.0: paused") && held.output.contains("carts are empty"), "\(held)")
                try await device.expectWhole(1)
                try await dial(site, "--resume", "web", "--resume", "fix").done()
                try await device.sync().done()
                try await device.serving { page in
                    try await page.expect(release: 2)
                    try await page.confirm()
                    try await dial(site, "--pause", "web", "--rollout", "web=0%").done()
                    try await device.sync().done()
                    try await page.expect(release: 2)
                }
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `lets more devices in when its share is raised, and puts none out`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            try await world.withServer(of: site) { server in
                var devices: [Device] = []
                for number in 1...4 {
                    devices.append(try await world.newDevice(server: server.url, as: "device\(number)"))
                }
                var had: Set<String> = []
                for share in ["0%", "50%", "100%"] {
                    try await dial(site, "--rollout", "tip=\(share)").done()
                    var have: Set<String> = []
                    for device in devices {
                        _ = try await device.sync()
                        let status = try await device("status").output
                        if status.contains(#/tip +script +1 /#) { have.insert(device.store.string) }
                    }
                    #expect(had.isSubset(of: have), "at \(share)")
                    #expect(share != "0%" || have.isEmpty)
                    had = have
                }
                #expect(had.count == devices.count)
            }
        }
    }

    @Test func `shows ceilings and shares, refuses in words, and tells scripts by exit code`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let shown = try await dial(site).done()
            #expect(shown.output.contains(#/fix +1 +100% +- +100%\n/#), "\(shown)")
            let turned = try await dial(site, "--rollout", "fix@1=12.5%", "--json").done()
            #expect(turned.output.contains(#/"effective": 1250,/#) && turned.output.contains(#/"outcome": "turned"/#))
            let version = try #require(turned.output.firstMatch(of: #/"dialVersion": (\d+)/#)?.1)
            let again = try await dial(site, "--rollout", "fix@1=12.5%", "--expect", "\(version)").done()
            #expect(again.output.hasPrefix("already set; nothing was changed\n"), "\(again)")
            let late = try await dial(site, "--pause", "fix", "--expect", "1")
            #expect(late.code == 8 && late.errors.contains("not 1"), "\(late)")
            let unknown = try await dial(site, "--pause", "fix@7")
            #expect(unknown.code == 3 && unknown.errors.contains("production does not list fix@7"), "\(unknown)")
            for (options, error) in [
                (["--rollout", "fix=101%"], "--rollout 101% must be a share from 0% to 100%"),
                (["--pause", "f x"], "--pause must be PATCH"),
                (["--reason", "why"], "need --pause"), (["--pause", "fix", "--reason", "a\nb"], "--reason must be"),
            ] {
                let bad = try await run(
                    .patchsrv,
                    ["dial", "--data", site.string, "--channel", "production"] + options
                )
                #expect(bad.code == 64 && bad.errors.contains(error), "\(bad)")
            }
        }
    }
}
