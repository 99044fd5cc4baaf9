import FoundationEssentials
import SystemPackage
import Testing

/// A device that follows a server in Meteor's wire: M3, M4, M7, M9, M11 to M13, M16, with the processes as they are.
@Suite("patchsync meteor")
struct MeteorFollowTests {
    private static let place = "\(Workshop.app)/gateways/meteor/production/"

    /// What follows a server, and a browser's view of it.
    private struct Page {
        let url: String
        let jar: FilePath

        /// - Returns: status and body.
        func ask(_ path: String, _ options: String...) async throws -> String {
            let base = url.prefix { $0 != "?" }
            let arguments = ["-sS", "-b", jar.string, "-w", "\n%{http_code}"] + options
            return try await run(.system("curl"), arguments + ["\(base)\(path)"]).done().output
        }

        /// Opens the page, as a browser does.
        func open() async throws -> String {
            try await run(.system("curl"), ["-sSL", "-c", jar.string, url]).done().output
        }

        /// Opens the page, and reports that it is shown.
        func show() async throws {
            let stamp = try await open().stamp ?? "none"
            _ = try await ask("__patchline/shown", "-d", #"{"page":"\#(stamp)","age":0}"#)
        }

        /// `startupDidComplete`: with the stamp of the page.
        func complete() async throws -> String {
            let stamp = try await ask("").stamp ?? "none"
            return try await ask("__patchline/confirm?page=\(stamp)", "-X", "POST")
        }

        func switchOver() async throws -> String {
            try await ask("__patchline/switch", "-X", "POST", "-H", "X-Patchline-Switch: 1")
        }
    }

    private func following(
        _ url: String,
        in world: World,
        _ options: [String] = ["--json"],
        while body: @escaping @Sendable (RunningProgram, Page) async throws -> Void
    ) async throws {
        let arguments = [
            "meteor", "--store", world.path("kept").string, "--bundle", world.path("phone/initial").string,
            "--root-url", "\(url)/\(Self.place)", "--port", "0", "--unsigned",
        ]
        _ = try await running(.patchsync, arguments + options) { program in
            let line = try await program.line(with: "listening")
            let page = try #require(line.firstMatch(of: #/http:[^" ]+/#)?.0)
            try await body(program, Page(url: String(page), jar: world.path("jar")))
        }
    }

    @Test func `fetches, waits for the switch, is confirmed, and goes on after a restart`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            try MeteorApp(number: 0).install(in: world.path("phone"))
            _ = try await serving(site) { url in
                try await following(url, in: world) { program, page in
                    #expect(try await page.open().contains("<title>release 0</title>"))
                    #expect(try await page.switchOver() == #"{"error":"No pending version to switch to"}"# + "\n409")
                    #expect(try await page.ask("__patchline/check", "-X", "POST").hasSuffix("\n202"))
                    _ = try await program.line(with: #""event":"ready","files":3"#)
                    #expect(try await page.open().contains("<title>release 0</title>"), "before its switch")
                    #expect(try await page.switchOver() == #"{"result":"switched"}"# + "\n200")
                    #expect(try await page.open().contains("<title>release 1</title>"))
                    #expect(try await page.ask("app/same.css") == "body { margin: 0 }\n\n200", "which the app brought")
                    let head = try await page.ask("app/same.css", "-I").lowercased()
                    #expect(head.contains("\r\netag: \"\(MeteorApp.same)\"\r\n"), "\(head)")
                    let status = try await page.ask("__patchline/status")
                    #expect(status.contains(#""channel":"meteor, unsigned""#), "\(status)")
                    #expect(try await page.complete() == #"{"result":"confirmed"}"# + "\n200")
                    #expect(try await page.complete() == #"{"result":"alreadyConfirmed"}"# + "\n200")
                    let reported = try await page.ask("__patchline/status")
                    #expect(
                        reported.contains(#""onTrial":false"#) && !reported.contains(#""lastSync":null"#),
                        "\(reported)"
                    )
                }
                try await MeteorApp(number: 2).publish(in: world, to: site, after: 1)
                try await following(url, in: world, ["--look-every", "86400", "--json"]) { program, page in
                    _ = try await program.line(with: #""event":"ready","files":1"#)
                    #expect(try await page.open().contains("<title>release 1</title>"))
                }
                try await following(url, in: world) { _, page in
                    let text = try await page.open()
                    #expect(text.contains("<title>release 2</title>"), "what waited runs at the next start")
                }
            }
        }
    }

    /// R1: another port of loopback gets no cookie of the app, at no start.
    @Test func `is served under a host of its own, the same at every start, unless 127.0.0.1 is asked for`()
        async throws
    {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try MeteorApp(number: 0).install(in: world.path("phone"))
            _ = try await serving(site) { url in
                let hosts = Hosts()
                for build in ["one", "two"] {
                    try MeteorApp(number: 0).install(in: world.path("phone"), as: build)
                    try await following(url, in: world) { _, page in
                        #expect(try await page.open().contains("<title>release 0</title>"))
                        let parts = try #require(
                            page.url.wholeMatch(of: #/http:\/\/([0-9a-f]{32}\.localhost):(\d+)\/.*/#)
                        )
                        await hosts.add(String(parts.1))
                        let port = String(parts.2)
                        for name in ["127.0.0.1", "localhost", "[::1]:\(port)"] {
                            let answer = try await page.ask(
                                "",
                                "-H",
                                "Host: \(name.contains("]") ? name : "\(name):\(port)")"
                            )
                            #expect(answer.hasSuffix("\n421"), "\(answer)")
                        }
                        let report = try await page.ask("__patchline/report")
                        #expect(report.contains(#""signed":false"#) && !report.contains(parts.1), "\(report)")
                        let held = try await run(.system("curl"), ["-sS", "http://[::1]:\(port)/"])
                        #expect(held.code == 7, "nobody else can listen there: \(held)")
                        let own = "import socket; s = socket.socket(socket.AF_INET6); s.bind(('::1', \(port)))"
                        let other = try await run(.system("python3"), ["-c", own])
                        #expect(other.code == 1 && other.errors.contains("Address already in use"), "\(other)")
                    }
                }
                #expect(await hosts.all.count == 1, "storage belongs to it")
                try await following(url, in: world, ["--no-own-host"]) { _, page in
                    #expect(page.url.hasPrefix("http://127.0.0.1:"))
                    let shown = try await page.open()
                    #expect(shown.contains("<title>release 0</title>"))
                }
            }
        }
    }

    @Test func `takes back what does not say that it started, and not a third time`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            try MeteorApp(number: 0).install(in: world.path("phone"))
            _ = try await serving(site) { url in
                try await following(url, in: world, ["--startup-timeout", "1", "--json"]) { program, page in
                    _ = try await page.open()
                    for _ in 1...2 {
                        let before = await program.lineCount
                        _ = try await page.ask("__patchline/check", "-X", "POST")
                        _ = try await program.line(with: #""event":"ready""#, from: before)
                        _ = try await page.switchOver()
                        // Its time begins with the first page that is shown.
                        try await page.show()
                        let line = try await program.line(with: #""event":"rolledBack""#, from: before)
                        #expect(line.contains(#""reason":"startupTimer""#), "\(line)")
                    }
                    #expect(try await page.open().contains("<title>release 0</title>"))
                    _ = try await page.ask("__patchline/check", "-X", "POST")
                    _ = try await program.line(with: "Skipping downloading blacklisted version")
                }
                try MeteorApp(number: 0).install(in: world.path("phone"), as: "other build")
                try await following(url, in: world, []) { program, page in
                    _ = try await page.open()
                    _ = try await page.ask("__patchline/check", "-X", "POST")
                    _ = try await program.line(with: " is downloaded and waits: 3 files received")
                    let root = "\(url)/\(Self.place.dropLast())"
                    let warning =
                        "warning: updates from \(root) are not signed: anyone who controls that server controls this device"
                    let text = await program.text
                    #expect(text.contains(warning) && text.contains("serving other build\n"), "\(text)")
                }
            }
        }
    }

    @Test func `asks to be told that nobody signs what comes, and needs a Meteor app`() async throws {
        try await World.with { world in
            try MeteorApp(number: 0).install(in: world.path("phone"))
            let arguments = [
                "meteor", "--store", world.path("kept").string, "--bundle", world.path("phone/initial").string,
                "--root-url", "http://127.0.0.1:1/",
            ]
            let refused = try await run(.patchsync, arguments)
            #expect(refused.code == 64)
            #expect(
                refused.errors.contains(
                    "updates from a Meteor server are not signed: --unsigned accepts them"
                )
            )
            let store = try await world.newDevice(server: "http://127.0.0.1:1", as: "store").store.string
            let taken = arguments.map { $0 == world.path("kept").string ? store : $0 }
            let refusal = try await run(.patchsync, taken + ["--unsigned"])
            #expect(refusal.code == 64 && refusal.errors.contains(" is a store of `patchsync init`\n"), "\(refusal)")
            #expect(refusal.errors.contains("name another folder for unsigned updates."))
            for (options, rule) in [
                (["--platform", "web"], "--platform must be android or ios"),
                (["--look-every", "0"], "--look-every must be from 1 to 31536000 seconds"),
                (["--startup-timeout", "0"], "--startup-timeout must be from 1 to 3600000 milliseconds"),
            ] {
                let wrong = try await run(.patchsync, arguments + ["--unsigned"] + options)
                #expect(wrong.code == 64 && wrong.errors.contains(rule), "\(wrong)")
            }
            try FileManager.default.removeItem(atPath: world.path("phone/initial/program.json").string)
            let missing = try await run(.patchsync, arguments + ["--unsigned"])
            #expect(missing.code == 6 && missing.errors.contains("program.json"), "\(missing)")
        }
    }

    @Test(arguments: ["www/application", "home/application"])
    func `serves what lies beside the app in Cordova's folders, and in nobody else's`(folder: String) async throws {
        try await World.with { world in
            try MeteorApp(number: 0).install(in: world.path("phone"))
            let bundle = world.path(folder)
            try FileManager.default.createDirectory(
                atPath: bundle.removingLastComponent().string,
                withIntermediateDirectories: true
            )
            try await copy(world.path("phone/initial"), to: bundle)
            try write("cordova()", to: bundle.removingLastComponent().appending("cordova.js"))
            let arguments = [
                "meteor", "--store", world.path("kept").string, "--bundle", bundle.string,
                "--root-url", "http://127.0.0.1:1/", "--port", "0", "--unsigned", "--json",
            ]
            _ = try await running(.patchsync, arguments) { program in
                let line = try await program.line(with: "listening")
                let url = try #require(line.firstMatch(of: #/http:[^" ]+/#)?.0)
                let page = Page(url: String(url), jar: world.path("jar"))
                _ = try await page.open()
                let beside = try await page.ask("cordova.js")
                #expect(beside == (folder.hasPrefix("www") ? "cordova()\n200" : "Not found.\n\n404"))
            }
        }
    }

    @Test func `says that its port is taken`() async throws {
        try await World.with { world in
            try MeteorApp(number: 0).install(in: world.path("phone"))
            _ = try await serving(world.shop.site1) { url in
                let port = try #require(url.split(separator: ":").last)
                let outcome = try await run(
                    .patchsync,
                    [
                        "meteor", "--store", world.path("kept").string, "--bundle", world.path("phone/initial").string,
                        "--root-url", url, "--unsigned", "--port", String(port),
                    ]
                )
                #expect(outcome.code == 7, "\(outcome)")
                #expect(outcome.errors.contains("port \(port) is taken by another program"))
                #expect(
                    outcome.errors.contains("stop it, or choose another with --port; pages lose their storage then.")
                )
            }
        }
    }
}

private actor Hosts {
    private(set) var all: Set<String> = []

    func add(_ host: String) { all.insert(host) }
}
