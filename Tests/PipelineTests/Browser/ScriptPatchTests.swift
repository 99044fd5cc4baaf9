import FoundationEssentials
import SystemPackage
import Testing

extension BrowserTests {
    /// The shop of `Patches/`, as a person sees it.
    @Suite("The sample shop in a browser")
    struct ScriptPatches {
        /// Three tumblers with the multi-buy discount, and shipping: the shop itself rounds each discount.
        private static let wrong = "€59.75"
        private static let right = "€59.76"

        @Test func `shows a wrong total, the right one with its script patch, and never one of altered bytes`()
            async throws
        {
            try await World.with { world in
                let site = world.path("site")
                let (bare, fixed) = (world.path("bare"), world.path("fixed"))
                try await Self.shop(to: bare, with: nil)
                try await Self.shop(to: fixed, with: "1", place: ", runsIn: page")
                try await world.makeSite(site, keys: world.shop.keys)
                try await world.release(bare, to: "release1").done()
                try await world.release(fixed, to: "release2", previous: world.path("release1")).done()
                try await world.publish(world.path("release1"), to: site).done()
                try await serving(site) { server in
                    let device = try await world.newDevice(server: server)
                    try await device.sync().done()
                    try await world.withBrowser { browser in
                        try await device.serving { page in
                            let tab = browser.tab()
                            #expect(try await tab.open(try await page.program.address()) == 200)
                            _ = try await page.program.line(with: "confirmed: web 1.0.0")
                            let cart = #"[{"id":"field-tumbler","quantity":3}]"#
                            try await tab.run("localStorage.setItem('storefront.cart', '\(cart)')")
                            try await tab.expect(total: Self.wrong, at: page.url)

                            try await world.publish(world.path("release2"), to: site).done()
                            try await device.sync().done()
                            try await tab.run("void patchline.switchToPending()")
                            _ = try await page.program.line(with: "confirmed: fix-cart-total 1, web 1.0.0")
                            try await tab.expect(total: Self.right, at: page.url)
                            try await tab.keep("shop-patched")
                            #expect(try await browser.faults() == [])

                            let status = try await device("status", "--json").done().output
                            let file = try #require(DeviceCommandTests.file(of: "fix-cart-total", "1", in: status))
                            try await run(.system("chmod"), ["u+w", file.string]).done()
                            try write("defineClass('Cart', { total: () => ({ total: 1 }) });\n", to: file)
                            try await tab.expect(total: Self.wrong, at: page.url)
                            let faults = try await browser.faults()
                            #expect(
                                faults.contains { $0.contains("fix-cart-total 1: could not be loaded") },
                                "\(faults)"
                            )
                            try await device.sync().done()
                            try await tab.expect(total: Self.right, at: page.url)
                        }
                    }
                }
            }
        }

        @Test func `does not confirm a version whose script patch throws`() async throws {
            try await World.with { world in
                let site = world.path("site")
                let source = world.path("source")
                try await Self.shop(to: source, with: "1")
                try write("throw new Error('no fix at all');\n", to: source.appending("scripts/fix-cart-total.js"))
                try await world.makeSite(site, keys: world.shop.keys)
                try await world.release(source, to: "release1").done()
                try await world.publish(world.path("release1"), to: site).done()
                try await serving(site) { server in
                    let device = try await world.newDevice(server: server)
                    try await device.sync().done()
                    try await world.withBrowser { browser in
                        try await device.serving { page in
                            #expect(try await browser.tab().open(try await page.program.address()) == 200)
                            try await browser.tab().wait(for: "document.querySelector('.card') !== null")
                            let faults = try await browser.faults()
                            #expect(faults.contains { $0.contains("fix-cart-total 1: Uncaught Error") }, "\(faults)")
                            #expect(
                                try await browser.tab().run("patchline.status().then(({ onTrial }) => onTrial)")
                                    == "true"
                            )
                        }
                    }
                }
            }
        }

        /// The first release of the shop for the tests' app, with this version of the fix or without it.
        private static func shop(to folder: FilePath, with fix: String?, place: String = "") async throws {
            try await copy(Tool.repository.appending("Patches/storefront/v1"), to: folder)
            let script = fix.map {
                "  - {id: fix-cart-total, kind: script, version: \"\($0)\", file: scripts/fix-cart-total.js\(place)}\n"
            }
            try write(
                """
                app: \(Workshop.app)
                channel: production
                patches:
                \(script ?? "")  - {id: web, kind: bundle, version: 1.0.0, folder: web, index: index.html, routes: ["/", "/cart"]}

                """,
                to: folder.appending("release.yaml")
            )
        }
    }
}

extension Browser.Tab {
    /// What the shop's cart comes to.
    fileprivate func expect(total: String, at origin: String, location: SourceLocation = #_sourceLocation) async throws
    {
        try await open(origin + "/cart")
        try await wait(for: "document.querySelector('dd.sum') !== null")
        let shown = try await run("document.querySelector('dd.sum').textContent")
        #expect(shown == total, sourceLocation: location)
    }
}
