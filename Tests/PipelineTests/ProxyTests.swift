import FoundationEssentials
import SystemPackage
import Testing

/// `patchsync serve --proxy` between curl, or a WebSocket of Python's, and a server of Python's.
@Suite("The API proxy of patchsync serve")
struct ProxyTests {
    /// Both run while `body` does.
    private func proxying(
        _ options: [String] = [],
        _ body: @escaping @Sendable (_ page: Page, _ upstream: RunningProgram, _ url: String) async throws -> Void
    ) async throws {
        try await World.with { world in
            _ = try await running(.python, [Tool.script("upstream.py")]) { upstream in
                let url = try await upstream.address()
                let device = try await world.settledDevice(server: "http://127.0.0.1:1")
                let rules = [
                    "/api/.*=\(url)", "/app/.*=\(url)", "/moved/.*=\(url)/api/", "/gone/.*=http://127.0.0.1:1",
                ]
                try await device.serving(["--no-sync"] + rules.flatMap { ["--proxy", $0] } + options) { page in
                    try await body(page, upstream, url)
                }
            }
        }
    }

    @Test func `passes requests on as their page made them, without the device's own secrets`() async throws {
        try await proxying { page, _, url in
            let token = try #require(page.cookie?.split(separator: "=").last)
            let answer = try await page.get(
                "/api/x/echo?q=%20",
                "-X",
                "PATCH",
                "-d",
                "hello",
                "-b",
                "a=b",
                "-H",
                "X-Forwarded-For: 1.2.3.4"
            )
            #expect(answer.status == 200)
            for part in [
                #""method": "PATCH", "target": "/api/x/echo?q=%20""#, #""size": 5"#, #"["Cookie", "a=b"]"#,
                #"["Host", "\#(url.dropFirst(7))"]"#,
            ] { #expect(answer.body.contains(part), "\(answer)") }
            #expect(!answer.body.contains(token) && !answer.body.contains("X-Forwarded-For"), "\(answer)")
            #expect(try await page.get("/moved/echo").body.contains(#""target": "/api/echo""#))
        }
    }

    @Test func `comes after the bundle's files and before its routes`() async throws {
        try await proxying { page, _, _ in
            try await page.expect(release: 1)
            #expect(try await page.get("/app/echo").body.contains(#""target": "/app/echo""#))
            #expect(try await page.get("/__patchline/launch.js").body.contains("window.patchline"))
            #expect(try await page.get("/other/echo", "-d", "x").status == 405)
        }
    }

    @Test func `passes back what the upstream says, also that it failed`() async throws {
        try await proxying { page, _, _ in
            for status in [404, 422, 500, 503] {
                let answer = try await page.get("/api/status/\(status)", "-i")
                #expect(answer.status == status && answer.body.contains("X-Reason: yes"), "\(answer)")
                #expect(answer.body.hasSuffix("as it is") && !answer.body.contains("X-Hop"), "\(answer)")
            }
            #expect(try await page.get("/api/redirect", "-i").body.contains("Location: /api/echo?next=1#there"))
            let gone = try await page.get("/gone/x")
            #expect(gone.status == 502 && gone.body.contains("127.0.0.1:1 cannot be reached."), "\(gone)")
        }
        try await proxying(["--proxy-timeout", "1"]) { page, _, _ in
            let never = try await page.get("/api/never")
            #expect(never.status == 504 && never.body.contains("did not answer in time."), "\(never)")
        }
    }

    @Test func `keeps the upstream's cookies for the upstream`() async throws {
        try await proxying { page, _, _ in
            let jar = page.device.store.removingLastComponent().appending("cookies.txt").string
            let set = try await page.get("/api/cookies", "-i", "-c", jar)
            #expect(set.body.contains("Set-Cookie: session=1; HttpOnly; Path=/api"), "\(set)")
            #expect(
                !set.body.contains("stolen") && !set.body.contains("Secure") && !set.body.contains("Domain"),
                "\(set)"
            )
            let back = try await page.get("/api/echo", "-b", jar)
            #expect(back.body.contains("session=1") && back.body.contains("__Host-id=2"), "\(back)")
            #expect(try await !page.get("/moved/echo", "-b", jar).body.contains("session=1"))
        }
    }

    @Test func `carries a WebSocket`() async throws {
        try await proxying { page, _, url in
            let port = page.url.split(separator: ":").last.map(String.init) ?? ""
            let cookie = try #require(page.cookie)
            func connect(_ path: String) async throws -> Outcome {
                try await run(.python, [Tool.script("websocket.py"), port, path, page.url, cookie]).done()
            }
            let socket = try await connect("/api/ws")
            #expect(socket.output.contains("status 101\n"), "\(socket)")
            #expect(socket.output.contains(#"["Origin", "\#(url)"]"#), "\(socket)")
            #expect(socket.output.contains("session=1") && !socket.output.contains("cdvToken"), "\(socket)")
            #expect(socket.output.hasSuffix("echoed True\nechoed True\nend b''\n"), "\(socket)")
            let refused = try await connect("/api/no")
            #expect(refused.output == "status 403\nno socket here\n", "\(refused)")
        }
    }

    @Test func `lets server-sent events through as they come`() async throws {
        try await proxying { page, _, _ in
            _ = try await running(.system("curl"), ["-sSN", "-b", page.cookie ?? "", page.url + "/api/events"]) {
                curl in
                _ = try await curl.line(with: "data: one")
                #expect(try await page.get("/api/go").status == 204)
                _ = try await curl.line(with: "data: two")
            }
        }
    }

    @Test func `takes an upload of any size in little memory`() async throws {
        try await proxying { page, _, _ in
            let file = page.device.store.removingLastComponent().appending("large")
            let size = 256 << 20
            try await run(.system("truncate"), ["-s", "\(size)", file.string]).done()
            // What the program itself takes, which in a debug build is more than an upload may.
            _ = try await page.get("/api/sink", "-d", "small")
            let before = try await page.program.peakMemory()
            for encoding in ["Content-Length", "chunked"] {
                let field = encoding == "chunked" ? "Transfer-Encoding: chunked" : "X-None: 1"
                let answer = try await page.get("/api/sink", "-X", "POST", "-T", file.string, "-H", field)
                #expect(answer.body.hasPrefix("\(size) "), "\(answer)")
            }
            let after = try await page.program.peakMemory()
            #expect(after - before < 32 << 20, "\(before) bytes before, \(after) after")
        }
    }

    @Test(arguments: [
        (["--proxy", "/api/.*"], "must be PATTERN=URL"), (["--proxy", "/(=http://a"], "unbalanced bracket"),
        (["--proxy", "/a=http://a?x"], "leads to http://a?x"), (["--proxies", "/nowhere/proxies.json"], "nowhere"),
        (["--proxy", "/a=http://a", "--proxy-ca", "STORE/config.json"], "no certificate"),
    ])
    func `is refused with a reason when a rule is wrong`(options: [String], reason: String) async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:1")
            let store = device.store.string
            let options = options.map { $0.replacing("STORE", with: store) }
            let outcome = try await run(.patchsync, ["serve", "--store", store, "--port", "0"] + options)
            #expect(outcome.code != 0 && outcome.errors.contains(reason), "\(outcome)")
        }
    }
}

extension RunningProgram {
    /// Bytes of memory at the most, so far.
    fileprivate func peakMemory() async throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
    }
}
