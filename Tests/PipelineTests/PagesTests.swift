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
        try await run(.system("curl"), ["-sSi", "--max-time", "300", url] + fields.flatMap { ["-H", $0] }).done().output
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

    @Test func `say on a port of their own what pages were answered with, and what that saved`() async throws {
        _ = try await running(.system("node"), [Tool.script("site.mjs")]) { site in
            let arguments = ["pages", "--upstream", try await site.address(), "--port", "0", "--metrics-port", "0"]
            _ = try await running(.patchsrv, arguments) { server in
                let (url, line) = (try await server.address(), try await server.line(with: "numbers at http"))
                let numbers = try #require(line.split(separator: " ").last.map(String.init))
                let (codes, lines) = try await client("\(url)/live", "\(url)/live")
                #expect(codes == [1_000, 200], "\(lines)")
                #expect(
                    try await client("\(url)/still", "\(url)/still", "\(url)/live?template=2").codes == [
                        1_000, 304, 2_000,
                    ]
                )
                let unmarked = try await get("\(url)/plain", "accept-diff: true")
                #expect(unmarked.hasPrefix("HTTP/1.1 200"))
                #expect(try await get("\(url)/metrics").hasPrefix("HTTP/1.1 404"), "which is the site's")

                let health = try await get(numbers.replacing("/metrics", with: "/healthz"))
                #expect(health.hasPrefix("HTTP/1.1 200") && health.hasSuffix("\r\n\r\nok"), "\(health)")
                let text = try await get(numbers)
                for help in [
                    "answers_total Inspected pages, by the kind of answer.",
                    "sent_bytes_total Bytes of the bodies that were sent.",
                    "whole_bytes_total Bytes that the site sent for the same answers.",
                    "memory_bytes Pages kept as the base of later differences.",
                ] { #expect(text.contains("# HELP patchsrv_pages_\(help)\n"), "\(text)") }
                #expect(text.contains("Content-Type: text/plain; version=0.0.4"), "\(text)")
                func value(_ name: String, _ outcome: String) -> Int? {
                    let start = "patchsrv_pages_\(name)_total{outcome=\"\(outcome)\"} "
                    let line = text.split(separator: "\n").first { $0.hasPrefix(start) }
                    return line.flatMap { Int($0.dropFirst(start.count)) }
                }
                let outcomes = ["first", "data", "notModified", "template", "asItIs", "dictionary"]
                #expect(outcomes.map { value("answers", $0) } == [2, 1, 1, 1, 1, 0], "\(text)")
                let (sent, whole) = (try #require(value("sent_bytes", "data")), value("whole_bytes", "data") ?? 0)
                #expect(sent > 0 && sent < 500 && whole > 5_000, "\(text)")
                #expect(value("sent_bytes", "notModified") == 0)
                #expect(value("sent_bytes", "asItIs") == value("whole_bytes", "asItIs"))
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

    /// By the lines of the page PageDifferences, as they stand there.
    @Test func `answer in dcz whoever names the page that was sent before, as curl can`() async throws {
        let file = Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/PageDifferences.md")
        let text = try String(contentsOfFile: file.string, encoding: .utf8)
        let lines = try #require(text.firstMatch(of: #/```sh\n(curl -s -o page\.html -H 'Sec-Fetch-Dest[^`]*)```/#)?.1)
        try await World.with { world in
            // Its end comes once it is remembered.
            try await LiveSite.served { url, _ in
                let script = String(lines).replacing("http://127.0.0.1:8080/cart", with: "\(url)/unsized")
                let outcome = try await run(
                    .system("bash"),
                    ["-euo", "pipefail", "-c", script],
                    in: world.folder
                ).done()
                #expect(outcome.output == "Content-Encoding: dcz\r\n", "\(outcome)")
                let offer = "\r\nUse-As-Dictionary: match=\"/unsized\", match-dest=(\"document\")\r\n"
                #expect(try await get("\(url)/unsized", "Sec-Fetch-Dest: document").contains(offer))
                #expect(try await !get("\(url)/unsized").contains("Use-As-Dictionary"))
            }
        }
    }

    @Test func `let a page of 60 MB through`() async throws {
        try await LiveSite.served { url, _ in
            let arguments = [
                "-sS", "-o", "/dev/null", "-w", "%{size_download}", "--max-time", "300", "-H", "accept-diff: true",
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
        }
        // With the usual time, in which an upstream answers on any machine.
        try await LiveSite.served { url, _ in
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
            #expect(outcome.text.contains("routes[0].keep is not a known member"), "\(outcome)")
            let trust = try await run(
                .patchsrv,
                ["pages", "--upstream", "https://127.0.0.1:1", "--upstream-ca", file.string]
            )
            #expect(trust.code == 4, "\(trust)")
            #expect(trust.text.contains("no certificate of an authority in PEM"), "\(trust)")
            #expect(trust.text.contains("--upstream-ca must be PEM: -----BEGIN CERTIFICATE-----"), "\(trust)")
            let settings = world.path("pages.yaml")
            try write("upstream: ftp://x\n", to: settings)
            let set = try await run(.patchsrv, ["pages", "--config", settings.string])
            #expect(set.code == 4 && set.text.contains("upstream must be http:// or https://"), "\(set)")
            try write("upstream: http://127.0.0.1:1\nroutes: \(file.string)\n", to: settings)
            let read = try await run(.patchsrv, ["pages", "--config", settings.string])
            #expect(read.code == 4 && read.text.contains("routes[0].keep is not a known member"), "\(read)")
            let port = try await run(.patchsrv, ["pages", "--upstream", "http://x", "--metrics-port", "70000"])
            #expect(port.code == 64 && port.text.contains("--metrics-port must be from 0 to 65535"), "\(port)")
            let upstream = try await run(.patchsrv, ["pages", "--upstream", "ftp://x"])
            #expect(
                upstream.code == 64 && upstream.text.contains("--upstream must be http:// or https://"),
                "\(upstream)"
            )
        }
    }
}
