import FoundationEssentials
import HTTPFiles
import NIOHTTP1
import PatchCompression
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchTrust
import ReleaseFolder
import ReleaseTree
import Subprocess
import SystemPackage
import Testing
import ServerTesting

@Suite("A channel's express answer")
struct ExpressTests {
    private static let channel = ReleaseFactory.production
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()

    private func withServer(_ body: (TestingServer, PublishedTree) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let server = try TestingServer(files: DiskFiles(), root: folder.path)
        try server.publish(try server.factory.release(on: server.repository))
        try await body(server, PublishedTree(server.folder.tree))
    }

    private func request(_ query: String? = nil, of channel: String = "production", as coding: String? = nil) throws
        -> FileRequest
    {
        FileRequest(
            method: .GET,
            path: try RequestPath(parsing: "/com.example.storefront/metadata/express/\(channel)"),
            query: query,
            headers: coding.map { ["Accept-Encoding": $0] } ?? [:]
        )
    }

    private func get(_ request: FileRequest, from tree: PublishedTree) async throws -> ServedBytes {
        guard case .bytes(let served) = await tree.answer(request) else {
            struct NoAnswer: Error {}
            throw NoAnswer()
        }
        return served
    }

    private func express(_ query: String? = nil, from tree: PublishedTree) async throws -> Express {
        try Express(try await get(try request(query), from: tree).bytes, of: Self.channel)
    }

    /// What `express.py` makes of an answer: the newest root's version, and files by path.
    private func read(_ answer: [UInt8], of channel: String) async throws -> (newest: String, files: [String: [UInt8]])
    {
        let folder = try TemporaryFolder()
        let (file, out) = (folder.path.appending("answer"), folder.path.appending("out"))
        try Data(answer).write(to: URL(filePath: file.string))
        let script = Self.tests.appending(path: "express.py").path
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: [script, channel, file.string, out.string],
            output: .string(limit: 1_000),
            error: .string(limit: 10_000)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: out.string) where name.hasSuffix(".json") {
            files[name] = Array(try Data(contentsOf: URL(filePath: out.appending(name).string)))
        }
        return (result.standardOutput, files)
    }

    @Test func `brings what a refresh fetches, byte for byte, as a second reader finds it too`() async throws {
        try await withServer { server, tree in
            let served = try await get(try request(), from: tree)
            let express = try Express(served.bytes, of: Self.channel)
            #expect(express.newestRoot == 1 && express.fileBytes == served.bytes)
            let roles = [
                "metadata/timestamp.json", "metadata/2.snapshot.json", "metadata/1.targets.json",
                "metadata/1.production.json", "metadata/2.dial.json",
            ]
            let paths = express.parts.map(\.file.path)
            #expect(paths.filter { $0.hasPrefix("metadata/") } == roles)
            #expect(paths.count == 7 && paths[4].hasSuffix(".patchlist.json"), "\(paths)")
            for part in express.parts {
                #expect(part.bytes == (try server.files.read(server.treePath(part.file.path), limit: Limits.patchList)))
            }
            #expect(served.cacheControl == "public, max-age=60" && served.contentType == "application/octet-stream")

            let found = try await read(served.bytes, of: "production")
            #expect(found.newest == "1\n")
            #expect(found.files == Dictionary(uniqueKeysWithValues: express.parts.map { ($0.file.path, $0.bytes) }))
        }
    }

    @Test func `of the vectors is the same to both readers`() async throws {
        let file = Self.tests.deletingLastPathComponent().appending(path: "Vectors/express/production")
        let bytes = Array(try Data(contentsOf: file))
        let express = try Express(bytes, of: Self.channel)
        let found = try await read(bytes, of: "production")
        #expect(found.newest == "\(express.newestRoot)\n" && express.parts.count == 7)
        #expect(found.files == Dictionary(uniqueKeysWithValues: express.parts.map { ($0.file.path, $0.bytes) }))
    }

    @Test func `leaves out what the device has, and brings the roots after its own`() async throws {
        try await withServer { server, tree in
            let all = try await express(from: tree).parts.map(\.file)
            let known = Express.Known([.root(version: 1)] + all)
            #expect(try await express(known.query, from: tree).parts.map(\.file) == [.timestamp])
            let other = try await express("have=1.root,7.snapshot,1.targets", from: tree).parts.map(\.file)
            #expect(other == all.filter { $0 != .role("targets", version: 1) })

            let plan = TrustPlan()
            _ = try server.take(try plan.next { $0.rootKey = .other }.offered())
            _ = try server.take(try plan.next { $0.rootKey = .other }.next { $0.rootKey = .other }.offered())
            let later = try await express("have=1.root", from: tree)
            #expect(later.newestRoot == 3)
            #expect(Array(later.parts.map(\.file).prefix(3)) == [.root(version: 2), .root(version: 3), .timestamp])
            let last = try await express("have=2.root", from: tree).parts.map(\.file)
            #expect(Array(last.prefix(2)) == [.root(version: 3), .timestamp])
            for query in [nil, "have=3.root", "have=4.root", "have=1.targets"] {
                let found = try await express(query, from: tree)
                #expect(found.newestRoot == 3 && found.parts.first?.file == .timestamp, "\(query ?? "")")
            }
        }
    }

    @Test func `is made once a change, with a tag that tells whether anything is new`() async throws {
        try await withServer { server, tree in
            let queries = [nil, "have=1.targets", "have=1.root,1.production"]
            func tags() async throws -> [String] {
                var tags: [String] = []
                for query in queries {
                    let asked = try request(query)
                    #expect(tree.prepared(asked) == nil || !tags.isEmpty)
                    let made = try await get(asked, from: tree)
                    guard case .bytes(let again)? = tree.prepared(asked)?.answer else {
                        Issue.record("made again")
                        continue
                    }
                    #expect(again.bytes == made.bytes && tree.prepared(asked)?.edition == nil)
                    tags.append(try #require(made.entityTag))
                }
                // What is left out says nothing about what is new.
                #expect(Set(tags).count == 1)
                return tags
            }
            let first = try await tags()
            let timestamp = SHA256Digest(of: try server.files.read(server.treePath(URLLayout.timestamp), limit: 20_000))
            #expect(first[0] == "\(timestamp.hex.prefix(32)).1")
            try server.publish(try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository))
            let second = try await tags()
            #expect(second[0] != first[0])
            // A root may come after the timestamp.
            try server.files.write([1], to: server.treePath("metadata/2.root.json"))
            #expect(try await tags()[0] == second[0].dropLast(1) + "2")
        }
    }

    @Test(arguments: CompressionFormat.allCases)
    func `comes compressed for who accepts it, with a tag of its own`(_ format: CompressionFormat) async throws {
        try await withServer { _, tree in
            let plain = try await get(try request(), from: tree)
            let form = try await get(try request(as: format.rawValue), from: tree)
            #expect(form.headers.first(name: "Content-Encoding") == format.rawValue)
            #expect(form.entityTag == plain.entityTag.map { $0 + format.suffix })
            #expect(try format.decompressed(form.bytes, limit: Limits.express) == plain.bytes)
            #expect(form.bytes.count < plain.bytes.count * 7 / 10)
            for answer in [plain, form] { #expect(answer.headers.first(name: "Vary") == "Accept-Encoding") }
        }
    }

    @Test func `is there for channels that have a release, and may be there in a minute for others`() async throws {
        try await withServer { _, tree in
            for channel in ["beta", "nothing"] {
                guard case .refused(let status, _, let headers) = await tree.answer(try request(of: channel)) else {
                    Issue.record("\(channel) has no release")
                    continue
                }
                #expect(status == .notFound && headers.first(name: "Cache-Control") == "public, max-age=60")
            }
        }
    }

    @Test func `leaves out what does not fit`() async throws {
        try await withServer { server, tree in
            let read: ExpressContents.Reading = { file, limit throws(ServerError) in
                guard let bytes = try server.repository.storage.read(file, limit: limit) else {
                    throw .movedOn(ReleaseFactory.app)
                }
                return bytes
            }
            let contents = try #require(
                try ExpressContents(of: Self.channel, app: ReleaseFactory.app, newestRoot: 1, read: read)
            )
            let whole = try contents.express(for: Express.Known(), read: read)
            #expect(whole == (try await express(from: tree)))
            for limit in stride(from: whole.fileBytes.count + 64, to: 0, by: -500) {
                let part = try contents.express(for: Express.Known(), limit: limit, read: read)
                #expect(part.fileBytes.count <= max(limit, 23))
                #expect(part.parts.allSatisfy(whole.parts.contains))
            }
        }
    }

    @Test func `lies in an exported tree, whole, and in its forms`() throws {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        for validity in [nil, Duration.days(30)] {
            let roles = try validity.map {
                try server.repository.ownRoles(holding: $0, signing: server.key, at: server.factory.now)
            }
            _ = try server.repository.export(to: ExportedTree.folder, signedWith: roles)
            let tree = try ExportedTree(server)
            let bytes = try tree.read("metadata/express/production")
            let express = try Express(bytes, of: Self.channel)
            #expect(express.newestRoot == 1)
            #expect(express.parts.count == 7, "\(express.parts.map(\.file.path))")
            for part in express.parts { #expect(part.bytes == (try tree.read(part.file.path)), "\(part.file)") }
            for format in CompressionFormat.allCases {
                let form = try tree.read("metadata/express/production\(format.suffix)")
                #expect(try format.decompressed(form, limit: Limits.express) == bytes)
            }
            #expect(try tree.faults() == [])
        }
    }
}
