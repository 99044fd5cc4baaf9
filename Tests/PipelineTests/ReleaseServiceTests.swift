import FoundationEssentials
import PatchTesting
import Subprocess
import SystemPackage
import Testing

/// A running `patchsrv`, asked with tokens over HTTP by programs that know nothing but its documents.
struct ServiceFixture: Sendable {
    let world: World
    let site: FilePath
    /// Where operators ask.
    let url: String
    let devices: String

    static func with(
        _ original: any KeyPath<Workshop, FilePath> & Sendable = \.site1,
        deadline: Duration = patience * 4,
        _ body: @escaping @Sendable (ServiceFixture) async throws -> Void
    ) async throws {
        try await World.with { world in
            let site = try await world.site(world.shop[keyPath: original])
            try await serving(site, deadline: deadline) { devices, url in
                try await body(ServiceFixture(world: world, site: site, url: url, devices: devices))
            }
        }
    }

    func token(_ grant: String) async throws -> String {
        let made = try await run(
            .patchsrv,
            ["token", "new", "\(grant), a test", "--grant", grant, "--data", site.string]
        )
        .done()
        return String(made.output.prefix { !$0.isWhitespace })
    }

    /// The status and the body of an answer.
    func ask(_ method: String, _ path: String, token: String?, at base: String? = nil, _ more: String...) async throws
        -> (
            Int, String
        )
    {
        let access = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        let curl = ["-s", "-X", method, "-w", "\n%{http_code}", "\(base ?? url)/api/v1\(path)"] + access + more
        let lines = try await run(.system("curl"), curl).done().output.split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    func push(_ release: FilePath, token: String) async throws -> Outcome {
        try await run(.python, [Tool.script("push.py"), url, token, release.string])
    }
}

@Suite("The release service")
struct ReleaseServiceTests {
    private static let app = "/apps/\(Workshop.app)"

    @Test func `takes a release over HTTP, of which it asks for what it lacks, and a device runs it`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("\(Workshop.app)=publisher")
            let device = try await fixture.world.settledDevice(server: fixture.devices)
            let pushed = try await fixture.push(fixture.world.shop.release(2), token: token).done()
            #expect(pushed.output.hasSuffix("bytes: published\n"), "\(pushed)")
            // The list, the manifest and its column, and what is new: the files of release 1 stay where they are.
            let parts = pushed.output.split(separator: "\n").count { $0.hasPrefix("PATCH 200") }
            let files = try await run(
                .system("bash"),
                ["-c", "find objects -type f | wc -l"],
                in: fixture.world.shop.release(2)
            )
            #expect(parts < 3 + (Int(files.output.filter(\.isNumber)) ?? 0), "\(pushed)\n\(files)")
            try await device.sync().done()
            try await device("switch").done()
            try await device.expectWhole(2)

            let (status, history) = try await fixture.ask(
                "GET",
                "\(Self.app)/channels/production/history",
                token: token
            )
            #expect(status == 200 && history.contains(#""label":"by hand""#), "\(history)")
            let listed = try await run(
                .patchsrv,
                ["history", "--app", Workshop.app, "--channel", "production", "--data", fixture.site.string]
            ).done()
            #expect(listed.output.contains("by hand") && listed.output.contains("a test (token "), "\(listed)")
        }
    }

    @Test func `refuses a release by the rule that it broke, and publishes nothing of it`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("*=publisher")
            let tree = try await StoreDigest(of: fixture.site.appending("tree"))
            let late = try await fixture.push(fixture.world.shop.release(3), token: token)
            #expect(
                late.code == 1 && late.output.hasPrefix("409 ") && late.output.contains("based on 2, current is 1"),
                "\(late)"
            )

            let broken = fixture.world.path("broken")
            try await copy(fixture.world.shop.release(2), to: broken)
            let flip =
                "chmod u+w targets/production/web/2.0.0/manifest.sigs; printf x | dd of=targets/production/web/2.0.0/manifest.sigs bs=1 seek=99 conv=notrunc status=none"
            try await run(.system("bash"), ["-ec", flip], in: broken).done()
            // Its own role names other bytes: they are nothing that was asked for.
            let other = try await fixture.push(broken, token: token)
            #expect(other.code == 1 && other.errors.contains("KeyError"), "\(other)")

            let foreign = try await fixture.world.release(
                fixture.world.shop.source(1),
                to: "foreign",
                keys: fixture.world.shop.otherKeys
            )
            try foreign.done()
            let refused = try await fixture.push(fixture.world.path("foreign"), token: token)
            #expect(
                refused.output.hasPrefix("422 ") && refused.output.contains("0 valid signatures of 1 needed"),
                "\(refused)"
            )
            #expect(try await StoreDigest(of: fixture.site.appending("tree")) == tree)
        }
    }

    @Test(arguments: [
        ("viewer", [200, 403, 403, 403, 403]), ("publisher", [200, 415, 403, 403, 403]),
        ("operator", [200, 415, 404, 403, 403]), ("admin", [200, 415, 404, 200, 403]),
    ])
    func `lets each role do what it may`(_ role: String, _ statuses: [Int]) async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("\(Workshop.app)=\(role)")
            var found: [Int] = []
            for (method, path) in [
                ("GET", Self.app), ("POST", "\(Self.app)/uploads"),
                ("DELETE", "\(Self.app)/channels/production/drafts/9"),
            ] { found.append(try await fixture.ask(method, path, token: token).0) }
            let making = #"{"name":"x","grants":["\#(Workshop.app)=viewer"],"days":1}"#
            let made = try await fixture.ask(
                "POST",
                "/tokens",
                token: token,
                "-H",
                "Content-Type: application/json",
                "-d",
                making
            )
            found.append(made.0 == 201 ? 200 : made.0)
            found.append(try await fixture.ask("GET", "/audit", token: token).0)
            #expect(found == statuses)
            let another = try await fixture.ask("GET", "/apps/com.example.other", token: token)
            #expect(another.0 == 403 && another.1.contains("none"), "\(another)")
            let gone = try await fixture.ask("GET", "\(Self.app)/published?path=metadata/9.root.json", token: token)
            #expect(gone.0 == 404 && gone.1.contains("metadata/9.root.json is not published"), "\(gone)")
        }
    }

    @Test func `lets nobody in without a token that holds, from the next request on`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("*=admin")
            for wrong in [nil, "", "plt_0123456789abcdef_00", token.dropLast() + (token.hasSuffix("0") ? "1" : "0")] {
                let (status, body) = try await fixture.ask("GET", "/apps", token: wrong.map { String($0) })
                #expect(status == 401 && body.contains("urn:patchline:unauthorized"), "\(body)")
            }
            #expect(try await fixture.ask("GET", "/apps", token: token).0 == 200)
            let id = String(token.dropFirst(4).prefix(16))
            try await run(.patchsrv, ["token", "revoke", id, "--data", fixture.site.string]).done()
            let (status, body) = try await fixture.ask("GET", "/apps", token: token)
            #expect(status == 401 && body.contains("the token was revoked"), "\(body)")
        }
    }

    @Test func `tires of tokens that are tried at random, and lets the right one in all the while`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("*=viewer")
            let guess = """
                for i in $(seq 80); do curl -s -o /dev/null -w '%{http_code}\\n' -H \
                "Authorization: Bearer plt_$(printf %016x $i)_$(printf %064x $i)" $URL/api/v1/apps; done | sort | uniq -c
                """
            let guessed = try await run(.system("bash"), ["-c", guess], environment: ["URL": fixture.url]).done()
            let counts = guessed.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            #expect(
                counts.map(\.last) == ["401", "429"] && counts.first?.first.flatMap { Int($0) } ?? 0 >= 60,
                "\(guessed)"
            )
            #expect(try await fixture.ask("GET", "/apps", token: token).0 == 200)
        }
    }

    @Test func `holds back one address that guesses tokens, and no other, nor one behind a proxy that is trusted`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await serving(site, ["--trusted-proxy", "127.0.0.3"]) { _, url in
                let guess = """
                    wrong="Authorization: Bearer plt_$(printf %016x 1)_$(printf %064x 1)"
                    ask() { curl -s -o /dev/null -w '%{http_code}\\n' -H "$wrong" "$@" | sort -u | tr '\\n' ' '; }
                    ask -H 'X-Forwarded-For: 10.0.0.9' "$URL/api/v1/apps?[1-200]"
                    ask --interface 127.0.0.2 "$URL/api/v1/apps"
                    ask --interface 127.0.0.3 -H 'X-Forwarded-For: 10.0.0.1' "$URL/api/v1/apps?[1-200]"
                    ask --interface 127.0.0.3 -H 'X-Forwarded-For: 10.0.0.1, 10.0.0.2' "$URL/api/v1/apps"
                    """
                let answers = try await run(.system("bash"), ["-c", guess], environment: ["URL": url]).done()
                #expect(answers.output == "401 429 401 401 429 401 ", "\(answers)")
            }
        }
    }

    @Test func `has one spelling for each path, its own and the tree's, for whoever filters by prefix in front`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await serving(site) { devices, url in
                let (api, tree) = ("api/v1/openapi.json", "\(Workshop.app)/metadata/timestamp.json")
                for (path, itsOwn, others) in [
                    (api, url, devices), (tree, devices, url),
                ] {
                    let name = try #require(path.split(separator: "/").first)
                    for (path, status) in [
                        (path, "200"), ("%\(String(path.utf8.first ?? 0, radix: 16))\(path.dropFirst())", "400"),
                        (path.replacing("n", with: "%6E"), "400"),
                        ("./\(path)", "400"), ("/\(path)", "400"), ("x/../\(path)", "400"), ("x/%2e%2e/\(path)", "400"),
                        ("\(name)/x/../../\(path)", "400"), ("\(name)/%2E%2E/\(path)", "400"), ("\(path)/", "404"),
                    ] {
                        for (base, status) in [(itsOwn, status), (others, status == "200" ? "404" : status)] {
                            let said = try await run(
                                .system("curl"),
                                ["-sS", "\(base)/\(path)", "--path-as-is", "-o", "/dev/null", "-w", "%{http_code}"]
                            )
                            #expect(said.output.hasSuffix(status), "\(path): \(said)")
                        }
                    }
                }
            }
        }
    }

    @Test func `has its notes edited over HTTP and by command, which changes nothing else`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("\(Workshop.app)=publisher")
            let viewer = try await fixture.token("\(Workshop.app)=viewer")
            try await fixture.push(fixture.world.shop.release(2), token: token).done()
            try await fixture.world.optimize(fixture.site)
            let tree = try await StoreDigest(of: fixture.site.appending("tree"))
            let path = "\(Self.app)/channels/production/history"
            func edit(_ version: Int, _ body: String, as token: String) async throws -> (Int, String) {
                let json = ["-H", "Content-Type: application/json"]
                return try await fixture.ask("PATCH", "\(path)/\(version)", token: token, json[0], json[1], "-d", body)
            }
            let edited = try await edit(2, #"{"label":"spring sale","notes":"two\nlines"}"#, as: token)
            #expect(edited.0 == 200 && edited.1.contains(#""label":"spring sale","notes":"two\nlines""#), "\(edited)")
            let weak = try await edit(2, #"{"label":"x"}"#, as: viewer)
            #expect(weak.0 == 403, "\(weak)")
            let author = try await edit(2, #"{"author":"x"}"#, as: token)
            #expect(author.0 == 400 && author.1.contains("author is not a member of this request"), "\(author)")
            let missing = try await edit(9, #"{"label":"x"}"#, as: token)
            #expect(missing.0 == 404 && missing.1.contains("production has no release 9"), "\(missing)")
            let place = ["--app", Workshop.app, "--channel", "production", "--data", fixture.site.string]
            let said = try await run(.patchsrv, ["history", "edit", "2", "--no-notes", "--label", "summer"] + place)
            #expect(try said.done().output == "production 2 is called summer now\n")
            let unknown = try await run(.patchsrv, ["history", "edit", "9", "--no-label"] + place)
            #expect(unknown.code == 3 && unknown.errors.contains("has no release 9"), "\(unknown)")
            let (_, history) = try await fixture.ask("GET", "\(path)?limit=1", token: viewer)
            #expect(history.contains(#""label":"summer""#) && !history.contains("two"), "\(history)")
            let audit = try await run(.patchsrv, ["audit", "list", "--data", fixture.site.string]).done().output
            #expect(audit.matches(of: #/history.edit/#).count == 2, "\(audit)")
            #expect(try await StoreDigest(of: fixture.site.appending("tree")) == tree)
        }
    }

    @Test func `keeps the bytes of a sender who half-closes in the middle of a part`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("\(Workshop.app)=publisher")
            let half = """
                import json, os, socket, sys, urllib.request
                port, token, folder, app = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
                base = f'/api/v1/apps/{app}/uploads'
                fields = {'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'}
                def ask(path, body=None):
                    asked = urllib.request.Request(f'http://127.0.0.1:{port}{path}', data=body, headers=fields)
                    return json.load(urllib.request.urlopen(asked, timeout=30))
                read = lambda name: json.load(open(os.path.join(folder, name)))
                state = ask(base, json.dumps(dict(release=read('release.json'), role=read('role.json'))).encode())
                need = max(state['needs'], key=lambda need: need['size'])
                part = f"{base}/{state['upload']}/parts/{need['sha256']}"
                with socket.create_connection(('127.0.0.1', port)) as link:
                    head = f"PATCH {part} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {token}\\r\\n"
                    head += f"Upload-Offset: 0\\r\\nContent-Length: {need['size']}\\r\\n\\r\\n"
                    link.sendall(head.encode() + b'x' * 100)
                    link.shutdown(socket.SHUT_WR)
                    link.recv(1)
                print(ask(part)['offset'])
                """
            let port = try #require(fixture.url.split(separator: ":").last)
            let release = fixture.world.shop.release(2).string
            let kept = try await run(.python, ["-c", half, String(port), token, release, Workshop.app]).done()
            #expect(kept.output == "100\n", "\(kept)")
        }
    }

    @Test func `writes down who did what, which somebody with the file cannot edit unseen`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("*=publisher")
            try await fixture.push(fixture.world.shop.release(2), token: token).done()
            let verify = ["audit", "verify", "--data", fixture.site.string]
            let before = try await run(.patchsrv, verify).done()
            let listed = try await run(.patchsrv, ["audit", "list", "--data", fixture.site.string]).done()
            #expect(listed.output.hasPrefix("entry  time "), "\(listed)")
            #expect(
                listed.output.contains(
                    #/release\.publish +com\.example\.pipeline +production +\*=publisher, a test +1 → 2, by hand: fix 2, web 2\.0\.0/#
                ),
                "\(listed)"
            )
            let edit = """
                import sqlite3, sys
                with sqlite3.connect(sys.argv[1]) as records:
                    records.execute("UPDATE record SET value = replace(value, 'a test', 'another') "
                        "WHERE collection = 'audit' AND value LIKE '%release.publish%'")
                """
            try await run(.python, ["-c", edit, fixture.site.appending("records.sqlite").string]).done()
            let after = try await run(.patchsrv, verify)
            #expect(before.output.contains("each as it was written"), "\(before)")
            #expect(after.code == 3 && after.output.contains(#/✗ entry \d+ was edited\n/#), "\(after)")
        }
    }

    /// Rows J3 and J5.
    @Test func `turns the dial up to the signed ceiling, and no device takes what pauses`() async throws {
        try await ServiceFixture.with(\.site2) { fixture in
            let token = try await fixture.token("\(Workshop.app)=operator")
            let dial = "\(Self.app)/channels/production/dial"
            func turn(_ changes: String) async throws -> (Int, String) {
                let body = #"{"changes":[\#(changes)],"reason":"it crashes"}"#
                return try await fixture.ask(
                    "POST",
                    dial,
                    token: token,
                    "-H",
                    "Content-Type: application/json",
                    "-d",
                    body
                )
            }
            let device = try await fixture.world.settledDevice(server: fixture.devices)
            let paused = try await turn(#"{"subject":"web@2.0.0","action":"pause"},{"subject":"fix","action":"pause"}"#)
            #expect(paused.0 == 200 && paused.1.contains(#""outcome":"turned""#), "\(paused)")
            try await device.sync().done()
            try await device.expectWhole(1)
            #expect(
                try await fixture.ask("GET", dial, token: token).1.contains(#""paused":true,"reason":"it crashes""#)
            )
            let high = try await turn(#"{"subject":"web","action":"rollout","rollout":10001}"#)
            #expect(high.0 == 400 && high.1.contains("changes[0].rollout"), "\(high)")
            let unknown = try await turn(#"{"subject":"nothing","action":"resume"}"#)
            #expect(unknown.0 == 404 && unknown.1.contains("production does not list nothing"), "\(unknown)")
            for (body, status, words) in [
                (#"{"changes":[{"subject":"nothing","action":"pause"}],"default":100}"#, 404, "does not list nothing"),
                (#"{"changes":[],"defualt":100}"#, 400, "defualt is not a member of this request"),
            ] {
                let json = ["-H", "Content-Type: application/json", "-d", body]
                let refused = try await fixture.ask("POST", dial, token: token, json[0], json[1], json[2], json[3])
                #expect(refused.0 == status && refused.1.contains(words), "\(refused)")
            }
            #expect(try await !fixture.ask("GET", dial, token: token).1.contains(#""default":"#))
            let resumed = try await turn(#"{"subject":"web","action":"resume"},{"subject":"fix","action":"resume"}"#)
            #expect(resumed.0 == 200, "\(resumed)")
            try await device.sync().done()
            try await device("switch").done()
            try await device.expectWhole(2)
            let audit = try await run(.patchsrv, ["audit", "list", "--data", fixture.site.string]).done()
            #expect(audit.output.matches(of: #/dial.turn/#).count == 2, "\(audit)")
        }
    }

    @Test func `can be put back from a copy that was made while it ran`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let copy = world.path("copy.sqlite")
            let token = try await serving(site) { devices, url in
                let fixture = ServiceFixture(world: world, site: site, url: url, devices: devices)
                let token = try await fixture.token("*=publisher")
                try await fixture.push(world.shop.release(2), token: token).done()
                try await run(.patchsrv, ["backup", copy.string, "--data", site.string]).done()
                return token
            }
            let again = try await run(.patchsrv, ["backup", copy.string, "--data", site.string])
            #expect(again.code == 8 && again.errors.contains("exists already"), "\(again)")
            let restored = world.path("restored")
            try await run(.patchsrv, ["restore", copy.string, "--data", restored.string]).done()
            try await serving(restored) { devices, url in
                let fixture = ServiceFixture(world: world, site: restored, url: url, devices: devices)
                let (status, history) = try await fixture.ask(
                    "GET",
                    "\(Self.app)/channels/production/history",
                    token: token
                )
                #expect(status == 200 && history.contains(#""roleVersion":2"#), "\(history)")
            }
            #expect(try await run(.patchsrv, ["audit", "verify", "--data", restored.string]).code == 0)
        }
    }

    @Test(arguments: [
        ("PUT", "/apps", 405, "GET, HEAD, POST"), ("GET", "/apps/a/uploads/b/publish", 405, "POST"),
        ("POST", "/tokens/x", 405, "DELETE"), ("GET", "/nothing", 404, nil), ("GET", "", 404, nil),
    ])
    func `says which methods a path takes, and where there is nothing`(
        _ method: String,
        _ path: String,
        _ status: Int,
        _ allow: String?
    ) async throws {
        try await ServiceFixture.with { fixture in
            let (found, answer) = try await fixture.ask(method, path, token: nil, "-i")
            #expect(found == status && answer.contains("Content-Type: application/problem+json"), "\(answer)")
            #expect(answer.firstMatch(of: #/Allow: ([A-Z, ]+)/#).map { String($0.1) } == allow, "\(answer)")
        }
    }

    /// The same requests once more, by those who may not: nothing breaks, and nothing is changed.
    private func expectRefusals(of har: FilePath, by fixture: ServiceFixture) async throws {
        func replay(_ part: Int, _ token: String?) async throws -> String {
            let arguments = [fixture.url, har.string, "\(part)", "3"] + (token.map { [$0] } ?? [])
            return try await run(.python, [Tool.script("replay.py")] + arguments).done().output
        }
        func state() async throws -> (StoreDigest, String) {
            let log = try await run(.patchsrv, ["audit", "export", "--data", fixture.site.string]).done().output
            return (try await StoreDigest(of: fixture.site.appending("tree")), log)
        }
        let (viewer, publisher) = (try await fixture.token("*=viewer"), try await fixture.token("*=publisher"))
        try await fixture.world.optimize(fixture.site)
        let before = try await state()
        for (part, token) in [viewer, nil].enumerated() {
            let answers = try await replay(part, token)
            #expect(answers.wholeMatch(of: #/[0-9:, ]+\n/#) != nil, "\(answers)")
            #expect(answers.contains("200: ") == (token != nil), "\(answers)")
            #expect(answers.contains(token == nil ? "401: " : "403: ") && !answers.contains("429: "), "\(answers)")
        }
        #expect(try await state() == before)
        let answers = try await replay(2, publisher)
        #expect(answers.firstMatch(of: #/^5\d\d /#.anchorsMatchLineEndings()) == nil, "\(answers)")
    }

    @Test func `keeps to its own description, whatever is asked of it and by whom`() async throws {
        // Thousands of requests: half a minute alone, minutes beside all the other tests.
        try await ServiceFixture.with(\.site2, deadline: patience * 8) { fixture in
            let token = try await fixture.token("*=admin")
            // That a GET has no body is the server's own rule, and stricter than this judge.
            // It puts the app into requests that were to have a wrong one, and expects the refusal all the same.
            let settings = """
                [parameters]
                "path.app" = "\(Workshop.app)"
                [[operations]]
                include-operation-id = "editHistory"
                [operations.checks]
                negative_data_rejection.enabled = false
                [[operations]]
                include-operation-id = "showHistory"
                [operations.checks]
                negative_data_rejection.enabled = false
                """
            try write(settings, to: fixture.world.path("schemathesis.toml"))
            let judge = try Tool.judgesPython.removingLastComponent().appending("st").string
            let outcome = try await run(
                .system("bash"),
                [
                    "-c",
                    """
                    exec \(judge) run "$URL/api/v1/openapi.json" -H "Authorization: Bearer $TOKEN" --seed 1 \
                    --max-examples \(Sweep.isFull ? 16 : 2) --request-timeout 300 \
                    --exclude-checks positive_data_acceptance,unsupported_method --exclude-operation-id revokeToken --no-color \
                    --report har --report-har-path asked.har
                    """,
                ],
                environment: ["URL": fixture.url, "TOKEN": token],
                in: fixture.world.folder,
                deadline: patience * 6
            )
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains("Tested: "), "\(outcome)")
            try await expectRefusals(of: fixture.world.path("asked.har"), by: fixture)
        }
    }

    /// Judges/devices.openapi.json describes it: operators' own description has none of what devices ask.
    @Test func `answers whoever asks as a device by its description, and changes nothing for what is refused`()
        async throws
    {
        try await ServiceFixture.with(\.site2, deadline: patience * 8) { fixture in
            let settings = """
                [parameters]
                "path.app" = "\(Workshop.app)"
                "path.channel" = "production"
                """
            try write(settings, to: fixture.world.path("schemathesis.toml"))
            let judge = try Tool.judgesPython.removingLastComponent().appending("st").string
            let description = FilePath(#filePath).removingLastComponent().appending("Judges/devices.openapi.json")
                .string
            let outcome = try await run(
                .system("bash"),
                [
                    "-c",
                    """
                    exec \(judge) run \(description) --url "$URL/api/v1" --seed 1 --no-color \
                    --max-examples \(Sweep.isFull ? 25 : 8) --request-timeout 300 \
                    --exclude-checks positive_data_acceptance,unsupported_method
                    """,
                ],
                environment: ["URL": fixture.devices],
                in: fixture.world.folder,
                deadline: patience * 6
            )
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains("Tested: 1"), "\(outcome)")
            let token = try await fixture.token("\(Workshop.app)=operator")
            let kept = try await fixture.ask("GET", "/apps/\(Workshop.app)/channels/production/answers", token: token)
            #expect(kept.0 == 200 && kept.1.contains(#""answers":[]"#), "\(kept)")
        }
    }
}
