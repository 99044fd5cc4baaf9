import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// A program that serves goes on whatever becomes of its output; a command whose answer is lost has failed.
@Suite("Output that cannot be written")
struct LostOutputTests {
    /// What a shell puts in place of the streams.
    static let redirections = [
        ">/dev/full 2>&1", ">&- 2>&-", "<&- >&- 2>&-", "> >(exec true) 2>&1",
        "2>/dev/full > >(exec sleep 20 >/dev/null 2>&1)",
    ]

    /// Runs a program of ours by a shell, which redirects its streams.
    private func redirected(
        _ tool: String,
        _ arguments: [String],
        _ redirection: String,
        _ body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws {
        let words = [Tool.binaries.appending(tool).string] + arguments
        let line = "exec \(words.map { "'\($0)'" }.joined(separator: " ")) \(redirection)"
        let (_, outcome) = try await running(.system("bash"), ["-c", line]) { program in
            try await body(program)
            // Its output ended long ago, so nothing else ends it.
            try program.send(.terminate)
        }
        #expect(outcome.code == 0, "\(redirection): \(outcome)")
    }

    /// The pages of a device, by the URL in a file.
    private func page(_ device: Device, _ program: RunningProgram, urlIn file: FilePath) async throws -> Page {
        let url = try await eventually("a URL in \(file)") {
            (try? read(file)).map { $0.filter { !$0.isNewline } }.flatMap { $0.isEmpty ? nil : $0 }
        }
        return try await Page.opened(device: device, program: program, address: url)
    }

    @Test(arguments: redirections)
    func `does not end patchsync serve`(redirection: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.settledDevice(server: server.url)
                let file = world.path("url")
                let arguments = ["serve", "--store", device.store.string, "--port", "0", "--url-file", file.string]
                try await redirected("patchsync", arguments, redirection) { program in
                    let page = try await page(device, program, urlIn: file)
                    try await page.expect(release: 1)
                    for _ in 1...3 { _ = try await page.get("/__patchline/check", "-X", "POST") }
                    try await page.expect(release: 1)
                }
                let check = try await device("verify")
                #expect(check.code == 0, "no line was written into a file of the store: \(check)")
            }
        }
    }

    @Test(arguments: redirections)
    func `does not end patchsync run`(redirection: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.settledDevice(server: server.url)
                let (file, settings) = (world.path("url"), world.path("patchsync.yaml"))
                try write("stores: {shop: {store: \(device.store), port: 0, url-file: \(file)}}\n", to: settings)
                try await redirected("patchsync", ["run", "--config", settings.string], redirection) { program in
                    let page = try await page(device, program, urlIn: file)
                    // Each is a line: settings were read again.
                    for _ in 1...3 {
                        try program.send(.terminalClosed)
                        try await page.expect(release: 1)
                    }
                }
            }
        }
    }

    @Test func `on a full disk costs lines, and they are counted once there is room`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.settledDevice(server: server.url)
                let (file, settings, disk) = (world.path("url"), world.path("patchsync.yaml"), world.path("disk"))
                try write("stores: {shop: {store: \(device.store), port: 0, url-file: \(file)}}\n", to: settings)
                try await run(.system("mkdir"), [disk.string]).done()
                let program = Tool.binaries.appending("patchsync")
                let line =
                    "mount -t tmpfs -o size=64k tmpfs '\(disk)' && exec '\(program)' run --config '\(settings)' >>'\(disk)/log'"
                let namespace = [
                    "--user", "--map-root-user", "--mount", "--propagation", "private", "bash", "-c", line,
                ]
                let (_, outcome) = try await running(.system("unshare"), namespace) { program in
                    // The disk is in the program's own mount namespace.
                    let disk = FilePath("/proc/\(program.id)/root\(disk)")
                    let log = disk.appending("log")
                    let page = try await page(device, program, urlIn: file)
                    _ = try await eventually("a line in the log") {
                        (try? read(log))?.contains("listening on") == true ? true : nil
                    }
                    let fill =
                        "head -c $(( (4096 - $(stat -c %s log) % 4096) % 4096 )) /dev/zero | tr '\\0' '\\n' >>log; "
                        + "dd if=/dev/zero of=fill bs=1k"
                    _ = try await run(.system("bash"), ["-c", fill], in: disk)
                    for _ in 1...3 {
                        try program.send(.terminalClosed)
                        try await page.expect(release: 1)
                    }
                    try await run(.system("rm"), [disk.appending("fill").string]).done()
                    // It comes by itself, also where no line does.
                    _ = try await eventually("the count in the log", seen: { (try? read(log)) ?? "" }) {
                        (try? read(log))?.contains(#/lines? (was|were) lost/#) == true ? true : nil
                    }
                    try await page.expect(release: 1)
                }
                #expect(outcome.code == 0, "\(outcome)")
            }
        }
    }

    @Test(arguments: ["missing/access.log", "fifo", "/dev/full"])
    func `does not end patchsrv serve, wherever its access log is`(name: String) async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let log = name.hasPrefix("/") ? FilePath(name) : world.path(name)
            if name == "fifo" { try await run(.system("mkfifo"), [log.string]).done() }
            let arguments = ["serve", "--data", site.string, "--access-log", log.string] + anyPorts
            let (_, outcome) = try await running(.patchsrv, arguments) { server in
                let url = try await server.address()
                // More than a FIFO holds.
                let asked = try await run(
                    .system("curl"),
                    [
                        "-sS", "-o", "/dev/null", "-w", "%{http_code}\n",
                        "\(url)/\(String(repeating: "x", count: 900))?[1-100]",
                    ]
                )
                #expect(asked.output.split(separator: "\n").allSatisfy { $0 == "404" }, "\(asked)")
                if name == "fifo" {
                    let read = try await run(
                        .system("timeout"),
                        ["10", "head", "-n", "10", log.string]
                    )
                    #expect(read.output.split(separator: "\n").count == 10, "\(read)")
                }
                if name.hasPrefix("missing") {
                    try await run(.system("mkdir"), [world.path("missing").string]).done()
                    _ = try await run(.system("curl"), ["-sS", "\(url)/healthz"]).done()
                    _ = try await eventually("the count in the log") {
                        (try? read(log))?.contains("lines were lost") == true ? true : nil
                    }
                }
            }
            #expect(outcome.code == 0, "\(outcome)")
            let said = "cannot open \(log), so requests are not logged until it can be opened"
            #expect(outcome.output.contains(said) == name.hasPrefix("missing"), "\(outcome)")
        }
    }

    @Test(arguments: [("json", ">/dev/full 2>errors"), ("text", ">output 2>/dev/full"), ("text", ">output 2>&-")])
    func `does not end patchsrv serve`(format: String, redirection: String) async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let (output, errors) = (world.path("output"), world.path("errors"))
            let arguments = ["serve", "--data", site.string, "--log-format", format, "--access-log", "-"] + anyPorts
            let streams = redirection.replacing("output", with: "'\(output)'").replacing("errors", with: "'\(errors)'")
            try await redirected("patchsrv", arguments, streams) { server in
                let url = try await eventually("an address") {
                    let text = ((try? read(output)) ?? "") + ((try? read(errors)) ?? "")
                    let line = text.split(separator: "\n").first { $0.contains("listening on http") }
                    return line?.firstMatch(of: #/listening on (http:[^"]*[0-9])/#).map {
                        String($0.1).replacing("\\/", with: "/")
                    }
                }
                for _ in 1...3 {
                    let asked = try await run(.system("curl"), ["-sS", "-o", "/dev/null", "-w", "%{http_code}", url])
                    #expect(asked.output == "404", "\(asked)")
                }
            }
        }
    }

    @Test(arguments: [">/dev/full", ">&-", "<&- >&-"])
    func `fails a command, whose answer is lost`(redirection: String) async throws {
        try await World.with { world in
            let device = Device(store: world.path("device"))
            try await copy(world.shop.device1, to: device.store)
            let program = Tool.binaries.appending("patchsync").string
            let line = "'\(program)' status --store '\(device.store)' \(redirection)"
            let status = try await run(.system("bash"), ["-c", line])
            #expect(status.code == 6 && status.errors.contains("cannot write the output"), "\(status)")
            #expect(try await device("verify").code == 0)
        }
    }
}
