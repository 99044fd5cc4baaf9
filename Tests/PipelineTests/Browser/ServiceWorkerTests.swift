import PatchTesting
import SystemPackage
import Testing

extension BrowserTests {
    @Suite("A service worker of the app")
    struct ServiceWorkers {
        @Test(arguments: Worker.allCases)
        func `shows and confirms the new version at the next load`(_ worker: Worker) async throws {
            try await Scene.with([WebApp(1).under(worker), WebApp(2).under(worker)]) { scene in
                try await scene.openControlled()
                try await scene.stage(2, by: scene.tab)
                try await scene.tab.run("void patchline.switchToPending()")
                try await scene.tab.waitFor(release: 2)
                #expect(try await scene.tab.run("patchline.confirm()") == "confirmed")
                #expect(
                    try await scene.tab.run(
                        "patchline.status().then(({ running, onTrial }) => running + ' ' + onTrial)"
                    )
                        == "2.0.0 false"
                )
            }
        }

        @Test func `is set up by the page's recipes as it is here`() throws {
            let page = try read(Recipe.page)
            for settings in Recipe.settings { #expect(page.contains(settings)) }
        }

        @Test(arguments: [Worker.cacheFirst, .precache, .recipe])
        func `does not keep a version that was rolled back`(_ worker: Worker) async throws {
            let apps = [WebApp(1).under(worker), WebApp(2).under(worker)]
            try await Scene.with(apps, timeout: 3_000) { scene in
                try await scene.openControlled()
                try await scene.stage(2, by: scene.tab)
                try await scene.tab.run("void patchline.switchToPending()")
                let line = try await scene.page.program.line(with: "rolled back to")
                #expect(
                    line == "rolled back to web 1.0.0 from web 2.0.0: not confirmed before the startup timer ended"
                )
                try await scene.tab.waitFor(release: 1)
                #expect(try await scene.tab.run("patchline.confirm()") == "alreadyConfirmed")
            }
        }

        @Test func `that answers for the device makes confirm fail, which the console says`() async throws {
            try await Scene.with([WebApp(1)]) { scene in
                try await scene.tab.open(scene.url, release: 1)
                let failed = try await scene.tab.run(
                    """
                    (window.fetch = async () => new Response("<!doctype html>"), patchline.confirm()).catch(({ message }) => message)
                    """
                )
                #expect(
                    failed
                        == "confirm?page=STAMP: the device answered 200 without JSON".replacing(
                            "STAMP",
                            with: try await scene.tab.run("patchline.release")
                        )
                )
                let faults = try await scene.browser.faults()
                #expect(faults.count == 1 && faults[0].contains("this version is not confirmed"), "\(faults)")
            }
        }
    }

    @Suite("The event stream of a browser")
    struct SharedEvents {
        @Test func `is one for a page with eight frames and for another tab`() async throws {
            let app = WebApp(1).withFrames(8)
            try await Scene.with([app, WebApp(2)]) { scene in
                try await scene.tab.open(scene.url, release: 1)
                let other = scene.browser.tab("other")
                try await other.open(scene.origin + "/item/2", release: 1)
                try await scene.site.publish(2)
                #expect(try await other.run("patchline.checkForUpdates()") == "started")
                let everywhere = """
                    [window, ...Array.from(frames)].every(({ heard }) => heard.some(([name, what]) => name === "ready" && what === "2.0.0"))
                    """
                try await scene.tab.wait(for: everywhere)
                try await other.wait(for: everywhere)
                let streams = try await scene.browser.requests().filter {
                    $0.contains("/__patchline/events") && !$0.contains("wait=0")
                }
                #expect(streams.count == 1, "\(streams)")
                #expect(try await scene.tab.run("fetch('/app/late.json').then(({ status }) => status)") == "200")
            }
        }
    }
}

/// How a worker answers for its app's files.
enum Worker: String, CaseIterable, Sendable {
    /// From its cache, and asks the network for the next time.
    case staleWhileRevalidate
    /// Everything from its cache, if there; takes over at once.
    case cacheFirst
    /// Navigations from what it stored when it was installed; waits until the old one is gone.
    case precache
    /// The same without a way to the network. Its text never changes.
    case cacheOnly
    /// As the recipes of the page "Progressive web apps" set Workbox up: see ``Recipe``.
    case recipe

    func text(_ number: Int) -> String {
        switch self {
        case .staleWhileRevalidate:
            """
            oninstall = () => skipWaiting();
            onactivate = (event) => event.waitUntil(clients.claim());
            onfetch = (event) => {
              if (event.request.method !== "GET") return;
              event.respondWith(caches.open("all").then(async (cache) => {
                const kept = await cache.match(event.request, { ignoreSearch: event.request.mode === "navigate" });
                const asked = fetch(event.request).then((answer) => {
                  if (answer.ok && !answer.redirected) cache.put(event.request, answer.clone());
                  return answer;
                });
                return kept || asked;
              }));
            };

            """
        case .cacheFirst:
            """
            oninstall = (event) => event.waitUntil(caches.open("\(number)").then((cache) => cache.add("/")).then(() => skipWaiting()));
            onactivate = (event) => event.waitUntil(clients.claim());
            onfetch = (event) => {
              if (event.request.method !== "GET") return;
              const key = event.request.mode === "navigate" ? "/" : event.request;
              event.respondWith(caches.open("\(number)").then(async (cache) => await cache.match(key)
                || fetch(event.request).then((answer) => {
                  if (answer.ok) cache.put(key, answer.clone());
                  return answer;
                })));
            };

            """
        case .precache:
            """
            oninstall = (event) => event.waitUntil(caches.open("\(number)").then((cache) => cache.add("/")));
            onactivate = (event) => event.waitUntil(clients.claim());
            onfetch = (event) => {
              if (event.request.mode !== "navigate") return;
              event.respondWith(caches.open("\(number)").then((cache) => cache.match("/")).then((kept) => kept || fetch(event.request)));
            };

            """
        case .cacheOnly:
            """
            oninstall = (event) => event.waitUntil(caches.open("shell").then((cache) => cache.addAll(["/", "/app/part.js"])));
            onactivate = (event) => event.waitUntil(clients.claim());
            onfetch = (event) => {
              if (event.request.mode === "navigate") event.respondWith(caches.match("/"));
              else if (event.request.url.endsWith("/app/part.js")) event.respondWith(caches.match(event.request));
            };

            """
        case .recipe: Recipe.worker(number)
        }
    }
}

/// A worker with the behaviour that the page's settings ask of Workbox: `skipWaiting`, `clientsClaim`, `cleanupOutdatedCaches`,
/// `navigateFallback` and `navigateFallbackDenylist`.
///
/// Each file is stored under its revision, without cookies of its own, and every navigation is answered with the stored index.
private enum Recipe {
    static let page = Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/ProgressiveWebApps.md")
    static let settings = [
        #"navigateFallback: "/index.html", skipWaiting: true, clientsClaim: true, cleanupOutdatedCaches: true,"#,
        #"VitePWA({ registerType: "autoUpdate", workbox: { navigateFallbackDenylist: [/^\/__patchline\//] } })"#,
    ]

    static func worker(_ number: Int) -> String {
        """
        const name = "precache-v2", files = [["/index.html", "\(number)"], ["/app/part.js", "\(number)"]];
        const key = (path, revision) => path + "?__WB_REVISION__=" + revision, denied = [/^\\/__patchline\\//];
        oninstall = (event) => {
          skipWaiting();
          event.waitUntil(caches.open(name).then((cache) => Promise.all(files.map(async ([path, revision]) => {
            const answer = await fetch(new Request(path, { cache: "reload", credentials: "same-origin" }));
            if (!answer.ok) throw new Error("bad-precaching-response");
            await cache.put(key(path, revision), answer);
          }))));
        };
        onactivate = (event) => event.waitUntil(caches.open(name).then(async (cache) => {
          const kept = files.map(([path, revision]) => new URL(key(path, revision), location).href);
          for (const request of await cache.keys()) if (!kept.includes(request.url)) await cache.delete(request);
          await clients.claim();
        }));
        onfetch = (event) => {
          const { pathname } = new URL(event.request.url);
          const isPage = event.request.mode === "navigate" && !denied.some((pattern) => pattern.test(pathname));
          const file = files.find(([path]) => path === (isPage ? "/index.html" : pathname));
          if (file && event.request.method === "GET") event.respondWith(caches.match(key(...file)).then((kept) => kept || fetch(event.request)));
        };

        """
    }
}

extension WebApp {
    fileprivate func under(_ worker: Worker) -> WebApp {
        var app = self
        app["worker.js"] = worker.text(number)
        app["index.html"] += "<script>navigator.serviceWorker.register('/worker.js')</script>\n"
        return app
    }

    fileprivate func withFrames(_ count: Int) -> WebApp {
        var app = self
        app["frame.html"] = """
            <!doctype html><html lang="en"><head><script src="/__patchline/launch.js"></script></head>
            <script>window.heard = []; patchline.on("ready", ({ version }) => heard.push(["ready", version]));</script></html>

            """
        for _ in 0..<count { app["index.html"] += "<iframe src='/frame.html'></iframe>\n" }
        return app
    }
}

extension Scene {
    /// Opens release 1, and once more when its worker answers for pages.
    fileprivate func openControlled() async throws {
        try await tab.open(url, release: 1)
        try await tab.wait(for: "navigator.serviceWorker.controller !== null")
        try await tab.reload()
        try await tab.waitFor(release: 1)
    }
}
