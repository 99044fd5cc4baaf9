import HTTPFiles
import NIOHTTP1
import SystemPackage
import Testing

@testable import AssetServer

/// A delegate for what lies under `/api`.
private struct APIDelegate: RequestDelegate {
    func takes(_ request: FileRequest) -> Bool { request.path.segments.first == "api" }

    func answer(_ request: FileRequest) async -> FileAnswer {
        .refused(.badGateway, message: "No upstream.", headers: [:])
    }
}

@Suite("What the asset server answers at once")
struct PreparedAssetTests {
    private func server(www: FilePath? = nil) throws -> AssetServer {
        let server = AssetServer(www: www) { _ in .failed }
        server.serve(ServedSelection(table: try SampleBundle.table(damaged: ["style.css"]), launch: nil))
        return server
    }

    private func isPrepared(_ request: FileRequest, by server: AssetServer) -> Bool {
        server.prepared(request) != nil
    }

    private func request(_ target: String, _ method: HTTPMethod = .GET) throws -> FileRequest {
        let query = target.split(separator: "?").dropFirst().first.map(String.init)
        return FileRequest(method: method, path: try RequestPath(parsing: target), query: query)
    }

    @Test(arguments: [
        "/", "/index.html", "/app/main.js", "/app/main.js?v=1", "/any/where", "/favicon.ico",
        "/app/visible.js",
        "/caf%C3%A9/a%20b.txt", "/local-filesystem/x",
    ])
    func `is what it answers when it is asked`(target: String) async throws {
        let server = try server()
        for method in [HTTPMethod.GET, .HEAD] {
            let prepared = try #require(server.prepared(try request(target, method))?.answer)
            let asked = await server.answer(try request(target, method))
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

    @Test(arguments: ["/__patchline", "/__patchline/launch.js", "/__patchline/other"])
    func `is nothing of the page's own API`(target: String) throws {
        let reply = try server().prepared(request(target))
        #expect(reply == nil)
    }

    @Test func `is no asset whose file must be read first, nor one that is damaged`() throws {
        let server = try server()
        #expect(try !isPrepared(request("/style.css"), by: server))
    }

    @Test func `is nothing that a delegate may answer`() throws {
        let server = try server()
        #expect(try isPrepared(request("/api/x"), by: server))
        let before = server.edition
        server.delegate(to: APIDelegate())
        #expect(server.edition != before)
        #expect(try !isPrepared(request("/api/x"), by: server))
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
        let route = try #require(server.prepared(try request("/any/where")))
        #expect(route.answer.summary == "index.html" && route.edition == nil)
    }
}
