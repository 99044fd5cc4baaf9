import FoundationEssentials
import SystemPackage
import Testing

extension BrowserTests {
    /// The app is open in one tab; another one visits a server of another user of this machine.
    @Suite("A port of another user of the machine")
    struct Neighbour {
        @Test func `gets no cookie of the app and none that the proxy keeps, wherever it leads a browser`() async throws
        {
            try await visiting { visit in
                #expect(visit.page.url.hasPrefix("http://127.0.0.1") == false)
                for line in visit.seen {
                    for secret in ["cdvToken", "session=1", "lang=fr"] { #expect(!line.contains(secret), "\(line)") }
                }
            }
        }

        /// As in stores of before; Trust.md says so.
        @Test func `gets of an app on 127.0.0.1 its cookies, and with them nothing that outlives the launch`()
            async throws
        {
            try await visiting(["--no-own-host"]) { visit in
                let token = String(try read(visit.page.device.store.appending("access-token")).prefix(32))
                #expect(!visit.seen.contains { $0.contains(token) }, "the store's own token never leaves")
                let line = try #require(visit.seen.first { $0.contains("cdvToken_") })
                #expect(line.contains("session=1") && line.contains("lang=fr"), "\(line)")
                let stolen = try #require(line.firstMatch(of: #/cdvToken_\d+=[0-9a-f]{32}/#)?.0)
                #expect(try await visit.page.asking(with: String(stolen)).status == 200)
                let warning = try await visit.page.program.line(with: "warning: pages are served on 127.0.0.1")
                #expect(warning.contains("cookies go to every port of this machine"))
                await visit.kept.keep(String(stolen))
            } afterwards: { device, stolen in
                let port = try #require(stolen.firstMatch(of: #/_(\d+)=/#)?.1)
                try await device.serving(port: ["--port", String(port)]) { page in
                    let answer = try await page.asking(with: stolen)
                    #expect(answer.status == 403, "\(answer)")
                }
            }
        }

        private func visiting(
            _ settings: [String] = [],
            _ body: @escaping @Sendable (Visit) async throws -> Void,
            afterwards: @escaping @Sendable (Device, _ kept: String) async throws -> Void = { _, _ in }
        ) async throws {
            try await World.with { world in
                let site = try await WebSite.make(in: world, [WebApp(1)])
                let device = try await site.settledDevice(server: "http://127.0.0.1:9")
                if let setting = settings.first { try await device("set", setting).done() }
                let kept = Kept()
                _ = try await running(.python, [Tool.script("upstream.py")]) { upstream in
                    _ = try await running(.python, [Tool.script("neighbour.py")]) { neighbour in
                        let options = ["--no-sync", "--proxy", "/api/.*=\(try await upstream.address())"]
                        let url = try await neighbour.address()
                        try await world.withBrowser { browser in
                            try await device.serving(options) { page in
                                let seen = try await Self.lead(browser, about: url, from: page)
                                try await body(Visit(page: page, seen: seen, kept: kept))
                            }
                        }
                    }
                }
                try await afterwards(device, await kept.text)
            }
        }

        /// - Returns: what the neighbour saw.
        private static func lead(_ browser: Browser, about url: String, from page: Page) async throws -> [String] {
            let app = browser.tab("app")
            try await app.open(try await page.program.address(), release: 1)
            #expect(try await app.run("fetch('/api/cookies').then(answer => answer.status)") == "200")
            try await app.run("document.cookie = 'lang=fr; path=/'")
            let echo = try await app.run("fetch('/api/echo').then(answer => answer.text())")
            #expect(echo.contains("session=1"), "the proxy's cookie is there: \(echo)")
            let visitor = browser.tab("visitor")
            let port = try #require(url.split(separator: ":").last)
            let hosts = [
                "127.0.0.1", "localhost", "[::1]", "app.localhost", "com.example.pipeline.localhost", "web.localhost",
            ]
            for host in hosts {
                try await visitor.open("http://\(host):\(port)/")
                try await visitor.wait(for: "window.done")
            }
            // Led on by the page itself, from host to host.
            for host in hosts {
                try await visitor.run("setTimeout(() => { location.href = 'http://\(host):\(port)/deeper' }); 0")
                try await visitor.wait(
                    for: "location.pathname === '/deeper' && location.hostname === '\(host)' && window.done"
                )
            }
            let seen = try await run(.system("curl"), ["-sS", "\(url)/seen"]).done().output.split(separator: "\n")
            for host in hosts {
                for what in ["GET / ", "GET /deeper ", "GET /image ", "POST /form ", "POST /beacon ", "GET /fetch "] {
                    #expect(seen.contains { $0.hasPrefix("\(host):\(port) \(what)") }, "\(host) \(what): \(seen)")
                }
            }
            return seen.map(String.init)
        }
    }
}

private struct Visit: Sendable {
    let page: Page
    /// Lines of Judges/neighbour.py.
    let seen: [String]
    fileprivate let kept: Kept
}

/// One text from one part of a test to the next.
private actor Kept {
    private(set) var text = ""

    func keep(_ text: String) { self.text = text }
}

extension Page {
    /// As a program that found a cookie does.
    fileprivate func asking(with cookie: String) async throws -> Answer {
        try await Page(device: device, program: program, address: url).get("/", "-b", cookie)
    }
}
