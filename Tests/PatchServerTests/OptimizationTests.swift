import PatchCompression
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
import ServerTesting
import SystemPackage
import Testing

@Suite("Small forms and packs after a fast publish")
struct OptimizationTests {
    private let production = ReleaseFactory.production

    /// A server that stops cancels its work in the background.
    @Test func `have their threads also in a task that is cancelled`() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await CompressionThreads.background.run { 7 }
        }
        task.cancel()
        #expect(await task.value == 7)
    }

    /// What the service does before devices see a release.
    private func publishFast(_ number: Int, on server: TestingServer) async throws {
        let release = try server.factory.release(PackedServer.contents(number), on: server.repository)
        let verified = try VerifyRelease(release, in: server.repository).run()
        let made = try await CompressForms(of: verified, in: server.repository, .fast).run()
        defer { made.discard(server.files) }
        let outcome = try PublishRelease(
            release,
            in: server.repository,
            verified: verified,
            compressed: made,
            signing: server.key,
            at: server.factory.now
        ).run()
        guard case .published(let done) = outcome else { throw ServerError.unknownApp(server.repository.app) }
        #expect(done.awaitsForms)
    }

    private func server(fast versions: Int, on files: FaultyFiles = FaultyFiles()) async throws -> TestingServer {
        let server = try TestingServer(files: files)
        for number in 1...versions { try await publishFast(number, on: server) }
        return server
    }

    /// What the service does afterwards, without its locks.
    private func optimize(_ server: TestingServer) async throws {
        guard var work = try Optimization(of: production, in: server.repository) else { return }
        while let made = try await work.next() {
            defer { made.discard(server.files) }
            guard try work.keep(made) != nil else { return }
        }
        try work.finish()
    }

    private func forms(_ server: TestingServer) throws -> Set<String> {
        try server.treeFiles().filter { $0.hasSuffix(".zst") || $0.hasSuffix(".gz") }
    }

    private func record(_ server: TestingServer) -> [PendingOptimization] {
        server.repository.tree.pendingOptimizations
    }

    @Test func `end with the files that a thorough publish makes at once, to the byte`() async throws {
        let server = try await server(fast: 2)
        #expect(try server.packs().isEmpty && forms(server).allSatisfy { $0.hasSuffix(".zst") })
        #expect(record(server) == [PendingOptimization(production, 2)])
        try await optimize(server)
        #expect(record(server) == [])
        #expect(try server.packs() == server.packNames(to: 2, from: [1]))

        let thorough = try await PackedServer.make(versions: 2)
        let manifest = try thorough.bundleManifests()[1]
        #expect(try server.bundleManifests()[1] == manifest)
        let objects = ["// the same", "export const version = 2;\n"].map { end in
            URLLayout.object(SHA256Digest(of: Array((PackedServer.code + end).utf8)))
        }
        let names = try forms(thorough).filter { name in
            name.contains(manifest.hex) || objects.contains(where: name.hasPrefix)
        }
        #expect(names.count == 8, "manifest, whole bundle and two files")
        for name in try names.union(thorough.packs()) {
            #expect(try server.treeBytes(name) == thorough.treeBytes(name), "\(name)")
        }
        #expect(try server.check().faults == [])
        #expect(try server.files.list(server.folder.root).sorted() == ["apps", "tree"], "nothing half made stays")
    }

    @Test func `are made once`() async throws {
        let server = try await server(fast: 2)
        try await optimize(server)
        let tree = try server.treeFiles()
        try server.repository.tree.requestOptimization()
        #expect(record(server) == [PendingOptimization(production, 2)])
        let work = try #require(try Optimization(of: production, in: server.repository))
        #expect(work.progress.done == 0)
        try await optimize(server)
        #expect(try server.treeFiles() == tree && record(server) == [])
    }

    @Test func `are dropped where a newer release was published meanwhile`() async throws {
        let server = try await server(fast: 2)
        var work = try #require(try Optimization(of: production, in: server.repository))
        let made = try #require(try await work.next())
        try await publishFast(3, on: server)
        #expect(try work.keep(made) == nil)
        made.discard(server.files)
        try work.finish()
        #expect(record(server) == [PendingOptimization(production, 3)])
        #expect(try server.packs().isEmpty)
    }

    @Test func `count what is done, for other processes too`() async throws {
        let server = try await server(fast: 2)
        var work = try #require(try Optimization(of: production, in: server.repository))
        let total = work.progress.total
        let made = try #require(try await work.next())
        _ = try work.keep(made)
        made.discard(server.files)
        let row = try #require(try server.folder.pendingOptimizations(files: server.files).first)
        #expect(row.app == server.repository.app && row.pending.progress == .init(done: 1, total: total))
        #expect(row.pending.words == "optimizing production 2: 1 of \(total)")
        #expect(PendingOptimization(production, 2).words == "optimizing production 2: not begun")
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `leave a whole tree where they are killed, and are finished by the next`(survival: FaultyFiles.Survival)
        async throws
    {
        let files = FaultyFiles()
        let server = try await server(fast: 2, on: files)
        let rehearsal = files.reopened()
        try await optimize(server.on(rehearsal))
        let finished = try server.on(rehearsal).treeFiles()
        for change in Sweep.points(of: rehearsal.changes, every: 6, offset: survival == .lose ? 0 : 3) {
            let disk = files.reopened(failingAtChange: change)
            try? await optimize(server.on(disk))
            let after = try server.on(disk.crashed(survival))
            // An index may say of a whole bundle what its form had before: it is written right after the form.
            let faults = try after.check().faults.filter { $0.rule.isFault && $0.rule != .form }
            #expect(faults == [], "killed at change \(change)")
            try after.repository.tree.requestOptimization()
            try await optimize(after)
            #expect(try after.treeFiles() == finished, "killed at change \(change)")
            #expect(try after.check().isWhole, "killed at change \(change)")
        }
    }

    @Test func `that no device can use go 15 minutes after the next release, and not before`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try await PackedServer.make(versions: 1, on: files)
        let first = try forms(server)
        try await server.publishPacked(PackedServer.contents(2))
        let second = try forms(server).subtracting(first)
        let tree = try server.treeFiles()
        let within = TestingServer.start.adding(.seconds(14 * 60))
        #expect(try RemoveUnusedForms(in: server.repository, at: within).run() == .nothing)
        #expect(try server.treeFiles() == tree)
        let later = TestingServer.start.adding(.seconds(15 * 60))
        let removed = try RemoveUnusedForms(in: server.repository, at: later).run()
        let shared = URLLayout.object(SHA256Digest(of: Array((PackedServer.code + "// the same").utf8)))
        let kept = second.union(first.filter { $0.hasPrefix(shared) })
        #expect(try forms(server) == kept && removed.files == first.count + second.count - kept.count)
        #expect(try server.packs() == server.packNames(to: 2, from: [1]), "devices start from version 1")
        #expect(try server.check().faults == [])
        #expect(try RemoveUnusedForms(in: server.repository, at: later).run() == .nothing)
    }

    @Test func `go with the garbage too`() async throws {
        let files = FaultyFiles()
        files.setClock(to: TestingServer.start.seconds)
        let server = try await PackedServer.make(versions: 2, on: files)
        let old = "packs/\(try server.bundleManifests()[0].hex)/full.pack.zst"
        #expect(try server.treeFiles().contains(old))
        let now = TestingServer.start.adding(.hours(1))
        files.setClock(to: now.seconds)
        try server.refresh(at: now)
        var collection = CollectGarbage(server.repository, by: GarbageRule(), at: now)
        while try collection.step() {}
        #expect(try !server.treeFiles().contains(old) && server.bundleManifests().count == 2)
        #expect(try server.check().faults == [])
    }

    // MARK: Decisions

    private func digest(_ number: Int) -> SHA256Digest { SHA256Digest(of: [UInt8(number)]) }

    @Test func `are used while their version is listed, or is the base of a pack to a listed one`() throws {
        let list = TreePath.File.target(.patchList(production), digest(9))
        let old = TreePath.File.target(.patchList(production), digest(8))
        let usable = UsableForms(
            manifests: [digest(3), digest(4)],
            whole: [digest(3)],
            targets: [list],
            objects: [digest(5)]
        )
        func pack(_ manifest: Int, _ base: Int) -> TreePath.File {
            .basePack(BasePack(manifest: digest(manifest), base: digest(base)), .pack)
        }
        func index(_ number: Int) -> TreePath.File { .packIndex(digest(number)) }
        let used: [TreePath.File] = [
            .compressed(.pack(digest(3)), .zstandard), .compressed(.object(digest(5)), .gzip),
            .compressed(list, .gzip), pack(3, 2), pack(2, 1), index(3), index(2), .object(digest(6)), .timestamp,
            .role("production", version: 1), .root(version: 1), old, list, pack(4, 2), index(4),
        ]
        let unused: [TreePath.File] = [
            .compressed(.pack(digest(2)), .zstandard), .compressed(.object(digest(6)), .zstandard),
            .compressed(old, .zstandard), pack(1, 0), index(1), .compressed(.pack(digest(4)), .gzip),
        ]
        let file = TreeListing.File(size: 1, modified: TestingServer.start)
        let listing = TreeListing(files: Dictionary(uniqueKeysWithValues: (used + unused).map { ($0, file) }))
        #expect(Set(usable.unused(in: listing)) == Set(unused))
    }

    @Test func `of a whole bundle are kept up to the first version that is for everyone`() {
        func entry(_ id: String, _ number: Int, _ rules: PatchRules, _ kind: PatchKind = .bundle) -> PatchEntry {
            let bytes = [UInt8(number)]
            return PatchEntry(
                patchID: named(id),
                kind: kind,
                version: named("1.0.\(number)"),
                url: "",
                fingerprint: Fingerprint(of: bytes),
                signature: EntrySignature(keyID: digest(0), bytes: []),
                salt: [],
                rules: rules
            )
        }
        let some = PatchRules(rollout: 1_000)
        let list = [
            entry("web", 1, some), entry("web", 2, .everyone), entry("web", 3, .everyone), entry("menu", 4, .everyone),
            entry("fix", 5, .everyone, .script),
        ]
        #expect(UsableForms.whole(in: list) == [digest(1), digest(2), digest(4)])
    }

    @Test func `are made in the order in which devices profit: the nearest pack, files, whole bundles, other packs`()
        throws
    {
        func job(_ rank: Int) -> PackPlan.Job {
            func version(_ number: Int) -> BundleVersion {
                let file = TreePath.File.object(digest(number))
                return BundleVersion(
                    label: Label(patchID: named("web"), version: named("1.0.\(number)")),
                    digest: digest(number),
                    manifest: file,
                    column: file
                )
            }
            return PackPlan.Job(new: version(9), base: version(rank), rank: rank, missing: [:], whole: 1)
        }
        func forms(_ file: TreePath.File, _ size: Int) -> [CompressionPlan.Job] {
            CompressionFormat.allCases.map {
                CompressionPlan.Job(item: .init(file: file, sources: [], size: size), format: $0)
            }
        }
        let (large, small, whole) = (TreePath.File.object(digest(1)), TreePath.File.object(digest(2)), digest(3))
        var queue = OptimizationQueue(
            packs: [job(0), job(1), job(2), job(3)],
            forms: forms(.pack(whole), 30_000_000) + forms(large, 9_000_000) + forms(small, 1)
        )
        #expect(queue.total == 10)
        var steps: [String] = []
        while let step = queue.next() {
            switch step {
            case .packs(let jobs): steps.append("packs \(jobs.map(\.rank))")
            case .forms(let jobs):
                steps.append("forms \(jobs.map { $0.item.size })")
                #expect(jobs.count.isMultiple(of: CompressionFormat.allCases.count), "a file's forms stay together")
            }
        }
        #expect(
            steps == [
                "packs [0]", "forms [9000000, 9000000]", "forms [1, 1]", "forms [30000000, 30000000]", "packs [1, 2]",
                "packs [3]",
            ]
        )
    }

    @Test func `are recorded in a file that is read again, and that nothing depends on`() throws {
        var record = OptimizationRecord()
        record.add(PendingOptimization(production, 7, progress: .init(done: 3, total: 12)))
        record.add(PendingOptimization(ReleaseFactory.beta, 2))
        #expect(try OptimizationRecord(record.fileBytes) == record)
        record.remove(production, roleVersion: 6)
        #expect(record.rows[production]?.roleVersion == 7)
        record.remove(production, roleVersion: 7)
        #expect(record.rows.keys.sorted() == [ReleaseFactory.beta])

        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try files.replace(OptimizationRecord.name, in: server.repository.tree.records, with: Array("{".utf8))
        #expect(self.record(server) == [])
        #expect(throws: FormatError.self) { try OptimizationRecord(Array("{}".utf8)) }
    }
}
