import FoundationEssentials
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import ServerTesting
import Testing

@Suite("Whether a server is ready")
struct ReadinessTests {
    private let app = ReleaseFactory.app
    private let time = ManualClock(TestingServer.start)

    /// A server with a release that holds for 90 days.
    private func server() throws -> (TestingServer, FaultyFiles, ReadinessCheck) {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(try server.factory.release(on: server.repository))
        let check = ReadinessCheck(server.folder, files: files, within: .days(30), now: { [time] in time.now() })
        return (server, files, check)
    }

    private func readyz(_ check: ReadinessCheck) async throws -> (status: Int, text: String) {
        let page = await OperatorPage.ready(check)
        #expect(page.contentType == "application/json")
        return (page.status, String(decoding: page.bytes, as: UTF8.self))
    }

    @Test
    func `is answered 200 while everything holds`() async throws {
        let (_, _, check) = try server()
        let answer = try await readyz(check)
        #expect(answer.status == 200)
        #expect(
            answer.text == #"{"apps":[{"app":"com.example.storefront","due":[],"status":"ready"}],"status":"ready"}"#
                + "\n"
        )
    }

    @Test
    func `is answered 503 with the role that its holders must sign soon`() async throws {
        let (server, _, check) = try server()
        time.advance(by: .days(60))
        try server.refresh(at: time.now())
        let answer = try await readyz(check)
        #expect(answer.status == 503)
        let expires = TestingServer.start.adding(.days(90))
        #expect(
            answer.text
                == #"{"apps":[{"app":"com.example.storefront","due":["#
                + #"{"expires":"\#(expires)","role":"production","signedBy":"holders","version":1}"#
                + #"],"status":"sign-soon"}],"status":"sign-soon"}"# + "\n"
        )
    }

    @Test
    func `notices when the server's own signing has stopped, two days before the end`() async throws {
        let (_, _, check) = try server()
        time.advance(by: .days(5))
        time.advance(by: .seconds(-1))
        #expect(try await check.answer().status == .ready)
        time.advance(by: .seconds(1))
        let soon = try await check.answer()
        #expect(soon.status == .signSoon)
        #expect(soon.apps.first?.due.map(\.role) == ["snapshot", "timestamp"])
        time.advance(by: .days(2))
        #expect(try await check.answer().status == .expired)
    }

    @Test
    func `names what does not verify, and no place on the disk`() async throws {
        let (server, files, check) = try server()
        let tree = server.folder.tree(of: app)
        try files.rot(tree.appending("metadata/1.production.json"))
        let answer = try await check.answer()
        #expect(answer.status == .unverified)
        let error = ServerError.tree(app, .wrongDigest(name: "production", algorithm: "sha256"))
        #expect(answer.apps.first?.fault == error.description)

        let unreadable = Readiness(
            [(app, .unverified(.file(.notFound(.read, "/srv/secret"))))],
            within: .zero,
            at: time.now()
        )
        #expect(unreadable.apps.first?.fault == "a file of the published tree cannot be read")
    }

    @Test
    func `names an app that lost its timestamp, beside one that is whole`() async throws {
        let (server, files, check) = try server()
        let other: AppID = named("com.example.second")
        let records = server.folder.apps.appending(other.text)
        try files.makeDirectory(records)
        let root = server.folder.apps.appending(app.text).appending("root.json")
        try files.write(try files.read(root, limit: 1_000_000), to: records.appending("root.json"))
        try files.makeDirectory(server.folder.tree(of: other).appending("metadata"))
        try files.write(
            try files.read(root, limit: 1_000_000),
            to: server.folder.tree(of: other).appending("metadata/1.root.json")
        )
        let beside = try await check.answer()
        #expect(beside.apps.map(\.app) == [other, app] && beside.apps.map(\.status) == [.unverified, .ready])
        #expect(beside.apps.first?.fault == "the published tree has lost tree/\(other)/metadata/timestamp.json")
        #expect(beside.status == .unverified)

        try files.remove(server.folder.tree(of: app).appending("metadata/timestamp.json"))
        let alone = try await check.answer()
        #expect(alone.apps.map(\.status) == [.unverified, .unverified])
        #expect(alone.apps.last?.fault == "the published tree has lost tree/\(app)/metadata/timestamp.json")
    }

    @Test
    func `is no while the server cannot open its online key, which it tries once for each key`() async throws {
        let (server, files, _) = try server()
        let (opens, tries) = (NIOLockedValueBox(true), NIOLockedValueBox(0))
        let check = ReadinessCheck(
            server.folder,
            files: files,
            within: .days(30),
            now: { [time] in time.now() },
            opens: { _, path in
                tries.withLockedValue { $0 += 1 }
                return opens.withLockedValue(\.self) && path.lastComponent == "online.key"
            }
        )
        for _ in 0..<2 {
            #expect(try await check.answer().status == .ready)
            time.advance(by: ReadinessCheck.lifetime)
        }
        #expect(tries.withLockedValue(\.self) == 1)
        opens.withLockedValue { $0 = false }
        let records = server.folder.apps.appending(app.text)
        try files.replace("online.key", in: records, with: Array("another".utf8))
        let answer = try await readyz(check)
        #expect(
            answer.text
                == #"{"apps":[{"app":"com.example.storefront","due":[],"error":"the server has no passphrase that opens the "#
                + #"online key, so it signs nothing","status":"key-locked"}],"status":"key-locked"}"# + "\n"
        )
        #expect(answer.status == 503)
        opens.withLockedValue { $0 = true }
        time.advance(by: ReadinessCheck.lifetime)
        #expect(try await check.answer().status == .ready)
    }

    @Test
    func `says what the disk is short of, before it is full`() async throws {
        let (server, files, _) = try server()
        let left = NIOLockedValueBox(DiskSpace?.some(DiskSpace(freeBytes: 1_000, freeFiles: nil)))
        let check = ReadinessCheck(
            server.folder,
            files: files,
            within: .days(30),
            enough: DiskSpace(freeBytes: 1_000, freeFiles: 10),
            space: { left.withLockedValue(\.self) },
            now: { [time] in time.now() }
        )
        #expect(try await check.answer().status == .ready)
        left.withLockedValue { $0 = DiskSpace(freeBytes: 999, freeFiles: 9) }
        let answer = try await readyz(check)
        #expect(
            answer.status == 503
                && answer.text.hasSuffix(#""short":["space","files"],"status":"disk-nearly-full"}"# + "\n")
        )
        #expect(await check.verifications == 1)
        time.advance(by: .days(7))
        #expect(try await check.answer().status == .expired)
        left.withLockedValue { $0 = nil }
        #expect(try await check.answer().lowResources == [])
    }

    @Test
    func `knows what is free where a folder is`() throws {
        let folder = try TemporaryFolder()
        #expect(try DiskSpace(at: folder.path).freeBytes > 0)
        let missing = folder.path.appending("missing")
        #expect(throws: FileError.notFound(.inspect, missing)) { try DiskSpace(at: missing) }
    }

    @Test
    func `is no without an app, and as bad as the worst`() {
        let now = time.now()
        #expect(Readiness([], within: .zero, at: now).status == .empty)
        let other: AppID = named("com.example.other")
        let mixed = Readiness(
            [(app, .verified([])), (other, .unverified(.unknownApp(other)))],
            within: .zero,
            at: now
        )
        #expect(mixed.status == .unverified)
        #expect(mixed.apps.map(\.status) == [.ready, .unverified])
    }

    @Test
    func `is verified again after five seconds or when a timestamp is replaced, and not before`() async throws {
        let (server, _, check) = try server()
        for _ in 0..<3 { _ = try await check.answer() }
        #expect(await check.verifications == 1)
        try server.refresh(at: time.now())
        for _ in 0..<3 { _ = try await check.answer() }
        #expect(await check.verifications == 2)
        time.advance(by: ReadinessCheck.lifetime)
        for _ in 0..<3 { _ = try await check.answer() }
        #expect(await check.verifications == 3)
    }

    @Test
    func `is verified by one of those who ask at a time`() async throws {
        let (_, _, check) = try server()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try? await check.answer() } }
        }
        #expect(await check.verifications == 1)
    }
}
