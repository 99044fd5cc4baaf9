import FoundationEssentials
import SystemPackage
import Testing

/// M23, and of M3, M4 and M7 what their client sees: a release of ours for those who still speak to a Meteor server.
@Suite("Meteor's own clients")
struct MeteorGatewayTests {
    private static let other = "fedcba9876543210fedcba9876543210fedcba98"

    /// A phone with an app that Meteor built.
    private struct Client {
        let folder: FilePath
        let root: String
        var compatibility = MeteorApp.native

        struct Answer: Decodable, Equatable {
            var outcome: String
            var version: String?
            var message: String?
            var tagged: Int?
            var requests: [String]
        }

        func callAsFunction(_ verb: String) async throws -> Answer {
            let arguments = [Tool.script("meteor_client.mjs"), verb, folder.string, root, compatibility]
            let outcome = try await run(.system("node"), arguments).done()
            return try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        }
    }

    private static let place = "\(Workshop.app)/gateways/meteor/production/"

    @Test func `fetch what changed, and nothing twice`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            _ = try await serving(site) { url in
                let client = Client(folder: world.path("phone"), root: "\(url)/\(Self.place)")
                try MeteorApp(number: 0).install(in: client.folder)

                let first = try await client("check")
                #expect(first.outcome == "ready", "\(first)")
                #expect(first.tagged == 3, "every file has a tag that is a hash")
                let file = "?meteor_dont_serve_index=true"
                #expect(
                    first.requests == [
                        "__cordova/manifest.json", "__cordova/app/main.js\(file)", "__cordova/app/main.js.map\(file)",
                        "__cordova/img/caf%C3%A9%201.svg\(file)", "__cordova/",
                    ],
                    "the style sheet is what the app brought"
                )
                #expect(try await client("reload").version == first.version)
                #expect(try await client("check").outcome == "ignored")
                #expect(try await client("reload").message == "No pending version to switch to")

                try await MeteorApp(number: 2).publish(in: world, to: site, after: 1)
                let second = try await client("check")
                #expect(second.outcome == "ready" && second.version != first.version, "\(second)")
                #expect(
                    second.requests == [
                        "__cordova/manifest.json", "__cordova/app/main.js\(file)", "__cordova/",
                    ],
                    "its client takes a source map of one URL for the same"
                )
            }
        }
    }

    @Test func `get a version once every device may take it, and the one before it while not`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            _ = try await serving(site) { url in
                let client = Client(folder: world.path("phone"), root: "\(url)/\(Self.place)")
                try MeteorApp(number: 0).install(in: client.folder)
                let first = try await client("check")
                _ = try await client("reload")

                try await MeteorApp(number: 2).publish(in: world, to: site, after: 1)
                let data = ["--data", site.string, "--channel", "production"]
                func dial(_ change: String...) async throws -> String {
                    let said = try await run(.patchsrv, ["dial"] + change + data).done().output
                    return String(said.split(separator: "\n").last ?? "")
                }
                let gets = "gateway: production meteor: clients get"
                #expect(try await dial("--rollout", "web@2.0.0=10%") == "\(gets) web 1.0.0")
                #expect(try await client("check").outcome == "ignored", "their wire knows no shares")
                #expect(try await dial("--rollout", "web@2.0.0=100%") == "\(gets) web 2.0.0")
                let second = try await client("check")
                #expect(second.outcome == "ready" && second.version != first.version)
                _ = try await client("reload")

                #expect(try await dial("--pause", "web@2.0.0", "--reason", "broken") == "\(gets) web 1.0.0")
                let back = try await client("check")
                #expect(
                    back.outcome == "ready" && back.version == first.version,
                    "paused, the one before it stands there"
                )
                #expect(back.requests == ["__cordova/manifest.json"], "which the phone still has")

                let nothing =
                    "gateway: production meteor: clients get nothing: no version that is switched on is for every device"
                #expect(try await dial("--headcount", "web@1.0.0=5") == nothing)
                let shown = try await run(.patchsrv, ["dial"] + data).done().output
                let counted =
                    "web 1.0.0 has a head-count: apps of meteor do not get it, because they cannot be counted\n"
                #expect(shown.contains(counted), "\(shown)")
                let listed = try await run(.patchsrv, ["list", "--data", site.string]).done().output
                #expect(listed.contains("\n\(nothing)\n") && listed.contains("  100%, 5 places  "), "\(listed)")
            }
        }
    }

    @Test func `of another native build download nothing`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp(compatibility: Self.other).publish(in: world, to: site, after: nil)
            _ = try await serving(site) { url in
                let client = Client(folder: world.path("phone"), root: "\(url)/\(Self.place)")
                try MeteorApp(number: 0).install(in: client.folder)
                let answer = try await client("check")
                #expect(
                    answer.message == "Skipping downloading new version because the Cordova platform version or plugin "
                        + "versions have changed and are potentially incompatible"
                )
                #expect(answer.requests == ["__cordova/manifest.json"])
            }
        }
    }

    @Test
    func `get the new file under the old path as soon as a release is published, however often they asked before`()
        async throws
    {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            _ = try await serving(site) { url in
                // Enough for each of the server's threads to remember the answer to these very bytes.
                func asked() async throws -> Set<String> {
                    var texts: Set<String> = []
                    for path in ["app/main.js", "manifest.json", ""] {
                        for _ in 1...16 {
                            let file = "\(url)/\(Self.place)__cordova/\(path)"
                            texts.insert(try await run(.system("curl"), ["-sS", file]).done().output)
                        }
                    }
                    return texts
                }
                let before = try await asked()
                #expect(before.count == 3)
                try await MeteorApp(number: 2).publish(in: world, to: site, after: 1)
                let after = try await asked()
                #expect(after.count == 3 && after.isDisjoint(with: before))
            }
        }
    }

    @Test func `are answered as by a Meteor server`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            _ = try await serving(site) { url in
                func ask(_ path: String, _ options: String...) async throws -> String {
                    let arguments = ["-sS", "-D", "-", "-o", "/dev/null"] + options
                    return try await run(.system("curl"), arguments + ["\(url)/\(Self.place)\(path)"]).done().output
                        .lowercased()
                }
                let script = try await ask("__cordova/app/main.js")
                let hash = try await sha1(of: world.path("source1/web/app/main.js"))
                for line in [
                    "etag: \"\(hash)\"", "cache-control: max-age=31536000", "vary: user-agent",
                    "x-sourcemap: /app/main.js.map", "content-type: application/javascript; charset=UTF-8",
                ] {
                    #expect(script.contains("\r\n\(line.lowercased())\r\n"), "\(line): \(script)")
                }
                let kept = try await ask("__cordova/app/main.js?\(hash)")
                #expect(kept.contains("\r\ncache-control: max-age=31536000\r\n"), "\(kept)")
                let other = try await ask("__cordova/app/main.js?\(String(repeating: "0", count: 40))")
                #expect(
                    other.contains("\r\ncache-control: max-age=0\r\n"),
                    "nobody keeps it under another's name: \(other)"
                )
                let style = try await ask("__cordova/app/same.css")
                #expect(style.contains("\r\ncontent-type: text/css; charset=UTF-8\r\n".lowercased()), "\(style)")
                let map = try await ask("__cordova/app/main.js.map")
                #expect(map.contains("\r\ncontent-type: application/json; charset=UTF-8\r\n".lowercased()), "\(map)")
                let picture = try await ask("__cordova/img/caf%C3%A9%201.svg")
                #expect(
                    picture.contains("\r\ncache-control: max-age=0\r\n") && !picture.contains("vary:"),
                    "\(picture)"
                )
                #expect(
                    try await ask("__cordova/app/main.js", "-H", "If-None-Match: \"\(hash)\"").hasPrefix("http/1.1 304")
                )
                #expect(
                    try await ask("__cordova/no/file").contains(
                        "\r\ncontent-type: text/html; charset=UTF-8\r\n".lowercased()
                    )
                )
                #expect(try await ask("__cordova/no/file?meteor_dont_serve_index=true").hasPrefix("http/1.1 404"))
                let manifest = try await ask("__cordova/manifest.json")
                #expect(manifest.hasPrefix("http/1.1 200") && manifest.contains("\r\ncache-control: no-cache\r\n"))
                let tag = try #require(manifest.firstMatch(of: #/etag: ("[0-9a-f]{40}")/#)?.1)
                #expect(
                    try await ask("__cordova/manifest.json", "-H", "If-None-Match: \(tag)").hasPrefix("http/1.1 304")
                )
                #expect(try await ask("__cordova/../../../../objects/").hasPrefix("http/1.1 404"))
                for place in ["gateways/meteor/beta/__cordova/manifest.json", "gateways/jspatch/production/__cordova/"]
                {
                    let url = "\(url)/\(Workshop.app)/\(place)"
                    let status = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", url]
                    #expect(try await run(.system("curl"), status).done().output == "404", "\(place)")
                }
            }
        }
    }

    @Test func `get nothing of a release whose page was lost on the server's disk, and the next one whole`()
        async throws
    {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            let digest = try await run(.system("sha256sum"), [world.path("source1/web/index.html").string]).done()
                .output
            let page = site.tree.appending("objects/\(digest.prefix(2))/\(digest.prefix(64))").string
            try FileManager.default.removeItem(atPath: page)
            _ = try await serving(site) { url in
                let manifest = "\(url)/\(Self.place)__cordova/manifest.json"
                let ask = ["-sS", "-w", "%{http_code}", manifest]
                #expect(try await run(.system("curl"), ask).done().output == "The release cannot be read.\n500")
                try await MeteorApp(number: 2).publish(in: world, to: site, after: 1)
                #expect(try await run(.system("curl"), ask).done().output.hasSuffix("}200"))
            }
        }
    }

    @Test func `are served by any static host from an exported tree`() async throws {
        try await World.with { world in
            let site = try await MeteorApp.emptySite(in: world)
            try await MeteorApp().publish(in: world, to: site, after: nil)
            let exported = world.path("static")
            try await run(.patchsrv, ["export", exported.string, "--data", site.string]).done()
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", exported.string]
            _ = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                let client = Client(folder: world.path("phone"), root: "http://127.0.0.1:\(port)/\(Self.place)")
                try MeteorApp(number: 0).install(in: client.folder)
                let first = try await client("check")
                #expect(first.outcome == "ready" && first.tagged == 0, "\(first)")

                // As many bytes in every file as before, and other ones.
                try await MeteorApp(number: 2).publish(in: world, to: site, after: 1)
                try await run(.patchsrv, ["export", exported.string, "--data", site.string]).done()
                let second = try await client("check")
                #expect(second.outcome == "ready" && second.version != first.version, "\(second)")

                let data = ["--data", site.string, "--channel", "production"]
                try await run(.patchsrv, ["dial", "--pause", "web", "--reason", "broken"] + data).done()
                try await run(.patchsrv, ["export", exported.string, "--data", site.string]).done()
                let none = try await client("check")
                #expect(none.message == "Non-success status code 404 for asset manifest", "\(none)")
                let left = try await run(
                    .system("find"),
                    [exported.appending("\(Workshop.app)/gateways").string, "-type", "f"]
                )
                #expect(left.output == "", "what is paused for everybody is not handed out any more")
            }
        }
    }

    @Test func `are told of when they are switched on, and a bundle that is no Meteor app's is refused`() async throws {
        try await World.with { world in
            let source = world.path("source")
            try MeteorApp().put(in: source)
            let made = try await world.release(source, to: "made").done()
            let words =
                "~ web: Meteor's own clients get it as well, once every device may install it; "
                + "their protocol has no signatures, no expiry and the same answer for all\n"
            #expect(made.output.contains(words), "\(made)")
            let inspected = try await world.sign("inspect", world.path("made").string).done()
            #expect(inspected.output.contains("gateway: web 1.0.0 for Meteor's clients\n"), "\(inspected)")
            let site = try await MeteorApp.emptySite(in: world)
            try await world.publish(world.path("made"), to: site).done()
            let listed = try await run(.patchsrv, ["list", "--data", site.string]).done()
            #expect(listed.output.contains("gateway: production web 1.0.0 for Meteor's clients\n"), "\(listed)")

            let other = world.path("source")
            try "{\"cordovaCompatibilityVersions\":{\"android\":\"\(Self.other)\"}}".write(
                toFile: other.appending("web/program.json").string,
                atomically: true,
                encoding: .utf8
            )
            let warned = try await world.sign("release", other.string, "--check").done()
            let doubt =
                ": phones of android install it if they have this hash; program.json has \(Self.other)"
            #expect((warned.output + warned.errors).contains("patches[0].compatibility\(doubt)"), "\(warned)")

            for (app, why) in [
                (MeteorApp(namesNative: false), "compatibility names neither android nor ios"),
                (MeteorApp(config: "{}"), "Could not find ROOT_URL in downloaded asset bundle"),
                (
                    MeteorApp(config: #"{"ROOT_URL":"https://shop.example"}"#),
                    "Could not find appId in downloaded asset bundle"
                ),
                (MeteorApp(config: "no JSON"), "Couldn't load runtime config from index file"),
            ] {
                let source = world.path("broken")
                try app.put(in: source)
                let refused = try await world.release(source, to: "refused")
                #expect(refused.code == 4, "\(refused)")
                let line = "release.yaml:5: patches[0].gateways: Meteor's clients cannot install it: \(why)\n"
                #expect(refused.errors.contains(line), "\(refused)")
                #expect(!FileManager.default.fileExists(atPath: world.path("refused").string))
            }
        }
    }

    private func sha1(of file: FilePath) async throws -> String {
        String(try await run(.system("sha1sum"), [file.string]).done().output.prefix(40))
    }
}
