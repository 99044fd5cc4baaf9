import PatchDelta
import PatchFormat
import PatchStore
import PatchTrust
import ReleaseFolder
import ReleaseTree
import SystemPackage

extension AppRepository {
    /// How many releases are looked through for earlier versions of a bundle.
    private static let releasesLooked = 10

    /// The packs that a release lacks: to each of its bundles from the versions that its channel listed before.
    ///
    /// An earlier release that cannot be read has no versions: devices do without packs.
    func packPlan(for verified: VerifiedRelease) -> PackPlan {
        guard packBases > 0 else { return .none }
        let channel = verified.release.header.channel
        let list = BundleVersion.all(of: verified.list.entries, in: verified.role, channel)
        guard !list.isEmpty else { return .none }
        let before = versions(of: channel, before: verified.role.header.version)
        let reading = PackJobs(VersionSources(tree, verified.release), storage)
        return PackPlan(
            list.flatMap { reading.jobs(PackBases(of: $0, in: list, after: before), count: packBases) }
        )
    }

    /// The bundles that each earlier release lists, the newest first.
    private func versions(of channel: ChannelName, before version: Int) -> [[BundleVersion]] {
        let roles = (try? roles(of: channel, below: version, limit: Self.releasesLooked)) ?? []
        return roles.compactMap { version in
            guard let role = try? tree.standingRole(channel.text, version: version),
                let (bytes, _) = try? tree.target(.patchList(channel), of: role),
                let list = try? ParsedPatchList(bytes).list
            else { return nil }
            return BundleVersion.all(of: list.entries, in: role, channel)
        }
    }

    /// Those that can be made and are worth it; none on a full disk.
    ///
    /// - Parameter forms: compressed forms that are published with them.
    func make(
        _ plan: PackPlan,
        of sources: VersionSources,
        beside forms: [CompressedForms.Form] = [],
        in scratch: FilePath
    ) async -> [MadePack] {
        guard !plan.jobs.isEmpty else { return [] }
        let sizes = TravelledSizes(forms, storage)
        let work = PackFiles(folder: scratch, files: files, sources: sources, effort: plan.effort, sizes: sizes)
        do throws(ServerError) {
            do throws(FileError) { try files.makeDirectory(scratch) } catch { throw .file(error) }
            return try await ParallelWork(plan.jobs, on: .packs) { (job, number) throws(ServerError) in
                try work.make(job, number)
            }.run(progress(.packing, plan.jobs.count))
        } catch {
            try? files.removeTree(scratch)
            return []
        }
    }
}

/// Reads which packs there are to make.
private final class PackJobs {
    private struct Contents {
        let sizes: [SHA256Digest: Int]
        let whole: Int
    }

    private let sources: VersionSources
    private let storage: any TreeStorage
    /// By manifest; nil for one that is not whole.
    private var known: [SHA256Digest: Contents?] = [:]

    init(_ sources: VersionSources, _ storage: any TreeStorage) {
        (self.sources, self.storage) = (sources, storage)
    }

    func jobs(_ bases: PackBases, count: Int) -> [PackPlan.Job] {
        // What was published with its packs is not looked at again.
        if bases.isListed, bases.candidates.contains(where: { stands(bases.new, from: $0) }) { return [] }
        var (jobs, rank) = ([PackPlan.Job](), 0)
        for base in bases.candidates where rank < count {
            if stands(bases.new, from: base) {
                rank += 1
                continue
            }
            guard let old = contents(of: base, inTree: true), let new = contents(of: bases.new, inTree: false) else {
                continue
            }
            jobs.append(
                PackPlan.Job(
                    new: bases.new,
                    base: base,
                    rank: rank,
                    missing: new.sizes.filter { old.sizes[$0.key] == nil },
                    whole: new.whole
                )
            )
            rank += 1
        }
        return jobs
    }

    private func stands(_ new: BundleVersion, from base: BundleVersion) -> Bool {
        let pack = BasePack(manifest: new.digest, base: base.digest)
        return (try? storage.status(of: .basePack(pack, .pack))) ?? nil != nil
    }

    /// Nil where the manifest or an object of it is not there.
    private func contents(of version: BundleVersion, inTree: Bool) -> Contents? {
        if let known = known[version.digest] { return known }
        let contents = read(version)
        let isWhole =
            !inTree
            || contents?.sizes.keys.allSatisfy { digest in
                (try? storage.status(of: .object(digest))) ?? nil != nil
            } ?? false
        known[version.digest] = .some(isWhole ? contents : nil)
        return isWhole ? contents : nil
    }

    private func read(_ version: BundleVersion) -> Contents? {
        guard let bytes = try? sources.document(version.manifest),
            let rows = try? PackContents(ofManifest: BytesInMemory(bytes), named: version.digest.hex)
        else { return nil }
        var sizes: [SHA256Digest: Int] = [:]
        for (row, object) in rows.objects.enumerated() { sizes[object] = rows.pack.bytes(of: row..<row + 1).count }
        return Contents(sizes: sizes, whole: rows.pack.offsets.last ?? 0)
    }
}

/// How many bytes of a file travel: those of its compressed form where it has one.
struct TravelledSizes: Sendable {
    private let made: [TreePath.File: Int]
    private let storage: any TreeStorage

    init(_ forms: [CompressedForms.Form], _ storage: any TreeStorage) {
        made = Dictionary(forms.map { ($0.file, $0.size) }) { first, _ in first }
        self.storage = storage
    }

    /// - Parameters:
    ///   - manifest: the plain bytes of the new manifest.
    ///   - column: those of the new column.
    func otherwise(_ job: PackPlan.Job, manifest: Int, column: Int) -> Int {
        UpdateCost.otherwise(
            manifest: size(job.new.manifest, plain: manifest),
            column: size(job.new.column, plain: column),
            objects: job.missing.map { size(.object($0.key), plain: $0.value) },
            whole: size(.pack(job.new.digest), plain: job.whole)
        )
    }

    private func size(_ file: TreePath.File, plain: Int) -> Int {
        let form = TreePath.File.compressed(file, .zstandard)
        return made[form] ?? ((try? storage.status(of: form)) ?? nil)?.size ?? plain
    }
}
