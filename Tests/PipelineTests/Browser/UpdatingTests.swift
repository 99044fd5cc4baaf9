import FoundationEssentials
import SystemPackage
import Testing

extension BrowserTests {
    @Suite("An update under a page in a browser")
    struct Updating {
        @Test func `is heard of as it comes, and shown when the page switches`() async throws {
            var next = WebApp(2)
            next["app/large.txt"] = (0..<40_000).map { "line \($0 &* 2_654_435_761 & 0xFFFF_FFFF)\n" }.joined()
            try await Scene.with([WebApp(1), next]) { scene in
                try await scene.tab.open(scene.url, release: 1)
                try await scene.stage(2, by: scene.tab)
                try await scene.tab.wait(for: "heard.some(([name]) => name === 'checked')")
                let names = try await scene.tab.run(
                    "heard.map(([name]) => name).filter((name, i, all) => name !== all[i - 1])"
                )
                // What waits is noticed by a look at the store, beside the sync.
                let orders = [
                    #"["checking", "progress", "ready", "checked"]"#, #"["checking", "progress", "checked", "ready"]"#,
                    #"["checking", "progress", "ready", "progress", "checked"]"#,
                ]
                #expect(orders.contains(names), "\(names)")
                let text = try await scene.tab.run(
                    "heard.filter(([name]) => name === 'progress').map(([, percent]) => percent)"
                )
                let progress = try JSONDecoder().decode([Int].self, from: Data(text.utf8))
                #expect(
                    progress.count > 3 && progress.last == 100 && zip(progress, progress.dropFirst()).allSatisfy(<),
                    "\(progress)"
                )
                try await scene.tab.keep("update-is-ready")
                try await scene.tab.click("#switch")
                try await scene.tab.waitFor(release: 2)
                #expect(try await scene.tab.run("patchline.startupDidComplete()") == "confirmed")
                try await scene.tab.keep("update-is-shown")
                try await scene.expectNoFaults()
            }
        }

        @Test func `leaves another tab with the release that it came from`() async throws {
            try await Scene.with { scene in
                try await scene.tab.open(scene.url, release: 1)
                let other = scene.browser.tab("other")
                try await other.open(scene.origin + "/item/2", release: 1)
                try await scene.stage(2, by: scene.tab)
                try await scene.tab.run("void patchline.switchToPending()")
                try await scene.tab.waitFor(release: 2)
                try await scene.tab.run("patchline.startupDidComplete()")
                #expect(try await scene.tab.late() == "2 2")
                #expect(try await other.file() == "1")
                #expect(try await other.run("fetch('/app/only1.json').then(answer => answer.status)") == "200")
                #expect(
                    try await other.run("patchline.status().then(status => status.running + ' ' + status.current)")
                        == "1.0.0 2.0.0"
                )
                try await other.keep("older-tab")
                try await other.reload()
                try await other.waitFor(release: 2)
                #expect(try await other.late() == "2 2")
                try await scene.expectNoFaults()
            }
        }

        @Test func `that starts with the server replaces a page that stayed open meanwhile`() async throws {
            try await World.with { world in
                let site = try await WebSite.make(in: world, [WebApp(1), WebApp(2)])
                try await serving(site.data) { server in
                    let device = try await site.settledDevice(server: server)
                    try await device.takeFreePort()
                    try await world.withBrowser { browser in
                        try await device.serving(port: []) { page in
                            try await browser.tab().open(try await page.program.address(), release: 1)
                        }
                        try await site.publish(2)
                        try await device.sync().done()
                        try await device.serving(port: []) { _ in
                            try await browser.tab().waitFor(release: 2)
                            #expect(try await browser.tab().run("patchline.confirm()") == "confirmed")
                        }
                    }
                }
            }
        }

        @Test func `that never says that it works goes away under a page that a file led to, which is told so`()
            async throws
        {
            // Long enough for the trial to be seen before its end.
            try await Scene.byFile(timeout: 15_000) { scene in
                try await scene.tab.open(scene.url)
                try await scene.tab.waitFor(release: 1)
                try await scene.stage(2, by: scene.tab)
                try await scene.tab.run("void patchline.switchToPending()")
                try await scene.tab.waitFor(release: 2)
                try await scene.tab.keep("on-trial")
                try await scene.tab.waitFor(release: 1)
                let line = try await scene.page.program.line(with: "rolled back to")
                #expect(
                    line == "rolled back to web 1.0.0 from web 2.0.0: not confirmed before the startup timer ended"
                )
                try await scene.tab.keep("rolled-back")
                #expect(
                    try await scene.tab.run(
                        "patchline.status().then(({ running, pending, onTrial }) => [running, pending, onTrial])"
                    ) == #"["1.0.0", null, false]"#
                )
                try await scene.expectNoFaults()
            }
        }

        @Test func `that throws at its start goes away with its page's own error, which holds no secret`() async throws
        {
            var next = WebApp(2)
            next["app/main.js"] = "throw new Error('no cart at ' + location.href + '?token=secret');\n"
            try await Scene.with([WebApp(1), next], timeout: 3_000) { scene in
                try await scene.tab.open(scene.url, release: 1)
                try await scene.stage(2, by: scene.tab)
                try await scene.tab.run("void patchline.switchToPending()")
                let line = try await scene.page.program.line(with: "rolled back to")
                let error = "Uncaught Error: no cart at / (/app/main.js, line 1, column 7)"
                #expect(
                    line == "rolled back to web 1.0.0 from web 2.0.0: not confirmed before the startup timer ended; "
                        + "its page's first error: \(error)"
                )
                try await scene.tab.waitFor(release: 1)
                let reported = try await scene.tab.run("patchline.report().then(({ blocks }) => blocks[0])")
                #expect(
                    reported.contains("startup timer ended; its page's first error: \(error), until "),
                    "\(reported)"
                )
                let status = try await scene.device("status").done().output
                #expect(status.contains("\n  its page's first error: \(error)\n"), "\(status)")
                let log = try await scene.device("log").done().output
                #expect(log.contains("was rolled back: not confirmed before the startup timer ended; "), "\(log)")
                #expect(log.contains("\(error); back to web 1.0.0") && !log.contains("secret"), "\(log)")
                let faults = try await scene.browser.faults()
                #expect(!faults.isEmpty && faults.allSatisfy { $0.contains("no cart") }, "\(faults)")
            }
        }

        @Test func `and a restart of the server leave cookies and storage`() async throws {
            try await World.with { world in
                let site = try await WebSite.make(in: world, [WebApp(1), WebApp(2)])
                try await serving(site.data) { server in
                    let device = try await site.settledDevice(server: server)
                    try await device.takeFreePort()
                    try await world.withBrowser { browser in
                        let origin = try await device.serving([], port: []) { page in
                            let scene = Scene(
                                site: site,
                                device: device,
                                url: try await page.program.address(),
                                page: page,
                                browser: browser
                            )
                            try await scene.tab.open(scene.url, release: 1)
                            try await scene.tab.run(
                                "localStorage.cart = '3 pears'; document.cookie = 'lang=fr; max-age=3600; path=/'"
                            )
                            try await scene.stage(2, by: scene.tab)
                            try await scene.tab.run("void patchline.switchToPending()")
                            try await scene.tab.waitFor(release: 2)
                            try await scene.tab.run("patchline.startupDidComplete()")
                            #expect(
                                try await scene.tab.run("localStorage.cart + '; ' + document.cookie")
                                    == "3 pears; lang=fr"
                            )
                            try await scene.expectNoFaults()
                            return scene.origin
                        }
                        try await device.serving([], port: []) { page in
                            #expect(page.url == origin)
                            // The page that stayed open goes on, and hears of events again.
                            try await browser.tab().wait(
                                for: "fetch('/app/late.json').then(({ status }) => status === 200)"
                            )
                            // Its stream connects again some time after the first answer: asked until then.
                            try await browser.tab().run("heard.length = 0")
                            let hears = "heard.some(([name]) => name === 'checked')"
                            try await browser.tab().wait(for: "patchline.checkForUpdates().then(() => \(hears))")
                            _ = try await browser.faults()
                            try await browser.tab().open(origin + "/", release: 2)
                            #expect(
                                try await browser.tab().run("localStorage.cart + '; ' + document.cookie")
                                    == "3 pears; lang=fr"
                            )
                            try await browser.tab().keep("after-a-restart")
                            #expect(try await browser.faults() == [])
                        }
                    }
                }
            }
        }

        @Test func `comes through a service worker, and mixes no releases there`() async throws {
            try await Scene.with([WebApp(1).withServiceWorker(), WebApp(2).withServiceWorker()]) { scene in
                try await scene.tab.open(scene.url, release: 1)
                try await scene.tab.run(
                    "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 0)"
                )
                try await scene.tab.wait(for: "navigator.serviceWorker.controller !== null")
                #expect(try await scene.tab.worker() == "1")
                #expect(
                    try await scene.tab.run(
                        "caches.match('/app/late.json').then(a => a.json()).then(({ number }) => number)"
                    ) == "1"
                )
                #expect(try await scene.tab.late() == "1 1")
                let other = scene.browser.tab("other")
                try await other.open(scene.origin + "/item/2", release: 1)
                #expect(try await other.worker() == "1")

                try await scene.stage(2, by: scene.tab)
                try await scene.tab.run("void patchline.switchToPending()")
                try await scene.tab.waitFor(release: 2)
                try await scene.tab.run("patchline.startupDidComplete()")
                #expect(try await scene.tab.late() == "2 2")
                #expect(try await other.file() == "1")

                // Again and again: what is asked for during the browser's own look for a new worker is answered by that look.
                try await scene.tab.wait(
                    for: """
                        navigator.serviceWorker.ready
                          .then((found) => found.waiting ? found : found.update())
                          .then((found) => found.waiting !== null)
                        """
                )
                try await scene.tab.run(
                    """
                    new Promise((done) => {
                      navigator.serviceWorker.addEventListener("controllerchange", () => done(0));
                      navigator.serviceWorker.ready.then((found) => found.waiting.postMessage("skip waiting"));
                    })
                    """
                )
                #expect(try await scene.tab.worker() == "2")
                #expect(try await scene.tab.late() == "2 2")
                try await scene.tab.keep("service-worker")
                try await scene.expectNoFaults()
            }
        }
    }
}

extension Browser.Tab {
    /// From which release a file comes that the open page asks for only now.
    fileprivate func file() async throws -> String {
        try await run("fetch('/app/late.json').then((answer) => answer.json()).then(({ number }) => number)")
    }

    /// From which releases a script and a file come that the open page asks for only now.
    fileprivate func late() async throws -> String {
        try await run(
            """
            Promise.all([lazy(), fetch("/app/late.json").then((answer) => answer.json())])
              .then(([script, file]) => script.number + " " + file.number)
            """
        )
    }

    /// From which release the worker comes that answers for the page.
    fileprivate func worker() async throws -> String { try await run("worker()") }
}

extension WebApp {
    /// A worker that keeps one file and asks for the others.
    ///
    /// It takes over when a page tells it to, which is quiet then: Chromium leaves a worker waiting for good where the one before is
    /// asked for something just as it is activated.
    fileprivate func withServiceWorker() -> WebApp {
        var app = self
        app["worker.js"] = """
            const number = \(number);
            addEventListener("install", (event) => {
              event.waitUntil(caches.open("release" + number).then((cache) => cache.add("/app/late.json")));
            });
            addEventListener("activate", (event) => event.waitUntil(clients.claim()));
            addEventListener("fetch", (event) => {
              if (new URL(event.request.url).pathname !== "/__patchline/events") event.respondWith(fetch(event.request));
            });
            addEventListener("message", (event) => {
              if (event.data === "skip waiting") skipWaiting();
              else event.ports[0].postMessage(number);
            });

            """
        app["index.html"] += """
            <script>window.worker = () => new Promise((done) => {
              setTimeout(done, 1000, "a worker that went takes its messages with it");
              const channel = new MessageChannel();
              channel.port1.onmessage = (event) => done(event.data);
              navigator.serviceWorker.controller.postMessage("", [channel.port2]);
            });</script>

            """
        return app
    }
}

extension Device {
    /// As if its app's own port had been one that is free now.
    fileprivate func takeFreePort() async throws {
        let port = try await serving { page in String(page.url.split(separator: ":").last ?? "") }
        let file = store.appending("config.json")
        let text = try read(file)
        #expect(!text.contains("\"port\""))
        try write(text.replacing(#/^\{/#, with: "{\"port\":\(port),"), to: file)
    }
}
