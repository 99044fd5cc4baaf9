import SystemPackage
import Testing

/// A release under trial: what confirms it, what takes it back, and what counts for nothing.
@Suite("A launch of a new release")
struct LaunchTests {
    @Test func `that nobody confirms is rolled back by the startup timer`() async throws {
        try await withUpdate { device, _ in
            try await device.serving(timeout: 3_000) { page in
                #expect(try await page.token() != nil)
                try await page.expect(release: 2)
                let line = try await page.program.line(with: "rolled back to")
                #expect(line.contains("rolled back to fix 1, tip 1, web 1.0.0 from fix 2, tip 1, web 2.0.0"))
                try await page.expect(release: 1)
                #expect(try await page.token() == nil)
            }
            let status = try await device("status")
            #expect(
                status.output.contains("web 2.0.0: not confirmed before the startup timer ended; next try after 20"),
                "\(status)"
            )
            #expect(status.output.contains(": settled"), "\(status)")
            let sync = try await device.sync()
            #expect(sync.code == 0 && sync.output.contains("web 2.0.0: failed a trial here; next try after"), "\(sync)")
            try await device.expectWhole(1)
        }
    }

    @Test func `is kept once its page confirms it, with the stamp that the page was given`() async throws {
        try await withUpdate { device, _ in
            try await device.serving { page in
                try await page.expect(release: 2)
                let stamp = try #require(try await page.stamp())
                #expect(try await page.confirm(String(repeating: "0", count: 32)).status == 409)
                let answer = try await page.confirm(stamp)
                #expect(answer.status == 200 && answer.body.contains(#"{"result":"confirmed"}"#), "\(answer)")
                _ = try await page.program.line(with: "confirmed: fix 2, tip 1, web 2.0.0")
                #expect(try await page.confirm(stamp).body.contains("alreadyConfirmed"))
                #expect(try await page.token() == nil)
            }
            #expect(try await device("status").output.contains(": settled"))
            try await device.expectWhole(2)
        }
    }

    @Test func `is not confirmed by a late token of the launch before it`() async throws {
        try await withUpdate { device, _ in
            let old = Box<String>()
            try await device.serving { page in
                try await page.show()
                await old.put(try #require(try await page.token()))
                try await page.program.kill()
            }
            let late = try #require(await old.value)
            try await device.serving { page in
                try await page.expect(release: 2)
                let answer = try await page.get("/__patchline/confirm?launch=\(late)", "-X", "POST")
                #expect(
                    answer.status == 409 && answer.body.contains("this page belongs to another launch"),
                    "\(answer)"
                )
                let command = try await device("confirm", "--launch", late)
                #expect(
                    command.code == 3 && command.errors.contains("this token is not the one of the running trial"),
                    "\(command)"
                )
                #expect(try await device("status").output.contains("a trial is running, launch 2"))
                try await page.confirm()
            }
            try await device.expectWhole(2)
        }
    }

    @Test func `by patchsync switch is seen by a running serve, which runs its timer`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.serving(timeout: 4_000) { page in
                    try await device.sync().done()
                    try await page.expect(release: 1)
                    #expect(try await page.token() == nil)
                    let launch = try await device("switch")
                    #expect(
                        launch.code == 0 && launch.output.contains("active, to be confirmed: fix 2, tip 1, web 2.0.0"),
                        "\(launch)"
                    )
                    _ = try await page.program.line(with: "serving fix 2, tip 1, web 2.0.0 (on trial")
                    let token = try #require(try await page.token())
                    #expect(launch.output.contains(token))
                    try await page.show()
                    _ = try await page.program.line(with: "rolled back to")
                    try await page.expect(release: 1)
                }
                try await device.expectWhole(1)
            }
        }
    }

    @Test func `that is stopped in good order does not count as failed`() async throws {
        try await withUpdate { device, _ in
            for _ in 1...3 {
                try await device.serving { page in
                    try await page.expect(release: 2)
                    #expect(try await device("status").output.contains("a trial is running, launch 1"))
                }
                #expect(try await device("status").output.contains("a trial is running, launch 0"))
            }
            try await device.serving { try await $0.confirm() }
            try await device.expectWhole(2)
        }
    }

    @Test func `that is killed is tried once more, then rolled back`() async throws {
        try await withUpdate { device, _ in
            for launch in 1...2 {
                try await device.serving { page in
                    try await page.expect(release: 2)
                    #expect(try await device("status").output.contains("a trial is running, launch \(launch)"))
                    try await page.program.kill()
                }
            }
            try await device.serving { page in
                _ = try await page.program.line(with: "rolled back to fix 1, tip 1, web 1.0.0")
                try await page.expect(release: 1)
            }
            let status = try await device("status")
            #expect(
                status.output.contains("web 2.0.0: not confirmed in any of its launches; next try after"),
                "\(status)"
            )
            try await device.expectWhole(1)
        }
    }

    @Test func `goes back by patchsync rollback, and stays away`() async throws {
        try await withUpdate { device, _ in
            try await device.serving { page in
                try await page.confirm()
                let back = try await device("rollback")
                #expect(back.code == 0 && back.output.contains("back to fix 1, tip 1, web 1.0.0 from fix 2"), "\(back)")
                _ = try await eventually("release 1") { try await page.release() == 1 ? true : nil }
            }
            let sync = try await device.sync()
            #expect(sync.output.contains("web 2.0.0: rolled back here by hand; blocked until"), "\(sync)")
            let again = try await device("rollback")
            #expect(
                again.code == 1 && again.errors.contains("there is no earlier confirmed version to roll back to"),
                "\(again)"
            )
        }
    }

    @Test func `rolled back by hand comes back with the sync after patchsync unblock`() async throws {
        try await withUpdate { device, _ in
            try await device.serving { try await $0.confirm() }
            try await device("rollback").done()
            #expect(try await device.sync().output.contains("blocked until"))
            #expect(try await device("unblock", "nobody").done().output == "nothing was blocked\n")
            let unblocked = try await device("unblock", "web", "fix").done()
            #expect(unblocked.output.contains("may be tried again: web 2.0.0\nnext: patchsync sync\n"), "\(unblocked)")
            #expect(try await device("unblock", "--json").done().output == "{\"unblocked\":[]}\n")
            try await device.sync().done()
            try await device.serving { page in
                #expect(try await page.release() == 2)
                try await page.confirm()
            }
        }
    }

    /// Promise 4 of the issue: a port that another program has costs no trial.
    @Test func `on a taken port ends with 7 and costs no trial`() async throws {
        try await withUpdate { device, server in
            let port = String(server.split(separator: ":").last ?? "")
            let before = try await StoreDigest(of: device.store)
            let taken = try await device("serve", "--port", port)
            #expect(taken.code == 7 && taken.errors.contains("port \(port) is taken by another program"), "\(taken)")
            #expect(try await StoreDigest(of: device.store) == before)
            #expect(try await device("status").output.contains("a new version waits"))
        }
    }

    /// A device that runs release 1, with release 2 staged.
    private func withUpdate(_ body: @escaping @Sendable (Device, _ server: String) async throws -> Void) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.sync().done()
                try await body(device, server.url)
            }
        }
    }
}

private actor Box<Value: Sendable> {
    private(set) var value: Value?

    func put(_ value: Value) { self.value = value }
}
