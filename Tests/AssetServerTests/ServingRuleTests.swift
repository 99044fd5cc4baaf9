import Foundation
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage
import Testing

import PageTesting
@testable import AssetServer

@Suite("How the asset server serves a file")
struct ServingRuleTests {
    private func server(_ contents: [String: String], _ change: (inout AssetServer.Settings) -> Void = { _ in }) throws
        -> AssetServer
    {
        var settings = AssetServer.Settings(access: Access(token: nil, under: .shared))
        change(&settings)
        let server = AssetServer(settings)
        server.listening(on: AssetServer.port)
        server.serve(try Releases.selection("1", contents))
        return server
    }

    // MARK: Precompressed forms

    @Test(
        arguments: [
            ("br", "main.js.br", "br"), ("gzip", "main.js.gz", "gzip"), ("gzip, br", "main.js.br", "br"),
            ("gzip;q=1, br;q=0.5", "main.js.gz", "gzip"), ("zstd", "main.js", nil), ("identity", "main.js", nil),
            ("br;q=0", "main.js", nil), ("", "main.js", nil), ("*", "main.js.br", "br"),
        ] as [(String, String, String?)]
    )
    func `is the form that lies beside it, in the coding that the request wants most`(
        accepted: String,
        path: String,
        coding: String?
    ) async throws {
        let server = try server(["index.html": "i", "main.js": "m", "main.js.br": "b", "main.js.gz": "g"])
        let file = try #require(try await server.get("/main.js", ("Accept-Encoding", accepted)).file)
        #expect(file.path.string == "/1/\(path)")
        #expect(file.headers.first(name: "Content-Encoding") == coding)
        #expect(file.headers["Vary"] == ["Accept-Encoding"])
        #expect(file.contentType == "text/javascript", "the coding is not a type")
        let content = path.hasSuffix("br") ? "b" : path.hasSuffix("gz") ? "g" : "m"
        #expect(file.entityTag == Fingerprint(of: Array(content.utf8)).sha256.hex, "each form has a tag of its own")
    }

    @Test func `varies by nothing where there is one form, and is the compressed file itself under its own URL`()
        async throws
    {
        let server = try server(["index.html": "i", "main.js": "m", "a.txt": "a", "main.js.gz": "g"])
        let plain = try #require(try await server.get("/a.txt", ("Accept-Encoding", "br")).file)
        #expect(plain.headers["Vary"] == [] && plain.headers["Content-Encoding"] == [])
        let own = try #require(try await server.get("/main.js.gz", ("Accept-Encoding", "gzip")).file)
        #expect(own.headers["Content-Encoding"] == [] && own.contentType == "application/gzip")
    }

    @Test func `is the plain one where its compressed form is damaged`() async throws {
        let server = AssetServer.open()
        let contents = ["index.html": "i", "main.js": "m", "main.js.br": "b"]
        server.serve(try Releases.selection("1", contents, damaged: ["main.js.br"]))
        let file = try #require(try await server.get("/main.js", ("Accept-Encoding", "br")).file)
        #expect(file.path == "/1/main.js" && file.headers["Content-Encoding"] == [])
    }

    // MARK: Types (M20)

    @Test func `has a type from the table without a charset, unless a setting names types or a charset`() async throws {
        let contents = ["index.html": "i", "a.js": "a", "a.png": "p", "a.svg": "s", "a.data": "d"]
        let plain = try server(contents)
        let set = try server(contents) {
            $0.types = ContentTypeRules(types: ["data": "application/x-data"], charset: "utf-8")
        }
        for (path, type, asSet) in [
            ("/a.js", "text/javascript", "text/javascript; charset=utf-8"),
            ("/", "text/html", "text/html; charset=utf-8"), ("/a.png", "image/png", "image/png"),
            ("/a.svg", "image/svg+xml", "image/svg+xml; charset=utf-8"),
            ("/a.data", "application/octet-stream", "application/x-data"),
        ] {
            #expect(try await plain.get(path).file?.contentType == type)
            #expect(try await set.get(path).file?.contentType == asSet)
        }
    }

    // MARK: Dates

    @Test func `has a date where it is of the app's own folder, and a tag where it is of the bundle`() async throws {
        let root = FilePath("/tmp/assetserver-tests-\(UInt64.random(in: 0...UInt64.max))")
        defer { try? DiskFiles().removeTree(root) }
        try DiskFiles().makeDirectory(root)
        try DiskFiles().write([1], to: root.appending("extra.txt"))
        let server = try server(["index.html": "i"]) { $0.www = root }
        let own = try #require(try await server.get("/extra.txt").file)
        #expect(own.modified != nil && own.entityTag == nil)
        let asset = try #require(try await server.get("/index.html").file)
        #expect(asset.modified == nil && asset.entityTag != nil)
    }

    // MARK: Paths (G4)

    @Test(arguments: [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/.%2e/etc/passwd", "/%2E%2E/etc/passwd",
        "/a/../../etc/passwd",
        "/./../etc/passwd", "//../etc/passwd", "/etc/passwd", "/%252e%252e/etc/passwd",
        "/local-filesystem/../../etc/passwd",
        "/local-filesystem/%2e%2e/%2e%2e/etc/passwd", "/local-filesystem//etc/passwd", "/.../etc/passwd",
        "/%C0%AE%C0%AE/etc/passwd", "/..%2fetc/passwd", "/..%5cetc/passwd", "/..\\etc/passwd", "/%00/etc/passwd",
        "/etc/passwd%00.html", "/%2fetc/passwd", "/a%2f..%2f..%2fetc/passwd",
    ])
    func `never lies outside what is served, however the way out is spelled`(target: String) async throws {
        let server = try server(["index.html": "i"]) {
            $0.www = "/tmp/assetserver-no-such-folder"
            $0.localFiles = "/tmp/assetserver-no-such-folder"
        }
        do {
            #expect(try await server.get(target).summary == "/1/index.html")
        } catch is RequestPathError {}
    }

    @Test func `is not reached through a symbolic link that somebody planted`() async throws {
        let root = FilePath("/tmp/assetserver-tests-\(UInt64.random(in: 0...UInt64.max))")
        defer { try? DiskFiles().removeTree(root) }
        for folder in ["www", "secret"] { try DiskFiles().makeDirectory(root.appending(folder)) }
        try DiskFiles().write([1], to: root.appending("secret/file.txt"))
        try plantLink(at: root.appending("www/link"), to: root.appending("secret"))
        try plantLink(at: root.appending("www/file.txt"), to: root.appending("secret/file.txt"))
        let server = try server(["index.html": "i"]) {
            $0.www = root.appending("www")
            $0.localFiles = root.appending("www")
        }
        for target in ["/link/file.txt", "/file.txt", "/local-filesystem/link/file.txt", "/local-filesystem/file.txt"] {
            #expect(try await server.get(target).summary == "404", "\(target)")
        }
    }

    private func plantLink(at path: FilePath, to target: FilePath) throws {
        try FileManager.default.createSymbolicLink(atPath: path.string, withDestinationPath: target.string)
    }
}
