import FoundationEssentials
import SystemPackage
import Testing

@Suite("An app of the release service")
struct AppsOverHTTPTests {
    private static let second = "com.example.second"

    /// A body with these files, each as one text.
    private func body(_ members: [String: FilePath], in world: World) async throws -> FilePath {
        let make = """
            import json, sys
            pairs = [pair.split('=', 1) for pair in sys.argv[2:]]
            json.dump({name: open(path).read() for name, path in pairs}, open(sys.argv[1], 'w'))
            """
        let out = world.path("body.json")
        let pairs = members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        try await run(.python, ["-c", make, out.string] + pairs).done()
        return out
    }

    private func send(_ method: String, _ path: String, _ body: FilePath, as token: String, to fixture: ServiceFixture)
        async throws -> (Int, String)
    {
        let type = "Content-Type: application/json"
        return try await fixture.ask(method, path, token: token, "-H", type, "--data-binary", "@\(body)")
    }

    @Test func `is started over HTTP with an encrypted online key, and takes releases from then on`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let secret = world.path("secret")
            try writeSecret("correct horse\n", to: secret)
            let keys = world.path("second")
            let passphrase = ["--passphrase-file", secret.string]
            try await run(
                .patchsign,
                ["init", "--app", Self.second, "--keys", keys.string, "--bits", "2048"] + passphrase
            ).done()
            let (root, targets) = (keys.appending("root.json"), keys.appending("targets.json"))
            let key = keys.appending("online.key")
            try await serving(site, passphrase) { devices, url in
                let fixture = ServiceFixture(world: world, site: site, url: url, devices: devices)
                let admin = try await fixture.token("*=admin")
                let other = try await fixture.token("\(Workshop.app)=admin")
                let asked = try await body(["root": root, "targets": targets, "onlineKey": key], in: world)
                let weak = try await send("POST", "/apps", asked, as: other, to: fixture)
                #expect(weak.0 == 403, "\(weak)")
                let clear = try await body(
                    ["root": root, "targets": targets, "onlineKey": world.shop.keys.appending("online.key")],
                    in: world
                )
                let refused = try await send("POST", "/apps", clear, as: admin, to: fixture)
                #expect(refused.0 == 422 && refused.1.contains("the online key is not encrypted"), "\(refused)")
                #expect(try await fixture.ask("GET", "/apps/\(Self.second)", token: admin).0 == 404)

                let whole = try await body(["root": root, "targets": targets, "onlineKey": key], in: world)
                let made = try await send("POST", "/apps", whole, as: admin, to: fixture)
                #expect(made.0 == 201 && made.1.contains(#""app":"\#(Self.second)","root":1"#), "\(made)")
                let again = try await send("POST", "/apps", whole, as: admin, to: fixture)
                #expect(again.0 == 409 && again.1.contains("has the app"), "\(again)")
                let kept = try read(site.appending("apps/\(Self.second)/online.key"))
                #expect(kept.contains("ENCRYPTED PRIVATE KEY"))

                try write(
                    """
                    app: \(Self.second)
                    channel: production
                    patches:
                      - {id: web, kind: bundle, version: "1", folder: web, index: index.html}
                    """,
                    to: world.path("source-release.yaml")
                )
                let prepare = "mkdir -p $1/web; mv $2 $1/release.yaml; echo '<p>second</p>' >$1/web/index.html"
                try await run(
                    .system("bash"),
                    ["-ec", prepare, "-", world.path("source").string, world.path("source-release.yaml").string]
                ).done()
                try await run(
                    .patchsign,
                    [
                        "release", world.path("source").string, "--keys", keys.string, "--output",
                        world.path("out").string,
                    ] + passphrase
                ).done()
                let token = try await fixture.token("\(Self.second)=publisher")
                try await fixture.push(world.path("out"), token: token).done()
                let device = Device(store: world.path("device"))
                try await device.create(root: root, server: devices)
                let sync = try await device.sync().done()
                #expect(sync.output.contains(#/web +1 +new, downloaded.* Add → UnInstall/#), "\(sync)")
                let audit = try await run(.patchsrv, ["audit", "list", "--data", site.string]).done()
                #expect(audit.output.matches(of: #/app\.create +com\.example\.second/#).count == 1, "\(audit)")
            }
        }
    }

    @Test func `is given a newer root of trust over HTTP, which devices follow`() async throws {
        try await ServiceFixture.with { fixture in
            let keys = fixture.world.path("keys")
            try await copy(fixture.world.shop.keys, to: keys)
            let rotate = ["rotate", "targets", "--keys", keys.string, "--unencrypted-keys"]
            try await run(.patchsign, rotate).done()
            let (root, targets) = (keys.appending("root.json"), keys.appending("targets.json"))
            let admin = try await fixture.token("\(Workshop.app)=admin")
            let operating = try await fixture.token("\(Workshop.app)=operator")
            let asked = try await body(["root": root, "targets": targets], in: fixture.world)
            let path = "/apps/\(Workshop.app)/trust"
            let weak = try await send("PUT", path, asked, as: operating, to: fixture)
            #expect(weak.0 == 403, "\(weak)")
            let foreign = fixture.world.shop.otherKeys
            let theirs = try await body(
                ["root": foreign.appending("root.json"), "targets": foreign.appending("targets.json")],
                in: fixture.world
            )
            let before = try await StoreDigest(of: fixture.site.appending("tree"))
            let refused = try await send("PUT", path, theirs, as: admin, to: fixture)
            #expect(refused.0 == 422 && refused.1.contains("root"), "\(refused)")
            #expect(try await StoreDigest(of: fixture.site.appending("tree")) == before)

            let newer = try await body(["root": root, "targets": targets], in: fixture.world)
            let taken = try await send("PUT", path, newer, as: admin, to: fixture)
            #expect(taken.0 == 200 && taken.1.contains(#""root":2"#), "\(taken)")
            let shown = try await fixture.ask("GET", path, token: admin)
            #expect(shown.0 == 200 && shown.1.contains(#""root":2"#), "\(shown)")
            let device = try await fixture.world.settledDevice(server: fixture.devices)
            try await device.sync().done()
            #expect(try read(device.store.appending("trust/root.json")).contains(#""version":2"#))
        }
    }
}
