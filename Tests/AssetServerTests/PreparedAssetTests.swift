import HTTPCore
import PatchCrypto
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import SystemPackage
import Testing

import PageTesting
@testable import AssetServer

/// A delegate for what lies under `/api`.
private struct APIDelegate: RequestDelegate {
    func takes(_ request: FileRequest) -> Bool { request.path.segments.first == "api" }

    func decide(_ request: FileRequest) -> FileDecision {
        .now(PreparedReply(.refused(.badGateway, message: "No upstream.", headers: [:])))
    }
}

/// Keeps pages, and tells what it sees of a call for them.
private final class PagesDelegate: PageDelegate {
    let events = NIOLockedValueBox<PageEvents?>(nil)

    func connect(_ events: PageEvents) { self.events.withLockedValue { $0 = events } }

    func takes(_ request: FileRequest) -> Bool { false }

    func decide(_ request: FileRequest) -> FileDecision { EchoDelegate().decide(request) }
}

/// Tells what it sees of a request.
private struct EchoDelegate: RequestDelegate {
    func takes(_ request: FileRequest) -> Bool { request.path.segments.first == "api" }

    func decide(_ request: FileRequest) -> FileDecision { .later(.stream, answer) }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        let text = "\(request.query ?? "-") \(request.headers["Cookie"])"
        return .bytes(ServedBytes(bytes: Array(text.utf8), contentType: "text/plain"))
    }
}

@Suite("What the asset server answers at once")
struct PreparedAssetTests {
    private func server(www: FilePath? = nil) throws -> AssetServer {
        let server = AssetServer.open(www: www)
        server.serve(ServedSelection(table: try SampleBundle.table(damaged: ["style.css"]), launch: nil))
        return server
    }

    private func isPrepared(_ request: FileRequest, by server: AssetServer) -> Bool {
        server.prepared(request) != nil
    }

    @Test(arguments: [
        "/app/main.js", "/app/main.js?v=1", "/favicon.ico", "/app/visible.js",
        "/caf%C3%A9/a%20b.txt", "/local-filesystem/x.js",
    ])
    func `is what it answers when it is asked`(target: String) async throws {
        let server = try server()
        for method in [HTTPMethod.GET, .HEAD] {
            let prepared = try #require(server.prepared(try request(target, method: method))?.answer)
            let asked = await server.answer(try request(target, method: method))
            #expect(prepared.summary == asked.summary)
            #expect(prepared.file?.entityTag == asked.file?.entityTag)
            #expect(prepared.file?.cacheControl == asked.file?.cacheControl)
        }
    }

    @Test func `is no file that has to be read before it is served`() async throws {
        let server = try server()
        #expect(try !isPrepared(request("/style.css"), by: server))
        #expect(await server.answer(try request("/style.css")).summary == "503")
    }

    @Test func `is no page, which is read to receive its stamp`() throws {
        let server = try server()
        for target in ["/", "/index.html", "/any/where", "/local-filesystem/x"] {
            #expect(server.prepared(try request(target)) == nil, "\(target)")
        }
    }

    @Test func `is asked for again where it is shown, for the page that was loaded last has to be known`() throws {
        let server = try server()
        func edition(_ fields: [(String, String)]) throws -> Int? {
            try #require(server.prepared(try request("/app/main.js", fields))).edition
        }
        #expect(try edition([("Sec-Fetch-Dest", "script")]) != nil)
        for fields in [[("Sec-Fetch-Dest", "iframe"), ("Sec-Fetch-Mode", "navigate")], [("Accept", "text/html")]] {
            #expect(try edition(fields) == nil, "\(fields)")
        }
        let shown = [("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")]
        #expect(server.prepared(try request("/app/main.js", shown)) == nil)
    }

    @Test(arguments: ["/__patchline", "/__patchline/launch.js", "/__patchline/other"])
    func `is nothing of the page's own API`(target: String) throws {
        let reply = try server().prepared(request(target))
        #expect(reply == nil)
    }

    @Test func `is refused like any other request without the token, and remembered with its cookie alone`()
        async throws
    {
        let server = AssetServer(.init(access: Access(token: .make(), under: .shared)))
        server.listening(on: AssetServer.port)
        server.serve(ServedSelection(table: try SampleBundle.table(), launch: nil))
        let reply = try #require(server.prepared(try request("/app/main.js")))
        #expect(reply.answer.summary == "403")
    }

    @Test func `holds only once while an open page may belong to the release before`() throws {
        let server = AssetServer.open()
        server.serve(try Releases.one())
        #expect(server.prepared(try request("/main.js"))?.edition == server.edition)
        server.serve(try Releases.two())
        let reply = try #require(server.prepared(try request("/main.js")))
        #expect(reply.edition == nil && reply.answer.summary == "/2/main.js")
    }

    @Test func `leaves no trace before it is used`() async throws {
        let clock = TestClock()
        let server = AssetServer(AssetServer.Settings(access: Access(token: nil, under: .shared)), now: { clock.now })
        server.listening(on: AssetServer.port)
        server.serve(try Releases.one())
        server.serve(try Releases.two())
        let document = [("Sec-Fetch-Dest", "document")]
        let script = [("Sec-Fetch-Dest", "script"), ("Referer", "http://127.0.0.1:12552/route")]
        // Nobody has the page, so a route that nobody asked for is one of the page before.
        let page = server.decide(try request("/", document))
        #expect(try server.prepared(request("/main.js", script))?.answer.summary == "/1/main.js")
        _ = await page.answer(to: try request("/", document))
        #expect(try server.prepared(request("/main.js", script))?.answer.summary == "/2/main.js")

        // What only the release before has is held from its answer on.
        let decision = server.decide(try request("/old.js"))
        clock.advance(by: .seconds(59))
        let answer = await decision.answer(to: try request("/old.js"))
        clock.advance(by: .seconds(59))
        #expect(server.servesPrevious() && answer.summary == "/1/old.js")
        withExtendedLifetime(answer) {}
    }

    @Test func `of the release before that is never used keeps nothing of it`() throws {
        let clock = TestClock()
        let server = AssetServer(AssetServer.Settings(access: Access(token: nil, under: .shared)), now: { clock.now })
        server.listening(on: AssetServer.port)
        server.serve(try Releases.one())
        server.serve(try Releases.two())
        let decision = server.decide(try request("/old.js"))
        clock.advance(by: .seconds(61))
        #expect(!server.servesPrevious())
        withExtendedLifetime(decision) {}
    }

    @Test func `shows a delegate no token`() async throws {
        let (token, pass) = (AccessToken.make(), AccessToken.make())
        let server = AssetServer(.init(access: Access(token: token, under: .shared)))
        server.listening(on: AssetServer.port, pass: pass)
        server.delegate(to: EchoDelegate())
        let cookie = ("Cookie", "a=b; cdvToken_12552=\(pass.text); c=d")
        let seen = try await server.get("/api/x?cdvToken=\(token.text)&y=1", cookie).bytes
        #expect(seen.map { String(decoding: $0.bytes, as: UTF8.self) } == "y=1 [\"a=b; c=d\"]")
        #expect(try await server.get("/api/x").summary == "403")
        let refused = server.decide(try request("/api/x", method: .POST))
        #expect(refused.intake == .whole, "what is not let in holds no stream")
        #expect(server.decide(try request("/api/x", [cookie], method: .POST)).intake == .stream)
    }

    @Test func `leaves what became of a page to a delegate that keeps pages, with no token, and to no other`()
        async throws
    {
        let (token, pass) = (AccessToken.make(), AccessToken.make())
        let server = AssetServer(.init(access: Access(token: token, under: .shared)))
        server.listening(on: AssetServer.port, pass: pass)
        let cookie = ("Cookie", "a=b; cdvToken_12552=\(pass.text); c=d")
        server.delegate(to: EchoDelegate())
        #expect(try await server.get("/__patchline/page?path=/x", cookie).summary == "404")
        let pages = PagesDelegate()
        server.delegate(to: pages)
        let seen = try await server.get("/__patchline/page?path=/x&cdvToken=\(token.text)", cookie).bytes
        #expect(seen.map { String(decoding: $0.bytes, as: UTF8.self) } == "path=/x [\"a=b; c=d\"]")
        #expect(try await server.get("/__patchline/page?path=/x").summary == "403")
        #expect(try await server.get("/__patchline/page?path=/x", cookie, method: .POST).summary == "405")
        #expect(pages.events.withLockedValue { $0 === server.events })
    }

    @Test func `serves the script of live pages to who is let in`() async throws {
        let answer = try #require(try await server().get("/__patchline/page.js").bytes)
        #expect(answer.contentType == "text/javascript" && answer.entityTag != nil)
        let text = String(decoding: answer.bytes, as: UTF8.self)
        #expect(text.contains("patchline:page") && !text.contains("cdvToken"))
    }

    @Test func `is nothing that a delegate may answer`() throws {
        let server = try server()
        #expect(try isPrepared(request("/api/x.json"), by: server))
        let before = server.edition
        server.delegate(to: APIDelegate())
        #expect(server.edition != before)
        #expect(try !isPrepared(request("/api/x.json"), by: server))
        #expect(try isPrepared(request("/app/main.js"), by: server))
    }

    @Test func `holds until it serves another selection`() throws {
        let server = try server()
        for _ in 0..<3 {
            let edition = try #require(server.prepared(try request("/app/main.js"))?.edition)
            #expect(edition == server.edition)
            server.serve(ServedSelection(table: try SampleBundle.table(), launch: nil))
            #expect(edition != server.edition)
        }
    }

    @Test func `holds only once where the app's own folder is asked first`() throws {
        let server = try server(www: "/nowhere")
        #expect(server.prepared(try request("/app/main.js"))?.edition == server.edition)
        let other = try #require(server.prepared(try request("/favicon.ico")))
        #expect(other.answer.summary == "404" && other.edition == nil)
    }
}
