import FolderUploads
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PageTesting
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@testable import AssetServer

@Suite("Calls over an owner's folder, and who is let in")
struct UploadAccessTests {
    private static let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))
    private static let pass = AccessToken(random: [UInt8](repeating: 0xCD, count: 16))
    private static let cookie = ("Cookie", "cdvToken_12552=\(pass.text)")

    /// A server with a folder that holds one file.
    private struct World {
        let files = FaultyFiles()
        let server: AssetServer

        init(token: AccessToken? = UploadAccessTests.token, origins: Set<String> = [], hasUploads: Bool = true) throws {
            try files.makeDirectory("/content")
            try files.write([1], to: "/content/a.txt")
            var settings = AssetServer.Settings(access: Access(token: token, under: .shared))
            settings.access.origins = origins
            if hasUploads { settings.uploads = Uploader("/content", files: files, below: PageAPI.uploads) }
            server = AssetServer(settings)
            server.listening(on: AssetServer.port, pass: UploadAccessTests.pass)
        }

        func delete(_ query: String = "", _ fields: [(String, String)]) async throws -> String {
            let request = FileRequest(
                method: .POST,
                path: try RequestPath(parsing: "/__patchline/uploads/delete"),
                query: query.isEmpty ? nil : query,
                headers: HTTPHeaders(
                    [AssetServer.host, ("Content-Type", "application/x-www-form-urlencoded")] + fields
                ),
                body: Array("path=a.txt".utf8)
            )
            return await server.answer(request).summary
        }

        var isUntouched: Bool { get throws { try files.list("/content") == ["a.txt"] } }
    }

    @Test(
        arguments: [
            ("", []), ("cdvToken=", []), ("cdvToken=\(pass.text)", []),
            ("", [("Cookie", "cdvToken_12552=\(token.text)")]),
            ("", [("Cookie", "cdvToken_12553=\(pass.text)")]), ("", [("Authorization", "Bearer \(token.text)")]),
            // With the right cookie, from a page elsewhere.
            ("", [cookie, ("Origin", "http://127.0.0.1:3000")]), ("", [cookie, ("Origin", "null")]),
            ("", [cookie, ("Sec-Fetch-Site", "cross-site")]), ("", [cookie, ("Sec-Fetch-Site", "same-site")]),
            ("cdvToken=\(token.text)", [("Origin", "https://example.com")]),
        ] as [(String, [(String, String)])]
    )
    func `change nothing without the token, with another one, or from another site`(
        query: String,
        fields: [(String, String)]
    ) async throws {
        let world = try World()
        #expect(try await world.delete(query, fields) == "403")
        #expect(try world.isUntouched)
    }

    @Test(
        arguments: [
            ("cdvToken=\(token.text)", []), ("", [cookie]), ("", [cookie, ("Origin", "http://127.0.0.1:12552")]),
        ] as [(String, [(String, String)])]
    )
    func `are answered to who has the token or its cookie, whether or not a bundle is there`(
        query: String,
        fields: [(String, String)]
    ) async throws {
        let world = try World()
        #expect(try await world.delete(query, fields) == "200 bytes")
        #expect(try world.files.list("/content") == [])
    }

    @Test func `are not there unless somebody names a folder`() async throws {
        let world = try World(hasUploads: false)
        #expect(try await world.delete("", [Self.cookie]) == "404")
        #expect(try await world.server.get("/__patchline/uploads/list?path=/", Self.cookie).summary == "404")
        #expect(try world.isUntouched)
    }

    @Test func `are not there where everybody is let in`() async throws {
        let world = try World(token: nil)
        #expect(try await world.delete("", []) == "404")
        #expect(try world.isUntouched)
    }

    @Test func `are read as the rest of the device's own API is`() async throws {
        let world = try World()
        let target = "/__patchline/uploads/list?path=/"
        #expect(try await world.server.get(target).summary == "403")
        #expect(try await world.server.get("\(target)&cdvToken=\(Self.token.text)").summary == "200 bytes")
        let answer = try await world.server.get(target, Self.cookie)
        #expect(
            answer.bytes.map { String(decoding: $0.bytes, as: UTF8.self) }
                == #"[{"path":"\/a.txt","name":"a.txt","size":1}]"#
        )
        #expect(try await world.server.get("/__patchline/uploads", Self.cookie).summary == "404 bytes")
        #expect(try await world.server.get("/__patchline/uploads/x", Self.cookie).summary == "404 bytes")
        // A body of any size comes as a stream, and only to who was let in.
        let type = ("Content-Type", "multipart/form-data; boundary=a")
        let upload = try request("/__patchline/uploads/upload", [Self.cookie, type], method: .POST)
        #expect(world.server.decide(upload).intake == .keptStream)
        let strange = try request("/__patchline/uploads/upload", [type], method: .POST)
        #expect(world.server.decide(strange).intake == .whole)
    }
}
