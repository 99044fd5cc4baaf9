import Testing

extension BrowserTests {
    @Suite("A live page in a stock browser")
    struct StockBrowserPages {
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
