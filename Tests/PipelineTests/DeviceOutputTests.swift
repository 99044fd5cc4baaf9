import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// The JSON that apps which are not Swift are built on, held against the schemas that the program prints.
@Suite("The JSON of a device's commands")
struct DeviceOutputTests {
    /// What was printed, by the schema that describes it.
    private actor Printed {
        private(set) var documents: [String: String] = [:]

        func add(_ output: String, _ schema: String) { documents[schema, default: ""] += output }
    }

    @Test func `is what its schemas say, in every state that a device comes to`() async throws {
        try await World.with { world in
            let printed = Printed()
            @Sendable func reported(_ device: Device) async throws {
                await printed.add(try await device("status", "--json").done().output, "status")
                let why = try await device("explain", "--json")
                if why.code != 3 { await printed.add(try why.done().output, "explain") }
            }
            @Sendable func synced(_ device: Device, _ options: String...) async throws -> Outcome {
                let sync = try await device.sync(["--json"] + options)
                await printed.add(sync.output, sync.output.hasPrefix("{\"error\"") ? "error" : "sync")
                return sync
            }
            @Sendable func looked(_ device: Device) async throws {
                await printed.add(try await device.sync(["--json", "--dry-run"]).done().output, "dry-run")
            }
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.newDevice(server: server.url)
                try await reported(device)
                try await device("set", "--metered", "--limit-rate", "10MB").done()
                try await looked(device)
                let sync = try await synced(device)
                #expect(sync.code == 0 && sync.errors == "", "\(sync)")
                try await reported(device)
                let status = try await device("status").done().output
                #expect(
                    status.contains(
                        "network: metered: only mandatory versions are downloaded; at most 10.0 MB a second"
                    )
                )
                #expect(status.contains("fix 2: waits for a network that is not metered; it costs "), "\(status)")
                try await device("set", "--no-metered", "--limit-rate", "0B").done()
                try await looked(device)
                _ = try await synced(device)
                try await looked(device)
                try await reported(device)
                try await device.switchAndConfirm()
                try await reported(device)
                _ = try await synced(device)
                let script = try #require(
                    DeviceCommandTests.file(of: "tip", "1", in: try await device("status", "--json").output)
                )
                try await run(.system("rm"), ["-f", script.string]).done()
                try await reported(device)
                try await looked(device)
                _ = try await synced(device)
            }
            let device = try await world.settledDevice(server: "http://127.0.0.1:9", as: "settled")
            #expect(try await synced(device).code == 5)
            try await world.withServer(of: world.shop.site2) { server in
                try device.ask(server.url)
                try server.turn("404", for: "manifest")
                _ = try await synced(device)
                try server.beHonest()
                _ = try await synced(device, "--retry-failed")
                try await reported(device)
                await printed.add(
                    try await self.events(of: device, ["--no-sync"], until: "rolledBack", timeout: 1),
                    "events"
                )
                try await reported(device)
                _ = try await synced(device)
                _ = try await synced(device, "--retry-failed")
                let serving = try await self.events(of: device, ["--no-sync"], until: "serving", timeout: 600_000)
                await printed.add(serving, "events")
                try await reported(device)
                let status = try await device("status").output
                let token = try #require(status.firstMatch(of: #/echo ([0-9a-f]{32}) /#)?.1)
                try await device("confirm", "--launch", String(token)).done()
                await printed.add(try await self.events(of: device, [], until: "synced", timeout: 600_000), "events")
                try await device("rollback").done()
                try await reported(device)
                _ = try await synced(device)
                let late = try await device("confirm", "--json", "--launch", String(token))
                await printed.add(late.output, "error")
                try await device(
                    "set",
                    "--consent",
                    "ask",
                    "--postpone-limit",
                    "1h",
                    "--window",
                    "mon-fri 02:00-04:00",
                    "--window",
                    "sat,sun 00:00-24:00",
                    "--window-zone",
                    "+01:00"
                ).done()
                try await device("unblock").done()
                #expect(try await synced(device).code == 0)
                try await reported(device)
                let asking = try await device("status").done().output
                #expect(asking.contains("consent: new versions install after `patchsync approve`"), "\(asking)")
                #expect(
                    asking.contains("windows: new versions start mon-fri 02:00-04:00; sat,sun 00:00-24:00 (+01:00)")
                )
                #expect(asking.contains("fix 2: waits for approval (`patchsync approve fix@2`)"), "\(asking)")
                let unlisted = try await device("approve", "fix@9")
                #expect(unlisted.code == 3 && unlisted.errors.contains("fix@9 is not listed"), "\(unlisted)")
                #expect(try await device("approve").done().output.hasPrefix("approved: fix 2\n"))
                let put = try await device("postpone", "2h").done().output
                #expect(put.hasPrefix("postponed until ") && put.contains(", the most that this device's owner allows"))
                #expect(try await synced(device).code == 0)
                try await reported(device)
                #expect(try await device("postpone", "--end").done().output == "nothing is postponed any more\n")
                try server.turn("flipped", for: "timestamp")
                _ = try await synced(device)
                try write("{", to: device.store.appending("channels/production/state.json"))
                try await reported(device)
                await printed.add(try await device("status", "--debug", "--json").done().output, "status")
                let log = try await device("log", "--since", "2026-01-01T00:00:00Z").done().output
                for reason in ["not confirmed before the startup timer ended", "rolled back by hand"] {
                    let versions = "fix 2, tip 1, web 2.0.0 was rolled back: \(reason); back to fix 1, tip 1, web 1.0.0"
                    #expect(log.contains("  rolledBack  \(versions)\n"), "\(log)")
                }
                #expect(log.components(separatedBy: "  awaiting  fix 2 waits for approval\n").count == 2, "\(log)")
                #expect(log.contains("  approved  fix 2 was approved\n"), "\(log)")
                #expect(log.contains("  postponed  new versions were postponed until "), "\(log)")
                #expect(log.contains("  postponementEnded  the pending version may start again\n"), "\(log)")
                #expect(log.contains("  update  web 2.0.0 is listed for this device\n"), "\(log)")
                let kept = try read(device.store.appending("events.log"))
                let secret = try read(device.store.appending("access-token")).prefix(32)
                #expect(kept.contains(#""by":"rollback""#), "\(kept)")
                #expect(!kept.contains(secret) && !kept.contains(token), "\(kept)")
                #expect(try await device("log", "--since", "2999-01-01T00:00:00Z").done().output.isEmpty)
            }
            let seen = try await self.seen(await printed.documents, in: world)
            let expected: [String: [String]] = [
                "status": [
                    "phase=empty", "phase=pending", "phase=settled", "phase=trying", "launch", "lastSync", "activates",
                    "patches.state=UnInstall", "patches.state=Success", "patches.state=FileNotExist", "patches.fault",
                    "patches.file", "blocks.next=waits", "blocks.next=blocked", "blocks.next=onTrial",
                    "stateFault.error", "network.limitRate", "putOff.bytes", "policy.consent=ask", "policy.windows",
                    "hold.code=postponed", "postponed.until", "passedOver.code=unapproved", "debug.lastError.text",
                    "debug.log.at", "debug.failuresInARow",
                ],
                "sync": [
                    "staging=staged", "staging=unchanged", "patches.states=Add", "patches.states=Update",
                    "patches.file",
                    "putOff.left", "healed", "failures.error", "decisions.choice=take", "decisions.choice=keep",
                    "decisions.passedOver.code=waiting", "decisions.passedOver.code=rolledBackByHand",
                    "decisions.passedOver.code=unapproved",
                ],
                "dry-run": [
                    "patches.task=take", "patches.task=heal", "patches.task=keep", "patches.way=none",
                    "patches.task=putOff",
                    "patches.way=file", "patches.way=open", "metadata", "decisions.choice=take",
                ],
                "explain": [
                    "versions.outcome.code=staged", "versions.outcome.code=installed", "versions.outcome.version",
                    "versions.rules.passes", "versions.outcome.why", "versions.rules.turns.until",
                ],
                "events": [
                    "event=listening", "event=serving", "event=rolledBack", "event=synced", "launch", "from.patchId",
                ],
                "error": ["error.kind=network", "error.kind=refused", "error.hint"],
            ]
            for (schema, names) in expected {
                for name in names { #expect(seen[schema]?.contains(name) == true, "\(schema): no \(name)") }
            }
        }
    }

    @Test func `keeps the access token out of the system's journal, unless it is asked for`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            for (options, isShown) in [([], false), (["--json"], false), (["--print-url"], true)] as [([String], Bool)]
            {
                let journal = world.path("journal\(options.joined())")
                let command = """
                    : >"$1"; export JOURNAL_STREAM="$(stat -c %d:%i "$1")" PATCHSYNC_JOURNAL=/dev/null
                    store=$2; log=$1; shift 2
                    exec \(Tool.binaries)/patchsync serve --store "$store" --port 0 --no-sync "$@" >>"$log"
                    """
                let arguments = ["-c", command, "sh", journal.string, device.store.string] + options
                _ = try await running(.system("sh"), arguments) { program in
                    _ = try await eventually("a line") {
                        (try? read(journal))?.contains("serving") == true ? true : nil
                    }
                }
                let (text, token) = (try read(journal), try read(device.store.appending("access-token")))
                #expect(text.contains("listening"), "\(text)")
                #expect(text.contains(token.dropLast()) == isShown, "\(text)")
                #expect(text.contains(".localhost") == isShown, "\(text)")
            }
        }
    }

    @Test func `makes a store once: the same line again is done, and another is refused by what differs`() async throws
    {
        try await World.with { world in
            let device = Device(store: world.path("device"))
            let line = ["--root", world.root.string, "--server", "http://127.0.0.1:9"]
            func initialise(_ options: String...) async throws -> Outcome {
                try await run(.patchsync, ["init", "--store", device.store.string] + line + options)
            }
            #expect(try await initialise("--data", "region=eu").done().output.contains("store made in"))
            let before = try await StoreDigest(of: device.store)
            #expect(try await initialise("--data", "region=eu").done().output.contains("has these settings already"))
            #expect(try await initialise("--json").done().output.contains(#""made":false"#))
            let other = try await initialise("--channel", "beta", "--data", "region=us", "--no-own-host")
            #expect(other.code == 8, "\(other)")
            #expect(
                other.errors.contains(
                    "other settings: channel (production, not beta); data region; host (own, not 127.0.0.1)"
                ),
                "\(other)"
            )
            let keys = world.shop.otherKeys.appending("root.json").string
            let root = try await run(
                .patchsync,
                ["init", "--store", device.store.string, "--root", keys, "--server", "http://127.0.0.1:9"]
            )
            #expect(root.code == 8 && root.errors.contains("other settings: root of trust"), "\(root)")
            #expect(try await StoreDigest(of: device.store) == before)
        }
    }

    /// The unit of the page is one that systemd takes.
    @Test func `is run by the unit that the page shows`() async throws {
        let page = try read(Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/Devices.md"))
        let unit = try #require(
            page.firstMatch(of: #/```ini\n# \/etc\/systemd\/system\/(shop\.service)\n((?s).*?)```/#)
        )
        let source = String(unit.2)
        guard (try? Tool.system("systemd-analyze").executable) != nil else { return }
        try await World.with { world in
            let text = source.replacing("/usr/local/bin/patchsync", with: "\(Tool.binaries)/patchsync")
            let file = world.path("shop.service")
            try write(text.replacing("User=shop", with: "User=root"), to: file)
            let judged = try await run(.system("systemd-analyze"), ["verify", "--man=no", file.string])
            #expect(judged.code == 0 && !judged.text.contains("shop.service"), "\(judged)")
            let serve = try #require(text.firstMatch(of: #/ExecStart=\S+ (serve .*)/#)?.1)
            for option in serve.split(separator: " ") where option.hasPrefix("--") {
                #expect(try await run(.patchsync, ["help", "serve"]).output.contains(option), "\(option)")
            }
        }
    }

    /// What `serve --json` prints until an event comes.
    private func events(of device: Device, _ options: [String], until event: String, timeout: Int) async throws
        -> String
    {
        let arguments = [
            "serve", "--store", device.store.string, "--port", "0", "--startup-timeout", "\(timeout)",
            "--startup-timer", "launch", "--json",
        ]
        let more = options.isEmpty ? ["--sync-every", "3600"] : options
        let (_, outcome) = try await running(.patchsync, arguments + more) {
            _ = try await $0.line(with: #""event":"\#(event)""#)
        }
        return outcome.output.hasSuffix("\n") ? outcome.output : outcome.output + "\n"
    }

    /// The names of all members that were printed, by schema; each document holds.
    private func seen(_ documents: [String: String], in world: World) async throws -> [String: Set<String>] {
        var seen: [String: Set<String>] = [:]
        for (name, lines) in documents {
            let (schema, file) = (world.path("\(name).schema.json"), world.path("\(name).jsonl"))
            try write(try await run(.patchsync, ["schema", name]).done().output, to: schema)
            try write(lines, to: file)
            let judged = try await run(.python, [Tool.script("schema.py"), schema.string, file.string])
            #expect(judged.code == 0, "\(judged)")
            seen[name] = Set(judged.output.split(separator: "\n").map(String.init))
        }
        return seen
    }
}
