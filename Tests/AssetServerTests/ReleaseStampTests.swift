import Linux
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PageTesting
import PatchFormat
import PatchCrypto
import SystemPackage
import Testing

@testable import AssetServer

/// Files in memory, the text of each by its path.
private struct MemoryFiles: AssetFiles {
    let texts: [String: String]

    func recorded(_ row: BundleIndex.Row) -> AssetFile? {
        let identity = FileIdentity(device: 1, inode: UInt64(row.number), size: row.size, modified: 0, changed: 0)
        return AssetFile(path: SampleBundle.folder.appending(row.path), root: SampleBundle.folder, identity: identity)
    }

    func examined(_ row: BundleIndex.Row) -> AssetFile? { recorded(row) }
    func contents(_ row: BundleIndex.Row) -> [UInt8]? { texts[row.path].map { Array($0.utf8) } }
}

/// A host that counts the trials that begin, and confirms any launch.
private final class CountingHost: PageHost {
    let shown = NIOLockedValueBox<[String]>([])
    let stale = NIOLockedValueBox<[String?]>([])
    private let whenShown: @Sendable (String) -> Void

    init(_ whenShown: @escaping @Sendable (String) -> Void) { self.whenShown = whenShown }

    func pageShown(_ launch: String) {
        shown.withLockedValue { $0.append(launch) }
        whenShown(launch)
    }

    func pageStaysStale(_ version: String?) { stale.withLockedValue { $0.append(version) } }
    func confirm(_ token: String) -> ReadyOutcome { .confirmed }
    func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) -> ScriptFailureOutcome { .told }
    func switchToPending() -> Switching { .switched }
    func checkForUpdates() -> CheckStart { .started }
    func status() -> PageStatus { PageStatus(app: "app", channel: "production") }
    func parameters() -> PageParameters { PageParameters(channel: "production", values: [:]) }
    func debugReport() -> JSON { .fields([]) }
}

/// One bundle after the other on a server whose clock a test moves.
private struct Stamps {
    let clock = TestClock()
    let server: AssetServer
    let host: CountingHost

    init(_ access: Access = Access(token: nil, under: .shared)) {
        server = AssetServer(AssetServer.Settings(access: access), now: { [clock] in clock.now })
        server.listening(on: AssetServer.port)
        host = CountingHost { [server] launch in server.opened(launch) }
        server.connect(host)
    }

    static let page = "<!doctype html><html><head><title>a</title></head></html>"

    /// - Parameter onTrial: whether it waits for a page to be shown.
    @discardableResult
    func serve(
        _ version: String,
        onTrial: Bool = false,
        index: String = page,
        scripts: [ServedScripts.Script] = []
    ) throws -> ReleaseStamp {
        let texts = [
            "index.html": index, "part.html": "<p>part</p>", "wide.html": "<!doctype html><p>\u{E9}", "app.js": version,
            "app.webmanifest": "{}", "Manifest.json": "{}", "data.json": "{}", "app.json": "{}",
        ]
        let type = HeaderRule.Field(name: "Content-Type", value: "application/manifest+json; charset=utf-8")
        let rule = HeaderRule(pattern: try #require(FilePattern("app.json")), fields: [type])
        let table = AssetTable(try Releases.index(version, texts, [rule]), files: MemoryFiles(texts: texts))
        let selection = ServedSelection(
            table: table,
            launch: onTrial ? "launch\(version)" : nil,
            version: version,
            awaitsPage: onTrial,
            scripts: ServedScripts(scripts, files: ServedScripts.none.files)
        )
        server.serve(selection)
        return try #require(selection.stamp)
    }

    func shown(_ stamp: ReleaseStamp, age: Int = 100, reloads: Int = 0) async throws -> String {
        try await server.call("shown", #"{"page":"\#(stamp)","age":\#(age),"reloads":\#(reloads)}"#)
    }

    func confirm(_ stamp: ReleaseStamp) async throws -> String {
        try await server.call("confirm", #"{"page":"\#(stamp)"}"#)
    }

    var begun: [String] { host.shown.withLockedValue(\.self) }
}

private let document = [("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")]

@Suite("A release stamp")
struct ReleaseStampTests {
    private static func script(_ id: String, _ text: String) -> ServedScripts.Script {
        ServedScripts.Script(patchID: name(id), version: name("1"), sha256: SHA256Digest(of: Array(text.utf8)), size: 1)
    }

    @Test func `is the same for the same bundle and scripts, and another for each other`() throws {
        let bundle = SHA256Digest(of: [1])
        let (a, b) = (Self.script("a", "1"), Self.script("b", "2"))
        #expect(ReleaseStamp(bundle: bundle).text == "30eb1fb7e79b84a85f0d55bc09d18962")
        #expect(ReleaseStamp(bundle: bundle, scripts: [a, b]) == ReleaseStamp(bundle: bundle, scripts: [a, b]))
        let all = [
            ReleaseStamp(bundle: bundle), ReleaseStamp(bundle: SHA256Digest(of: [2])),
            ReleaseStamp(bundle: bundle, scripts: [a]), ReleaseStamp(bundle: bundle, scripts: [a, b]),
            ReleaseStamp(bundle: bundle, scripts: [b, a]),
            ReleaseStamp(bundle: bundle, scripts: [Self.script("a", "2")]),
        ]
        #expect(Set(all).count == all.count)
        for text in ["", "x", String(repeating: "A", count: 32), String(repeating: "a", count: 33)] {
            #expect(ReleaseStamp(text) == nil)
        }
    }

    @Test func `stands right behind the head of every complete document, also of one that a worker keeps`() async throws
    {
        let stamps = Stamps()
        let stamp = try stamps.serve("2.0.0")
        let asked = [
            document, [], [("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Mode", "cors")], [("Service-Worker", "script")],
        ]
        for fields in asked {
            let page = try #require(await stamps.server.answer(try request("/", fields)).bytes)
            #expect(
                String(decoding: page.bytes, as: UTF8.self) == """
                    <!doctype html><html><head><script data-patchline="\(stamp)" data-version="2.0.0">\(StampScript.text)\
                    </script><title>a</title></head></html>
                    """
            )
            #expect(page.headers[ReleaseStamp.field] == [stamp.text] && page.headers["Vary"] == [], "\(fields)")
            #expect(page.cacheControl == "no-cache")
        }
    }

    @Test func `is in a fragment only where a browser navigates to it`() async throws {
        let stamps = Stamps()
        let stamp = try stamps.serve("2.0.0")
        let fetched = try await stamps.server.get("/part.html", ("Sec-Fetch-Dest", "empty"))
        #expect(fetched.file?.headers[ReleaseStamp.field] == [stamp.text])
        for dest in ["document", "iframe"] {
            let shown = try #require(try await stamps.server.get("/part.html", ("Sec-Fetch-Dest", dest)).bytes)
            #expect(String(decoding: shown.bytes, as: UTF8.self).withoutStamp == "<p>part</p>")
            #expect(shown.headers["Vary"] == ["Sec-Fetch-Dest"])
        }
    }

    @Test(arguments: [
        ("<!DOCTYPE html>", true), ("\u{FEFF} \n<!-- a --> <!DocType x>", true), ("<html lang=en>", true),
        ("<HTML>", true),
        ("<?xml a?><html>", true), ("<head>", false), ("<p>", false), ("a<html>", false), ("</html>", false),
        ("", false),
        ("<!-- never over <html>", false), ("<!doctyp html>", false), ("<htmlx>", false),
    ])
    func `tells a document from a fragment by its beginning`(page: String, isComplete: Bool) {
        #expect(PagePlan.isCompleteDocument(Array(page.utf8)) == isComplete)
    }

    @Test func `goes with every file of the bundle, and stays out of a page in doubt`() async throws {
        let stamps = Stamps()
        let stamp = try stamps.serve("1")
        #expect(try await stamps.server.get("/app.js").file?.headers[ReleaseStamp.field] == [stamp.text])
        let wide = try await stamps.server.get("/wide.html", ("Sec-Fetch-Dest", "document"))
        #expect(wide.file?.headers[ReleaseStamp.field] == [stamp.text], "its encoding is not known")
        #expect(try await stamps.server.get("/__patchline/launch.js").bytes?.headers[ReleaseStamp.field] == [])
    }

    @Test func `has a version that cannot leave its attribute`() {
        let tags = PageTags(stamp: ReleaseStamp(bundle: SHA256Digest(of: [])), version: #"1"><b>&"#)
        #expect(tags.text.contains(#" data-version="1&quot;>&lt;b>&amp;">"#))
    }
}

@Suite("A page that is shown")
struct ShownTests {
    @Test func `begins the trial of its selection, once`() async throws {
        let stamps = Stamps()
        let stamp = try stamps.serve("1", onTrial: true)
        _ = await stamps.server.answer(try request("/", document))
        #expect(stamps.begun == [], "a document with a stamp begins nothing before it is shown")
        for _ in 1...2 {
            #expect(try await stamps.shown(stamp) == #"200 {"release":"\#(stamp)","result":"current"}"#)
        }
        #expect(stamps.begun == ["launch1"])
    }

    @Test func `stays where it is of the release before and was requested before the switch`() async throws {
        let stamps = Stamps()
        stamps.clock.advance(by: .seconds(100))
        let old = try stamps.serve("1")
        stamps.clock.advance(by: .seconds(10))
        let new = try stamps.serve("2", onTrial: true)
        stamps.clock.advance(by: .seconds(10))
        #expect(try await stamps.shown(old, age: 10_000) == #"200 {"release":"\#(new)","result":"previous"}"#)
        #expect(try await stamps.shown(old, age: 9_999) == #"200 {"release":"\#(new)","result":"stale"}"#)
        stamps.clock.advance(by: .seconds(51))
        #expect(try await stamps.shown(old, age: 60_000) == #"200 {"release":"\#(new)","result":"stale"}"#)
        #expect(stamps.begun == [], "an old page begins no trial")
    }

    @Test func `is stale where nothing like it is served, and is reported when it does not go`() async throws {
        let stamps = Stamps()
        let old = try stamps.serve("1")
        let new = try stamps.serve("2")
        stamps.clock.advance(by: .seconds(61))
        for reloads in 0...1 { #expect(try await stamps.shown(old, reloads: reloads).hasSuffix(#""stale"}"#)) }
        #expect(stamps.host.stale.withLockedValue(\.self) == [])
        _ = try await stamps.shown(old, reloads: 2)
        let unknown = String(repeating: "0", count: 32)
        _ = try await stamps.server.call("shown", #"{"page":"\#(unknown)","version":"0.9","age":0,"reloads":3}"#)
        #expect(stamps.host.stale.withLockedValue(\.self) == ["1", "0.9"])
        stamps.server.serve(.nothing)
        #expect(try await stamps.shown(new) == #"200 {"release":null,"result":"stale"}"#)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"page":"x","age":1}"#, #"{"page":"00000000000000000000000000000000"}"#,
        #"{"page":"00000000000000000000000000000000","age":-1}"#,
        #"{"page":"00000000000000000000000000000000","age":1,"x":1}"#,
        #"{"page":"00000000000000000000000000000000","age":1,"version":"\#(String(repeating: "a", count: 1_024))"}"#,
    ])
    func `says so in few bytes, in its own members`(body: String) async throws {
        let stamps = Stamps()
        try stamps.serve("1", onTrial: true)
        #expect(try await stamps.server.call("shown", body).hasPrefix("400 "))
        #expect(stamps.begun == [])
    }

    /// UTF-16, a page without a declared encoding, an image, and a 404 in place of the index.
    @Test(arguments: ["/wide.html", "/app.js", "/favicon.ico"])
    func `without a stamp begins the trial when a browser asks for it to show it`(target: String) async throws {
        let stamps = Stamps()
        let stamp = try stamps.serve("1", onTrial: true)
        for fields in [
            [], [("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Mode", "navigate")], [("Sec-Fetch-Dest", "iframe")],
            document + [("Sec-Purpose", "prefetch;prerender")],
        ] {
            _ = await stamps.server.answer(try request(target, fields))
        }
        #expect(stamps.begun == [])
        #expect(try await stamps.server.call("confirm").hasPrefix("409 "), "nothing unstamped was shown")
        let shown = await stamps.server.answer(try request(target, document))
        #expect(stamps.begun == ["launch1"] && ["wide.html", "app.js", "404"].contains(shown.summary))
        #expect(try await stamps.server.call("confirm") == #"200 {"result":"confirmed"}"#)
        #expect(try await stamps.confirm(stamp) == #"200 {"result":"confirmed"}"#)
        try stamps.serve("2", onTrial: true)
        #expect(try await stamps.server.call("confirm").hasPrefix("409 "), "that page was of another release")
    }
}

@Suite("A page that confirms")
struct StampedConfirmTests {
    @Test func `does so for its own release alone, and is told which two there are`() async throws {
        let stamps = Stamps()
        let old = try stamps.serve("1.0.0", onTrial: true)
        let new = try stamps.serve("2.0.0", onTrial: true)
        #expect(
            try await stamps.confirm(old) == #"409 {"error":"this page is of 1.0.0, and 2.0.0 is served now"}"#
        )
        let unknown = String(repeating: "0", count: 32)
        #expect(
            try await stamps.server.call("confirm?page=\(unknown)")
                == #"409 {"error":"this page is of another release (\#(unknown)), and 2.0.0 is served now"}"#
        )
        #expect(try await stamps.confirm(new) == #"200 {"result":"confirmed"}"#)
        try stamps.serve("2.0.0")
        #expect(try await stamps.confirm(new) == #"200 {"result":"alreadyConfirmed"}"#)
    }

    @Test func `does nothing without a stamp, as a worker's own request has none`() async throws {
        let stamps = Stamps()
        try stamps.serve("1", onTrial: true)
        _ = await stamps.server.answer(try request("/", document))
        #expect(
            try await stamps.server.call("confirm") == """
                409 {"error":"this call names no page: send the page's release stamp, as patchline.confirm() of launch.js does"}
                """
        )
    }

    @Test func `reports its first error under its stamp, and one of another release counts for nothing`() async throws {
        let stamps = Stamps()
        let old = try stamps.serve("1")
        let new = try stamps.serve("2", onTrial: true)
        func report(_ stamp: ReleaseStamp) async throws -> String {
            try await stamps.server.call(
                "page-error",
                #"{"page":"\#(stamp)","message":"a","source":"/a.js","line":1,"column":1}"#
            )
        }
        #expect(try await report(new) == #"200 {"result":"told"}"#)
        #expect(try await report(old) == #"409 {"error":"this page belongs to another launch"}"#)
    }

    @Test func `asks for the status of the release that it is of, whatever its Referer says`() async throws {
        let stamps = Stamps()
        let old = try stamps.serve("1")
        let new = try stamps.serve("2", onTrial: true)
        func status(_ query: String) async throws -> String {
            let answer = try await stamps.server.get("/__patchline/status\(query)").bytes
            return String(decoding: answer?.bytes ?? [], as: UTF8.self)
        }
        #expect(try await status("?page=\(old)").contains(#""onTrial":false,"pending":null,"running":"1""#))
        #expect(try await status("?page=\(new)").contains(#""onTrial":true,"pending":null,"running":"2""#))
        #expect(try await status("?page=\(String(repeating: "0", count: 32))").contains(#""running":null"#))
        #expect(try await status("").contains(#""running":"2""#))
    }
}

@Suite("Events of releases")
struct ReleaseEventsTests {
    @Test func `name the stamps that are served, and come at once to a page that does not wait`() async throws {
        let stamps = Stamps()
        let old = try stamps.serve("1")
        let new = try stamps.serve("2")
        func poll(_ query: String) async throws -> String {
            let answer = try #require(try await stamps.server.get("/__patchline/events?\(query)").bytes)
            #expect(answer.contentType == "text/event-stream" && answer.cacheControl == "no-store")
            return String(decoding: answer.bytes, as: UTF8.self)
        }
        let first = try await poll("wait=0")
        #expect(first.contains(#""releases":["\#(new)","\#(old)"]"#) && !first.contains("event: switched"))
        let id = try #require(first.firstMatch(of: #/id: (\S+)-2\n/#).map { String($0.1) })
        let next = try await poll("after=\(id)-1&wait=0")
        #expect(next.contains("event: switched\ndata: {\"version\":\"2\"}"))
        stamps.clock.advance(by: .seconds(61))
        #expect(try await poll("wait=0").contains(#""releases":["\#(new)"]"#))
        #expect(stamps.server.events.streams == 0)
    }
}

@Suite("A script that many pages carry")
struct ScriptTextTests {
    @Test(arguments: [
        ("a  =  1;\n  // b\n  c();", "a=1;c();"), ("if (a) {\n  return b;\n}", "if(a){return b}"),
        ("f({\n  a: 1,\n  b,\n});", "f({a:1,b});"), ("const [a] = await b;", "const[a]=await b;"),
        ("a = \" ; } // x \" + ' }';", "a=\" ; } // x \"+' }';"), ("for (const {a} of b) c;", "for(const{a}of b)c;"),
        ("", ""), ("a\nb", "a b"),
    ])
    func `loses the white space that separates no words, and its comments`(source: String, expected: String) {
        #expect(ScriptText.stripped(source) == expected)
    }

    @Test func `of the release stamp has at most 3,200 bytes on one line`() {
        #expect(StampScript.text.utf8.count <= 3_200 && !StampScript.text.contains("\n"))
        #expect(StampScript.text.hasPrefix("(()=>{try{") && StampScript.text.hasSuffix("catch{}})();"))
    }
}

@Suite("A file without a cookie")
struct CookielessTests {
    private static let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))
    private static let host = ("Host", "name.localhost:12552")
    private static let manifest = [
        ("Sec-Fetch-Dest", "manifest"), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors"),
    ]

    @Test(
        arguments: [
            ("/app.webmanifest", [], "app.webmanifest"), ("/Manifest.json", [], "Manifest.json"),
            ("/manifest.json", [], "404"), ("/data.json", [], "403"), ("/app.json", [], "app.json"),
            ("/app.json?v=1", [], "app.json"), ("/app.json/", [], "403"),
            ("/app.json", [("Sec-Fetch-Dest", "empty")], "app.json"),
            ("/data.json", [("Sec-Fetch-Dest", "empty")], "403"),
            ("/app.json", [("Sec-Fetch-Dest", "script")], "403"), ("/app.js", [], "403"),
            ("/", [], "403"), ("/none.json", [], "403"), ("/__patchline/scripts.json", [], "403"),
            ("/app.webmanifest", [("Sec-Fetch-Site", "same-site")], "403"),
            ("/app.webmanifest", [("Sec-Fetch-Site", "cross-site")], "403"),
            ("/app.webmanifest", [("Sec-Fetch-Dest", "empty")], "app.webmanifest"),
            ("/app.webmanifest", [("Host", "other.localhost:12552")], "421"),
        ] as [(String, [(String, String)], String)]
    )
    func `is a manifest that a page of ours links to, by its name or its signed type`(
        target: String,
        other: [(String, String)],
        expected: String
    ) async throws {
        let stamps = Stamps(Access(token: Self.token, under: .own("name.localhost")))
        try stamps.serve("1")
        let names = Set(other.map(\.0))
        let fields = ([Self.host] + Self.manifest).filter { !names.contains($0.0) } + other
        #expect(await stamps.server.answer(try request(target, fields)).summary == expected)
    }

    @Test func `is a manifest of a host that every program shares, too`() async throws {
        let stamps = Stamps(Access(token: Self.token, under: .shared))
        try stamps.serve("1")
        #expect(await stamps.server.answer(try request("/app.webmanifest", Self.manifest)).summary == "app.webmanifest")
        #expect(await stamps.server.answer(try request("/data.json", Self.manifest)).summary == "403")
    }
}

@Suite("The cookie")
struct CookieTests {
    private static let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))

    @Test func `of an own host follows from the token, and that of a shared one is new each time`() {
        let own = Access(token: Self.token, under: .own("name.localhost"))
        #expect(own.pass() == own.pass() && own.pass() != Self.token && own.pass() != own.returnKey)
        #expect(own.pass() != Access(token: .make(), under: .own("name.localhost")).pass())
        let shared = Access(token: Self.token, under: .shared)
        #expect(shared.pass() != shared.pass() && shared.returnKey == own.returnKey)
        let session = Session(port: 80, pass: Self.token)
        #expect(
            own.cookieField(in: session)
                == "cdvToken_80=\(Self.token.text); Path=/; HttpOnly; SameSite=Strict; Max-Age=34560000"
        )
        #expect(shared.cookieField(in: session) == "cdvToken_80=\(Self.token.text); Path=/; HttpOnly; SameSite=Strict")
    }

    @Test(
        arguments: [
            ("", 400), ("{}", 400), ("[]", 400), (#"{"token":"a","key":"b"}"#, 400), (#"{"token":1}"#, 400),
            (#"{"token":"","x":1}"#, 400), (#"{"token":""}"#, 403), (#"{"key":"\#(token.text)"}"#, 403),
            (#"{"token":"\#(token.text)"}"#, 204),
        ] as [(String, UInt)]
    )
    func `is given for the token or the return key alone`(body: String, status: UInt) async throws {
        let server = AssetServer(.init(access: Access(token: Self.token, under: .shared)))
        server.listening(on: AssetServer.port, pass: Self.token)
        let right = ClientAuthorization()
        let asked = try request("/__patchline/enter", [("Sec-Fetch-Site", "same-origin")], method: .POST).with(right)
        let answer = try #require(await server.answer(asked.with(body: Array(body.utf8))).bytes)
        #expect(answer.status.code == status && answer.cacheControl == "no-store")
        #expect(answer.headers["Set-Cookie"].count == (status == 204 ? 1 : 0) && right.isShown == (status == 204))
    }
}

@Suite("A policy that the device sends")
struct ContentPolicyTests {
    private static let digest = SHA256Digest(of: Array("a".utf8))
    private static let hash = "'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"

    @Test(arguments: [
        ("frame-ancestors 'self'", "frame-ancestors 'self'"), ("", ""), ("img-src 'none'; ", "img-src 'none'; "),
        ("default-src 'self'", "default-src 'self' HASH"), ("default-src 'none'", "default-src HASH"),
        ("script-src", "script-src HASH"),
        (
            "default-src 'self'; script-src 'self' https://a.example; img-src *",
            "default-src 'self'; script-src 'self' https://a.example HASH; img-src *"
        ),
        ("Script-Src 'None'; default-src 'unsafe-inline'", "Script-Src HASH; default-src 'unsafe-inline'"),
        ("script-src 'self'; script-src-elem 'self'", "script-src 'self'; script-src-elem 'self' HASH"),
        ("script-src 'self'; script-src *", "script-src 'self' HASH; script-src *"),
        ("script-src 'unsafe-inline'", "script-src 'unsafe-inline'"),
        ("script-src 'unsafe-inline' 'nonce-a'", "script-src 'unsafe-inline' 'nonce-a' HASH"),
        ("script-src 'unsafe-inline' 'strict-dynamic'", "script-src 'unsafe-inline' 'strict-dynamic' HASH"),
        ("script-src HASH", "script-src HASH"),
        ("script-src 'self', default-src 'none'", "script-src 'self' HASH, default-src HASH"),
        ("script-src-attr 'none'; style-src 'self'", "script-src-attr 'none'; style-src 'self'"),
    ])
    func `allows the script of the stamp where it would forbid it`(policy: String, allowed: String) {
        let given = policy.replacing("HASH", with: Self.hash)
        let expected = allowed.replacing("HASH", with: Self.hash)
        #expect(ContentPolicy.allowing(Self.digest, in: given) == expected)
    }

    @Test func `is changed where a setting names it`() {
        var access = Access(token: nil, under: .shared)
        access.setHeader("content-security-policy", to: "script-src 'self'")
        let sent = access.securityHeaders["Content-Security-Policy"]
        #expect(sent == ["script-src 'self' 'sha256-\(Base64.text(StampScript.sha256.bytes))'"])
    }
}
