import Dispatch
import NIOPosix
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ServerRecords
import SystemPackage
import Testing

import ServerTesting
@testable import ReleaseService

/// One holder of a key below its threshold, or another tenant, who brings what takes long to be read.
@Suite("What no quorum signed")
struct CostlyUploadTests {
    private static let app = ReleaseFactory.app

    @Test(.timeLimit(.minutes(20))) func `keeps nobody of another app from having his documents read`() async throws {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        let documents = DocumentThreads(threads, waitingAtMost: 2)
        let mine = try #require(AppID("com.example.mine"))
        let end = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup { group in
            // The first is read; the second waits in its app's line, though a thread is free; there is no third.
            for _ in 0..<2 {
                group.addTask {
                    try await documents.run(for: Self.app) { () throws(OperationError) in
                        begin.yield()
                        end.wait()
                    }
                }
            }
            for await _ in begun { break }
            #expect(try await documents.run(for: mine) { () throws(OperationError) in 7 } == 7)
            for _ in 0..<2 { end.signal() }
            try await group.waitForAll()
        }
        #expect(try await documents.run(for: Self.app) { () throws(OperationError) in 8 } == 8)
        try await threads.shutdownGracefully()
    }

    @Test(.timeLimit(.minutes(20))) func `is sent away where too much of its app waits already`() async throws {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        let documents = DocumentThreads(threads, waitingAtMost: 1)
        let end = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let first: Void = documents.run(for: Self.app) { () throws(OperationError) in
            begin.yield()
            end.wait()
        }
        for await _ in begun { break }
        await #expect(throws: OperationError.busy) {
            try await documents.run(for: Self.app) { () throws(OperationError) in }
        }
        end.signal()
        try await first
        try await threads.shutdownGracefully()
    }

    @Test func `is read to its end before anybody has to wait for it`() async throws {
        let fixture = try TestingOperations()
        let good = try fixture.release()
        let list = TargetPath.patchList(ReleaseFactory.production)
        let targets = good.targets.merging([list: Array("no list".utf8)]) { $1 }
        let bad = SignedRelease(header: good.header, role: good.role, targets: targets, objects: good.objects)
        // Somebody else has the folder: what is wrong with it is said all the same.
        let lock = try StoreLock(fixture.server.folder.lock)
        let error = await #expect(throws: OperationError.self) {
            try await OfferRelease(
                bad,
                notes: ReleaseNotes(),
                by: fixture.actor,
                fixture.again(patience: .zero).operations
            ).run()
        }
        guard case .server(.release(.trust)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        lock.release()
        #expect(try await fixture.intents() == 0)
        #expect(try await fixture.history().isEmpty)
    }

    @Test func `is checked once, and what holds of it under the lock is not checked again`() async throws {
        let fixture = try TestingOperations()
        let release = try fixture.release()
        let verified = try VerifyRelease(release, in: fixture.server.repository).run()
        let object = try #require(release.objects.first)
        // Its files are looked at no more but to be copied, digest by digest.
        let opened = Interruption(before: .opening(object.value)) {
            let lock = try StoreLock(fixture.server.folder.lock)
            lock.release()
        }
        let watched = try fixture.on(opened.watch(DiskFiles()))
        guard
            case .published = try await OfferRelease(
                release,
                notes: ReleaseNotes(),
                by: fixture.actor,
                watched.operations
            ).run()
        else {
            Issue.record("was not published")
            return
        }
        #expect(try opened.happened && verified.quorum.isComplete)
        #expect(try fixture.server.check().faults == [])
        // Under other keys, or with other content, it counts for nothing.
        let next = try VerifyRelease(
            try fixture.release("cart.total = 2;", version: "2"),
            in: fixture.server.repository
        ).run()
        let state = try PublishedState(of: fixture.server.repository)
        let (production, beta) = (
            try #require(state.targets.delegation(to: "production")), try #require(state.targets.delegation(to: "beta"))
        )
        #expect(next.counting(next.release, by: production) != nil)
        #expect(next.counting(next.release, by: beta) == nil && next.counting(release, by: production) == nil)
    }

    @Test func `is published whole when what it leans on was collected after it was read`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let whole = try fixture.release("cart.total = 2;", version: "2")
        let known = SHA256Digest(of: Array("console.log(1);".utf8))
        let leaning = SignedRelease(
            header: whole.header,
            role: whole.role,
            targets: whole.targets,
            objects: whole.objects.filter { $0.key != known }
        )
        let verified = try VerifyRelease(leaning, in: fixture.server.repository).run()
        try DiskFiles().remove(fixture.server.treePath(URLLayout.object(known)))
        let error = #expect(throws: ServerError.self) {
            try PublishRelease(
                leaning,
                in: fixture.server.repository,
                verified: verified,
                signing: fixture.server.key,
                at: TestingServer.start
            ).run()
        }
        guard case .release(.missing) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `keeps no lock while garbage is looked for`() async throws {
        let fixture = try TestingOperations()
        for number in 1...2 {
            let release = try fixture.release("// \(number)", version: "\(number)")
            _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        let next = try fixture.release("// 3", version: "3")
        let begun = try await Uploads(fixture.operations).begin(next.header, next.role, for: Self.app)
        let role = fixture.server.folder.uploads.appending("\(Self.app)/\(begun.id)/role.json")
        let reading = Interruption(before: .opening(role)) {
            let lock = try StoreLock(fixture.server.folder.lock)
            lock.release()
        }
        let watched = try fixture.on(reading.watch(DiskFiles()))
        let rule = GarbageRule(keep: 0, protect: .zero)
        _ = try await GarbageRun(of: Self.app, by: rule, watched.operations).run(by: fixture.actor)
        #expect(try reading.happened)
    }

    @Test func `is not read for garbage where its documents have more bytes than the largest manifest`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let fixture = try TestingOperations(files: files)
        for number in 1...2 {
            let release = try fixture.release("// \(number)", version: "\(number)")
            _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        }
        let object = URLLayout.object(SHA256Digest(of: Array("// 1".utf8)))
        let other = try #require(TargetPath("production/other/1/manifest.json"))
        var contents = ReleaseFactory.Contents()
        contents.scripts = ["fix-cart-total": ("1", "// 1")]
        for (size, counts) in [(Limits.manifest - 100_000, true), (Limits.manifest, false)] {
            let back = try fixture.server.factory.release(contents, on: fixture.server.repository) {
                $0[other] = [UInt8](repeating: 0, count: size)
            }
            let begun = try await Uploads(fixture.operations).begin(back.header, back.role, for: Self.app)
            // The list has come, and names what the tree has.
            let list = try #require(back.targets[.patchList(ReleaseFactory.production)])
            let upload = fixture.server.folder.uploads.appending("\(Self.app)/\(begun.id)")
            let blob = upload.appending("blobs/\(SHA256Digest(of: list).hex)")
            try files.write(list, to: blob)
            let reading = Interruption(before: .opening(blob)) {}
            let watched = try fixture.on(reading.watch(files))
            let plan = try await GarbageRun(of: Self.app, by: GarbageRule(keep: 0, protect: .zero), watched.operations)
                .find()
            #expect(try reading.happened == counts, "\(size)")
            let goes = plan.items.values.joined().contains { $0.path.hasSuffix(object) }
            #expect(goes != counts, "\(size)")
            try files.removeTree(upload)
        }
    }

    @Test func `has no key opened beside a root of trust that nobody follows`() async throws {
        let fixture = try TestingOperations()
        let operations = ReleaseOperations(
            fixture.server.folder,
            records: fixture.records,
            files: DiskFiles(),
            allowsTestingKeys: true,
            openKey: { _, _ in
                Issue.record("the key was opened")
                return nil
            }
        )
        let foreign = TrustPlan().next { $0.rootKey = .other }
        let offered = try TrustUpload(root: foreign.root(signedBy: []), targets: foreign.targets())
        let error = await #expect(throws: OperationError.self) {
            try await FollowTrust(to: offered, of: Self.app, carryingOver: [], by: fixture.actor, operations).run(
                onlineKeyFile: Array("key".utf8)
            )
        }
        guard case .server(.trust(.untrusted)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
