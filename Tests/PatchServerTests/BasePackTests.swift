import NIOConcurrencyHelpers
import PatchDelta
import PatchFormat
@testable import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import PatchServer
import SystemPackage
import Testing
import ServerTesting

@Suite("Packs from a base")
struct BasePackTests {
    @Test func `lead from the versions that the channel listed before, with the signatures that those lack`()
        async throws
    {
        let server = try await PackedServer.make(versions: 3)
        #expect(
            try server.packs() == server.packNames(to: 2, from: [1]).union(server.packNames(to: 3, from: [1, 2]))
        )
        for (base, new) in [(1, 2), (1, 3), (2, 3)] {
            let old = try PackManifest(try server.bundleDocument(base, ".manifest.json"))
            let wanted = try server.bundleDocument(new, ".manifest.json")
            let names = try server.packNames(to: new, from: [base])
            let pack = try server.treeBytes(try #require(names.first { $0.hasSuffix(".pack") }))
            #expect(pack.count < 400)
            let storage = server.repository.storage
            var reader = PackReader(
                base: old,
                manifest: SHA256Digest(of: wanted),
                objects: VersionSources(server.repository.tree).contents,
                limits: PackReader.Bounds(pack: pack.count, contents: 1 << 20)
            )
            reader.feed(pack)
            var contents: [Int: [UInt8]] = [:]
            while let result = try reader.next() {
                if case .piece(let bytes, let row) = result { contents[row, default: []] += bytes }
            }
            #expect(try reader.finish() == wanted)
            #expect(contents.count == 2)
            for bytes in contents.values {
                #expect(try storage.read(.object(SHA256Digest(of: bytes)), limit: 1 << 20) == bytes)
            }
            let column = try server.bundleDocument(new, ".manifest.sigs")
            let made = try PackSignatures.column(
                from: old,
                column: try server.bundleDocument(base, ".manifest.sigs"),
                to: try PackManifest(wanted),
                signatures: try server.treeBytes(try #require(names.first { $0.hasSuffix(".sigs") })),
                digest: SHA256Digest(of: column)
            )
            #expect(made == column)
        }
        #expect(try server.files.list(server.folder.root).sorted() == ["apps", "tree"], "nothing half made stays")
    }

    @Test func `lead from as many versions as are asked for, and back to one that is published again`() async throws {
        let server = try await PackedServer.make(versions: 3)
        try await server.publishPacked(PackedServer.contents(4)) { $0.packBases = 2 }
        let before = try server.packs()
        #expect(try before.isSuperset(of: server.packNames(to: 4, from: [2, 3])))
        #expect(try before.isDisjoint(with: server.packNames(to: 4, from: [1])))
        try await server.publishPacked(PackedServer.contents(2))
        #expect(try server.packs().subtracting(before) == server.packNames(to: 2, from: [4, 3]))
        try await server.publishPacked(PackedServer.contents(1)) { $0.packBases = 0 }
        #expect(try server.packs().isDisjoint(with: server.packNames(to: 1, from: [2, 3, 4])))
    }

    @Test func `that an earlier server made none of come with the next release, and are not made again`() async throws {
        let server = try await PackedServer.make(versions: 1)
        try server.publish(try server.factory.release(PackedServer.contents(2), on: server.repository))
        #expect(try server.packs().isEmpty)
        let work = NIOLockedValueBox<[Int]>([])
        let count: (inout AppRepository) -> Void = {
            $0.progress = { kind, total in
                if case .packing = kind { work.withLockedValue { $0.append(total) } }
                return { _ in }
            }
        }
        try await server.publishPacked(PackedServer.contents(2, script: "2"), count)
        #expect(try server.packs() == server.packNames(to: 2, from: [1]))
        try await server.publishPacked(PackedServer.contents(2, script: "3"), count)
        #expect(work.withLockedValue { $0 } == [1])
        // From fewer versions than it could be: what was published with its packs is not looked at again.
        try await server.publishPacked(PackedServer.contents(3)) { $0.packBases = 1 }
        try await server.publishPacked(PackedServer.contents(3, script: "4"), count)
        #expect(
            try work.withLockedValue { $0 } == [1]
                && server.packs().isDisjoint(with: server.packNames(to: 3, from: [1]))
        )
    }

    @Test func `lead from no version of which something is gone or damaged, and hold up no release`() async throws {
        for part in ["manifest.json", "manifest.sigs", "object", "list", "role"] {
            let files = FaultyFiles()
            let server = try await PackedServer.make(versions: 2, on: files)
            let old = SHA256Digest(of: Array((PackedServer.code + "export const version = 1;\n").utf8))
            let all = try server.treeFiles().filter { !$0.hasSuffix(".zst") && !$0.hasSuffix(".gz") }
            let release = try server.factory.release(PackedServer.contents(3), on: server.repository)
            let name: String? =
                switch part {
                case "object": URLLayout.object(old)
                case "role": "metadata/1.production.json"
                case "list": try list(1, server)
                default: all.first { $0.contains("/1.0.1/") && $0.hasSuffix(part) }
                }
            let path = server.treePath(try #require(name))
            let isRemoved = part == "object"
            if isRemoved { try files.remove(path) } else { try files.rot(path) }
            try await server.publishPacked(release)
            #expect(
                try server.packs() == server.packNames(to: 2, from: [1]).union(server.packNames(to: 3, from: [2])),
                "\(part)"
            )
        }
    }

    private func list(_ version: Int, _ server: TestingServer) throws -> String? {
        let role = try #require(try server.repository.tree.storedRole("production", version: version))
        let path = TargetPath.patchList(ReleaseFactory.production)
        return role.targets[ExactString(path.text)]?.sha256.map { URLLayout.target(path, sha256: $0) }
    }

    @Test func `that stand stay as they are, and one of two parts comes beside the other`() async throws {
        let server = try await PackedServer.make(versions: 1)
        let release = try server.factory.release(PackedServer.contents(2), on: server.repository)
        let verified = try VerifyRelease(release, in: server.repository).run()
        let made = try await CompressForms(of: verified, in: server.repository).run()
        defer { made.discard(server.files) }
        let manifest = try #require(verified.manifests.values.first { $0.manifest.version.text == "1.0.2" })
        let pack = BasePack(manifest: manifest.fingerprint.sha256, base: try server.bundleManifests()[0])
        let path = server.treePath(URLLayout.pack(pack, .pack))
        let other = Array("as another publisher made it".utf8)
        try server.files.makeDirectory(path.parent)
        try server.files.write(other, to: path)
        let outcome = try PublishRelease(
            release,
            in: server.repository,
            verified: verified,
            compressed: made,
            signing: server.key,
            at: server.factory.now
        ).run()
        guard case .published(let publication) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try publication.change.repaired.isEmpty && server.files.read(path, limit: 1 << 10) == other)
        #expect(try server.packs() == server.packNames(to: 2, from: [1]))
    }

    @Test func `are left out where the disk has no room for them, and keep no release waiting`() async throws {
        var seen: Set<String> = []
        for room in stride(from: 0, through: 60_000, by: 5_000) {
            let files = FaultyFiles()
            let server = try await PackedServer.make(versions: 1, on: files)
            let release = try server.factory.release(PackedServer.contents(2), on: server.repository)
            files.limitFreeSpace(to: room)
            let published: Bool
            do throws(ServerError) {
                try await publishTyped(release, on: server)
                published = true
            } catch {
                guard case .file(.noSpace) = error else { throw error }
                published = false
            }
            files.limitFreeSpace(to: nil)
            let hasPacks = try !server.packs().isEmpty
            #expect(published || !hasPacks)
            seen.insert(published ? hasPacks ? "with" : "without" : "refused")
            #expect(try server.check().isWhole, "\(room)")
            #expect(try !files.list(server.folder.root).contains { $0.hasPrefix("compressing.") }, "\(room)")
        }
        #expect(seen == ["refused", "without", "with"])
    }

    private func publishTyped(_ release: SignedRelease, on server: TestingServer) async throws(ServerError) {
        do { try await server.publishPacked(release) } catch let error as ServerError { throw error } catch {
            Issue.record(error)
        }
    }

    @Test func `are made of nothing that lacks a signature`() async throws {
        let server = try TestingServer(threshold: 2)
        let first = try server.factory.release(
            PackedServer.contents(1),
            on: server.repository,
            signedBy: [.production, .second]
        )
        try await server.publishPacked(first)
        let draft = try server.factory.release(PackedServer.contents(2), on: server.repository)
        #expect(
            try await CompressForms(of: try VerifyRelease(draft, in: server.repository).run(), in: server.repository)
                .run().count == 0
        )
    }

    // MARK: What is worth it

    @Test func `are not published where a device fetches less without them`() async throws {
        let server = try await PackedServer.make(versions: 1)
        let release = try server.factory.release(PackedServer.contents(2), on: server.repository)
        let repository = server.repository
        let verified = try VerifyRelease(release, in: repository).run()
        let plan = PackPlan(for: verified, in: repository)
        let sources = VersionSources(repository.tree, release)
        let job = try #require(plan.jobs.first)
        let scratch = FilePath("/scratch")
        let made = try #require(await PackWork(plan, of: sources, in: scratch, of: repository).run().made.first)
        #expect(made.files.map(\.file) == BasePack.Part.allCases.map { .basePack(job.pack, $0) })
        #expect(
            made.cost.isWorthwhile && made.cost.pack == made.files[0].size && made.cost.signatures == made.files[1].size
        )
        // Files whose compressed forms have no bytes at all.
        let files = [job.new.manifest, job.new.column] + job.missing.keys.map { .object($0) }
        let free = files.map {
            CompressedForms.Form(file: .compressed($0, .zstandard), path: "/", digest: job.new.digest, size: 0)
        }
        try server.files.removeTree(scratch)
        #expect(job.missing.count == 2)
        var cheap = plan
        #expect(await PackWork(cheap, of: sources, in: scratch, of: repository, beside: free).run().made.count == 1)
        try server.files.removeTree(scratch)
        cheap = PackPlan([job.missing([:])])
        #expect(await PackWork(cheap, of: sources, in: scratch, of: repository, beside: free).run().made.count == 0)
        #expect(try server.files.list(scratch) == [], "what it was made of is gone")
    }

    @Test(arguments: [
        ([10], 99_000, 10_000 + 3_010), ([Int](repeating: 10, count: 7), 50, 10_000 + 7 * 3_010),
        ([Int](repeating: 10, count: 8), 50, 10_000 + 3_050),
        ([Int](repeating: 10, count: 8), 99_000, 10_000 + 8 * 3_010),
        ([], 50, 10_000),
    ])
    func `cost less than documents and objects, one by one or in the whole pack`(
        objects: [Int],
        whole: Int,
        bytes: Int
    ) {
        #expect(UpdateCost.otherwise(manifest: 3_000, column: 1_000, objects: objects, whole: whole).bytes == bytes)
        #expect(UpdateCost(pack: 100, signatures: bytes - 6_101, otherwise: bytes).isWorthwhile)
        #expect(!UpdateCost(pack: 100, signatures: bytes - 6_100, otherwise: bytes).isWorthwhile)
    }

    @Test(arguments: [
        // A small pack is kept whatever it saves.
        (65_536, 66_000, 0, true), (65_537, 66_000, 0, false),
        // A film that is new: the pack saves 4 %.
        (52_460_000, 54_600_000, 3, false), (9_000_000, 10_000_000, 10, true), (9_000_001, 10_000_000, 9, false),
        (2_000_000, 0, 0, false), (3_000_000, 2_000_000, 0, false),
    ])
    func `are worth their room on the disk where they save a tenth of an update`(
        pack: Int,
        otherwise: Int,
        saving: Int,
        isWorthwhile: Bool
    ) {
        let cost = UpdateCost(pack: pack, signatures: 0, otherwise: otherwise)
        #expect(cost.saving == saving && cost.isWorthItsSpace == isWorthwhile)
        let step = UpdateStep(
            of: named("web"),
            from: named("1"),
            to: named("2"),
            by: BasePack(manifest: SHA256Digest(of: [1]), base: SHA256Digest(of: [2])),
            packBytes: pack,
            nil,
            signatures: 0,
            column: 0,
            otherwise: UpdateCost.otherwise(manifest: 0, column: 0, objects: [], whole: 0)
        )
        #expect(step.wastesSpace == (pack > UpdateCost.smallPack) && step.saving == 0)
    }

    @Test func `that are not worth their room are named with what they save, and kept where somebody asks for them`() {
        let cost = UpdateCost(pack: 52_460_000, signatures: 0, otherwise: 54_600_000)
        let left = DiscardedPack(new: Label(patchID: named("web"), version: named("2")), base: named("1"), cost: cost)
        #expect(
            left.words == "pack from web 1 to 2 left out: its 52,460,000 bytes save 3 % of an update, less than 10 %"
        )
        #expect(PackPlan(wanted: [], keepsAll: true).keepsAll && !PackPlan([]).keepsAll)
    }

    private static func version(_ id: String, _ number: Int) -> BundleVersion {
        let label = Label(patchID: named(id), version: named("1.0.\(number)"))
        let digest = SHA256Digest(of: Array("\(label)".utf8))
        let file = TreePath.File.object(digest)
        return BundleVersion(label: label, digest: digest, manifest: file, column: file)
    }

    @Test
    func `lead from what was listed last, of the same patch, and from nothing that stands above in the same list`() {
        let (web, other) = ((0...4).map { Self.version("web", $0) }, Self.version("other", 1))
        let before = [[web[3], other, web[2]], [web[2], web[1]], [web[0]]]
        let newest = PackBases(of: web[4], in: [other, web[4], web[3]], after: before)
        #expect(newest.candidates == [web[3], web[2], web[1], web[0]] && !newest.isListed)
        let kept = PackBases(of: web[3], in: [other, web[4], web[3]], after: before)
        #expect(kept.candidates == [web[2], web[1], web[0]] && kept.isListed)
        let again = PackBases(of: web[3], in: [web[4], web[3]], after: [[web[4], web[3]], [web[2]]])
        #expect(again.candidates == [web[2]] && again.isListed)
        #expect(PackBases(of: other, in: [other], after: before).candidates == [])
    }

    private static func job(_ rank: Int, bytes: Int) -> PackPlan.Job {
        let (new, base) = (version("web", 9), version("web", rank))
        return PackPlan.Job(new: new, base: base, rank: rank, missing: [new.digest: bytes], whole: bytes)
    }

    @Test(
        arguments: [
            ([64_000_000], .most, [0]), ([32_000_000, 32_000_001], .quick, [0, 1]),
            ([200_000_000, 200_000_000, 1], .quick, [0, 1]), ([100_000_000, 400_000_000, 1], .quick, [0, 2]),
            ([400_000_001, 1], .most, [1]),
        ] as [([Int], PackMaker.Effort, [Int])]
    )
    func `are made with less effort of large releases, and not from far versions of the largest`(
        sizes: [Int],
        effort: PackMaker.Effort,
        ranks: [Int]
    ) {
        let plan = PackPlan(sizes.enumerated().map { Self.job($0, bytes: $1) }.reversed())
        #expect(plan.effort == effort && plan.jobs.map(\.rank) == ranks)
    }
}

extension PackPlan.Job {
    fileprivate func missing(_ missing: [SHA256Digest: Int]) -> PackPlan.Job {
        PackPlan.Job(new: new, base: base, rank: rank, missing: missing, whole: whole)
    }
}
