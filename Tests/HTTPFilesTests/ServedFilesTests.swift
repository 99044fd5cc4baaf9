import Foundation
import HTTPFiles
import NIOHTTP1
import SystemPackage
import Testing

@Suite("Files one after the other", .timeLimit(.minutes(10)))
struct ServedFilesTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for (number, text) in ["0123", "", "456", "789"].enumerated() { try folder.write(text, to: "root/\(number)") }
    }

    private var files: ServedFiles {
        let root = folder.path.appending("root")
        return ServedFiles(
            offsets: [0, 4, 4, 7, 10],
            root: root,
            entityTag: "v1",
            cacheControl: "max-age=60",
            headers: ["X-Own": "1"]
        ) { root.appending("\($0)") }
    }

    private func running(_ body: (TestServer) async throws -> Void) async throws {
        let files = files
        try await TestServer.running(.answering { _ in .files(files) }, body)
    }

    @Test func `are answered as one, with a length, a tag and their fields`() async throws {
        try await running { server in
            let response = try await server.get("/")
            #expect(response.status == 200 && response.text == "0123456789")
            #expect(response["Content-Length"] == "10" && response["Accept-Ranges"] == "bytes")
            #expect(response["ETag"] == "\"v1\"" && response["Cache-Control"] == "max-age=60")
            #expect(response["X-Own"] == "1")
        }
    }

    @Test func `give any range of the whole`() async throws {
        try await running { server in
            for first in 0..<10 {
                for last in first..<10 {
                    let response = try await server.get("/", "Range: bytes=\(first)-\(last)")
                    #expect(response.status == 206)
                    #expect(response.text == String("0123456789".dropFirst(first).prefix(last - first + 1)))
                    #expect(response["Content-Range"] == "bytes \(first)-\(last)/10")
                }
            }
            #expect(try await server.get("/", "Range: bytes=10-").status == 416)
        }
    }

    @Test func `are conditional as a file is, and keep the connection`() async throws {
        try await running { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", ["If-None-Match: \"v1\""]))
                #expect(try await client.response().status == 304)
                try await client.send(request("HEAD", "/"))
                let head = try await client.response(toHead: true)
                #expect(head.status == 200 && head["Content-Length"] == "10")
                try await client.send(request("GET", "/", ["Range: bytes=0-3", "If-Range: \"v2\""]))
                #expect(try await client.response().text == "0123456789")
            }
        }
    }

    @Test func `come whole where they are larger than what is held of them`() async throws {
        let root = folder.path.appending("large")
        let size = 100_000
        var all: [UInt8] = []
        for number in 0..<5 {
            let text = String(repeating: "\(number)abcdefghi", count: size / 10)
            try folder.write(text, to: "large/\(number)")
            all += text.utf8
        }
        let files = ServedFiles(offsets: (0...5).map { $0 * size }, root: root, entityTag: "v1") {
            root.appending("\($0)")
        }
        try await TestServer.running(.answering { _ in .files(files) }) { server in
            #expect(try await server.get("/").body == all)
            let part = try await server.get("/", "Range: bytes=99999-400000")
            #expect(part.body == Array(all[99_999...400_000]))
        }
    }

    @Test(arguments: ["shorter", "longer", "gone", "link"])
    func `end with the connection at one that is not what it should be`(trouble: String) async throws {
        let path = folder.path.appending("root/2")
        switch trouble {
        case "shorter": try folder.write("45", to: "root/2")
        case "longer": try folder.write("4567", to: "root/2")
        case "gone": try FileManager.default.removeItem(atPath: path.string)
        default:
            try folder.write("456", to: "elsewhere")
            try FileManager.default.removeItem(atPath: path.string)
            try folder.link("root/2", to: "../elsewhere")
        }
        try await running { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", ["Connection: close"]))
                let (status, headers) = try await client.head()
                #expect(status == 200 && headers["Content-Length"] == ["10"])
                #expect(await client.rest().count < 10)
            }
            let line = try #require(await server.errorLog.first { _ in true })
            #expect(line.hasPrefix("/: the response broke after"), "\(line)")
            // Of what is right, everything can be had.
            #expect(try await server.get("/", "Range: bytes=0-3").text == "0123")
            #expect(try await server.get("/", "Range: bytes=7-9").text == "789")
        }
    }
}
