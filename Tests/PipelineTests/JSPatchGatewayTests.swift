import FoundationEssentials
import GatewayClients
import Gateways
import PatchFetch
import PatchFormat
import PatchCrypto
import Patchline
import SystemPackage
import Testing

/// L1, L2, L5–L8, J1, J2, J12, J13: a release of ours for those who still speak to JSPatch's servers.
@Suite("JSPatch's own clients")
struct JSPatchGatewayTests {
    private static let appKey = "0a1b2c3d4e5f6071"
    private static let keyText = "0011223344556677"
    private static let now = UTCTime(seconds: 1_700_000_000)
    private static let gateways = "\(Workshop.app)/gateways"

    /// Scripts and their description in `sourceN`.
    private static func describe(
        _ world: World,
        _ number: Int,
        main: String,
        jspatch: String = "loader: true, platform: \(appKey)",
        rules: String = ""
    ) throws {
        let source = world.path("source\(number)")
        try FileManager.default.createDirectory(atPath: source.string, withIntermediateDirectories: true)
        try write(main, to: source.appending("fix.js"))
        try write("total()\n", to: source.appending("cart.js"))
        let switched =
            jspatch.isEmpty
            ? "" : "jspatch: {scripts: {main.js: fix, cart.js: cart}, appVersions: [\"2.1\"], \(jspatch)}"
        try write(
            """
            app: \(Workshop.app)
            channel: production
            patches:
              - {id: fix, kind: script, version: "\(number)", file: fix.js\(rules)}
              - {id: cart, kind: script, version: "1", file: cart.js}
            \(switched)

            """,
            to: source.appending("release.yaml")
        )
    }

    /// Openssl's keys, and a server that has nothing yet.
    private static func prepare(_ world: World) async throws -> FilePath {
        try write(keyText, to: world.path("aes.key"))
        let making = """
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out jspatch.key 2>/dev/null
            openssl pkey -in jspatch.key -pubout -out jspatch.pub
            """
        try await run(.system("sh"), ["-ec", making], in: world.folder).done()
        let site = world.path("site")
        try await world.makeSite(site, keys: world.shop.keys)
        return site
    }

    private static let keys = ["--jspatch-key", "jspatch.key", "--aes-key", "aes.key"]

    private static func sign(_ world: World, _ number: Int, _ options: [String] = keys) async throws -> Outcome {
        let previous = number == 1 ? [] : ["--previous", world.path("made\(number - 1)").string]
        let arguments = [
            "release", world.path("source\(number)").string, "--keys", world.shop.keys.string, "--output",
            world.path("made\(number)").string,
        ]
        return try await run(.patchsign, arguments + previous + options, in: world.folder)
    }

    private static func publish(_ world: World, _ number: Int, to site: FilePath) async throws {
        try await world.publish(world.path("made\(number)"), to: site).done()
    }

    private static func shell(_ world: World, _ script: String) async throws -> String {
        try await run(.system("sh"), ["-ec", script], in: world.folder).done().output
    }

    private static func loader(_ world: World) throws -> LoaderClient {
        let pem = try String(contentsOfFile: world.path("jspatch.pub").string, encoding: .utf8)
        return LoaderClient(
            world.path("loader"),
            appVersion: try #require(AppVersion("2.1")),
            key: try JSPatchPublicKey(pem: pem),
            unnamed: .refused
        )
    }

    private static func platform(
        _ world: World,
        _ name: String = "device 1",
        _ policy: PlatformClient.Policy = PlatformClient.Policy()
    ) throws -> PlatformClient {
        let pem = try String(contentsOfFile: world.path("jspatch.pub").string, encoding: .utf8)
        let app = PlatformClient.App(
            PlatformPlace(try #require(PlatformAppKey(appKey)), try #require(AppVersion("2.1"))),
            device: try #require(PlatformDeviceID(name)),
            signer: try JSPatchPublicKey(pem: pem),
            key: try #require(AESKey(Array(keyText.utf8)))
        )
        return PlatformClient(world.path("platform \(name)"), app: app, policy: policy)
    }

    private static func sync(_ client: PlatformClient, _ url: String) async throws -> PlatformDecision {
        let draw = try #require(PlatformDraw(5))
        let root = try #require(ServerURL("\(url)/\(gateways)/platform/production"))
        var decision: PlatformDecision?
        try await PlatformClient.fetching(from: root) { (fetcher) async throws in
            decision = try await client.sync(from: fetcher, now: now) { draw }
        }
        return try #require(decision)
    }

    private static func update(_ client: LoaderClient, to version: Int, _ url: String) async throws {
        let root = try #require(ServerURL("\(url)/\(gateways)/loader/production"))
        let version = try #require(LoaderVersion(version))
        try await LoaderClient.fetching(from: root) { (fetcher) async throws in
            try await client.update(to: version, from: fetcher)
        }
    }

    private static func reported(_ world: World, _ url: String) async throws -> String {
        let path = "\(url)/\(gateways)/platform/production/\(appKey)/2.1"
        return try await run(.system("curl"), ["-sS", "-w", " %{http_code}", path]).done().output
            .replacing("\n", with: "")
    }

    private static func status(_ url: String, _ path: String) async throws -> String {
        let arguments = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "\(url)/\(gateways)/\(path)"]
        return try await run(.system("curl"), arguments).done().output
    }

    @Test func `install what one signed release lays for both of them, and openssl and unzip agree`() async throws {
        try await World.with { world in
            let site = try await Self.prepare(world)
            try Self.describe(world, 1, main: "include('cart.js')\n")
            let signed = try await Self.sign(world, 1).done()
            for words in [
                "~ loader 2.1: JSPatch's loader gives its clients cart.js of cart, main.js of fix as version 1, once every "
                    + "device may install it; the format has a signature over an MD5, but no roles, expiry, rollout, conditions or rollback",
                "~ platform \(Self.appKey) 2.1: JSPatch's platform gives its clients cart.js of cart, main.js of fix as version 1",
            ] { #expect(signed.output.contains(words), "\(signed)") }
            try await Self.publish(world, 1, to: site)
            _ = try await serving(site) { url in
                let (loader, platform) = (try Self.loader(world), try Self.platform(world))
                try await Self.update(loader, to: 1, url)
                let scripts = try #require(try loader.folder.scripts())
                #expect(scripts.main == "include('cart.js')\n" && scripts.include("cart.js") == "total()\n")
                #expect(try await Self.reported(world, url) == #"{"v":1} 200"#)
                #expect(try await Self.sync(platform, url) == .install(try #require(LoaderVersion(1)), run: .now))
                #expect(try platform.scripts()?.include("cart.js") == "total()\n")

                let judge = """
                    curl -sSf -o v1.zip \(url)/\(Self.gateways)/loader/production/2.1/v1.zip
                    curl -sSf -o file1 \(url)/\(Self.gateways)/platform/production/\(Self.appKey)/2.1/file1
                    unzip -qo v1.zip; unzip -Z1 script.zip | sort
                    test "$(openssl pkeyutl -verifyrecover -pubin -inkey jspatch.pub -in key)" = "$(md5sum <script.zip | cut -c -32)"
                    tar -xf file1
                    test "$(openssl pkeyutl -verifyrecover -pubin -inkey jspatch.pub -in key)" = "$(md5sum <scripts | cut -c -32)"
                    openssl enc -d -aes-128-cbc -K "$(od -An -tx1 aes.key | tr -d ' ')" \
                    -iv 00000000000000000000000000000000 <scripts | gunzip | tar -t
                    grep -rlE '\(Self.keyText)|PRIVATE KEY' site/tree made1 || echo none
                    """
                let names = "cart.js\nmain.js\npatchline.json\n"
                #expect(try await Self.shell(world, judge) == names + names + "none\n")
                let listed = try await run(.patchsrv, ["list", "--data", site.string]).done().output
                #expect(listed.contains("gateway: production loader 2.1: version 1 can be fetched\n"), "\(listed)")
                // The block of the page for reviewers, with what it uses of those before it.
                let page = Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/CheckItYourself.md")
                let review = try await Self.shell(
                    world,
                    """
                    server=\(url) app=\(Workshop.app) channel=production
                    cp made1/targets/production/patchlist.json list.json
                    sed -n '/^fetch() /p; /^is() /,/^}/p' \(page) >block
                    sed -n '/^jq -r .*gateways/,/^```/p' \(page) | grep -v '```' >>block
                    . ./block
                    """
                )
                #expect(
                    review
                        == "loader 2.1/v1.zip: is in the signed list\n"
                        + "platform \(Self.appKey)/2.1/file1: is in the signed list\n"
                )
            }
        }
    }

    @Test func `have each number once: unchanged scripts keep theirs, and what was taken back keeps it too`()
        async throws
    {
        try await World.with { world in
            let site = try await Self.prepare(world)
            try Self.describe(world, 1, main: "one()\n", jspatch: "loader: true, platform: \(Self.appKey), after: 6")
            try await Self.sign(world, 1).done()
            try await Self.publish(world, 1, to: site)
            // Nothing that they get is new, so no key is asked for.
            _ = try await Self.shell(world, "cp -r source1 source2")
            try await Self.sign(world, 2, []).done()
            try await Self.publish(world, 2, to: site)
            try Self.describe(world, 3, main: "three()\n")
            let refused = try await Self.sign(world, 3, [])
            #expect(
                refused.code == 64
                    && refused.errors.contains(
                        "loader 2.1 needs a new package, version 8, and there is no --jspatch-key"
                    ),
                "\(refused)"
            )
            let alone = try await Self.sign(world, 3, Array(Self.keys.suffix(2)))
            #expect(alone.code == 64 && alone.errors.contains("--aes-key needs --jspatch-key"), "\(alone)")
            let half = try await Self.sign(world, 3, Array(Self.keys.prefix(2)))
            #expect(half.code == 64, "\(half)")
            #expect(
                half.errors.contains(
                    "platform \(Self.appKey) 2.1 needs a new package, version 8, and there is no --aes-key"
                )
            )
            _ = try await Self.shell(
                world,
                """
                openssl rand 16 >other.aes
                openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out other.key 2>/dev/null
                """
            )
            let strangers = ["--jspatch-key", "other.key", "--aes-key", "other.aes"]
            let strange = try await Self.sign(world, 3, strangers)
            #expect(
                strange.code == 3
                    && strange.errors.contains(
                        "loader 2.1: version 7 was made with another --jspatch-key, "
                            + "and apps that installed it would reject version 8"
                    ),
                "\(strange)"
            )
            #expect(!FileManager.default.fileExists(atPath: world.path("made3").string), "nothing is half signed")
            try await Self.sign(world, 3, strangers + ["--other-package-keys"]).done()
            _ = try await Self.shell(world, "rm -r made3")
            let third = try await Self.sign(world, 3).done()
            #expect(third.output.contains("~ loader 2.1: version 8 follows 7"), "\(third)")
            try await Self.publish(world, 3, to: site)
            _ = try await serving(site) { url in
                #expect(try await Self.reported(world, url) == #"{"v":8} 200"#)
                let (loader, platform) = (try Self.loader(world), try Self.platform(world))
                try await Self.update(loader, to: 8, url)
                _ = try await Self.sync(platform, url)
                #expect(try await Self.status(url, "loader/production/2.1/v7.zip") == "200", "it is listed behind")

                let withdrawn = [
                    "withdraw", "fix", "--version", "3", "--previous", world.path("made3").string, "--keys",
                    world.shop.keys.string, "--output", world.path("made4").string,
                ]
                let gone = try await run(.patchsign, withdrawn, in: world.folder).done()
                #expect(
                    gone.output.contains("- platform \(Self.appKey) 2.1: version 8 is withdrawn; clients delete it"),
                    "\(gone)"
                )
                try await Self.publish(world, 4, to: site)
                #expect(try await Self.reported(world, url) == #"{"e":1} 200"#)
                let shown = try await run(.patchsrv, ["list", "--data", site.string]).done().output
                #expect(
                    shown.contains(#" 2.1: clients receive {"e":1}, and delete their version"# + "\n"),
                    "a package for nobody is not shown as one that can be had: \(shown)"
                )
                #expect(try await Self.status(url, "loader/production/2.1/v8.zip") == "404")
                #expect(try await Self.sync(platform, url) == .delete)
                #expect(try platform.scripts() == nil)

                try Self.describe(world, 5, main: "five()\n")
                try await Self.sign(world, 5).done()
                try await Self.publish(world, 5, to: site)
                #expect(try await Self.reported(world, url) == #"{"v":9} 200"#, "8 had another content")
                #expect(try await Self.sync(platform, url) == .install(try #require(LoaderVersion(9)), run: .now))

                try Self.describe(world, 6, main: "six()\n", jspatch: "")
                let off = try await Self.sign(world, 6, []).done()
                #expect(off.output.contains("~ loader 2.1: its clients get no more versions and keep theirs"))
                try await Self.publish(world, 6, to: site)
                #expect(try await Self.reported(world, url).hasSuffix(" 404"))
                #expect(try await Self.status(url, "loader/production/2.1/v9.zip") == "404")
                try Self.describe(world, 7, main: "seven()\n")
                try await Self.sign(world, 7).done()
                try await Self.publish(world, 7, to: site)
                #expect(try await Self.reported(world, url) == #"{"v":10} 200"#, "numbers stay taken while it is off")
                let checked = try await run(.patchsrv, ["check", "--data", site.string])
                #expect(checked.code == 0, "\(checked)")
            }
        }
    }

    @Test func `are held back by rules and dial as far as their wires can say it`() async throws {
        try await World.with { world in
            let site = try await Self.prepare(world)
            try Self.describe(world, 1, main: "one()\n", rules: ", rules: {rollout: 50%, runAtNextLaunch: true}")
            try await Self.sign(world, 1).done()
            try await Self.publish(world, 1, to: site)
            _ = try await serving(site) { url in
                let data = ["--data", site.string, "--channel", "production"]
                @discardableResult
                func dial(_ options: String...) async throws -> String {
                    try await run(.patchsrv, ["dial"] + options + data).done().output
                }
                let zip = "loader/production/2.1/v1.zip"
                #expect(try await Self.reported(world, url) == #"{"g":5,"r":true,"v":1} 200"#)
                #expect(try await Self.status(url, zip) == "404", "the loader's wire knows no shares")
                try await dial("--rollout", "fix@1=29.99%")
                #expect(try await Self.reported(world, url) == #"{"g":2,"r":true,"v":1} 200"#, "tenths, rounded down")
                try await dial("--rollout", "fix@1=9%")
                #expect(try await Self.reported(world, url) == #"{"p":true,"r":true,"v":1} 200"#)
                try await dial("--rollout", "fix@1=50%")
                try await dial("--pause", "cart", "--reason", "broken")
                #expect(
                    try await Self.reported(world, url) == #"{"p":true,"r":true,"v":1} 200"#,
                    "one script of it is paused"
                )
                let platform = try Self.platform(world)
                #expect(try await Self.sync(platform, url) == .keep(.paused))
                try await dial("--resume", "cart")
                #expect(
                    try await Self.sync(platform, url) == .install(try #require(LoaderVersion(1)), run: .atNextLaunch)
                )
                let counted = try await dial("--headcount", "fix@1=5")
                let lines = "loader 2.1, platform \(Self.appKey) 2.1"
                #expect(
                    counted.contains(
                        "fix 1 has a head-count: apps of \(lines) do not get it, because they cannot be counted\n"
                    ),
                    "\(counted)"
                )
                #expect(!counted.contains("cart 1 has a head-count"))
                let reported = #"{"p":true,"r":true,"v":1}"#
                #expect(try await Self.reported(world, url) == "\(reported) 200")
                #expect(
                    counted.contains(
                        "platform \(Self.appKey) 2.1: clients receive \(reported): no further client installs it\n"
                    ),
                    "\(counted)"
                )

                try Self.describe(
                    world,
                    2,
                    main: "one()\n",
                    jspatch: "platform: \(Self.appKey)",
                    rules: ", rules: {condition: 'ios>=9.0'}"
                )
                _ = try await Self.shell(world, #"sed -i 's/version: "2"/version: "1"/' source2/release.yaml"#)
                let mixed = try await Self.sign(world, 2)
                #expect(mixed.code == 4, "\(mixed)")
                #expect(
                    mixed.errors.contains(
                        "jspatch.scripts.main.js names fix 1, whose condition differs from that of cart 1; a package has one condition"
                    ),
                    "\(mixed)"
                )
            }
        }
    }

    @Test func `are served by any static host from an exported tree, and what they are not to have is gone there`()
        async throws
    {
        try await World.with { world in
            let site = try await Self.prepare(world)
            try Self.describe(world, 1, main: "one()\n")
            try await Self.sign(world, 1).done()
            try await Self.publish(world, 1, to: site)
            let exported = world.path("static")
            @Sendable func export() async throws {
                try await run(.patchsrv, ["export", exported.string, "--data", site.string]).done()
            }
            try await export()
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", exported.string]
            _ = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                let url = "http://127.0.0.1:\(port)"
                let (loader, platform) = (try Self.loader(world), try Self.platform(world))
                try await Self.update(loader, to: 1, url)
                #expect(try await Self.sync(platform, url) == .install(try #require(LoaderVersion(1)), run: .now))

                try Self.describe(world, 2, main: "two()\n")
                try await Self.sign(world, 2).done()
                try await Self.publish(world, 2, to: site)
                try await export()
                try await Self.update(loader, to: 2, url)
                #expect(try await Self.sync(platform, url) == .install(try #require(LoaderVersion(2)), run: .now))
                #expect(try platform.scripts()?.main == "two()\n")

                let data = ["--data", site.string, "--channel", "production"]
                try await run(.patchsrv, ["dial", "--pause", "fix@2", "--reason", "broken"] + data).done()
                try await export()
                let left = try await Self.shell(
                    world,
                    "cd static/\(Self.gateways); find . -type f | sort; cat */*/*/*/index.html"
                )
                #expect(
                    left == """
                        ./loader/production/2.1/v1.zip
                        ./platform/production/\(Self.appKey)/2.1/file1
                        ./platform/production/\(Self.appKey)/2.1/file2
                        ./platform/production/\(Self.appKey)/2.1/index.html
                        {"p":true,"v":2}
                        """,
                    "\(left)"
                )
            }
        }
    }

    @Test func `report to the same server, which counts a device once and refuses what is no report`() async throws {
        try await World.with { world in
            let site = try await Self.prepare(world)
            try Self.describe(world, 1, main: "one()\n")
            try await Self.sign(world, 1).done()
            try await Self.publish(world, 1, to: site)
            let place = "\(Self.gateways)/platform/production"
            @Sendable func post(_ url: String, _ page: String, _ body: String, _ options: [String] = []) async throws
                -> String
            {
                let arguments = ["-sS", "-w", " %{http_code}", "--data-binary", body]
                return try await run(.system("curl"), arguments + options + ["\(url)/\(place)/\(page)"]).done().output
                    .replacing("\n", with: "")
            }
            func reports() async throws -> String {
                let listed = try await run(.patchsrv, ["list", "--data", site.string]).done().output
                return listed.split(separator: "\n").filter { $0.contains("not authenticated") }.joined(separator: "\n")
            }
            let report = "k=\(Self.appKey)&av=2.1&pv=1&d=device%201"
            _ = try await serving(site) { url in
                let platform = try Self.platform(world)
                _ = try await Self.sync(platform, url)
                let root = try #require(ServerURL("\(url)/\(place)"))
                try await PlatformClient.fetching(from: root) { (fetcher) async throws in
                    #expect(try await platform.report(to: fetcher) == 0, "it is acknowledged")
                }
                for _ in 1...3 { #expect(try await post(url, "succ.php", report) == #"{"succ":1} 200"#) }
                #expect(try await post(url, "err.php", report + "&code=5003") == #"{"succ":1} 200"#)
                for (page, body, status) in [
                    ("succ.php", "", "400"), ("succ.php", "k=\(Self.appKey)&av=2.1&pv=1", "400"),
                    ("succ.php", report + "&d=2", "400"), ("succ.php", report + "&code=5003", "400"),
                    ("err.php", report, "400"), ("err.php", report + "&code=1", "400"),
                    ("succ.php", report.replacing("pv=1", with: "pv=01"), "400"),
                    ("succ.php", report.replacing("pv=1", with: "pv=2"), "404"),
                    ("succ.php", report.replacing("av=2.1", with: "av=2.2"), "404"),
                    ("succ.php", report.replacing(Self.appKey, with: "0000"), "404"),
                    ("succ.php", String(repeating: "x", count: 5_000), "413"),
                ] {
                    let answer = try await post(url, page, body)
                    #expect(answer.hasSuffix(" \(status)") && !answer.contains("succ\":"), "\(page) \(body): \(answer)")
                }
                let json = ["-H", "Content-Type: application/json"]
                #expect(try await post(url, "succ.php", report, json).hasSuffix(" 415"))
                let body = try await run(
                    .system("curl"),
                    ["-sS", "--data-binary", report] + json + ["\(url)/\(place)/succ.php"]
                ).done().output
                #expect(body.contains("the body must be application/x-www-form-urlencoded"), "\(body)")
                let other = try await post(url, "succ.php", report.replacing("pv=1", with: "pv=2"))
                #expect(other.contains("this server has no such package"), "\(other)")
                #expect(try await Self.status(url, "platform/production/succ.php") == "405")
                #expect(try await Self.status(url, "platform/beta/succ.php") == "405")
            }
            let expected =
                "gateway: production platform \(Self.appKey) 2.1 version 1: about 1 device installed it, "
                + "1 failed (5003: 1); these reports are not authenticated"
            #expect(try await reports() == expected)
            try await serving(site) { url, operators in
                let again = try await post(url, "succ.php", report)
                #expect(again == #"{"succ":1} 200"#)
                let numbers = try await run(.system("curl"), ["-sS", "\(operators)/metrics"]).done().output
                let help =
                    "# HELP patchsrv_platform_devices "
                    + "About how many devices of JSPatch's platform reported an outcome of a listed version; the reports are not authenticated.\n"
                #expect(numbers.contains(help), "\(numbers)")
                let labels =
                    #"app="\#(Workshop.app)",channel="production",app_key="\#(Self.appKey)",app_version="2.1",version="1""#
                for outcome in ["succeeded", "5003"] {
                    #expect(numbers.contains("patchsrv_platform_devices{\(labels),outcome=\"\(outcome)\"} 1\n"))
                }
            }
            #expect(try await reports() == expected, "it was counted before the server was started again")
            let json = try await run(.patchsrv, ["list", "--json", "--data", site.string]).done().output
            #expect(json.contains(#""exact": false"#) && json.contains(#""5003": 1"#), "\(json)")
            func shown() async throws -> String {
                try await run(.patchsrv, ["list", "--data", site.string]).done().output
            }
            let listed = try await shown()
            #expect(
                listed.contains(
                    "gateway: production platform \(Self.appKey) 2.1: version 1 can be fetched"
                        + #", and clients receive {"v":1}"#
                ),
                "\(listed)"
            )
            // Switched off, nothing of it is needed but the number.
            try Self.describe(world, 2, main: "two()\n", jspatch: "")
            try await Self.sign(world, 2, []).done()
            try await Self.publish(world, 2, to: site)
            let off = try await shown()
            #expect(off.contains("gateway: production loader 2.1 is switched off after version 1"), "\(off)")
            let gc = ["gc", "--data", site.string]
            let what = "the reports of JSPatch's clients for 1 version"
            let useless = try await run(.patchsrv, gc + ["--dry-run"]).done().output
            #expect(useless.contains("would forget \(what)"), "no package of it is listed: \(useless)")
            try Self.describe(world, 3, main: "three()\n")
            try await Self.sign(world, 3).done()
            try await Self.publish(world, 3, to: site)
            let would = try await run(.patchsrv, gc + ["--dry-run"]).done().output
            #expect(would.contains("would forget \(what)"), "\(would)")
            #expect(try await reports() == expected, "it was not done")
            let forgot = try await run(.patchsrv, gc).done().output
            #expect(forgot.contains("forgot \(what)"), "\(forgot)")
            #expect(try await reports() == "")
            let data = ["--data", site.string, "--channel", "production"]
            try await run(.patchsrv, ["dial", "--pause", "fix", "--reason", "broken"] + data).done()
            #expect(try await shown().contains("gateway: production loader 2.1: nothing can be fetched\n"))
        }
    }

    @Test func `are the library's too, in an app that still follows such a server`() async throws {
        try await World.with { world in
            let site = try await Self.prepare(world)
            try Self.describe(world, 1, main: "one()\n")
            // As such apps make it, which give no key of their own.
            try write("\(Self.appKey)", to: world.path("aes.key"))
            try await Self.sign(world, 1).done()
            try await Self.publish(world, 1, to: site)
            let pem = try String(contentsOfFile: world.path("jspatch.pub").string, encoding: .utf8)
            _ = try await serving(site) { url in
                func platform(_ version: String = "2.1") throws -> PatchlinePlatform {
                    try PatchlinePlatform(
                        root: "\(url)/\(Self.gateways)/platform/production",
                        appKey: Self.appKey,
                        appVersion: version,
                        publicKey: pem,
                        deviceID: "device 1",
                        folder: world.path("app").string
                    )
                }
                let app = try platform()
                #expect(try app.currentVersion == 0)
                #expect(try app.run() == nil)
                #expect(try await app.sync() == .installed(version: 1, run: .now))
                #expect(try app.currentVersion == 1)
                let scripts = try #require(try app.run())
                #expect(scripts.version == 1 && scripts.main == "one()\n" && scripts.include("cart.js") == "total()\n")
                #expect(try await app.report() == 0)
                #expect(try await app.sync(data: ["isMale": "1"]) == .kept("version 1 is installed"))
                for (device, key, message) in [
                    ("", nil, "deviceID must be 1 to 128 bytes without control characters"),
                    ("x", [1], "encryptionKey must be 16 bytes"),
                ] as [(String, [UInt8]?, String)] {
                    do throws(PatchlineError) {
                        _ = try PatchlinePlatform(
                            root: url,
                            appKey: Self.appKey,
                            appVersion: "2.1",
                            publicKey: pem,
                            encryptionKey: key,
                            deviceID: device,
                            folder: "/tmp"
                        )
                        Issue.record("it is made of what is none")
                    } catch { #expect(error.code == .invalid && error.description == message) }
                }
                #expect(try await platform("2.2").sync() == .kept("the server names no version"))
                do throws(PatchlinePlatform.Failure) {
                    _ = try await app.sync(data: ["is male": "1"])
                    Issue.record("that is no key")
                } catch {
                    #expect(error.kind == .invalid && error.code == nil)
                    #expect(error.description == "data: the key 'is male' \(ConditionKey.rule)")
                }
                _ = try await Self.shell(world, "find app -name scripts -exec sh -c 'echo x >>$1' x {} \\;")
                do throws(PatchlinePlatform.Failure) {
                    _ = try app.run()
                    Issue.record("it was altered on the disk")
                } catch {
                    #expect(error.domain == "com.jspatch" && error.code == 5_003 && error.kind == .refused, "\(error)")
                }
            }
        }
    }

    /// Publishes for everyone and for developers, whose numbers begin after one.
    private static func withDevelopers(
        in world: World,
        after: Int
    ) async throws -> (site: FilePath, published: [String]) {
        _ = try await prepare(world)
        let (site, keys) = (world.path("channels"), world.path("channel keys"))
        try await world.makeKeys(keys, ["--channel", "production", "--channel", "dev"])
        try await world.makeSite(site, keys: keys)
        var published: [String] = []
        for (number, channel, after) in [(1, "production", ""), (2, "dev", ", after: \(after)")] {
            try describe(
                world,
                number,
                main: "\(channel)()\n",
                jspatch: "loader: true, platform: \(appKey)\(after)"
            )
            _ = try await shell(world, "sed -i 's/channel: .*/channel: \(channel)/' source\(number)/release.yaml")
            let release = world.path("made\(number)").string
            let arguments = [
                "release", world.path("source\(number)").string, "--keys", keys.string, "--output", release,
            ]
            try await run(.patchsign, arguments + Self.keys, in: world.folder).done()
            let publish = ["publish", release, "--data", site.string]
            published.append(try await run(.patchsrv, publish, in: world.folder).done().output)
        }
        return (site, published)
    }

    /// J2.
    @Test func `in development mode get nothing under a number that everyone's channel gave out, which is said`()
        async throws
    {
        try await World.with { world in
            let (site, published) = try await Self.withDevelopers(in: world, after: 0)
            let warning = """
                developers at production do not get platform \(Self.appKey) 2.1 version 1: \
                that channel used the number for another package; release dev with a higher after
                """
            #expect(published.map { $0.contains("  \(warning)\n") } == [false, true], "\(published)")
            let listed = try await run(.patchsrv, ["list", "--data", site.string]).done().output
            let reported = #"{"p":true,"v":1}"#
            for line in [
                "gateway: dev platform \(Self.appKey) 2.1: at production, developers receive \(reported)\n",
                "gateway: dev: \(warning)\n",
            ] { #expect(listed.contains(line), "\(listed)") }
        }
    }

    /// J2.
    @Test func `in development mode get the developers' channel at the place of everyone's, and nobody else does`()
        async throws
    {
        try await World.with { world in
            let (site, _) = try await Self.withDevelopers(in: world, after: 1000)
            var policy = PlatformClient.Policy()
            policy.audience = .developers
            let (developer, everyone) = (
                try Self.platform(world, "developer", policy), try Self.platform(world, "everyone")
            )
            _ = try await serving(site) { url in
                #expect(try await Self.sync(everyone, url) == .install(try #require(LoaderVersion(1)), run: .now))
                #expect(try everyone.scripts()?.main == "production()\n")
                #expect(
                    try await Self.sync(developer, url) == .install(try #require(LoaderVersion(1_001)), run: .now)
                )
                #expect(try developer.scripts()?.main == "dev()\n")
                let reports = "\(url)/\(Self.gateways)/platform/production/succ.php"
                for (version, status) in [("1001", "200"), ("1002", "404")] {
                    let fields = ["k=\(Self.appKey)", "av=2.1", "pv=\(version)", "d=developer"]
                    let arguments = ["-sS", "-w", "%{http_code}", "-o", "/dev/null"]
                    let said = try await run(
                        .system("curl"),
                        arguments + fields.flatMap { ["-d", $0] } + [reports]
                    ).done().output
                    #expect(said == status, "\(version)")
                }
                let listed = try await run(.patchsrv, ["list", "--data", site.string]).done().output
                #expect(!listed.contains("not authenticated"), "\(listed)")
                let line = "gateway: dev platform \(Self.appKey) 2.1: at production, developers receive {\"v\":1001}\n"
                #expect(listed.contains(line), "\(listed)")
            }
            let exported = world.path("static")
            try await run(.patchsrv, ["export", exported.string, "--data", site.string]).done()
            let reported = try await Self.shell(
                world,
                "cd static/\(Self.gateways)/platform/production; cat dev/*/*/index.html; echo; ls */2.1"
            )
            #expect(reported.split(separator: "\n") == ["{\"v\":1001}", "file1", "file1001", "index.html"])
        }
    }

    @Test func `get a package of what stays on the server, and no change that needs one goes on without it unseen`()
        async throws
    {
        try await World.with { world in
            _ = try await Self.prepare(world)
            let (site, keys) = (world.path("channels"), world.path("channel keys"))
            try await world.makeKeys(keys, ["--channel", "production", "--channel", "beta"])
            try await world.makeSite(site, keys: keys)
            let token = try await world.token(for: site)
            func make(_ number: Int, _ channel: String, after: String?) async throws {
                _ = try await Self.shell(
                    world,
                    "sed -i 's/channel: .*/channel: \(channel)/' source\(number)/release.yaml; rm -rf made\(number)"
                )
                let previous = after.map { ["--previous", world.path($0).string] } ?? []
                let arguments = [
                    "release", world.path("source\(number)").string, "--keys", keys.string, "--output",
                    world.path("made\(number)").string,
                ]
                try await run(.patchsign, arguments + previous + Self.keys, in: world.folder).done()
                try await Self.publish(world, number, to: site)
            }
            try Self.describe(world, 1, main: "one()\n")
            try await make(1, "production", after: nil)
            try Self.describe(world, 2, main: "two()\n")
            try await make(2, "production", after: "made1")
            try Self.describe(world, 3, main: "three()\n")
            try await make(3, "beta", after: nil)
            try await serving(site) { url, operators in
                let at = [
                    "--channel", "production", "--server", operators, "--token-file", token.string, "--keys",
                    keys.string, "--push", "--yes",
                ]
                func sign(_ arguments: [String]) async throws -> Outcome {
                    try await run(.patchsign, arguments + at, in: world.folder)
                }
                let back = ["rollback", "--to", "1"]
                let refused = try await sign(back)
                #expect(refused.code == 64, "\(refused)")
                #expect(
                    refused.errors.contains(
                        """
                        loader 2.1 needs a new package, version 3, and there is no --jspatch-key; \
                        platform \(Self.appKey) 2.1 needs a new package, version 3, and there is no --jspatch-key and no --aes-key
                        hint: give --jspatch-key and --aes-key, or --without-packages, which continues without:
                        hint: loader 2.1: version 2 is no longer offered; clients that have it keep it
                        hint: platform \(Self.appKey) 2.1: its clients delete version 2, and get nothing
                        """
                    ),
                    "\(refused)"
                )
                let half = try await sign(back + Self.keys.prefix(2))
                #expect(
                    half.code == 64
                        && half.errors.contains(
                            "give --aes-key, or --without-packages, which continues without: "
                                + "its clients delete version 2, and get nothing"
                        ),
                    "\(half)"
                )
                #expect(try await Self.reported(world, url) == #"{"v":2} 200"#, "nothing was published")
                let other = try await Self.shell(world, "openssl rand 16 >other.key")
                #expect(other.isEmpty)
                let strange = try await sign(back + Self.keys.prefix(2) + ["--aes-key", "other.key"])
                #expect(
                    strange.code == 3
                        && strange.errors.contains(
                            "platform \(Self.appKey) 2.1: version 2 was made with another --aes-key, "
                                + "and apps that installed it would reject version 3"
                        ),
                    "\(strange)"
                )
                let stepped = try await sign(back + Self.keys)
                #expect(stepped.code == 0 && stepped.output.contains("published production 3"), "\(stepped)")
                #expect(try await Self.reported(world, url) == #"{"v":3} 200"#)
                let (loader, platform) = (try Self.loader(world), try Self.platform(world))
                try await Self.update(loader, to: 3, url)
                #expect(try loader.folder.scripts()?.main == "one()\n")
                _ = try await Self.sync(platform, url)
                #expect(try platform.scripts()?.main == "one()\n")

                let promotion = ["promote", "--from", "beta"]
                let stale = try await sign(promotion)
                #expect(
                    stale.code == 64
                        && stale.errors.contains(
                            "its clients stay on version 3, whose scripts this list replaces"
                        ),
                    "\(stale)"
                )
                let promoted = try await sign(promotion + Self.keys)
                #expect(promoted.code == 0, "\(promoted)")
                #expect(try await Self.reported(world, url) == #"{"v":4} 200"#)
                _ = try await Self.sync(platform, url)
                #expect(try platform.scripts()?.main == "three()\n")
                let without = try await sign(["rollback", "--to", "2", "--without-packages"])
                #expect(
                    without.code == 0
                        && without.errors.contains(
                            "loader 2.1: the package that its scripts need was not made; "
                                + "the next release with --jspatch-key makes version 5"
                        )
                        && without.errors.contains("the next release with --jspatch-key and --aes-key makes version 5"),
                    "\(without)"
                )
                #expect(try await Self.reported(world, url) == #"{"e":1} 200"#)
                let withdrawn = try await sign(["withdraw", "fix", "--version", "2"] + Self.keys)
                #expect(withdrawn.code == 0, "\(withdrawn)")
                #expect(try await Self.reported(world, url) == #"{"v":5} 200"#)
            }
            let checked = try await run(.patchsrv, ["check", "--data", site.string])
            #expect(checked.code == 0, "\(checked)")
        }
    }

    @Test func `are said to need keys of their own where a short app key makes several of them`() async throws {
        try await World.with { world in
            _ = try await Self.prepare(world)
            for (number, appKey, isWarned) in [(1, "0a1b2c3d4e", true), (2, "0a1b2c3d4e5f607", false)] {
                try Self.describe(world, number, main: "one()\n", jspatch: "platform: \(appKey)")
                _ = try await Self.shell(
                    world,
                    """
                    sed -i 's/"2.1"/"2.1", "2.2"/' source\(number)/release.yaml
                    printf %s_%s_jp \(appKey) 2.1 | head -c 16 >aes.key
                    """
                )
                let arguments = [
                    "release", world.path("source\(number)").string, "--keys", world.shop.keys.string, "--output",
                    world.path("made\(number)").string,
                ]
                let signed = try await run(.patchsign, arguments + Self.keys, in: world.folder).done()
                let warning =
                    "--aes-key: clients of app version 2.1 derive it from 0a1b2c3d4e_2.1_jp; those of "
                    + "2.2 derive another and cannot open their package"
                #expect(signed.errors.contains(warning) == isWarned, "\(signed)")
            }
        }
    }
}
