import FoundationEssentials
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchCompression
import PatchDelta
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
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

    // MARK: Differences

    /// The files that a device has that followed this server, as it names them.
    private func held(_ server: TestingServer, from tree: PublishedTree) async throws -> [Express.Part] {
        let parts = try await express(from: tree).parts
        let root = try server.files.read(server.treePath("metadata/1.root.json"), limit: Limits.root)
        // Roles before targets.
        let roles = parts.filter { if case .role = $0.file { true } else { false } }
        let targets = parts.filter { if case .target = $0.file { true } else { false } }
        return [Express.Part(.root(version: 1), root)] + roles + targets
    }

    private func query(_ parts: [Express.Part]) -> String? {
        Express.Known(parts.map(\.file), takesDifference: true).query
    }

    @Test func `is the difference to the files that a device names, where it reads one`() async throws {
        try await withServer { server, tree in
            let old = try await held(server, from: tree)
            #expect(old.count == 7)
            try server.publish(try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository))
            let plain = try await get(try request(Express.Known(old.map(\.file)).query), from: tree)
            let asked = try request(query(old), as: "zstd, gzip")
            let served = try await get(asked, from: tree)
            #expect(try ExpressDifference.plain(served.bytes, from: old) == plain.bytes)
            #expect(served.entityTag == plain.entityTag.map { "\($0).diff" })
            #expect(served.headers.first(name: "Content-Encoding") == nil && !served.headers.contains(name: "Vary"))
            #expect(served.bytes.count * 2 < (try CompressionFormat.zstandard.compressed(plain.bytes)).count * 3 / 2)
            guard case .bytes(let again)? = tree.prepared(asked)?.answer else {
                Issue.record("made again")
                return
            }
            #expect(again.bytes == served.bytes)
            // Nothing new: the same tag, whatever is named.
            let new = try await held(server, from: tree)
            #expect(try await get(try request(query(new)), from: tree).entityTag == served.entityTag)
            // The first root alone is enough.
            let first = try await get(try request(query(Array(new.prefix(1)))), from: tree)
            let all = try await express("have=1.root", from: tree)
            #expect(try ExpressDifference.plain(first.bytes, from: Array(new.prefix(1))) == all.fileBytes)

            try await expectSecondReader(served.bytes, from: old, toFind: plain.bytes)
        }
    }

    @Test func `is plain for whoever names anything else than files that one device has`() async throws {
        try await withServer { server, tree in
            let old = try await held(server, from: tree)
            let names = try #require(query(old)).dropFirst(5).split(separator: ",").map { String($0) }.dropLast()
            try server.publish(try server.factory.release(ReleaseFactory.Contents(web: nil), on: server.repository))
            let new = try await held(server, from: tree)
            var mixed = old
            mixed[3] = new[3]
            #expect(mixed != old && mixed != new)
            let digest = new.last.map { String($0.file.path.suffix(64)) } ?? ""
            let queries = [
                // Another channel's, or another app's.
                "have=1.root,1.beta,diff", "have=1.root,2.snapshot,1.targets,1.beta,diff", "have=..,diff",
                // What is not there, or was never.
                "have=9.root,diff", "have=1.root,9.snapshot,diff", "have=1.root,0000000000000000,diff",
                "have=1.root,\(digest),diff", "have=diff",
                // Twice, out of order, in another spelling, of two snapshots.
                "have=1.root,1.root,diff", "have=01.root,diff",
                "have=" + names.reversed().joined(separator: ",") + ",diff",
                try #require(query(mixed)), "have=1.root,diff,2.snapshot",
                // Thousands of them.
                "have=1.root," + String(repeating: "1.targets,", count: 2_000) + "diff",
                "have=" + (1...120).map { "\($0).root" }.joined(separator: ",") + ",diff",
            ]
            for query in queries {
                let served = try await get(try request(query), from: tree)
                #expect((try? Express(served.bytes, of: Self.channel)) != nil, "\(query.prefix(80))")
            }
            // What superseded files are kept for is over.
            try server.files.remove(server.treePath(old[1].file.path))
            #expect((try? Express(try await get(try request(query(old)), from: tree).bytes, of: Self.channel)) != nil)
        }
    }

    @Test func `of files that are too large to be compared is plain`() async throws {
        try await withServer { server, tree in
            let old = try await held(server, from: tree)
            let read: ExpressContents.Reading = { file, limit throws(ServerError) in
                guard let bytes = try server.repository.storage.read(file, limit: limit) else {
                    throw .movedOn(ReleaseFactory.app)
                }
                return bytes
            }
            let known = Express.Known(old.map(\.file), takesDifference: true)
            let size = old.reduce(0) { $0 + $1.bytes.count }
            for (limit, isEnough) in [(size, true), (size - 1, false)] {
                let parts = ExpressBase.parts(named: known, of: Self.channel, newestRoot: 1, limit: limit, read: read)
                #expect(parts == (isEnough ? old : nil))
            }
        }
    }

    @Test func `is plain while too many differences are made, and for as long as too much was made`() {
        let start = ContinuousClock.now
        var room = DifferenceBudget(at: start)
        func begins(_ after: Duration) -> Bool { room.begin(at: start + after) }
        #expect((0..<3).map { _ in begins(.zero) } == [true, true, false])
        room.end(spending: 8_388_608)
        #expect(!begins(.zero))
        room.end(spending: 0)
        // 64 kB too much: that is a sixteenth of a second.
        #expect(!begins(.milliseconds(62)))
        #expect(begins(.milliseconds(64)))
        room.end(spending: 0)
        var count = 0
        while begins(.seconds(3_600)) {
            room.end(spending: 0)
            count += 1
        }
        #expect(count == 8_388_608 / DifferenceBudget.least)
    }

    /// What `express.py` makes of the difference too.
    private func expectSecondReader(_ body: [UInt8], from base: [Express.Part], toFind plain: [UInt8]) async throws {
        let folder = try TemporaryFolder()
        var arguments = ["production", folder.path.appending("answer").string, folder.path.appending("out").string]
        try Data(body).write(to: URL(filePath: arguments[1]))
        for (number, part) in base.enumerated() {
            let file = folder.path.appending("\(number)").string
            try Data(part.bytes).write(to: URL(filePath: file))
            arguments.append("\(part.file.path)=\(file)")
        }
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: Arguments([Self.tests.appending(path: "express.py").path] + arguments),
            output: .string(limit: 1_000),
            error: .string(limit: 10_000)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        for part in try Express(plain, of: Self.channel).parts {
            let found = try Data(
                contentsOf: URL(filePath: folder.path.appending("out").appending(part.file.path).string)
            )
            #expect(Array(found) == part.bytes)
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
                try SignExport(of: server.repository, holding: $0, signing: server.key, at: server.factory.now).run()
            }
            _ = try ExportTree(of: server.repository, to: ExportedTree.folder, signedWith: roles).run()
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
