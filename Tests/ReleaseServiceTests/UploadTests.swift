import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import PatchCompression
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords
import SystemPackage
import ServerTesting
import Testing

@Suite("An upload")
struct UploadTests {
    private let fixture: TestingOperations
    private let uploads: Uploads
    private let app = ReleaseFactory.app

    init() throws {
        fixture = try TestingOperations()
        uploads = Uploads(fixture.operations)
    }

    private func begin(_ release: SignedRelease, on uploads: Uploads? = nil) async throws -> Uploads.State {
        try await (uploads ?? self.uploads).begin(release.header, release.role, for: app)
    }

    /// The bytes of every part, by digest.
    private func parts(of release: SignedRelease) throws -> [SHA256Digest: [UInt8]] {
        var parts: [SHA256Digest: [UInt8]] = [:]
        for bytes in release.targets.values { parts[SHA256Digest(of: bytes)] = bytes }
        for (digest, path) in release.objects { parts[digest] = try DiskFiles().read(path, limit: 1_000_000) }
        return parts
    }

    private func send(
        _ bytes: some Sequence<UInt8>,
        of digest: SHA256Digest,
        from offset: Int = 0,
        as coding: CompressionFormat? = nil,
        to id: String,
        on uploads: Uploads? = nil
    ) async throws(UploadError) -> Int {
        let body = AsyncStream { stream in
            stream.yield(ByteBuffer(bytes: bytes))
            stream.finish()
        }
        return try await (uploads ?? self.uploads).receive(digest, from: offset, body, as: coding, id, of: app)
    }

    /// Sends all that is asked for.
    ///
    /// - Returns: the names of what was sent, in order.
    @discardableResult
    private func sendAll(_ release: SignedRelease, on uploads: Uploads? = nil) async throws -> [String] {
        let uploads = uploads ?? self.uploads
        let parts = try parts(of: release)
        var state = try await begin(release, on: uploads)
        var names: [String] = []
        while !state.needs.isEmpty {
            for need in state.needs {
                let bytes = try #require(parts[need.sha256])
                #expect(bytes.count == need.size)
                #expect(try await send(bytes, of: need.sha256, to: state.id, on: uploads) == need.size)
                names.append(need.name)
            }
            state = try await uploads.state(state.id, of: app)
        }
        return names
    }

    private func publish(_ release: SignedRelease, on uploads: Uploads? = nil) async throws -> PublishOutcome {
        try await (uploads ?? self.uploads)
            .publish(release.role.identity.hex, of: app, notes: ReleaseNotes(), by: fixture.actor)
    }

    private var folder: FilePath { fixture.server.folder.root.appending("uploads").appending(app.text) }

    @Test func `asks for lists first, then for what they name, and is published`() async throws {
        let release = try fixture.release()
        #expect(
            try await sendAll(release) == [
                "production/patchlist.json", "production/web/1.0.0/manifest.json", "production/web/1.0.0/manifest.sigs",
                "fix-cart-total 1", "web 1.0.0 app/main.js", "web 1.0.0 index.html",
            ]
        )
        #expect(try PublishedState(of: fixture.server.repository).version(of: ReleaseFactory.production) == 0)
        guard case .published = try await publish(release) else {
            Issue.record("was not published")
            return
        }
        #expect(try DiskFiles().list(folder).isEmpty)
        #expect(try await fixture.history().count == 1)
    }

    @Test func `asks for nothing that the server has`() async throws {
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let next = try fixture.release("cart.total = 2;", version: "2")
        #expect(try await sendAll(next) == ["production/patchlist.json", "fix-cart-total 2"])
        guard case .published = try await publish(next) else {
            Issue.record("was not published")
            return
        }
    }

    @Test func `of another holder's signature sends the role alone`() async throws {
        let fixture = try TestingOperations(threshold: 2)
        let uploads = Uploads(fixture.operations)
        let first = try fixture.release()
        try await sendAll(first, on: uploads)
        guard case .drafted = try await publish(first, on: uploads) else {
            Issue.record("was not drafted")
            return
        }
        let second = try fixture.release(signedBy: [.second])
        #expect(try await sendAll(second, on: uploads) == [])
        guard case .published = try await publish(second, on: uploads) else {
            Issue.record("was not published")
            return
        }
    }

    @Test func `goes on at the byte where it was interrupted, after a restart too`() async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        let list = try #require(state.needs.first)
        let bytes = try #require(try parts(of: release)[list.sha256])
        let broken = AsyncThrowingStream<ByteBuffer, any Error> { stream in
            stream.yield(ByteBuffer(bytes: bytes.prefix(100)))
            stream.finish(throwing: CancellationError())
        }
        await #expect(throws: UploadError.interrupted) {
            try await uploads.receive(list.sha256, from: 0, broken, state.id, of: app)
        }
        let after = Uploads(fixture.operations)
        #expect(try await after.offset(of: list.sha256, state.id, of: app) == 100)
        await #expect(throws: UploadError.wrongOffset(list.sha256, next: 100)) {
            try await send(bytes, of: list.sha256, to: state.id, on: after)
        }
        #expect(
            try await send(bytes.dropFirst(100), of: list.sha256, from: 100, to: state.id, on: after) == bytes.count
        )
        try await sendAll(release, on: after)
        guard case .published = try await publish(release, on: after) else {
            Issue.record("was not published")
            return
        }
    }

    @Test func `for which there is no room keeps what there was room for, and goes on from there`() async throws {
        let files = FaultyFiles()
        let fixture = try TestingOperations(files: files)
        let uploads = Uploads(fixture.operations)
        let release = try fixture.release()
        let state = try await begin(release, on: uploads)
        let list = try #require(state.needs.first)
        let bytes = try #require(release.targets.values.first { SHA256Digest(of: $0) == list.sha256 })
        let part = fixture.server.folder.root.appending("uploads/\(app)/\(state.id)/blobs/\(list.sha256.hex).part")
        files.limitFreeSpace(to: 100)
        await #expect(throws: UploadError.file(.noSpace(.create, part))) {
            try await send(bytes, of: list.sha256, to: state.id, on: uploads)
        }
        #expect(try await uploads.offset(of: list.sha256, state.id, of: app) == 100)
        // Also a process that starts meanwhile leaves it as it is.
        let after = Uploads(fixture.operations)
        #expect(try await after.offset(of: list.sha256, state.id, of: app) == 100)
        await #expect(throws: UploadError.file(.noSpace(.append, part))) {
            try await send(bytes.dropFirst(100), of: list.sha256, from: 100, to: state.id, on: after)
        }
        files.limitFreeSpace(to: nil)
        let rest = try await send(bytes.dropFirst(100), of: list.sha256, from: 100, to: state.id, on: after)
        #expect(rest == bytes.count)
    }

    @Test(arguments: CompressionFormat.allCases)
    func `takes compressed forms of what is left to send, and what came out of one that broke off`(
        format: CompressionFormat
    ) async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        let list = try #require(state.needs.first)
        let bytes = try #require(try parts(of: release)[list.sha256])
        // Hardly compressed: its beginning comes out of its beginning.
        let beginning = try format.compressed(Array(bytes.prefix(100)), effort: .quick)
        #expect(try await send(beginning, of: list.sha256, as: format, to: state.id) == 100)
        let rest = try format.compressed(Array(bytes.dropFirst(100)))
        await #expect(throws: UploadError.badForm(list.sha256, .incomplete(format.codec))) {
            try await send(rest.dropLast(), of: list.sha256, from: 100, as: format, to: state.id)
        }
        let there = try await uploads.offset(of: list.sha256, state.id, of: app)
        #expect(there >= 100)
        let form = try format.compressed(Array(bytes.dropFirst(there)))
        #expect(try await send(form, of: list.sha256, from: there, as: format, to: state.id) == list.size)
        #expect(try await sendAll(release).count == 5)
    }

    @Test(arguments: CompressionFormat.allCases)
    func `keeps no byte more than the release says of a form that grows without end`(format: CompressionFormat)
        async throws
    {
        let release = try fixture.release()
        let state = try await begin(release)
        let list = try #require(state.needs.first)
        let bomb = try format.compressed([UInt8](repeating: 0x61, count: 50_000_000), effort: .quick)
        await #expect(throws: UploadError.tooLong(list.sha256, size: list.size)) {
            try await send(bomb, of: list.sha256, as: format, to: state.id)
        }
        #expect(try await uploads.offset(of: list.sha256, state.id, of: app) <= list.size)
        let bytes = try #require(try parts(of: release)[list.sha256])
        #expect(try await send(bytes, of: list.sha256, to: state.id) == list.size)
    }

    @Test func `keeps no byte more than the release says`() async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        let list = try #require(state.needs.first)
        let bytes = try #require(try parts(of: release)[list.sha256])
        await #expect(throws: UploadError.tooLong(list.sha256, size: list.size)) {
            try await send(bytes + [0], of: list.sha256, to: state.id)
        }
        let endless = AsyncStream { ByteBuffer(repeating: 0x61, count: 65_536) }
        await #expect(throws: UploadError.tooLong(list.sha256, size: list.size)) {
            try await uploads.receive(list.sha256, from: 0, endless, state.id, of: app)
        }
        #expect(try await uploads.offset(of: list.sha256, state.id, of: app) <= list.size)
        #expect(try await send(bytes, of: list.sha256, to: state.id) == list.size)
    }

    @Test func `keeps no bytes that are others, and takes the right ones after them`() async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        let list = try #require(state.needs.first)
        let bytes = try #require(try parts(of: release)[list.sha256])
        await #expect(throws: UploadError.wrongBytes(list.sha256)) {
            try await send(bytes.reversed(), of: list.sha256, to: state.id)
        }
        #expect(try await uploads.offset(of: list.sha256, state.id, of: app) == 0)
        #expect(try await send(bytes, of: list.sha256, to: state.id) == list.size)
    }

    @Test func `takes nothing that is no part of the release`() async throws {
        let state = try await begin(try fixture.release())
        let digest = SHA256Digest(of: Array("a bomb".utf8))
        await #expect(throws: UploadError.notWanted(digest)) {
            try await send(Array("a bomb".utf8), of: digest, to: state.id)
        }
        #expect(try DiskFiles().list(folder.appending(state.id).appending("blobs")).isEmpty)
    }

    @Test func `is not begun by who has no key of the channel`() async throws {
        for keys in [[], [TestingKey.beta], [.root]] {
            let release = try fixture.release(signedBy: keys)
            let refused = TrustError.threshold(role: "production", valid: 0, needed: 1)
            await #expect(throws: UploadError.operations(.server(.release(.trust(refused))))) {
                try await begin(release)
            }
        }
        #expect(!DiskFiles().exists(folder))
    }

    @Test func `is not begun on an outdated base`() async throws {
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let late = try fixture.server.factory.release(
            .init(scripts: ["other": ("1", "x")], web: nil),
            base: nil,
            signedBy: [.production]
        )
        let conflict = PublishConflict.outdated(channel: ReleaseFactory.production, base: 0, current: 1)
        await #expect(throws: UploadError.operations(.server(.conflict(conflict)))) { try await begin(late) }
    }

    @Test func `is one app's own`() async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        let other: AppID = named("com.example.other")
        await #expect(throws: UploadError.otherApp(app)) {
            try await uploads.begin(release.header, release.role, for: other)
        }
        await #expect(throws: UploadError.unknown(id: state.id)) { try await uploads.state(state.id, of: other) }
        for id in ["..", "../..", String(repeating: "0", count: 64), ""] {
            await #expect(throws: UploadError.unknown(id: id)) { try await uploads.state(id, of: app) }
        }
    }

    @Test func `is not published before it is whole`() async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        await #expect(throws: UploadError.incomplete(missing: 3)) { try await publish(release) }
        try await uploads.cancel(state.id, of: app)
        #expect(try DiskFiles().list(folder).isEmpty)
        await #expect(throws: UploadError.unknown(id: state.id)) { try await publish(release) }
    }

    @Test func `to which nothing came for two days is gone when another begins`() async throws {
        let (old, slow) = (try fixture.release("old"), try fixture.release("slow"))
        let days = { TestingServer.start.seconds - 86_400 * $0 }
        for release in [old, slow] {
            let state = try await begin(release)
            let list = try #require(state.needs.first)
            #expect(try await send([1], of: list.sha256, to: state.id) == 1)
            for name in ["", "/role.json", "/release.json", "/blobs", "/blobs/\(list.sha256.hex).part"] {
                try touch("\(folder)/\(state.id)\(name)", at: days(3))
            }
            if release.role.identity == slow.role.identity {
                try touch("\(folder)/\(state.id)/blobs/\(list.sha256.hex).part", at: days(1))
            }
        }
        let third = try fixture.release("third")
        _ = try await begin(third)
        let left = [slow, third].map(\.role.identity.hex).sorted()
        #expect(try DiskFiles().list(folder) == left)
        await #expect(throws: UploadError.unknown(id: old.role.identity.hex)) { try await publish(old) }
    }

    @Test func `asks for what a collection took that was there when it began, and is published with it`() async throws {
        _ = try await OfferRelease(
            try fixture.release("one"),
            notes: ReleaseNotes(),
            by: fixture.actor,
            fixture.operations
        ).run()
        _ = try await OfferRelease(
            try fixture.release("two", version: "2"),
            notes: ReleaseNotes(),
            by: fixture.actor,
            fixture.operations
        ).run()
        var contents = ReleaseFactory.Contents()
        contents.scripts = ["fix-cart-total": ("3", "one")]
        let third = try fixture.server.factory.release(contents, on: fixture.server.repository)
        #expect(try await sendAll(third) == ["production/patchlist.json"])
        let object = SHA256Digest(of: Array("one".utf8))
        try fixture.server.repository.storage.remove([.object(object)])
        await #expect(throws: UploadError.incomplete(missing: 1)) { try await publish(third) }
        #expect(try await uploads.state(third.role.identity.hex, of: app).needs.map(\.sha256) == [object])
        #expect(try await sendAll(third) == ["fix-cart-total 3"])
        guard case .published = try await publish(third) else {
            Issue.record("was not published")
            return
        }
    }

    @Test func `that another holder begins too keeps both signatures, and none that does not count`() async throws {
        let fixture = try TestingOperations(threshold: 2)
        let uploads = Uploads(fixture.operations)
        let (first, second) = (try fixture.release(), try fixture.release(signedBy: [.second, .beta]))
        var forged = second.role
        forged.add(Envelope.Signature(keyID: try TestingKey.production.signer.id.hex, bytes: [1, 2, 3]))
        try await sendAll(first, on: uploads)
        let state = try await uploads.begin(second.header, forged, for: app)
        let file = fixture.server.folder.root.appending("uploads/\(app)/\(state.id)/role.json")
        let kept = try Envelope(DiskFiles().read(file, limit: 1_000_000), role: "production", limit: 1_000_000)
        let holders: [TestingKey] = [.production, .second]
        #expect(kept.signatures.map(\.keyID) == (try holders.map { try $0.signer.id.hex }.sorted()))
        // Also by a process that knows of it from the disk alone.
        for uploads in [uploads, Uploads(fixture.operations)] {
            #expect(try await uploads.state(state.id, of: app).needs.isEmpty)
        }
        guard case .published = try await publish(first, on: uploads) else {
            Issue.record("was not published")
            return
        }
    }

    @Test func `is as large as what it names, whoever has that`() async throws {
        let release = try fixture.release()
        _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        let next = try fixture.release("cart.total = 2;", version: "2")
        let size = try parts(of: next).values.reduce(0) { $0 + $1.count }
        let narrow = Uploads(fixture.operations, totalLimit: size - 1)
        await #expect(throws: UploadError.tooLarge(bytes: size, limit: size - 1)) {
            try await sendAll(next, on: narrow)
        }
        try await sendAll(next, on: Uploads(fixture.operations, totalLimit: size))
    }

    @Test func `whose bytes are digested holds up no other`() async throws {
        let (held, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let slow = NIOLockedValueBox<String?>(nil)
        let wasFreed = NIOLockedValueBox(false)
        let files = WatchedFiles { moment in
            guard case .opening(let path) = moment else { return }
            guard slow.withLockedValue({ $0.map { path.string.hasSuffix($0) } }) ?? false else { return }
            slow.withLockedValue { $0 = nil }
            held.signal()
            let isFreed = gate.wait(timeout: .now() + 60) == .success
            wasFreed.withLockedValue { $0 = isFreed }
        }
        let fixture = try TestingOperations(files: files)
        let uploads = Uploads(fixture.operations)
        let (first, second) = (try fixture.release("first"), try fixture.release("second"))
        let state = try await begin(first, on: uploads)
        let list = try #require(state.needs.first)
        let bytes = try #require(try parts(of: first)[list.sha256])
        slow.withLockedValue { $0 = "\(list.sha256.hex).part" }
        async let sent = send(bytes, of: list.sha256, to: state.id, on: uploads)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                held.wait()
                continuation.resume()
            }
        }
        #expect(try await sendAll(second, on: uploads).count == 6)
        #expect(try await uploads.offset(of: list.sha256, state.id, of: app) == bytes.count)
        gate.signal()
        #expect(try await sent == bytes.count)
        #expect(wasFreed.withLockedValue { $0 })
    }

    @Test func `reads each list and manifest twice, to digest it and to look into it`() async throws {
        let opened = NIOLockedValueBox<[String: Int]>([:])
        let files = WatchedFiles { moment in
            guard case .opening(let path) = moment else { return }
            guard path.string.contains("/uploads/"), let name = path.lastComponent?.stem else { return }
            opened.withLockedValue { $0[name, default: 0] += 1 }
        }
        let fixture = try TestingOperations(files: files)
        let uploads = Uploads(fixture.operations)
        var contents = ReleaseFactory.Contents(scripts: [:], web: nil)
        contents.bundles = (1...12).map { ("web\($0)", ["index.html": "<p>\($0)</p>"]) }
        let release = try fixture.server.factory.release(contents, on: fixture.server.repository)
        try await sendAll(release, on: uploads)
        let all = opened.withLockedValue { $0 }
        var counts: [String: Int] = [:]
        for (path, bytes) in release.targets {
            let kind = path.text.split(separator: "/").last.map { String($0) } ?? ""
            counts[kind] = max(counts[kind] ?? 0, all[SHA256Digest(of: bytes).hex] ?? 0)
        }
        #expect(counts == ["patchlist.json": 2, "manifest.json": 2, "manifest.sigs": 1])
    }

    private func touch(_ path: String, at seconds: Int) throws {
        let date = Date(timeIntervalSince1970: Double(seconds))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    @Test func `whose last byte came before the process ended does not ask for it again`() async throws {
        let release = try fixture.release()
        let state = try await begin(release)
        let list = try #require(state.needs.first)
        let part = folder.appending(state.id).appending("blobs/\(list.sha256.hex).part")
        try DiskFiles().write(try #require(try parts(of: release)[list.sha256]), to: part)
        let needs = try await begin(release, on: Uploads(fixture.operations)).needs
        #expect(!needs.contains(list) && needs.count > 2)
    }

    @Test func `whose part lost its bytes in a power cut asks for it again`() async throws {
        let release = try fixture.release()
        try await sendAll(release)
        let blobs = folder.appending(release.role.identity.hex).appending("blobs")
        let name = try #require(try DiskFiles().list(blobs).first)
        try DiskFiles().remove(blobs.appending(name))
        try DiskFiles().write([], to: blobs.appending(name))
        let after = Uploads(fixture.operations)
        #expect(try await sendAll(release, on: after).count == 1)
        guard case .published = try await publish(release, on: after) else {
            Issue.record("was not published")
            return
        }
    }
}

extension DiskFiles {
    fileprivate func exists(_ path: FilePath) -> Bool { (try? status(of: path)) != nil }
}
