import DeviceOutput
import DeviceTesting
import FoundationEssentials
import Glibc
import HTTPAPI
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import Patchline
import Subprocess
import SystemPackage
import Testing

@testable import PatchDaemon

@Suite("The local socket", .serialized, .timeLimit(.minutes(10)))
struct ControlServerTests {
    private static let store = "/v1/stores/shop"

    private func problem(_ answer: TestHost.Answer) -> String {
        guard case .string(let kind) = answer.json?["title"], case .string(let detail) = answer.json?["detail"] else {
            return answer.body
        }
        return "\(answer.status) \(kind.text): \(detail.text)"
    }

    @Test func `does what the commands do, and says what they say`() async throws {
        try await TestHost.with { host in
            let store = Self.store
            #expect(try await host.curl("/v1").body == "{\"stores\":[\"shop\"],\"version\":\"\(Product.version)\"}\n")
            #expect(
                problem(try await host.curl("\(store)/confirm", "-X", "POST"))
                    == "409 refused: nothing is on trial, so nothing was confirmed; the active version is fix 1, web 1"
            )
            let sync = try await host.curl("\(store)/sync", "-X", "POST", "-d", #"{"metered":false}"#)
            #expect(sync.status == 200 && sync.json?["staging"] == .text("staged"))
            let states =
                #"{"meaning":"downloaded, waits","patchId":"web","states":["Update","UnInstall"],"version":"2"}"#
            #expect(sync.body.contains(states), "\(sync)")
            let status = try await host.curl("\(store)/status")
            let device = try host.device()
            #expect(status.hasBody(try device.status().json(device.configuration)))
            #expect(status.json?["phase"] == .text("pending"))
            let switched = try await host.curl("\(store)/switch", "-X", "POST")
            guard case .string(let launch)? = switched.json?["launch"] else {
                Issue.record("\(switched)")
                return
            }
            #expect(switched.json?["result"] == .text("trying"))
            let cost = problem(try await host.curl("\(store)/cost"))
            #expect(cost == "409 failed: a version is on trial; the cost of a sync is known once it is confirmed")
            let other = String(repeating: "0", count: 32)
            #expect(
                problem(try await host.curl("\(store)/confirm", "-d", #"{"launch":"\#(other)"}"#))
                    == "409 refused: this token is not the one of the running trial; nothing was confirmed"
            )
            #expect(
                problem(try await host.curl("\(store)/confirm", "-d", #"{"launch":"x"}"#))
                    == "400 usage: the body: launch must be 32 lowercase hex digits"
            )
            #expect(try await host.curl("\(store)/confirm", "-X", "POST").body == "{\"result\":\"confirmed\"}\n")
            let again = try await host.curl("\(store)/confirm", "-d", #"{"launch":"\#(launch.text)"}"#)
            #expect(again.body == "{\"result\":\"alreadyConfirmed\"}\n")
            let overview = try await host.curl(store)
            #expect(overview.json?["phase"] == .text("settled"))
            #expect(overview.body.contains(#""next":{"reason":"interval","seconds":900}"#), "\(overview)")
            #expect(overview.json?["pages"]?["url"] == host.pages().map { .text($0.url) })
            #expect(
                try await host.curl("/v1/stores").hasBody(.fields([("stores", .array([try #require(overview.json)]))]))
            )
            let explained = try await host.curl("\(store)/explain?patch=web&version=2&at=2026-12-24T18%3A00%3A00Z")
            let whole = try #require(try device.explanation(at: UTCTime("2026-12-24T18:00:00Z")))
            let web = try #require(PatchID("web"))
            #expect(explained.hasBody(whole.only(web, VersionLabel("2")).json(device.configuration)), "\(explained)")
            #expect(
                problem(try await host.curl("\(store)/explain?patch=web&version=9"))
                    == "409 refused: web@9 is not listed"
            )
            #expect(
                problem(try await host.curl("\(store)/explain?at=now"))
                    == "400 usage: the query: at must be a time: YYYY-MM-DDTHH:MM:SSZ"
            )
            #expect(
                problem(try await host.curl("\(store)/explain?patch=%2F"))
                    == "400 usage: the query: patch \(PatchID.rule)"
            )
            let log = try await host.curl("\(store)/log?since=2026-01-01T00:00:00Z")
            #expect(log.body.hasPrefix(#"{"lines":[{"at":"#) && log.body.contains(#""event":"updateDone""#), "\(log)")
            #expect(!log.body.contains(launch.text), "no token stands in the log")
            #expect(try await host.curl("\(store)/log?since=2999-01-01T00:00:00Z").body == "{\"lines\":[]}\n")
            #expect(try await host.curl("\(store)/parameters").hasBody(try device.parameters().shown))
            #expect(problem(try await host.curl("\(store)/cost")).hasPrefix("502 network: "))
            #expect(problem(try await host.curl("\(store)/sync?dry-run", "-X", "POST")).hasPrefix("502 network: "))
            for call in ["background", "foreground"] {
                #expect(try await host.curl("\(store)/\(call)", "-X", "POST").status == 204)
            }
            #expect(try await host.curl("\(store)/rollback", "-X", "POST").body == "{\"result\":\"rolledBack\"}\n")
            // By hand, too, it is an event and stands in the log.
            let lines = try await host.curl("\(store)/log").body
            #expect(lines.contains(#""event":"rolledBack""#) && lines.contains("was rolled back"), "\(lines)")
            #expect(
                problem(try await host.curl("\(store)/rollback", "-X", "POST")).hasPrefix(
                    "409 failed: there is no earlier"
                )
            )
            let beta = try await host.curl("\(store)/switch", "-d", #"{"channel":"beta"}"#)
            #expect(beta.json?["channel"] == .text("beta") && beta.json?["running"] == .text("fix 1, web 1"))
            #expect(problem(try await host.curl("\(store)/explain")) == "409 refused: no list was verified here yet")
        }
    }

    @Test func `changes settings by a merge patch, with the rules of the command`() async throws {
        try await TestHost.with { host in
            func set(_ body: String) async throws -> TestHost.Answer {
                try await host.curl(
                    "\(Self.store)/settings",
                    "-X",
                    "PATCH",
                    "-H",
                    "Content-Type: application/merge-patch+json",
                    "-d",
                    body
                )
            }
            let first = try await set(
                #"""
                {"appVersion":"2.1","user":"ann","data":{"region":"eu","tier":"1"},"keep":2,"answers":true,"express":false,
                "platform":{"name":"ios","compatibility":"0abe"},"entrySignatures":"manifest","ownHost":false,
                "mirrors":["https://a.example.net"],"network":{"metered":true,"allowance":20000,"limitRate":500000}}
                """#
            )
            #expect(first.status == 200, "\(first)")
            #expect(first.hasBody(try host.device().configuration.facts))
            #expect(first.json?["data"] == .fields([("region", .text("eu")), ("tier", .text("1"))]))
            #expect(first.json?["network"]?["limitRate"] == .integer(500_000) && first.json?["ownHost"] == .bool(false))
            let second = try await set(
                #"{"user":null,"data":{"tier":null},"platform":null,"keep":null,"mirrors":null,"network":{"limitRate":null,"allowance":null}}"#
            )
            #expect(second.json?["user"] == nil && second.json?["platform"] == nil)
            #expect(second.json?["data"] == .fields([("region", .text("eu"))]))
            #expect(second.json?["appVersion"] == .text("2.1") && second.json?["mirrors"] == .array([]))
            #expect(second.body.contains(#""network":{"allowance":0,"metered":true}"#))
            let third = try await set(#"{"host":"localhost","reserve":64000000}"#)
            #expect(third.json?["host"] == .text("localhost") && third.json?["reserve"] == .integer(64_000_000))
            let fourth = try await set(#"{"host":null,"reserve":null}"#)
            #expect(fourth.json?["host"] == .text("own") && fourth.json?["reserve"] == nil)
            let before = try host.device().configuration
            for (body, said) in [
                (#"{"host":"example.org"}"#, "the body: host must be own, localhost or 127.0.0.1"),
                (#"{"platform":{"name":"ios"}}"#, "the body: platform and compatibility go together"),
                (#"{"reserve":-1}"#, "the body: reserve must be an integer from 0 to 1000000000000"),
                (#"{"appVersion":"x y"}"#, "the body: appVersion \(AppVersion.rule)"),
                (#"{"data":{"":"1"}}"#, "the body: data holds a key that \(ConditionKey.rule)"),
                (#"{"keep":11}"#, "the body: keep must be an integer from 0 to 10"),
                (#"{"answers":1}"#, "the body: answers must be true or false"),
                (#"{"mirrors":["x"]}"#, "the body: mirrors \(ServerURL.rule)"),
                (#"{"network":1}"#, "the body: network must be an object"),
                (#"[]"#, "the body must be an object"), ("{", "the body is not JSON (byte 1)"),
            ] {
                let answer = problem(try await set(body))
                #expect(answer == "400 usage: \(said)")
            }
            let consent = problem(try await set(#"{"policy":{"consent":"never"}}"#))
            #expect(consent == "400 usage: the body: policy.consent \(Consent.rule)")
            let pinned = problem(try await set(#"{"pins":["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}"#))
            #expect(pinned == "400 usage: patches.test is contacted without TLS, although its key or authority is set")
            #expect(try host.device().configuration == before)
        }
    }

    @Test func `takes what the owner and the people of a device decide`() async throws {
        try await TestHost.with { host in
            let store = Self.store
            func ask(_ method: String, _ path: String, _ body: String = "{}") async throws -> TestHost.Answer {
                try await host.curl("\(store)/\(path)", "-X", method, "-d", body)
            }
            let set = try await ask(
                "PATCH",
                "settings",
                #"{"policy":{"consent":"ask","postponeLimit":7200,"windows":["mon-fri 02:00-04:00"],"windowZone":"+01:00"}}"#
            )
            #expect(
                set.body.contains(
                    #""policy":{"consent":"ask","postponeLimit":7200,"windowZone":"+01:00","windows":["mon-fri 02:00-04:00"]}"#
                ),
                "\(set)"
            )
            let forgotten = try await ask("PATCH", "settings", #"{"policy":{"consent":null,"windows":null}}"#)
            let policy = try host.device().configuration.policy
            #expect(forgotten.status == 200 && policy.consent == .automatic && policy.windows.windows.isEmpty)
            #expect(policy.postponeLimit == .seconds(7_200), "what is not named stays")
            let nowhere = problem(try await ask("PATCH", "settings", #"{"policy":{"windowZone":"Europe/Nowhere"}}"#))
            let words = "is not a zone of this machine: there is no time zone Europe/Nowhere in /usr/share/zoneinfo; "
            #expect(nowhere.contains(words), "\(nowhere)")

            #expect(try await ask("POST", "approve", #"{"all":true}"#).body == #"{"approved":[]}"# + "\n")
            // A slip in a name would be consent to everything.
            for body in ["{}", #"{"all":false}"#, #"{"patch":"web","all":true}"#] {
                #expect(
                    problem(try await ask("POST", "approve", body))
                        == "400 usage: the body: patch or all is required, but not both: all approves every waiting version"
                )
            }
            #expect(
                problem(try await ask("POST", "approve", #"{"version":"1"}"#))
                    == "400 usage: the body: version requires patch"
            )
            #expect(try await ask("POST", "postpone", #"{"seconds":3600}"#).json?["until"] != nil)
            #expect(
                problem(try await ask("POST", "postpone", #"{"seconds":0}"#))
                    == "400 usage: the body: seconds must be an integer from 1 to 31536000"
            )
            #expect(try await ask("DELETE", "postpone").json?["ended"] == .bool(true))
            #expect(try await ask("DELETE", "postpone").json?["ended"] == .bool(false))
            let log = StoreLog(try host.device().store.root).lines()
            #expect(log.suffix(2).map { $0["event"] } == [.text("postponed"), .text("postponementEnded")], "\(log)")
            _ = try await ask("PATCH", "settings", #"{"policy":{"postponeLimit":0}}"#)
            #expect(
                problem(try await ask("POST", "postpone", #"{"seconds":60}"#))
                    == "409 refused: the owner's limit for postponements is reached"
            )
        }
    }

    @Test func `refuses what is too large, what is not there, and what a page sends`() async throws {
        try await TestHost.with { host in
            let store = Self.store
            #expect(
                problem(try await host.curl("\(store)/status", "-H", "Origin: null")).hasPrefix(
                    "403 forbidden: a request with an Origin"
                )
            )
            for path in ["/", "/v2", "/v1/", "/v1/stores/shop/", "/v1/stores/shop/nothing"] {
                #expect(problem(try await host.curl(path)) == "404 notFound: there is nothing here", "\(path)")
            }
            #expect(problem(try await host.curl("/v1/stores/other/status")) == "404 notFound: no store has this name")
            #expect(problem(try await host.curl("\(store)/sync")) == "405 methodNotAllowed: allowed methods: POST")
            #expect(
                problem(try await host.curl("\(store)/settings", "-X", "DELETE"))
                    == "405 methodNotAllowed: allowed methods: GET, PATCH"
            )
            let large = host.root.appending("large")
            try DiskFiles().write([UInt8](repeating: 0x20, count: ControlCall.bodyLimit + 1), to: large)
            #expect(
                problem(try await host.curl("\(store)/sync", "--data-binary", "@\(large.string)"))
                    == "413 tooLarge: The request's body is too large."
            )
            let field = String(repeating: "f", count: 17_000)
            let long = problem(try await host.curl("/v1", "-H", "X-Long: \(field)"))
            #expect(long == "431 refused: The request's head is too large.")
            #expect(try await host.curl("/v1", "--http1.0").status == 200)
            #expect(try await host.curl("/v1", "--head").status == 200)
        }
    }

    @Test func `tells events as they happen, and goes on behind the last one that was heard`() async throws {
        try await TestHost.with { host in
            func heard(
                _ lines: Int,
                _ options: String...,
                meanwhile: (() async throws -> Void)? = nil
            ) async throws -> [Substring] {
                // Who goes away is noticed with the next beat.
                let script = """
                    curl -sN --unix-socket "$1" "http://patchline$2" "${@:4}" | while [ $3 -gt $((count)) ]; do
                        read -r line || break
                        case $line in [a-z]*) echo "$line"; count=$((count + 1)) ;; esac
                    done
                    """
                let socket = host.socket.string
                async let outcome = run(
                    "bash",
                    ["-c", script, "bash", socket, "\(Self.store)/events", "\(lines)"] + options
                )
                if let meanwhile {
                    while host.log.hub.listeners == 0 { await Task.yield() }
                    try await meanwhile()
                }
                return try await outcome.output.split(separator: "\n")
            }
            let accepted = try await heard(7) {
                let asked = try await host.curl("\(Self.store)/sync", "-X", "POST", "-H", "Prefer: respond-async", "-i")
                #expect(asked.status == 202 && asked.body.contains("Preference-Applied: respond-async"), "\(asked)")
            }
            let ids = accepted.filter { $0.hasPrefix("id: ") }
            try #require(accepted.first == "retry: 1000" && ids.count == 2, "\(accepted)")
            let last = ids.first?.dropFirst(4) ?? ""
            let again = try await heard(4, "-H", "Last-Event-ID: \(last)")
            #expect(again.contains(ids[1]) && !again.contains(ids[0]), "\(again)")
            let event = try #require(again.first { $0.hasPrefix("data: ") })
            let json = try JSON(parsing: Array(event.dropFirst(6).utf8))
            #expect(json["store"] == .text("shop") && json["id"] == .text(String(ids[1].dropFirst(4))))
        }
    }

    /// T14: a name that is not known would be a wish that nobody fulfils.
    @Test(
        arguments: [
            (
                "PATCH", "settings", #"{"keep":3,"consent":"ask"}"#,
                "the body: consent is not a member of this request", "did you mean policy.consent?"
            ),
            (
                "PATCH", "settings", #"{"network":{"meterd":true}}"#,
                "the body: network.meterd is not a member of this request", "did you mean network.metered?"
            ),
            (
                "PATCH", "settings", #"{"polcy":{"consent":"ask"}}"#,
                "the body: polcy is not a member of this request", "did you mean policy?"
            ),
            (
                "PATCH", "settings", #"{"policy":{"metered":true}}"#,
                "the body: policy.metered is not a member of this request", "did you mean network.metered?"
            ),
            (
                "PATCH", "settings", #"{"embedded":"/x"}"#, "the body: embedded is not a member of this request",
                "it takes appVersion, user, data, platform.name, platform.compatibility, keep, reserve, answers, express, entrySignatures, mirrors, pins, host, ca, network.metered, network.allowance, network.limitRate, policy.consent, policy.postponeLimit, policy.windows, policy.windowZone, ownHost."
            ),
            (
                "POST", "approve", #"{"patchId":"web"}"#, "the body: patchId is not a member of this request",
                "did you mean patch?"
            ),
            (
                "POST", "postpone", #"{"seconds":60,"minutes":1}"#, "the body: minutes is not a member of this request",
                "it takes seconds."
            ),
            (
                "POST", "sync", #"{"retry-failed":true}"#, "the body: retry-failed is not a member of this request",
                "did you mean retryFailed?"
            ),
            (
                "POST", "switch", #"{"chanel":"beta"}"#, "the body: chanel is not a member of this request",
                "did you mean channel?"
            ),
            (
                "POST", "confirm", #"{"token":"0"}"#, "the body: token is not a member of this request",
                "it takes launch."
            ),
            ("POST", "rollback", #"{"to":"1"}"#, "the body: to is not a member of this request", "it takes none."),
            (
                "POST", "sync?dryrun", "", "the query: dryrun is not a parameter of this request",
                "did you mean dry-run?"
            ),
            (
                "GET", "explain?patches=web", "", "the query: patches is not a parameter of this request",
                "did you mean patch?"
            ),
            ("GET", "status?x=%zz&%q", "", "the query: x is not a parameter of this request", "it takes none."),
            ("GET", "log?%q=1", "", "the query has a percent sign without two hex digits behind it", ""),
            ("GET", "log?since=%zz", "", "the query has a percent sign without two hex digits behind it", ""),
            ("POST", "sync?dry-run=%zz", "", "the query has a percent sign without two hex digits behind it", ""),
        ] as [(String, String, String, String, String)]
    )
    func `refuses names that it does not know, at any depth, and sets nothing`(
        method: String,
        target: String,
        body: String,
        detail: String,
        hint: String
    ) async throws {
        try await TestHost.with { host in
            let before = try host.device().configuration
            let options = ["-X", method] + (body.isEmpty ? [] : ["-d", body])
            let answer = try await host.curl("\(Self.store)/\(target)", options)
            #expect(problem(answer) == "400 usage: \(detail)")
            #expect(answer.json?["hint"] == (hint.isEmpty ? nil : .text(hint)))
            #expect(try host.device().configuration == before)
            #expect(try host.device().state().machine.state.phase.rawValue == "settled")
        }
    }

    @Test func `makes its socket again when somebody removes it, and goes on behind the last event`() async throws {
        try await TestHost.with { host in
            #expect(try await host.curl("/v1").status == 200)
            try DiskFiles().remove(host.socket)
            while host.news.withLockedValue(\.count) < 3 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(host.news.withLockedValue(\.self) == [.listening, .vanished(host.socket), .listening])
            #expect(try await host.curl("/v1").status == 200)
            // With its folder, in one step: `rm -rf` could still remove the next socket.
            try DiskFiles().rename(host.socket.removingLastComponent(), to: host.root.appending("moved"))
            while host.news.withLockedValue(\.count) < 5 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await host.curl("/v1").status == 200)
        }
    }

    @Test func `says once that its socket cannot be had, and has it as soon as that is over`() async throws {
        let root = FilePath("/tmp/control-tries-\(UInt64.random(in: 0...UInt64.max))")
        try DiskFiles().makeDirectory(root)
        defer { try? DiskFiles().removeTree(root) }
        let path = root.appending("control.sock")
        try DiskFiles().write([1], to: path)
        var settings = ControlServer.Settings()
        let pauses = NIOLockedValueBox<[Duration]>([])
        settings.sleep = { pause in
            pauses.withLockedValue { $0.append(pause) }
            if pauses.withLockedValue(\.count) == 2 { try DiskFiles().remove(path) }
        }
        let server = ControlServer(at: .path(path), settings, hosts: { [] }, log: EventLog())
        let (all, one) = AsyncStream.makeStream(of: ControlServer.News.self)
        let running = Task { await server.run { one.yield($0) } }
        var reported: [ControlServer.News] = []
        for await news in all {
            reported.append(news)
            if news == .listening { break }
        }
        running.cancel()
        await running.value
        #expect(reported == [.failed(.notASocket(path)), .listening])
        #expect(pauses.withLockedValue(\.self) == [.seconds(2), .seconds(4)])
    }

    /// R10, of another user, whom only root can be.
    @Test(.enabled(if: geteuid() == 0))
    func `has room for its owner, however many streams another user opens`() async throws {
        try await TestHost.with { host in
            try #require(unsafe chmod(host.root.string, 0o755) == 0)
            let own = host.log.hub.wakes()
            let script = """
                for number in $(seq 80); do curl -sN --unix-socket "$1" http://patchline/v1/events & done; wait
                """
            async let flood = run(
                "setpriv",
                [
                    "--reuid", "65534", "--regid", "0", "--clear-groups", "bash", "-c", script, "bash",
                    host.socket.string,
                ]
            )
            while host.log.hub.listenersSoFar <= EventLog.mostListeners + 1 {
                try await Task.sleep(for: .milliseconds(5))
            }
            for _ in 1...3 { #expect(try await host.curl("/v1").status == 200) }
            #expect(host.log.hub.listeners <= EventLog.mostListeners)
            host.log.close()
            let ended = try await flood.output
            #expect(ended.contains("event: missed\ndata: {\"missed\":0}\n"), "the oldest of that user made room")
            for await wake in own { #expect(wake != .end) }
        }
    }
}
