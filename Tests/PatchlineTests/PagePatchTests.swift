import DeviceTesting
import NIOHTTP1
import PageTesting
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchCrypto
import Patchline
import SystemPackage
import Testing

@testable import AssetServer
@testable import HTTPFiles

/// Scripts of pages come with the page, in front of its own, and nothing else of it changes.
@Suite("A script patch put into pages", .timeLimit(.minutes(10)))
struct PagePatchTests {
    private static let page = "<!doctype html><head><title>a</title><body>"
    private static let fix = "one;"
    private static let fixDigest = SHA256Digest(of: Array(fix.utf8))

    private static func patches(_ version: String, _ text: String = fix, pages: String...) -> SimulatedPatch {
        var patch = SimulatedPatch.script("fix", version, text).inPages()
        if !pages.isEmpty { patch.place = ScriptPlace(.page, pages: pages.compactMap { RoutePattern($0) }) }
        return patch
    }

    private static let web = SimulatedPatch.bundle(
        "web",
        "1",
        ["index.html": page, "cart.html": page, "wide.html": "\u{E9}", "app.js": "a;", "index.html.gz": "packed"]
    )

    /// Confirmed, unless a test is about a trial.
    private func running(_ patches: [SimulatedPatch], confirmed: Bool = true) async throws -> (Launched, RunningApp) {
        let world = try Launched()
        world.repository.publish(patches)
        try await world.device.sync()
        if confirmed { try await world.device.launchAndConfirm() }
        let app = world.app(start: .firstPage)
        try await app.launch()
        return (world, app)
    }

    private static let one: VersionLabel = name("1")
    private static func id(_ text: String) -> PatchID { name(text) }

    private static func tags(_ scripts: [String: SHA256Digest], in stamp: String?) -> String {
        PageTags(
            stamp: stamp.flatMap { ReleaseStamp($0) },
            version: "1",
            scripts: scripts.sorted { $0.key < $1.key }.map {
                ServedScripts.Script(patchID: id($0.key), version: one, sha256: $0.value, size: 4)
            }
        ).text
    }

    /// The script patches that came with a page, by id.
    private static func put(_ answer: FileAnswer) -> [String] {
        String(decoding: answer.bytes?.bytes ?? [], as: UTF8.self).matches(of: #/data-patch="([^"]*)"/#).map {
            String($0.1)
        }
    }

    @Test func `stands first in the head, behind the language, under its digest, and the page has a tag of its own`()
        async throws
    {
        let (world, _) = try await running([
            .script("also", "1", "also;").inPages(side: .both), Self.patches("1"), .script("host", "1", "host;"),
            Self.web,
        ])
        let answer = try #require(try await world.server.get("/").bytes)
        let stamp = try #require(answer.headers.first(name: ReleaseStamp.field))
        let tags = Self.tags(["fix": Self.fixDigest, "also": SHA256Digest(of: Array("also;".utf8))], in: stamp)
        #expect(tags.hasPrefix("<script data-patchline=\"\(stamp)\" data-version=\"1\">"))
        let language = "<script src=\"/__patchline/language.js?sha256=\(PageLanguage.sha256.hex)\" integrity=\"sha256-"
        #expect(tags.contains("</script>\(language)"))
        #expect(
            String(decoding: answer.bytes, as: UTF8.self)
                == "<!doctype html><head>\(tags)<title>a</title><body>"
        )
        #expect(answer.contentType == "text/html" && answer.cacheControl == "no-cache")
        let plain = SHA256Digest(of: Array(Self.page.utf8)).hex
        #expect(answer.entityTag?.count == 64 && answer.entityTag != plain)
        #expect(answer.headers["Vary"] == ["Sec-Fetch-Dest"] && answer.headers["Content-Encoding"] == [])
        // Also for who would take the compressed form that the bundle has.
        let packed = try #require(try await world.server.get("/", ("Accept-Encoding", "gzip")).bytes)
        #expect(packed.entityTag == answer.entityTag)
    }

    @Test func `changes the page's tag with each script, and not with the launch`() async throws {
        var tags: Set<String> = []
        let sets = [
            [Self.patches("1")], [Self.patches("2", "two;")], [Self.patches("1"), .script("b", "1", "b;").inPages()],
        ]
        for scripts in sets {
            for isConfirmed in [true, false] {
                let (world, app) = try await running(scripts + [Self.web], confirmed: isConfirmed)
                tags.insert(try #require(try await world.server.get("/").bytes?.entityTag))
                _ = app
            }
        }
        #expect(tags.count == 3)
    }

    @Test func `comes by pieces, by HEAD and by condition as any file does`() async throws {
        let (world, _) = try await running([Self.patches("1"), Self.web])
        let whole = try #require(try await world.server.get("/").bytes)
        func response(_ fields: (String, String)..., method: HTTPMethod = .GET) async throws -> Response {
            let request = try request("/", fields, method: method)
            return Response(try #require(await world.server.answer(request).bytes), for: request)
        }
        let part = try await response(("Range", "bytes=15-40"))
        #expect(part.status == .partialContent && part.body.count == 26)
        #expect(part.headers.first(name: "Content-Range") == "bytes 15-40/\(whole.bytes.count)")
        let tag = "\"\(try #require(whole.entityTag))\""
        #expect(try await response(("If-None-Match", tag)).status == .notModified)
        let old = SHA256Digest(of: Array(Self.page.utf8)).hex
        #expect(try await response(("If-None-Match", "\"\(old)\"")).status == .ok)
        #expect(try await response(("Range", "bytes=0-9"), ("If-Range", "\"\(old)\"")).status == .ok)
        #expect(try await response(method: .HEAD).body.count == whole.bytes.count)
    }

    @Test func `comes to the pages that its patterns name, by the path that was asked for`() async throws {
        let (world, _) = try await running([Self.patches("1", pages: "/cart", "/item/**"), Self.web])
        for target in ["/cart", "/c%61rt/", "/item/7/8?a", "/./cart"] {
            #expect(Self.put(try await world.server.get(target)) == ["fix"], "\(target)")
        }
        for target in ["/", "/index.html", "/cart.html", "/Cart", "/elsewhere?x=/cart", "/cart/7"] {
            #expect(Self.put(try await world.server.get(target)) == [], "\(target)")
        }
    }

    @Test(arguments: [
        [("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Mode", "cors")], [("Sec-Fetch-Dest", "image")],
        [("Service-Worker", "script")],
    ])
    func `does not come to what is no page to be shown`(fields: [(String, String)]) async throws {
        let (world, _) = try await running([Self.patches("1"), Self.web])
        let answer = await world.server.answer(try request("/cart.html", fields))
        #expect(answer.bytes != nil && Self.put(answer) == [], "it has its stamp alone")
        #expect(try await world.server.get("/app.js", ("Accept", "text/html")).file != nil)
        let shown = [
            [("Sec-Fetch-Dest", "document")], [("Sec-Fetch-Dest", "iframe")],
            // As a service worker passes a page on.
            [("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Mode", "navigate")],
        ]
        for fields in shown {
            #expect(Self.put(await world.server.answer(try request("/cart.html", fields))) == ["fix"], "\(fields)")
        }
    }

    @Test func `stays away, with all others, from a page in doubt, and that is told once`() async throws {
        let (world, _) = try await running([Self.patches("1"), Self.web])
        for _ in 1...2 { #expect(try await world.server.get("/wide.html").file != nil) }
        #expect(Self.put(try await world.server.get("/")) == ["fix"])
        try world.disk.overwrite(world.device.store.objects.path(of: Self.fixDigest), with: Array("two;".utf8))
        let alone = try await world.server.get("/")
        #expect(alone.bytes?.status == .ok && Self.put(alone) == [])
        #expect(
            await world.nextEvents(4) == [
                "serving fix 1, web 1",
                "the page /wide.html was sent without its scripts: it holds more than ASCII and declares no encoding",
                "damaged fix 1", "the page / was sent without its scripts: it has a script that is damaged",
            ]
        )
        try await world.device.sync()
        #expect(Self.put(try await world.server.get("/")) == ["fix"])
    }

    @Test func `is never put into a page that was altered`() async throws {
        let (world, _) = try await running([Self.patches("1"), Self.web])
        let beside = try #require(try await world.server.get("/app.js").file)
        let page = beside.path.removingLastComponent().appending("index.html")
        try world.disk.overwrite(page, with: Array("<head>".utf8))
        #expect(try await world.server.get("/").summary == "503")
        #expect(await world.nextEvents(2) == ["serving fix 1, web 1", "damaged web 1 index.html"])
    }

    @Test func `is kept by a browser under the URL that names its bytes, and is not found under another's`()
        async throws
    {
        let (world, _) = try await running([Self.patches("1"), Self.web])
        let named = try await world.server.get("/__patchline/scripts/fix.js?sha256=\(Self.fixDigest.hex)")
        #expect(named.file?.cacheControl == "max-age=31536000, public, immutable")
        #expect(named.file?.contentType == "text/javascript; charset=utf-8")
        let other = SHA256Digest(of: []).hex
        #expect(try await world.server.get("/__patchline/scripts/fix.js?sha256=\(other)").summary == "404")
        let language = try await world.server.get("/__patchline/language.js?sha256=\(PageLanguage.sha256.hex)").bytes
        #expect(language?.cacheControl == "max-age=31536000, public, immutable")
        #expect(SHA256Digest(of: try #require(language).bytes) == PageLanguage.sha256)
        #expect(try await world.server.get("/__patchline/language.js").bytes?.cacheControl == "no-cache")
        #expect(try await world.server.get("/__patchline/language.js?sha256=\(other)").summary == "404")
    }

    @Test func `is gone from the next load once it is withdrawn`() async throws {
        let (world, app) = try await running([Self.patches("1"), Self.web])
        #expect(Self.put(try await world.server.get("/")) == ["fix"])
        world.repository.publish([Self.web])
        try await world.device.sync()
        try await app.startPending()
        #expect(Self.put(try await world.server.get("/")) == [])
    }

    @Test func `runs where its list says, also on a device whose program did not know of places when it came`()
        async throws
    {
        let (world, _) = try await running([.script("fix", "1", Self.fix), Self.web])
        #expect(Self.put(try await world.server.get("/")) == [])
        world.repository.publish([Self.patches("1"), Self.web])
        try await world.device.sync()
        let app = world.app(start: .firstPage)
        try await app.launch()
        #expect(Self.put(try await world.server.get("/")) == ["fix"])
        #expect(try world.device.device.state().machine.state.phase == .settled)
    }

    @Test func `is listed with its place`() async throws {
        let (world, _) = try await running([Self.patches("1", pages: "/cart"), .script("host", "1", "host;"), Self.web])
        let list = String(
            decoding: try #require(try await world.server.get("/__patchline/scripts.json").bytes).bytes,
            as: UTF8.self
        )
        #expect(list.contains(#""pages":["/cart"],"patchId":"fix","runsIn":"page""#), "\(list)")
        #expect(list.contains(#"{"patchId":"host","sha256""#), "\(list)")
        let rows = try world.device.device.status().rows
        #expect(
            rows.map { "\($0.patchID) \($0.place)" } == [
                "fix runs in pages /cart", "host runs in the app's program", "web runs in the app's program",
            ]
        )
    }

    // MARK: Failures

    private static func report(_ members: [(String, JSON?)] = [], of id: String = "fix", version: String = "1")
        -> [UInt8]
    {
        let all: [(String, JSON?)] = [
            ("patchId", .text(id)), ("version", .text(version)), ("fault", .text("threw")),
            ("message", .text("Uncaught\nError: no")), ("line", .integer(2)), ("column", .integer(9)),
        ]
        let given = Set(members.map(\.0))
        return JSON.fields(all.filter { !given.contains($0.0) } + members).fileBytes
    }

    private func notify(_ body: [UInt8], _ world: Launched) async throws -> String {
        let asked = try request("/__patchline/script-failed", [("Sec-Fetch-Site", "same-origin")], method: .POST)
        let answer = try #require(await world.server.answer(asked.with(body: body)).bytes)
        return "\(answer.status.code) \(String(decoding: answer.bytes, as: UTF8.self))"
    }

    @Test func `that fails on trial ends it at once, with what is new in it blocked`() async throws {
        let (world, app) = try await running([Self.web])
        world.repository.publish([Self.patches("1"), Self.web])
        try await world.device.sync()
        try await app.startPending()
        #expect(Self.put(try await world.server.show("/")) == ["fix"])
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else {
            Issue.record("no trial")
            return
        }
        let body = Self.report([("launch", .text(launch.token.text))])
        #expect(try await notify(body, world) == #"200 {"result":"rolledBack"}"#)
        #expect(
            await world.nextEvents(4) == [
                "serving web 1", "serving fix 1, web 1 on trial",
                "fix 1 failed in a page: Uncaught Error: no (line 2, column 9)", "back to web 1 from fix 1, web 1",
            ]
        )
        #expect(Self.put(try await world.server.get("/")) == [])
        let blocks = try world.device.device.state().machine.blocks.blocks
        #expect(
            blocks.map { "\($0.key.patchID) \($0.value.reason.rawValue)" } == ["fix a script of it failed"]
        )
        // The same report again is of another launch.
        #expect(try await notify(body, world).hasPrefix("409"))
    }

    @Test func `that fails once it is confirmed is told, and stays`() async throws {
        let (world, app) = try await running([Self.patches("1"), Self.web])
        for _ in 1...2 { #expect(try await notify(Self.report(), world) == #"200 {"result":"told"}"#) }
        #expect(try await notify(Self.report([("line", .integer(3))]), world) == #"200 {"result":"told"}"#)
        #expect(
            await world.nextEvents(3) == [
                "serving fix 1, web 1", "fix 1 failed in a page: Uncaught Error: no (line 2, column 9)",
                "fix 1 failed in a page: Uncaught Error: no (line 3, column 9)",
            ]
        )
        #expect(Self.put(try await world.server.get("/")) == ["fix"])
        let status = await app.status()
        #expect(status.failedScripts.map(\.line) == [3])
        #expect(try world.device.device.state().machine.blocks.blocks.isEmpty)
    }

    @Test func `that was not loaded says nothing against a trial`() async throws {
        let (world, _) = try await running([Self.patches("1"), Self.web], confirmed: false)
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else {
            Issue.record("no trial")
            return
        }
        let body = Self.report([("launch", .text(launch.token.text)), ("fault", .text("unloaded"))])
        #expect(try await notify(body, world) == #"200 {"result":"told"}"#)
    }

    @Test func `is not blamed by a report that lies`() async throws {
        let (world, _) = try await running([.bundle("web", "0", ["index.html": Self.page])])
        world.repository.publish([Self.patches("1"), .script("host", "1", "host;"), Self.web])
        try await world.device.sync()
        let app = world.app(start: .firstPage)
        try await app.launch()
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else {
            Issue.record("no trial")
            return
        }
        let own: (String, JSON?) = ("launch", .text(launch.token.text))
        let reports: [(what: String, members: [(String, JSON?)], id: String, version: String, expected: String)] = [
            ("another launch", [("launch", .text(String(repeating: "0", count: 32)))], "fix", "1", "409"),
            ("no launch at all", [], "fix", "1", "409"), ("no token", [("launch", .text("x"))], "fix", "1", "409"),
            ("an unknown id", [own], "other", "1", "409"), ("another version", [own], "fix", "2", "409"),
            ("a bundle", [own], "web", "1", "409"), ("a script of the program", [own], "host", "1", "409"),
            (
                "an unknown fault", [own, ("fault", .text("sulks"))], "fix", "1",
                "400 {\"error\":\"report: fault must be threw or unloaded\"}"
            ),
            ("a line below zero", [own, ("line", .integer(-1))], "fix", "1", "400"),
            ("a message that is none", [own, ("message", nil)], "fix", "1", "400"),
            ("too long", [own, ("message", .text(String(repeating: "a", count: 5_000)))], "fix", "1", "400"),
        ]
        for (what, members, id, version, expected) in reports {
            let answer = try await notify(Self.report(members, of: id, version: version), world)
            #expect(answer.hasPrefix(expected), "\(what): \(answer)")
            guard case .trying = try world.device.device.state().machine.state else {
                Issue.record("\(what): the trial ended")
                return
            }
        }
    }
}
