import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// Rows J6 and E8, by the programs.
@Suite("A server that answers its devices", .timeLimit(.minutes(30)))
struct AnswerTests {
    private func answer(_ site: FilePath, _ verb: String, _ options: String...) async throws -> Outcome {
        try await run(.patchsrv, ["answer", verb, "--data", site.string, "--channel", "production"] + options)
    }

    private func dial(_ site: FilePath, _ options: String...) async throws -> Outcome {
        try await run(.patchsrv, ["dial", "--data", site.string, "--channel", "production"] + options)
    }

    /// How many of the devices have the tip, after each asked, all at once.
    private func tips(_ devices: [Device]) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for device in devices {
                group.addTask {
                    try await device.sync().done()
                    return try await device("status").output.contains(#/tip +script +1 /#)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    @Test func `opens a version to exactly as many devices as its head-count, and never to fewer`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await dial(site, "--headcount", "tip@1=2").done()
            try await serving(site) { url in
                var devices: [Device] = []
                for number in 1...5 { devices.append(try await world.newDevice(server: url, as: "d\(number)")) }
                #expect(try await tips(devices) == 2)
                let shown = try await dial(site).done()
                #expect(shown.output.contains(#/tip +1 +100% +- +100% +2 of 2\n/#), "\(shown)")
                var waiting = 0
                for device in devices {
                    if try await device.sync().output.contains("tip 1: waits for a place: open to 2 devices") {
                        waiting += 1
                    }
                }
                #expect(waiting == 3)
                var (reported, shownAsJSON) = (0, "")
                for device in devices {
                    let status = try await device("status", "--json").done()
                    shownAsJSON += status.output
                    let row =
                        #"{"code":"noPlace","patchId":"tip","version":"1","why":"waits for a place: open to 2 devices"}"#
                    if status.output.contains("\"passedOver\":[\(row)]") {
                        reported += 1
                        let words = try await device("status").done()
                        #expect(words.output.hasSuffix("tip 1: waits for a place: open to 2 devices\n"), "\(words)")
                    }
                }
                #expect(reported == 3, "\(shownAsJSON)")
                let raised = try await dial(site, "--headcount", "tip@1=4").done()
                #expect(raised.output.contains("2 of 4"), "\(raised)")
                #expect(try await tips(devices) == 4)
                let lowered = try await dial(site, "--headcount", "tip@1=3")
                #expect(lowered.code == 8 && lowered.errors.contains("can only be raised"), "\(lowered)")
                let kept = try await dial(site).done()
                #expect(kept.output.contains("4 of 4"), "\(kept)")
            }
            let odd = try await dial(site, "--headcount", "tip=-1")
            #expect(odd.code == 64 && odd.errors.contains("--headcount must be PATCH@VERSION=COUNT"), "\(odd)")
            let out = world.path("static").string
            let exported = try await run(.patchsrv, ["export", out, "--data", site.string]).done()
            #expect(exported.output.contains("warning: production tip 1 has a head-count: "), "\(exported)")
        }
    }

    @Test func `holds a user back, and switches a running app to the version that it forces`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            for patch in ["fix", "web"] {
                try await answer(site, "set", "--everyone", "--patch", patch, "--hold").done()
            }
            try await serving(site) { url in
                let alice = try await world.settledDevice(server: url, as: "alice")
                let bob = try await world.settledDevice(server: url, as: "bob")
                try await alice("set", "--user", "alice", "--answers").done()
                try await bob("set", "--user", "bob", "--answers").done()
                let held = try await alice.sync().done()
                #expect(held.output.contains("web 2.0.0: held by the server"), "\(held)")
                try await alice.serving([]) { page in
                    try await page.expect(release: 1)
                    let set = try await answer(
                        site,
                        "set",
                        "--user",
                        "alice",
                        "--patch",
                        "web",
                        "--version",
                        "2.0.0",
                        "--force"
                    ).done()
                    #expect(set.output.contains("web 2.0.0, forced") && !set.output.contains("alice"), "\(set)")
                    #expect(try await page.get("/__patchline/check", "-X", "POST").status == 202)
                    _ = try await page.program.line(with: "serving fix 1, tip 1, web 2.0.0 (on trial")
                    try await page.confirm()
                }
                let json = try await bob.sync(["--json"]).done()
                #expect(json.output.contains(#""why":"held by the server""#), "\(json)")
                try await bob.expectWhole(1)
            }
            let both = try await answer(site, "set", "--everyone", "--patch", "web", "--hold", "--version", "2.0.0")
            #expect(both.code == 64 && both.errors.contains("--version and --hold exclude each other"), "\(both)")
            let listed = try await answer(site, "list").done()
            #expect(listed.output.matches(of: #/everyone +(fix|web) +hold /#).count == 2, "\(listed)")
            let unlisted = try await answer(site, "set", "--everyone", "--patch", "web", "--version", "9.0.0")
            #expect(unlisted.code == 3 && unlisted.errors.contains("production does not list web@9.0.0"), "\(unlisted)")
            try await answer(site, "remove", "--user", "alice", "--patch", "web").done()
            let gone = try await answer(site, "remove", "--user", "alice", "--patch", "web")
            #expect(gone.code == 3 && gone.errors.contains("nothing is chosen there"), "\(gone)")
            let audit = try await run(.patchsrv, ["audit", "list", "--data", site.string]).done()
            #expect(audit.output.matches(of: #/answer\.set|answer\.remove/#).count == 4, "\(audit)")
        }
    }

    @Test func `answers over HTTP whoever asks as a device, and lets operators alone choose`() async throws {
        try await ServiceFixture.with(\.site2) { fixture in
            let base = "/apps/\(Workshop.app)/channels/production"
            func post(_ path: String, _ body: String, token: String?) async throws -> (Int, String) {
                try await fixture.ask(
                    "POST",
                    base + path,
                    token: token,
                    at: path == "/answer" ? fixture.devices : fixture.url,
                    "-H",
                    "Content-Type: application/json",
                    "-d",
                    body
                )
            }
            let (status, empty) = try await post("/answer", "{}", token: nil)
            #expect(
                status == 200 && empty.contains(#"{"choices":[],"format":"patchline-answer-v1","places":[]}"#),
                "\(empty)"
            )
            for (body, expected) in [("[]", 400), (#"{"user":"alice"}"#, 400), (#"{"places":[{}]}"#, 400)] {
                #expect(try await post("/answer", body, token: nil).0 == expected, "\(body)")
            }
            let large = #"{"places":[],"x":"\#(String(repeating: "x", count: 70_000))"}"#
            #expect(try await post("/answer", large, token: nil).0 == 413)

            let publisher = try await fixture.token("\(Workshop.app)=publisher")
            let operators = try await fixture.token("\(Workshop.app)=operator")
            let hold = #"{"user":"alice","patchId":"web","hold":true}"#
            #expect(try await post("/answers", hold, token: nil).0 == 401)
            #expect(try await post("/answers", hold, token: publisher).0 == 403)
            let (set, chosen) = try await post("/answers", hold, token: operators)
            #expect(set == 200 && chosen.contains(#""hold":true"#) && !chosen.contains("alice"), "\(chosen)")
            let hash = try #require(chosen.firstMatch(of: #/"for":"([0-9a-f]{64})"/#).map { String($0.1) })
            let reported = try await post("/answer", #"{"user":"\#(hash)"}"#, token: nil).1
            #expect(reported.contains(#""choices":[{"hold":true,"patchId":"web"}]"#), "\(reported)")
            let list = try await fixture.ask("GET", "\(base)/answers", token: operators)
            #expect(list.0 == 200 && list.1.contains(hash), "\(list)")
            let path = "\(base)/answers/\(hash)/web"
            #expect(try await fixture.ask("DELETE", path, token: operators).0 == 204)
            #expect(try await fixture.ask("DELETE", path, token: operators).0 == 404)

            func turn(_ count: Int) async throws -> (Int, String) {
                let change = #"{"changes":[{"subject":"tip","action":"headcount","headcount":\#(count)}]}"#
                return try await post("/dial", change, token: operators)
            }
            let counted = try await turn(3)
            #expect(counted.0 == 200 && counted.1.contains(#""headcount":3"#), "\(counted)")
            let lowered = try await turn(2)
            #expect(lowered.0 == 409 && lowered.1.contains("can only be raised"), "\(lowered)")
        }
    }
}
