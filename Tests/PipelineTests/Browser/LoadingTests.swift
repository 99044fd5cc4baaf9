import FoundationEssentials
import Testing

extension BrowserTests {
    @Suite("A page in a browser")
    struct Loading {
        @Test func `opens by the URL that is printed, hides its token, and gets all that it asks for`() async throws {
            try await Scene.with { scene in
                try await scene.tab.open(scene.url, release: 1)
                #expect(try await scene.tab.run("location.href") == "\(scene.origin)/")
                let token = try #require(scene.url.split(separator: "=").last)
                #expect(
                    try await scene.tab.run("document.cookie + document.documentElement.outerHTML").contains(token)
                        == false
                )
                let requests = try await scene.browser.requests()
                #expect(requests.prefix(2) == ["303 /?cdvToken=\(token)", "200 /"])
                for path in ["/app/style.css", "/app/main.js", "/app/part.js", "/img/icon.svg", "/__patchline/events"] {
                    #expect(requests.contains("200 \(path)"), "\(requests)")
                }
                try await scene.tab.keep("loaded")
                try await scene.expectNoFaults()
            }
        }

        @Test func `of somebody else who has no token is refused`() async throws {
            try await Scene.with { scene in
                try await scene.tab.open(scene.url, release: 1)
                let stranger = scene.browser.tab("stranger", profile: "stranger")
                #expect(try await stranger.open(scene.origin + "/") == 403)
                #expect(try await stranger.run("document.body.innerText").hasPrefix("Only the app has access"))
                try await stranger.keep("refused")
                #expect(try await stranger.run("fetch('/app/main.js').then(a => a.status)") == "403")
            }
        }

        @Test func `goes on at a client-side route after a reload`() async throws {
            try await Scene.with { scene in
                try await scene.tab.open(scene.url, release: 1)
                try await scene.tab.run("history.pushState({}, '', '/shop/item/7?size=m#top')")
                try await scene.tab.reload()
                try await scene.tab.waitFor(release: 1)
                #expect(try await scene.tab.run("location.href") == "\(scene.origin)/shop/item/7?size=m#top")
                #expect(try await scene.tab.run("document.getElementById('route').textContent") == "/shop/item/7")
                try await scene.tab.keep("client-side-route")
                try await scene.expectNoFaults()
            }
        }

        @Test func `seeks in a recording without fetching what lies between`() async throws {
            var app = WebApp(1)
            app.files["sound.wav"] = WebApp.recording(seconds: 600)
            try await Scene.with([app]) { scene in
                try await scene.tab.open(scene.url, release: 1)
                try await scene.tab.run(
                    """
                    window.sound = new Audio(); sound.preload = "metadata"; sound.src = "/sound.wav";
                    new Promise((done, failed) => { sound.onloadedmetadata = () => done(0); sound.onerror = failed; })
                    """
                )
                #expect(try await scene.tab.run("sound.duration") == "600")
                _ = try await scene.browser.requests()
                try await scene.tab.run(
                    "new Promise(done => { sound.onseeked = () => done(0); sound.currentTime = 590 })"
                )
                #expect(try await scene.tab.run("sound.currentTime") == "590")
                #expect(try await scene.browser.requests() == ["206 /sound.wav"])
                try await scene.expectNoFaults()
            }
        }

        @Test func `of 300 files asks after an update only for what may have changed`() async throws {
            try await Scene.with([WebApp(1).with300Files(), WebApp(2).with300Files()]) { scene in
                try await scene.tab.open(scene.url, release: 1)
                #expect(try await scene.tab.run("count") == "300")
                let first = try await scene.browser.requests().filter { $0.contains(" /many/") }
                #expect(first.count == 300 && first.allSatisfy { $0.hasPrefix("200 ") }, "\(first)")
                try await scene.tab.keep("300-files")
                try await scene.stage(2, by: scene.tab)
                _ = try await scene.browser.requests()
                try await scene.tab.run("void patchline.switchToPending()")
                try await scene.tab.waitFor(release: 2)
                let again = try await scene.browser.requests().filter { $0.contains(" /many/") }
                let (asked, changed) = (again.filter { $0.hasPrefix("304 ") }, again.filter { $0.hasPrefix("200 ") })
                #expect(asked.count == 50 && changed.count == 20 && again.count == 70, "\(again)")
                try await scene.expectNoFaults()
            }
        }
    }
}

extension WebApp {
    /// 8,000 samples a second of 8 bits: a sawtooth.
    static func recording(seconds: Int) -> Data {
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let size = seconds * 8_000
        let format = little(1, 2) + little(1, 2) + little(8_000, 4) + little(8_000, 4) + little(1, 2) + little(8, 2)
        let head = Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
        var recording = Data(head + Array("data".utf8) + little(size, 4))
        let tooth = Data(0...255)
        while recording.count < 44 + size { recording.append(tooth.prefix(44 + size - recording.count)) }
        return recording
    }

    /// 240 scripts whose URLs name their content, and 60 under plain URLs; of both, 10 differ from release to release.
    func with300Files() -> WebApp {
        var app = self
        app.cacheable = ["many/named/*"]
        for file in 0..<300 {
            let isNamed = file < 240
            let edition = file % (isNamed ? 24 : 6) == 0 ? number : 0
            // A bundler's name with a hash of the content.
            let path = isNamed ? "many/named/\(file).3f9a1c0\(edition).js" : "many/plain/\(file).js"
            app[path] = "window.count = (window.count ?? 0) + 1 // edition \(edition)\n"
            app["index.html"] += "<script src=\"/\(path)\"></script>\n"
        }
        return app
    }
}
