import SystemPackage
import Testing

/// Tried as a user would: a real browser, the real `patchsync serve`, a real `patchsrv` behind it.
@Suite(.oneBrowser)
enum BrowserTests {}

/// A web app on a device, its server, and a browser that looks at it.
struct Scene: Sendable {
    let site: WebSite
    let device: Device
    /// What `serve` printed: with the access token.
    let url: String
    let page: Page
    let browser: Browser

    var origin: String { page.url }
    var tab: Browser.Tab { browser.tab() }

    /// Release 1 runs; the others are signed, and not published yet.
    static func with(
        _ apps: [WebApp] = [WebApp(1), WebApp(2)],
        timeout: Int = 600_000,
        _ body: @escaping @Sendable (Scene) async throws -> Void
    ) async throws {
        try await World.with { world in
            let site = try await WebSite.make(in: world, apps)
            try await serving(site.data) { server in
                let device = try await site.settledDevice(server: server)
                try await world.withBrowser { browser in
                    try await device.serving([], timeout: timeout) { page in
                        let url = try await page.program.address()
                        try await body(Scene(site: site, device: device, url: url, page: page, browser: browser))
                    }
                }
            }
        }
    }

    /// The same, with the URL that a kiosk opens: of the page that `serve --url-file` writes.
    static func byFile(timeout: Int, _ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await World.with { world in
            let site = try await WebSite.make(in: world, [WebApp(1), WebApp(2)])
            let file = world.path("open.html")
            try await serving(site.data) { server in
                let device = try await site.settledDevice(server: server)
                try await world.withBrowser { browser in
                    let serve = ["serve", "--store", device.store.string, "--startup-timeout", "\(timeout)"]
                    _ = try await running(.patchsync, serve + ["--port", "0", "--url-file", file.string]) { program in
                        _ = try await program.line(with: "the URL is in \(file)")
                        let url = String(try #require(try read(file).firstMatch(of: #/url=([^"]+)"/#)).1)
                        let page = try await Page.opened(device: device, program: program, address: url)
                        try await body(
                            Scene(site: site, device: device, url: "file://\(file)", page: page, browser: browser)
                        )
                    }
                }
            }
        }
    }

    /// Publishes a release, and lets a page fetch it and see it wait.
    func stage(_ number: Int, by tab: Browser.Tab) async throws {
        try await site.publish(number)
        #expect(try await tab.run("patchline.checkForUpdates()") == "started")
        try await tab.wait(for: "heard.some(([name, what]) => name === 'ready' && what === '\(number).0.0')")
    }

    func expectNoFaults(location: SourceLocation = #_sourceLocation) async throws {
        let faults = try await browser.faults()
        #expect(faults == [], sourceLocation: location)
    }
}

extension Browser.Tab {
    /// Opens an address of the web app and waits until it is all there, of this one release.
    func open(_ url: String, release number: Int, location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await open(url) == 200, sourceLocation: location)
        try await waitFor(release: number)
    }

    /// Each of a page's files is of this release.
    func waitFor(release number: Int) async throws {
        try await wait(
            for: """
                document.title === "release \(number)" && document.documentElement.dataset.parts === "\(number) \(number)"
                """
        )
    }
}
