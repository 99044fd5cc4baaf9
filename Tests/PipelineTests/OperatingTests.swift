import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// What operators see and do while `patchsrv serve` runs.
@Suite("A server that is operated")
struct OperatingTests {
    private func curl(_ arguments: String...) async throws -> Outcome {
        try await run(.system("curl"), ["-sS", "--max-time", "300"] + arguments)
    }

    /// Runs `patchsrv serve` while `body` runs, and hands it the program too.
    private func serving(
        _ site: FilePath,
        _ options: [String],
        _ body: @escaping @Sendable (_ url: String, _ server: RunningProgram) async throws -> Void
    ) async throws -> Outcome {
        try await running(.patchsrv, ["serve", "--data", site.string] + anyPorts + options) { server in
            try await body(try await server.address(), server)
        }.1
    }

    private func makeCertificate(in folder: FilePath, _ name: String) async throws {
        try await run(
            .system("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj",
                "/CN=\(name)", "-keyout", folder.appending("\(name).key").string, "-out",
                folder.appending("\(name).crt").string,
            ]
        ).done()
    }

    @Test
    func
        `shows a renewed certificate on new connections after SIGHUP, and goes on with the old one while the new is broken`()
        async throws
    {
        try await World.with { world in
            for name in ["old", "new"] { try await makeCertificate(in: world.folder, name) }
            let (certificate, key) = (world.path("live.crt"), world.path("live.key"))
            @Sendable func put(_ name: String, half: Bool = false) throws {
                let text = try read(world.path("\(name).crt"))
                try write(half ? String(text.prefix(text.count / 2)) : text, to: certificate)
                try write(try read(world.path("\(name).key")), to: key)
            }
            try put("old")
            let options = ["--tls-certificate", certificate.string, "--tls-key", key.string]
            let outcome = try await serving(world.shop.site1, options) { url, server in
                let ports = [url, try await server.operators()].compactMap { $0.split(separator: ":").last }
                func subject() async throws -> String {
                    var names: Set<String> = []
                    for port in ports {
                        let seen = try await run(.system("openssl"), ["s_client", "-connect", "127.0.0.1:\(port)"])
                            .output
                        names.insert(seen.firstMatch(of: #/subject=CN *= *(\w+)/#).map { String($0.1) } ?? seen)
                    }
                    return names.joined(separator: ", ")
                }
                #expect(try await subject() == "old")
                try put("new", half: true)
                try server.send(.terminalClosed)
                let kept = try await server.line(with: "was not renewed, so the previous one stays in use")
                #expect(kept.contains(" error ") && kept.contains("contains no certificate"), "\(kept)")
                #expect(try await subject() == "old")
                try put("new")
                try server.send(.terminalClosed)
                _ = try await server.line(with: "the certificate was read again: it is valid until")
                #expect(try await subject() == "new")
            }
            #expect(outcome.code == 0, "\(outcome)")
        }
    }

    @Test func `tells Prometheus what it does, on the listener of operators`() async throws {
        try await World.with { world in
            let site = world.shop.site1
            let outcome = try await serving(site, []) { url, server in
                let page = try await server.operators() + "/metrics"
                let timestamp = "\(url)/\(Workshop.app)/metadata/timestamp.json"
                for _ in 0..<3 { try await curl(timestamp).done() }
                let object = try await run(
                    .system("bash"),
                    ["-c", "cd \"$0\" && find objects -type f | head -n 1", site.tree.string]
                ).done().output.split(separator: "\n")[0]
                try await curl("\(url)/\(Workshop.app)/\(object)", "-o", "/dev/null").done()
                try await curl("\(url)/\(Workshop.app)/metadata/9.root.json").done()
                #expect(try await curl("\(url)/metrics", "-w", "%{http_code}").output.hasSuffix("404"))
                func numbers() async throws -> String {
                    try await curl(page, "-o", world.path("metrics").string).done()
                    let script = "\"$0\" \"$1\" <\"$2\""
                    let parse = [
                        "-c", script, try Tool.judgesPython.string, Tool.script("metrics.py"),
                        world.path("metrics").string,
                    ]
                    return try await run(.system("bash"), parse).done().output
                }
                // A request is counted when its last byte is gone, which its client may see first.
                let text = try await eventually("404 of /metrics is counted") {
                    let text = try await numbers()
                    return text.contains("patchsrv_http_requests_total{path=other,status=4xx} 1\n") ? text : nil
                }
                for row in [
                    "# patchsrv_http_requests counter", "# patchsrv_http_request_duration_seconds histogram",
                    "# patchsrv_role_expires_in_seconds gauge", "# process_open_fds gauge",
                    "patchsrv_http_requests_total{path=metadata,status=2xx} 3",
                    "patchsrv_http_requests_total{path=metadata,status=4xx} 1",
                    "patchsrv_http_requests_total{path=objects,status=2xx} 1",
                    "patchsrv_http_request_duration_seconds_count{path=metadata} 4",
                    "patchsrv_role_version{app=\(Workshop.app),role=production} 1",
                    "patchsrv_tree_verifies{app=\(Workshop.app)} 1", "patchsrv_connections_refused_total{} 0",
                ] {
                    #expect(text.contains("\(row)\n"), "no \(row) in \(text)")
                }
            }
            #expect(outcome.code == 0 && !outcome.output.contains("error"), "\(outcome)")
        }
    }

    @Test
    func `logs requests and its own doings by time and level, as text or as JSON, and in a new file after SIGHUP`()
        async throws
    {
        try await World.with { world in
            let (log, old) = (world.path("access.log"), world.path("access.log.1"))
            @Sendable func lines(of file: FilePath, with part: String) async throws -> [String] {
                try await eventually("\(part) in \(file)") {
                    let lines = ((try? read(file)) ?? "").split(separator: "\n").map(String.init)
                    return lines.contains { $0.contains(part) } ? lines : nil
                }
            }
            let text = try await serving(world.shop.site1, ["--access-log", log.string]) { _, server in
                let url = try await server.operators()
                try await curl("\(url)/healthz?one").done()
                let first = try await lines(of: log, with: "healthz?one")
                #expect(
                    first[0].contains(
                        #/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 127\.0\.0\.1 "GET \/healthz\?one" 200 2 \d+ms "curl/#
                    )
                )
                try FileManager.default.moveItem(atPath: log.string, toPath: old.string)
                try server.send(.terminalClosed)
                _ = try await eventually("a new file") {
                    FileManager.default.fileExists(atPath: log.string) ? true : nil
                }
                try await curl("\(url)/healthz?two").done()
                #expect(try await lines(of: log, with: "healthz?two").count == 1)
                #expect(try read(old).contains("?one") && !read(old).contains("?two"))
                for file in [old, log] {
                    let mode = try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions]
                    #expect(mode as? Int == 0o600, "a device's address is nobody else's business")
                }
            }
            #expect(text.code == 0, "\(text)")

            let site = try await world.site(world.shop.site1)
            let json = try await running(
                .patchsrv,
                [
                    "serve", "--data", site.string, "--log-format", "json", "--access-log", "-", "--refresh-every",
                    "1m",
                ] + anyPorts
            ) { server in
                let line = try await server.line(with: "operators on")
                let url = try #require(line.firstMatch(of: #/operators on (http[^"]+)"/#)?.1)
                try await curl("\(url)/healthz").done()
                let request = try await server.line(with: #""event":"request""#)
                #expect(request.contains(#""target":"/healthz","time":"20"#), "\(request)")
            }.1
            #expect(json.code == 0, "\(json)")
            try write(json.output, to: world.path("lines"))
            try await run(.system("jq"), ["-e", ".time and .level and .event", world.path("lines").string]).done()
        }
    }

    @Test func `says that the disk is nearly full before it is`() async throws {
        try await World.with { world in
            let site = world.shop.site1
            let outcome = try await serving(site, ["--ready-free", "900000TB"]) { _, server in
                let url = try await server.operators()
                let answer = try await curl("\(url)/readyz", "-w", "%{http_code}")
                #expect(answer.output.contains(#""short":["space"],"status":"disk-nearly-full"}"#), "\(answer)")
                #expect(answer.output.hasSuffix("503"), "\(answer)")
            }
            #expect(outcome.code == 0, "\(outcome)")
            let status = ["status", "--data", site.string, "--ready-free"]
            let short = try await run(.patchsrv, status + ["900000TB"])
            #expect(
                short.code == 10 && short.output.contains("the disk is nearly full: it is short of space"),
                "\(short)"
            )
            try await run(.patchsrv, status + ["0B"]).done()
        }
    }

    @Test func `takes every option from a file and the environment too, and shows where each comes from`() async throws
    {
        try await World.with { world in
            let (site, file) = (world.shop.site1, world.path("patchsrv.yaml"))
            try write("data: \(site)\nport: 0\nready-free: 900000TB\nlog-format: json\noperators-port: 0\n", to: file)
            let (serve, free): (_, Environment.Key) = (["serve", "--config", file.string], "PATCHSRV_READY_FREE")
            let shown = try await run(
                .patchsrv,
                serve + ["--log-format", "text", "--print-config"],
                environment: [free: "0B"]
            )
            for line in [
                "data: \(site)  # \(file):1", "port: 0  # \(file):2", "ready-free: 0B  # PATCHSRV_READY_FREE",
                "log-format: text  # the command line", "host: 127.0.0.1  # default", "tls-key:  # not set",
            ] {
                #expect(shown.code == 0 && shown.output.contains("\(line)\n"), "no \(line) in \(shown)")
            }
            let outcome = try await running(.patchsrv, serve + ["--log-format", "text"], environment: [free: "0B"]) {
                server in
                let url = try await server.operators()
                #expect(try await curl("\(url)/readyz", "-w", "%{http_code}").output.hasSuffix("200"))
            }.1
            #expect(outcome.code == 0, "\(outcome)")

            let help = try await run(.patchsrv, ["help", "serve"]).done().output
            let options = Set(help.matches(of: #/\n +--([a-z-]+)/#).map { String($0.1) })
            let settings = Set(shown.output.matches(of: #/(?m)^([a-z-]+):/#).map { String($0.1) })
            #expect(options.subtracting(["config", "print-config", "version"]) == settings)

            try write("data: \(site)\nready-fre: 1GB\n", to: file)
            let unknown = try await run(.patchsrv, serve)
            #expect(
                unknown.code == 4 && unknown.errors.contains("\(file):2: there is no setting 'ready-fre'"),
                "\(unknown)"
            )
            #expect(unknown.errors.contains("hint: did you mean ready-free?"), "\(unknown)")
            try write("port: http\n", to: file)
            let bad = try await run(.patchsrv, serve)
            #expect(bad.code == 4 && bad.errors.contains("\(file):1: port must be from 0 to 65535"), "\(bad)")
            let variable = try await run(.patchsrv, ["serve"], environment: [free: "much"])
            #expect(
                variable.code == 64 && variable.errors.contains("PATCHSRV_READY_FREE must be a number of bytes"),
                "\(variable)"
            )
        }
    }

    /// Where the tree has a large object; nobody looks at its content.
    private func largeObject(in site: FilePath) async throws -> String {
        let digest = String(repeating: "ab", count: 32)
        let folder = site.tree.appending("objects/ab")
        try await run(.system("mkdir"), ["-p", folder.string]).done()
        try await run(.system("truncate"), ["-s", "100000000", folder.appending(digest).string]).done()
        return "\(Workshop.app)/objects/ab/\(digest)"
    }

    private func download(_ url: String, rate: String, to file: FilePath) async throws -> Outcome {
        try await curl("--limit-rate", rate, "-o", file.string, url)
    }

    private func waitForFirstBytes(of file: FilePath) async throws {
        _ = try await eventually("the first bytes of \(file)") {
            let size = (try? FileManager.default.attributesOfItem(atPath: file.string)[.size]) as? UInt64 ?? 0
            return size > 0 ? true : nil
        }
    }

    @Test func `finishes a download of 100 MB when it is stopped`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let (path, file) = (try await largeObject(in: site), world.path("file"))
            let outcome = try await serving(site, ["--stop-within", "10m"]) { url, server in
                async let downloaded = download("\(url)/\(path)", rate: "50M", to: file)
                try await waitForFirstBytes(of: file)
                try server.send(.terminate)
                let outcome = try await downloaded
                let size = try FileManager.default.attributesOfItem(atPath: file.string)[.size] as? UInt64
                #expect(outcome.code == 0 && size == 100_000_000, "\(outcome)")
                try await server.end()
            }
            #expect(outcome.code == 0, "\(outcome)")
        }
    }

    @Test func `ends at once when it is stopped a second time`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let (path, file) = (try await largeObject(in: site), world.path("file"))
            let outcome = try await serving(site, ["--stop-within", "10m"]) { url, server in
                async let downloaded = download("\(url)/\(path)", rate: "1M", to: file)
                try await waitForFirstBytes(of: file)
                try server.send(.terminate)
                _ = try await eventually("the end of its listener") {
                    try await curl("\(url)/healthz").code == 7 ? true : nil
                }
                #expect(await !server.hasEnded)
                try await server.end(by: .terminate)
                #expect(try await downloaded.code != 0)
            }
            #expect(outcome.code == 143, "\(outcome)")
        }
    }
}
