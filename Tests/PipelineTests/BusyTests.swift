import SystemPackage
import Testing

@Suite("What another process holds")
struct BusyTests {
    /// Another process with the lock, for as long as the body runs.
    private func holding(_ lock: FilePath, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let holder = ["--no-fork", lock.string, "sh", "-c", "echo held; exec sleep 600"]
        _ = try await running(.system("flock"), holder) { process in
            _ = try await process.line(with: "held")
            try await body()
        }
    }

    @Test func `by the store's sync lock makes a second sync end with 7 if it must not wait`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                try await holding(device.store.appending("sync.lock")) {
                    let refused = try await device.sync(["--no-wait"])
                    #expect(refused.code == 7 && refused.errors.contains("sync.lock is held by"), "\(refused)")
                    #expect(refused.errors.contains("another patchsync works on this store"), "\(refused)")
                    #expect(try await StoreDigest(of: device.store) == before)
                    try await device.serving { page in
                        try await page.expect(release: 1)
                    }
                }
                try await device.sync().done()
            }
        }
    }

    @Test func `by the store's sync lock makes a second sync wait for the first`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                // The lock is released once the sync has announced that it waits.
                let script = """
                    exec 9>>"$2/sync.lock"; flock 9
                    "$1" sync --store "$2" 2>"$2.errors" 9>&- &
                    until grep 'another process syncs this store: waiting up to 1 min' "$2.errors"; do sleep 0.05; done
                    flock -u 9; wait $!
                    """
                let program = Tool.binaries.appending("patchsync").string
                try await run(.system("bash"), ["-c", script, "bash", program, device.store.string]).done()
                #expect(try await device("status").done().output.contains("2.0.0"))
            }
        }
    }

    @Test func `by the server's lock makes a publish end with 7`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let before = try await StoreDigest(of: site)
            try await holding(site.appending("lock")) {
                let refused = try await world.publish(world.shop.release(2), to: site)
                #expect(refused.code == 7 && refused.errors.contains("lock is held by"), "\(refused)")
                #expect(try await StoreDigest(of: site) == before)
            }
            try await serving(site) { _ in
                try await world.publish(world.shop.release(2), to: site).done()
            }
        }
    }

    @Test func `as a port makes patchsrv serve end with 7`() async throws {
        try await World.with { world in
            try await serving(world.shop.site1) { url in
                let port = String(url.split(separator: ":").last ?? "")
                let serve = ["serve", "--data", world.shop.site2.string, "--port", port, "--operators-port", "0"]
                let refused = try await run(.patchsrv, serve)
                #expect(
                    refused.code == 7 && refused.errors.contains("port \(port) of 127.0.0.1 is in use"),
                    "\(refused)"
                )
            }
        }
    }
}
