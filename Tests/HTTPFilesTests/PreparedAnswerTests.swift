import HTTPCore
import Linux
import Foundation
import NIOHTTP1
import SystemPackage
import Testing

@testable import HTTPFiles

@Suite("A prepared answer", .timeLimit(.minutes(10)))
struct PreparedAnswerTests {
    private let folder: TemporaryFolder
    private let large: String
    private let files: [String: ServedFile]

    init() throws {
        folder = try TemporaryFolder()
        large = (0..<60_000).map { String($0) }.joined(separator: ",")
        let small = try folder.write("0123456789", to: "small")
        let vary: HTTPHeaders = ["Vary": "Accept", "X-SourceMap": "/map"]
        files = [
            "/small": ServedFile(path: small, entityTag: "v1", contentType: "text/plain", headers: vary, size: 10),
            "/large": ServedFile(path: try folder.write(large, to: "large"), entityTag: "v1"),
            "/empty": ServedFile(path: try folder.write("", to: "empty"), entityTag: "v1", size: 0),
            "/untagged": ServedFile(path: small),
        ]
    }

    private func source(_ kind: PreparedSource.Kind) -> PreparedSource {
        PreparedSource(kind) { [files] request in
            if let file = files[request.path.text] { return .file(file) }
            if request.path.text == "/bytes" { return .bytes(.digits) }
            return .refused(.notFound, message: "No.", headers: ["Cache-Control": "max-age=60"])
        }
    }

    /// All that comes back on one connection, without the dates.
    private func answers(_ kind: PreparedSource.Kind, _ requests: [String]) async throws -> [String] {
        try await TestServer.running(source(kind)) { server in
            try await server.connected { client in
                for text in requests.dropLast() { try await client.send(text) }
                // Its end ends the connection.
                try await client.send(try #require(requests.last))
                let all = String(decoding: await client.rest(), as: UTF8.self)
                return all.components(separatedBy: "\r\n").filter { !$0.hasPrefix("Date: ") }
            }
        }
    }

    @Test(arguments: ["/small", "/large", "/empty", "/untagged", "/bytes", "/nothing"])
    func `is byte for byte what the connection behind would have sent, also when it is remembered`(
        path: String
    ) async throws {
        let fields = [
            [], [#"If-None-Match: "v1""#], [#"If-None-Match: "v0", W/"v1""#], ["If-None-Match: *"],
            [#"If-Match: "v0""#],
            ["Range: bytes=2-4"], ["Range: bytes=-3", #"If-Range: "v1""#], ["Range: bytes=2-4", #"If-Range: "v0""#],
            ["Range: bytes=70000-200000"], ["Range: bytes=999999999-"], ["Range: lines=1-2"],
            ["Connection: keep-alive"],
            ["Upgrade: websocket"], ["Expect: 100-continue"],
            ["Cookie: a=b", "Accept: */*", "Referer: http://localhost/"],
        ]
        var requests = fields.flatMap { [request("GET", path, $0), request("HEAD", path, $0)] }
        requests += ["\r\n" + request("GET", path), "GET \(path) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"]
        requests = requests + requests + [request("GET", path, ["Connection: close"])]
        let behind = try await answers(.behind, requests)
        #expect(behind.count > 400)
        for kind in [PreparedSource.Kind.once, .lasting] {
            let prepared = try await answers(kind, requests)
            #expect(prepared.count == behind.count)
            let difference = zip(prepared, behind).first { $0 != $1 }
            #expect(difference == nil, "\(kind)")
        }
    }

    @Test func `is decided once for each head, while the source's edition lasts`() async throws {
        let source = source(.lasting)
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for (count, path) in [(1, "/small"), (1, "/small"), (2, "/large"), (2, "/small"), (2, "/large")] {
                    try await client.send(request("GET", path))
                    #expect(try await client.response().status == 200)
                    #expect(source.prepared == count && source.answered == 0)
                }
                source.turnOver()
                try await client.send(request("GET", "/small") + request("GET", "/small"))
                for _ in 0..<2 { #expect(try await client.response().text == "0123456789") }
                #expect(source.prepared == 3)
            }
        }
    }

    @Test(arguments: ["/untagged", "/nothing"])
    func `is decided each time for a file without a tag and for a refusal`(path: String) async throws {
        let source = source(.lasting)
        try await TestServer.running(source) { server in
            for _ in 0..<3 { _ = try await server.get(path) }
        }
        #expect(source.prepared == 3 && source.answered == 0)
    }

    enum Harm: CaseIterable {
        case written, replaced, moved, removed, linked, grown

        func happens(to file: FilePath, in folder: TemporaryFolder) throws {
            let name = file.lastComponent?.string ?? ""
            switch self {
            // As long as before, and its time is set back.
            case .written:
                let modified = try folder.modified(file)
                let before = FileIdentity(at: file.string)?.changed
                repeat {
                    try folder.overwrite(file, with: "9876543210")
                    try folder.setModified(modified, of: file)
                    // The kernel's clock moves in steps of some milliseconds.
                } while FileIdentity(at: file.string)?.changed == before
            case .replaced:
                try folder.write("9876543210", to: "other")
                try folder.move("other", to: name)
            case .moved: try folder.move(name, to: "elsewhere")
            case .removed: try folder.remove(file)
            case .linked:
                try folder.move(name, to: "elsewhere")
                try folder.link(name, to: "elsewhere")
            case .grown: try folder.resize(file, to: 11)
            }
        }

        var status: Int {
            switch self {
            case .written, .replaced: 200
            case .moved, .removed, .linked: 404
            case .grown: 500
            }
        }
    }

    @Test(arguments: Harm.allCases)
    func `is not given again once its file is another`(harm: Harm) async throws {
        let source = source(.lasting)
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for _ in 0..<2 {
                    try await client.send(request("GET", "/small"))
                    #expect(try await client.response().text == "0123456789")
                }
                #expect(source.prepared == 1)
                try harm.happens(to: folder.path.appending("small"), in: folder)
                try await client.send(request("GET", "/small"))
                let response = try await client.response()
                #expect(response.status == harm.status)
                #expect(response.status != 200 || response.text == "9876543210")
                #expect(source.prepared == 2)
            }
        }
    }

    @Test func `of bytes that were read from a file holds while the file is the same`() async throws {
        let path = try folder.write("one", to: "read")
        let source = PreparedSource { _ in
            guard let bytes = try? String(contentsOfFile: path.string, encoding: .utf8) else { return .notFound }
            let origin = FileOrigin(at: path.string)
            return .bytes(ServedBytes(bytes: Array(bytes.utf8), contentType: "text/plain", origin: origin))
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                for (count, text) in [(1, "one"), (1, "one"), (2, "another"), (2, "another")] {
                    if count == 2, source.prepared == 1 {
                        try folder.write(text, to: "other")
                        try folder.move("other", to: "read")
                    }
                    try await client.send(request("GET", "/"))
                    #expect(try await client.response().text == text)
                    #expect(source.prepared == count && source.answered == 0)
                }
                try folder.remove(path)
                for _ in 0..<2 {
                    try await client.send(request("GET", "/"))
                    #expect(try await client.response().status == 404)
                }
            }
        }
        #expect(source.prepared == 4)
    }

    @Test func `has the file's bytes where a range asks for them, by sendfile too`() async throws {
        let source = source(.lasting)
        try await TestServer.running(source) { server in
            #expect(try await server.get("/large").text == large)
            let part = try await server.get("/large", "Range: bytes=100000-299999")
            #expect(part.text == String(large.dropFirst(100_000).prefix(200_000)))
        }
        #expect(source.answered == 0)
    }

    @Test func `is whole also under TLS, which takes no files`() async throws {
        let certificate = try await TestCertificate()
        let identity = try certificate.identity()
        let source = source(.lasting)
        try await TestServer.running(source, configure: { $0.tls = RenewableIdentity(identity) }) { server in
            try await RawClient.connected(to: server.port, tls: try certificate.clientContext()) { client in
                for _ in 0..<2 {
                    try await client.send(
                        request("GET", "/small") + request("GET", "/large") + request("GET", "/small")
                    )
                    #expect(try await client.response().text == "0123456789")
                    #expect(try await client.response().text == large)
                    #expect(try await client.response().text == "0123456789")
                }
            }
        }
    }

    @Test func `is logged as every other, with the bytes of its body`() async throws {
        try await TestServer.running(source(.lasting)) { server in
            _ = try await server.get("/small?x", "User-Agent: tests")
            _ = try await server.get("/small", method: "HEAD")
            _ = try await server.get("/large")
            _ = try await server.get("/small", #"If-None-Match: "v1""#)
            var log = server.accessLog.makeAsyncIterator()
            let small = try #require(await log.next())
            #expect(small.method == "GET" && small.target == "/small?x" && small.status == 200)
            #expect(small.bodyBytes == 10 && small.remoteAddress == "127.0.0.1" && small.userAgent == "tests")
            let head = try #require(await log.next())
            #expect(head.method == "HEAD" && head.bodyBytes == 0 && head.userAgent == nil)
            #expect(try #require(await log.next()).bodyBytes == large.utf8.count)
            let unchanged = try #require(await log.next())
            #expect(unchanged.status == 304 && unchanged.bodyBytes == 0)
        }
    }
}
