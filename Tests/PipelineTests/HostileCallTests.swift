import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// Bytes from outside cost an answer, and never the process: every store of a device depends on it.
///
/// By hand for as long as `PATCHLINE_CALLS_SECONDS` says, from the seed `PATCHLINE_CALLS_SEED` on: `make calls`.
@Suite("Hostile input to patchsync run", .timeLimit(.minutes(120)))
struct HostileCallTests {
    private static func setting(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// Runs `patchsync run` for two stores, whose one version is confirmed; `shop` has a script that runs in pages.
    private func keeping(
        _ body: @escaping @Sendable (World, RunningProgram, _ settings: FilePath) async throws -> Void
    ) async throws {
        try await World.with { world in
            let (source, site) = (world.path("source"), world.path("site"))
            try Source(1).put(in: source)
            let description = try read(source.appending("release.yaml"))
            try write(
                description.replacing("file: scripts/fix.js}", with: "file: scripts/fix.js, runsIn: page}"),
                to: source.appending("release.yaml")
            )
            try await world.makeSite(site, keys: world.shop.keys)
            try await world.release(source, to: "out").done()
            try await world.publish(world.path("out"), to: site).done()
            let serving = ["serve", "--data", site.string] + anyPorts
            _ = try await running(.patchsrv, serving, deadline: .seconds(7_100)) { server in
                let url = try await server.address()
                let settings = world.path("patchsync.yaml")
                let stores = ["till", "shop"].map { name in
                    """
                      \(name):
                        store: \(world.path(name))
                        server: '\(url)'
                        root: \(world.root)
                        port: 0
                        url-file: \(world.path("\(name).url"))
                        startup-timeout: 10m

                    """
                }
                try write("socket: \(world.path("run.sock"))\nstores:\n" + stores.joined(), to: settings)
                let arguments = ["run", "--config", settings.string]
                let (_, outcome) = try await running(.patchsync, arguments, deadline: .seconds(7_000)) { program in
                    for name in ["till", "shop"] {
                        let line = try await program.line(with: "\(name): serving fix 1, tip 1, web 1.0.0 (on trial")
                        let token = try #require(line.firstMatch(of: #/echo ([0-9a-f]{32})/#)?.1)
                        try await Device(store: world.path(name))("confirm", "--launch", String(token)).done()
                        _ = try await program.line(with: "\(name): confirmed: fix 1, tip 1, web 1.0.0")
                    }
                    try await body(world, program, settings)
                }
                #expect(outcome.code == 0, "\(outcome)")
            }
        }
    }

    @Test func `about a script that threw is one event, and both stores go on`() async throws {
        try await keeping { world, program, _ in
            let url = try read(world.path("shop.url")).filter { !$0.isNewline }
            let page = try await Page.opened(
                device: Device(store: world.path("shop")),
                program: program,
                address: url
            )
            let body = #"{"patchId":"fix","version":"1","fault":"threw","message":"x","line":1,"column":1}"#
            let reported = try await page.get("/__patchline/script-failed", "--json", body)
            #expect(reported.status == 200 && reported.body.contains("told"), "\(reported)")
            _ = try await program.line(with: "shop: trouble: fix 1 failed in a page: x (line 1, column 1)")
            let log = try await Device(store: world.path("shop"))("log", "--json")
            #expect(log.output.contains(#""event":"scriptFailed""#), "\(log)")
            #expect(log.output.contains(#""patchId":"fix""#), "\(log)")
            let shown = try await page.get("/")
            #expect(shown.status == 200 && shown.body.contains("release 1"), "\(shown)")
        }
    }

    @Test func `by made-up calls, requests and settings ends nothing, and the other store does not notice`()
        async throws
    {
        try await keeping { world, program, settings in
            var arguments = [
                Tool.script("throw_calls.py"), settings.string, world.path("run.sock").string,
                world.path("shop.url").string, world.path("till.url").string, "400",
            ]
            if let seconds = Self.setting("PATCHLINE_CALLS_SECONDS") {
                arguments += [seconds, Self.setting("PATCHLINE_CALLS_SEED") ?? "1"]
            }
            let thrown = try await run(.python, arguments, deadline: .seconds(6_900))
            let printed = await program.text
            #expect(thrown.code == 0, "\(thrown)\n\(printed.suffix(4_000))")
            #expect(await !program.hasEnded, "\(thrown)\n\(printed.suffix(4_000))")
            let verified = try await Device(store: world.path("till"))("verify")
            #expect(verified.code == 0, "\(verified)")
        }
    }
}
