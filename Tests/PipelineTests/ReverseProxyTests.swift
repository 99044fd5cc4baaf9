import FoundationEssentials
import SystemPackage
import Testing

@Suite("A server behind a reverse proxy")
struct ReverseProxyTests {
    /// The page's block, with another server and certificate behind the same words.
    private func block(for url: String, certificate: FilePath, key: FilePath) throws -> String {
        let page = Tool.repository.appending("Sources/Patchline/Patchline.docc/ReverseProxy.md")
        let block = try #require(try read(page).firstMatch(of: #/(?s)```nginx\n(.*?)```/#)?.1)
        var text = String(block)
        for (words, here) in [
            ("server 127.0.0.1:8080;", "server \(url.replacing("http://", with: ""));"),
            ("/etc/ssl/patches.pem", certificate.string), ("/etc/ssl/patches.key", key.string),
        ] {
            #expect(text.contains(words))
            text = text.replacing(words, with: here)
        }
        return text
    }

    @Test func `has a release of large parts pushed and a device sync by the page's own words, and knows who asks`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            let (certificate, key) = (world.path("proxy.crt"), world.path("proxy.key"))
            try await run(
                .system("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "3", "-keyout", key.string,
                    "-out", certificate.string,
                ]
            ).done()
            try await copy(world.shop.source(2), to: world.path("source"))
            try write(String(repeating: "0123456789abcdef", count: 200_000), to: world.path("source/web/app/large.js"))
            try await world.release(world.path("source"), to: "large", previous: world.shop.release(1)).done()
            let log = world.path("access.log")
            let options = ["--trusted-proxy", "127.0.0.1", "--access-log", log.string]
            try await serving(site, options) { url in
                let configuration = world.path("block.conf")
                let work = world.path("nginx")
                try FileManager.default.createDirectory(atPath: work.string, withIntermediateDirectories: true)
                func behind(_ block: String, _ body: @escaping @Sendable (_ url: String) async throws -> Void)
                    async throws
                {
                    try write(block, to: configuration)
                    let arguments = [Tool.script("nginx.py"), configuration.string, "-", work.string]
                    let host = try await running(.python, arguments) { try await body(try await $0.address()) }
                    #expect(host.1.code == 0 || host.1.wasTerminated, "\(host.1)")
                }
                let block = try block(for: url, certificate: certificate, key: key)
                @Sendable func push(to proxy: String) async throws -> Outcome {
                    let push = World.pushing(world.path("large"), to: proxy, token: token, retries: 0)
                    return try await run(.patchsign, push + ["--ca", certificate.string])
                }
                // nginx without what the page says of bodies.
                try await behind(block.replacing("client_max_body_size 0;", with: "")) { proxy in
                    let refused = try await push(to: proxy)
                    #expect(
                        refused.code == 3 && refused.errors.contains("error: the server answered 413")
                            && refused.errors.contains("Sending 5 parts: 0 %")
                            && !refused.errors.contains("Sending 5 parts: done"),
                        "\(refused)"
                    )
                    #expect(
                        refused.errors.contains("hint: a proxy before the server may take smaller bodies only"),
                        "\(refused)"
                    )
                }
                try await behind(block) { proxy in
                    #expect(try await push(to: proxy).json()["outcome"] as? String == "published")
                    #expect(
                        try FileManager.default.contentsOfDirectory(atPath: work.appending("client_body").string)
                            .isEmpty
                    )

                    let device = Device(store: world.path("device"))
                    let start = [
                        "init", "--store", device.store.string, "--root", world.root.string, "--server", proxy,
                    ]
                    try await run(.patchsync, start + ["--ca", certificate.string]).done()
                    try await device.sync().done()
                    try await device.expectWhole(2)

                    let curl = ["-sS", "--cacert", certificate.string, "--interface", "127.0.0.5"]
                    let forged = ["-H", "X-Forwarded-For: 6.6.6.6", "-H", "Forwarded: for=6.6.6.6"]
                    try await run(.system("curl"), curl + forged + ["\(proxy)/healthz?whose"]).done()
                    try await run(.system("curl"), ["-sS", "-H", "X-Forwarded-For: 6.6.6.6", "\(url)/healthz?own"])
                        .done()
                }
            }
            let lines = try read(log).split(separator: "\n")
            let whose = try #require(lines.first { $0.contains("healthz?whose") })
            #expect(whose.contains("Z 127.0.0.5 \"GET"), "\(whose)")
            // The test is a proxy too, so its word counts.
            let own = try #require(lines.first { $0.contains("healthz?own") })
            #expect(own.contains("Z 6.6.6.6 \"GET"), "\(own)")
        }
    }
}
