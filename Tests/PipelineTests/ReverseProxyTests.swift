import FoundationEssentials
import SystemPackage
import Testing

@Suite("A server behind a reverse proxy")
struct ReverseProxyTests {
    /// The page's block, with another server and certificate behind the same words.
    private static func block(for devices: String, _ operators: String, certificate: FilePath, key: FilePath) throws
        -> String
    {
        var text = try block("```nginx\n(.*?)```")
        for (words, here) in [
            ("server 127.0.0.1:8080;", "server \(devices.replacing("http://", with: ""));"),
            ("server 127.0.0.1:8081;", "server \(operators.replacing("http://", with: ""));"),
            ("/etc/ssl/patches.pem", certificate.string), ("/etc/ssl/patches.key", key.string),
        ] {
            #expect(text.contains(words))
            text = text.replacing(words, with: here)
        }
        return text
    }

    /// - Parameter pattern: with one group, which may span lines.
    private static func block(_ pattern: String) throws -> String {
        let page = try read(Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/ReverseProxy.md"))
        let found = try Regex("(?s)" + pattern, as: (Substring, Substring).self)
        return String(try #require(try found.firstMatch(in: page)?.1))
    }

    /// A push of a large part and a device's sync go through, and the server knows who asks.
    private struct Passage {
        let world: World
        let site: FilePath
        let token: FilePath
        let certificate: FilePath
        let key: FilePath

        init(in world: World) async throws {
            self.world = world
            site = try await world.site(world.shop.site1)
            token = try await world.token(for: site)
            (certificate, key) = (world.path("proxy.crt"), world.path("proxy.key"))
            try await run(
                .system("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "3", "-keyout", key.string,
                    "-out", certificate.string,
                ]
            ).done()
            try await copy(world.shop.source(2), to: world.path("source"))
            try writeLarge(to: world.path("source/web/app/large.js"))
            try await world.release(world.path("source"), to: "large", previous: world.shop.release(1)).done()
        }

        /// Serves the site behind a proxy that `body` starts; afterwards the access log is looked at.
        func serving(_ body: @escaping @Sendable (_ devices: String, _ url: String) async throws -> Void) async throws {
            let log = world.path("access.log")
            let options = ["--trusted-proxy", "127.0.0.1", "--access-log", log.string]
            try await PipelineTests.serving(site, options) { devices, url in
                try await body(devices, url)
                for base in [devices, url] {
                    let own = ["-sS", "-H", "X-Forwarded-For: 6.6.6.6", "\(base)/nothing?own"]
                    try await run(.system("curl"), own).done()
                }
            }
            let lines = try read(log).split(separator: "\n")
            for (question, address) in [
                ("nothing?whose", "127.0.0.5"), ("api/v1/nothing?whose", "127.0.0.5"),
                // The test is a proxy too, so its word counts.
                ("nothing?own", "6.6.6.6"),
            ] {
                let asked = lines.filter { $0.contains("GET /\(question)") }
                #expect(asked.count == (question == "nothing?own" ? 2 : 1))
                #expect(asked.allSatisfy { $0.contains("Z \(address) \"GET") }, "\(asked)")
            }
        }

        func push(to proxy: String) async throws -> Outcome {
            let push = World.pushing(world.path("large"), to: proxy, token: token, retries: 0)
            return try await run(.patchsign, push + ["--ca", certificate.string])
        }

        func expect(through proxy: String) async throws {
            #expect(try await push(to: proxy).json()["outcome"] as? String == "published")
            let device = Device(store: world.path("device"))
            let start = ["init", "--store", device.store.string, "--root", world.root.string, "--server", proxy]
            try await run(.patchsync, start + ["--ca", certificate.string]).done()
            try await device.sync().done()
            try await device.expectWhole(2)
            let curl = ["-sS", "--cacert", certificate.string, "--interface", "127.0.0.5"]
            let forged = ["-H", "X-Forwarded-For: 6.6.6.6", "-H", "Forwarded: for=6.6.6.6"]
            try await run(.system("curl"), curl + forged + ["\(proxy)/nothing?whose"]).done()
            try await run(.system("curl"), curl + forged + ["\(proxy)/api/v1/nothing?whose"]).done()
            // Whoever watches asks the server itself.
            for page in ["healthz", "readyz", "metrics"] {
                let status = ["-o", "/dev/null", "-w", "%{http_code}", "\(proxy)/\(page)"]
                let asked = try await run(.system("curl"), curl + status)
                #expect(asked.output == "404", "\(page): \(asked)")
            }
        }

        /// Runs a judge in a folder of its own while `body` runs; it prints where it listens.
        func behind(_ arguments: [String], _ body: @escaping @Sendable (_ url: String) async throws -> Void)
            async throws
        {
            let host = try await running(.python, arguments) { try await body(try await $0.address()) }
            #expect(host.1.code == 0 || host.1.wasTerminated, "\(host.1)")
        }

        func folder(_ name: String) throws -> FilePath {
            let folder = world.path(name)
            try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
            return folder
        }
    }

    @Test
    func `has a release of large parts pushed and a device sync by the page's words for nginx, and knows who asks`()
        async throws
    {
        try await World.with { world in
            let passage = try await Passage(in: world)
            try await passage.serving { devices, url in
                let (configuration, work) = (world.path("block.conf"), try passage.folder("nginx"))
                let judge = [Tool.script("nginx.py"), configuration.string, "-", work.string]
                let block = try Self.block(
                    for: devices,
                    url,
                    certificate: passage.certificate,
                    key: passage.key
                )
                // nginx without what the page says of bodies.
                try write(block.replacing("client_max_body_size 0;", with: ""), to: configuration)
                try await passage.behind(judge) { proxy in
                    let refused = try await passage.push(to: proxy)
                    #expect(
                        refused.code == 3 && refused.errors.contains("error: the server answered 413")
                            && refused.errors.contains("Sending 5 parts: 0 %")
                            && !refused.errors.contains("Sending 5 parts: done"),
                        "\(refused)"
                    )
                    #expect(
                        refused.errors.contains("hint: a proxy before the server may limit bodies"),
                        "\(refused)"
                    )
                }
                try write(block, to: configuration)
                try await passage.behind(judge) { proxy in
                    try await passage.expect(through: proxy)
                    let buffered = try FileManager.default.contentsOfDirectory(
                        atPath: work.appending("client_body").string
                    )
                    #expect(buffered.isEmpty)
                }
            }
        }
    }

    @Test func `does the same by the page's words for Caddy`() async throws {
        try await World.with { world in
            let passage = try await Passage(in: world)
            try await passage.serving { devices, url in
                let (configuration, work) = (world.path("Caddyfile"), try passage.folder("caddy"))
                var block = try Self.block("```\n(patches.example.com \\{\n.*?)```")
                for (words, here) in [("127.0.0.1:8080", devices), ("127.0.0.1:8081", url)] {
                    #expect(block.contains(" \(words) {"))
                    block = block.replacing(words, with: here.replacing("http://", with: ""))
                }
                try write(block, to: configuration)
                let judge = [
                    Tool.script("caddy.py"), configuration.string, passage.certificate.string, passage.key.string,
                    work.string,
                ]
                try await passage.behind(judge) { try await passage.expect(through: $0) }
            }
        }
    }
}
