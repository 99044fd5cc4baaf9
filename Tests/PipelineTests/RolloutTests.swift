import SystemPackage
import Testing

/// One version, one share: by the programs, over HTTP and in the folder.
@Suite("A rollout")
struct RolloutTests {
    private static func rollout(_ site: FilePath, _ arguments: String...) async throws -> Outcome {
        try await run(.patchsrv, ["rollout"] + arguments + ["--data", site.string, "--channel", "production"])
    }

    @Test(arguments: [
        (
            ["web", "50%", "--ramp", "1%,100%", "--every", "6h"],
            "a share, pause or resume and --ramp exclude each other"
        ),
        (["web", "200%"], "; or pause, or resume"), (["--default", "200%"], "; or none"),
        (["--reason", "x"], "name the version: patchsrv rollout web@2.1 …"),
    ])
    func `is set one way at a time`(_ arguments: [String], _ error: String) async throws {
        let refused = try await run(
            .patchsrv,
            ["rollout"] + arguments + ["--data", "nowhere", "--channel", "production"]
        )
        #expect(refused.code == 64 && refused.errors.contains(error), "\(refused)")
    }

    @Test func `begins paused with a push, and reaches devices when its share is raised`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            try await serving(site) { devices, url in
                let device = try await world.settledDevice(server: devices)
                let pushed = try await run(
                    .patchsign,
                    [
                        "push", world.shop.release(2).string, "--server", url, "--token-file", token.string, "--paused",
                    ]
                ).done()
                // The publisher's token may not set a share.
                let command =
                    "patchsrv rollout web@2.0.0 SHARE --channel production --server \(url) --token-file OPERATOR_TOKEN"
                #expect(pushed.output.contains("web 2.0.0 is paused; \(command) starts it\n"), "\(pushed)")
                let made = "--grant \(Workshop.app)/production=operator --output OPERATOR_TOKEN --data DIR`\n"
                #expect(pushed.errors.hasSuffix(made), "\(pushed)")
                // The command with a share, without the channel: the one channel is meant.
                let half = ["rollout", "web@2.0.0", "50%", "--server", url, "--token-file", token.string]
                let weak = try await run(.patchsrv, half)
                #expect(weak.code == 3 && weak.errors.contains("=operator --output NAME.token"), "\(weak)")
                let held = try await device.sync()
                #expect(held.output.contains("web 2.0.0: paused"), "\(held)")
                try await device.expectWhole(1)
                let again = try await run(
                    .patchsign,
                    [
                        "push", world.shop.release(2).string, "--server", url, "--token-file", token.string,
                        "--rollout", "10%",
                    ]
                ).done()
                let tooLate =
                    "warning: it was published before, so --rollout, --paused and --ramp changed nothing; patchsrv rollout shows and sets the share"
                #expect(again.errors.contains(tooLate), "\(again)")

                for version in ["web@2.0.0", "fix@2"] {
                    let raised = try await Self.rollout(site, version, "100%").done()
                    #expect(raised.output.contains("dial updated"), "\(raised)")
                }
                try await device.sync().done()
                try await device.serving { page in
                    try await page.expect(release: 2)
                    try await page.confirm()
                }
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `is set with the publish, by the channel's default, and refused above what is signed`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let unknown = try await run(
                .patchsrv,
                ["publish", world.shop.release(2).string, "--data", site.string, "--rollout", "tip=10%"]
            )
            #expect(unknown.code == 3, "\(unknown)")
            #expect(unknown.errors.contains("this release lists no new version of tip in production"), "\(unknown)")
            let set = try await Self.rollout(site, "--default", "25%").done()
            #expect(set.output.contains("new versions begin at 25%, unless a publish sets another share\n"), "\(set)")
            let published = try await run(
                .patchsrv,
                ["publish", world.shop.release(2).string, "--data", site.string, "--rollout", "web=10%", "--json"]
            ).done().json()
            let started = published["started"] as? [[String: Any]]
            #expect(started?.map { $0["rollout"] as? Int } == [2_500, 1_000], "\(published)")
            let shown = try await Self.rollout(site).done()
            #expect(shown.output.contains(#/web +2.0.0 +100% +10% +10%/#), "\(shown)")
            // Without a channel: every one, on one screen.
            let all = try await run(.patchsrv, ["rollout", "--data", site.string]).done()
            #expect(all.output == shown.output, "\(all)")
            let rows = try await run(.patchsrv, ["rollout", "--data", site.string, "--json"]).done().json()
            #expect((rows["channels"] as? [[String: Any]])?.count == 1, "\(rows)")
            #expect(shown.output.contains(#/fix +2 +100% +25% +25%/#), "\(shown)")
            let paused = try await Self.rollout(site, "web@2.0.0", "pause", "--reason", "checkout errors").done()
            #expect(paused.output.contains(#/web +2.0.0 +100% +10% +paused +checkout errors/#), "\(paused)")
            let half = try await Self.rollout(site, "web@2.0.0", "50%").done()
            #expect(half.output.contains(#/web +2.0.0 +100% +50% +50%/#), "\(half)")
            let gone = try await Self.rollout(site, "--default", "none").done()
            #expect(!gone.output.contains("new versions begin"), "\(gone)")
            for (arguments, words) in [
                (["web@2.0.0"], "give a share such as 50%, pause, resume, or --ramp"),
                (["web@2.0.0", "fast"], "or pause, or resume"),
                (
                    ["web@2.0.0", "50%", "--ramp", "1%,2%", "--every", "1h"],
                    "a share, pause or resume and --ramp exclude"
                ),
                (["web@2.0.0", "--ramp", "2%,1%", "--every", "1h"], "--ramp must be 1 to 50 rising shares"),
                (["--reason", "why"], "name the version: patchsrv rollout web@2.1"),
                (["--default", "10"], "or none"),
                (
                    ["web", "--default", "10%"],
                    "--default excludes a version: it applies to versions that are published later"
                ),
            ] {
                let bad = try await run(
                    .patchsrv,
                    ["rollout"] + arguments + ["--data", site.string, "--channel", "production"]
                )
                #expect(bad.code == 64 && bad.errors.contains(words), "\(bad)")
            }
        }
    }

    @Test func `rises by its schedule, one step at a time, and stops where it is turned by hand`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let published = try await run(
                .patchsrv,
                [
                    "publish", world.shop.release(2).string, "--data", site.string, "--ramp", "1%,25%,100%", "--every",
                    "6h",
                ]
            ).done()
            #expect(
                published.output.contains("1% of devices may install web 2.0.0, then 25%, 100%, a step every 6h"),
                "\(published)"
            )
            func refresh(_ clock: String) async throws -> Outcome {
                let program = Tool.binaries.appending("patchsrv").string
                return try await run(.system("faketime"), [clock, program, "refresh", "--data", site.string])
            }
            let early = try await refresh("+1 hours").done()
            #expect(!early.output.contains("rollout of"), "\(early)")
            let status = try await run(.patchsrv, ["status", "--data", site.string])
            #expect(status.output.contains("rollout of web 2.0.0 in production: 1% of devices, 25% at "), "\(status)")
            // A day late: one step.
            let late = try await refresh("+1 days").done()
            #expect(late.output.contains("rollout of web 2.0.0 in production: 25% of devices, 100% at "), "\(late)")
            let shown = try await Self.rollout(site).done()
            #expect(shown.output.contains("schedule: web 2.0.0: 25% of devices, 100% at "), "\(shown)")
            // The clock of the step was ahead: by hand it is turned at that time, too.
            let program = Tool.binaries.appending("patchsrv").string
            let turn = [
                "+25 hours", program, "rollout", "web@2.0.0", "50%", "--data", site.string, "--channel", "production",
            ]
            let turned = try await run(.system("faketime"), turn).done()
            #expect(turned.output.contains(": its share was set by hand\n"), "\(turned)")
            let last = try await refresh("+3 days").done()
            #expect(last.output.contains("rollout of fix 2 in production: the schedule ended at 100%, "), "\(last)")
            #expect(!last.output.contains("rollout of web"), "\(last)")
        }
    }
}
