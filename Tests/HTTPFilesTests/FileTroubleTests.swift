import HTTPCore
import Linux
import Foundation
import HTTPFiles
import NIOHTTP1
import SystemPackage
import Testing

@Suite("A file that is not what the source said", .timeLimit(.minutes(10)))
struct FileTroubleTests {
    private static let notThere = "it does not exist, or is not a regular file below its folder"
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func expect(_ status: Int, for file: ServedFile, logging part: String) async throws {
        try await TestServer.running(.answering { _ in .file(file) }) { server in
            let response = try await server.get("/asked")
            #expect(response.status == status)
            #expect(response["ETag"] == nil)
            #expect(response["Cache-Control"] == "no-cache")
            let said = [404: "Not found.", 500: "The file cannot be read.", 503: "The file is changing."]
            #expect(response.text == said[status].map { $0 + "\n" })
            let line = try #require(await server.errorLog.first { _ in true })
            #expect(line.contains("GET /asked"))
            #expect(line.contains(part))
        }
    }

    @Test(arguments: [9, 11])
    func `is 500 with another size, never a short body`(size: Int) async throws {
        let path = try folder.write("0123456789", to: "file")
        let file = ServedFile(path: path, entityTag: "v1", cacheControl: "max-age=60", size: size)
        try await expect(500, for: file, logging: "has 10 bytes, not \(size)")
    }

    @Test func `is 503 when it is not the one that was verified, or was written to since`() async throws {
        let path = try folder.write("0123456789", to: "file")
        func identity(size: Int, inode: UInt64) -> FileIdentity {
            FileIdentity(device: 1, inode: inode, size: size, modified: 0, changed: 0)
        }
        for identity in [identity(size: 10, inode: 1), identity(size: 9, inode: 2)] {
            let file = ServedFile(path: path, entityTag: "v1", cacheControl: "max-age=60", identity: identity)
            try await expect(503, for: file, logging: "is not the file that was verified")
        }
    }

    @Test func `is 404 when it is gone`() async throws {
        let file = ServedFile(path: folder.path.appending("gone"))
        try await expect(404, for: file, logging: "/gone cannot be opened: \(Self.notThere)")
    }

    @Test func `is 404 when it is a folder`() async throws {
        try await expect(404, for: ServedFile(path: folder.path), logging: Self.notThere)
    }

    @Test func `is 404 when it is a symlink`() async throws {
        try folder.write("secret", to: "secret")
        try folder.link("link", to: "secret")
        try await expect(404, for: ServedFile(path: folder.path.appending("link")), logging: Self.notThere)
    }

    @Test func `is 404 when a symlink took the place of a folder after it was found`() async throws {
        try folder.write("public", to: "root/a/file")
        try folder.write("secret", to: "elsewhere/file")
        let found = try #require(
            try FolderFiles(root: folder.path.appending("root")).lookUp(RequestPath(parsing: "/a/file"))
        )
        try FileManager.default.removeItem(atPath: folder.path.appending("root/a").string)
        try folder.link("root/a", to: "../elsewhere")
        try await expect(404, for: ServedFile(found), logging: Self.notThere)
    }

    @Test(arguments: ["elsewhere/file", "root/../elsewhere/file"])
    func `is 404 when it is not below its root`(name: String) async throws {
        try folder.write("secret", to: "elsewhere/file")
        try folder.write("", to: "root/file")
        let file = ServedFile(path: folder.path.appending(name), root: folder.path.appending("root"))
        try await expect(404, for: file, logging: Self.notThere)
    }

    @Test func `ends the connection when it shrinks under way`() async throws {
        let size = 256 * 1024 * 1024
        let file = try folder.writeSparse("large", size: Int64(size))
        try await TestServer.running(.answering { _ in .file(ServedFile(path: file)) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/") + request("GET", "/"))
                let head = try await client.head()
                #expect(head.headers.first(name: "Content-Length") == String(size))
                // The client does not read, so far less than all of it is under way.
                try folder.resize(file, to: 0)
                let rest = await client.rest()
                #expect(rest.count < size)
                #expect(rest.suffix(4) == [0, 0, 0, 0], "no second response follows")
            }
            let line = try #require(await server.errorLog.first { _ in true })
            #expect(line.contains("it became shorter while it was read"))
        }
    }

    @Test func `goes on as it was when its name is given to another`() async throws {
        let size = 64 * 1024 * 1024
        let file = try folder.writeSparse("large", size: Int64(size))
        try await TestServer.running(.answering { _ in .file(ServedFile(path: file)) }) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/"))
                _ = try await client.head()
                try FileManager.default.removeItem(atPath: file.string)
                try folder.write("new", to: "large")
                #expect(try await server.get("/").text == "new")
                try await client.send(request("GET", "/", ["Connection: close"]))
                let rest = await client.rest()
                #expect(rest.count > size && rest[size - 1] == 0)
                #expect(String(decoding: rest.dropFirst(size), as: UTF8.self).hasSuffix("\r\n\r\nnew"))
            }
        }
    }
}

@Suite("A published folder", .timeLimit(.minutes(10)))
struct PublishedFolderTests {
    @Test func `is served by what is in it at each request`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("secret", to: "secret.txt")
        try folder.write("1", to: "root/app.js")
        let files = FolderFiles(root: folder.path.appending("root"))
        let source = ClosureSource.answering { request in
            do {
                guard let found = try files.lookUp(request.path) else { return .notFound }
                return .file(ServedFile(found))
            } catch {
                return .refused(.internalServerError, message: "No files.", headers: [:])
            }
        }
        try await TestServer.running(source) { server in
            let first = try await server.get("/app.js")
            #expect(first.text == "1")
            #expect(first["Content-Type"] == "text/javascript")
            #expect(first["ETag"] == nil)
            try folder.write("two", to: "root/app.js")
            #expect(try await server.get("/app.js").text == "two")
            #expect(try await server.get("/%2e%2e/secret.txt").status == 404)
            #expect(try await server.get("/../secret.txt").status == 404)
            #expect(try await server.get("/").status == 404)
        }
    }
}
