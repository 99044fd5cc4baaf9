import SystemPackage
import Testing

extension BrowserTests {
    @Suite("A first launch in a browser")
    struct FirstLaunch {
        @Test func `shows how far the app has come, and then the app`() async throws {
            try await launching { line, browser, url in
                try line.carry("60000")
                #expect(try await browser.tab().open(url) == 503)
                try await browser.tab().wait(for: "document.getElementById('progress').value > 0")
                let percent = try await browser.tab().run("document.getElementById('percent').textContent")
                #expect(try #/[1-9]\d? %/#.wholeMatch(in: percent) != nil, "\(percent)")
                #expect(try await browser.tab().run("document.getElementById('text').textContent") == "Downloading…")
                try await browser.tab().keep("first-launch-downloading")
                try line.carry("open")
                try await browser.tab().waitFor(release: 1)
                try await browser.tab().keep("first-launch-done")
            }
        }

        @Test func `says what is wrong without a network, and tries again when it is asked to`() async throws {
            try await launching { line, browser, url in
                let tab = browser.tab()
                try line.carry("closed")
                #expect(try await tab.open(url) == 503)
                try await tab.wait(for: "document.getElementById('actions').hidden === false")
                #expect(
                    try await tab.run("document.getElementById('title').textContent") == "The app could not be loaded"
                )
                #expect(
                    try await tab.run("document.getElementById('text').textContent").hasPrefix(
                        "Check the network connection"
                    )
                )
                #expect(try await tab.run("document.getElementById('why').textContent") != "")
                #expect(try await tab.run("document.getElementById('download').hidden") == "true")
                try await tab.keep("first-launch-offline")
                try await tab.click("#copy")
                try await tab.wait(for: "document.getElementById('copy').textContent === 'Copied'")
                let report = try await tab.run("navigator.clipboard.readText()")
                #expect(
                    report.contains(#""app":"com.example.pipeline""#) && report.contains(#""event":"failed""#),
                    "\(report)"
                )
                let token = try #require(url.split(separator: "=").last)
                #expect(!report.contains(token), "\(report)")
                try await tab.keep("first-launch-copied")
                try line.carry("open")
                try await tab.click("#retry")
                try await tab.waitFor(release: 1)
            }
        }

        /// A device that holds nothing yet, behind a line that is told what to carry.
        private func launching(
            _ body: @escaping @Sendable (Line, Browser, _ url: String) async throws -> Void
        ) async throws {
            try await World.with { world in
                var app = WebApp(1)
                app["app/large.txt"] = (0..<20_000).map { "line \($0 &* 2_654_435_761 & 0xFFFF_FFFF)\n" }.joined()
                let site = try await WebSite.make(in: world, [app])
                try await serving(site.data) { server in
                    try await world.withLine(to: server) { line in
                        let device = try await world.newDevice(server: line.url)
                        try await world.withBrowser { browser in
                            try await device.serving([]) { page in
                                try await body(line, browser, try await page.program.address())
                                let faults = try await browser.faults()
                                // The page that stands in for the app says so by its status.
                                #expect(faults.allSatisfy { $0.contains("status of 503") }, "\(faults)")
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What lies between a device and its server: Judges/line.py.
struct Line: Sendable {
    let url: String
    fileprivate let control: FilePath

    /// `open`, `closed`, or how many bytes in all.
    func carry(_ what: String) throws { try write(what, to: control) }
}

extension World {
    fileprivate func withLine(
        to server: String,
        _ body: @escaping @Sendable (Line) async throws -> Void
    ) async throws {
        let control = path("line")
        try write("closed", to: control)
        _ = try await running(.python, [Tool.script("line.py"), server, control.string]) { program in
            try await body(Line(url: try await program.address(), control: control))
        }
    }
}
