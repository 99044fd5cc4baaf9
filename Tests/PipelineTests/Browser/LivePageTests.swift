import FoundationEssentials
import PatchFormat
import SystemPackage
import Testing

extension BrowserTests {
    /// Judges/pages.py behind `patchsync serve --proxies`, whose rule keeps pages.
    @Suite("A live page in a browser")
    struct LivePages {
        private struct Sight: Sendable {
            let page: Page
            let browser: Browser
            let device: Device
            var tab: Browser.Tab { browser.tab() }

            /// Changes the page at its server.
            func show(_ change: String) async throws {
                let answer = try await page.get("/live/show?\(change)")
                #expect(answer.status == 200)
            }

            func go() async throws { _ = try await page.get("/live/go") }

            /// The page's requests that its server had.
            func asked() async throws -> [String] {
                try await page.get("/live/asked").body.split(separator: "\n").map(String.init)
            }

            @discardableResult
            func open() async throws -> Int? { try await tab.open(page.url + "/live/page") }

            /// Opens a page as it was kept while its server, which is not done yet, has another number in the cart.
            ///
            /// - Parameter script: runs in the page that is shown.
            func openKept(_ body: String, _ script: String = "") async throws {
                try await show("body=\(body)&cart=50")
                try await open()
                try await show("cart=51&hold=1")
                try await open()
                #expect(try await tab.run("document.title") == "Cart 50")
                try await tab.run("window.stays = true; \(script)")
            }

            /// Once all is known of the visit.
            func wait(code: Int) async throws { try await tab.wait(for: "window.told?.code === \(code)") }
        }

        private func seeing(_ body: @escaping @Sendable (Sight) async throws -> Void) async throws {
            try await World.with { world in
                let device = try await world.settledDevice(server: "http://127.0.0.1:1")
                _ = try await running(.python, [Tool.script("pages.py")]) { pages in
                    let rules = """
                        {"format": "patchline-proxies-v1", "rules": [
                          {"pattern": "/live/.*", "to": ["\(try await pages.address())"], "pages": {}}]}
                        """
                    let file = world.path("proxies.json")
                    try rules.write(toFile: file.string, atomically: false, encoding: .utf8)
                    try await world.withBrowser { browser in
                        try await device.serving(["--no-sync", "--proxies", file.string]) { page in
                            let sight = Sight(page: page, browser: browser, device: device)
                            try await sight.tab.open(try await page.program.address())
                            try await body(sight)
                        }
                    }
                }
            }
        }

        @Test func `shows what is kept first, and the changed blocks after, without loading it again`() async throws {
            try await seeing { sight in
                #expect(try await sight.open() == 200)
                #expect(try await sight.tab.run("document.getElementById('cart').textContent") == "1")
                // The first visit is kept by the time that its page is told of it.
                try await sight.tab.wait(
                    for: "performance.getEntriesByType('resource').some((entry) => entry.name.includes('/page?'))"
                )
                let status = try await sight.device("status").done().output
                let json = try await sight.device("status", "--json").done().output
                let bytes = try #require(
                    json.firstMatch(of: #/"livePages":{"linkBytes":0,"links":0,"pageBytes":(\d+),"pages":1}/#)?.1
                )
                let words = Words.bytes(try #require(Int(bytes)))
                #expect(
                    status.contains("live pages: 1 kept (\(words)), and 0 files that they link to (0 bytes)\n"),
                    "\(status)"
                )
                try await sight.show("cart=2&hold=1")
                #expect(try await sight.open() == 200)
                #expect(try await sight.tab.run("document.getElementById('cart').textContent") == "1")
                #expect(try await sight.tab.run("document.title") == "Cart 1")
                try await sight.tab.keep("live-page-kept")
                try await sight.tab.run(
                    "window.stays = true; addEventListener('patchline:page', ({ detail }) => { window.told = detail; })"
                )
                try await sight.go()
                try await sight.wait(code: 200)
                try await sight.tab.wait(for: "document.getElementById('cart').textContent === '2'")
                #expect(try await sight.tab.run("document.title + window.stays") == "Cart 2true")
                // A script in what was put into the page does not run.
                #expect(try await sight.tab.run("window.ran") == "1")
                #expect(try await sight.tab.run("Object.keys(told.result).join()") == "{cart},{title}")
                try await sight.tab.keep("live-page-changed")
                #expect(try await sight.asked().count == 2)
                let faults = try await sight.browser.faults()
                #expect(faults == [])
            }
        }

        @Test func `leaves a change to a page that takes it itself`() async throws {
            try await seeing { sight in
                try await sight.open()
                try await sight.show("cart=2&hold=1")
                try await sight.open()
                try await sight.tab.run(
                    """
                    addEventListener("patchline:page", (event) => { event.preventDefault(); window.told = event.detail; })
                    """
                )
                try await sight.go()
                try await sight.wait(code: 200)
                #expect(try await sight.tab.run("document.getElementById('cart').textContent") == "1")
            }
        }

        @Test func `is loaded again once for a new template`() async throws {
            try await seeing { sight in
                try await sight.open()
                try await sight.show("template=new&hold=1")
                try await sight.open()
                #expect(try await sight.tab.run("document.querySelector('h1').textContent") == "shop")
                try await sight.go()
                try await sight.tab.wait(for: "document.querySelector('h1').textContent === 'new'")
                try await sight.tab.wait(for: "sessionStorage.length === 0")
                #expect(try await sight.asked().count == 3, "once for each time that it was opened, and once again")
                let faults = try await sight.browser.faults()
                #expect(faults == [])
            }
        }

        @Test func `ends a changed block where its server does: at the first end of any name`() async throws {
            try await seeing { sight in
                try await sight.openKept("nested")
                try await sight.go()
                try await sight.tab.wait(for: "document.title === 'Cart 51' && window.stays")
                let block = "<!--sonicdiff-cart-->51 <!--sonicdiff-in-->x<!--sonicdiff-in-end-->"
                #expect(
                    try await sight.tab.run("document.getElementById('cart').innerHTML")
                        == "\(block) articles<!--sonicdiff-cart-end-->"
                )
                #expect(try await sight.asked().count == 2)
            }
        }

        @Test func `changes a block without a name in place, also where another one is gone by then`() async throws {
            try await seeing { sight in
                try await sight.openKept("unnamed", "document.getElementById('ad').remove()")
                try await sight.go()
                try await sight.tab.wait(for: "document.title === 'Cart 51' && window.stays")
                #expect(
                    try await sight.tab.run("[...document.querySelectorAll('p')].map((p) => p.textContent).join()")
                        == "word,51"
                )
                #expect(try await sight.asked().count == 2)
            }
        }

        @Test func `changes its title in place beside those of drawings`() async throws {
            try await seeing { sight in
                try await sight.openKept("titled")
                try await sight.go()
                try await sight.tab.wait(for: "document.title === 'Cart 51' && window.stays")
                #expect(try await sight.tab.run("document.querySelector('svg').textContent") == "a drawing")
                #expect(try await sight.asked().count == 2)
            }
        }

        @Test(arguments: [
            ("crossing", "", "51 x articles"), ("hidden", "", "51"), ("stamped", "", "51"), ("drawing", "", "51"),
            ("titled", "document.querySelector('title').textContent = 'on\\ntwo lines'", "51"),
            ("titled", "document.body.append(document.querySelector('title'))", "51"),
            ("unnamed", "document.getElementById('cart').remove()", "51"),
        ])
        func `is loaded again where a changed block cannot be told from all others`(
            body: String,
            script: String,
            cart: String
        ) async throws {
            try await seeing { sight in
                try await sight.openKept(body, script)
                try await sight.go()
                try await sight.tab.wait(for: "document.title === 'Cart 51' && !window.stays")
                try await sight.tab.wait(for: "document.getElementById('cart')?.textContent === '\(cart)'")
                #expect(try await sight.asked().count == 3, "once for each time that it was opened, and once again")
            }
        }

        @Test func `in two tabs is asked for once, and changes in both`() async throws {
            try await seeing { sight in
                try await sight.open()
                try await sight.show("cart=2&hold=1")
                try await sight.open()
                let second = sight.browser.tab("second")
                try await second.open(sight.page.url + "/live/page")
                #expect(try await second.run("document.getElementById('cart').textContent") == "1")
                try await sight.go()
                for tab in [sight.tab, second] {
                    try await tab.wait(for: "document.getElementById('cart').textContent === '2'")
                }
                #expect(try await sight.asked().count == 2)
            }
        }
    }
}
