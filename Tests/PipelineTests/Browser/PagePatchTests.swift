import FoundationEssentials
import SystemPackage
import Testing

extension BrowserTests {
    /// A script patch that the device puts into a page, as a person sees it.
    @Suite("A script patch in a page in a browser")
    struct PagePatches {
        /// The strictest policy that lets the page's own files run.
        private static let strict = [
            "--no-sync", "--header",
            "Content-Security-Policy: default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'",
        ]
        private static let fix = """
            defineClass("CartController", {
              total() { return this.ORIGtotal() + this.prices.slice(1).reduce((sum, price) => sum + price, 0); },
            });

            """

        @Test
        func `mends a wrong total under a strict policy before the page's own scripts, and is gone with the next load`()
            async throws
        {
            try await Self.with([nil, Self.fix]) { shop in
                try await shop.tab.open(shop.address)
                try await shop.expect("10")
                try await shop.publish(2)
                try await shop.tab.run("void patchline.switchToPending()")
                _ = try await shop.page.program.line(with: "confirmed: fix 2, web 1")
                try await shop.expect("60")
                // Behind the release stamp.
                #expect(
                    try await shop.tab.run("document.querySelectorAll('head > script')[1].src").contains("/language.js")
                )
                // It was put in already.
                #expect(try await shop.tab.run("patchline.loadScripts().then(() => document.scripts.length)") == "5")
                try await shop.tab.keep("page-patched")
                try await shop.withdraw()
                try await shop.tab.run("void patchline.switchToPending()")
                try await shop.expect("10")
                let faults = try await shop.browser.faults()
                #expect(faults == [])
            }
        }

        @Test func `of other bytes than the signed ones is refused by the browser, and the page goes on`() async throws
        {
            try await Self.with([Self.fix]) { shop in
                try await shop.tab.open(shop.address)
                try await shop.expect("60")
                try await shop.tab.alter(
                    "**/scripts/fix.js*",
                    "defineClass('CartController', { total() { return 0; } });"
                )
                try await shop.tab.reload()
                try await shop.expect("10")
                _ = try await shop.page.program.line(with: "trouble: fix 1 was not loaded by a page")
                let faults = try await shop.browser.faults()
                #expect(faults.contains { $0.contains("digest in the 'integrity' attribute") }, "\(faults)")
            }
        }

        @Test(arguments: [
            ("missing.thing();\n", "ReferenceError: missing is not defined (line 1, column 1)"),
            // A word of the language throws it: whoever said the word is to blame.
            (" require(5);\n", "TypeError: require expects names of classes (line 1, column 2)"),
        ])
        func `that throws stops no other, and ends its trial at once`(_ script: String, _ error: String) async throws {
            try await Self.with([Self.fix, script]) { shop in
                try await shop.tab.open(shop.address)
                _ = try await shop.page.program.line(with: "confirmed: fix 1, web 1")
                try await shop.publish(2)
                // Its page does not confirm by itself.
                try await shop.tab.run("localStorage.setItem('waits', 'yes')")
                try await shop.tab.run("void patchline.switchToPending()")
                _ = try await shop.page.program.line(
                    with: "trouble: fix 2 failed in a page: Uncaught \(error)"
                )
                _ = try await shop.page.program.line(with: "rolled back to fix 1, web 1 from fix 2, web 1")
                try await shop.expect("60")
                let status = try await shop.device("status").done().output
                #expect(status.contains("fix 2: a script of it failed; next try after 20"), "\(status)")
            }
        }

        /// None of them says a word of the language while its script is evaluated, but the second.
        @Test func `that throws later, once it is confirmed, is told alone`() async throws {
            let script = """
                addEventListener("timer", () => setTimeout(() => timerGone(), 0));
                dispatch_after(1, () => waitGone());
                addEventListener("click", () => clickGone());
                addEventListener("promise", async () => promiseGone());

                """
            try await Self.with([script]) { shop in
                try await shop.tab.open(shop.address)
                _ = try await shop.page.program.line(with: "confirmed: fix 1, web 1")
                func expect(_ name: String, line: Int) async throws {
                    let reported = try await shop.page.program.line(with: "\(name) is not defined")
                    #expect(reported.hasPrefix("trouble: fix 1 failed in a page: "), "\(reported)")
                    #expect(
                        reported.contains("ReferenceError: \(name) is not defined (line \(line), column "),
                        "\(reported)"
                    )
                }
                try await expect("waitGone", line: 2)
                for (event, name, line) in [
                    ("timer", "timerGone", 1), ("click", "clickGone", 3), ("promise", "promiseGone", 4),
                ] {
                    try await shop.tab.run("void dispatchEvent(new Event('\(event)'))")
                    try await expect(name, line: line)
                }
                // Of a page that was loaded after the confirmation, which belongs to no trial.
                try await shop.tab.reload()
                try await shop.expect("10")
                try await shop.tab.run("void dispatchEvent(new Event('click'))")
                try await expect("clickGone", line: 3)
                let failed = try await shop.tab.run(
                    "patchline.status().then(({ failedScripts }) => failedScripts.length)"
                )
                #expect(failed == "1")
                let status = try await shop.device("status").done().output
                #expect(status.contains("settled") && !status.contains("failed"), "\(status)")
            }
        }

        @Test func `keeps to its own names in a page that takes them, which is said`() async throws {
            let page = """
                "use strict";
                const patchline = { expose: (name, target) => target };
                window.patchline = patchline;
                var defineClass = "the page's own";
                """
            try await Self.with([Self.fix], page: page) { shop in
                try await shop.tab.open(shop.address)
                try await shop.expect("10")
                let faults = try await shop.browser.faults()
                #expect(
                    faults.contains {
                        $0.contains(
                            "patchline: this page has a patchline.expose, defineClass of its own; its script patches see"
                        )
                    },
                    "\(faults)"
                )
            }
        }

        private struct Shop: Sendable {
            let world: World
            let site: FilePath
            let device: Device
            let page: Page
            let address: String
            let browser: Browser
            var tab: Browser.Tab { browser.tab() }

            func publish(_ number: Int) async throws {
                try await world.publish(world.path("release\(number)"), to: site).done()
                try await device.sync().done()
            }

            func withdraw() async throws {
                let (two, three) = (world.path("release2").string, world.path("release3").string)
                let keys = world.shop.keys.string
                try await world.sign("withdraw", "fix", "--previous", two, "--keys", keys, "--output", three).done()
                try await publish(3)
            }

            func expect(_ total: String, location: SourceLocation = #_sourceLocation) async throws {
                try await tab.wait(for: "document.getElementById('total')?.textContent === '\(total)'")
            }
        }

        /// One release for each script, nil where there is none; the first is published and on the device.
        private static func with(
            _ scripts: [String?],
            page own: String = "",
            _ body: @escaping @Sendable (Shop) async throws -> Void
        ) async throws {
            try await World.with { world in
                let site = world.path("site")
                try await world.makeSite(site, keys: world.shop.keys)
                for (index, script) in scripts.enumerated() {
                    let number = index + 1
                    let source = world.path("source\(number)")
                    try shop(in: source, own: own, script: script, version: number)
                    let previous = index == 0 ? nil : world.path("release\(index)")
                    try await world.release(source, to: "release\(number)", previous: previous).done()
                }
                try await world.publish(world.path("release1"), to: site).done()
                try await serving(site) { server in
                    let device = try await world.newDevice(server: server)
                    try await device.sync().done()
                    try await world.withBrowser { browser in
                        try await device.serving(strict) { page in
                            let address = try await page.program.address()
                            try await body(
                                Shop(
                                    world: world,
                                    site: site,
                                    device: device,
                                    page: page,
                                    address: address,
                                    browser: browser
                                )
                            )
                        }
                    }
                }
            }
        }

        private static func shop(in folder: FilePath, own: String, script: String?, version: Int) throws {
            let web = folder.appending("web")
            try FileManager.default.createDirectory(atPath: web.string, withIntermediateDirectories: true)
            try write(
                """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><title>Cart</title>
                <script src="/__patchline/launch.js"></script><script src="/app.js"></script></head>
                <body><p>Your cart: €<span id="total"></span></p></body></html>

                """,
                to: web.appending("index.html")
            )
            try write(
                """
                \(own)
                // Counts the first line alone.
                const cart = patchline.expose("CartController", {
                  prices: [10, 20, 30],
                  total() { return this.prices[0]; },
                });
                addEventListener("load", () => {
                  document.getElementById("total").textContent = cart.total();
                  if (localStorage.getItem("waits") !== "yes") patchline.confirm?.();
                });

                """,
                to: web.appending("app.js")
            )
            let entry = script.map { _ in
                "  - {id: fix, kind: script, version: \"\(version)\", file: fix.js, runsIn: page, pages: [/, /cart]}\n"
            }
            if let script { try write(script, to: folder.appending("fix.js")) }
            try write(
                """
                app: \(Workshop.app)
                channel: production
                patches:
                \(entry ?? "")  - {id: web, kind: bundle, version: "1", folder: web, routes: ["/", "/cart"]}

                """,
                to: folder.appending("release.yaml")
            )
        }
    }
}
