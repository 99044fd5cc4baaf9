import FoundationEssentials
import SystemPackage
import Testing

/// `patchsrv pages` between a site in node and clients: one that plays VasSonic's rules, curl, and Chromium.
@Suite("patchsrv pages")
struct PagesTests {
    /// What a client of one session did: its codes, and the lines that say more.
    private func client(_ urls: String...) async throws -> (codes: [Int], lines: [String]) {
        let outcome = try await run(.system("node"), [Tool.script("sonic_client.mjs")] + urls).done()
        let lines = outcome.output.split(separator: "\n").map(String.init)
        return (lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }, lines)
    }

    private func get(_ url: String, _ fields: String...) async throws -> String {
        try await run(.system("curl"), ["-sSi", "--max-time", "20", url] + fields.flatMap { ["-H", $0] }).done().output
    }

    @Test func `take a client through first load, data, another template and back`() async throws {
        try await LiveSite.served { url, _ in
            let (codes, lines) = try await client(
                "\(url)/live",
                "\(url)/live",
                "\(url)/live?template=2",
                "\(url)/live?template=2",
                "\(url)/odd",
                "\(url)/odd"
            )
            #expect(codes == [1_000, 200, 2_000, 200, 2_000, 200], "\(lines)")
            let sizes = lines.compactMap { Int($0.split(separator: " ")[1]) }
            #expect(sizes[0] > 5_000 && sizes[1] < 500, "\(lines)")
        }
    }

    @Test func `answer 304 for a page that stays, as the file of routes says`() async throws {
        try await World.with { world in
            let file = world.path("pages.json")
            try write(
                #"{"format":"patchline-pages-v1","routes":["#
                    + #"{"path":"/live","passes":true},{"path":"/plain","unmarked":true,"etagName":"sonic-etag"},"#
                    + #"{"path":"/**","cacheOffline":"store","links":["/a.css"]}]}"#,
                to: file
            )
            try await LiveSite.served(["--routes", file.string]) { url, _ in
                let head = try await get("\(url)/still", "accept-diff: true")
                #expect(head.contains("Cache-Offline: store\r\n") && head.contains("sonic-link: /a.css\r\n"), "\(head)")
                let tag = try #require(head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
                for text in ["\(tag)", "W/\"\(tag)\""] {
                    let same = try await get("\(url)/still", "accept-diff: true", "If-None-Match: \(text)")
                    #expect(same.hasPrefix("HTTP/1.1 304") && same.hasSuffix("\r\n\r\n"), "\(same)")
                }
                #expect(try await !get("\(url)/live", "accept-diff: true").contains("template-tag: "))
                let plain = try await get("\(url)/plain", "accept-diff: true")
                #expect(plain.contains("sonic-etag-key: sonic-etag\r\n") && plain.contains("sonic-etag: "), "\(plain)")
                let (codes, lines) = try await client("\(url)/still", "\(url)/still", "\(url)/still")
                #expect(codes == [1_000, 304, 304], "\(lines)")
            }
        }
    }

    @Test func `send a page whose blocks could be taken for one another whole, each time`() async throws {
        try await LiveSite.served { url, _ in
            _ = try await get("\(url)/twice")
            let first = try await get("\(url)/twice", "accept-diff: true")
            let tag = try #require(
                first.split(separator: "\r\n").first { $0.hasPrefix("template-tag: ") }?.dropFirst(
                    "template-tag: ".count
                )
            )
            let second = try await get("\(url)/twice", "accept-diff: true", "If-None-Match: x", "template-tag: \(tag)")
            #expect(second.contains("template-change: true") && second.contains("-->3<!--"), "\(second)")
        }
    }

    @Test func `let everything else pass as it is`() async throws {
        try await LiveSite.served { url, site in
            let plain = try await get("\(url)/plain", "accept-diff: true")
            #expect(plain.contains("ETag: \"own\"\r\n") && !plain.contains("template-tag: "), "\(plain)")
            let text = try await get("\(url)/text", "accept-diff: true")
            #expect(text.contains("Content-Type: text/plain\r\n") && !text.contains("Vary"), "\(text)")
            #expect(try await get("\(url)/nothing", "accept-diff: true").hasPrefix("HTTP/1.1 404"))
            let account = try await get("\(url)/account", "accept-diff: true")
            #expect(account.contains("Set-Cookie: session=1; Secure; HttpOnly\r\n"), "\(account)")
            #expect(account.contains("Access-Control-Allow-Origin: https://other.example\r\n"), "\(account)")
            #expect(try await get("\(url)/moved").contains("Location: /live\r\n"))
            let fields = try await get("\(url)/fields", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: evil.example")
            #expect(fields.contains(#""x-forwarded-for":"127.0.0.1""#), "\(fields)")
            #expect(fields.contains(#""x-forwarded-host":"\#(url.dropFirst(7))""#), "\(fields)")
            #expect(fields.contains(#""host":"\#(site.dropFirst(7))""#), "\(fields)")
        }
    }

    @Test func `let a page of 60 MB through`() async throws {
        try await LiveSite.served { url, _ in
            let arguments = [
                "-sS", "-o", "/dev/null", "-w", "%{size_download}", "--max-time", "60", "-H", "accept-diff: true",
            ]
            let outcome = try await run(.system("curl"), arguments + ["\(url)/big"]).done()
            #expect(outcome.output == "60000000")
        }
    }

    @Test func `say that a page's server hangs or breaks off`() async throws {
        try await LiveSite.served(["--upstream-timeout", "1s"]) { url, site in
            let hang = try await get("\(url)/hang", "accept-diff: true")
            #expect(hang.hasPrefix("HTTP/1.1 504"), "\(hang)")
            #expect(hang.contains("\(site.dropFirst(7)) did not answer in time."), "\(hang)")
            let cut = try await get("\(url)/cut", "accept-diff: true")
            #expect(cut.hasPrefix("HTTP/1.1 502"), "\(cut)")
        }
    }

    @Test func `do not ask themselves for ever`() async throws {
        try await LiveSite.served { url, _ in
            let (first, second) = (url, try await get("\(url)/fields"))
            let name = try #require(second.firstMatch(of: #/"via":"(1\.1 patchline-\d+)"/#)?.1)
            let looped = try await get("\(first)/live", "Via: \(name)")
            #expect(looped.hasPrefix("HTTP/1.1 508") && looped.contains("This proxy is its own upstream."), "\(looped)")
        }
    }

    @Test func `refuse a file of routes that breaks a rule`() async throws {
        try await World.with { world in
            let file = world.path("pages.json")
            try write(#"{"format":"patchline-pages-v1","routes":[{"path":"/","keep":1}]}"#, to: file)
            let outcome = try await run(
                .patchsrv,
                ["pages", "--upstream", "http://127.0.0.1:1", "--routes", file.string]
            )
            #expect(outcome.code == 4, "\(outcome)")
            #expect(outcome.text.contains("routes[0].keep is not a member that is known here"), "\(outcome)")
            let trust = try await run(
                .patchsrv,
                ["pages", "--upstream", "https://127.0.0.1:1", "--upstream-ca", file.string]
            )
            #expect(trust.code == 4, "\(trust)")
            #expect(trust.text.contains("no certificate of an authority in PEM"), "\(trust)")
            #expect(trust.text.contains("--upstream-ca must be PEM: -----BEGIN CERTIFICATE-----"), "\(trust)")
            let upstream = try await run(.patchsrv, ["pages", "--upstream", "ftp://x"])
            #expect(
                upstream.code == 64 && upstream.text.contains("--upstream must be http:// or https://"),
                "\(upstream)"
            )
        }
    }
}
