import PatchFormat
import PatchCrypto
import Testing

extension BrowserTests {
    @Suite("A live page in a stock browser")
    struct StockBrowserPages {
        @Test func `gets the new version of an app's script as what differs from the one that it has`() async throws {
            try await World.with { world in
                let site = try await MeteorApp.emptySite(in: world)
                let library = (0..<2_000).map { "// \($0 &* 2_654_435_761 % 1_000_003)\n" }.joined()
                try await MeteorApp(library: library).publish(in: world, to: site, after: nil)
                _ = try await serving(site) { url in
                    try await world.withBrowser { browser in
                        let tab = browser.tab()
                        try await tab.open("\(url)/\(Workshop.app)/gateways/meteor/production/__cordova/")
                        /// - Returns: the end of the script, and how many bytes of it came.
                        func fetched(_ number: Int) async throws -> (end: String, size: Int) {
                            let end = try await tab.run(
                                "fetch('app/main.js?\(number)').then(answer => answer.text()).then(text => text.slice(-60))"
                            )
                            let entries = "performance.getEntriesByType('resource')"
                            let size = "\(entries).find(entry => entry.name.endsWith('?\(number)')).encodedBodySize"
                            return (end, Int(try await tab.run(size)) ?? -1)
                        }
                        let first = try await fetched(1)
                        #expect(first.end.contains("release 1") && first.size > 5_000, "\(first)")
                        let path = "\(url)/\(Workshop.app)/gateways/meteor/production/__cordova/app/main.js"
                        let old = try await run(.system("curl"), ["-sS", "--max-time", "300", path]).done().output
                        try await MeteorApp(number: 2, library: library).publish(in: world, to: site, after: 1)
                        let second = try await fetched(2)
                        #expect(second.end.contains("release 2") && second.size < 150, "\(second)")

                        let script = "\(path)?3"
                        let unknown = "Available-Dictionary: :pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:"
                        let answer = try await run(
                            .system("curl"),
                            ["-sSi", "--max-time", "300", "-H", "Accept-Encoding: dcz", "-H", unknown, script]
                        ).done()
                        #expect(answer.output.contains("release 2"), "what is no object of the app is no dictionary")
                        #expect(answer.output.contains("Use-As-Dictionary: match=\"/\(Workshop.app)/gateways/meteor/"))

                        // Under the name of another version nothing depends on what the browser has, and the answer says so.
                        let known = Base64.text(SHA256Digest(of: Array(old.utf8)).bytes)
                        let otherName = "\(path)?\(String(repeating: "0", count: 40))"
                        for (target, isDifference) in [(path, true), (otherName, false)] {
                            let head = try await run(
                                .system("curl"),
                                [
                                    "-sS", "-o", "/dev/null", "-D", "-", "--max-time", "300", "-H",
                                    "Accept-Encoding: dcz",
                                    "-H", "Available-Dictionary: :\(known):", target,
                                ]
                            ).done().output
                            #expect(head.contains("Content-Encoding: dcz") == isDifference, "\(head)")
                            #expect(head.contains("Available-Dictionary") == isDifference, "\(head)")
                        }
                    }
                }
            }
        }

        @Test func `costs what changed of it, for it is compressed against the one before`() async throws {
            try await World.with { world in
                try await LiveSite.served { url, _ in
                    try await world.withBrowser { browser in
                        let tab = browser.tab()
                        var counts: [String] = []
                        var sizes: [Int] = []
                        for _ in 0..<3 {
                            try await tab.open("\(url)/live?age=3600")
                            counts.append(try await tab.run("document.getElementById('count').textContent"))
                            let entry = "performance.getEntriesByType('navigation')[0]"
                            sizes.append(Int(try await tab.run("\(entry).encodedBodySize")) ?? -1)
                        }
                        #expect(counts == ["1", "2", "3"])
                        #expect(sizes[0] > 1_000 && sizes[1] < 150 && sizes[2] < 150, "\(sizes)")
                    }
                }
            }
        }
    }
}
