import FoundationEssentials
import Glibc
import SystemPackage
import Testing

/// Command lines (proc(5)) and, by groups, the journal are there for other users of the machine to read.
@Suite("What other users of the machine can read")
struct OtherUsersTests {
    /// Runs a line of a shell that finds our programs, and this store by default.
    private func shell(_ line: String, _ device: Device) async throws -> Outcome {
        let path = "\(Tool.binaries.string):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let environment = ["PATH": path, "PATCHSYNC_STORE": device.store.string]
        return try await run(
            .system("env"),
            environment.map { "\($0.key)=\($0.value)" } + ["bash", "-c", line],
            in: device.store.removingLastComponent()
        )
    }

    @Test func `holds no launch token where a launch is confirmed as the hints say`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.sync().done()
                try await device.serving { page in
                    let line = try await page.program.line(with: "(on trial; confirm: ")
                    let status = try await device("status").done().output
                    for text in [line, status] {
                        let hint = try #require(text.firstMatch(of: #/confirm: (echo ([0-9a-f]{32}) \| ([^)]+))\)/#))
                        #expect(!hint.3.contains(hint.2), "what a shell echoes itself is no command line")
                    }
                    let hint = try #require(line.firstMatch(of: #/confirm: (.+)\)/#)?.1)
                    let confirmed = try await shell(String(hint), device)
                    #expect(confirmed.code == 0 && confirmed.output.hasPrefix("confirmed: fix 2"), "\(confirmed)")
                }
            }
        }
    }

    @Test func `holds no user or data that came from a file or from standard input`() async throws {
        try await World.with { world in
            let device = try await world.newDevice(server: "http://127.0.0.1:9")
            try write("alice\r\nbob\n", to: world.path("user.txt"))
            let set = try await shell(
                "printf 'region=eu\\nisMale=1\\n' | patchsync set --user-file user.txt --data-file -",
                device
            ).done().output
            #expect(
                set.contains("user: alice\n") && set.contains("region=eu\n") && set.contains("ismale=1\n"),
                "\(set)"
            )
            let forgotten = try await shell("patchsync set --user-file - </dev/null", device).done().output
            #expect(forgotten.contains("user: not set"), "\(forgotten)")
            let wrong = try await shell("echo no-value | patchsync set --data-file -", device)
            #expect(wrong.code == 4 && wrong.errors.contains("--data-file must be KEY=VALUE"), "\(wrong)")
            let endless = try await shell("patchsync set --user-file - </dev/zero", device)
            #expect(endless.code == 6 && endless.errors.contains("cannot read standard input"), "\(endless)")
            let device2 = Device(store: world.path("second"))
            let made =
                "patchsync init --store second --root \(world.root) --server http://127.0.0.1:9 --user-file user.txt"
            try await shell(made, device2).done()
            #expect(try read(device2.store.appending("config.json")).contains(#""user":"alice""#))
        }
    }

    @Test(arguments: ["open.html", "url.txt"])
    func `holds neither the token nor the app's name where serve writes its URL into a file`(name: String) async throws
    {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let file = world.path(name)
            let arguments = [
                "serve", "--store", device.store.string, "--port", "0", "--no-sync", "--url-file", file.string,
            ]
            let (url, outcome) = try await running(.patchsync, arguments) { program in
                let line = try await program.line(with: "listening on port")
                #expect(line.hasSuffix("the URL is in \(file)"))
                let url = try #require(try read(file).firstMatch(of: #/http:[^"\s]+/#).map { String($0.0) })
                let page = try await Page.opened(device: device, program: program, address: url)
                #expect(try await page.release() == 1)
                return url
            }
            try outcome.done()
            let parts = try #require(url.firstMatch(of: #/http:\/\/([0-9a-f]{32})\.localhost:\d+\/\?cdvToken=(.+)/#))
            for secret in [parts.1, parts.2] { #expect(!outcome.text.contains(secret), "\(outcome)") }
            let mode = try await run(.system("stat"), ["-c", "%a", file.string]).done().output
            #expect(mode == "600\n")
            if name == "open.html" {
                #expect(try read(file).contains("http-equiv=\"refresh\" content=\"0; url=\(url)\""))
            }
        }
    }

    @Test func `is said plainly of a store that serves on 127.0.0.1, and how to end that`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            #expect(try await !device("status").output.contains("127.0.0.1, whose cookies"))
            let shared = try await device("set", "--no-own-host").done().output
            #expect(
                shared.contains("pages: on 127.0.0.1, whose cookies every port of this machine receives"),
                "\(shared)"
            )
            let status = try await device("status").done().output
            #expect(
                status.contains("every port of this machine receives; `patchsync set --host own` ends that"),
                "\(status)"
            )
            try await device.serving { page in
                #expect(page.url.hasPrefix("http://127.0.0.1:"))
                #expect(try await page.release() == 1)
                _ = try await page.program.line(with: "hint: `patchsync set --host own` gives them a host of their own")
            }
            let own = try await device("set", "--own-host").done().output
            #expect(!own.contains("127.0.0.1, whose"), "\(own)")
            try await device.serving { page in
                let name = try #/http:\/\/[0-9a-f]{32}\.localhost:\d+/#.wholeMatch(in: page.url)
                let release = try await page.release()
                #expect(name != nil && release == 1)
            }
        }
    }
}

/// All of this machine have one address, and what is being answered makes room for nobody.
@Suite("Another user at the operators' port")
struct OtherUserAtOperatorsTests {
    @Test(.enabled(if: getuid() == 0, "another user's process is root's to start"))
    func `keeps no operator out by asking much on every connection there is and reading nothing`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await serving(site, ["--connections", "16"]) { _, url in
                let crowd = """
                    trap '' PIPE
                    printf -v asked 'GET /api/v1/openapi.json HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n%.0s' {1..200}
                    for _ in {1..16}; do exec {place}<>"/dev/tcp/${0/://}"; printf %s "$asked" >&$place; done
                    read -r -u $place said; echo "the last: $said"; exec tail -f /dev/null
                    """
                let place = String(url.trimmingPrefix("http://"))
                let other = ["--reuid", "65534", "--clear-groups", "bash", "-c", crowd, place]
                _ = try await running(.system("setpriv"), other) { crowd in
                    _ = try await crowd.line(with: "the last: ")
                    let curl = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "\(url)/readyz"]
                    #expect(try await run(.system("curl"), curl).done().output == "200")
                }
            }
        }
    }
}
