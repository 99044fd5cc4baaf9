import SystemPackage
import Testing

/// `patchsync serve` as a user meets it: who gets in, what a first launch shows, and how it keeps itself up to date.
@Suite("patchsync serve")
struct ServeTests {
    @Test func `prints the one URL that gets in, and lets nobody else read a page`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await device.serving { page in
                #expect(try await page.release() == 1)
                let stranger = Page(device: device, program: page.program, address: page.url)
                for path in ["/", "/__patchline/launch.js", "/__patchline/events", "/?cdvToken=", "/app/main.js"] {
                    let answer = try await stranger.get(path)
                    #expect(answer.status == 403 && answer.body.hasPrefix("Only the app has access"), "\(answer)")
                }
                #expect(try await page.get("/", "-H", "Host: evil.example").status == 421)
                let posted = try await page.get("/__patchline/check", "-X", "POST", "-H", "Origin: http://evil.example")
                #expect(posted.status == 403)
                let line = try await page.program.line(with: "listening on")
                let token = try #require(line.split(separator: "=").last)
                #expect(try read(device.store.appending("access-token")) == "\(token)\n")
                #expect(page.cookie?.contains(token) == false, "no cookie holds what outlives this launch")
                let first = try await stranger.get("/cart?cdvToken=\(token)", "-H", "Accept: text/html", "-i")
                #expect(first.status == 303 && first.body.contains("Location: /cart\r\n"), "\(first)")
                #expect(first.body.contains("HttpOnly; SameSite=Strict") && !first.body.contains(token), "\(first)")
            }
        }
    }

    @Test func `lets everybody in only when it is told so, with a warning`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await device.serving(["--no-sync", "--open", "--header", "X-Frame-Options:", "--charset", "utf-8"]) {
                page in
                #expect(page.cookie == nil)
                #expect(try await page.release() == 1)
                _ = try await page.program.line(with: "warning: --open lets every program")
                let head = try await page.get("/", "-i").body
                #expect(head.contains("Content-Type: text/html; charset=utf-8"), "\(head)")
                #expect(!head.contains("X-Frame-Options"), "\(head)")
                #expect(try await page.get("/", "-H", "Host: evil.example").status == 421)
            }
        }
    }

    /// Row G1; a file's date says nothing of the release that is served, so only its tag is compared.
    @Test func `speaks GCDWebServer's dialect to who was made for it, and lets no one in for that`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            try await device.serving(["--no-sync", "--dialect", "gcdwebserver"]) { page in
                let future = "If-Modified-Since: Wed, 01 Jan 2098 00:00:00 GMT"
                let first = try await page.get("/app/main.js", "-i", "-H", future)
                #expect(first.status == 200, "\(first)")
                #expect(first.body.contains("Server: GCDWebServer\r\n") && first.body.contains("Connection: Close\r\n"))
                #expect(first.body.contains("Referrer-Policy: strict-origin-when-cross-origin\r\n"), "\(first)")
                let tag = try #require(first.body.firstMatch(of: #/Etag: ([0-9a-f]{64})\r\n/#)?.1)
                #expect(try await page.get("/app/main.js", "-H", "If-None-Match: \(tag)").status == 304)
                let stranger = Page(device: device, program: page.program, address: page.url)
                #expect(try await stranger.get("/app/main.js").status == 403)
            }
        }
    }

    /// E2: nothing but `init` and `serve`.
    @Test func `shows a page of its own while the first version is fetched, and then serves that`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                try server.turn("404", for: "timestamp")
                let device = try await world.newDevice(server: server.url)
                try await device.serving([]) { page in
                    let window = try await page.get("/", "-H", "Accept: text/html")
                    #expect(window.status == 503 && window.body.contains("Getting the app ready"), "\(window)")
                    _ = try await page.program.line(with: "trouble: sync:")
                    try server.beHonest()
                    #expect(try await page.get("/__patchline/check", "-X", "POST").status == 202)
                    _ = try await page.program.line(with: "serving fix 1, tip 1, web 1.0.0 (on trial")
                    try await page.expect(release: 1)
                    try await page.confirm()
                }
                try await device.expectWhole(1)
            }
        }
    }

    /// E2, offline: the page says so, and trying again is what helps.
    @Test func `tells a page that the first version cannot be fetched, and fetches it when the page tries again`()
        async throws
    {
        try await World.with { world in
            let device = try await world.newDevice(server: "http://127.0.0.1:9")
            try await device.serving([]) { page in
                _ = try await page.program.line(with: "trouble: sync:")
                let status = try await page.get("/__patchline/status").body
                #expect(status.contains(#""current":null"#) && status.contains(#""phase":"failed""#), "\(status)")
                let report = try await page.get("/__patchline/report").body
                #expect(report.contains(#""event":"failed""#) && report.contains("127.0.0.1:9"), "\(report)")
                #expect(!report.contains(try page.token(in: device)), "\(report)")
                let again = try await page.get("/__patchline/check", "-X", "POST")
                #expect(again.status == 202 && again.body == #"{"result":"started"}"#, "\(again)")
            }
        }
    }

    @Test func `keeps itself up to date where it is told to, and starts the new version when the page reloads`()
        async throws
    {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.serving(["--sync-every", "3600"]) { page in
                    _ = try await page.program.line(with: "a new version is here")
                    try await page.expect(release: 1)
                    let switched = try await page.get(
                        "/__patchline/switch",
                        "-X",
                        "POST",
                        "-H",
                        "X-Patchline-Switch: 1"
                    )
                    #expect(switched.body == #"{"result":"switched"}"#, "\(switched)")
                    try await page.expect(release: 2)
                    try await page.confirm()
                    let again = try await page.get("/__patchline/switch", "-X", "POST", "-H", "X-Patchline-Switch: 1")
                    #expect(again.status == 409 && again.body.contains("No pending version to switch to"), "\(again)")
                }
                try await device.expectWhole(2)
            }
        }
    }

    @Test(arguments: [
        ["--sync-every", "0"], ["--no-sync", "--sync-every", "60"], ["--origin", "127.0.0.1"],
        ["--origin", "http://a/b"],
        ["--header", "no colon"], ["--header", "a b: c"], ["--type", "js"], ["--type", "js=javascript"],
        ["--charset", ""],
    ])
    func `refuses options that mean nothing`(options: [String]) async throws {
        let outcome = try await run(.patchsync, ["serve"] + options)
        #expect(outcome.code == 64, "\(outcome)")
    }
}

extension Page {
    fileprivate func token(in device: Device) throws -> String {
        String(try read(device.store.appending("access-token")).prefix(32))
    }
}
