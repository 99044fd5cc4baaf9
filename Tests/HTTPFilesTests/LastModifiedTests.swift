import HTTPCore
import NIOHTTP1
import SystemPackage
import Testing

@testable import HTTPFiles

@Suite("A file with a date")
struct LastModifiedTests {
    private func served(at modified: Int, in folder: TemporaryFolder) throws -> ClosureSource {
        let path = try folder.write("0123456789", to: "a.txt")
        return .answering { _ in .file(ServedFile(path: path, modified: modified)) }
    }

    @Test func `tells it, and answers 304 to whoever has that one`() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.running(served(at: 784_111_777, in: folder)) { server in
            let whole = try await server.get("/a.txt")
            #expect(whole.status == 200 && whole["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            let same = try await server.get("/a.txt", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(same.status == 304 && same["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            let part = try await server.get(
                "/a.txt",
                "Range: bytes=2-4",
                "If-Range: Sun, 06 Nov 1994 08:49:37 GMT"
            )
            #expect(part.status == 206 && part.text == "234")
            let late = try await server.get("/a.txt", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT")
            #expect(late.status == 412)
        }
    }

    @Test func `never tells a date that is still to come`() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.running(served(at: 4_107_542_400, in: folder)) { server in
            let told = try #require(try await server.get("/a.txt")["Last-Modified"])
            let date = try #require(HTTPDate.seconds(told, now: HTTPDate.second))
            #expect(date <= HTTPDate.second)
        }
    }

    @Test func `ends its lease with the response, whether its client read it or not`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("0123456789", to: "a.txt")
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { _ in
            var file = ServedFile(path: path)
            file.lease = Lease { ended.yield() }
            return .file(file)
        }
        try await TestServer.running(source) { server in
            var iterator = ends.makeAsyncIterator()
            _ = try await server.get("/a.txt")
            await iterator.next()
            _ = try await server.get("/a.txt", method: "HEAD")
            await iterator.next()
            _ = try await server.get("/a.txt", "Range: bytes=99-")
            await iterator.next()
        }
    }
}
